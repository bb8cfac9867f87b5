//! Whether an order names an effect: the verb its operation, and all other words its target.
//!
//! Every word of the order must be understood and must fit: an order that says more than the effect does, or an effect that
//! does more than the order says, is no match.

use doorward_vocabulary::{Mark, Marks, Operation, Reversibility, Scope, Sensitivity};

use super::Subject;
use super::prose::Word;
use crate::effect::{Effect, Target};
use crate::knowledge::{self, schema::Facet};

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

/// What a thing is, where its name says which.
// `the file notes.txt`: the noun repeats what the name already says.
const KINDS: &[&str] = &["file", "files", "folder", "folders", "directory", "directories", "dir", "under", "inside"];

/// The order names operation and target of the effect.
pub(super) fn is_ordered(order: &[Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let Some((verb, rest)) = order.split_first() else { return false };
    let rest: Vec<&Word> =
        rest.iter().filter(|word| word.is_quoted || !FILLERS.contains(&word.text.as_str())).collect();
    if rest.is_empty() || effect.sensitivity != Sensitivity::None {
        return false;
    }
    let verb = verb.text.as_str();
    push(verb, &rest, effect, subject)
        || install(verb, &rest, effect, subject)
        || delete(verb, &rest, effect, subject)
        || change(verb, &rest, effect, subject)
        || fetch(verb, &rest, effect)
        || forge(verb, &rest, effect, subject)
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

/// `push this branch`, `push the commits to origin`, `push main`.
fn push(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Flags of `git push` that change neither what is sent nor where. `--force` and `--no-verify` need an order of
    // their own.
    const QUIET: &[&str] = &["-u", "--set-upstream", "-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress"];
    let fits = verb == "push"
        && effect.marks.has(Mark::Push)
        && effect.marks.has(Mark::OwnRemote)
        && only(effect, &[Mark::Push, Mark::OwnRemote, Mark::DefaultBranch]);
    let Some(tails) = arguments(effect, subject).filter(|_| fits && effect.by == "git push") else { return false };
    tails.iter().all(|tail| {
        let (flags, names): (Vec<&str>, Vec<&str>) = tail.iter().partition(|word| word.starts_with('-'));
        let branch = subject.branch.as_deref();
        match names.as_slice() {
            _ if !flags.iter().all(|flag| QUIET.contains(flag)) => false,
            [] => names_push(words, None, branch, effect),
            [remote] => names_push(words, Some(remote), branch, effect),
            [remote, "HEAD"] => names_push(words, Some(remote), branch, effect),
            [remote, pushed] if !pushed.contains([':', '+', '*']) => {
                let is_named = words.iter().any(|word| word.text == pushed.to_lowercase());
                (is_named || branch == Some(pushed)) && names_push(words, Some(remote), Some(pushed), effect)
            }
            _ => false,
        }
    })
}

fn names_push(words: &[&Word], remote: Option<&str>, branch: Option<&str>, effect: &Effect) -> bool {
    // What a push sends, in everyday words.
    const NOUNS: &[&str] = &["branch", "commit", "commits", "change", "changes", "work"];
    // Where it goes. Another name must be a remote of this repository.
    const REMOTES: &[&str] = &["remote", "origin", "upstream", "github", "gitlab"];
    // Adjectives that still mean the current branch.
    const WHICH: &[&str] = &["current", "feature", "latest", "local", "last"];
    let is_branch = |word: &&Word| branch.is_some_and(|branch| word.text == branch.to_lowercase());
    let is_remote = |word: &&Word| match (word.text.as_str(), remote) {
        (name @ ("origin" | "upstream"), Some(remote)) => name == remote,
        (name, Some(remote)) => REMOTES.contains(&name) || name == remote.to_lowercase(),
        (name, None) => REMOTES.contains(&name),
    };
    let is_understood = |word: &&Word| {
        is_branch(word) || is_remote(word) || NOUNS.contains(&word.text.as_str()) || WHICH.contains(&word.text.as_str())
    };
    // Another remote than the usual one is meant only if it is said.
    let says_remote =
        remote.is_none_or(|remote| remote == "origin" || words.iter().any(|word| word.text == remote.to_lowercase()));
    let names_target = words.iter().any(|word| is_branch(word) || is_remote(word)) || says(words, NOUNS);
    // Whoever means the branch that everybody builds from says so.
    let is_meant = !effect.marks.has(Mark::DefaultBranch) || words.iter().any(is_branch);
    words.iter().all(is_understood) && says_remote && names_target && is_meant
}

/// `add lodash`, `install the crate serde`: every package that is installed is named, and nothing else.
fn install(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Words around the name of a package; the name itself has to be the one in the command.
    const AROUND: &[&str] = &[
        "package",
        "packages",
        "dependency",
        "dependencies",
        "library",
        "libraries",
        "crate",
        "crates",
        "module",
        "dev",
        "npm",
        "pip",
        "cargo",
        "yarn",
        "pnpm",
        "bun",
        "uv",
        "using",
        "via",
        "project",
    ];
    // Where the dependency is recorded. `-g` installs for the whole machine, which "add lodash" does not ask for.
    const FLAGS: &[&str] = &["-D", "-S", "-E", "--save", "--save-dev", "--save-exact", "--dev"];
    let allowed =
        [Mark::InstallChosen, Mark::Registry, Mark::Lockfile, Mark::Manifest, Mark::ListedHost, Mark::Creates];
    let is_install = effect.marks.has(Mark::InstallChosen) || installs_beside(effect, subject);
    if !matches!(verb, "add" | "install") || !is_install || !only(effect, &allowed) {
        return false;
    }
    let Some(tails) = arguments(effect, subject) else { return false };
    tails.iter().all(|tail| {
        let (flags, packages): (Vec<&str>, Vec<&str>) = tail.iter().partition(|word| word.starts_with('-'));
        let is_named = |package: &&str| words.iter().any(|word| is_package(&word.text, &package.to_lowercase()));
        let is_understood = |word: &&&Word| {
            AROUND.contains(&word.text.as_str())
                || packages.iter().any(|package| is_package(&word.text, &package.to_lowercase()))
        };
        flags.iter().all(|flag| FLAGS.contains(flag))
            && !packages.is_empty()
            && packages.iter().all(is_named)
            && words.iter().all(|word| is_understood(&word))
    })
}

/// The registry that an install asks, and nothing but a registry.
fn installs_beside(effect: &Effect, subject: &Subject<'_>) -> bool {
    let installs = |other: &Effect| other.marks.has(Mark::InstallChosen) && other.part == effect.part;
    effect.operation == Operation::Network
        && effect.reversibility == Reversibility::NothingChanges
        && effect.marks.has(Mark::Registry)
        && subject.effects.iter().any(|other| installs(other) && other.by == effect.by)
}

/// `lodash` names `lodash` and `lodash@4.17`; a URL, a path or a repository is named by nothing.
fn is_package(word: &str, package: &str) -> bool {
    let body = package.strip_prefix('@').unwrap_or(package);
    let is_plain = !package.contains([':', '\\', '=', '[', '~', '#'])
        && !package.starts_with(['.', '/'])
        && body.matches('/').count() == usize::from(package.starts_with('@'));
    let name = match body.split_once('@') {
        Some((name, _)) => package.get(..package.len() - body.len() + name.len()).unwrap_or(package),
        None => package,
    };
    is_plain && (word == package || word == name)
}

/// `delete the old fixtures`: each word is a part of the path, in full or but for a plural.
fn delete(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    let allowed = [
        Mark::Recursive,
        Mark::CountUnknown,
        Mark::Force,
        Mark::Manifest,
        Mark::Lockfile,
        Mark::Ci,
        Mark::Container,
        Mark::Infrastructure,
        Mark::SessionFile,
    ];
    if !matches!(verb, "delete" | "remove" | "rm" | "erase") || effect.operation != Operation::Delete {
        return false;
    }
    let Some(inner) = inside(effect, subject).filter(|_| only(effect, &allowed)) else { return false };
    let pieces = pieces(&inner);
    let is_part = |word: &&&Word| {
        let text = word.text.trim_matches('/').trim_start_matches("./");
        inner == text || under(&inner, text) || pieces.iter().any(|piece| is_same_noun(piece, text))
    };
    let is_kind = |word: &&&Word| !word.is_quoted && KINDS.contains(&word.text.as_str());
    words.iter().all(|word| is_part(&word) || is_kind(&word)) && words.iter().any(|word| is_part(&word))
}

/// `update Cargo.toml`, `bump the version in package.json`: the one file is named in full.
fn change(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Verbs that ask for a change to a file. `fix` and `refactor` are missing: they do not say which file.
    const VERBS: &[&str] =
        &["edit", "change", "update", "modify", "rewrite", "create", "write", "bump", "adjust", "extend", "overwrite"];
    let allowed = [
        Mark::Manifest,
        Mark::Lockfile,
        Mark::Ci,
        Mark::Container,
        Mark::Infrastructure,
        Mark::InstructionFile,
        Mark::Creates,
        Mark::Truncates,
        Mark::Unseen,
        Mark::SessionFile,
    ];
    if !VERBS.contains(&verb) || effect.operation != Operation::Write || !only(effect, &allowed) {
        return false;
    }
    let Some(inner) = inside(effect, subject) else { return false };
    let looks_like_file = |word: &&&Word| word.is_quoted || word.text.contains(['.', '/']);
    let mut files = words.iter().filter(looks_like_file);
    let (Some(file), None) = (files.next(), files.next()) else { return false };
    let text = file.text.trim_start_matches("./");
    inner == text || inner.rsplit('/').next() == Some(text)
}

/// `fetch https://site.org/page`, `download data.site.org/x`: the host is named in full.
fn fetch(verb: &str, words: &[&Word], effect: &Effect) -> bool {
    // Verbs that ask for a page. `call` and `post` are missing, because they may send something.
    const VERBS: &[&str] = &["fetch", "get", "download", "open", "read", "visit", "curl", "browse"];
    let Target::Host(host) = &effect.target else { return false };
    let fits = VERBS.contains(&verb)
        && effect.operation == Operation::Network
        && effect.reversibility == Reversibility::NothingChanges
        && only(effect, &[Mark::UnlistedHost]);
    let host_of = |word: &Word| {
        let address = word.text.strip_prefix("https://").unwrap_or(&word.text);
        address.split(['/', '?', '#', ':']).next().unwrap_or_default().to_owned()
    };
    let is_page = |word: &&&Word| !word.is_quoted && matches!(word.text.as_str(), "page" | "site" | "url" | "link");
    let named: Vec<String> = words.iter().filter(|word| !is_page(word)).map(|word| host_of(word)).collect();
    fits && !named.is_empty() && named.iter().all(|name| *name == host.to_lowercase())
}

/// `open a pull request`, `close issue 12`, `merge pr 7`: kind, deed and number as in the command.
fn forge(verb: &str, words: &[&Word], effect: &Effect, subject: &Subject<'_>) -> bool {
    // Words for what is opened; the number or title comes from the command.
    const AROUND: &[&str] = &["pull", "request", "pr", "issue", "draft", "ticket"];
    // Flags that act on another repository, with more rights, or with text that the user has not seen.
    const ELSEWHERE: &[&str] = &["--repo", "--admin", "--body-file", "--template", "--recover"];
    let mut name = effect.by.split(' ');
    let (Some(program), Some(kind), Some(deed), None) = (name.next(), name.next(), name.next(), name.next()) else {
        return false;
    };
    let nouns: &[&str] = match kind {
        "pr" => &["pr", "request"],
        "issue" => &["issue", "ticket"],
        _ => return false,
    };
    let verbs: &[&str] = match deed {
        "create" => &["create", "open", "file", "raise", "submit", "make"],
        "close" => &["close"],
        "reopen" => &["reopen"],
        "comment" => &["comment"],
        "merge" => &["merge"],
        "ready" => &["mark"],
        _ => return false,
    };
    let fits = verbs.contains(&verb)
        && says(words, nouns)
        && knowledge::built_in().facets(program).has(Facet::ForgeClient)
        && only(effect, &[Mark::ExternalWrite, Mark::ExternalMessage, Mark::ListedHost]);
    let Some(tails) = arguments(effect, subject).filter(|_| fits) else { return false };
    let numbers: Vec<&str> = words.iter().filter_map(|word| number(&word.text)).collect();
    let is_understood = |word: &&&Word| AROUND.contains(&word.text.as_str()) || number(&word.text).is_some();
    let is_here = |tail: &Vec<&str>| {
        let leads_away = |word: &&str| {
            word.starts_with("-R") || word.starts_with("-F") || ELSEWHERE.iter().any(|flag| word.starts_with(flag))
        };
        let which: Vec<&str> = tail.first().copied().filter(|_| deed != "create").into_iter().collect();
        !tail.iter().any(leads_away) && which == numbers
    };
    words.iter().all(|word| is_understood(&word)) && tails.iter().all(is_here)
}

fn number(word: &str) -> Option<&str> {
    let digits = word.strip_prefix('#').unwrap_or(word);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// The target's path inside the project, in lower case.
fn inside(effect: &Effect, subject: &Subject<'_>) -> Option<String> {
    let (Target::Path(path), Some(project)) = (&effect.target, subject.project) else { return None };
    let in_project = matches!(effect.scope, Scope::File | Scope::Directory);
    let inner = path.strip_prefix(project)?.strip_prefix('/').filter(|inner| in_project && !inner.is_empty())?;
    Some(inner.to_lowercase())
}

fn under(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// `tests/fixtures/old-user.json` → tests, fixtures, old-user.json, old, user, json.
fn pieces(path: &str) -> Vec<&str> {
    let mut pieces: Vec<&str> = path.split('/').collect();
    pieces.extend(path.split(['/', '-', '_', '.', ' ']).filter(|piece| !piece.is_empty()));
    pieces
}

fn is_same_noun(piece: &str, word: &str) -> bool {
    let stem = |text: &str| text.strip_suffix('s').filter(|stem| stem.len() >= 3).unwrap_or(text).to_owned();
    piece == word || stem(piece) == stem(word)
}
