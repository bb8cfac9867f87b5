//! Whether an effect is what a limit is about.

use doorward_vocabulary::{Mark, Operation, Reversibility, Scope};

use super::{Kind, Limit, names_file};
use crate::effect::{Effect, Target};
use crate::intent::Subject;
use crate::intent::prose::Word;
use crate::world::Tracking;

/// Nouns that stand for everything the project consists of.
// `don't change the code` means all sources, whatever they are called. Prose is told apart by its ending.
const CODE: &[&str] =
    &["code", "codebase", "source", "sources", "implementation", "repo", "repository", "project", "src"];

/// Nouns that stand for anything at all.
const ALL: &[&str] = &["branch", "branches", "commits", "changes", "packages", "anything", "everything", "nothing"];

/// Endings of files that hold prose and no code.
const PROSE: &[&str] = &[".md", ".txt", ".rst", ".adoc"];

/// The effect does what the limit rules out, to something that it names.
pub(in crate::intent) fn crosses(limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    match limit.kind {
        Some(Kind::Change) => changes_named(limit, effect, subject),
        Some(Kind::Else) => changes_else(limit, effect, subject),
        None => changes_named(limit, effect, subject),
        Some(kind) => does(kind, effect) && hits(&limit.things, effect, subject),
    }
}

/// Whether the effect is one that a verb of this kind speaks of.
pub(super) fn does(kind: Kind, effect: &Effect) -> bool {
    let has = |marks: &[Mark]| effect.marks.has_any(marks);
    match kind {
        Kind::Push => has(&[Mark::Push]),
        Kind::Commit => has(&[Mark::Commit, Mark::HistoryRewrite, Mark::DiscardsWork]),
        Kind::Delete => effect.operation == Operation::Delete || has(&[Mark::Destroys, Mark::DiscardsWork]),
        Kind::Install => has(&[Mark::InstallChosen, Mark::InstallDeclared, Mark::SystemPackages, Mark::RemoteCode]),
        Kind::Deploy => has(&[Mark::Deploy, Mark::Publish]),
        Kind::Network => effect.operation == Operation::Network && !effect.marks.has(Mark::Loopback),
        Kind::Send => has(&[Mark::ExternalMessage, Mark::ExternalWrite, Mark::Upload, Mark::Creates]),
        Kind::Run => effect.operation != Operation::Read || !effect.by.is_empty(),
        Kind::Privilege => has(&[Mark::Privileged]),
        Kind::Kill => has(&[Mark::ProcessSignal, Mark::ServiceChange, Mark::Shutdown]),
        Kind::Look => true,
        Kind::Change | Kind::Else => changes(effect),
    }
}

/// It is more than looking at a file.
fn changes(effect: &Effect) -> bool {
    match (&effect.operation, &effect.target) {
        (Operation::Read, Target::Path(_)) => false,
        (Operation::Read, Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown) => true,
        (Operation::Write | Operation::Delete | Operation::Mutate | Operation::Network | Operation::Execute, _) => true,
    }
}

/// A limit on changing: files that are named, the code as a whole, or everything.
fn changes_named(limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    if !changes(effect) || is_scratch(effect) && !is_placed(limit, effect, subject) {
        return false;
    }
    let is_code = |thing: &String| CODE.contains(&thing.as_str());
    // `npm run test:prod` is a test, and still something with prod.
    let names_it = |thing: &String| {
        !is_code(thing) && !matches!(thing.as_str(), "test" | "tests") && is_named(thing, effect, subject)
    };
    if effect.operation == Operation::Execute && is_harmless_run(effect, subject) && !limit.things.iter().any(names_it)
    {
        return false;
    }
    if limit.things.is_empty() {
        return if limit.is_broad { is_felt(effect) } else { changes_code(effect, subject) };
    }
    limit.things.iter().any(|thing| match thing {
        thing if is_code(thing) => changes_code(effect, subject),
        thing => changes_thing(thing, effect, subject),
    })
}

/// It changes something somewhere: not a look at a server, and not at this machine's own.
fn is_felt(effect: &Effect) -> bool {
    let asks_only = effect.reversibility == Reversibility::NothingChanges
        && matches!(effect.operation, Operation::Network | Operation::Read);
    let is_loopback = effect.marks.has(Mark::Loopback) && !effect.marks.has(Mark::Upload);
    !(asks_only || is_loopback) || effect.marks.has(Mark::Listens)
}

