//! Limits that the user states ("don't push", "leave the database alone"), and what each is about.
//!
//! Limits only raise, so this reads generously: a sentence that may be one counts as one.

mod crossing;
mod release;
mod verbs;

use super::lists;
use super::prose::{self, Sentence, Word};

pub(super) use crossing::crosses;
pub(super) use release::ends;
pub use release::released;
pub(super) use verbs::{Kind, is_verb, kind, ordered};

/// So many limits are kept of one message.
// Each limit is compared with every effect of every later call of the turn.
const MOST: usize = 16;

/// So many words behind a denial are read.
const REACH: usize = 64;

/// Words that may stand right before a denial that is meant as an order.
// `do not push` is an order only where a clause begins; in `the tests do not push` it is a statement. Decision 0017
// says why words are compared with lists and not by a model.
const LEADS: &[&str] = &[
    "please",
    "and",
    "but",
    "also",
    "so",
    "ok",
    "okay",
    "just",
    "or",
    "you",
    "we",
    "must",
    "should",
    "may",
    "to",
    "careful",
    "sure",
    "now",
    "still",
    "again",
    "really",
    "absolutely",
    "however",
    "do",
    "better",
    "remember",
    "important",
    "rather",
    "yes",
    "hey",
    "i",
];

/// Words that start a denial.
// Both spellings of contractions, since chats drop the apostrophe.
const DENIALS: &[&str] =
    &["don't", "dont", "not", "never", "avoid", "refrain", "stop", "no", "mustn't", "shouldn't", "cannot", "can't"];

/// Words between a denial and what it is about.
// `please don't you ever even try to push` still forbids pushing. Any other word in between makes it a different
// sentence.
const BETWEEN: &[&str] = &[
    "you",
    "please",
    "ever",
    "just",
    "even",
    "yet",
    "try",
    "trying",
    "to",
    "from",
    "be",
    "get",
    "must",
    "should",
    "may",
    "do",
    "go",
    "any",
    "anything",
    "the",
    "a",
    "an",
    "my",
    "our",
    "this",
    "that",
    "these",
    "those",
    "it",
    "them",
    "of",
    "in",
    "on",
    "near",
    "with",
    "for",
    "your",
    "at",
    "all",
    "more",
    "make",
    "new",
    "other",
    "into",
    "is",
    "are",
    "under",
    "circumstances",
    "now",
    "ok",
    "okay",
    "until",
    "unless",
    "before",
    "without",
    "asking",
    "me",
    "first",
    "i",
    "say",
    "so",
    "file",
    "files",
    "folder",
    "directory",
    "whatsoever",
    "leave",
    "keep",
    "stay",
    "hands",
    "off",
    "alone",
    "away",
    "out",
    "limits",
    "untouched",
    "intact",
    "as",
    "unchanged",
    "read-only",
    "off-limits",
    "as-is",
    "want",
    "like",
    "wish",
    "let",
    "not",
    "never",
    "further",
    "additional",
    "extra",
    "or",
    "directly",
    "attempt",
    "yourself",
];

/// What a limit is about: what must not be done, and to which things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limit {
    /// `None` for `leave the database alone`.
    pub kind: Option<Kind>,
    pub things: Vec<String>,
    /// It says *anything* or *everything*, or names nothing at all.
    pub is_broad: bool,
}

/// The limits that a message states, as the user put them.
pub fn stated(message: &str) -> Vec<String> {
    let mut limits = Vec::new();
    for line in prose::own_lines(message) {
        let mut before: Option<Sentence> = None;
        for sentence in prose::sentences(line).unwrap_or_else(|| plainly(line)) {
            match before.as_ref().and_then(|before| nothing_else(before, &sentence)) {
                Some(limit) => limits.push(limit),
                None => limits.extend(stated_by(&sentence, before.as_ref())),
            }
            before = Some(sentence);
        }
    }
    limits.truncate(MOST);
    limits
}

/// A line whose quotation does not end is read without its quotation marks.
fn plainly(line: &str) -> Vec<Sentence> {
    let is_mark =
        |letter: &char| matches!(letter, '`' | '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}');
    let plain: String = line.chars().filter(|letter| !is_mark(letter)).collect();
    prose::sentences(&plain.replace(" '", " ")).unwrap_or_default()
}

/// `Update docs/use.md: mention the retry. Nothing else.`: what is named stays the only thing that changes.
fn nothing_else(before: &Sentence, sentence: &Sentence) -> Option<String> {
    let text: Vec<&str> = sentence.words().map(|word| word.text.as_str()).collect();
    let is_end = matches!(
        text.as_slice(),
        ["nothing", "else" | "more"]
            | ["only", "that" | "this" | "there"]
            | ["no", "other", "files" | "file" | "changes"]
    );
    // Only names of files can be compared with what a call writes.
    let files: Vec<&str> = before.words().filter(|word| names_file(word)).map(|word| word.text.as_str()).collect();
    (is_end && !files.is_empty()).then(|| format!("{ONLY} {}", files.join(" ")))
}

/// How a limit on everything else is kept.
const ONLY: &str = "change nothing but";

