//! Git's operands: refs told from paths, and paths whose changes would be thrown away.

use doorward_vocabulary::{Mark, Operation, Reach, Reversibility, Scope};

use super::super::Invocation;
use super::git_removals::{git_removals, put_back};
use super::git_writes::Written;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Role;
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::observe::program::findings::Findings;
use crate::observe::program::git_subcommand::Subcommand;
use crate::observe::sheet::observer::Observer;
use crate::observe::stream::Shape;
use crate::path;
use crate::world::{Git, Kind, Tracking, World};

/// Takes refs out of the operands that are read, and reads paths inside commits.
pub(super) fn git_operands(world: &dyn World, sub: &str, git: Option<&Git>, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let prints = !matches!(sub, "log" | "whatchanged" | "rev-list" | "shortlog")
        || invocation.args.has_any(&["-p", "-u", "--patch", "-L", "-c", "--cc", "-m", "-U", "-G", "-S"]);
    let of_commits = matches!(
        sub,
        "show" | "cat-file" | "diff" | "blame" | "archive" | "grep" | "log" | "ls-tree" | "checkout" | "restore"
    );
    for at in 0..invocation.args.operands.len() {
        let Some(field) = invocation.operand(at).cloned() else { continue };
        let after_end = invocation.args.ended && at >= invocation.args.ended_at;
        let read =
            invocation.roles.get(at).is_some_and(|role| matches!(role, Role::Read | Role::ReadTree | Role::List));
        let in_commit = if after_end || !of_commits { None } else { field.known().and_then(path_in_commit) };
        if let Some(inner) = in_commit {
            let root = git.map_or("", |git| git.root.as_str());
            let place =
                if inner.starts_with("./") || root.is_empty() { inner.to_owned() } else { path::join(root, inner) };
            found.read(Touch::Read, field.with_text(place));
            set_role(invocation, at, Role::Text);
        } else if read {
            let of_history = matches!(
                sub,
                "log"
                    | "show"
                    | "diff"
                    | "whatchanged"
                    | "rev-list"
                    | "shortlog"
                    | "diff-tree"
                    | "diff-index"
                    | "range-diff"
                    | "archive"
            );
            let is_path =
                after_end || (!is_ref(&field, git) && (!of_history || looks_like_path(world, &field, invocation)));
            match pathspec(&field).filter(|_| is_path) {
                Some(spec) => {
                    if let Some(slot) = invocation.args.operands.get_mut(at) {
                        *slot = spec;
                    }
                    if !prints {
                        set_role(invocation, at, Role::List);
                    }
                }
                None => set_role(invocation, at, Role::Text),
            }
        }
    }
    found
}

fn looks_like_path(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let Some(text) = field.known() else { return field.shape != Shape::Token };
    let there = invocation.cwd.as_deref().map(|cwd| world.look(&path::lexical(&path::join(cwd, text))).kind);
    matches!(there, Some(Kind::File | Kind::Directory | Kind::Link | Kind::Special))
        || text.contains(['*', '?'])
        || text.starts_with(['.', '/', ':', '~'])
        || text.contains('/')
        || has_extension(text)
}

/// Changes that a command throws away: a file that is as committed loses nothing. `written` is what git was asked about the
/// files that it puts in their place.
pub(super) fn git_losses(
    out: &Observer<'_>,
    sub: &Subcommand,
    written: &Written,
    invocation: &mut Invocation,
) -> Findings {
    let mut found = Findings::default();
    let (sub, git) = (sub.name.as_str(), sub.git());
    invocation.work_tree = work_tree(sub, git, invocation);
    match sub {
        "checkout" => {
            // A new branch takes one start; git refuses paths beside it, and what follows is judged as paths.
            let makes = invocation.args.has_any(&["-b", "-B", "--orphan", "-t", "--track", "--detach", "-d"]);
            let paths = match (makes, invocation.args.ended) {
                (true, false) => invocation.args.operands.get(1..).unwrap_or_default().to_vec(),
                (_, _) => checkout_paths(out.world, invocation),
            };
            let from_index = !makes && paths.len() == invocation.args.operands.len();
            if !paths.is_empty() {
                invocation.does.clear();
                found = discard(out.world, &paths, from_index, written, invocation);
            }
        }
        "restore" if !invocation.does.is_empty() => {
            let paths = invocation.args.operands.clone();
            let from_index = !invocation.args.has_any(&["-s", "--source"]);
            if !paths.is_empty() {
                invocation.does.retain(|does| !does.marks.has(Mark::DiscardsWork));
                invocation.roles.iter_mut().for_each(|role| *role = Role::Text);
                found = discard(out.world, &paths, from_index, written, invocation);
            }
        }
        "rm" => found = git_removals(out, git, invocation),
        "worktree add" => found = second_work_tree(out.world, git, invocation),
        "branch" if invocation.args.has_any(&["-D", "-M", "-C", "-f", "--force"]) => {
            for does in &mut invocation.does {
                does.reversibility = Reversibility::Irreversible;
                does.marks.add(Mark::HistoryRewrite);
            }
        }
        _ => {}
    }
    found
}

