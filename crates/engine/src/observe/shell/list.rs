//! `a && b || c`, and the ways out of the middle of a script: `break`, `continue`, `return`, `exit`.

use std::rc::Rc;

use doorward_shell::{
    CommandKind, Connector, Dialect, Pipeline, Redirect, RedirectOperator, RedirectTarget, Simple, Statement,
};

use super::grammar::Builtin;
use super::runner::{Jump, Runner};
use super::state::State;
use crate::observe::field::Field;
use crate::observe::stream::Stream;

impl Runner<'_, '_> {
    /// `a && b || c`: what follows `&&` sees the state after success, what follows `||` the states after failure; what
    /// comes behind the list sees both.
    pub(crate) fn list<'a>(&mut self, statement: &'a Statement, state: &mut State<'a>, input: Stream) -> Stream {
        if statement.rest.is_empty() {
            return self.pipeline(&statement.first, state, input);
        }
        let before = state.clone();
        let mut output = self.pipeline(&statement.first, state, input.clone());
        let mut failed = failure(&statement.first, before, state);
        // What follows `&&` runs where a `cd` has led to, and nowhere else.
        let mut stayed = state.otherwise.take();
        for (connector, pipeline) in &statement.rest {
            let returns = !self.never_returns(pipeline);
            match connector {
                Connector::And => {
                    let (before, sure) = (state.clone(), failed.is_none());
                    let printed = self.pipeline(pipeline, state, input.clone());
                    output = output.then(if sure { printed } else { perhaps(printed) });
                    if returns {
                        let mut other = failure(pipeline, before, state);
                        if let (Some(other), Some(_)) = (&mut other, &stayed) {
                            other.otherwise.clone_from(&stayed);
                        }
                        failed = either(failed, other);
                        stayed = state.otherwise.take().or(stayed);
                    } else if let Some(failed) = &failed {
                        state.clone_from(failed);
                    }
                }
                Connector::Or => match failed.take() {
                    // The left side cannot fail, so this is looked at only for what it would do.
                    None => {
                        let (exits, jumps) = (self.exits, self.jumps.len());
                        self.pipeline(pipeline, &mut state.clone(), input.clone());
                        self.exits = exits;
                        self.jumps.truncate(jumps);
                    }
                    Some(mut other) => {
                        let before = other.clone();
                        let printed = self.pipeline(pipeline, &mut other, input.clone());
                        output = output.then(perhaps(printed));
                        let stayed = stayed.take();
                        if returns {
                            failed = failure(pipeline, before, &other);
                            join_failed(state, &other, stayed);
                        }
                    }
                },
            }
        }
        if let Some(failed) = failed {
            join_failed(state, &failed, stayed);
        }
        output
    }
}

/// The state after a pipeline that failed; `None` if it does not fail.
fn failure<'a>(pipeline: &Pipeline, before: State<'a>, after: &State<'a>) -> Option<State<'a>> {
    let command = match pipeline.commands.as_slice() {
        [only] => only,
        // The last one runs in the shell itself, and says how the whole ended.
        [.., last] if before.dialect == Dialect::Zsh => last,
        [] | [..] => return Some(before.join(after)),
    };
    let CommandKind::Simple(simple) = &command.kind else { return Some(before.join(after)) };
    if pipeline.negated || opens_files(&command.redirects) {
        return Some(before.join(after));
    }
    if simple.words.is_empty() {
        return Some(after.clone());
    }
    let first = first_word(simple);
    if let Some(name) = first
        && (before.functions.contains_key(name) || before.shadowed.iter().any(|known| known == name))
    {
        return Some(before.join(after));
    }
    match first.and_then(Builtin::named) {
        Some(Builtin::Cd | Builtin::Pushd) if after.cwd.is_some() && after.otherwise.is_none() => None,
        Some(Builtin::Cd | Builtin::Pushd) => Some(before),
        // What prints may fail to, and what is named may not be a name.
        Some(builtin) if builtin.succeeds() => None,
        Some(_) | None => Some(before.join(after)),
    }
}
impl Runner<'_, '_> {
    /// `… || exit 1` and the like: what comes after runs only if the left side succeeded.
    fn never_returns(&self, pipeline: &Pipeline) -> bool {
        let [command] = pipeline.commands.as_slice() else { return false };
        match &command.kind {
            CommandKind::Simple(simple) => match first_word(simple).and_then(Builtin::named) {
                Some(Builtin::Exit) => true,
                // Outside of a function `return` is only an error.
                Some(Builtin::Return) => !self.calling.is_empty(),
                Some(Builtin::Break | Builtin::Continue) => self.looping > 0,
                Some(_) | None => false,
            },
            CommandKind::Group(script) => script
                .statements
                .last()
                .is_some_and(|last| last.rest.is_empty() && !last.background && self.never_returns(&last.first)),
            CommandKind::Subshell(_)
            | CommandKind::If(_)
            | CommandKind::Loop(_)
            | CommandKind::For(_)
            | CommandKind::ArithmeticFor(_)
            | CommandKind::Case(_)
            | CommandKind::Arithmetic(_)
            | CommandKind::Test(_)
            | CommandKind::Function(_)
            | CommandKind::Coproc(_) => false,
        }
    }

