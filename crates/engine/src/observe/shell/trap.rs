//! `trap`: text that runs at some later point, whatever the variables are then.

use std::rc::Rc;

use doorward_vocabulary::Degree;

use super::code::runs_data;
use super::runner::{Runner, Trap};
use super::state::State;
use crate::observe::field::Field;
use crate::observe::sheet::observer::By;
use crate::observe::stream::Stream;

/// `trap TEXT SIGNAL …`
pub(super) fn trap(runner: &mut Runner<'_, '_>, words: &[Field], state: &mut State<'_>, by: &By) -> Option<Stream> {
    let mut words = words.iter().filter(|word| word.text != "--");
    let Some(first) = words.next() else { return Some(Stream::empty()) };
    let signals: Vec<&Field> = words.collect();
    match first.known() {
        Some("-" | "-p" | "-l" | "-lp" | "") => {}
        Some(_) if signals.is_empty() => {}
        Some(text) => {
            let text = text.to_owned();
            let at_end = signals.iter().all(|signal| matches!(signal.exact(), Some("EXIT" | "0")));
            set_trap(runner, text, at_end, state, by);
        }
        None => runs_data(runner.out, first.origin, by),
    }
    Some(Stream::empty())
}

fn set_trap(runner: &mut Runner<'_, '_>, text: String, at_end: bool, state: &mut State<'_>, by: &By) {
    let mut inner: State<'_> = state.clone();
    runner.apart(|runner| runner.eval_text(&text, &mut inner, Stream::empty(), by.part));
    inner.written = Rc::clone(&state.written);
    if !at_end && !inner.equals(state) {
        runner.out.lower(Degree::Opaque, "a trap that may change variables or the directory at any time");
    }
    runner.traps.push(Trap {
        text,
        part: by.part,
        variables: Rc::clone(&state.variables),
        cwd: state.cwd.clone(),
        positional: state.positional.clone(),
    });
}

/// Looks at the traps again if something changed that they use.
pub(super) fn spring_traps(runner: &mut Runner<'_, '_>, state: &State<'_>) {
    if runner.traps.is_empty() {
        return;
    }
    let mut traps = std::mem::take(&mut runner.traps);
    for trap in &mut traps {
        if !trap.notices(state) {
            continue;
        }
        trap.variables = Rc::clone(&state.variables);
        trap.cwd.clone_from(&state.cwd);
        trap.positional.clone_from(&state.positional);
        let mut inner: State<'_> = state.clone();
        runner.apart(|runner| runner.eval_text(&trap.text, &mut inner, Stream::empty(), trap.part));
    }
    runner.traps = traps;
}

impl Trap {
    fn notices(&self, state: &State<'_>) -> bool {
        if self.cwd != state.cwd || self.positional != state.positional {
            return true;
        }
        if Rc::ptr_eq(&self.variables, &state.variables) {
            return false;
        }
        let mut names =
            self.text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').peekable();
        names.any(|name| state.functions.contains_key(name) || self.variables.get(name) != state.variables.get(name))
    }
}
