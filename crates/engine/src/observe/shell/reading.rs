//! Which shells may run a text, and what each of them reads in it.

use std::rc::Rc;

use doorward_shell::{Dialect, ErrorKind, ParseError, Script, parse};
use doorward_vocabulary::Degree;

use super::runner::Runner;
use super::state::State;
use crate::observe::stream::Stream;
use crate::world::Shell;

/// One way to read a text.
#[derive(Debug)]
pub(crate) struct Reading {
    pub script: Script,
    pub error: Option<ParseError>,
    /// Whose builtins and expansions run it.
    pub dialect: Dialect,
}

/// The ways in which a text may be read; those that come to the same are one.
pub(crate) fn readings(text: &str, shell: Shell) -> Vec<Reading> {
    match shell {
        Shell::Bash => vec![read(text, Dialect::Bash)],
        Shell::Zsh => vec![read(text, Dialect::Zsh)],
        Shell::Sh => by_sh(text),
        Shell::Unknown => {
            let mut all = by_sh(text);
            all.push(read(text, Dialect::Zsh));
            all
        }
    }
}

fn read(text: &str, dialect: Dialect) -> Reading {
    let parsed = parse(text, dialect);
    Reading { script: parsed.script, error: parsed.error, dialect }
}

/// `sh` is dash or bash. Its `echo` is dash's in both, as it is on some systems that have bash there.
fn by_sh(text: &str) -> Vec<Reading> {
    let bash = Reading { dialect: Dialect::Sh, ..read(text, Dialect::Bash) };
    let mut dash = read(text, Dialect::Sh);
    let is_refused = bash.error.is_none()
        && dash.error.is_some_and(|error| matches!(error.kind, ErrorKind::Refused | ErrorKind::Unexpected));
    if is_refused {
        // Nothing from there on runs, and what stands before it is part of the other reading.
        dash.error = None;
    }
    let adds_nothing = dash.error == bash.error && bash.script.statements.starts_with(&dash.script.statements);
    if adds_nothing && (is_refused || dash.script == bash.script) { vec![bash] } else { vec![bash, dash] }
}

/// Runs a text as every shell would that may run it. What any of them does counts.
pub(crate) fn every_reading(
    runner: &mut Runner<'_, '_>,
    text: &str,
    shell: Shell,
    state: &mut State<'_>,
    input: &Stream,
    what: &str,
) -> Stream {
    let readings = readings(text, shell);
    let mut printed: Option<Stream> = None;
    let mut end: Option<State<'_>> = None;
    for reading in &readings {
        if let Some(error) = &reading.error {
            runner.out.lower(Degree::Opaque, format!("{what}{error}"));
        }
        let mut inner: State<'_> = State { dialect: reading.dialect, ..state.clone() };
        // What one shell has set up is nothing to the next.
        runner.traps.clear();
        runner.called.clear();
        let output = runner.apart(|runner| one_reading(runner, &reading.script, &mut inner, input));
        printed = Some(printed.map_or_else(|| output.clone(), |first| first.or(&output)));
        end = Some(match end {
            Some(end) => end.join(&inner),
            None => inner,
        });
    }
    if let Some(end) = end {
        state.written = Rc::clone(&end.written);
        state.git = Rc::clone(&end.git);
    }
    printed.unwrap_or_default()
}

/// zsh keeps a value whole that the others split, unless an option of the user's says otherwise: where that makes a
/// difference both count.
fn one_reading<'a>(runner: &mut Runner<'_, '_>, script: &'a Script, state: &mut State<'a>, input: &Stream) -> Stream {
    let before = state.clone();
    let kept = std::mem::take(&mut runner.kept_whole);
    let output = runner.program(script, state, input.clone());
    let differs = std::mem::replace(&mut runner.kept_whole, kept);
    if !differs || runner.splits {
        return output;
    }
    let mut other = before;
    runner.traps.clear();
    runner.splits = true;
    let split = runner.program(script, &mut other, input.clone());
    runner.splits = false;
    *state = std::mem::replace(state, State::new(None)).join(&other);
    output.or(&split)
}

impl State<'_> {
    /// The shell that runs this part of the script.
    pub(crate) fn shell(&self) -> Shell {
        match self.dialect {
            Dialect::Bash => Shell::Bash,
            Dialect::Sh => Shell::Sh,
            Dialect::Zsh => Shell::Zsh,
        }
    }
}