/// A word that stands for a file: it has a dot or a slash inside and is no number.
pub(super) fn names_file(word: &Word) -> bool {
    let text = word.text.trim_start_matches("./");
    let is_version = text.trim_start_matches(['v', '^', '~']).starts_with(|letter: char| letter.is_ascii_digit())
        && !text.contains('/');
    // `readme` and `changelog` are files of every project; people leave out their ending.
    let is_known = matches!(text, "readme" | "changelog" | "license" | "makefile" | "dockerfile");
    let is_inside = text.trim_end_matches('/').contains(['.', '/']) || text.ends_with('/');
    is_known || (is_inside && !is_version && !text.contains("://") && text.len() > 2)
}

fn stated_by(sentence: &Sentence, before: Option<&Sentence>) -> Vec<String> {
    let mut limits = Vec::new();
    let mut last = before.and_then(|before| before.segments.last());
    for (segment, limit) in sentence.segments.iter().zip(limited(sentence)) {
        if let Some(text) = limit {
            // `The config is generated, it should not be modified`: the noun stands before.
            let noun =
                last.filter(|_| is_unattached(segment)).map(|last| subject_of(last)).filter(|noun| !noun.is_empty());
            limits.push(noun.map_or(text.clone(), |noun| format!("{noun}, {text}")));
        }
        last = Some(segment);
    }
    limits
}

/// Which pieces of a sentence state a limit, in the words that are kept of it.
pub(super) fn limited(sentence: &Sentence) -> Vec<Option<String>> {
    // `why don't you push` asks for it, `did you not push` wonders.
    const ASKING: &[&str] = &[
        "why", "did", "didn't", "have", "haven't", "has", "can", "can't", "could", "would", "how", "what", "is", "are",
    ];
    if sentence.is_question && sentence.words().next().is_some_and(|first| is_one_of(first, ASKING)) {
        return vec![None; sentence.segments.len()];
    }
    let mut is_carried = false;
    let mut found = Vec::new();
    for segment in &sentence.segments {
        let text = segment.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        found.push(if limit(segment).is_some() {
            is_carried = segment.iter().any(|word| is_one_of(word, DENIALS));
            Some(text)
        } else if is_carried && segment.len() <= 3 && segment.first().is_some_and(|word| kind(&word.text).is_some()) {
            // `don't push and deploy`: the denial goes on.
            Some(format!("don't {text}"))
        } else {
            is_carried = false;
            None
        });
    }
    found
}

/// Whatever the sentence denies, it denies as a limit that can be read.
pub(super) fn is_limit(sentence: &Sentence) -> bool {
    let pieces = sentence.segments.iter().zip(limited(sentence));
    sentence.words().any(lists::takes_back)
        && pieces.clone().all(|(segment, limit)| {
            limit.is_some() || !segment.iter().any(|word| lists::takes_back(word) || lists::is_voice(word))
        })
}

/// The limits in a text that was kept.
pub(super) fn kept(said: &str) -> Vec<Limit> {
    if let Some(files) = said.strip_prefix(ONLY) {
        let things = files.split_ascii_whitespace().map(str::to_owned).collect();
        return vec![Limit { kind: Some(Kind::Else), things, is_broad: false }];
    }
    let sentences = prose::sentences(said).unwrap_or_else(|| plainly(said));
    let mut limits = Vec::new();
    for sentence in &sentences {
        let mut last: Option<&Vec<Word>> = None;
        for segment in &sentence.segments {
            limits.extend(limit(segment).map(|limit| match last.filter(|_| is_unattached(segment)) {
                Some(last) if limit.things.is_empty() => {
                    let things = content(last);
                    Limit { is_broad: things.is_empty(), things, ..limit }
                }
                _ => limit,
            }));
            last = Some(segment);
        }
    }
    limits
}

/// It begins with a word that points back: `it`, `which`, `they`.
fn is_unattached(segment: &[Word]) -> bool {
    // The pronouns a clause can begin with.
    const POINTS: &[&str] = &["it", "which", "that", "they", "those", "these", "this"];
    // Conjunctions before them.
    const JOINS: &[&str] = &["but", "so", "because", "as", "since", "though"];
    let mut words = segment.iter().skip_while(|word| is_one_of(word, JOINS));
    let points = words.next().is_some_and(|word| is_one_of(word, POINTS));
    // `this file must not be touched` says itself what it is about.
    points && words.next().is_some_and(|word| is_one_of(word, COPULAS))
}

/// Words that end the subject of a clause.
// `the config file is generated`, `fixtures.json comes from the server`: the noun stands before one of these.
const COPULAS: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "must",
    "should",
    "may",
    "can",
    "cannot",
    "can't",
    "shouldn't",
    "mustn't",
    "comes",
    "come",
    "lives",
    "contains",
    "belongs",
    "stays",
    "isn't",
    "aren't",
    "needs",
    "gets",
    "will",
];