/// It changes, deletes or commits what the project consists of, or could.
fn changes_code(effect: &Effect, subject: &Subject<'_>) -> bool {
    // What a commit or another change of history takes along cannot be told apart from code.
    const HISTORY: &[Mark] = &[
        Mark::Commit,
        Mark::HistoryRewrite,
        Mark::DiscardsWork,
        Mark::GitInternals,
        Mark::InstallChosen,
        Mark::Manifest,
        Mark::Listens,
    ];
    match (&effect.operation, &effect.target) {
        (Operation::Write | Operation::Delete, Target::Path(path)) => {
            is_inside(path, subject) && !is_prose(path) && effect.reversibility != Reversibility::Rebuildable
        }
        (Operation::Write | Operation::Delete, _) => effect.reversibility != Reversibility::Rebuildable,
        (Operation::Mutate | Operation::Network, _) => effect.marks.has_any(HISTORY),
        (Operation::Execute, _) => true,
        (Operation::Read, _) => false,
    }
}

/// It changes something that this noun may stand for.
fn changes_thing(thing: &str, effect: &Effect, subject: &Subject<'_>) -> bool {
    match (&effect.operation, &effect.target) {
        (Operation::Write | Operation::Delete, Target::Path(path)) => {
            may_take(thing, effect, subject)
                || holds(path, thing, subject)
                || by_mark(thing, effect)
                || speaks(inner(path, subject), thing)
        }
        // A formatter over everything, or something that cannot be told.
        (Operation::Write | Operation::Delete, _) => true,
        (Operation::Mutate, _) if effect.marks.has(Mark::Commit) => by_mark(thing, effect),
        (Operation::Execute, _) if effect.marks.has_any(RECIPES) && writes_sources(effect, subject) => true,
        _ => is_about(thing, effect, subject),
    }
}

/// Everything in the project but the named files.
fn changes_else(limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    let Target::Path(path) = &effect.target else {
        return matches!(effect.operation, Operation::Write | Operation::Delete);
    };
    let is_change = matches!(effect.operation, Operation::Write | Operation::Delete);
    let is_meant = |thing: &String| names_path(thing, path, subject);
    is_change && !is_scratch(effect) && is_inside(path, subject) && !limit.things.iter().any(is_meant)
}

/// The word names this file, in full or by the end of its path, or the directory that it lies in.
pub(super) fn names_path(word: &str, path: &str, subject: &Subject<'_>) -> bool {
    let word = word.trim_start_matches("./").trim_end_matches('/');
    let inner = inner(path, subject).trim_start_matches('/').to_lowercase();
    let stem = inner.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    inner == word
        || inner.ends_with(&format!("/{word}"))
        || inner.starts_with(&format!("{word}/"))
        || (!word.contains(['.', '/']) && stem == word)
}

/// It stays in the agent's own places, or a build makes it again.
fn is_scratch(effect: &Effect) -> bool {
    effect.scope == Scope::Scratch
        || (matches!(effect.operation, Operation::Write | Operation::Delete)
            && (effect.marks.has(Mark::Temp) || effect.reversibility == Reversibility::Rebuildable))
}

/// The limit names a place, and the effect is about it or what holds it: that is meant, whatever kind of place it is.
fn is_placed(limit: &Limit, effect: &Effect, subject: &Subject<'_>) -> bool {
    let Target::Path(path) = &effect.target else { return false };
    let places = || limit.things.iter().filter(|thing| thing.contains('/'));
    places().any(|thing| names_path(thing, path, subject) || holds(path, thing, subject))
}

/// The marks of recipes: tests, builds and checks, and the project's own scripts.
const RECIPES: &[Mark] = &[Mark::Test, Mark::Build, Mark::Lint, Mark::RunsProject];

/// Runs the project's tests, build or checks, none of which writes sources.
fn is_harmless_run(effect: &Effect, subject: &Subject<'_>) -> bool {
    let is_known = effect.marks.has_any(&[Mark::Test, Mark::Build, Mark::Lint])
        || (effect.marks.has(Mark::RunsProject) && is_check(effect, subject));
    is_known && !effect.marks.has(Mark::Listens) && !writes_sources(effect, subject)
}

/// The words of the commands of the program that causes the effect, behind its name.
fn recipe_words<'a>(effect: &Effect, subject: &Subject<'a>) -> Vec<&'a str> {
    let program = effect.by.split(' ').next().unwrap_or_default();
    let is_same = |command: &&String| !program.is_empty() && command.split(' ').any(|word| word == program);
    let same: Vec<&String> = subject.commands.iter().filter(is_same).collect();
    let all = if same.is_empty() { subject.commands.iter().collect() } else { same };
    all.into_iter().flat_map(|command| command.split_ascii_whitespace().skip(1)).collect()
}

