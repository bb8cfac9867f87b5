//! Virtual environments of Python: which of them a command works in, and which of its programs come first.

use std::rc::Rc;

use crate::knowledge::schema::Facet;
use crate::observe::field::Field;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Kind, World};

/// Programs that run a command in the environment of the project, and make that from what it declares.
// These first build the environment from the manifest, which runs build code of every dependency, then run the
// command.
const RUNNERS: &[&str] = &["uv run", "poetry run", "pdm run", "pipenv run", "rye run", "hatch run"];

/// Where such programs keep the environment.
// The directory that each of them makes unless told otherwise.
const USUAL: &[&str] = &[".venv", "venv"];

/// The environment whose script for activating it a shell has read, if it is one of the project.
///
/// The script itself is judged like any that a shell reads: one that somebody changed is looked through.
pub(crate) fn activated(world: &dyn World, file: &Field, state: &State<'_>) -> Option<Rc<str>> {
    let script = path::lexical(&path::join(state.cwd.as_deref()?, file.exact()?));
    let bin = path::parent(&script);
    let is_named = path::name(&script) == "activate" && path::name(bin) == "bin";
    Some(path::parent(bin)).filter(|root| is_named && is_environment(world, root, state)).map(Rc::from)
}

/// The command that follows runs in the environment of the project.
pub(crate) fn enter_environment(world: &dyn World, by: &str, state: &mut State<'_>) {
    if !RUNNERS.contains(&by) || !world.project_trusted() {
        return;
    }
    let (Some(cwd), Some(project)) = (state.cwd.clone(), world.project()) else { return };
    let mut directory = &*cwd;
    while path::under(directory, project) {
        let found =
            USUAL.iter().map(|name| path::join(directory, name)).find(|root| is_environment(world, root, state));
        if let Some(root) = found {
            state.venv = Some(root.into());
            return;
        }
        if directory == project {
            break;
        }
        directory = path::parent(directory);
    }
    // There is none yet: it is made first, with what the project declares.
    if path::under(&cwd, project) {
        state.venv = Some("".into());
    }
}

/// The environment that is in force has a program of this name.
pub(crate) fn program_of_environment(world: &dyn World, name: &str, state: &State<'_>) -> Option<String> {
    let root = state.venv.as_deref().filter(|root| !root.is_empty())?;
    let program = format!("{root}/bin/{name}");
    let is_there = matches!(world.look(&program).kind, Kind::File | Kind::Link);
    (is_there || state.written.contains_key(&program)).then_some(program)
}

/// The environment will have the program by the time the command runs: a known one that works on projects.
pub(crate) fn is_provided(out: &Observer<'_>, name: &str, state: &State<'_>) -> bool {
    let is_known = |entry: crate::knowledge::schema::Entry| !entry.delegates.is_empty();
    let is_python = out.knowledge.facets(name).has(Facet::RunsPython);
    state.venv.as_deref() == Some("") && (is_python || out.knowledge.entry(name).is_some_and(is_known))
}

fn is_environment(world: &dyn World, root: &str, state: &State<'_>) -> bool {
    let is_inside = world.project().is_some_and(|project| path::under(root, project) && root != project);
    let is_made = world.look(&format!("{root}/pyvenv.cfg")).kind == Kind::File;
    let is_written = state.written.keys().any(|file| path::under(file, root));
    is_inside && is_made && !is_written && world.arrival(root).is_none()
}
