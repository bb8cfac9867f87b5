//! `cd`, `pushd`, `popd`: where the shell is afterwards.

use std::rc::Rc;

use doorward_vocabulary::{Mark, Operation};

use super::grammar::Builtin;
use super::runner::Runner;
use super::state::State;
use crate::effect::Target;
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::{Shape, Stream};
use crate::path::{self, Follow};
use crate::world::{Kind, World};

pub(crate) fn change_directory(
    runner: &mut Runner<'_, '_>,
    builtin: Builtin,
    words: &[Field],
    state: &mut State<'_>,
) -> Option<Stream> {
    runner.moves += 1;
    let physical = words.iter().any(|word| word.text == "-P");
    let mut operands =
        words.iter().filter(|word| !matches!(word.text.as_str(), "-P" | "-L" | "-e" | "-@" | "--" | "-n"));
    let target = operands.next();
    let is_refused = builtin == Builtin::Cd && operands.next().is_some();
    if builtin != Builtin::Cd && words.iter().any(|word| word.text == "-n") {
        // Only the list of directories changes.
        return Some(Stream::empty());
    }
    let rotates = target.is_none_or(|word| word.text.starts_with(['+', '-']));
    let next: Option<String> = match target {
        _ if is_refused || builtin == Builtin::Popd || (builtin == Builtin::Pushd && rotates) => None,
        None => home_of(runner.out.world, state),
        Some(word) if word.text == "-" => {
            state.previous_cwd.as_deref().filter(|_| !state.variables.contains_key("OLDPWD")).map(str::to_owned)
        }
        Some(word) => named_directory(runner.out, word, physical, state),
    };
    // Where it leads from depends on whether the last one succeeded.
    let wavers = state.otherwise.take().is_some() && target.is_some_and(|word| !word.text.starts_with('/'));
    let stayed = state.cwd.take();
    state.previous_cwd.clone_from(&stayed);
    state.logical = None;
    let arrived = next.filter(|_| !wavers).and_then(|next| arrives(runner.out, &next, physical, state));
    if let Some((real, logical)) = arrived {
        let is_sure = !may_be_gone(runner.out, &real);
        if is_sure || stayed.is_some() {
            state.logical = (logical != real).then(|| Rc::from(logical));
            state.cwd = Some(Rc::from(real));
        }
        if !is_sure && stayed != state.cwd {
            state.otherwise = stayed;
        }
    }
    Some(Stream::empty())
}

/// Something that this call ran, or git, may have taken the directory away, or closed it.
fn may_be_gone(out: &Observer<'_>, directory: &str) -> bool {
    // The git commands that agents chain with `cd … && …` and that never touch the work tree, so the directory is
    // still there.
    const STAYS: &[&str] = &["git add", "git commit", "git fetch", "git push", "git tag", "git branch", "git config"];
    let holds = |inner: &str| path::under(inner, directory);
    if out.world.project().is_some_and(holds) || out.world.home().is_some_and(holds) {
        return false;
    }
    out.effects().iter().any(|effect| match effect.operation {
        Operation::Execute => true,
        Operation::Write | Operation::Delete | Operation::Mutate => {
            let closes = effect.marks.has(Mark::PermissionChange);
            let is_anywhere = effect.operation == Operation::Delete && !matches!(effect.target, Target::Path(_));
            closes || is_anywhere || (effect.by.starts_with("git ") && !STAYS.contains(&effect.by.as_str()))
        }
        Operation::Read | Operation::Network => false,
    })
}

fn home_of(world: &dyn World, state: &State<'_>) -> Option<String> {
    match state.variables.get("HOME") {
        Some(variable) => variable.value.text.clone(),
        None => world.home().map(str::to_owned),
    }
}

fn named_directory(out: &mut Observer<'_>, word: &Field, physical: bool, state: &State<'_>) -> Option<String> {
    let Some(text) = word.exact() else { return dynamic_directory(out, word, state) };
    if text.starts_with('/') {
        return Some(text.to_owned());
    }
    let searched = !text.starts_with('.') && out.world.environment("CDPATH").is_some();
    let from = state.logical.as_ref().filter(|_| !physical).or(state.cwd.as_ref())?;
    (!searched).then(|| path::join(from, text))
}

/// Where a directory really is, and what the shell calls it; `None` if that cannot be said.
fn arrives(out: &Observer<'_>, next: &str, physical: bool, state: &State<'_>) -> Option<(String, String)> {
    // The shell takes `..` by text, the kernel by links.
    let logical = path::lexical(next);
    let resolved = path::resolve(if physical { next } else { &logical }, out.world, Follow::Last);
    let own_link = out.links.iter().any(|link| path::under(&logical, link) || next.contains(&format!("{link}/")));
    let is_no_directory = matches!(out.world.look(&resolved.real).kind, Kind::Missing | Kind::File);
    let missing = is_no_directory && !state.written.contains_key(&resolved.real) || is_deleted(out, &resolved.real);
    let logical = if physical { resolved.real.clone() } else { logical };
    (!missing && !resolved.lost && !own_link).then_some((resolved.real, logical))
}

/// This call deleted the directory, or one above it, and did not make it again.
fn is_deleted(out: &Observer<'_>, directory: &str) -> bool {
    let last = out.effects().iter().rev().find_map(|effect| match (&effect.target, effect.operation) {
        (Target::Path(path), Operation::Delete) => path::under(directory, path).then_some(true),
        (Target::Path(path), Operation::Write) => path::under(path, directory).then_some(false),
        _ => None,
    });
    last.unwrap_or_default()
}

/// `cd "$(git rev-parse --show-toplevel)"` and paths that stay below a known directory, unless a link may lead out of it.
fn dynamic_directory(out: &mut Observer<'_>, word: &Field, state: &State<'_>) -> Option<String> {
    match word.shape {
        Shape::ProjectPaths | Shape::Matched
            if word.prefix().is_empty() && crate::observe::paths::words::is_ours(state.cwd.as_deref(), out.world) =>
        {
            let cwd = state.cwd.as_deref()?;
            (!out.may_lead_out(cwd, word.shape)).then(|| cwd.to_owned())
        }
        Shape::ProjectPaths
        | Shape::Matched
        | Shape::ProjectNames
        | Shape::Token
        | Shape::OwnJob
        | Shape::Begun
        | Shape::Below
        | Shape::Place
        | Shape::Any => None,
    }
}
