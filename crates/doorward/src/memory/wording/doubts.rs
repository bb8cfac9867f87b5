//! What doorward did not understand about a call, in a sentence.

use doorward_engine::Facts;

use super::UNTRUSTED;

/// Calls no program file describes, although everyone knows what they do.
// "Not understood: `vim`" is no help. These sentences say what the person knows and doorward can't see.
const KNOWN: &[(&str, &str)] = &[
    ("the extra arguments of `code`", "this opens an editor, which runs its own tasks and extensions"),
    ("the extra arguments of `mount`", "this attaches a disk or directory to this machine"),
    ("the flag `-c` of `history`", "this clears the shell history"),
];

/// What was not understood; the first gap is the one the others follow from.
pub(super) fn of_coverage(facts: &Facts) -> String {
    let Some(first) = facts.coverage.because.first() else { return "it does not understand this call".to_owned() };
    if first.contains(UNTRUSTED) {
        return "the project isn't trusted yet".to_owned();
    }
    if let Some((_, sentence)) = KNOWN.iter().find(|(doubt, _)| doubt == first) {
        return (*sentence).to_owned();
    }
    rephrased(first).unwrap_or_else(|| introduced(first))
}

/// A rule can only guess about hidden text: that it is hidden is the reason.
pub(super) fn is_first(facts: &Facts) -> bool {
    facts.coverage.because.first().is_some_and(|first| first.starts_with(SQL))
}

/// A way out if something is hidden.
pub(super) fn way(facts: &Facts) -> Option<&'static str> {
    let first = facts.coverage.because.first()?;
    let ways = [
        (RUNS_DATA, "write out the command to run"),
        (MAY_BE_FLAG, "write out the arguments"),
        (WHICH_PATH, "write out the path"),
        (WHICH_HOST, "write out the address"),
        (SQL, "write out the statement"),
        (PATCH, "show the patch first"),
        (WHICH_DIRECTORY, "write out the directory"),
    ];
    ways.iter().find(|(doubt, _)| first.contains(doubt)).map(|(_, way)| *way)
}

const RUNS_DATA: &str = " runs data that doorward can't see";
const MAY_BE_FLAG: &str = " may be a flag of ";
const WHICH_PATH: &str = "which path `";
const WHICH_HOST: &str = "which host `";
const WHICH_DIRECTORY: &str = "the directory `…` of ";
const NOT_KNOWN: &str = " that doorward can't see";
const PATCH: &str = "a patch whose text doorward can't see, applied by ";
const SQL: &str = "SQL given to ";

/// Marks text that only the shell will know.
const HIDDEN: char = '…';

/// Doubts that are not a plain noun.
fn rephrased(doubt: &str) -> Option<String> {
    if let Some(rest) = doubt.strip_prefix("a fault of doorward's own") {
        return Some(format!("of an internal error{rest}"));
    }
    if let Some((program, _)) = doubt.split_once(RUNS_DATA) {
        return Some(format!("it cannot see what {program} would run"));
    }
    if let Some(program) = doubt.strip_prefix("the extra arguments of ") {
        return Some(format!("it does not know what {program} does with these arguments"));
    }
    if let Some(flag) = doubt.strip_prefix("the flag ") {
        return Some(format!("it does not know what the flag {flag} does"));
    }
    if let Some((_, program)) = doubt.split_once(MAY_BE_FLAG) {
        return Some(format!("it cannot tell what arguments {program} would get"));
    }
    for (which, kind) in [(WHICH_PATH, "path"), (WHICH_HOST, "host")] {
        if doubt.strip_prefix(which).is_some_and(|word| word.contains(HIDDEN)) {
            return Some(format!("it cannot tell which {kind} is meant"));
        }
    }
    if let Some(program) = doubt.strip_prefix(WHICH_DIRECTORY) {
        return Some(format!("it cannot tell which directory {program} would run in"));
    }
    if let Some(program) = doubt.strip_prefix(PATCH) {
        return Some(format!("it cannot see the patch that {program} applies"));
    }
    if let Some(program) = doubt.strip_prefix(SQL).and_then(|rest| rest.strip_suffix(NOT_KNOWN)) {
        return Some(format!("it cannot see the SQL that {program} would run"));
    }
    if let Some(rest) = doubt.strip_suffix(NOT_KNOWN) {
        return Some(format!("it cannot see {rest}"));
    }
    None
}

/// Doubts that are a noun, a question or a whole clause, each after the words it needs.
fn introduced(doubt: &str) -> String {
    let asks = ["which ", "what ", "where ", "who ", "how ", "whether "];
    let names = ["the program ", "the command ", "the subcommand ", "the tool ", "the variable "];
    let starts = |words: &[&str]| words.iter().any(|word| doubt.starts_with(word));
    if starts(&asks) {
        format!("it cannot tell {doubt}")
    } else if starts(&names) {
        format!("it does not know {doubt}")
    } else if is_clause(doubt) {
        doubt.to_owned()
    } else {
        format!("it cannot see inside {doubt}")
    }
}

/// The doubt has a subject and a verb, so that it can follow "because".
fn is_clause(doubt: &str) -> bool {
    let verbs = [
        "is", "are", "was", "has", "can", "changes", "changed", "calls", "contains", "disables", "ends", "loads",
        "makes", "may", "mixes", "names", "produces", "rejects", "runs",
    ];
    let bare = doubt.split('`').step_by(2).collect::<Vec<_>>().join("x");
    let mut words = bare.split([' ', ',']);
    let relative = ["that", "which", "whose"];
    words.find(|word| relative.contains(word) || verbs.contains(word)).is_some_and(|word| verbs.contains(&word))
}
