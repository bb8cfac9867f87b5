//! Walks the tree as a shell would, on every path that could be taken.

use std::rc::Rc;

use doorward_shell::{Arm, Case, Command, CommandKind, Dialect, For, Pipeline, Script, Statement, Value};
use doorward_vocabulary::{Degree, Mark};

use super::aftermath::{changes_files, keep_files, keep_uncertain, unless_refused};
use super::background;
use super::background::note_background;
use super::exports::assign;
use super::list::opens_files;
use super::loops::{forget_assigned, loop_value};
use super::runner::{DEPTH, Runner};
use super::simple::{finish_redirects, rerouted};
use super::state::State;
use super::trap::spring_traps;
use super::zsh::note_hook;
use crate::observe::shell::background::unwaited;
use crate::observe::stream::{Origin, Stream};

/// A body whose rounds keep changing what the next one sees is run this often.
// A fixed point is reached after two rounds in practice; a body that still changes after four is joined with unknown
// values.
const ROUNDS: usize = 4;

/// Loop bodies are run once for each of at most this many literal words.
// `for f in a b c` is exact up to here; a longer list is run once with an unknown value.
const ITERATIONS: usize = 64;

impl Runner<'_, '_> {
    /// A whole program: also looks into functions that nothing calls.
    pub(crate) fn program<'a>(&mut self, script: &'a Script, state: &mut State<'a>, input: Stream) -> Stream {
        let output = self.script(script, state, input);
        let idle: Vec<_> =
            state.functions.iter().filter(|(name, _)| !self.called.contains(*name)).map(|(_, body)| *body).collect();
        for body in idle {
            let mut inner = state.clone();
            inner.positional = None;
            self.command(body, &mut inner, Stream::unknown(Origin::default()));
        }
        output
    }

    /// Runs statements in order; yields what they print.
    pub(crate) fn script<'a>(&mut self, script: &'a Script, state: &mut State<'a>, input: Stream) -> Stream {
        if self.depth >= DEPTH || !self.out.spend(1) {
            self.out.lower(Degree::Opaque, "nested too deeply");
            return Stream::default();
        }
        self.depth += 1;
        let mut output = Stream::empty();
        let exits = self.exits;
        for (at, statement) in script.statements.iter().enumerate() {
            let skipped = self.exits != exits;
            let is_unwaited = background::is_unwaited(&script.statements, at, state);
            let printed = unwaited(self, is_unwaited, |runner| runner.statement(statement, state, input.clone()));
            // Behind a way out it is not known whether this is printed at all.
            output = if skipped && printed != Stream::empty() {
                output.then(Stream::unknown(printed.origin))
            } else {
                output.then(printed)
            };
        }
        self.depth -= 1;
        output
    }

    fn statement<'a>(&mut self, statement: &'a Statement, state: &mut State<'a>, input: Stream) -> Stream {
        if statement.background {
            let mut inner = state.clone();
            note_background(self, statement);
            let output = self.apart(|runner| runner.list(statement, &mut inner, input));
            keep_uncertain(state, &inner);
            return output;
        }
        self.list(statement, state, input)
    }

    pub(crate) fn pipeline<'a>(&mut self, pipeline: &'a Pipeline, state: &mut State<'a>, input: Stream) -> Stream {
        if let [command] = pipeline.commands.as_slice() {
            let output = self.command(command, state, input);
            spring_traps(self, state);
            return output;
        }
        let mut stream = input;
        for (at, command) in pipeline.commands.iter().enumerate() {
            if at + 1 == pipeline.commands.len() && state.dialect == Dialect::Zsh {
                // zsh runs the last one itself, so what it sets stays set.
                stream = self.command(command, state, stream);
                spring_traps(self, state);
                break;
            }
            let mut inner = state.clone();
            let (printed, mut caused) =
                self.collect(|runner| runner.apart(|runner| runner.command(command, &mut inner, stream)));
            stream = printed;
            keep_files(state, &inner);
            if at + 1 < pipeline.commands.len() {
                caused.hand_on();
            }
            self.out.write(caused);
        }
        stream
    }

    pub(crate) fn command<'a>(&mut self, command: &'a Command, state: &mut State<'a>, input: Stream) -> Stream {
        if !self.out.spend(1) {
            return Stream::default();
        }
        if let CommandKind::Simple(simple) = &command.kind {
            let Some(mut elsewhere) = state.elsewhere() else { return self.simple(simple, command, state, input) };
            let (output, caused) = self.collect(|runner| runner.simple(simple, command, state, input.clone()));
            let changes_files = caused.iter().any(changes_files);
            self.out.write(caused);
            if changes_files {
                self.simple(simple, command, &mut elsewhere, input);
            }
            return output;
        }
        let elsewhere = state.elsewhere().filter(|_| !command.redirects.is_empty());
        let elsewhere =
            elsewhere.map(|mut state| (self.redirects(&command.redirects, &mut state, input.clone()), state));
        let redirected = self.redirects(&command.redirects, state, input);
        let before = opens_files(&command.redirects).then(|| state.clone());
        let output = self.compound(&command.kind, command, state, redirected.input.clone());
        unless_refused(before, state);
        if let Some((redirected, mut elsewhere)) = elsewhere {
            finish_redirects(self.out, redirected, output.clone(), &mut elsewhere);
        }
        let rerouted = rerouted(&command.redirects, &output);
        let rest = finish_redirects(self.out, redirected, output, state);
        rerouted.unwrap_or(rest)
    }

    fn compound<'a>(
        &mut self,
        kind: &'a CommandKind,
        command: &'a Command,
        state: &mut State<'a>,
        input: Stream,
    ) -> Stream {
        match kind {
            CommandKind::Simple(simple) => self.simple(simple, command, state, input),
            CommandKind::Group(script) => self.script(script, state, input),
            CommandKind::Subshell(script) => {
                let mut inner = state.clone();
                let output = self.apart(|runner| runner.script(script, &mut inner, input));
                keep_files(state, &inner);
                output
            }
            CommandKind::If(branches) => self.branches(branches, state, input),
            CommandKind::Loop(body) => {
                if background::piles_up(body, state) {
                    self.out.call_mark(Mark::ForkBomb);
                }
                forget_assigned(&body.condition, state);
                forget_assigned(&body.body, state);
                let output = self.repeat(state, |runner, state| {
                    let first = runner.script(&body.condition, state, input.clone());
                    first.then(runner.script(&body.body, state, input.clone()))
                });
                Stream::unknown(output.origin)
            }
            CommandKind::For(body) => self.for_loop(body, state, input),
            CommandKind::ArithmeticFor(body) => {
                for part in &body.parts {
                    self.arithmetic(part, state);
                }
                forget_assigned(&body.body, state);
                let output = self.repeat(state, |runner, state| runner.script(&body.body, state, input.clone()));
                Stream::unknown(output.origin)
            }
            CommandKind::Case(case) => self.case(case, state, input),
            CommandKind::Arithmetic(arithmetic) => {
                self.arithmetic(arithmetic, state);
                Stream::empty()
            }
            CommandKind::Test(test) => {
                self.double_bracket(test, state);
                Stream::empty()
            }
            CommandKind::Function(function) => {
                note_hook(self.out, &function.name, state);
                Rc::make_mut(&mut state.functions).insert(function.name.clone(), &*function.body);
                Stream::empty()
            }
            CommandKind::Coproc(coproc) => {
                let mut inner = state.clone();
                let unknown = Stream::unknown(Origin::default());
                let output = unwaited(self, true, |runner| {
                    runner.apart(|runner| runner.command(&coproc.body, &mut inner, unknown))
                });
                keep_uncertain(state, &inner);
                output
            }
        }
    }

    /// `if`: every condition may run, every body may run.
    fn branches<'a>(&mut self, branches: &'a doorward_shell::If, state: &mut State<'a>, input: Stream) -> Stream {
        let mut output = Stream::empty();
        let mut ends: Option<State<'a>> = None;
        for (condition, body) in &branches.branches {
            output = output.then(self.script(condition, state, input.clone()));
            let mut taken = state.clone();
            output = output.then(self.script(body, &mut taken, input.clone()));
            ends = Some(match ends {
                Some(end) => end.join(&taken),
                None => taken,
            });
        }
        if let Some(body) = &branches.otherwise {
            output = output.then(self.script(body, state, input));
        }
        if let Some(end) = ends {
            *state = end.join(state);
        }
        Stream::unknown(output.origin)
    }

    /// Runs a body that may run any number of times, until it leaves nothing new for its next round.
    fn repeat<'a>(
        &mut self,
        state: &mut State<'a>,
        mut body: impl FnMut(&mut Self, &mut State<'a>) -> Stream,
    ) -> Stream {
        let mut output = Stream::empty();
        for round in 0..ROUNDS {
            let before = state.clone();
            output = output.then(self.round(state, &mut body));
            *state = std::mem::replace(state, State::new(None)).join(&before);
            if state.equals(&before) {
                return output;
            }
            if round + 2 == ROUNDS {
                // Too many values follow from each other; any of them may be anything.
                let names: Vec<String> = state.variables.keys().cloned().collect();
                names.iter().for_each(|name| state.forget(name));
                state.positional = None;
                state.cwd = None;
            }
        }
        output
    }

    /// One round of a loop, with the ways out of it.
    fn round<'a>(
        &mut self,
        state: &mut State<'a>,
        body: &mut impl FnMut(&mut Self, &mut State<'a>) -> Stream,
    ) -> Stream {
        let (jumps, skips) = (self.jumps.len(), self.exits.skips);
        self.looping += 1;
        self.out.lingering.loops += 1;
        let mut output = body(self, state);
        self.out.lingering.loops = self.out.lingering.loops.saturating_sub(1);
        self.looping = self.looping.saturating_sub(1);
        if self.exits.skips != skips {
            (output.text, output.files) = (None, None);
        }
        self.land_loop(jumps, state);
        output
    }

    fn for_loop<'a>(&mut self, body: &'a For, state: &mut State<'a>, input: Stream) -> Stream {
        let words: Option<Vec<_>> =
            body.words.as_ref().map(|words| words.iter().flat_map(|word| self.expand(word, state)).collect());
        let literal: Option<Vec<String>> =
            words.as_ref().and_then(|fields| fields.iter().map(|field| field.exact().map(str::to_owned)).collect());
        let origin = words.iter().flatten().fold(Origin::default(), |all, field| all.and(field.origin));
        match literal {
            Some(values) if values.len() <= ITERATIONS => {
                let before = state.clone();
                let mut output = Stream::empty();
                for value in values {
                    assign(self.out, &body.name, Stream::known(value), state);
                    let mut round =
                        |runner: &mut Self, state: &mut State<'a>| runner.script(&body.body, state, input.clone());
                    output = output.then(self.round(state, &mut round));
                }
                *state = std::mem::replace(state, State::new(None)).join(&before);
                output
            }
            Some(_) | None => {
                forget_assigned(&body.body, state);
                let value = loop_value(self.out, words.as_deref(), origin, state.cwd.as_deref());
                for field in words.iter().flatten().filter(|field| field.glob) {
                    match (field.known(), state.cwd.as_deref()) {
                        (Some(text), Some(cwd)) => self.out.note_listed(&crate::path::join(cwd, text)),
                        (None, _) => self.out.note_listed_below(field),
                        (Some(_), None) => {}
                    }
                }
                assign(self.out, &body.name, value, state);
                let output = self.repeat(state, |runner, state| runner.script(&body.body, state, input.clone()));
                Stream::unknown(output.origin)
            }
        }
    }

    fn case<'a>(&mut self, case: &'a Case, state: &mut State<'a>, input: Stream) -> Stream {
        self.text(&case.word, state);
        let mut origin = Origin::default();
        let mut end = state.clone();
        for Arm { patterns, body } in &case.arms {
            for pattern in patterns {
                self.text(pattern, state);
            }
            // With `;&` a body runs on into the next, so each starts from any state so far.
            let mut taken = end.clone();
            origin = origin.and(self.script(body, &mut taken, input.clone()).origin);
            end = end.join(&taken);
        }
        *state = end;
        Stream::unknown(origin)
    }

    /// A value of an assignment, for its effects and its text.
    pub(crate) fn value<'a>(&mut self, value: &'a Value, state: &mut State<'a>) -> Stream {
        match value {
            Value::Scalar(word) => {
                let field = self.text(word, state);
                let shape = super::shape::of_value(&field);
                Stream { text: field.known().map(str::to_owned), shape, ..Stream::unknown(field.origin) }
            }
            Value::Array(elements) => {
                let mut origin = Origin::default();
                for element in elements {
                    if let Some(subscript) = &element.subscript {
                        self.subscript(subscript, state);
                    }
                    for field in self.expand(&element.value, state) {
                        origin = origin.and(field.origin);
                    }
                }
                Stream::unknown(origin)
            }
        }
    }
}
