//! Where copies, moves and links end up: the place that is named, or a name inside of it.

use doorward_vocabulary::{Mark, Operation, Scope};

use super::Invocation;
use super::arriving::copies_in;
use super::file_roles::{plain, reads, writes};
use crate::effect::Effect;
use crate::knowledge::schema::{Facet, Role};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::paths::tracked::note_discarded;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::aftermath::store;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Content, Kind, Tracking, World};

/// Flags of `ln` that keep it from following a link in the place of the new one.
// Without them `ln -s x dir-link` puts the new link inside the directory that the old one leads to.
const AS_IT_IS: &[&str] = &["-n", "-h", "--no-dereference", "-T", "--no-target-directory"];

/// The destination of a copy or move: the file itself, or one file for each source if it is a directory.
pub(crate) fn into(
    out: &mut Observer<'_>,
    field: &Field,
    at: Option<usize>,
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    let is_flag = at.is_none();
    if !is_flag && invocation.args.operands.len() == 1 && makes_links(invocation) {
        return link_here(out, field, invocation, state);
    }
    let is_directory = is_flag
        || field.text.ends_with('/')
        || field.text == "."
        || field.text == ".."
        || self::is_directory(out.world, field, invocation);
    let sources: Vec<Field> = invocation
        .args
        .operands
        .iter()
        .zip(&invocation.roles)
        .enumerate()
        .filter(|(index, (_, role))| {
            Some(*index) != at && matches!(role, Role::Read | Role::ReadTree | Role::Move | Role::LinkSource)
        })
        .map(|(_, (source, _))| source.clone())
        .collect();
    // INVARIANT: a destination is written, whatever is known of its sources.
    if sources.is_empty() {
        writes(out, if is_flag { Touch::Create } else { Touch::Write }, field, invocation, state);
        return;
    }
    if invocation.roles.contains(&Role::Move) && is_disposable(out.world, field, invocation) {
        let in_temp = is_in_temp(out.world, field, invocation);
        for source in &sources {
            let is_file = in_temp && !self::is_directory(out.world, source, invocation);
            plain(out, if is_file { Touch::Delete } else { Touch::DeleteTree }, source, invocation);
        }
    }
    // A link to a directory is exchanged itself if it is not to be followed.
    if !is_directory || (makes_links(invocation) && invocation.args.has_any(AS_IT_IS)) {
        writes_copy(out, field, &sources, invocation, state);
        copies_in(out, field, &sources, invocation, state);
        carry(out, field, &sources, invocation, state);
    }
    if !is_directory {
        return;
    }
    for source in sources {
        let name = path::name(source.known().unwrap_or_default()).to_owned();
        if name.is_empty() || source.glob || field.dynamic || matches!(name.as_str(), "." | "..") {
            copies_in(out, field, std::slice::from_ref(&source), invocation, state);
            let ((), mut caused) = out.collect(|out| writes(out, Touch::Create, field, invocation, state));
            spread_over(out.world, &mut caused, field, invocation);
            out.write(caused);
            continue;
        }
        let inner = field.with_text(format!("{}/{name}", field.text.trim_end_matches('/')));
        writes_copy(out, &inner, std::slice::from_ref(&source), invocation, state);
        copies_in(out, &inner, std::slice::from_ref(&source), invocation, state);
        carry(out, &inner, std::slice::from_ref(&source), invocation, state);
    }
}

/// How much of a file that is copied is read.
const COPIED: usize = 256 * 1024;

/// A copy of a file that can be read puts text there that is seen.
fn writes_copy(
    out: &mut Observer<'_>,
    field: &Field,
    sources: &[Field],
    invocation: &mut Invocation,
    state: &mut State<'_>,
) {
    // What lies there afterwards is a link, not a copy.
    const LINKS: &[&str] = &["-l", "--link", "-s", "--symbolic-link"];
    let is_copy = !makes_links(invocation) && !invocation.args.has_any(LINKS);
    let text = copied_text(out.world, sources, invocation, state).filter(|_| is_copy);
    let ((), mut caused) = out.collect(|out| writes(out, Touch::Write, field, invocation, state));
    let place = field.exact().zip(invocation.cwd.as_deref()).map(|(name, cwd)| path::lexical(&path::join(cwd, name)));
    if let (Some(text), Some(place)) = (text, place) {
        caused.enter(&place, &text);
        caused.replace(&place, &text, out.world, || match out.world.content(&place, COPIED) {
            Content::Text(text) => Some(text),
            Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => None,
        });
    }
    out.write(caused);
}