/// The recipe has the name of a check or a build.
fn is_check(effect: &Effect, subject: &Subject<'_>) -> bool {
    // The names that projects give to recipes that only look or build. `dev`, `start` and `serve` open a port.
    const CHECKS: &[&str] = &[
        "build",
        "test",
        "tests",
        "check",
        "checks",
        "lint",
        "typecheck",
        "tsc",
        "types",
        "compile",
        "verify",
        "ci",
        "bench",
        "coverage",
        "spec",
        "e2e",
        "unit",
        "integration",
        "vet",
        "audit",
        "all",
        "clean",
        "type",
        // What runners of recipes offer to show of a project.
        "dependencies",
        "dependency",
        "tasks",
        "projects",
        "properties",
        "outdated",
        "info",
        "list",
        "help",
    ];
    let words = recipe_words(effect, subject);
    let mut names = words.iter().filter(|word| !word.starts_with('-') && !matches!(**word, "run" | "exec"));
    match names.next() {
        Some(name) => {
            let first = name.split([':', '-', '_']).next().unwrap_or_default();
            CHECKS.contains(&first)
        }
        None => effect.by == "make" || effect.by == "just",
    }
}

/// A word of the call says that sources are written: `lint:fix`, `--update-snapshots`, `UPDATE=1`.
fn writes_sources(effect: &Effect, subject: &Subject<'_>) -> bool {
    // Words that recipes, flags and variables of all tool chains use for writing what is kept in git.
    const WRITES: &[&str] = &[
        "fmt",
        "format",
        "generate",
        "gen",
        "codegen",
        "fix",
        "update",
        "updatesnapshot",
        "write",
        "snapshot",
        "snapshots",
        "bless",
        "migrate",
        "autofix",
        "apply",
        "regen",
        "regenerate",
        "sync",
        "scaffold",
        "release",
        "version",
        "bump",
        "accept",
        "inplace",
        "place",
        "overwrite",
        "record",
        "golden",
        "approve",
        "rewrite",
        "tidy",
    ];
    // Short flags that do the same in test runners, formatters and stream editors.
    const SHORT: &[&str] = &["-u", "-w", "-i", "-A"];
    let writes = |word: &str| {
        let pieces = || word.split([':', '-', '_', '=', '.']).map(str::to_ascii_lowercase);
        let only_checks = || pieces().any(|piece| piece == "check" || piece == "dry");
        SHORT.contains(&word) || pieces().any(|piece| WRITES.contains(&piece.as_str())) && !only_checks()
    };
    let is_name = |word: &&str| !word.contains('/');
    let assigned = |word: &str| {
        let name = word.split_once('=').map(|(name, _)| name).filter(|name| !name.is_empty());
        name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') && writes(name))
    };
    recipe_words(effect, subject).into_iter().filter(is_name).any(writes)
        || subject.text.is_some_and(|text| text.split_ascii_whitespace().any(assigned))
}

/// A deletion of which the files are not known takes the thing along, or may.
fn may_take(thing: &str, effect: &Effect, subject: &Subject<'_>) -> bool {
    let takes_tree = effect.operation == Operation::Delete
        && effect.marks.has_any(&[Mark::Recursive, Mark::Wildcard, Mark::CountUnknown]);
    match &effect.target {
        Target::Unknown => true,
        Target::Path(path) if takes_tree => may_hold(path, thing, subject),
        Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Resource(_) => takes_tree,
    }
}

/// Something that the noun means may lie in this directory.
fn may_hold(directory: &str, thing: &str, subject: &Subject<'_>) -> bool {
    // What git ignores is output, or belongs to tools: whoever names a thing without a place means one of the project.
    if matches!(subject.world.tracking(directory), Tracking::Ignored | Tracking::Rebuildable) && !thing.contains('/') {
        return false;
    }
    let below = subject.world.below(directory).filter(|_| subject.world.lists_everything());
    let word = Word { text: thing.to_owned(), is_quoted: false };
    match below {
        // A file has one name; other nouns may stand for anything there.
        Some(below) if names_file(&word) => below.iter().any(|(path, _)| names_path(thing, path, subject)),
        Some(_) | None => true,
    }
}

