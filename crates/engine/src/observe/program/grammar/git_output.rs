//! What `git` prints, where its form is known: hashes, names of branches, paths of the project. Flags that are not listed here
//! may print anything.

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::paths::words::is_free_of_flags;
use crate::observe::program::args::Args;
use crate::observe::stream::{Shape, Stream};
use crate::world::{Git, World};

/// What the command prints, as far as its form is known.
pub(super) fn git_output(sub: &str, git: Option<&Git>, invocation: &Invocation, world: &dyn World) -> Stream {
    let args = &invocation.args;
    let origin = invocation.output.origin;
    let shape = match sub {
        "rev-parse" if args.has("--show-toplevel") => {
            return match git {
                Some(git) if args.operands.is_empty() && prints_only(args, &["--show-toplevel"]) => {
                    Stream { text: Some(format!("{}\n", git.root)), origin, ..Stream::default() }
                }
                Some(_) | None => Stream::unknown(origin),
            };
        }
        "rev-parse" if !args.operands.iter().all(|word| is_revision(word, git, invocation, world)) => Shape::Any,
        "rev-list" if prints_only(args, &[REVISION_FLAGS, CHOICE_FLAGS].concat()) => Shape::Token,
        "rev-parse" | "merge-base" | "symbolic-ref" if prints_only(args, REVISION_FLAGS) => Shape::Token,
        "describe" if prints_only(args, DESCRIBE_FLAGS) => {
            let marked = args.value("--dirty").or(args.value("--broken"));
            if marked.is_none() { Shape::Token } else { Shape::Any }
        }
        "hash-object" | "write-tree" | "commit-tree" | "count-objects" => Shape::Token,
        "branch" if prints_only(args, &["--show-current"]) && args.has("--show-current") => Shape::Token,
        "log" | "show" if prints_only(args, COMMIT_FLAGS) && prints_hashes(args) => Shape::Token,
        "ls-files" | "diff" | "diff-tree" | "diff-index" | "diff-files" | "grep" | "ls-tree"
            if git.is_none() || args.operands.iter().any(|field| leads_out(field, sub, args)) =>
        {
            Shape::Any
        }
        // Among all other files are those that are ignored.
        "ls-files" if args.has_any(&["-o", "--others"]) && !args.has("--exclude-standard") => Shape::Any,
        "ls-files" if prints_only(args, LIST_FLAGS) => names(sub, git, invocation, world),
        "diff" | "diff-tree" | "diff-index" | "diff-files" | "ls-tree"
            if args.has("--name-only") && prints_only(args, DIFF_FLAGS) =>
        {
            names(sub, git, invocation, world)
        }
        "grep"
            if args.has_any(&["--name-only", "-l", "--files-with-matches", "-L"])
                && prints_only(args, SEARCH_FLAGS) =>
        {
            names(sub, git, invocation, world)
        }
        _ => Shape::Any,
    };
    Stream { shape, origin, ..Stream::default() }
}

/// The form of listed names: a name that is tracked may look like a flag, unless it begins with a directory that was asked for
/// or no such file lies where the list begins.
fn names(sub: &str, git: Option<&Git>, invocation: &Invocation, world: &dyn World) -> Shape {
    let args = &invocation.args;
    let from = match sub {
        "ls-files" => 0,
        "ls-tree" => 1,
        // What stands before `--` may be a commit or the text that is searched for.
        _ if args.ended => args.ended_at,
        _ => args.operands.len(),
    };
    let asked = args.operands.get(from..).unwrap_or_default();
    let begins = |field: &Field| field.prefix().trim_start_matches('.').starts_with(char::is_alphanumeric);
    let is_begun = !asked.is_empty() && asked.iter().all(|field| begins(field) && !field.text.starts_with("./"));
    // Only these list what lies there now; other commits had other files.
    let is_present = match sub {
        "ls-files" => !args.has_any(&["-d", "--deleted"]),
        "grep" => !args.has("--cached") && args.operands.len() <= usize::from(!args.has("-e")),
        _ => false,
    };
    let is_free_of_flags = || {
        let directory = if args.has("--full-name") { git.map(|git| &*git.root) } else { invocation.cwd.as_deref() };
        directory.is_some_and(|directory| is_free_of_flags(directory, world))
    };
    if is_begun || (is_present && is_free_of_flags()) { Shape::ProjectPaths } else { Shape::ProjectNames }
}

