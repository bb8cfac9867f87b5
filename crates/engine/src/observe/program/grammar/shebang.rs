//! The first line of a script, which says who reads it.

use crate::observe::code;
use crate::observe::program::written::Written;
use crate::path;
use crate::world::Shell;

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
