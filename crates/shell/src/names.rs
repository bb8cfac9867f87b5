//! The command names that stand in a tree.

use crate::{CommandKind, Parameter, ParameterOperation, Part, Quoting, Script, Simple, Word, walk};

/// Every command name anywhere in the tree.
///
/// An expansion in a name counts as empty, arithmetic as `0`. If that leaves nothing, the next word is a name as well, since the shell
/// drops empty words; so is the text that `${x:-text}` may yield.
pub fn command_names(script: &Script) -> Vec<String> {
    let mut names = Vec::new();
    walk(script, &mut |command| {
        if let CommandKind::Simple(simple) = &command.kind {
            simple_names(simple, &mut names);
        }
        if let CommandKind::Coproc(coproc) = &command.kind
            && let CommandKind::Simple(_) = &coproc.body.kind
        {
            names.extend(coproc.name.clone());
        }
    });
    names
}

fn simple_names(simple: &Simple, names: &mut Vec<String>) {
    for word in &simple.words {
        let found = names.len();
        word_names(word, names);
        let dynamic = word.parts.iter().any(|part| matches!(part, Part::Parameter(_)));
        let certain = names.len() > found && !dynamic;
        if certain || stays(word) {
            return;
        }
    }
}

/// Whether the word is there even if all its expansions are empty.
fn stays(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Text { text, quoting } => *quoting == Quoting::Quoted || !text.is_empty(),
        Part::Glob(_) | Part::Tilde(_) | Part::Range(_) => true,
        // bash drops `>()`.
        Part::Process { script, .. } => !script.statements.is_empty(),
        Part::Alternatives(words) => words.iter().all(stays),
        Part::Parameter(parameter) => parameter.quoting == Quoting::Quoted && !is_list(parameter),
        Part::Substitution { quoting, .. } => *quoting == Quoting::Quoted,
        Part::Arithmetic { .. } => true,
    })
}

/// `$@` and `${array[@]}`, which are no word at all when empty, even in quotes.
fn is_list(parameter: &Parameter) -> bool {
    let at = |word: &Word| matches!(word.parts.as_slice(), [Part::Text { text, .. }] if text == "@");
    parameter.name == "@" || parameter.indirect || parameter.subscript.as_ref().is_some_and(at)
}

fn word_names(word: &Word, names: &mut Vec<String>) {
    let name = literal(word);
    let filled = filled(word);
    if filled != name {
        names.push(filled);
    }
    if !name.is_empty() || matches!(word.parts.as_slice(), [Part::Text { .. }]) {
        names.push(name);
    }
    for part in &word.parts {
        match part {
            Part::Parameter(parameter) => operand_names(parameter, names),
            Part::Alternatives(words) => words.iter().for_each(|word| word_names(word, names)),
            Part::Text { .. }
            | Part::Glob(_)
            | Part::Tilde(_)
            | Part::Range(_)
            | Part::Substitution { .. }
            | Part::Process { .. }
            | Part::Arithmetic { .. } => {}
        }
    }
}

/// The first field of a word whose parameters have the values that stand beside them.
fn filled(word: &Word) -> String {
    let mut out = String::new();
    fill(word, &mut out);
    out
}

/// Adds to `out` up to the first blank that splits; `false` once it was met.
fn fill(word: &Word, out: &mut String) -> bool {
    word.parts.iter().all(|part| match part {
        Part::Text { text, quoting: Quoting::Bare } => {
            let text = if out.is_empty() { text.trim_start() } else { text.as_str() };
            let end = text.find([' ', '\t', '\n']).unwrap_or(text.len());
            out.push_str(text.get(..end).unwrap_or_default());
            end == text.len()
        }
        Part::Parameter(parameter) => match &parameter.operation {
            Some(ParameterOperation::Default(word) | ParameterOperation::AssignDefault(word)) => fill(word, out),
            Some(_) | None => true,
        },
        Part::Text { .. }
        | Part::Glob(_)
        | Part::Tilde(_)
        | Part::Range(_)
        | Part::Alternatives(_)
        | Part::Substitution { .. }
        | Part::Process { .. }
        | Part::Arithmetic { .. } => {
            literal_part(part, out);
            true
        }
    })
}

fn operand_names(parameter: &Parameter, names: &mut Vec<String>) {
    if let Some(
        ParameterOperation::Default(word)
        | ParameterOperation::AssignDefault(word)
        | ParameterOperation::Alternative(word),
    ) = &parameter.operation
    {
        word_names(word, names);
    }
}

/// The text of a word, with the first of several alternatives nothing for an expansion and `0` for arithmetic.
fn literal(word: &Word) -> String {
    let mut out = String::new();
    word.parts.iter().for_each(|part| literal_part(part, &mut out));
    out
}

fn literal_part(part: &Part, out: &mut String) {
    match part {
        Part::Text { text, .. } | Part::Glob(text) => out.push_str(text),
        Part::Alternatives(words) => out.push_str(&words.first().map(literal).unwrap_or_default()),
        Part::Range(range) => out.push_str(range.split("..").next().unwrap_or_default()),
        Part::Tilde(user) => {
            out.push('~');
            out.push_str(user);
        }
        Part::Arithmetic { .. } => out.push('0'),
        Part::Parameter(_) | Part::Substitution { .. } | Part::Process { .. } => {}
    }
}