/// Flags under which a commit is printed as one plain word.
// With only these, `git rev-parse` prints a hash or a branch name. Anything else may print back what it was given
// (git-142).
const REVISION_FLAGS: &[&str] = &[
    "-q",
    "--quiet",
    "--verify",
    "--short",
    "--abbrev-ref",
    "--symbolic-full-name",
    "--is-inside-work-tree",
    "--is-inside-git-dir",
    "--is-bare-repository",
    "--is-shallow-repository",
    "--count",
    "--max-count",
    "-n",
    "-1",
    "--all",
    "-a",
    "--fork-point",
    "--octopus",
    "--independent",
    "--is-ancestor",
    "--no-merges",
    "--merges",
    "--first-parent",
    "--max-parents",
    "--left-right",
    "--reverse",
    "--tags",
    "--recurse",
    "--no-recurse",
];

/// Further flags that choose commits.
// They pick commits by date, author or text and cannot change the printed form.
const CHOICE_FLAGS: &[&str] = &["--since", "--until", "--after", "--before", "--author", "--grep", "--skip"];

// All of `git describe` prints a tag, a count and a hash, whatever is chosen.
const DESCRIBE_FLAGS: &[&str] = &[
    "--tags",
    "--always",
    "--long",
    "--abbrev",
    "--no-abbrev",
    "--all",
    "--exact-match",
    "--first-parent",
    "--dirty",
    "--broken",
    "--contains",
    "--no-long",
];

/// Flags that choose commits, but not how they are printed.
// `--date=format:` is missing: it prints any text, which may be a path or a flag (git-144, git-146).
const COMMIT_FLAGS: &[&str] = &[
    "--format",
    "--pretty",
    "-n",
    "-1",
    "--max-count",
    "-s",
    "--no-patch",
    "--all",
    "--no-merges",
    "--merges",
    "--first-parent",
    "--reverse",
    "--since",
    "--until",
    "--after",
    "--before",
    "--author",
    "--grep",
    "--skip",
    "--diff-filter",
    "--follow",
];

/// Flags under which tracked files are listed, or new ones that are not ignored.
// `--format` is missing: it prints any text for every file (git-148, git-149).
const LIST_FLAGS: &[&str] = &[
    "-z",
    "-c",
    "-d",
    "-m",
    "-o",
    "--cached",
    "--deleted",
    "--modified",
    "--others",
    "--exclude-standard",
    "--error-unmatch",
    "--deduplicate",
    "-u",
    "--unmerged",
    "-x",
    "--exclude",
    "--full-name",
    "--recurse-submodules",
];

// `--no-index` is missing: it compares any two directories of the machine (git-150).
const DIFF_FLAGS: &[&str] = &[
    "--name-only",
    "--cached",
    "--staged",
    "--merge-base",
    "--diff-filter",
    "-z",
    "-r",
    "-t",
    "--relative",
    "--no-relative",
    "--no-renames",
    "--no-commit-id",
    "--root",
    "--no-color",
    "--no-ext-diff",
    "--ignore-submodules",
    "-M",
    "--find-renames",
    "-w",
    "-b",
    "--full-tree",
    "--full-name",
    "--exit-code",
];

// `-O` is missing: it opens the hits in a pager, which is a program from the configuration.
const SEARCH_FLAGS: &[&str] = &[
    "-l",
    "-L",
    "--name-only",
    "--files-with-matches",
    "--files-without-match",
    "-i",
    "-w",
    "-E",
    "-F",
    "-P",
    "-G",
    "-n",
    "-e",
    "-I",
    "-z",
    "-v",
    "--cached",
    "--ignore-case",
    "--word-regexp",
    "--extended-regexp",
    "--fixed-strings",
    "--perl-regexp",
    "--and",
    "--or",
    "--not",
    "--all-match",
];