/// Nothing in particular is named, or one of the named things is hit or cannot be ruled out.
fn hits(things: &[String], effect: &Effect, subject: &Subject<'_>) -> bool {
    let is_hit = |thing: &String| may_take(thing, effect, subject) || is_about(thing, effect, subject);
    things.is_empty() || things.iter().any(is_hit)
}

/// The noun may stand for what the effect acts on or by.
pub(super) fn is_about(thing: &str, effect: &Effect, subject: &Subject<'_>) -> bool {
    let is_test = matches!(thing, "tests" | "test") && effect.marks.has(Mark::Test);
    let is_code = CODE.contains(&thing) && changes_code(effect, subject);
    is_test || is_code || ALL.contains(&thing) || by_mark(thing, effect) || is_named(thing, effect, subject)
}

/// The noun is the everyday name of a mark.
fn by_mark(thing: &str, effect: &Effect) -> bool {
    let has = |marks: &[Mark]| effect.marks.has_any(marks);
    match thing {
        "database" | "databases" | "db" | "sql" | "schema" | "table" | "tables" => has(&[Mark::Database]),
        "main" | "master" | "trunk" | "default" => has(&[Mark::DefaultBranch]),
        "remote" | "origin" | "github" | "upstream" | "gitlab" => {
            has(&[Mark::Push, Mark::GitRemoteChange, Mark::ExternalWrite])
        }
        "cloud" | "aws" | "gcp" | "azure" => has(&[Mark::Cloud]),
        "internet" | "network" | "web" => effect.operation == Operation::Network && !has(&[Mark::Loopback]),
        "ci" | "workflow" | "workflows" | "pipeline" => has(&[Mark::Ci]),
        "manifest" | "manifests" | "dependencies" => has(&[Mark::Manifest, Mark::Lockfile, Mark::InstallChosen]),
        "git" | "history" => has(&[Mark::Commit, Mark::HistoryRewrite, Mark::GitInternals, Mark::Push]),
        "sudo" | "root" => has(&[Mark::Privileged]),
        "secrets" | "credentials" | "keys" | "env" => has(&[Mark::DotEnv, Mark::CredentialStore, Mark::SshMaterial]),
        _ => ALL.contains(&thing),
    }
}

/// The thing's name is a part of the target, of the program, or of a command that causes the effect.
fn is_named(thing: &str, effect: &Effect, subject: &Subject<'_>) -> bool {
    let shown = match &effect.target {
        Target::Path(path) => inner(path, subject),
        target @ (Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown) => target.shown(),
    };
    let program = effect.by.split(' ').next().unwrap_or_default();
    let causes = |command: &&String| !program.is_empty() && command.starts_with(program);
    speaks(shown, thing)
        || speaks(&effect.by, thing)
        || subject.commands.iter().filter(causes).any(|command| speaks(command, thing))
}

/// A text has the noun as one of its pieces, whatever its number.
fn speaks(text: &str, thing: &str) -> bool {
    let stem = |text: &str| text.strip_suffix('s').filter(|stem| stem.len() >= 3).unwrap_or(text).to_owned();
    let wanted = match thing {
        "production" => "prod".to_owned(),
        thing => stem(thing),
    };
    let text = text.to_lowercase();
    let same = |piece: &str| {
        stem(piece) == wanted
            || (wanted.len() >= 4 && piece.starts_with(&wanted))
            || (wanted == "prod" && piece.starts_with("prod"))
    };
    let ends = format!("/{thing}");
    text == thing
        || text.split(|letter: char| !letter.is_alphanumeric()).any(same)
        || text.split_whitespace().any(|word| word == thing || word.ends_with(&ends))
}

/// A change of a directory reaches what lies in it.
fn holds(path: &str, thing: &str, subject: &Subject<'_>) -> bool {
    let inner = inner(path, subject).trim_start_matches('/').to_lowercase();
    let thing = thing.trim_start_matches("./");
    subject.project == Some(path) || inner.is_empty() || thing.starts_with(&format!("{inner}/"))
}

fn inner<'a>(path: &'a str, subject: &Subject<'_>) -> &'a str {
    subject.project.and_then(|project| path.strip_prefix(project)).unwrap_or(path)
}

fn is_inside(path: &str, subject: &Subject<'_>) -> bool {
    subject
        .project
        .is_none_or(|project| path.strip_prefix(project).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn is_prose(path: &str) -> bool {
    let path = path.to_lowercase();
    PROSE.iter().any(|ending| path.ends_with(ending))
}
