//! Where each git command takes the files from that it writes, and what it does to the names of later ones.

use super::super::Invocation;
use super::git_paths::pathspec;
use crate::incoming::GitSource;
use crate::observe::field::Field;
use crate::observe::shell::git_steps::GitSteps;
use crate::path;
use crate::world::Git;

/// One source of files, with what it is limited to.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub source: GitSource,
    pub paths: Vec<String>,
    pub into: Option<String>,
    /// There may be nothing of that name, and then nothing is brought.
    pub is_perhaps: bool,
    /// The operands, should the first of them turn out to be a path.
    pub else_paths: Vec<String>,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { source: GitSource::Unknown, paths: Vec::new(), into: None, is_perhaps: false, else_paths: Vec::new() }
    }
}

impl Wanted {
    fn all(source: GitSource) -> Wanted {
        Wanted { source, ..Wanted::default() }
    }
}

/// Goes on with, or gives up, something whose files were looked up when it began.
// Looking the files up again would find the half-merged state, not what the first command was judged by.
const SEQUENCE: &[&str] =
    &["--abort", "--quit", "--continue", "--skip", "--resolved", "--edit-todo", "--show-current-patch"];

/// Everything that the command writes. Plumbing that writes the index counts: a later checkout needs no further source.
pub(super) fn wanted(sub: &str, git: Option<&Git>, invocation: &Invocation) -> Vec<Wanted> {
    let args = &invocation.args;
    let operands = || args.operands.iter();
    match sub {
        "checkout" => checkout(git, invocation),
        "switch" => match (args.has("--orphan"), args.operands.first()) {
            // A branch without a past empties the work tree.
            (true, _) => vec![Wanted::all(GitSource::Sparse)],
            (false, None) => Vec::new(),
            (false, Some(start)) => vec![Wanted::all(tree(start))],
        },
        "restore" => {
            let source = args.value("-s").or_else(|| args.value("--source"));
            let source = source.map_or(GitSource::Index, tree);
            vec![Wanted { source, paths: paths(&args.operands, git, invocation), ..Wanted::default() }]
        }
        "reset" => reset(git, invocation),
        "merge" | "rebase" | "cherry-pick" | "revert" | "am" if args.has_any(SEQUENCE) => staged(),
        "merge" => {
            let sides: Vec<Wanted> = operands().map(|field| Wanted::all(named(field, GitSource::Side))).collect();
            if sides.is_empty() { vec![Wanted::all(GitSource::Side("@{u}".into()))] } else { sides }
        }
        // What the remote sends is not known yet; what it sent before is.
        "pull" => vec![Wanted { is_perhaps: true, ..Wanted::all(GitSource::Side("@{u}".into())) }],
        "rebase" => rebase(invocation),
        "cherry-pick" => operands().map(|field| Wanted::all(named(field, GitSource::Change))).collect(),
        "revert" => operands().map(|field| Wanted::all(named(field, GitSource::Undo))).collect(),
        "stash pop" | "stash apply" => vec![Wanted::all(stash(args.operands.first()))],
        "stash branch" => vec![Wanted::all(stash(args.operands.get(1)))],
        "read-tree" => read_tree(git, invocation),
        "worktree add" => worktree(invocation),
        // These write what is staged, or what was committed, over what is there.
        "stash" | "stash push" | "stash save" | "checkout-index" => staged(),
        "sparse-checkout list" | "sparse-checkout check-rules" => Vec::new(),
        _ if sub.starts_with("sparse-checkout ") => vec![Wanted::all(GitSource::Sparse)],
        _ if sub.starts_with("bisect ") => bisect(sub, invocation),
        _ => Vec::new(),
    }
}

fn staged() -> Vec<Wanted> {
    vec![Wanted::all(GitSource::Index)]
}

/// A commit by its name, if the name is known.
fn named(field: &Field, make: fn(String) -> GitSource) -> GitSource {
    field.known().map_or(GitSource::Unknown, |text| make(text.to_owned()))
}

fn tree(field: &Field) -> GitSource {
    named(field, GitSource::Tree)
}

fn stash(field: Option<&Field>) -> GitSource {
    let Some(field) = field else { return GitSource::Stash("stash@{0}".into()) };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match field.known() {
        Some(number) if is_number(number) => GitSource::Stash(format!("stash@{{{number}}}")),
        Some(name) => GitSource::Stash(name.to_owned()),
        None => GitSource::Unknown,
    }
}