/// Every flag of the command is one of these, and can be read.
fn prints_only(args: &Args, names: &[&str]) -> bool {
    let is_number = |name: &str| {
        name.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let known = |name: &str| names.contains(&name) || (is_number(name) && names.contains(&"-n"));
    args.unknown.is_empty()
        && args.unreadable.is_empty()
        && args.given.iter().filter(|given| given.level > 1).all(|given| known(&given.name))
}

/// Plainly a commit or a branch: a word that git does not know as one is taken for a file, and printed as it is.
fn is_revision(field: &Field, git: Option<&Git>, invocation: &Invocation, world: &dyn World) -> bool {
    let Some(text) = field.known().filter(|_| !field.glob) else {
        let begins_inside = !field.prefix().starts_with(['/', '.', '-', '~']);
        return begins_inside && matches!(field.shape, Shape::Token | Shape::Below);
    };
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-~^/@{}".contains(character);
    let has_extension =
        text.split('.').skip(1).any(|piece| piece.starts_with(|character: char| character.is_ascii_alphabetic()));
    let begins = text.starts_with(|character: char| character.is_ascii_alphanumeric() || character == '@');
    begins
        && text.chars().all(is_plain)
        && !has_extension
        && !text.contains("..")
        && !text.contains("/.")
        && !crate::observe::paths::globs::may_find_sensitive(text)
        && (invocation.args.has("--verify") || is_named_so(text, git) || !may_lie_there(text, invocation, world))
}

/// Only a commit has such a name.
fn is_named_so(text: &str, git: Option<&Git>) -> bool {
    // A file could have such a name too, but git would warn that it is ambiguous; agents write them to mean the
    // branch.
    const BRANCHES: &[&str] = &["main", "master", "develop", "trunk", "HEAD", "FETCH_HEAD", "ORIG_HEAD"];
    let branch = |git: &Git| [&git.branch, &git.default_branch].into_iter().flatten().any(|branch| branch == text);
    let remote = text.split_once('/').is_some_and(|(remote, _)| {
        remote == "origin" || remote == "upstream" || git.is_some_and(|git| git.remotes.contains_key(remote))
    });
    let is_hash = text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_version = text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    BRANCHES.contains(&text)
        || git.is_some_and(branch)
        || remote
        || is_hash
        || is_version
        || text.contains(['~', '^', '@'])
}

fn may_lie_there(text: &str, invocation: &Invocation, world: &dyn World) -> bool {
    let path = invocation.cwd.as_deref().map(|cwd| crate::path::lexical(&crate::path::join(cwd, text)));
    path.is_none_or(|path| world.look(&path).kind != crate::world::Kind::Missing)
}

/// The format has nothing but hashes and times, as numbers.
fn prints_hashes(args: &Args) -> bool {
    let is_format = |name: &str| matches!(name, "--format" | "--pretty");
    let formats: Vec<_> = args.given.iter().filter(|given| is_format(&given.name)).collect();
    let plain = |text: &str| {
        let text = text.strip_prefix("format:").or(text.strip_prefix("tformat:")).unwrap_or(text);
        matches!(text, "%h" | "%H" | "%ct" | "%at" | "%T" | "%t")
    };
    !formats.is_empty() && formats.iter().all(|given| given.value.as_ref().and_then(Field::known).is_some_and(plain))
}

/// The operand names files outside of the current directory, of which nothing is promised.
fn leads_out(field: &Field, sub: &str, args: &Args) -> bool {
    let is_text = sub == "grep" && !args.has("-e") && args.operands.first() == Some(field);
    let leads = |text: &str| text.starts_with(['/', '~', ':']) || text.split('/').any(|part| part == "..");
    !is_text && field.known().is_some_and(leads)
}
