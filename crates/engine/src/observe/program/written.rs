//! What language a file that is run is written in.

use doorward_code::Language;

use crate::knowledge::packed::Packed;
use crate::knowledge::schema::Facet;
use crate::observe::code;
use crate::path;
use crate::world::Shell;

/// What a file is written in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    Shell(Shell),
    In(Language),
}

/// The language of a program by its first line; without one, whoever starts it hands it to `sh`.
pub(crate) fn says_itself(text: &str) -> Option<Written> {
    let Some(first) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        return Some(Written::Shell(Shell::Sh));
    };
    let mut words = first.split_whitespace().skip_while(|word| path::name(word) == "env" || *word == "-S");
    let program = path::name(words.next()?);
    // Other options could make it run something else than the text.
    let is_plain = |word: &str| {
        word == "pipefail"
            || word.strip_prefix('-').is_some_and(|flags| flags.chars().all(|flag| "euxfvEBIo".contains(flag)))
    };
    if !words.all(is_plain) {
        return None;
    }
    let shell = Shell::named(program).map(Written::Shell);
    shell.or_else(|| code::of_program(program).map(Written::In))
}

/// Whoever reads a file decides what it is; a tool for several languages goes by the name of the file.
pub(crate) fn read_as(knowledge: Packed, file: &str, by: &str, current: Shell) -> Option<Written> {
    if let Some(shell) = by.split(' ').next_back().and_then(Shell::named) {
        return Some(Written::Shell(shell));
    }
    let by = path::name(by.split(' ').next().unwrap_or(by));
    if matches!(by, "source" | ".") {
        return Some(Written::Shell(current));
    }
    if let Some(language) = code::of_program(by) {
        return Some(Written::In(language));
    }
    // `perl x.sh` runs Perl: the ending says nothing to it, so the file must not be read as shell.
    let stem = by.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if [by, stem].iter().any(|name| knowledge.facets(name).has(Facet::OwnLanguage)) {
        return None;
    }
    match code::of_file(file) {
        Some(language) => Some(Written::In(language)),
        None if file.ends_with(".sh") || file.ends_with(".bash") => Some(Written::Shell(Shell::Sh)),
        None => None,
    }
}
