//! Files that are run: whether they are as the project was trusted, and the effect of running one.

use doorward_vocabulary::{Marks, Operation, Reach, Reversibility, Scope};

use crate::effect::{Effect, Target};
use crate::observe::paths::reversible::is_in_bare_project;
use crate::observe::recipes::arrived::foreign_place;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;
use crate::permissions::wildcard;
use crate::world::{Kind, Tracking, World};

/// The file was written or changed: since the project was trusted, in this session, or by this call.
pub(crate) fn is_changed(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    let look = world.look(file);
    look.changed_since_trust || look.created_this_session || state.written.contains_key(file)
}

/// The project is no repository, and the file lay in it when it was trusted: what git tracks is its tree, and without git all that
/// was there is (decision 0045).
pub(crate) fn was_there(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    let is_put_there =
        || state.written.iter().any(|(place, written)| path::under(file, place) && !written.is_new_directory);
    is_in_bare_project(world, file)
        && matches!(world.look(file).kind, Kind::File | Kind::Unlisted)
        && !is_changed(world, file, state)
        && !is_put_there()
        && foreign_place(world, file, state).is_none()
}

/// A file of a trusted project, as it was when it was trusted.
pub(crate) fn is_own_setting(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    !is_changed(world, file, state)
        && foreign_place(world, file, state).is_none()
        && world.project_trusted()
        && (world.tracking(file) == Tracking::Clean || was_there(world, file, state))
}

/// Why a file of the project does not count as what was trusted.
pub(crate) fn not_as_trusted(world: &dyn World, file: &str, state: &State<'_>) -> &'static str {
    let look = world.look(file);
    if look.created_this_session || state.written.contains_key(file) {
        "which was written in this session"
    } else if look.changed_since_trust {
        "which has changed since you trusted the project"
    } else {
        "which git does not track"
    }
}

/// A pattern of a delegate names this file: by its last component, or by the end of its path.
pub(crate) fn decides(pattern: &str, file: &str) -> bool {
    if pattern.contains('/') {
        return file.ends_with(&format!("/{pattern}")) || wildcard(&format!("*/{pattern}"), file);
    }
    wildcard(pattern, path::name(file))
}

/// A file that is run: by whom, with what coming in, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRun<'a> {
    pub file: &'a str,
    pub input: &'a Stream,
    pub by: &'a By,
    pub how: How,
}

/// How a file is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// As a program: its own first line says by whom.
    Itself,
    /// Another program reads it.
    Read,
}

/// Code that this call fetched lies where the program works: no recipe there is the one that was trusted.
pub(crate) fn fetched_here(directory: Option<&str>, state: &State<'_>) -> Option<String> {
    let directory = directory?;
    state
        .written
        .iter()
        .find(|(place, file)| file.origin.download && file.content.is_none() && path::under(directory, place))
        .map(|(place, _)| path::name(place).to_owned())
}

/// Writes down that a file is run.
pub(crate) fn executes_file(out: &mut Observer<'_>, file: &str, by: &By, marks: Marks) {
    out.note_run(file);
    let place = crate::place::classify(file, out.world);
    let mut effect = Effect::new(Operation::Execute, Target::Program(file.to_owned()));
    effect.scope = place.scope.max(Scope::Project);
    // Running a shared file changes nothing for the others.
    effect.reach = if place.reach == Reach::Shared { Reach::Project } else { place.reach.max(Reach::Project) };
    effect.reversibility = Reversibility::Tracked;
    effect.marks = place.marks;
    effect.marks.union(marks);
    effect.by.clone_from(&by.name);
    effect.part = by.part;
    out.effect(effect);
}
