//! Shells as programs (`sh -c`, a script file, standard input) and `xargs`.

use super::super::Invocation;
use crate::knowledge::schema::Role;
use crate::observe::field::{Field, positional};
use crate::observe::program::file_roles::reads;
use crate::observe::program::inner::inner_command;
use crate::observe::program::roles::flag_values;
use crate::observe::program::scripts::script_file;
use crate::observe::shell::builtin::is_odd_option;
use crate::observe::shell::code::{runs_data, shell_of};
use crate::observe::shell::runner::Runner;
use crate::observe::shell::state::State;
use crate::observe::stream::Stream;
use crate::world::Shell;

/// `sh -c text`, `sh file`, `… | sh`.
pub(super) fn shell_program(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    let takes_text = invocation.args.has("-c");
    let mut operands = invocation.args.operands.clone();
    // The table gives `-c` the next word; to a shell it is the first word that is no flag.
    if let Some(value) =
        invocation.args.given.iter_mut().find(|given| given.name == "-c").and_then(|given| given.value.take())
    {
        if value.text.starts_with(['-', '+']) && !operands.is_empty() {
            runner.out.lower(doorward_vocabulary::Degree::Unknown, format!("the flag `{}` behind `-c`", value.shown()));
        } else {
            operands.insert(0, value);
        }
    }
    let is_option = |name: &str| matches!(name, "-o" | "+o" | "-O" | "+O");
    let options = invocation.args.given.iter().filter(|given| is_option(&given.name));
    for option in options.filter_map(|given| given.value.as_ref()) {
        is_odd_option(runner.out, option);
    }
    invocation.done = true;
    invocation.does.clear();
    let shell = shell_of(&invocation.by).unwrap_or(Shell::Unknown);
    let only_checks = only_checks(invocation);
    if operands.first().is_some_and(|word| word.text == "-") {
        // It ends the flags, as `--` does.
        operands.remove(0);
    }
    if operands.first().is_some_and(|word| word.text.starts_with('+')) {
        // `+n` and `+ec` are flags too, and what stands behind them is no operand of theirs.
        runner.out.lower(doorward_vocabulary::Degree::Opaque, "a flag of a shell that begins with `+`");
    }
    match operands.first() {
        // Commands are read and not run; an interactive shell would run them, but that takes another flag.
        Some(_) if only_checks && (takes_text || invocation.args.has("-s")) => {}
        Some(file) if only_checks => {
            reads(runner.out, crate::observe::paths::touch::Touch::Read, file, invocation, state);
        }
        None if only_checks => {}
        Some(text) if takes_text => {
            let mut inner: State<'_> = state.clone();
            inner.positional = positional(operands.get(2..).unwrap_or_default());
            if let Some(zero) = operands.get(1) {
                let value = Stream { text: zero.exact().map(str::to_owned), ..Stream::unknown(zero.origin) };
                inner.set("0", value);
                inner.export("0");
            }
            match text.known() {
                Some(code) if !text.origin.download => {
                    invocation.output =
                        runner.text_of(shell, code, &inner, invocation.input.clone(), invocation.by.part);
                }
                Some(_) | None => {
                    let by = invocation.by.clone();
                    runs_data(runner.out, text.origin, &by);
                }
            }
        }
        Some(file) if !invocation.args.has("-s") => {
            let given = std::mem::replace(&mut invocation.args.operands, operands.clone());
            script_file(runner, file, Role::ScriptSh, invocation, state);
            invocation.args.operands = given;
        }
        Some(_) | None => {
            let input = invocation.input.clone();
            let by = invocation.by.clone();
            if input == Stream::empty() {
                // Nothing is piped in, so whatever is typed later reaches it without a look.
                runner.out.lower(doorward_vocabulary::Degree::Unknown, "what will be typed into the shell");
            } else {
                let inner: State<'_> = State { positional: positional(&operands), ..state.clone() };
                invocation.output = runner.run_stream(&input, &inner, &by);
            }
        }
    }
    flag_values(runner, invocation, state);
}

/// `xargs command`: the command gets more operands than can be seen.
pub(super) fn xargs(runner: &mut Runner<'_, '_>, invocation: &mut Invocation, state: &mut State<'_>) {
    flag_values(runner, invocation, state);
    let mut words = invocation.args.operands.clone();
    if matches!(invocation.by.name.as_str(), "parallel" | "sem") && words.is_empty() {
        // Without a command every line of the input is one.
        let (input, by) = (invocation.input.clone(), invocation.by.clone());
        if input != Stream::empty() {
            invocation.output = runner.run_stream(&input, state, &by);
        }
        invocation.done = true;
        return;
    }
    if words.is_empty() {
        words.push(Field::literal("echo", doorward_shell::Span::default()));
    }
    let replaces = invocation.args.value("-I").and_then(Field::exact).map(str::to_owned);
    let shape = invocation.input.shape;
    let unknown = Field {
        text: crate::observe::field::UNKNOWN.to_string(),
        dynamic: true,
        many: true,
        shape,
        origin: invocation.input.origin,
        ..Field::default()
    };
    let known = invocation.input.text.clone().filter(|text| {
        !text.trim().is_empty() && !invocation.input.origin.download && !text.contains(['\'', '"', '\\', '\0'])
    });
    match (replaces, known) {
        (None, Some(text)) => {
            let literal = |word: &str| Field {
                origin: invocation.input.origin,
                ..Field::literal(word, doorward_shell::Span::default())
            };
            words.extend(text.split_whitespace().map(literal));
        }
        (Some(mark), _) if !mark.is_empty() => {
            for word in &mut words {
                if word.text.contains(&mark) {
                    word.text = word.text.replace(&mark, &unknown.text);
                    word.dynamic = true;
                    word.shape =
                        if word.text.chars().count() == 1 { shape } else { crate::observe::stream::Shape::Any };
                    word.origin = word.origin.and(unknown.origin);
                }
            }
        }
        (Some(_) | None, Some(_) | None) => words.push(unknown),
    }
    let trims = invocation.args.operands.is_empty() && shape == crate::observe::stream::Shape::Token;
    invocation.input = Stream::empty();
    inner_command(runner, words, invocation, state);
    if trims {
        invocation.output = Stream::shaped(shape);
    }
    invocation.done = true;
}

/// `-n`, with no other flag than such as change nothing about it: the text is read and not run.
fn only_checks(invocation: &Invocation) -> bool {
    const BESIDE: &[&str] = &["-n", "-c", "-s", "-e", "-u", "-x", "-v", "--norc", "--noprofile", "--posix"];
    let args = &invocation.args;
    args.has("-n") && args.unknown.is_empty() && args.given.iter().all(|given| BESIDE.contains(&given.name.as_ref()))
}
