//! Variables that are set or enter the environment, and what that means for the programs that see them.

use std::rc::Rc;

use doorward_vocabulary::{Degree, Mark, Marks, Scope};

use super::evaluate::{evaluates, reads_as_number};
use super::poison::{hides_history, note_skipped_checks, poison};
use super::state::{State, Variable};
use super::zsh::note_tied;
use crate::knowledge::schema::Facet;
use crate::observe::names;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::{Shape, Stream};
use crate::place;
use crate::world::{Kind, Tracking, World};

/// Sets a variable and judges its name.
pub(crate) fn assign(out: &mut Observer<'_>, name: &str, value: Stream, state: &mut State<'_>) {
    note_tied(out, name, state);
    if state.exports_all {
        exported(out, name, &value, state, "whatever follows");
    }
    if names::is_poison(name) && !value_is_harmless(out.world, name, &value, state) {
        poison(out, name, state);
    }
    if names::is_history(name) {
        hides_history(out, name);
    }
    if state.stubborn.contains(name) {
        evaluates(out, value.text.as_deref().unwrap_or_default(), state);
        if value.text.is_none() && !value.shape.is_one_word() && state.numbers.contains(name) {
            reads_as_number(out);
        }
    }
    // The shell gives these other values by itself.
    let own = matches!(name, "_" | "PWD" | "OLDPWD" | "RANDOM" | "SECONDS" | "LINENO" | "BASHPID" | "DIRSTACK");
    let value = match (own || state.stubborn.contains(name), state.numbers.contains(name)) {
        (_, true) => Stream { shape: Shape::Token, ..Stream::unknown(value.origin) },
        (true, false) => Stream::unknown(value.origin),
        (false, false) => value,
    };
    state.set(name, value);
    // What the environment holds already stays in it.
    if out.world.environment(name).is_some() {
        state.export(name);
    }
    if state.variables.get(name).is_some_and(|variable| variable.exported) {
        let value = state.variables.get(name).and_then(|variable| variable.value.text.clone());
        note_skipped_checks(out, name, value.as_deref());
    }
}

/// A variable enters the environment of programs.
pub(crate) fn exported(out: &mut Observer<'_>, name: &str, value: &Stream, state: &mut State<'_>, program: &str) {
    if names::is_poison(name) {
        if !value_is_harmless(out.world, name, value, state) {
            let ((), mut caused) = out.collect(|out| poison(out, name, state));
            let names_check = value.text.as_ref().is_some_and(|text| text.to_ascii_lowercase().contains("sslverify"));
            if name.starts_with("GIT_CONFIG") && names_check {
                caused.mark(Marks::default().with(Mark::TlsWeakened));
            }
            out.write(caused);
        }
        return;
    }
    if names::is_history(name) {
        return hides_history(out, name);
    }
    note_skipped_checks(out, name, value.text.as_deref());
    if is_place_of_cache(out.world, name, value, state) {
        return;
    }
    let leads = names::leads_elsewhere(name, value.text.as_deref())
        || value
            .text
            .as_deref()
            .is_some_and(|text| crate::observe::paths::words::leads_out(text, state.cwd.as_deref(), out.world));
    if !leads && (names::is_harmless(name, value.text.as_deref()) || program_listens(out, program, name)) {
        return;
    }
    let is_given = out.world.project_trusted() && out.knowledge.facets(program).has(Facet::HandsEnvironment);
    if !leads && is_given && names::is_argument(out.knowledge, name, value.text.as_deref()) {
        return;
    }
    // A pattern that allows the program says nothing about this variable, so it stands beside the commands.
    out.beside_commands(format!("{name}={}", value.text.as_deref().unwrap_or("…")));
    out.lower(Degree::Unknown, format!("the variable `{name}` in the environment of `{program}`"));
}

fn program_listens(out: &Observer<'_>, program: &str, name: &str) -> bool {
    out.knowledge.entry(program).is_some_and(|entry| entry.env.iter().any(|known| known == name))
}

/// A tool chain is told to keep what it makes among temporary files or build output, where this session put nothing else.
// What is there is run or linked by the tool: files of the session's own would be code that nobody judged.
fn is_place_of_cache(world: &dyn World, name: &str, value: &Stream, state: &State<'_>) -> bool {
    let (Some(text), true) = (value.text.as_deref(), names::is_cache(name)) else { return false };
    let Some(cwd) = state.cwd.as_deref().filter(|_| !text.is_empty() && !text.contains(['~', ':', '$'])) else {
        return false;
    };
    let path = crate::path::lexical(&crate::path::join(cwd, text));
    let resolved = crate::path::resolve(&path, world, crate::path::Follow::Last);
    let is_temporary = || {
        let is_fresh = world.look(&path).kind == Kind::Missing && world.is_own_temporary(&path);
        is_fresh
            || world.is_own_temporary(&crate::path::join(&path, "x"))
            || place::classify(&path, world).scope == Scope::Scratch
    };
    let is_output = || {
        world.project().is_some_and(|project| crate::path::under(&path, project) && path != project)
            && world.tracking(&path) == Tracking::Rebuildable
    };
    let is_put = state.written.keys().any(|written| crate::path::under(written, &path))
        || world.changed_files().iter().any(|changed| crate::path::under(changed, &path));
    resolved.real == path && !resolved.lost && !is_put && (is_temporary() || is_output())
}

fn value_is_harmless(world: &dyn World, name: &str, value: &Stream, state: &State<'_>) -> bool {
    match &value.text {
        Some(text) if name == "PATH" => crate::observe::paths::words::harmless_path_list(text, world),
        Some(text) if name == "PYTHONPATH" => {
            crate::observe::paths::words::source_roots(text, state.cwd.as_deref(), world)
        }
        Some(_) if is_place_of_cache(world, name, value, state) => true,
        Some(text) => {
            names::is_harmless_value(name, text)
                || (name == "TMPDIR" && world.scratch().iter().any(|directory| crate::path::under(text, directory)))
                || (name == "HOME" && world.home() == Some(text.as_str()))
        }
        None => false,
    }
}

pub(crate) fn export(out: &mut Observer<'_>, name: &str, state: &mut State<'_>) {
    let value = state.variables.get(name).map(|variable| variable.value.clone());
    let value = value.unwrap_or_default();
    if names::is_poison(name)
        && !value_is_harmless(out.world, name, &value, state)
        && state.variables.contains_key(name)
    {
        poison(out, name, state);
    }
    if state.variables.contains_key(name) {
        note_skipped_checks(out, name, value.text.as_deref());
    }
    Rc::make_mut(&mut state.variables).entry(name.to_owned()).or_insert(Variable { value, exported: true }).exported =
        true;
}
