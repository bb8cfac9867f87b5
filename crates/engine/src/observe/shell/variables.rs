//! Builtins that set variables by name: `read`, `let`, `printf -v`, `wait -p`.

use doorward_vocabulary::{Degree, Mark, Marks, Operation};

use super::evaluate::evaluates;
use super::exports::assign;
use super::grammar::Builtin;
use super::runner::Runner;
use super::shape::of_lines;
use super::state::State;
use super::zsh::note_numbers;
use crate::observe::field::Field;
use crate::observe::sheet::observer::By;
use crate::observe::stream::{Shape, Stream};

/// `wait -p name` sets a variable; its name may be glued to the flag, or follow it.
pub(crate) fn wait(runner: &mut Runner<'_, '_>, words: &[Field], state: &mut State<'_>) {
    let flagged =
        words.iter().any(|word| word.may_be_flag() || (word.text.starts_with('-') && word.text.contains('p')));
    if !flagged {
        return;
    }
    for word in words {
        let name = match word.text.strip_prefix('-').and_then(|flags| flags.split_once('p')) {
            Some((_, "")) => continue,
            Some((_, glued)) => word.with_text(glued),
            None => word.clone(),
        };
        if let Some(name) = runner.names_variable(&name, Builtin::Wait.name(), state)
            && state.variables.contains_key(&name)
        {
            state.forget(&name);
        }
    }
}

pub(crate) fn read(
    runner: &mut Runner<'_, '_>,
    builtin: Builtin,
    words: &[Field],
    state: &mut State<'_>,
    input: &Stream,
    by: &By,
) -> Option<Stream> {
    let (name, is_read) = (builtin.name(), builtin == Builtin::Read);
    let takes_value: &[&str] = match (is_read, builtin.reads_lines()) {
        (true, _) => &["-d", "-i", "-n", "-N", "-p", "-t", "-u"],
        (false, true) => &["-d", "-n", "-O", "-s", "-u", "-c", "-C"],
        (false, false) => &[],
    };
    if !is_read && has_letter(words, &['C']) {
        runner.out.lower(Degree::Opaque, format!("`{name} -C` runs its argument as a command"));
        runner.out.unknown(Operation::Execute, by, Marks::default().with(Mark::ShellCode));
    }
    let mut at = 0;
    let mut names = Vec::new();
    while let Some(word) = words.get(at) {
        at += 1;
        let text = word.text.as_str();
        // The last letter of several is the one that takes the next word.
        let valued =
            takes_value.iter().any(|flag| text.starts_with('-') && text.ends_with(flag.trim_start_matches('-')));
        if valued {
            at += 1;
        } else if !text.starts_with('-') {
            names.push(word.clone());
        }
    }
    // With one name the whole line goes into it.
    let shape = if is_read && names.len() == 1 { of_lines(input.shape) } else { Shape::Any };
    let unnamed: &[&str] = match (builtin == Builtin::Getopts, names.is_empty()) {
        (true, _) => &["OPTARG", "OPTIND"],
        (false, true) if is_read => &["REPLY"],
        (false, true) => &["MAPFILE"],
        (false, false) => &[],
    };
    unnamed.iter().for_each(|variable| state.set(variable, Stream::unknown(input.origin)));
    note_numbers(runner, words, state);
    for word in names {
        if let Some(variable) = runner.names_variable(&word, name, state) {
            assign(runner.out, &variable, Stream { shape, ..Stream::unknown(input.origin) }, state);
        }
    }
    Some(Stream::empty())
}

pub(crate) fn let_builtin(runner: &mut Runner<'_, '_>, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
    for word in words {
        let Some(text) = word.known() else {
            runner.out.lower(Degree::Opaque, "what `let` evaluates");
            continue;
        };
        if text.contains(['$', '`', '[']) {
            runner.out.lower(Degree::Opaque, "what `let` evaluates");
            runner.evaluated_subscript(text, state);
        }
        evaluates(runner.out, text, state);
        let variable = text
            .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .next()
            .unwrap_or_default();
        if !variable.is_empty() {
            assign(runner.out, variable, Stream::default(), state);
        }
    }
    Some(Stream::empty())
}

pub(crate) fn printf_variable(runner: &mut Runner<'_, '_>, words: &[Field], state: &mut State<'_>) -> Option<Stream> {
    let named = match words.first() {
        Some(flag) if flag.text == "-v" => words.get(1).cloned(),
        Some(glued) => glued.text.strip_prefix("-v").map(|name| glued.with_text(name)),
        None => None,
    };
    match named {
        Some(name) => {
            if let Some(name) = runner.names_variable(&name, "printf -v", state) {
                assign(runner.out, &name, Stream::default(), state);
            }
        }
        None => runner.out.lower(Degree::Opaque, "which variable `printf -v` sets"),
    }
    Some(Stream::empty())
}

/// One of the letters is among the flags, alone or in a row of letters.
pub(crate) fn has_letter(words: &[Field], letters: &[char]) -> bool {
    words.iter().any(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letters))
}