/// What a clause is about: the words before its verb, or all of them after the order that it is.
fn subject_of(segment: &[Word]) -> String {
    let end = segment.iter().position(|word| is_one_of(word, COPULAS));
    let words = match end {
        Some(end) => segment.get(..end).unwrap_or_default(),
        // `look at the parser`: the verb stands first.
        None => segment.get(1..).unwrap_or_default(),
    };
    content(words).into_iter().filter(|word| kind(word).is_none()).collect::<Vec<_>>().join(" ")
}

fn is_one_of(word: &Word, list: &[&str]) -> bool {
    !word.is_quoted && list.contains(&word.text.as_str())
}

/// What a piece of a sentence puts out of reach, if it does.
fn limit(segment: &[Word]) -> Option<Limit> {
    hands_off(segment).or_else(|| (0..segment.len()).find_map(|at| denied(segment, at)))
}

/// `leave the database alone`, `hands off the schema`, `stay out of prod`, `prod is off limits`, `keep main untouched`.
fn hands_off(segment: &[Word]) -> Option<Limit> {
    // `leave src alone`, `keep .env untouched`, `config is off-limits`: a limit without a denial. Both halves are
    // needed.
    const STARTS: &[&str] = &["leave", "keep", "stay", "hands", "is", "are"];
    // The second half of such a phrase; it has to end the clause.
    const ENDS: &[&str] = &[
        "alone",
        "untouched",
        "off-limits",
        "limits",
        "off",
        "away",
        "out",
        "read-only",
        "as-is",
        "intact",
        "unchanged",
    ];
    let start = segment.iter().position(|word| is_one_of(word, STARTS))?;
    let closes = segment.iter().skip(start + 1).any(|word| is_one_of(word, ENDS));
    let is_statement = segment.get(start).is_some_and(|word| matches!(word.text.as_str(), "is" | "are"));
    let from = if is_statement { 0 } else { start };
    let things = content(segment.get(from..)?);
    (closes && !things.is_empty()).then_some(Limit { kind: None, things, is_broad: false })
}

/// A denial at this place, and what follows it.
fn denied(segment: &[Word], at: usize) -> Option<Limit> {
    let word = segment.get(at)?;
    let before = at.checked_sub(1).and_then(|at| segment.get(at));
    let after = segment.get(at + 1..)?;
    let is_order = match word.text.as_str() {
        "without" => true,
        "not" if before.is_some_and(|word| word.text == "do") => {
            at.checked_sub(2).and_then(|at| segment.get(at)).is_none_or(|word| is_one_of(word, LEADS))
        }
        // `I don't see it` says something; `I don't want you to` orders.
        _ if before.is_some_and(|word| word.text == "i") => {
            after.first().is_some_and(|word| is_one_of(word, &["want", "like", "wish"]))
        }
        "mustn't" | "shouldn't" => true,
        "not" if before.is_some_and(|word| is_one_of(word, &["must", "should", "may"])) => true,
        "not" if before.is_some_and(|word| is_one_of(word, &["is", "are"])) => is_subordinate(segment, at),
        "isn't" | "aren't" => is_subordinate(segment, at),
        "cannot" | "can't" => before.is_some_and(|word| word.text == "you"),
        denial if DENIALS.contains(&denial) => before.is_none_or(|word| is_one_of(word, LEADS)),
        _ => false,
    };
    if word.is_quoted || !is_order {
        return None;
    }
    // Further away stands another clause; reading on from every denial would not be linear.
    let after = after.get(..after.len().min(REACH)).unwrap_or_default();
    let all = after;
    let after = content(after);
    let (first, things) = after.split_first()?;
    let kind = verbs::kind(first)?;
    // `prod must not be touched`: what is meant stands before.
    let things = if things.is_empty() { content(segment.get(..at)?) } else { things.to_vec() };
    let is_thing = |thing: &String| thing != "which" && !COPULAS.contains(&thing.as_str());
    let things: Vec<String> = things.into_iter().filter(is_thing).collect();
    let says_all = all.iter().any(|word| is_one_of(word, &["anything", "everything", "all"]));
    let is_file_verb =
        matches!(first.as_str(), "edit" | "write" | "refactor" | "format" | "rewrite" | "modify" | "modified");
    let names_files = all.iter().any(|word| is_one_of(word, &["file", "files", "folder", "directory"]));
    let is_broad = things.is_empty() && (says_all || !(names_files || is_file_verb));
    Some(Limit { kind: Some(kind), things, is_broad })
}

/// `make sure that the schema is not changed`, `so that it is not touched`: a statement that is wanted to come true.
fn is_subordinate(segment: &[Word], at: usize) -> bool {
    // The words with which such a clause begins.
    const MARKS: &[&str] = &["sure", "ensure", "that", "so", "which", "careful"];
    segment.get(..at).is_some_and(|before| before.iter().any(|word| is_one_of(word, MARKS)))
}

/// The words that say what is meant.
fn content(words: &[Word]) -> Vec<String> {
    let says = |word: &&Word| {
        word.is_quoted || !(BETWEEN.contains(&word.text.as_str()) || LEADS.contains(&word.text.as_str()))
    };
    words.iter().filter(says).map(|word| word.text.clone()).collect()
}
