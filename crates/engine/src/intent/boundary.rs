//! Limits that the user states ("don't push", "leave the database alone") and whether a call crosses one.
//!
//! Limits only raise, so this reads generously: a sentence that may be one counts as one.

use doorward_vocabulary::{Mark, Operation};

use super::Subject;
use super::prose::{self, Sentence, Word};
use crate::effect::{Effect, Target};

/// So many limits are kept of one message.
// Each limit is compared with every effect of every later call of the turn.
const MOST: usize = 16;

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
    "code",
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

/// What a limit is about: a verb, if one is named, and things.
#[derive(Debug, Default, PartialEq, Eq)]
struct Limit {
    verb: Option<String>,
    things: Vec<String>,
}

/// The limits that a message states, as the user put them.
pub fn stated(message: &str) -> Vec<String> {
    let mut limits = Vec::new();
    for line in prose::own_lines(message) {
        for sentence in prose::sentences(line).unwrap_or_else(|| plainly(line)) {
            limits.extend(stated_by(&sentence));
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

fn stated_by(sentence: &Sentence) -> Vec<String> {
    // `why don't you push` asks for it, `did you not push` wonders.
    const ASKING: &[&str] = &[
        "why", "did", "didn't", "have", "haven't", "has", "can", "can't", "could", "would", "how", "what", "is", "are",
    ];
    if sentence.is_question && sentence.words().next().is_some_and(|first| is_one_of(first, ASKING)) {
        return Vec::new();
    }
    let mut limits = Vec::new();
    let mut is_carried = false;
    for segment in &sentence.segments {
        let text = segment.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        if limit(segment).is_some() {
            limits.push(text);
            is_carried = segment.iter().any(|word| is_one_of(word, DENIALS));
        } else if is_carried && segment.len() <= 3 && segment.first().is_some_and(|word| verb(&word.text).is_some()) {
            // `don't push and deploy`: the denial goes on.
            limits.push(format!("don't {text}"));
        } else {
            is_carried = false;
        }
    }
    limits
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
    (closes && !things.is_empty()).then_some(Limit { verb: None, things })
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
        "cannot" | "can't" => before.is_some_and(|word| word.text == "you"),
        denial if DENIALS.contains(&denial) => before.is_none_or(|word| is_one_of(word, LEADS)),
        _ => false,
    };
    if word.is_quoted || !is_order {
        return None;
    }
    let after = content(after);
    let (first, things) = after.split_first()?;
    let verb = verb(first).map(|_| first.clone())?;
    // `prod must not be touched`: what is meant stands before.
    let things = if things.is_empty() { content(segment.get(..at)?) } else { things.to_vec() };
    Some(Limit { verb: Some(verb), things })
}

/// The words that say what is meant.
fn content(words: &[Word]) -> Vec<String> {
    let says = |word: &&Word| {
        word.is_quoted || !(BETWEEN.contains(&word.text.as_str()) || LEADS.contains(&word.text.as_str()))
    };
    words.iter().filter(says).map(|word| word.text.clone()).collect()
}

/// The call does something that the limit is about. A limit that cannot be read is about every change.
pub(super) fn is_crossed(said: &str, subject: &Subject<'_>) -> bool {
    let sentences = prose::sentences(said).unwrap_or_else(|| plainly(said));
    let mut limits =
        sentences.iter().flat_map(|sentence| &sentence.segments).filter_map(|segment| limit(segment)).peekable();
    if limits.peek().is_none() {
        return subject.effects.iter().any(changes);
    }
    limits.any(|limit| {
        let deed = limit.verb.as_deref().and_then(verb).unwrap_or(changes);
        subject.effects.iter().any(|effect| deed(effect) && hits(&limit.things, effect, subject))
    })
}

/// Whether an effect is one that a verb speaks of.
type Deed = fn(&Effect) -> bool;

/// The verbs that limits are about, in their base form, and what they speak of.
// Base forms only: the words are reduced before they are compared. A verb stands here if its effect can be recognised
// from marks, so that a limit is never just words.
const VERBS: &[(&[&str], Deed)] = &[
    (&["push"], |effect| effect.marks.has(Mark::Push)),
    (&["commit", "stash", "tag", "merge", "rebase", "amend", "squash", "reset", "force-push"], |effect| {
        effect.marks.has_any(&[Mark::Commit, Mark::HistoryRewrite, Mark::DiscardsWork])
    }),
    (&["delete", "deletion", "remove", "rm", "erase", "wipe", "drop", "destroy", "truncate"], |effect| {
        effect.operation == Operation::Delete || effect.marks.has_any(&[Mark::Destroys, Mark::DiscardsWork])
    }),
    (&["install", "dependency", "dependencie", "package", "upgrade"], |effect| {
        effect.marks.has_any(&[Mark::InstallChosen, Mark::InstallDeclared, Mark::SystemPackages, Mark::RemoteCode])
    }),
    (&["deploy", "deployment", "publish", "release"], |effect| effect.marks.has_any(&[Mark::Deploy, Mark::Publish])),
    (&["network", "internet", "online", "fetch", "download", "browse", "web", "curl", "upload"], |effect| {
        effect.operation == Operation::Network && !effect.marks.has(Mark::Loopback)
    }),
    (&["send", "post", "comment", "email", "mail", "message", "open", "create", "close"], |effect| {
        effect.marks.has_any(&[Mark::ExternalMessage, Mark::ExternalWrite, Mark::Upload, Mark::Creates])
    }),
    (&["run", "execute", "start", "launch", "use", "call"], |effect| {
        effect.operation != Operation::Read || !effect.by.is_empty()
    }),
    (&["sudo", "root"], |effect| effect.marks.has(Mark::Privileged)),
    (&["kill", "restart", "terminate"], |effect| {
        effect.marks.has_any(&[Mark::ProcessSignal, Mark::ServiceChange, Mark::Shutdown])
    }),
    (&["read", "look", "view", "print", "access", "show"], |_| true),
    (
        &[
            "touch",
            "change",
            "modify",
            "modifie",
            "edit",
            "write",
            "alter",
            "update",
            "overwrite",
            "rename",
            "move",
            "mess",
            "refactor",
            "format",
            "add",
            "rewrite",
        ],
        changes,
    ),
];

/// What a verb in any of its forms speaks of.
fn verb(word: &str) -> Option<Deed> {
    let forms = bases(word);
    VERBS
        .iter()
        .find(|(names, _)| names.iter().any(|name| forms.iter().any(|form| form == name)))
        .map(|(_, deed)| *deed)
}

/// `pushing`, `pushed`, `pushes` → push; `committing` → commit; `deleting` → delete.
fn bases(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    for ending in ["ing", "ed", "es", "s", "d", "ten"] {
        let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 2) else { continue };
        forms.push(stem.to_owned());
        forms.push(format!("{stem}e"));
        let mut letters = stem.chars().rev();
        if let (Some(last), Some(other)) = (letters.next(), letters.next())
            && last == other
        {
            forms.push(stem.get(..stem.len() - last.len_utf8()).unwrap_or(stem).to_owned());
        }
    }
    forms
}

/// It is more than looking at a file.
fn changes(effect: &Effect) -> bool {
    match (&effect.operation, &effect.target) {
        (Operation::Read, Target::Path(_)) => false,
        (Operation::Read, Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown) => true,
        (Operation::Write | Operation::Delete | Operation::Mutate | Operation::Network | Operation::Execute, _) => true,
    }
}

/// Nothing in particular is named, or one of the named things is hit or cannot be ruled out.
fn hits(things: &[String], effect: &Effect, subject: &Subject<'_>) -> bool {
    let vague = |effect: &Effect| {
        effect.target == Target::Unknown
            || (effect.operation == Operation::Delete
                && effect.marks.has_any(&[Mark::Recursive, Mark::Wildcard, Mark::CountUnknown]))
    };
    things.is_empty() || vague(effect) || things.iter().any(|thing| is_about(thing, effect, subject))
}

fn is_about(thing: &str, effect: &Effect, subject: &Subject<'_>) -> bool {
    let by_mark = match thing {
        "database" | "databases" | "db" | "sql" | "schema" | "table" | "tables" => effect.marks.has(Mark::Database),
        "main" | "master" | "trunk" | "default" => effect.marks.has(Mark::DefaultBranch),
        "remote" | "origin" | "github" | "upstream" | "gitlab" => {
            effect.marks.has_any(&[Mark::Push, Mark::GitRemoteChange, Mark::ExternalWrite])
        }
        "cloud" | "aws" | "gcp" | "azure" => effect.marks.has(Mark::Cloud),
        "internet" | "network" | "web" => effect.operation == Operation::Network && !effect.marks.has(Mark::Loopback),
        "tests" | "test" => effect.marks.has(Mark::Test),
        "ci" | "workflow" | "workflows" | "pipeline" => effect.marks.has(Mark::Ci),
        "manifest" | "manifests" | "dependencies" => {
            effect.marks.has_any(&[Mark::Manifest, Mark::Lockfile, Mark::InstallChosen])
        }
        "git" | "history" => {
            effect.marks.has_any(&[Mark::Commit, Mark::HistoryRewrite, Mark::GitInternals, Mark::Push])
        }
        "sudo" | "root" => effect.marks.has(Mark::Privileged),
        "secrets" | "credentials" | "keys" | "env" => {
            effect.marks.has_any(&[Mark::DotEnv, Mark::CredentialStore, Mark::SshMaterial])
        }
        "branch" | "branches" | "commits" | "changes" | "packages" | "anything" | "everything" | "nothing" => true,
        _ => false,
    };
    by_mark || is_named(thing, effect, subject)
}

/// The thing's name is a part of the target, of the program, or of a command that causes the effect.
fn is_named(thing: &str, effect: &Effect, subject: &Subject<'_>) -> bool {
    let stem = |text: &str| text.strip_suffix('s').filter(|stem| stem.len() >= 3).unwrap_or(text).to_owned();
    let wanted = match thing {
        "production" => "prod".to_owned(),
        thing => stem(thing),
    };
    let same = |piece: &str| {
        let piece = piece.to_lowercase();
        stem(&piece) == wanted
            || (wanted.len() >= 4 && piece.starts_with(&wanted))
            || (wanted == "prod" && piece.starts_with("prod"))
    };
    let speaks = |text: &str| {
        text.to_lowercase() == thing
            || text.split(|letter: char| !letter.is_alphanumeric()).any(same)
            || text.to_lowercase().split_whitespace().any(|word| word == thing || word.ends_with(&format!("/{thing}")))
    };
    let shown = match (&effect.target, subject.project) {
        (Target::Path(path), Some(project)) => path.strip_prefix(project).unwrap_or(path),
        (target, _) => target.shown(),
    };
    let program = effect.by.split(' ').next().unwrap_or_default();
    let causes = |command: &&String| !program.is_empty() && command.starts_with(program);
    speaks(shown) || speaks(&effect.by) || subject.commands.iter().filter(causes).any(|command| speaks(command))
}
