//! Commands behind the words of a program that nobody knows, or in the code of a shell that is not read: looked at in
//! addition, which only tightens.

use std::rc::Rc;

use super::grammar::powershell;
use super::{Start, run};
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;
use crate::observe::program::Invocation;
use crate::observe::shell::runner::{DEPTH, Runner};
use crate::observe::shell::state::State;
use crate::observe::stream::{Origin, Stream};
use crate::path;

/// Flags behind which programs take a command line as one word.
// As wrappers call it: `su -c`, `watch --exec`, `nix-shell --run`, `pwsh -Command`.
const TEXTS: &[&str] = &["-c", "--command", "--cmd", "-Command", "-e", "--exec", "--execute", "-x", "--run", "--shell"];

/// Looks at the words of an unknown program as at a command: those behind `--`, or from the first program that is known.
///
/// INVARIANT: the caller has lowered the coverage, so that nothing found here can approve.
pub(super) fn look_behind(runner: &mut Runner<'_, '_>, start: &Start<'_>, state: &State<'_>) -> Origin {
    if runner.depth + 1 >= DEPTH || !runner.out.spend(8) {
        return Origin::default();
    }
    let mut origin = Origin::default();
    for text in texts(start.words) {
        let output = in_its_own(runner, state, |runner, state| {
            runner.subshell_text(text, state, Stream::unknown(Origin::default()), start.part)
        });
        origin = origin.and(output.origin);
    }
    let Some(words) = command(runner, start.words) else { return origin };
    let inner = Start { words, input: start.input.clone(), part: start.part };
    let output = in_its_own(runner, state, |runner, state| run(runner, inner, state));
    origin.and(output.origin)
}

/// The code of a shell that is not read, looked at as if it were one that is: most of what matters is spelled alike.
pub(super) fn look_into(runner: &mut Runner<'_, '_>, code: &Field, invocation: &Invocation, state: &State<'_>) {
    let is_shell = invocation.args.chain.iter().any(|entry| entry.facets.has(Facet::ReadsLikeShell));
    let Some(text) = code.known().filter(|_| is_shell && runner.depth + 1 < DEPTH && runner.out.spend(8)) else {
        return;
    };
    let mut inner: State<'_> = state.clone();
    inner.cwd = invocation.cwd.as_deref().map(Rc::from);
    let (input, part) = (invocation.input.clone(), invocation.by.part);
    in_its_own(runner, &inner, |runner, state| runner.subshell_text(text, state, input.clone(), part));
    let is_powershell = invocation.args.chain.iter().any(|entry| entry.facets.has(Facet::ReadsPowerShell));
    let written = powershell::as_shell(text);
    if is_powershell && !written.is_empty() {
        in_its_own(runner, &inner, |runner, state| runner.subshell_text(&written, state, input, part));
    }
}

fn in_its_own<'a>(
    runner: &mut Runner<'_, '_>,
    state: &State<'a>,
    look: impl FnOnce(&mut Runner<'_, '_>, &mut State<'a>) -> Stream,
) -> Stream {
    let mut inner = State { functions: Rc::default(), ..state.clone() };
    runner.depth += 1;
    let output = look(runner, &mut inner);
    runner.depth -= 1;
    output
}

/// Words that are a whole command line.
fn texts(words: &[Field]) -> impl Iterator<Item = &str> {
    words.windows(2).filter_map(|pair| match pair {
        [flag, text] => {
            let is_flag = TEXTS.iter().any(|known| flag.exact().is_some_and(|flag| known.eq_ignore_ascii_case(flag)));
            text.known().filter(|text| is_flag && text.trim().contains(' '))
        }
        _ => None,
    })
}

/// The words that are a command of their own.
fn command<'w>(runner: &Runner<'_, '_>, words: &'w [Field]) -> Option<&'w [Field]> {
    let known = |field: &Field| {
        field.exact().is_some_and(|text| {
            let name = path::name(text);
            !name.is_empty() && !name.contains(' ') && runner.out.knowledge.entry(name).is_some()
        })
    };
    let ended = words.iter().position(|word| word.text == "--").map(|at| at + 1);
    let at = ended.or_else(|| words.iter().position(known))?;
    // A name alone is more often a word of the program's own: `acme kill`, `acme format`.
    words.get(at..).filter(|words| words.len() > 1)
}
