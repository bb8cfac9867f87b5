//! Programs: who is run, how its arguments read, and what they make happen.

pub(super) mod args;
mod arriving;
mod behind;
mod builds;
mod carry_out;
pub(super) mod carrying;
mod conditions;
mod console;
mod containers;
pub(super) mod destination;
pub(super) mod environments;
pub(super) mod extra_checks;
pub(super) mod file_roles;
pub(super) mod file_trust;
mod findings;
mod forwarded_args;
mod git_subcommand;
pub(super) mod grammar;
mod identity;
pub(super) mod inner;
mod invocation;
pub(super) mod invoke;
mod link_flags;
mod listing;
mod named_tasks;
mod naming;
mod patch_hunk;
mod patch_text;
mod patches;
mod places;
mod positions;
mod project_first;
pub(super) mod provenance;
mod reading;
pub(super) mod recipe;
mod request_flags;
pub(super) mod roles;
mod scalar_output;
pub(super) mod scripts;
mod searches;
pub(super) mod sinks;
#[cfg(test)]
mod spellings_tests;
pub(super) mod stated;
pub(super) mod sweeps;
mod switches;
pub(super) mod tasks;
mod value_shapes;
mod words;
pub(super) mod written;

pub(super) use invocation::{Invocation, Start};

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use crate::observe::sheet::observer::By;
use crate::observe::shell::background::{outlives_call, remembered, unwaited};
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use identity::{program_named, unknown_program};
use naming::normalised;

/// Wrappers inside wrappers deeper than this are not peeled.
// `nice nohup timeout 5 env …` has four (shell-tricks-031). Every further one repeats the whole lookup.
const WRAPPERS: u32 = 16;

/// Runs a list of words as a command.
pub(super) fn run<'a>(runner: &mut Runner<'_, '_>, command: Start<'_>, state: &mut State<'a>) -> Stream {
    let cwd = state.cwd.clone();
    let words = command.words;
    let outlives = outlives_call(runner.out.knowledge, words);
    unwaited(runner, outlives, |runner| {
        remembered(runner, words, cwd.as_deref(), |runner| run_words(runner, command, state))
    })
}

fn run_words<'a>(runner: &mut Runner<'_, '_>, command: Start<'_>, state: &mut State<'a>) -> Stream {
    let fields = command.words;
    let Some(first) = fields.first() else { return Stream::empty() };
    let by = By { name: first.shown(), part: command.part };
    runner.out.command(normalised(fields), state.cwd.as_ref());
    let Some(name) = first.exact().map(str::to_owned) else {
        return unknown_program(runner.out, fields, &by, command.input);
    };
    if doorward_shell::lookalike(&name) {
        runner.out.lower(Degree::Opaque, format!("`{name}` mixes letters of different alphabets that look alike"));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::Hidden));
        return Stream::default();
    }
    if state.shadowed.contains(&name) {
        runner.out.lower(Degree::Opaque, format!("`{name}` was redefined earlier"));
    }
    if let Some(body) = state.functions.get(&name).copied() {
        return function(runner, body, command, state);
    }
    let words = fields.get(1..).unwrap_or_default();
    if let Some(output) = runner.builtin(&name, words, state, &command.input, &by) {
        return output;
    }
    program_named(runner, &name, Start { words, ..command }, state)
}

/// The body of a function that the first word names.
fn function<'a>(
    runner: &mut Runner<'_, '_>,
    body: &'a doorward_shell::Command,
    call: Start<'_>,
    state: &mut State<'a>,
) -> Stream {
    let Some((first, rest)) = call.words.split_first() else { return Stream::empty() };
    let name = first.text.as_str();
    runner.called.insert(name.to_owned());
    if runner.calling.iter().filter(|calling| *calling == name).count() > 0 {
        if runner.calling.len() > 1 || runner.out.degree() >= Degree::Opaque {
            runner.out.call_mark(Mark::ForkBomb);
        }
        runner.out.lower(Degree::Opaque, format!("the function `{name}` calls itself"));
        return Stream::default();
    }
    let words: Option<Vec<String>> = rest.iter().map(|field| field.exact().map(str::to_owned)).collect();
    let outer = std::mem::replace(&mut state.positional, words.map(std::rc::Rc::new));
    let locals = std::mem::take(&mut state.locals);
    let (jumps, skips, looping) = (runner.jumps.len(), runner.exits.skips, std::mem::take(&mut runner.looping));
    runner.calling.push(name.to_owned());
    let output = runner.command(body, state, call.input);
    runner.calling.pop();
    runner.looping = looping;
    runner.exits.skips = skips;
    runner.land_function(jumps, state);
    state.drop_locals(locals);
    state.positional = outer;
    output
}
