//! Whether an order names an effect: the verb its operation, and all other words its target.
//!
//! Every word of the order must be understood and must fit: an order that says more than the effect does, or an effect that
//! does more than the order says, is no match.

mod file;
mod forge;
mod git;
mod package;
mod server;

use doorward_vocabulary::{Mark, Marks, Operation, Reversibility, Scope, Sensitivity};

use super::Subject;
use super::order::Order;
use super::prose::Word;
use crate::effect::{Effect, Target};

/// Words that carry no target of their own.
// Words that name nothing. What remains of the sentence has to be accounted for by the call, word by word.
const FILLERS: &[&str] = &[
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "my",
    "our",
    "your",
    "its",
    "all",
    "of",
    "it",
    "them",
    "to",
    "from",
    "into",
    "on",
    "for",
    "in",
    "with",
    "up",
    "please",
    "now",
    "right",
    "away",
    "too",
    "here",
    "immediately",
    "again",
];

/// The order names operation and target of the effect.
pub(super) fn is_ordered(order: &Order, effect: &Effect, subject: &Subject<'_>) -> bool {
    let Some((verb, rest)) = order.words.split_first() else { return false };
    if effect.sensitivity != Sensitivity::None {
        return false;
    }
    let is_said = |words: &[Word]| {
        let is_filler = |word: &&Word| !word.is_quoted && FILLERS.contains(&word.text.as_str());
        let words: Vec<&Word> = words.iter().filter(|word| !is_filler(word)).collect();
        names(&verb.text, &words, effect, subject)
    };
    is_said(rest) || (rest.is_empty() && !order.shared.is_empty() && is_said(&order.shared))
}

fn names(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Only what acts on the current branch has an object that goes without saying.
    git::is_ordered(verb, words, effect, subject)
        || forge::is_ordered(verb, words, effect, subject)
        || (!words.is_empty()
            && (package::is_ordered(verb, words, effect, subject)
                || package::is_declared(verb, words, effect, subject)
                || file::is_deleted(verb, words, effect, subject)
                || file::is_changed(verb, words, effect, subject)
                || fetch(verb, words, effect)
                || server::is_ordered(verb, words, effect, subject)))
}

/// The effect has no property besides these.
fn only(effect: &Effect, marks: &[Mark]) -> bool {
    let allowed: Marks = marks.iter().copied().collect();
    allowed.contains(effect.marks)
}

fn says(words: &[&Word], wanted: &[&str]) -> bool {
    words.iter().any(|word| wanted.contains(&word.text.as_str()))
}

/// What follows the name of program and subcommand in each of its commands; `None` if it runs in another form.
fn arguments<'a>(effect: &Effect, subject: &Subject<'a>) -> Option<Vec<Vec<&'a str>>> {
    let tails: Vec<Vec<&str>> = subject
        .commands
        .iter()
        .filter_map(|command| command.strip_prefix(effect.by.as_str()))
        .filter(|tail| tail.is_empty() || tail.starts_with(' '))
        .map(|tail| tail.split_ascii_whitespace().collect())
        .collect();
    (!effect.by.is_empty() && !tails.is_empty()).then_some(tails)
}

/// `download data.site.org/x`: the host is named in full. A whole address is looked at letter by letter instead.
fn fetch(verb: &str, words: &[&Word], effect: &Effect) -> bool {
    // Verbs that ask for a page. `call` and `post` are missing, because they may send something.
    const VERBS: &[&str] = &["fetch", "get", "download", "open", "read", "visit", "curl", "browse"];
    let Target::Host(host) = &effect.target else { return false };
    let fits = VERBS.contains(&verb)
        && effect.operation == Operation::Network
        && effect.reversibility == Reversibility::NothingChanges
        && only(effect, &[Mark::UnlistedHost]);
    let host_of = |word: &Word| word.text.split(['/', '?', '#', ':']).next().unwrap_or_default().to_owned();
    let is_page = |word: &&&Word| !word.is_quoted && matches!(word.text.as_str(), "page" | "site" | "url" | "link");
    let named: Vec<String> = words.iter().filter(|word| !is_page(word)).map(|word| host_of(word)).collect();
    fits && !named.is_empty() && named.iter().all(|name| *name == host.to_lowercase())
}

/// The flags of a command, and its other words.
fn split<'a>(tail: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    tail.iter().partition(|word| word.starts_with('-'))
}

fn is_same_noun(piece: &str, word: &str) -> bool {
    let stem = |text: &str| text.strip_suffix('s').filter(|stem| stem.len() >= 3).unwrap_or(text).to_owned();
    piece == word || stem(piece) == stem(word)
}

/// The target's path inside the project, in lower case.
fn inside(effect: &Effect, subject: &Subject<'_>) -> Option<String> {
    let (Target::Path(path), Some(project)) = (&effect.target, subject.project) else { return None };
    let in_project = matches!(effect.scope, Scope::File | Scope::Directory);
    let inner = path.strip_prefix(project)?.strip_prefix('/').filter(|inner| in_project && !inner.is_empty())?;
    Some(inner.to_lowercase())
}