/// A further work tree beside the project, where nothing is yet, is as much the project's as its branches are.
fn second_work_tree(world: &dyn World, git: Option<&Git>, invocation: &mut Invocation) -> Findings {
    let mut found = Findings::default();
    let place = invocation.operand(0).and_then(Field::exact).zip(invocation.cwd.as_deref());
    let Some(place) = place.map(|(text, cwd)| path::lexical(&path::join(cwd, text))) else { return found };
    let is_beside = world.project().zip(git).is_some_and(|(project, git)| {
        git.root == project && path::parent(project) == path::parent(&place) && path::parent(&place) != "/"
    });
    let is_own = world.home().is_some_and(|home| path::under(&place, home));
    let is_plain = !path::name(&place).starts_with(['.', '-']) && !invocation.args.has_any(&["-f", "--force"]);
    if !(is_beside && is_own && is_plain && world.project_trusted() && world.look(&place).kind == Kind::Missing) {
        return found;
    }
    set_role(invocation, 0, Role::Text);
    let mut effect = Effect::new(Operation::Write, Target::Path(place));
    effect.scope = Scope::Directory;
    effect.reach = Reach::Project;
    effect.reversibility = Reversibility::Tracked;
    effect.marks.add(Mark::Creates);
    effect.by.clone_from(&invocation.by.name);
    effect.part = invocation.by.part;
    found.effect(effect);
    found
}

fn checkout_paths(world: &dyn World, invocation: &Invocation) -> Vec<Field> {
    let args = &invocation.args;
    let from = if args.ended { args.ended_at } else { 1 };
    let mut paths = args.operands.get(from..).unwrap_or_default().to_vec();
    if let (false, Some(first)) = (args.ended, args.operands.first()) {
        let certain = first.known().is_some_and(|text| is_work_tree_path(world, text, invocation))
            || matches!(first.shape, Shape::ProjectPaths | Shape::Matched | Shape::ProjectNames);
        if certain {
            paths.insert(0, first.clone());
        }
    }
    paths
}

/// The only operand of `checkout` is a branch unless it is plainly a path.
fn is_work_tree_path(world: &dyn World, text: &str, invocation: &Invocation) -> bool {
    let there = invocation.cwd.as_deref().map(|cwd| world.look(&path::lexical(&path::join(cwd, text))).kind);
    matches!(there, Some(Kind::File | Kind::Directory | Kind::Link))
        || text == "."
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with([':', '/'])
        || text.ends_with('/')
        || text.contains('*')
        || has_extension(text)
}