    /// Takes down the state in which `break`, `continue`, `return` or `exit` leaves.
    pub(crate) fn leaves(&mut self, builtin: Builtin, words: &[Field], state: &State<'_>) {
        if builtin == Builtin::Exit {
            self.exits.ends += 1;
            return;
        }
        let loops = (builtin != Builtin::Return).then(|| {
            words.first().map_or(1, |word| word.exact().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX))
        });
        self.exits.skips += 1;
        let functions = state.functions.iter().map(|(name, body)| (name.clone(), place(body))).collect();
        self.jumps.push(Jump { state: state.apart(), functions, loops });
    }

    /// The end of a loop's body, where `break` and `continue` since `at` arrive too.
    pub(crate) fn land_loop(&mut self, at: usize, state: &mut State<'_>) {
        for mut jump in self.jumps.split_off(at.min(self.jumps.len())) {
            match jump.loops {
                Some(loops) => {
                    arrive(&jump, state);
                    jump.loops = Some(loops.saturating_sub(1));
                    if loops > 1 {
                        self.jumps.push(jump);
                    }
                }
                None => self.jumps.push(jump),
            }
        }
    }

    /// The end of a function, where every way out since `at` arrives.
    pub(crate) fn land_function(&mut self, at: usize, state: &mut State<'_>) {
        for jump in self.jumps.split_off(at.min(self.jumps.len())) {
            arrive(&jump, state);
        }
    }

    /// Runs something in a shell of its own: no way out of it leads into this one.
    pub(crate) fn apart<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let (exits, jumps, looping) = (self.exits, self.jumps.len(), self.looping);
        let done = inner(self);
        self.exits = exits;
        self.looping = looping;
        self.jumps.truncate(jumps);
        done
    }
}

fn arrive(jump: &Jump, state: &mut State<'_>) {
    let defined_since = state
        .functions
        .iter()
        .filter(|(name, body)| !jump.functions.iter().any(|(known, at)| known == *name && *at == place(body)));
    let uncertain: Vec<String> = defined_since.map(|(name, _)| name.clone()).collect();
    let mut other: State<'_> = jump.state.clone();
    other.functions = Rc::clone(&state.functions);
    *state = std::mem::replace(state, State::new(None)).join(&other);
    Rc::make_mut(&mut state.shadowed).extend(uncertain);
}

/// Tells two bodies apart.
fn place(body: &doorward_shell::Command) -> usize {
    std::ptr::from_ref(body).addr()
}

/// After a list that may have failed, in a directory where it then stayed.
fn join_failed<'a>(state: &mut State<'a>, failed: &State<'a>, stayed: Option<Rc<str>>) {
    if state.cwd.is_some() && stayed.is_some() {
        state.otherwise = stayed;
    }
    *state = std::mem::replace(state, State::new(None)).join(failed);
}

/// What is printed only on some ways through the script.
fn perhaps(printed: Stream) -> Stream {
    if printed == Stream::empty() { printed } else { Stream::unknown(printed.origin) }
}

fn either<'a>(one: Option<State<'a>>, other: Option<State<'a>>) -> Option<State<'a>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.join(&other)),
        (one, other) => one.or(other),
    }
}

/// A file that cannot be opened makes any command fail, before it has done anything.
pub(crate) fn opens_files(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| match (&redirect.target, redirect.operator) {
        (RedirectTarget::Document(_), _) | (_, RedirectOperator::HereString) => false,
        (RedirectTarget::Word(word), _) => match word.parts.as_slice() {
            [doorward_shell::Part::Text { text, .. }] => !matches!(text.as_str(), "/dev/null" | "0" | "1" | "2" | "-"),
            [doorward_shell::Part::Process { .. }] => false,
            [] | [..] => true,
        },
    })
}

fn first_word(simple: &Simple) -> Option<&str> {
    match simple.words.first()?.parts.as_slice() {
        [doorward_shell::Part::Text { text, .. }] => Some(text),
        [] | [..] => None,
    }
}
