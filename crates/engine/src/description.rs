//! How a machine is described in JSON: the keys, and what each of them means.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::path::{join, lexical};
use crate::world::{REBUILDABLE, Shell, Tracking};

/// The description. Every key is optional; what is left out is an ordinary, trusted, clean machine.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Description {
    /// The user's home directory.
    pub home: Option<String>,
    /// The root of the work tree.
    pub project: Option<String>,
    /// Directories for temporary files.
    pub temp: Option<Vec<String>>,
    /// Directories that the agent owns.
    pub scratch: Vec<String>,
    /// The project is trusted (default true).
    pub trusted: Option<bool>,
    pub git: Option<GitDescription>,
    /// Further repositories, each with its root.
    pub repositories: Vec<GitDescription>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// What is known about single files.
    pub files: BTreeMap<String, FileDescription>,
    /// Symbolic links and where they lead.
    pub symlinks: BTreeMap<String, String>,
    /// Further names of files, and the names that they share them with.
    pub hardlinks: BTreeMap<String, String>,
    /// Files that are not described are not there.
    pub complete: bool,
    /// At and below these paths, what is not described is not there.
    pub absent: Vec<String>,
    /// Directories that the session made, with everything below them.
    pub made: Vec<String>,
    /// Another call of the session has not ended.
    pub busy: bool,
    pub case_insensitive: bool,
    /// The shell that runs the commands: `bash` (default), `zsh`, `sh` or `unknown`.
    pub shell: Shell,
    pub mcp_trusted: Option<bool>,
    pub mcp_definition_changed: bool,
    /// The same for single tool servers, by their names.
    pub mcp_servers: BTreeMap<String, ServerDescription>,
    /// Copies are made of what a call would lose, within the usual limits.
    pub snapshots: bool,
    /// Process ids that belong to the session.
    pub session_processes: Vec<u32>,
    /// Override rate of the last 30 days per pattern.
    pub override_rate: BTreeMap<String, f64>,
    /// What happened before in the session: `secret-read`, `code-downloaded`, …
    pub taint: Vec<String>,
    /// Requests that a person let pass since a secret was read: `get docs.rs`, `remote git fetch`.
    pub answered: Vec<String>,
    /// Reads of the session in the last minute.
    pub reads_last_minute: u32,
    /// Reads of the session in the last seconds.
    pub reads_last_seconds: u32,
    /// Refusals of the session without an approval between them.
    pub denials_in_a_row: u32,
    /// All refusals of the session.
    pub denials: u32,
    /// Tracked files that the session deleted or edited in place.
    pub restorable: u32,
    /// Things the user said not to do.
    pub boundaries: Vec<String>,
    /// Earlier messages of the user, the oldest first: what they order ends a boundary, what they name is listed.
    pub earlier_messages: Vec<String>,
    /// Orders of the latest message that covered as many calls as one order may.
    pub used_up: Vec<String>,
    /// Hosts that the configuration allows.
    pub allowed_hosts: Vec<String>,
    /// Hosts that the configuration denies.
    pub denied_hosts: Vec<String>,
    /// Paths that the configuration denies.
    pub denied_paths: Vec<String>,
    /// Paths that the configuration protects.
    pub protected_paths: Vec<String>,
    /// Milliseconds since 1970.
    pub now: Option<u64>,
}