/// A branch to go to, or files to bring back.
fn checkout(git: Option<&Git>, invocation: &Invocation) -> Vec<Wanted> {
    let args = &invocation.args;
    if args.has("--orphan") {
        return args.operands.first().map(|start| Wanted::all(tree(start))).into_iter().collect();
    }
    if args.has_any(&["--pathspec-from-file", "-p", "--patch"]) {
        return vec![Wanted::all(args.operands.first().map_or(GitSource::Index, tree))];
    }
    let (before, behind) = args.operands.split_at_checked(args.ended_at).unwrap_or_default();
    if args.ended {
        let source = before.first().map_or(GitSource::Index, tree);
        return vec![Wanted { source, paths: paths(behind, git, invocation), ..Wanted::default() }];
    }
    let Some((first, rest)) = args.operands.split_first() else {
        // `git checkout -f`, and `git checkout -b new`, which writes nothing.
        return if args.has_any(&["-f", "--force"]) { staged() } else { Vec::new() };
    };
    let makes = args.has_any(&["-b", "-B", "--detach", "-d", "-t", "--track"]);
    vec![Wanted {
        source: tree(first),
        paths: paths(rest, git, invocation),
        else_paths: if makes { Vec::new() } else { paths(&args.operands, git, invocation) },
        is_perhaps: false,
        into: None,
    }]
}

fn reset(git: Option<&Git>, invocation: &Invocation) -> Vec<Wanted> {
    let args = &invocation.args;
    let (before, behind) = match args.ended {
        true => args.operands.split_at_checked(args.ended_at).unwrap_or_default(),
        false => (args.operands.as_slice(), [].as_slice()),
    };
    let Some(first) = before.first() else { return staged() };
    let limits = if behind.is_empty() { before.get(1..).unwrap_or_default() } else { behind };
    // `git reset a.txt` takes it out of the index again, and writes nothing.
    let from =
        Wanted { source: tree(first), paths: paths(limits, git, invocation), is_perhaps: true, ..Wanted::default() };
    if args.has_any(&["--hard", "--merge", "--keep"]) { [staged(), vec![from]].concat() } else { vec![from] }
}

/// The commits that the branch is put on, and the branch itself if it is another one.
fn rebase(invocation: &Invocation) -> Vec<Wanted> {
    let args = &invocation.args;
    let onto = args.value("--onto").or_else(|| args.operands.first());
    let mut all = vec![match onto {
        Some(field) => Wanted::all(named(field, GitSource::Side)),
        None if args.has("--root") => return Vec::new(),
        None => Wanted::all(GitSource::Side("@{u}".into())),
    }];
    all.extend(args.operands.get(1).map(|branch| Wanted::all(tree(branch))));
    all
}

fn read_tree(git: Option<&Git>, invocation: &Invocation) -> Vec<Wanted> {
    let args = &invocation.args;
    let prefix = args.value("--prefix");
    let into =
        prefix.and_then(Field::known).zip(git).map(|(prefix, git)| path::lexical(&path::join(&git.root, prefix)));
    if prefix.is_some() && into.is_none() {
        return vec![Wanted::all(GitSource::Unknown)];
    }
    let make = if into.is_some() { GitSource::Subtree } else { GitSource::Tree };
    args.operands.iter().map(|field| Wanted { into: into.clone(), ..Wanted::all(named(field, make)) }).collect()
}

fn worktree(invocation: &Invocation) -> Vec<Wanted> {
    let args = &invocation.args;
    // Without its files the work tree is a command away from having them.
    if args.has("--orphan") {
        return Vec::new();
    }
    // Without a start git takes the branch that is called like the directory, if there is one.
    let named_so = args.operands.first().map(|place| place.with_text(path::name(place.text.trim_end_matches('/'))));
    let makes = args.has_any(&["-b", "-B", "-d", "--detach"]);
    let Some(start) = args.operands.get(1).cloned().or_else(|| named_so.filter(|_| !makes)) else { return Vec::new() };
    let place = args.operands.first().and_then(Field::exact).zip(invocation.cwd.as_deref());
    match place {
        Some((place, cwd)) => {
            vec![Wanted {
                into: Some(path::lexical(&path::join(cwd, place))),
                is_perhaps: args.operands.len() < 2,
                ..Wanted::all(tree(&start))
            }]
        }
        None => vec![Wanted::all(GitSource::Unknown)],
    }
}