/// The text of the one file that is copied, if the project or this session has it.
fn copied_text(world: &dyn World, sources: &[Field], invocation: &Invocation, state: &State<'_>) -> Option<String> {
    let [source] = sources else { return None };
    let place = path::resolve(&path::join(invocation.cwd.as_deref()?, source.exact()?), world, path::Follow::Last);
    if let Some(written) = state.written.get(&place.real) {
        return written.content.clone().filter(|text| !text.trim().is_empty() && !written.origin.download);
    }
    let is_own = world.project().is_some_and(|project| path::under(&place.real, project))
        || crate::place::classify(&place.real, world).scope == Scope::Scratch;
    match world.content(&place.real, COPIED) {
        Content::Text(text) if is_own && !place.lost && !text.trim().is_empty() => Some(text),
        Content::Text(_)
        | Content::TooLong
        | Content::NotText
        | Content::Missing
        | Content::Unreadable
        | Content::Unlisted => None,
    }
}

/// Files with names that nobody lists may replace those that are there.
fn spread_over(world: &dyn World, caused: &mut Caused, field: &Field, invocation: &Invocation) {
    if invocation.args.has_any(&["-n", "--no-clobber", "--ignore-existing"]) || !is_directory(world, field, invocation)
    {
        return;
    }
    for effect in caused.iter_mut() {
        if effect.operation == Operation::Write && effect.scope != Scope::Scratch {
            effect.marks.add(Mark::CountUnknown);
            effect.marks.add(Mark::Unseen);
        }
    }
}

/// What a program changes where it works is changed outside the project if it works there.
pub(crate) fn place_effect(world: &dyn World, effect: &mut Effect, invocation: &Invocation) {
    note_discarded(world, effect);
    let changes = match effect.operation {
        Operation::Write | Operation::Delete | Operation::Mutate => true,
        Operation::Read | Operation::Execute | Operation::Network => false,
    };
    let is_near = matches!(effect.scope, Scope::File | Scope::Directory | Scope::Project);
    let (Some(project), Some(cwd)) = (world.project(), invocation.cwd.as_deref()) else { return };
    if !changes || !is_near {
        return;
    }
    let real = path::resolve(cwd, world, path::Follow::Last).real;
    let scratch = world.scratch().iter().map(String::as_str);
    if !std::iter::once(project).chain(scratch).any(|root| path::under(&real, root)) {
        effect.scope = Scope::OtherRepo;
        effect.marks.add(Mark::OutsideProject);
    }
}

/// `ln -s x/a`: the link lies here, under the name of what it leads to.
fn link_here(out: &mut Observer<'_>, source: &Field, invocation: &mut Invocation, state: &mut State<'_>) {
    reads(out, Touch::Read, source, invocation, state);
    let name = path::name(source.known().unwrap_or_default()).to_owned();
    if name.is_empty() || source.glob || matches!(name.as_str(), "." | "..") {
        return writes(out, Touch::Create, &source.with_text("."), invocation, state);
    }
    let here = source.with_text(name);
    writes(out, Touch::Write, &here, invocation, state);
    carry(out, &here, std::slice::from_ref(source), invocation, state);
}

/// A copy has the content of its source.
fn carry(out: &mut Observer<'_>, field: &Field, sources: &[Field], invocation: &Invocation, state: &mut State<'_>) {
    let absolute = |text: &str| invocation.cwd.as_deref().map(|cwd| path::lexical(&path::join(cwd, text)));
    let (Some(destination), [source]) = (field.exact().and_then(absolute), sources) else { return };
    if let Some(file) = source.exact().and_then(absolute).and_then(|path| state.written.get(&path).cloned()) {
        store(out, destination, file.content, file.origin, state);
    }
}

/// Whatever is moved there is as good as deleted: nobody asks before that place is cleared.
pub(crate) fn is_disposable(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let (Some(text), Some(cwd)) = (field.exact(), invocation.cwd.as_deref()) else { return false };
    if crate::place::is_harmless_device(text) {
        return true;
    }
    let real = path::resolve(&path::join(cwd, text), world, path::Follow::Last).real;
    world.scratch().iter().any(|scratch| path::under(&real, scratch))
        || world.tracking(&real) == Tracking::Rebuildable
        || is_in_temp(world, field, invocation)
}

/// A place among temporary files that the session makes, or made.
fn is_in_temp(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let (Some(text), Some(cwd)) = (field.exact(), invocation.cwd.as_deref()) else { return false };
    let real = path::resolve(&path::join(cwd, text), world, path::Follow::Last).real;
    let place = crate::place::classify(&real, world);
    place.scope == Scope::Scratch && place.marks.has(Mark::Temp)
}

fn is_directory(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let (Some(text), Some(cwd)) = (field.exact(), invocation.cwd.as_deref()) else { return false };
    let resolved = path::resolve(&path::join(cwd, text), world, path::Follow::Last);
    world.look(&resolved.real).kind == Kind::Directory
        || world.project() == Some(resolved.real.as_str())
        || world.home() == Some(resolved.real.as_str())
        || world.temporary().contains(&resolved.real)
}

fn makes_links(invocation: &Invocation) -> bool {
    invocation.args.is(Facet::MakesLinks)
}