impl Description {
    /// What is known about the tool server: by its name, or what holds for all.
    pub(crate) fn server(&self, name: &str) -> ServerDescription {
        let every = ServerDescription { trusted: self.mcp_trusted, definition_changed: self.mcp_definition_changed };
        self.mcp_servers.get(name).cloned().unwrap_or(every)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GitDescription {
    pub root: Option<String>,
    pub clean: Option<bool>,
    pub tracked: TrackedDescription,
    /// Names of ignored files and directories.
    pub ignored: Vec<String>,
    /// Names of ignored directories that a build makes again; the usual ones if left out.
    pub rebuildable: Option<Vec<String>>,
    pub remotes: BTreeMap<String, String>,
    pub branch: Option<String>,
    pub default_branch: Option<String>,
    /// What the repository's own files set.
    pub config: BTreeMap<String, String>,
    /// What the user's own files set.
    pub user_config: BTreeMap<String, String>,
    /// What files of the system set, which only the administrator can change.
    pub system_config: BTreeMap<String, String>,
    /// Work trees below the root that git looks into, with what their repositories set.
    pub submodules: BTreeMap<String, BTreeMap<String, String>>,
    /// Branches, commits and stashes by the name that a command uses, with the files that are different there.
    pub brings: Option<BTreeMap<String, BTreeMap<String, String>>>,
    /// The commits of the current branch are on no branch of a remote.
    pub unpublished: bool,
    /// What git is in the middle of: `rebase`, `merge`, `cherry-pick`, `revert`, `am` or `bisect`.
    pub operation: Option<GitOperation>,
    /// Directories below the root that are repositories of their own.
    pub nested: Vec<String>,
}

impl GitDescription {
    /// The paths that it tracks, read from this directory; `None` for all.
    pub(crate) fn tracked_below(&self, directory: &str) -> Option<Vec<String>> {
        match &self.tracked {
            TrackedDescription::Word(_) => None,
            TrackedDescription::Paths(paths) => {
                Some(paths.iter().map(|path| lexical(&join(directory, path))).collect())
            }
        }
    }

    /// What git makes of a path below its root that it ignores; `None` if it does not.
    pub(crate) fn ignored_tracking(&self, inner: &str) -> Option<Tracking> {
        let rebuildable = |name: &str| match &self.rebuildable {
            Some(names) => names.iter().any(|known| known == name) || REBUILDABLE.contains(&name),
            None => REBUILDABLE.contains(&name),
        };
        if self.rebuildable.as_ref().is_some_and(|names| named_on(names, inner).is_some()) {
            return Some(Tracking::Rebuildable);
        }
        let name = named_on(&self.ignored, inner)?;
        Some(if rebuildable(name) { Tracking::Rebuildable } else { Tracking::Ignored })
    }
}

/// The first of these names that is a component of the path.
fn named_on<'a>(names: &'a [String], path: &str) -> Option<&'a String> {
    names.iter().find(|name| path.split('/').any(|component| component == name.as_str()))
}

/// `"all"` or a list of paths.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum TrackedDescription {
    Word(String),
    Paths(Vec<String>),
}

impl Default for TrackedDescription {
    fn default() -> Self {
        TrackedDescription::Word("all".into())
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileDescription {
    pub exists: Option<bool>,
    pub tracked: Option<bool>,
    /// It has changes of its own that are not committed.
    pub modified: bool,
    pub executable: bool,
    pub content: Option<String>,
    /// The content is only a part of it.
    pub cut: bool,
    pub size: Option<u64>,
    pub sha256: Option<String>,
    pub changed_since_trust: bool,
    pub created_this_session: bool,
    /// A build of this session made it from sources of the trusted project, and nothing changed it since.
    pub built: bool,
    /// So many files of the project import it.
    pub dependents: Option<u32>,
    /// Git, a patch, an archive or a download put it there; for a directory, all that is below.
    pub arrived: bool,
}

/// Something that git began and that waits to be continued or given up.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum GitOperation {
    Rebase,
    Merge,
    CherryPick,
    Revert,
    Am,
    Bisect,
}

/// What is known about one tool server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerDescription {
    pub trusted: Option<bool>,
    pub definition_changed: bool,
}

/// A further work tree of the repository, in the directory beside it where tools put them: `<root>.worktrees/<name>`.
pub(crate) fn second_work_tree<'d>(root: &str, directory: &'d str) -> Option<&'d str> {
    let inner = directory.strip_prefix(root)?;
    let inner = [".worktrees/", "__worktrees/", "-worktrees/"].iter().find_map(|start| inner.strip_prefix(start))?;
    let name = inner.split('/').next().filter(|name| !name.is_empty())?;
    directory.get(..directory.len() - inner.len() + name.len())
}
