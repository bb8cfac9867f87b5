//! Hooks of git: which of githooks(5) a subcommand runs, where they lie, and what those that changed do.

use doorward_vocabulary::{Degree, Mark};

use super::super::Invocation;
use crate::observe::program::findings::Findings;
use crate::observe::recipes::arrived::has_arrivals;
use crate::observe::shell::state::State;
use crate::path::{self, Follow};
use crate::world::{Content, Git, Kind, World};

/// These change neither refs nor index.
// Without a moved ref and without a written index no hook runs, so a changed hook is no reason to ask.
const READING: &[&str] = &[
    "log",
    "show",
    "whatchanged",
    "blame",
    "annotate",
    "grep",
    "cat-file",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "shortlog",
    "var",
    "help",
    "version",
    "diff-tree",
    "diff-index",
    "diff-files",
    "for-each-ref",
    "show-ref",
    "show-branch",
    "name-rev",
    "merge-base",
    "merge-tree",
    "merge-file",
    "check-ignore",
    "check-attr",
    "check-mailmap",
    "check-ref-format",
    "count-objects",
    "fsck",
    "verify-commit",
    "verify-tag",
    "verify-pack",
    "range-diff",
    "cherry",
    "format-patch",
    "archive",
    "ls-remote",
    "stash list",
    "stash show",
    "remote",
    "remote show",
    "remote get-url",
    "reflog",
    "reflog show",
    "worktree list",
    "notes list",
    "notes show",
    "bundle verify",
    "bundle list-heads",
    "bundle create",
    "request-pull",
    "stripspace",
    "interpret-trailers",
    "hash-object",
    "mktree",
    "pack-objects",
    "index-pack",
    "unpack-objects",
    "get-tar-commit-id",
    "patch-id",
    "column",
    "fmt-merge-msg",
    "mailinfo",
    "mailsplit",
    "diagnose",
    "bugreport",
    "commit-tree",
    "config",
    "credential",
    "init",
    "lfs ls-files",
    "lfs status",
    "lfs env",
    "",
];

/// These write the index, some of them only to refresh it, and no ref.
// `git status` rewrites the index to refresh it and then runs `post-index-change`, although it only looks.
const INDEXING: &[&str] = &[
    "status",
    "diff",
    "describe",
    "add",
    "stage",
    "rm",
    "mv",
    "restore",
    "update-index",
    "read-tree",
    "apply",
    "checkout-index",
    "write-tree",
    "clean",
    "difftool",
    "submodule status",
    "submodule summary",
];

/// These move refs and leave the index alone.
// Moving a ref runs `reference-transaction`, and no hook of the index (git-800).
const REFERRING: &[&str] = &[
    "branch",
    "tag",
    "update-ref",
    "symbolic-ref",
    "replace",
    "pack-refs",
    "repack",
    "prune",
    "remote add",
    "remote rename",
    "remote remove",
    "remote rm",
    "remote update",
    "remote prune",
    "remote set-head",
    "remote set-branches",
    "remote set-url",
    "reflog expire",
    "reflog delete",
    "bundle unbundle",
    "fetch-pack",
    "notes add",
    "notes append",
    "notes copy",
    "notes edit",
    "notes merge",
    "notes prune",
    "notes remove",
    "multi-pack-index",
    "commit-graph",
    "maintenance run",
    "maintenance start",
    "maintenance stop",
    "stash drop",
    "stash clear",
    "stash store",
];

/// Which hooks a subcommand may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hooks {
    /// None of these.
    Named(&'static [&'static str]),
    /// Commits, checks out, merges or talks to another repository, or is not known: any of them.
    All,
}

impl Hooks {
    pub(super) fn run(self, file: &str) -> bool {
        match self {
            Hooks::Named(names) => names.contains(&path::name(file)),
            Hooks::All => true,
        }
    }
}

/// The hooks that this command line may run.
pub(super) fn run_by(sub: &str, invocation: &Invocation) -> Hooks {
    let args = &invocation.args;
    let acts = args.given.iter().any(|given| given.level > 1 && given.changes.has_effect());
    let lists = matches!(sub, "branch" | "tag") && args.operands.is_empty() && !acts;
    if READING.contains(&sub) || sub.starts_with("config ") || lists {
        Hooks::Named(&[])
    } else if INDEXING.contains(&sub) {
        Hooks::Named(&["post-index-change"])
    } else if REFERRING.contains(&sub) {
        Hooks::Named(&["reference-transaction", "pre-auto-gc"])
    } else {
        Hooks::All
    }
}

/// Settings about hooks matter to this subcommand.
pub(super) fn runs_any(sub: &str) -> bool {
    !READING.contains(&sub) && !INDEXING.contains(&sub) && !REFERRING.contains(&sub) && !sub.starts_with("config ")
}

