//! Text that a shell runs: the call itself, `sh -c`, `eval`, a pipe into a shell, a trap.

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks};

use super::reading::{every_reading, readings};
use super::runner::Runner;
use super::state::State;
use crate::effect::Part;
use crate::observe::sheet::observer::{By, Observer};
use crate::observe::stream::{Origin, Stream};
use crate::world::Shell;

/// Nested code is followed this deep.
// `sh -c` inside `sh -c`: quoting that deep is never written by hand.
const NESTING: u32 = 12;

impl Runner<'_, '_> {
    /// Runs text as programs do that hand it to a shell: `sh -c text`.
    pub(crate) fn subshell_text(&mut self, text: &str, state: &State<'_>, input: Stream, part: Part) -> Stream {
        self.text_of(Shell::Sh, text, state, input, part)
    }

    /// Runs text in a shell of its own.
    pub(crate) fn text_of(&mut self, shell: Shell, text: &str, state: &State<'_>, input: Stream, part: Part) -> Stream {
        let mut inner = State { functions: Default::default(), variables: exported_only(state), ..state.clone() };
        self.nested(shell, text, &mut inner, input, part)
    }

    /// Runs text in the current shell: `eval`, `trap`.
    pub(crate) fn eval_text(&mut self, text: &str, state: &mut State<'_>, input: Stream, part: Part) -> Stream {
        let mut ways = readings(text, state.shell()).into_iter();
        let Some(parsed) = ways.next() else { return Stream::default() };
        if let Some(error) = &parsed.error {
            self.out.lower(Degree::Opaque, format!("evaluated text: {error}"));
        }
        for other in ways {
            self.out.lower(Degree::Opaque, "evaluated text that shells read differently");
            let mut inner: State<'_> = state.clone();
            let outer = enter(self.out, part);
            self.apart(|runner| runner.script(&other.script, &mut inner, input.clone()));
            leave(self.out, outer);
        }
        let output;
        let (places, variables, written, shadowed, stubborn, flags) = {
            let mut inner: State<'_> = state.clone();
            let outer = enter(self.out, part);
            output = self.script(&parsed.script, &mut inner, input);
            leave(self.out, outer);
            let mut shadowed = (*inner.shadowed).clone();
            let is_new = |name: &String, body: &doorward_shell::Command| {
                state.functions.get(name).is_none_or(|known| !std::ptr::eq(*known, body))
            };
            // A function that the text removed is a program again.
            shadowed.extend(state.functions.keys().filter(|name| !inner.functions.contains_key(*name)).cloned());
            let defined: Vec<_> = inner.functions.iter().filter(|(name, body)| is_new(name, body)).collect();
            shadowed.extend(defined.iter().map(|(name, _)| (*name).clone()));
            // The text is gone once it was evaluated, so what its functions would do is looked at here.
            let bodies: Vec<&doorward_shell::Command> = defined.into_iter().map(|(_, body)| *body).collect();
            for body in bodies {
                let mut called = State { positional: None, ..inner.clone() };
                self.command(body, &mut called, Stream::unknown(Origin::default()));
            }
            (
                (inner.cwd, inner.logical, inner.previous_cwd, inner.positional),
                inner.variables,
                (inner.written, inner.git),
                shadowed,
                (inner.stubborn, inner.locals),
                (inner.path_changed, inner.odd_shell, inner.poisoned),
            )
        };
        (state.cwd, state.logical, state.previous_cwd, state.positional) = places;
        (state.stubborn, state.locals) = stubborn;
        state.variables = variables;
        (state.written, state.git) = written;
        state.shadowed = std::rc::Rc::new(shadowed);
        (state.path_changed, state.odd_shell, state.poisoned) = flags;
        output
    }

    fn nested(&mut self, shell: Shell, text: &str, state: &mut State<'_>, input: Stream, part: Part) -> Stream {
        if self.depth > NESTING * 3 || !self.out.spend(8 + u32::try_from(text.len() / 64).unwrap_or(u32::MAX)) {
            self.out.lower(Degree::Opaque, "shells inside shells, nested too deeply to follow");
            return Stream::default();
        }
        let outer = enter(self.out, part);
        self.depth += 3;
        let called = std::mem::take(&mut self.called);
        let calling = std::mem::take(&mut self.calling);
        let manner = std::mem::take(&mut self.manner);
        let traps = std::mem::take(&mut self.traps);
        let output = self.apart(|runner| {
            runner.looping = 0;
            every_reading(runner, text, shell, state, &input, "text that a shell runs: ")
        });
        self.traps = traps;
        self.manner = manner;
        self.called = called;
        self.calling = calling;
        self.depth -= 3;
        leave(self.out, outer);
        output
    }
}

fn enter(out: &mut Observer<'_>, part: Part) -> Option<Part> {
    let outer = out.outer;
    out.outer = Some(outer.unwrap_or(part));
    outer
}

fn leave(out: &mut Observer<'_>, outer: Option<Part>) {
    out.outer = outer;
}
impl Runner<'_, '_> {
    /// Data arrives where code is expected.
    pub(crate) fn run_stream(&mut self, stream: &Stream, state: &State<'_>, by: &By) -> Stream {
        if let Some(text) = &stream.text
            && !stream.origin.download
        {
            let shell = shell_of(by).unwrap_or(Shell::Unknown);
            return self.text_of(shell, text, state, Stream::empty(), by.part);
        }
        runs_data(self.out, stream.origin, by);
        Stream::unknown(stream.origin)
    }
}

/// Data that is not known is run as code.
pub(crate) fn runs_data(out: &mut Observer<'_>, origin: Origin, by: &By) {
    let kind = if origin.download { FlowKind::DownloadToExecute } else { FlowKind::DataToExecute };
    out.flow(kind, by.part, by.part);
    out.lower(Degree::Opaque, format!("`{}` runs data that doorward can't see", by.name));
    let mut marks = Marks::default().with(Mark::ShellCode);
    if origin.download {
        marks.add(Mark::RemoteCode);
    }
    out.unknown(doorward_vocabulary::Operation::Execute, by, marks);
}

/// Something sensitive was read so far.
pub(crate) fn seen_secret(out: &Observer<'_>) -> bool {
    out.has_read_secret()
}

/// The shell that does something, if it is one: `bash`, `busybox sh`.
pub(crate) fn shell_of(by: &By) -> Option<Shell> {
    by.name.split(' ').next_back().and_then(Shell::named)
}

/// A new shell sees only what was exported; what is not exported it does not know.
fn exported_only(state: &State<'_>) -> std::rc::Rc<std::collections::BTreeMap<String, super::state::Variable>> {
    std::rc::Rc::new(
        state
            .variables
            .iter()
            .filter(|(_, variable)| variable.exported)
            .map(|(name, variable)| (name.clone(), variable.clone()))
            .collect(),
    )
}
