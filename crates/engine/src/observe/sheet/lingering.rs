//! What of the call at hand outlives it: which commands go on running, and which files they run.

use std::rc::Rc;

use super::observer::Observer;
use crate::facts::LeftRun;
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;
use crate::path;

/// More files than a call keeps apart; beyond them any script may be one that is run.
const RUNS: usize = 256;

/// What of the call at hand outlives it.
#[derive(Debug, Default)]
pub(crate) struct Lingering {
    /// So many things around the command at hand go on after the call.
    depth: u32,
    pub is_any: bool,
    /// So many loops stand around it, also those of scripts that run scripts.
    pub loops: u32,
    /// Something stood before it that waits.
    is_delayed: bool,
    pub runs: Vec<LeftRun>,
    /// The command at hand.
    command: Option<Rc<Command>>,
}

/// A command as a shell would read it again.
#[derive(Debug)]
pub(crate) struct Command {
    text: String,
    directory: Option<String>,
    /// Paths that its words may be.
    named: Vec<String>,
}

impl Lingering {
    /// Something starts that nobody waits for.
    pub(crate) fn enter(&mut self) {
        self.enter_beside();
        self.is_any = true;
    }

    /// Something starts beside a command and mostly ends with it.
    pub(crate) fn enter_beside(&mut self) {
        self.depth += 1;
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.is_delayed &= self.depth > 0;
    }

    /// Something around the command at hand goes on after the call.
    pub(crate) fn is_inside(&self) -> bool {
        self.depth > 0
    }

    /// These words are the command at hand now; yields the one around it.
    pub(crate) fn begin(&mut self, fields: &[Field], cwd: Option<&str>) -> Option<Rc<Command>> {
        self.command.replace(Rc::new(command(fields, cwd)))
    }

    /// The command of these words has ended, and the one around it is at hand again.
    pub(crate) fn end(&mut self, knowledge: Packed, fields: &[Field], outer: Option<Rc<Command>>) {
        self.command = outer;
        self.is_delayed |= waits(knowledge, fields);
    }

    /// A file is run by the command at hand, under this name.
    fn note(&mut self, file: &str) {
        let command = self.command.as_deref();
        let (text, directory) =
            command.map(|command| (command.text.clone(), command.directory.clone())).unwrap_or_default();
        let run =
            LeftRun { file: file.to_owned(), command: text, directory, is_reread: self.loops > 0 || self.is_delayed };
        if self.runs.contains(&run) {
            return;
        }
        if self.runs.len() >= RUNS {
            return self.note_unknown();
        }
        self.runs.push(run);
    }

    /// Something is run that cannot be named: it may be any script.
    fn note_unknown(&mut self) {
        if !self.runs.iter().any(LeftRun::is_unknown) {
            self.runs.push(LeftRun::default());
        }
    }
}

impl Observer<'_> {
    /// A file is run, and may be run again after the call if what runs it outlives the call.
    pub(crate) fn note_run(&mut self, file: &str) {
        if self.lingering.depth == 0 {
            return;
        }
        self.lingering.note(file);
        let command = self.lingering.command.clone();
        for name in command.iter().flat_map(|command| &command.named).filter(|name| *name != file) {
            // A link on the way may come to lead elsewhere.
            if path::resolve(name, self.world, path::Follow::Last).real == file {
                self.lingering.note(name);
            }
        }
    }

    /// Something is run of which nobody knows what it is.
    pub(crate) fn note_unknown_run(&mut self) {
        if self.lingering.depth > 0 {
            self.lingering.note_unknown();
        }
    }
}

/// The words as a shell reads them again; what is not known stays so.
fn command(fields: &[Field], cwd: Option<&str>) -> Command {
    let spelled = |field: &Field| match field.exact() {
        Some(text) => quoted(text),
        // No positional parameters are known when it is judged again.
        None => "\"$1\"".to_owned(),
    };
    let words: Vec<String> = fields.iter().map(spelled).collect();
    let named = |field: &Field| {
        let (text, cwd) = (field.exact()?, cwd?);
        Some(path::lexical(&path::join(cwd, text)))
    };
    Command {
        text: words.join(" "),
        directory: cwd.map(str::to_owned),
        named: fields.iter().filter_map(named).collect(),
    }
}

/// A command that does nothing but let time pass: what stands behind it is read only then.
fn waits(knowledge: Packed, fields: &[Field]) -> bool {
    let name = fields.first().and_then(Field::exact).map(path::name);
    name.is_some_and(|name| knowledge.facets(name).has(Facet::Waits))
}

/// The text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
