//! Programs that code starts.

use doorward_code::{Use, Value};
use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::act::Act;
use super::{Code, name, not_known, values};
use crate::knowledge::schema::Role;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::program::inner::inner_command;
use crate::observe::program::roles::role;
use crate::observe::shell::background::unwaited;
use crate::observe::shell::runner::{Manner, Runner};
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::path;

/// A program started from inline code always asks; what it would do still counts.
/// In a file, whose every line a person can read again, a command of which every word is known is that command.
pub(super) fn started(runner: &mut Runner<'_, '_>, act: Act, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    let by = code.invocation.by.clone();
    if !is_literal(used) {
        runner.out.note_unknown_run();
    }
    if runner.manner == Manner::Strict || !is_literal(used) {
        runner.out.lower(Degree::Unknown, format!("a program that {} code starts", name(Some(code.language))));
        runner.out.unknown(Operation::Execute, &by, Marks::default().with(Mark::InlineCode));
    }
    let goes_on = matches!(used.name.as_str(), "subprocess.Popen" | "child_process.spawn");
    unwaited(runner, goes_on, |runner| started_as(runner, act, used, code, state));
}

fn started_as(runner: &mut Runner<'_, '_>, act: Act, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    match act {
        Act::Shell => shell_text(runner, used, code, state),
        Act::Run => starts(runner, used, code, state),
        Act::Spawn => spawns(runner, used, code, state),
        Act::Nothing | Act::Roles(_) | Act::Open(..) | Act::Request | Act::Variable | Act::Environment => {
            not_known(runner.out, used, code);
        }
    }
}

fn shell_text(runner: &mut Runner<'_, '_>, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    match used.argument(0) {
        Some(value @ Value::Text(_)) if plain_options(used) => shell_lines(runner, value, code, state),
        Some(_) | None => not_known(runner.out, used, code),
    }
}

/// A command line; where parts of it are not known, what the rest says still counts.
fn shell_lines(runner: &mut Runner<'_, '_>, value: &Value, code: &mut Code<'_>, state: &mut State<'_>) {
    for field in values::fields(value, runner.out.world.home()) {
        role(runner, &field, Role::CodeSh, code.invocation, state);
        if field.dynamic {
            // Some plain word stands there: it is what surrounds it that is looked at.
            let text = field.text.replace(UNKNOWN, "…");
            runner.subshell_text(&text, state, Stream::default(), code.invocation.by.part);
        }
    }
}

/// `subprocess.run`: a list is a command, a text is one only for a shell.
fn starts(runner: &mut Runner<'_, '_>, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    let command = used.argument(0).or_else(|| used.named("args"));
    let shell = used.named("shell").is_some_and(|value| *value != Value::Plain("False".into()));
    if !plain_options(used) {
        return not_known(runner.out, used, code);
    }
    let home = runner.out.world.home().map(str::to_owned);
    match (command, shell) {
        (Some(value @ Value::Text(_)), true) => shell_lines(runner, value, code, state),
        (Some(value), false) => match values::words(value, home.as_deref()) {
            Some(words) => starts_words(runner, words, used, code, state),
            None => not_known(runner.out, used, code),
        },
        (Some(_) | None, _) => not_known(runner.out, used, code),
    }
}

fn starts_words(
    runner: &mut Runner<'_, '_>,
    words: Vec<Field>,
    used: &Use,
    code: &mut Code<'_>,
    state: &mut State<'_>,
) {
    let outer = code.invocation.cwd.clone();
    if let Some(directory) = used.named("cwd") {
        code.invocation.cwd = match (directory, &outer) {
            (Value::Text(text), _) if text.starts_with('/') => Some(text.clone()),
            (Value::Text(text), Some(cwd)) if !text.contains([doorward_code::UNKNOWN, doorward_code::HOME]) => {
                Some(path::lexical(&path::join(cwd, text)))
            }
            _ => None,
        };
    }
    let before = code.invocation.output.origin;
    inner_command(runner, words, code.invocation, state);
    code.invocation.output = Stream::unknown(before.and(code.invocation.output.origin));
    code.invocation.cwd = outer;
}

/// `spawnSync('git', ['status'], options)`.
fn spawns(runner: &mut Runner<'_, '_>, used: &Use, code: &mut Code<'_>, state: &mut State<'_>) {
    let home = runner.out.world.home().map(str::to_owned);
    let program = used.argument(0).map(|value| values::fields(value, home.as_deref())).unwrap_or_default();
    let rest = match used.argument(1) {
        None => Some(Vec::new()),
        Some(value) => values::words(value, home.as_deref()),
    };
    let options = used.arguments.as_deref().unwrap_or_default().get(2..).unwrap_or_default();
    match (program.as_slice(), rest, options.iter().all(plain_record)) {
        ([program], Some(rest), true) => {
            let words = std::iter::once(program.clone()).chain(rest).collect();
            starts_words(runner, words, used, code, state);
        }
        _ => {
            runner.out.note_unknown_run();
            not_known(runner.out, used, code);
        }
    }
}

/// Every word of the command is written in the text, and nothing is handed to it.
fn is_literal(used: &Use) -> bool {
    fn literal(value: &Value) -> bool {
        match value {
            Value::Text(text) => !text.contains([doorward_code::UNKNOWN, doorward_code::HOME]),
            Value::Plain(_) => true,
            Value::List(values) => values.iter().all(literal),
            Value::Record(members) => members.iter().all(|(_, value)| literal(value)),
            Value::Unknown | Value::OneOf(_) | Value::Matches(_) | Value::Below(_) | Value::Name => false,
        }
    }
    let given = used.arguments.as_deref().unwrap_or_default().iter().chain(used.named("args"));
    !used.spread && used.named("input").is_none() && given.into_iter().all(literal)
}

/// Nothing among the named arguments changes which program is run or what surrounds it.
fn plain_options(used: &Use) -> bool {
    // `executable`, `env`, `preexec_fn` and `startupinfo` change what runs and are missing here: a call that passes
    // them asks.
    const PLAIN: &[&str] = &[
        "args",
        "shell",
        "cwd",
        "capture_output",
        "text",
        "check",
        "timeout",
        "stdout",
        "stderr",
        "stdin",
        "input",
        "encoding",
        "universal_newlines",
        "errors",
    ];
    let named = used.named.iter().all(|(name, _)| PLAIN.contains(&name.as_str()));
    let rest = used.arguments.as_deref().unwrap_or_default().get(1..).unwrap_or_default();
    named && !used.spread && rest.iter().all(plain_record)
}

/// Options of Node that change neither the program nor its surroundings.
fn plain_record(value: &Value) -> bool {
    // `shell`, `env` and `argv0` are missing for the same reason as in Python: they change which program runs.
    const PLAIN: &[&str] = &["encoding", "stdio", "timeout", "maxBuffer", "windowsHide"];
    match value {
        Value::Record(members) => members.iter().all(|(name, _)| PLAIN.contains(&name.as_str())),
        Value::Text(_) | Value::Plain(_) => true,
        Value::Unknown | Value::List(_) | Value::OneOf(_) | Value::Matches(_) | Value::Below(_) | Value::Name => false,
    }
}
