//! Orders about pull requests and issues of this repository: kind, deed and number as in the command.

use doorward_vocabulary::Mark;

use super::{arguments, only, says};
use crate::effect::Effect;
use crate::intent::Subject;
use crate::intent::prose::Word;
use crate::knowledge::{self, schema::Facet};

/// Words around what is opened; the number or title comes from the command.
const AROUND: &[&str] = &[
    "pull", "request", "requests", "pr", "mr", "issue", "draft", "ticket", "review", "reviews", "comment", "comments",
    "branch", "it", "merge", "against", "ready",
];

/// `open a pull request`, `close issue 12`, `merge pr 7`, `ask for review`.
pub(super) fn is_ordered(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let mut name = effect.by.split(' ');
    let (Some(program), Some(kind), Some(deed), None) = (name.next(), name.next(), name.next(), name.next()) else {
        return false;
    };
    let numbers: Vec<&str> = words.iter().filter_map(|word| number(&word.text)).collect();
    // A merge reaches the branch that everybody builds from, so the request has to be named.
    let allowed: &[Mark] = match (deed, numbers.is_empty()) {
        ("merge", true) => return false,
        ("merge", false) => &[Mark::ExternalWrite, Mark::DefaultBranch],
        _ => &[Mark::ExternalWrite, Mark::ExternalMessage, Mark::ListedHost, Mark::Creates],
    };
    let is_forge = || knowledge::built_in().facets(program).has(Facet::ForgeClient);
    let fits = is_deed(verb, words, kind, deed) && only(effect, allowed) && is_forge();
    let Some(tails) = arguments(effect, subject).filter(|_| fits) else { return false };
    tails.iter().all(|tail| is_here(tail, deed, &numbers) && words.iter().all(|word| is_understood(word, tail)))
}

/// The order names this kind of thing and this deed.
fn is_deed(verb: &str, words: &[&Word], kind: &str, deed: &str) -> bool {
    let nouns: &[&str] = match kind {
        "pr" | "mr" => &["pr", "mr", "request"],
        "issue" => &["issue", "ticket"],
        _ => return false,
    };
    // Who asks for a review wants the request that is reviewed.
    let asks = matches!(verb, "ask" | "request") && says(words, &["review", "reviews"]) && kind != "issue";
    let verbs: &[&str] = match deed {
        "create" => &["create", "open", "file", "raise", "submit", "make", "pr"],
        "close" => &["close"],
        "reopen" => &["reopen"],
        "comment" | "note" => &["comment", "reply", "answer"],
        "merge" => &["merge"],
        "ready" => &["mark"],
        _ => return false,
    };
    (asks && matches!(deed, "create" | "ready"))
        || (verbs.contains(&verb) && (says(words, nouns) || verb == "pr" && kind == "pr"))
}

/// In this repository, with ordinary rights, about the number that the user said.
fn is_here(tail: &[&str], deed: &str, numbers: &[&str]) -> bool {
    // Flags that act on another repository, with more rights, on more than was said, or with text that the user has not
    // seen.
    const ELSEWHERE: &[&str] = &[
        "--repo",
        "--admin",
        "--body-file",
        "--template",
        "--recover",
        "--delete-branch",
        "-d",
        "--reviewer",
        "-r",
        "--assignee",
        "-a",
        "--head",
        "-H",
        "-R",
        "-F",
        "--auto",
        "--remove-source-branch",
    ];
    // `-r` rebases in `merge`, where no reviewer can be named.
    let is_rebase = |word: &str| deed == "merge" && word == "-r";
    let leads_away = |word: &&str| {
        !is_rebase(word)
            && ELSEWHERE.iter().any(|flag| {
                word.split('=').next() == Some(*flag)
                    || flag.len() == 2 && word.starts_with(flag) && !word.starts_with("--")
            })
    };
    let first = tail.first().copied().filter(|word| deed != "create" && !word.starts_with('-'));
    let which: Vec<&str> = first.into_iter().collect();
    !tail.iter().any(leads_away) && which == *numbers
}

fn is_understood(word: &Word, tail: &[&str]) -> bool {
    let base = tail.iter().position(|word| matches!(*word, "--base" | "-B")).and_then(|at| tail.get(at + 1));
    AROUND.contains(&word.text.as_str())
        || number(&word.text).is_some()
        || base.is_some_and(|base| base.to_lowercase() == word.text)
}

pub(super) fn number(word: &str) -> Option<&str> {
    let digits = word.strip_prefix('#').unwrap_or(word);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}
