//! Shells as programs (`sh -c`, a script file, standard input) and `xargs`.

use doorward_vocabulary::Degree;

use super::super::Invocation;
use super::parallel::parallel;
use crate::knowledge::schema::Role;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::shell::builtin::odd_option;
use crate::observe::shell::code::shell_of;
use crate::observe::stream::{Shape, Stream};
use crate::world::Shell;

/// `sh -c text`, `sh file`, `… | sh`.
pub(super) fn shell_program(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let takes_text = invocation.args.has("-c");
    let mut operands = invocation.args.operands.clone();
    // The table gives `-c` the next word; to a shell it is the first word that is no flag.
    if let Some(value) =
        invocation.args.given.iter_mut().find(|given| given.name == "-c").and_then(|given| given.value.take())
    {
        if value.text.starts_with(['-', '+']) && !operands.is_empty() {
            found.doubt(Degree::Unknown, format!("the flag `{}` after `-c`", value.shown()));
        } else {
            operands.insert(0, value);
        }
    }
    let is_option = |name: &str| matches!(name, "-o" | "+o" | "-O" | "+O");
    let options = invocation.args.given.iter().filter(|given| is_option(&given.name));
    for because in options.filter_map(|given| given.value.as_ref()).filter_map(odd_option) {
        found.doubt(Degree::Opaque, because);
    }
    invocation.done = true;
    invocation.does.clear();
    if operands.first().is_some_and(|word| word.text == "-") {
        // It ends the flags, as `--` does.
        operands.remove(0);
    }
    if operands.first().is_some_and(|word| word.text.starts_with('+')) {
        // `+n` and `+ec` are flags too, and what stands behind them is no operand of theirs.
        found.doubt(Degree::Opaque, "a shell flag that starts with `+`");
    }
    found.extend(what_runs(takes_text, operands, invocation));
    found.flag_values();
    found
}

/// The text, the file or the input that a shell runs.
fn what_runs(takes_text: bool, operands: Vec<Field>, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let only_checks = only_checks(invocation);
    match operands.first() {
        // Commands are read and not run; an interactive shell would run them, but that takes another flag.
        Some(_) if only_checks && (takes_text || invocation.args.has("-s")) => {}
        Some(file) if only_checks => found.read(Touch::Read, file.clone()),
        None if only_checks => {}
        Some(text) if takes_text => {
            let shell = shell_of(&invocation.by).unwrap_or(Shell::Unknown);
            found.run_by_shell(shell, text.clone(), operands.get(1..).unwrap_or_default());
        }
        Some(file) if !invocation.args.has("-s") => {
            found.run_script_with(file.clone(), Role::ScriptSh, operands);
        }
        // Nothing is piped in, so whatever is typed later reaches it without a look.
        Some(_) | None if invocation.input == Stream::empty() => {
            found.doubt(Degree::Unknown, "what will be typed into the shell");
        }
        Some(_) | None => found.run_stream(invocation.input.clone(), Some(operands)),
    }
    found
}

/// `xargs command`: the command gets more operands than can be seen.
pub(super) fn xargs(invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    found.flag_values();
    invocation.done = true;
    let mut words = invocation.args.operands.clone();
    let is_parallel = matches!(invocation.by.name.as_str(), "parallel" | "sem");
    if let Some(lines) = if is_parallel { parallel(invocation) } else { None } {
        found.extend(lines);
        return found;
    }
    if words.is_empty() {
        words.push(Field::literal("echo", doorward_shell::Span::default()));
    }
    let shape = invocation.input.shape;
    take_in(&mut words, invocation);
    found.take_input();
    found.run(words);
    if invocation.args.operands.is_empty() && shape == Shape::Token {
        found.print(Stream::shaped(shape));
    }
    found
}

/// Puts what comes in where the command gets it: behind its words, or where they say so.
fn take_in(words: &mut Vec<Field>, invocation: &Invocation) {
    let replaces = invocation.args.value("-I").and_then(Field::exact).map(str::to_owned);
    let shape = invocation.input.shape;
    let unknown = Field {
        text: UNKNOWN.to_string(),
        dynamic: true,
        many: true,
        shape,
        origin: invocation.input.origin,
        ..Field::default()
    };
    let known = invocation.input.text.as_ref().filter(|text| {
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
            for word in words.iter_mut().filter(|word| word.text.contains(&mark)) {
                word.text = word.text.replace(&mark, &unknown.text);
                word.dynamic = true;
                word.shape = if word.text.chars().count() == 1 { shape } else { Shape::Any };
                word.origin = word.origin.and(unknown.origin);
            }
        }
        (Some(_) | None, Some(_) | None) => words.push(unknown),
    }
}

/// `-n`, with no other flag than such as change nothing about it: the text is read and not run.
fn only_checks(invocation: &Invocation) -> bool {
    // Next to `-n` these change nothing. `-i` and `-O` do: an interactive shell runs its profile first
    // (secrets-1310).
    const BESIDE: &[&str] = &["-n", "-c", "-s", "-e", "-u", "-x", "-v", "--norc", "--noprofile", "--posix"];
    let args = &invocation.args;
    args.has("-n") && args.unknown.is_empty() && args.given.iter().all(|given| BESIDE.contains(&given.name.as_ref()))
}
