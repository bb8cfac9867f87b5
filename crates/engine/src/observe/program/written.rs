//! What language a file that is run is written in.

use doorward_code::Language;

use crate::knowledge::packed::Packed;
use crate::knowledge::schema::Facet;
use crate::observe::code;
use crate::observe::shell::grammar::Builtin;
use crate::path;
use crate::world::Shell;

/// What a file is written in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Written {
    Shell(Shell),
    In(Language),
}

/// Whoever reads a file decides what it is; a tool for several languages goes by the name of the file.
pub(crate) fn read_as(knowledge: Packed, file: &str, by: &str, current: Shell) -> Option<Written> {
    if let Some(shell) = by.split(' ').next_back().and_then(Shell::named) {
        return Some(Written::Shell(shell));
    }
    let by = path::name(by.split(' ').next().unwrap_or(by));
    if Builtin::named(by).is_some_and(Builtin::sources) {
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
