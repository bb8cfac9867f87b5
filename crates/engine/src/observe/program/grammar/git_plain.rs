//! Git in a project that nobody has trusted: whether git there runs nothing but git.

use super::super::Invocation;
use super::git_config::{self, Use};
use super::git_hooks::Hooks;
use crate::observe::field::Field;
use crate::observe::program::git_subcommand::Subcommand;
use crate::path;
use crate::world::{Content, Git, Kind, World};

/// These start what the repository or its submodules name, or work on addresses that it chose.
// They start helpers, browsers, editors or git itself in other repositories, so the repository's own settings decide
// what runs.
const DRIVEN: &[&str] =
    &["submodule", "lfs", "difftool", "mergetool", "gui", "citool", "instaweb", "send-email", "filter-branch", "svn"];

/// These only look.
// Commands whose effect is their output. They still run filters, hooks and external diffs, which are looked at one by
// one.
const LOOKING: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "tag",
    "remote",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "cat-file",
    "blame",
    "annotate",
    "describe",
    "shortlog",
    "reflog",
    "stash list",
    "stash show",
    "grep",
    "for-each-ref",
    "show-ref",
    "merge-base",
    "name-rev",
    "whatchanged",
    "diff-tree",
    "diff-index",
    "diff-files",
    "count-objects",
    "version",
    "help",
    "config",
    "check-ignore",
    "check-attr",
    "worktree",
    "var",
    "cherry",
    "range-diff",
];

/// Settings that repositories usually have and that make git run nothing, by section and last part.
// What `git init`, `git clone`, gh and editors write. Any other setting may name a program, so it asks; with these
// alone looking is silent (git-1305 to git-1310).
const INERT: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "bare",
            "logallrefupdates",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "bigfilethreshold",
            "fsmonitor",
            "createobject",
            "protecthfs",
            "protectntfs",
        ],
    ),
    ("branch", &["remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base", "gh-merge-base"]),
    (
        "remote",
        &[
            "url",
            "fetch",
            "push",
            "pushurl",
            "tagopt",
            "prune",
            "prunetags",
            "mirror",
            "promisor",
            "partialclonefilter",
            "gh-resolved",
            "skipdefaultupdate",
            "skipfetchall",
            "pushdefault",
            "followremotehead",
        ],
    ),
    ("submodule", &["url", "active", "ignore", "branch", "path", "fetchrecursesubmodules"]),
    ("extensions", &["objectformat", "worktreeconfig", "partialclone", "refstorage", "relativeworktrees"]),
    ("lfs", &["repositoryformatversion", "access", "locksverify"]),
    ("credential", &["username", "usehttppath"]),
    ("user", &["signingkey"]),
    ("blame", &["ignorerevsfile"]),
    ("checkout", &["defaultremote"]),
    ("maintenance", &["strategy"]),
    ("transfer", &["fsckobjects"]),
    ("fetch", &["fsckobjects", "writecommitgraph"]),
    ("receive", &["denycurrentbranch", "denynonfastforwards"]),
    ("gc", &["autodetach"]),
];

/// Settings of agents that a repository may bring along.
// An agent that starts in a clone obeys these files before its user has seen them.
const FOR_AGENTS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    "opencode.json",
];

/// Words without which such settings start nothing.
// Settings without any of these words only change colours, models or instructions.
const STARTING: &[&str] = &["hook", "mcp", "command", "helper"];

/// Longer settings are not read.
// Settings of agents are short. A longer file counts as one that starts something.
const SETTINGS: usize = 64 << 10;

/// Asks unless everything that the command would obey is plain: settings, hooks and submodules.
///
/// Yields why a person is asked.
pub(super) fn git_untrusted(
    world: &dyn World,
    sub: &Subcommand,
    hooks: Hooks,
    invocation: &Invocation,
) -> Option<String> {
    let (sub, git) = (sub.name.as_str(), sub.git());
    let found = match git {
        None => Some("git finds no repository here".to_owned()),
        Some(_) if is_among(DRIVEN, sub) => Some(format!("`{}` runs the command it is given", invocation.by.name)),
        Some(_) if !is_among(LOOKING, sub) && !commits_plainly(world, sub, invocation) => {
            Some(format!("`{}` does more than read and commit", invocation.by.name))
        }
        Some(git) => odd_hook(world, git, hooks)
            .or_else(|| odd_setting(world, git))
            .or_else(|| settings_for_agents(world, &git.root)),
    };
    found.map(|because| format!("this project isn't trusted yet, and {because}"))
}