fn bisect(sub: &str, invocation: &Invocation) -> Vec<Wanted> {
    let operands = &invocation.args.operands;
    let names: Option<Vec<String>> = operands.iter().map(|field| field.known().map(str::to_owned)).collect();
    match sub {
        "bisect reset" => match operands.first() {
            Some(field) => vec![Wanted::all(tree(field))],
            // Where nothing is being looked for, nothing happens.
            None => vec![Wanted { is_perhaps: true, ..Wanted::all(GitSource::Tree("BISECT_START".into())) }],
        },
        "bisect log" | "bisect terms" | "bisect view" | "bisect visualize" => Vec::new(),
        "bisect replay" => vec![Wanted::all(GitSource::Unknown)],
        // Without a good and a bad commit git stays where it is.
        "bisect start" if operands.is_empty() => Vec::new(),
        "bisect run" => vec![Wanted::all(GitSource::Bisect(Vec::new()))],
        _ => vec![Wanted::all(names.map_or(GitSource::Unknown, GitSource::Bisect))],
    }
}

/// Where the paths lie that a command is limited to; none if that is not certain.
fn paths(fields: &[Field], git: Option<&Git>, invocation: &Invocation) -> Vec<String> {
    let folds = invocation.args.has_any(&["--icase-pathspecs", "--glob-pathspecs"]);
    let place = |field: &Field| {
        let from_top = field.text.starts_with(":/");
        // Other magic may fold letters or take names apart: then everything is meant.
        if (field.text.starts_with(':') && !from_top) || field.text.contains('\\') || folds {
            return None;
        }
        let base = if from_top { git.map(|git| git.root.as_str())? } else { invocation.cwd.as_deref()? };
        let spec = pathspec(field)?;
        let text = spec.known()?;
        let fixed = match text.find(['*', '?', '[']) {
            Some(at) => text.get(..at)?.rsplit_once('/').map_or("", |(directory, _)| directory),
            None => text,
        };
        Some(path::lexical(&path::join(base, fixed)))
    };
    // A path that only takes others away leaves everything else.
    let all: Option<Vec<String>> = fields.iter().map(place).collect();
    all.unwrap_or_default()
}

/// Keeps in mind what the names of later commands mean.
pub(super) fn note_steps(sub: &str, git: Option<&Git>, invocation: &Invocation, steps: &mut GitSteps) {
    let args = &invocation.args;
    let from = git.and_then(|git| git.branch.as_deref());
    let text = |field: Option<&Field>| field.and_then(Field::known).map(str::to_owned);
    let created = ["-b", "-B", "-c", "-C", "--create", "--force-create"].iter().find_map(|flag| args.value(flag));
    match sub {
        "switch" | "checkout" => {
            let is_paths = sub == "checkout" && (args.ended || args.operands.len() > 1);
            let start = text(args.operands.first());
            match (created, start) {
                (Some(new), start) => match new.known() {
                    Some(new) => {
                        let start = start.unwrap_or_else(|| "HEAD".to_owned());
                        steps.made(new.to_owned(), start.clone());
                        steps.switched(from, start);
                    }
                    None => steps.lost(),
                },
                (None, Some(name)) if !is_paths => steps.switched(from, name),
                (None, None) if !is_paths && !args.operands.is_empty() => steps.lost(),
                (None, Some(_) | None) => {}
            }
        }
        "branch" | "tag" => match (text(args.operands.first()), args.operands.get(1)) {
            // What `@{u}` and `git pull` mean is another thing from now on.
            _ if args.has_any(&["-u", "--set-upstream-to", "--unset-upstream"]) => steps.lost(),
            _ if args.operands.is_empty() => {}
            _ if args.has_any(&["-f", "--force", "-m", "-M", "-c", "-C", "--move", "--copy"]) => steps.lost(),
            (Some(_), _) if args.has_any(&["-d", "-D", "--delete"]) => {}
            (Some(name), None) => steps.made(name, "HEAD".to_owned()),
            (Some(name), Some(start)) => match start.known() {
                Some(start) => steps.made(name, start.to_owned()),
                None => steps.lost(),
            },
            (None, _) => steps.lost(),
        },
        "commit" | "merge" | "cherry-pick" | "revert" | "am" | "rebase" => steps.committed(),
        "pull" => {
            steps.committed();
            steps.fetched();
        }
        "stash" | "stash push" | "stash save" => steps.stashed(),
        "fetch" | "remote update" if args.operands.iter().skip(1).any(|field| field.text.contains(':')) => steps.lost(),
        "fetch" | "remote update" => steps.fetched(),
        "reset" if args.operands.first().is_some_and(|first| !matches!(first.known(), Some("HEAD" | "@"))) => {
            steps.lost()
        }
        "update-ref" | "symbolic-ref" | "replace" | "read-tree" | "update-index" | "stash store" | "stash drop"
        | "stash clear" | "bundle unbundle" | "filter-branch" | "filter-repo" | "apply" | "remote add"
        | "remote rename" | "remote set-head" => steps.lost(),
        _ => {}
    }
}
