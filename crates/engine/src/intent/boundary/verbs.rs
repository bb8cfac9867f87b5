//! What a verb in the user's words speaks of, in limits and in orders.

/// What is done, as far as words distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::intent) enum Kind {
    Push,
    /// Commits and other changes of history.
    Commit,
    Delete,
    Install,
    Deploy,
    Network,
    /// Something other people see: issues, comments, mail.
    Send,
    Run,
    Privilege,
    Kill,
    Look,
    Change,
    /// A change to anything but what is named.
    Else,
}

/// The verbs that limits are about, in their base form, and what they speak of.
// Base forms only: the words are reduced before they are compared. A verb stands here if its effect can be recognised
// from marks, so that a limit is never just words.
const VERBS: &[(&[&str], Kind)] = &[
    (&["push"], Kind::Push),
    (&["commit", "stash", "tag", "merge", "rebase", "amend", "squash", "reset", "force-push"], Kind::Commit),
    (&["delete", "deletion", "remove", "rm", "erase", "wipe", "drop", "destroy", "truncate"], Kind::Delete),
    (&["install", "dependency", "dependencie", "package", "upgrade"], Kind::Install),
    (&["deploy", "deployment", "publish", "release"], Kind::Deploy),
    (&["network", "internet", "online", "fetch", "download", "browse", "web", "curl", "upload"], Kind::Network),
    (&["send", "post", "comment", "email", "mail", "message", "open", "create", "close"], Kind::Send),
    (&["run", "execute", "start", "launch", "use", "call"], Kind::Run),
    (&["sudo", "root"], Kind::Privilege),
    (&["kill", "restart", "terminate"], Kind::Kill),
    (&["read", "look", "view", "print", "access", "show"], Kind::Look),
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
        Kind::Change,
    ),
];

/// Verbs that order a change of files although no limit uses them.
// Orders are read in their base form only: `added` reports. `make` and `do` are missing, since they say nothing.
const CHANGES: &[&str] = &[
    "fix",
    "implement",
    "support",
    "extend",
    "improve",
    "replace",
    "apply",
    "bump",
    "create",
    "convert",
    "simplify",
    "adjust",
    "correct",
    "mend",
    "insert",
    "introduce",
    "extract",
    "inline",
    "handle",
    "port",
    "migrate",
    "clean",
    "tidy",
    "remove",
    "delete",
    "upgrade",
];

/// Other verbs that begin an order.
// What follows *and* is an order only behind an order: `it has to merge and push` tells what something else does.
const OPENERS: &[&str] = &[
    "check",
    "verify",
    "review",
    "lint",
    "make",
    "do",
    "finish",
    "continue",
    "set",
    "try",
    "find",
    "go",
    "have",
    "split",
    "reply",
    "assign",
    "reopen",
    "resolve",
    "mark",
    "file",
    "raise",
    "submit",
    "visit",
    "compile",
    "debug",
    "rerun",
    "retry",
    "sort",
    "use",
    "pin",
    "request",
    "address",
    "keep",
    "work",
    "investigate",
    "pr",
];

/// Orders that end a limit on another kind as well.
// To publish a branch is to push it; whoever opens a request for it sends it out.
const ALSO: &[(&str, Kind)] = &[
    ("publish", Kind::Push),
    ("add", Kind::Install),
    ("bump", Kind::Install),
    ("ask", Kind::Send),
    ("reply", Kind::Send),
    ("answer", Kind::Send),
    ("merge", Kind::Send),
    ("get", Kind::Network),
    ("test", Kind::Run),
    ("build", Kind::Run),
];

/// What a verb in any of its forms speaks of.
pub(in crate::intent) fn kind(word: &str) -> Option<Kind> {
    let forms = bases(word);
    VERBS
        .iter()
        .find(|(names, _)| names.iter().any(|name| forms.iter().any(|form| form == name)))
        .map(|(_, kind)| *kind)
}

/// What an order with this verb asks for.
pub(in crate::intent) fn ordered(verb: &str, kind: Kind) -> bool {
    VERBS.iter().any(|(names, of)| *of == kind && names.contains(&verb))
        || (matches!(kind, Kind::Change | Kind::Else) && is_change(verb))
        || ALSO.contains(&(verb, kind))
}

/// It can order something, in its base form.
pub(in crate::intent) fn is_verb(word: &str) -> bool {
    is_change(word)
        || OPENERS.contains(&word)
        || VERBS.iter().any(|(names, _)| names.contains(&word))
        || ALSO.iter().any(|(verb, _)| *verb == word)
}

/// The verb orders a change of files.
fn is_change(verb: &str) -> bool {
    CHANGES.contains(&verb) || VERBS.iter().any(|(names, of)| *of == Kind::Change && names.contains(&verb))
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