/// Beside filters and hooks, which are looked at, a commit and `git add` of single files run nothing of the repository. A
/// directory that is added may be a repository of its own, into which every later command looks.
fn commits_plainly(world: &dyn World, sub: &str, invocation: &Invocation) -> bool {
    let is_file = |word: &Field| match (word.exact(), invocation.cwd.as_deref()) {
        (Some(name), Some(cwd)) => world.look(&path::join(cwd, name)).kind == Kind::File,
        (Some(_) | None, Some(_) | None) => false,
    };
    let operands = &invocation.args.operands;
    match sub {
        "commit" => !invocation.args.has_any(&["--pathspec-from-file"]),
        "add" => {
            !invocation.args.has_any(&["--pathspec-from-file"]) && !operands.is_empty() && operands.iter().all(is_file)
        }
        _ => false,
    }
}

/// A clone that brings commands for the agent itself wants a look before the first call in it, even a harmless one: whoever
/// is asked learns of them while they can still leave.
fn settings_for_agents(world: &dyn World, root: &str) -> Option<String> {
    let starts = |name: &&&str| match world.content(&path::join(root, name), SETTINGS) {
        Content::Missing | Content::Unlisted => false,
        Content::Text(text) => STARTING.iter().any(|word| text.to_ascii_lowercase().contains(word)),
        Content::TooLong | Content::NotText | Content::Unreadable => true,
    };
    FOR_AGENTS.iter().find(starts).map(|name| format!("`{name}` contains commands for the agent"))
}

/// A hook lies there that the command would run.
fn odd_hook(world: &dyn World, git: &Git, hooks: Hooks) -> Option<String> {
    let directory = path::join(&super::git_hooks::common_directory(&git.root, world), "hooks");
    let is_run = |name: &String| !name.ends_with(".sample") && hooks.run(name);
    match world.entries(&directory) {
        Some(names) => names.into_iter().find(is_run).map(|name| format!("it has the hook `{name}`")),
        None => match world.look(&directory).kind {
            Kind::Missing | Kind::Unlisted => None,
            Kind::File | Kind::Directory | Kind::Link | Kind::Special | Kind::Unreadable => {
                Some("its hooks can't be listed".to_owned())
            }
        },
    }
}

/// A setting of the repository, or of one that git looks into from there, that is not known to run nothing.
fn odd_setting(world: &dyn World, git: &Git) -> Option<String> {
    let Ok(config) = &git.config else { return Some("its settings can't be read".to_owned()) };
    let is_odd = |key: &&String| {
        let value = config.get(*key).map(String::as_str).unwrap_or_default();
        !is_inert(key, value)
    };
    if let Some(key) = git.local.iter().find(is_odd) {
        return Some(format!("its setting `{key}` may run a program"));
    }
    let is_odd = |key: &String| git.local.contains(key);
    if let Some(key) = git_config::dangers(config, Use::WHILE_LOOKING).into_iter().find(is_odd) {
        return Some(format!("its setting `{key}` may run a program"));
    }
    let Some(inner) = world.submodules(&git.root) else {
        return Some("its submodules can't be listed".to_owned());
    };
    // Git starts itself in each of them, with settings and hooks of their own.
    inner.first().map(|path| format!("it contains another repository, `{path}`"))
}

/// The subcommand, or the first word of it, is on the list.
fn is_among(list: &[&str], sub: &str) -> bool {
    list.iter().any(|name| *name == sub || sub.split(' ').next() == Some(*name))
}

/// The setting makes git run nothing, whoever wrote it.
fn is_inert(key: &str, value: &str) -> bool {
    let section = key.split('.').next().unwrap_or(key);
    let last = key.rsplit('.').next().unwrap_or(key);
    // An alias runs only where somebody calls it, and is then looked through.
    section == "alias"
        || git_config::is_harmless(key, value) && !git_config::is_hooks_path(key)
        || INERT.iter().any(|(first, names)| *first == section && names.contains(&last))
}
