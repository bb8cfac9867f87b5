//! Code that came into the project with git, an archive or a download: it is another project until somebody trusts it, and
//! single files of it run only once they were read.

use doorward_code::Language;

use super::sources::{is_written_in, loaded_by};
use super::unread::is_unread;
use crate::coverage::Degree;
use crate::effect::Operation;
use crate::incoming::Arrival;
use crate::marks::{Mark, Marks};
use crate::observe::program::Invocation;
use crate::observe::shell::field::Field;
use crate::observe::shell::run::Runner;
use crate::observe::shell::state::State;
use crate::path;
use crate::world::Kind;

/// Code in no text at all.
const COMPILED: &[&str] = &[
    "so", "dylib", "dll", "node", "wasm", "jar", "war", "class", "pyc", "pyo", "pyd", "whl", "egg", "gem", "exe", "a",
    "o",
];

/// More sources that came are not read one by one.
const SOURCES: usize = 48;

impl Runner<'_, '_> {
    /// The path lies in something that came as a whole: a repository of its own, an unpacked directory.
    pub fn foreign_place(&self, file: &str, state: &State<'_>) -> Option<String> {
        if let Some(place) = self.brought_above(file, state) {
            return Some(place);
        }
        let arrival = self.out.world.arrival(file)?;
        let is_whole = match &arrival {
            Arrival::Repository(_) => true,
            Arrival::Brought(place) => place != file || self.out.world.look(place).kind == Kind::Directory,
        };
        is_whole.then(|| arrival.place().to_owned())
    }

    /// A directory above the file that this call filled: a submodule that git moved to another commit.
    fn brought_above(&self, file: &str, state: &State<'_>) -> Option<String> {
        let brought = state
            .written
            .iter()
            .filter(|(_, written)| (written.origin.brought || written.origin.download) && written.content.is_none());
        let mut above = brought.filter(|(place, _)| {
            path::under(file, place) && (place.as_str() != file || self.out.world.look(place).kind == Kind::Directory)
        });
        above.next().map(|(place, _)| place.clone())
    }

    /// Where a command that runs code of the project works, or is told to look, there is something that came from elsewhere.
    pub fn foreign_run(&self, invocation: &Invocation, state: &State<'_>) -> Option<String> {
        let cwd = invocation.cwd.as_deref()?;
        let values = invocation.args.given.iter().filter_map(|given| given.value.as_ref());
        let named = invocation.args.operands.iter().chain(values).filter_map(Field::known);
        let places = named.map(|text| path::lexical(&path::join(cwd, text.split("::").next().unwrap_or(text))));
        std::iter::once(cwd.to_owned()).chain(places).find_map(|place| self.foreign_place(&place, state))
    }

    /// Single files that came and that no reading covers: written in a language that is not read, compiled, or too many.
    pub fn unread_arrivals(&mut self, invocation: &Invocation, state: &State<'_>) {
        let runs = |marks: Marks| marks.has_any(&[Mark::Test, Mark::RunsProject]);
        if !invocation.does.iter().any(|does| does.operation == Operation::Execute && runs(does.marks)) {
            return;
        }
        let arrived = self.arrived_files(state);
        let language = loaded_by(invocation);
        let unread = arrived.iter().find(|file| is_compiled(file) || (language.is_none() && is_unread(file)));
        if let Some(file) = unread {
            let name = path::name(file);
            self.out.lower(Degree::Opaque, format!("`{name}`, which came with git or an archive and nobody has read"));
        }
        let is_source = |file: &&String| {
            [Language::Python, Language::JavaScript].iter().any(|language| is_written_in(*language, file))
        };
        let sources = arrived.iter().filter(is_source).count();
        if sources > SOURCES {
            self.out.lower(Degree::Opaque, format!("{sources} sources that came with git or an archive"));
        }
    }

    /// The file came from elsewhere, in this call or an earlier one.
    pub fn has_arrived(&self, file: &str, state: &State<'_>) -> bool {
        match state.written.get(file) {
            Some(written) => written.origin.brought,
            None => self.out.world.arrival(file).is_some(),
        }
    }

    /// Files of the project that came from elsewhere, in this call or an earlier one.
    fn arrived_files(&self, state: &State<'_>) -> Vec<String> {
        let Some(project) = self.out.world.project() else { return Vec::new() };
        let mut files = self.out.world.changed_files();
        files.retain(|file| !state.written.contains_key(file));
        files.extend(state.written.keys().cloned());
        files.retain(|file| path::under(file, project) && self.has_arrived(file, state));
        files
    }
}

fn is_compiled(file: &str) -> bool {
    path::name(file)
        .rsplit_once('.')
        .is_some_and(|(_, ending)| COMPILED.contains(&ending.to_ascii_lowercase().as_str()))
}