/// Hooks of a trusted project are a recipe of it; others are not known.
pub(super) fn git_hooks(world: &dyn World, git: &Git, hooks: Hooks, state: &State<'_>) -> Findings {
    let mut found = Findings::default();
    if hooks == Hooks::Named(&[]) {
        return found;
    }
    let chosen = git.config.as_ref().ok().and_then(|config| config.get("core.hookspath")).map(String::as_str);
    let directory = match chosen {
        Some("/dev/null" | "") => return found,
        Some(chosen) => path::lexical(&path::join(&git.root, chosen)),
        None => path::join(&common_directory(&git.root, world), "hooks"),
    };
    // A hook that changed is run as it is now, whichever it is.
    for hook in changed_hooks(world, &directory, hooks, state) {
        found.run_hook(hook, &git.root);
    }
    if hooks == Hooks::All {
        if let Some(because) = hook_settings(world, &directory, chosen.is_some(), &git.root, state) {
            found.doubt(Degree::Opaque, because);
        }
    } else if !holds_hook(world, &directory, hooks) {
        return found;
    }
    if chosen.is_none() {
        return found;
    }
    if path::under(&directory, &git.root) && world.project_trusted() {
        found.doubt(Degree::Delegated, "git hooks of the project");
    } else {
        found.doubt(Degree::Opaque, "the git setting `core.hookspath`, which makes git run other programs");
        found.mark_call(Mark::UnsafeGitConfig);
    }
    found
}

/// The hooks there that are new or changed since the project was trusted.
fn changed_hooks(world: &dyn World, directory: &str, hooks: Hooks, state: &State<'_>) -> Vec<String> {
    let mut changed = world.changed_files();
    changed.extend(state.written.keys().cloned());
    let elsewhere = changed.clone();
    // No walk for changed files goes into `.git`.
    let names = world.entries(directory).unwrap_or_default();
    // A hook that nobody changed may run what came from elsewhere.
    let is_any = has_arrivals(world, state);
    let there = names.iter().map(|name| path::join(directory, name));
    changed.extend(there.filter(|hook| is_any || is_changed(hook, world)));
    changed.retain(|file| path::under(file, directory) && !file.ends_with(".sample") && hooks.run(file));
    changed.sort();
    changed.dedup();
    // Files of husky lie one directory above what git is told.
    if directory.ends_with("/.husky/_") {
        let husky = path::parent(directory);
        changed.extend(elsewhere.into_iter().filter(|file| path::parent(file) == husky && hooks.run(file)));
    }
    changed
}

/// A hook of that name lies there, or nobody can say.
fn holds_hook(world: &dyn World, directory: &str, hooks: Hooks) -> bool {
    match world.entries(directory) {
        Some(names) => names.iter().any(|name| hooks.run(name)),
        None => world.look(directory).kind != Kind::Missing,
    }
}

/// Hooks that only start what a file of the project lists run what that file says now.
fn hook_settings(world: &dyn World, directory: &str, chosen: bool, root: &str, state: &State<'_>) -> Option<String> {
    // Hook managers install one stub in `.git/hooks` and keep the commands here, so a change here changes the hook.
    const SETTINGS: &[&str] = &[
        ".pre-commit-config.yaml",
        "lefthook.yml",
        "lefthook.yaml",
        ".lefthook.yml",
        ".lintstagedrc",
        ".lintstagedrc.json",
        ".lintstagedrc.js",
        "lint-staged.config.js",
        "lint-staged.config.mjs",
    ];
    let mut changed = world.changed_files();
    changed.extend(state.written.keys().cloned());
    let lists = |file: &&String| path::parent(file) == root && SETTINGS.contains(&path::name(file));
    let file = changed.iter().find(lists)?;
    let is_hook = |name: &String| !name.ends_with(".sample");
    let has_hooks = || world.entries(directory).is_none_or(|names| names.iter().any(is_hook));
    (chosen || has_hooks()).then(|| format!("`{}`, which git hooks read and which has changed", path::name(file)))
}

/// A link is as new as what it leads to.
fn is_changed(hook: &str, world: &dyn World) -> bool {
    let is_new = |path: &str| {
        let look = world.look(path);
        matches!(look.kind, Kind::File | Kind::Link) && (look.changed_since_trust || look.created_this_session)
    };
    is_new(hook) || (world.look(hook).kind == Kind::Link && is_new(&path::resolve(hook, world, Follow::Last).real))
}

/// The directory that all work trees of a repository share: where `.git` is a file, it says where that is.
pub(super) fn common_directory(root: &str, world: &dyn World) -> String {
    // `.git` files and `commondir` hold one path; Linux refuses paths longer than 4096 bytes.
    const LIMIT: usize = 4096;
    let own = path::join(root, ".git");
    if world.look(&own).kind != Kind::File {
        return own;
    }
    let Content::Text(text) = world.content(&own, LIMIT) else { return own };
    let Some(pointed) = text.trim().strip_prefix("gitdir:") else { return own };
    let directory = path::lexical(&path::join(root, pointed.trim()));
    match world.content(&path::join(&directory, "commondir"), LIMIT) {
        Content::Text(common) => path::lexical(&path::join(&directory, common.trim())),
        Content::TooLong | Content::NotText | Content::Missing | Content::Unreadable | Content::Unlisted => {
            directory.split("/worktrees/").next().unwrap_or(&directory).to_owned()
        }
    }
}
