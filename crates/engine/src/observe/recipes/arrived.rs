//! Code that came into the project with git, an archive or a download: it is another project until somebody trusts it, and
//! single files of it run only once they were read.

use doorward_code::Language;
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::sources::{is_written_in, one_source};
use crate::incoming::Arrival;
use crate::observe::field::Field;
use crate::observe::program::Invocation;
use crate::observe::program::file_trust::decides;
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::{Kind, World};

/// More sources that came are not read one by one.
// A pull of a day's work. More is a new state of the project, and a person has to say whether to trust it.
const SOURCES: usize = 48;

/// The path lies in something that came as a whole: a repository of its own, an unpacked directory.
pub(crate) fn foreign_place(world: &dyn World, file: &str, state: &State<'_>) -> Option<String> {
    if let Some(place) = brought_above(file, state) {
        return Some(place);
    }
    let arrival = world.arrival(file)?;
    let is_whole = match &arrival {
        Arrival::Repository(_) => true,
        Arrival::Brought(place) => place != file || world.look(place).kind == Kind::Directory,
    };
    is_whole.then(|| arrival.place().to_owned())
}

/// A directory above the file that this call filled: a submodule that git moved to another commit.
fn brought_above(file: &str, state: &State<'_>) -> Option<String> {
    let brought = state
        .written
        .iter()
        .filter(|(_, written)| (written.origin.brought || written.origin.download) && written.content.is_none());
    let mut above = brought.filter(|(place, _)| path::under(file, place));
    above.next().map(|(place, _)| place.clone())
}

/// Where a command that runs code of the project works, or is told to look, there is something that came from elsewhere.
pub(crate) fn foreign_run(world: &dyn World, invocation: &Invocation, state: &State<'_>) -> Option<String> {
    let cwd = invocation.cwd.as_deref()?;
    let values = invocation.args.given.iter().filter_map(|given| given.value.as_ref());
    let named = invocation.args.operands.iter().chain(values).filter_map(Field::known);
    let places = named.map(|text| path::lexical(&path::join(cwd, text.split("::").next().unwrap_or(text))));
    std::iter::once(cwd.to_owned()).chain(places).find_map(|place| foreign_place(world, &place, state))
}

/// What is said of a program that runs what came from elsewhere.
pub(crate) fn foreign_code(world: &dyn World, place: &str, program: &str) -> String {
    let name = path::name(place);
    // The project itself, or what holds it: only what came is new in it.
    match world.project().is_some_and(|project| path::under(project, place)) {
        true => {
            format!("`{program}` runs code that git or an archive brought into `{name}` and doorward hasn't read")
        }
        false => format!("`{program}` runs code in `{name}`, which is not part of the project"),
    }
}

/// Single files that came: those that can be read are read, the rest is for a person, unless nothing could run it.
pub(crate) fn unread_arrivals(runner: &mut Runner<'_, '_>, invocation: &Invocation, state: &mut State<'_>) {
    let runs = |marks: Marks| marks.has_any(&[Mark::Test, Mark::RunsProject, Mark::Build]);
    if !invocation.does.iter().any(|does| does.operation == Operation::Execute && runs(does.marks)) {
        return;
    }
    let arrived = arrived_files(runner.out.world, state);
    let (sources, others): (Vec<&String>, Vec<&String>) = arrived.iter().partition(|file| read_as(file).is_some());
    // What decides what runs is followed by its own reader.
    let unread = others.iter().find(|file| !is_inert(file) && !is_followed(file, invocation));
    if let Some(file) = unread {
        let name = path::name(file);
        runner
            .out
            .lower(Degree::Opaque, format!("`{name}`, which came with git or an archive and doorward can't read"));
    }
    if sources.len() > SOURCES {
        let count = sources.len();
        return runner.out.lower(Degree::Opaque, format!("{count} source files that came with git or an archive"));
    }
    for file in sources {
        if let Some(language) = read_as(file) {
            one_source(runner, file, language, &invocation.by, state);
        }
    }
}

/// Something came from elsewhere, in this call or an earlier one.
pub(crate) fn has_arrivals(world: &dyn World, state: &State<'_>) -> bool {
    arrived_files(world, state).iter().any(|file| !is_inert(file))
}

/// Something of it lies in this directory.
pub(crate) fn holds_arrivals(world: &dyn World, directory: &str, state: &State<'_>) -> bool {
    arrived_files(world, state).iter().any(|file| path::under(file, directory))
}

/// The file came from elsewhere, in this call or an earlier one.
pub(crate) fn has_arrived(world: &dyn World, file: &str, state: &State<'_>) -> bool {
    match state.written.get(file) {
        Some(written) => written.origin.brought,
        None => world.arrival(file).is_some(),
    }
}

/// Files of the project that came from elsewhere, in this call or an earlier one.
fn arrived_files(world: &dyn World, state: &State<'_>) -> Vec<String> {
    let Some(project) = world.project() else { return Vec::new() };
    // A repository of its own is met where something runs in it.
    let is_brought = |file: &String| match state.written.get(file) {
        Some(written) => written.origin.brought,
        None => matches!(world.arrival(file), Some(Arrival::Brought(_))),
    };
    let mut files = world.changed_files();
    files.extend(state.written.keys().cloned());
    files.retain(|file| path::under(file, project) && is_brought(file));
    files.sort_unstable();
    files.dedup();
    files
}

/// The language in which a file is read.
fn read_as(file: &str) -> Option<Language> {
    [Language::Python, Language::JavaScript].into_iter().find(|language| is_written_in(*language, file))
}

/// A recipe of the command's own: it was looked through where it decides.
fn is_followed(file: &str, invocation: &Invocation) -> bool {
    let mut patterns = invocation.args.chain.iter().flat_map(|entry| entry.delegates.iter());
    patterns.any(|pattern| decides(pattern, file)) || super::runner::is_task_file(path::name(file))
}

/// Prose and pictures: no tool runs them, whatever it is told.
pub(crate) fn is_inert(file: &str) -> bool {
    // Nothing runs these by accident. `html`, `json` and `yml` are missing: browsers, tools and CI obey them.
    const ENDINGS: &[&str] = &[
        "md", "txt", "rst", "adoc", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "pdf", "css", "scss", "woff",
        "woff2", "ttf",
    ];
    // Files without an ending that no tool runs.
    const NAMES: &[&str] =
        &["LICENSE", "COPYING", "AUTHORS", "NOTICE", "CODEOWNERS", ".gitignore", ".gitkeep", ".editorconfig"];
    let name = path::name(file);
    NAMES.contains(&name)
        || name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str()) && name != "requirements.txt"
        })
}