fn discard(
    world: &dyn World,
    paths: &[Field],
    is_from_index: bool,
    written: &Written,
    invocation: &Invocation,
) -> Findings {
    let mut found = Findings::default();
    for field in paths {
        let clean = field.exact().zip(invocation.cwd.as_deref()).is_some_and(|(text, cwd)| {
            let whole = path::lexical(&path::join(cwd, text));
            let single = !text.ends_with('/') && !text.contains('*') && world.look(&whole).kind != Kind::Directory;
            single && world.git(cwd).is_none_or(|git| git.root != whole) && world.tracking(&whole) == Tracking::Clean
        });
        if clean {
            // A file that is as the index has it stays as it is; what a commit has in its place was looked up.
            let is_seen = field
                .exact()
                .zip(invocation.cwd.as_deref())
                .is_some_and(|(text, cwd)| world.look(&path::lexical(&path::join(cwd, text))).kind == Kind::File);
            let is_seen = (is_from_index || written.is_seen) && is_seen;
            let mut edit = Findings::default();
            edit.touch(Touch::Edit, field.clone());
            found.sealed(edit, move |caused, _| {
                if is_seen {
                    caused.remove(Mark::Unseen);
                }
            });
            continue;
        }
        let target =
            field.exact().zip(invocation.cwd.as_deref()).map(|(text, cwd)| path::lexical(&path::join(cwd, text)));
        let mut effect = Effect::new(Operation::Delete, target.map_or(Target::Unknown, Target::Path));
        effect.scope = Scope::Directory;
        effect.reach = Reach::Project;
        effect.reversibility = Reversibility::Irreversible;
        effect.marks.add(Mark::DiscardsWork);
        effect.restorable = put_back(world, field, &written.others, invocation);
        effect.by.clone_from(&invocation.by.name);
        effect.part = invocation.by.part;
        found.effect(effect);
    }
    found
}

/// The root of the work tree that a command takes files from, if that is certain.
fn work_tree(sub: &str, git: Option<&Git>, invocation: &Invocation) -> Option<String> {
    let gives_up = matches!(sub, "merge" | "rebase" | "cherry-pick" | "revert" | "am")
        && invocation.args.has_any(&["--abort", "--skip"]);
    let git = git.filter(|_| gives_up || matches!(sub, "clean" | "reset" | "checkout" | "switch" | "restore"))?;
    let elsewhere = git.config.as_ref().ok()?.contains_key("core.worktree");
    let is_given = invocation.args.has_any(&["--work-tree", "--git-dir"]);
    (!elsewhere && !is_given).then(|| git.root.clone())
}

fn set_role(invocation: &mut Invocation, at: usize, role: Role) {
    if let Some(slot) = invocation.roles.get_mut(at) {
        *slot = role;
    }
}

/// `HEAD:src/x` and `:src/x`, but not `:(magic)x`.
pub(super) fn path_in_commit(text: &str) -> Option<&str> {
    let (commit, inner) = text.split_once(':')?;
    let magic = commit.is_empty() && inner.starts_with(['(', '!', '^', '/']);
    (!magic && !inner.is_empty() && !text.contains("://")).then_some(inner)
}

/// A path as git reads it: without its magic, with its wildcards; `None` if it only takes paths away.
pub(super) fn pathspec(field: &Field) -> Option<Field> {
    let text = field.text.as_str();
    let rest = match text.strip_prefix(':') {
        Some(rest) if rest.starts_with(['!', '^']) => return None,
        Some(rest) => match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((magic, _)) if magic.contains("exclude") => return None,
            Some((_, rest)) => rest,
            None => rest.trim_start_matches('/'),
        },
        None => text,
    };
    let rest = if rest.is_empty() { "." } else { rest };
    Some(Field { glob: field.glob || rest.contains(['*', '?', '[']), ..field.with_text(rest) })
}

/// The word names a commit for certain.
pub(super) fn is_ref(field: &Field, git: Option<&Git>) -> bool {
    let Some(text) = field.known() else { return field.shape == Shape::Token };
    let name = text.trim_start_matches('^').split(['~', '^']).next().unwrap_or(text);
    let hash = (7..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let branch =
        git.is_some_and(|git| git.branch.as_deref() == Some(name) || git.default_branch.as_deref() == Some(name));
    let of_remote = name.split_once('/').is_some_and(|(remote, _)| {
        matches!(remote, "origin" | "upstream" | "refs" | "heads" | "tags" | "remotes")
            || git.is_some_and(|git| git.remotes.contains_key(remote))
    });
    let range = text.contains("..") && !text.split('/').any(|part| part == "..");
    hash || branch
        || of_remote
        || range
        || text.contains("@{")
        || matches!(
            name,
            "HEAD"
                | "@"
                | "FETCH_HEAD"
                | "ORIG_HEAD"
                | "MERGE_HEAD"
                | "CHERRY_PICK_HEAD"
                | "main"
                | "master"
                | "develop"
        )
}

/// The last component ends like a file, not like a version.
fn has_extension(text: &str) -> bool {
    path::name(text).rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty()
            && (1..=6).contains(&end.len())
            && end.starts_with(|first: char| first.is_ascii_alphabetic())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
