//! Programs that print one number or another plain word.

use super::Invocation;
use super::args::{Args, Given};
use crate::knowledge::schema::{Facet, Grammar, Sense};
use crate::observe::field::Field;
use crate::observe::stream::Shape;

/// Programs that print one number or name made of letters and digits.
pub(super) fn prints_a_token(invocation: &Invocation) -> bool {
    let args = &invocation.args;
    if !args.unknown.is_empty() || !args.unreadable.is_empty() || args.gives(Sense::NoToken) {
        return false;
    }
    if args.is(Facet::PrintsToken) {
        return true;
    }
    if args.is(Facet::PrintsTime) {
        let is_plain = |given: &Given| matches!(given.name.as_str(), "-u" | "--utc" | "+");
        let format = args.value("+").and_then(Field::exact);
        return args.operands.is_empty() && args.given.iter().all(is_plain) && format.is_some_and(is_stamp);
    }
    if args.is(Facet::Computes) {
        let is_operator = |word: &Field| "+-*/%()".contains(&*word.text);
        return args.given.is_empty() && args.operands.iter().all(|word| is_count(word) || is_operator(word));
    }
    let numbers = args.words(Sense::TokenFormat);
    if !numbers.is_empty() {
        let formats = args.fields(Sense::Format);
        let is_number = |field: &&Field| field.exact().is_some_and(|text| numbers.iter().any(|word| word == text));
        return !formats.is_empty() && formats.iter().all(is_number);
    }
    let words = args.words(Sense::PrintToken);
    if !words.is_empty() {
        let is_asked = |text: &str| words.iter().any(|word| word == text);
        let asks = args.given.iter().any(|given| is_asked(&given.name))
            || args
                .operands
                .first()
                .and_then(Field::exact)
                .is_some_and(|text| !text.starts_with('-') && is_asked(text));
        return asks && (!args.is(Facet::Searches) || prints_one_count(args)) && names_nothing(args);
    }
    prints_length(args) || passes_token(invocation)
}

/// What it counts is told without the names of operands.
fn names_nothing(args: &Args) -> bool {
    !args.is(Facet::NamesOperands) || (args.operands.is_empty() && args.given.len() == 1)
}

/// A script that prints how much there is and nothing else.
fn prints_length(args: &Args) -> bool {
    let script = args.operands.first().and_then(Field::exact).unwrap_or_default();
    match args.entry().and_then(|entry| entry.grammar) {
        Some(Grammar::Jq) => script.rsplit('|').next().is_some_and(|last| last.trim() == "length"),
        Some(Grammar::Awk) => args.given.is_empty() && script.replace(' ', "") == "END{printNR}",
        Some(_) | None => false,
    }
}

/// A word that is trimmed or passed on is still that word; with other letters taken away it may be a path.
fn passes_token(invocation: &Invocation) -> bool {
    // Removing blanks cannot make a different path out of one word; removing letters can (shell-tricks-473).
    const BLANKS: &[&str] = &[" ", "\\n", "[:space:]", "[:blank:]", " \\n", "\\r", "\\t", " \\t", "\\r\\n"];
    let args = &invocation.args;
    if invocation.input.shape != Shape::Token {
        return false;
    }
    if args.is(Facet::Translates) {
        let trims = args.operands.iter().all(|word| word.exact().is_some_and(|text| BLANKS.contains(&text)));
        return args.has("-d") && args.given.len() == 1 && trims;
    }
    args.is(Facet::KeepsLines) && args.operands.is_empty() && args.given.iter().all(|given| given.name == "-n")
}

/// The lines of one file, or of what comes in, are counted.
fn prints_one_count(args: &Args) -> bool {
    // With these grep prints one number or nothing, so the output is safe to use as a word (shell-tricks-438).
    const FLAGS: &[&str] = &["-c", "--count", "-i", "-v", "-w", "-x", "-E", "-F", "-P", "-e", "-h", "-s", "-a", "-q"];
    let files = args.operands.len().saturating_sub(usize::from(!args.has("-e")));
    files <= 1
        && args.given.iter().all(|given| FLAGS.contains(&given.name.as_str()))
        && args.operands.iter().all(|field| !field.many && !field.glob)
}

fn is_count(field: &Field) -> bool {
    field.shape == Shape::Token
        || field.exact().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A format of `date` that yields digits and what stands between them, never a name.
fn is_stamp(format: &str) -> bool {
    let Some(rest) = format.strip_prefix('%') else { return false };
    let between = ["-", "_", ":", "T", "Z", ""];
    let field = |piece: &str| {
        let mut letters = piece.chars();
        letters.next().is_some_and(|letter| "sYymdHMSjFTNVu".contains(letter)) && between.contains(&letters.as_str())
    };
    rest.split('%').all(field)
}
