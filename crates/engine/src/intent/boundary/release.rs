//! Which later orders of the user end a limit: for exactly the operation and the object that they name.

use doorward_vocabulary::{Mark, Operation};

use super::crossing::{does, is_about, names_path};
use super::{Kind, Limit, kept, kind, names_file, ordered, stated};
use crate::effect::{Effect, Target};
use crate::intent::Subject;
use crate::intent::order::{Order, orders};

/// So many orders are kept that end limits of a session.
// Each is compared with every effect that crosses a limit.
const MOST: usize = 32;

/// Words of an order that name no object.
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
    "any",
];

/// The limits that a message ends, each with the order that does. A limit that the message itself states stays.
pub fn released(message: &str, limits: &[String]) -> Vec<(String, String)> {
    let stated = stated(message);
    let orders = orders(message);
    let mut found = Vec::new();
    for said in limits.iter().filter(|said| !stated.contains(said)) {
        let of = kept(said);
        let ends = |order: &&Order| of.iter().any(|limit| is_for(order, limit));
        found.extend(orders.iter().filter(ends).map(|order| (said.clone(), order.text())));
    }
    found.truncate(MOST);
    found
}

/// The order ends the limit for this effect.
pub(in crate::intent) fn ends(order: &Order, limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    is_for(order, limit) && is_ordered(order, limit, effect, subject)
}

/// The order does what the limit rules out, and to what it is about.
fn is_for(order: &Order, limit: &Limit) -> bool {
    let Some((verb, _)) = order.words.split_first() else { return false };
    let verb = verb.text.as_str();
    let does_it = match limit.kind {
        // `leave the database alone` rules out every kind of change.
        None => [Kind::Change, Kind::Delete, Kind::Run, Kind::Commit].iter().any(|kind| ordered(verb, *kind)),
        Some(kind) => ordered(verb, kind),
    };
    let is_general = limit.kind == Some(Kind::Else) || limit.things.iter().all(|thing| is_general(thing));
    does_it && (is_general || limit.things.iter().any(|thing| mentions(order, thing)))
}

/// It names everything that a project consists of, not a part of it.
fn is_general(thing: &str) -> bool {
    matches!(
        thing,
        "code" | "codebase" | "source" | "sources" | "implementation" | "anything" | "everything" | "changes" | "yet"
    )
}

fn mentions(order: &Order, thing: &str) -> bool {
    let stem = |text: &str| text.strip_suffix('s').filter(|stem| stem.len() >= 3).unwrap_or(text).to_owned();
    order.words.iter().skip(1).any(|word| {
        stem(&word.text) == stem(thing) || word.text.split(['/', '.', '-', '_']).any(|piece| stem(piece) == stem(thing))
    })
}

/// The effect is what the order names, where it names something.
fn is_ordered(order: &Order, limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    let verb = order.words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let is_change = matches!(limit.kind, None | Some(Kind::Change | Kind::Else));
    if is_change && !ordered(verb, Kind::Run) {
        return is_ordered_change(order, limit, effect, subject);
    }
    let objects: Vec<&str> = order
        .words
        .iter()
        .skip(1)
        .filter(|word| word.is_quoted || !FILLERS.contains(&word.text.as_str()))
        .map(|word| word.text.as_str())
        .collect();
    match limit.kind {
        // Force and the branch that everybody builds from have to be said.
        Some(Kind::Push) => {
            let says = |words: &[&str]| objects.iter().any(|object| words.contains(object));
            (!effect.marks.has_any(&[Mark::HistoryRewrite, Mark::Force]) || says(&["force", "--force"]))
                && (!effect.marks.has(Mark::DefaultBranch)
                    || says(&["main", "master", "trunk"])
                    || subject.branch.as_deref().is_some_and(|branch| says(&[branch])))
        }
        Some(Kind::Commit | Kind::Privilege | Kind::Kill) => true,
        _ => objects.is_empty() || objects.iter().any(|object| is_about(object, effect, subject)),
    }
}

/// A change that the order asks for: of the files it names, or of the code if it names none.
fn is_ordered_change(order: &Order, limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    let verb = order.words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let files: Vec<&str> =
        order.words.iter().skip(1).filter(|word| names_file(word)).map(|word| word.text.as_str()).collect();
    match (&effect.operation, &effect.target) {
        (Operation::Delete, _) if !ordered(verb, Kind::Delete) => false,
        (Operation::Write | Operation::Delete, Target::Path(path)) => {
            let is_named = |file: &&str| names_path(file, path, subject);
            let is_thing = |thing: &String| is_general(thing) || is_about(thing, effect, subject);
            let is_part =
                limit.kind == Some(Kind::Else) || limit.things.is_empty() || limit.things.iter().any(is_thing);
            if files.is_empty() { is_part } else { files.iter().any(is_named) }
        }
        // What an order for one file brings along is not known of a formatter or a commit.
        (Operation::Write | Operation::Delete | Operation::Execute | Operation::Read, _) => files.is_empty(),
        (Operation::Mutate | Operation::Network, _) => {
            let sends = effect.marks.has_any(&[Mark::Push, Mark::ExternalWrite, Mark::ExternalMessage, Mark::Deploy]);
            !sends && (files.is_empty() || does(Kind::Commit, effect) && kind(verb) == Some(Kind::Commit))
        }
    }
}
