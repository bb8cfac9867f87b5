//! What the engine may ask about the machine. The edge answers; nothing here touches it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::incoming::{Arrival, GitWrite, Rewrite, Shown};
use crate::permission_pattern::Pattern;

/// Directories that builds make, whatever the language.
// Names that the usual ignore files of these tools list. A deletion counts as rebuildable only if git ignores the
// path too.
pub const REBUILDABLE: &[&str] = &[
    "target",
    "node_modules",
    "dist",
    "build",
    "__pycache__",
    ".next",
    "coverage",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".turbo",
    ".nuxt",
    "out",
    ".gradle",
    ".tox",
    ".nyc_output",
    ".parcel-cache",
    ".vite",
    ".svelte-kit",
    ".venv",
    "venv",
];

/// What lies at a path, without following a link in its last component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub kind: Kind,
    pub size: u64,
    pub executable: bool,
    pub hard_links: u64,
    pub created_this_session: bool,
    /// Differs from what was there when the project was trusted, and not by edits that doorward judged.
    pub changed_since_trust: bool,
    /// A build of this session made it from sources of the trusted project, and it is as that build left it.
    pub is_built: bool,
}

/// What a search may test about a file beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    pub size: u64,
    /// The permission bits.
    pub mode: Option<u32>,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: Option<i128>,
    /// How long ago that was, in seconds.
    pub age: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Missing,
    File,
    Directory,
    /// A symbolic link; [`Machine::link`] says where it leads.
    Link,
    /// A device, socket or pipe.
    Special,
    /// Something is there, or was not listed; it is not known what.
    Unlisted,
    /// It could not be looked at.
    Unreadable,
}

/// What a directory holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub names: Vec<(String, Kind)>,
    /// No name was left out that somebody who may read the directory would find.
    pub is_whole: bool,
}

/// What git knows about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// In the index, and the file is as it was committed.
    Clean,
    /// In the index, changed since.
    Modified,
    Untracked,
    /// Ignored, and a build makes it again.
    Rebuildable,
    /// Ignored for another reason: local data.
    Ignored,
    /// In no repository.
    Outside,
    /// Could not be found out.
    Unknown,
}

/// The shell that runs a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    #[default]
    Bash,
    Zsh,
    /// Whatever `sh` is: dash on one machine, bash on the next, so it is read as both.
    Sh,
    /// Any of them.
    Unknown,
}

/// The start of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    /// Longer than the limit that was asked for.
    TooLong,
    NotText,
    Missing,
    Unreadable,
    /// The world does not say.
    Unlisted,
}

/// How many files and bytes lie at or below some paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// Exactly this many, of which `unrestorable` are neither tracked nor rebuildable.
    Counted {
        files: u64,
        bytes: u64,
        unrestorable: u64,
        unrestorable_bytes: u64,
    },
    /// The walk met its bound: at least this many.
    More {
        files: u64,
        bytes: u64,
    },
    Unknown,
}

/// The repository around a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Git {
    pub root: String,
    pub branch: Option<String>,
    pub default_branch: Option<String>,
    pub remotes: BTreeMap<String, String>,
    /// The effective configuration, keys in lower case; the error says why it is not known.
    pub config: Result<BTreeMap<String, String>, String>,
    /// Keys that the repository's own files set: whoever made the repository chose them.
    pub local: BTreeSet<String>,
    /// Keys that only files of the system set, which nobody but the administrator can change.
    pub system: BTreeSet<String>,
}

/// Which file a program name stands for, and whether that file is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// In a directory of the system, or listed with this hash.
    Trusted(String),
    /// Kept or built in the project.
    Project(String),
    /// In a package manager's directory, and not the one that was listed: an update changed it, or nobody listed it.
    Changed(String),
    /// A person trusted this very file, its bytes are others now, and no package manager keeps files there.
    Exchanged(String),
    /// In no trusted directory and on no list.
    Unlisted(String),
    /// There is no such program.
    Missing,
}

/// What the user thinks of a tool server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpTrust {
    /// The user configured the server, nothing more is known.
    Configured,
    /// A file of the project configures it, which whoever made the project wrote.
    Proposed,
    Trusted,
    Untrusted,
    /// Trusted once; the definition of the tool changed since.
    Changed,
}

/// What happened before in this session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// Names such as `secret-read`, `code-downloaded`, `remote-changed`, `manifest-changed`.
    pub taint: Vec<String>,
    /// Plain requests that a person let pass since a secret was read, as [`crate::contacts`] names them.
    pub answered: Vec<String>,
    pub reads_last_minute: u32,
    pub reads_last_seconds: u32,
    pub denials_in_a_row: u32,
    pub denials: u32,
    /// Tracked files that were deleted or edited in place unasked.
    pub restorable: u32,
    /// Things the user said not to do.
    pub boundaries: Vec<String>,
    /// Orders of the user that end one of them for what they name: the boundary and the order.
    pub released: Vec<(String, String)>,
    /// Addresses that the user typed in this session.
    pub addresses: Vec<String>,
    /// How many calls an order of the latest message covered.
    pub consented: Vec<(String, u32)>,
    /// Why what happened before is not known for sure; such a call is put to a person.
    pub doubt: Option<String>,
}

/// How often calls of a pattern were let run, where a person accepted that it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AcceptedHistory {
    /// So many people let run in 30 days …
    pub let_run: u32,
    /// … of so many.
    pub decisions: u32,
    /// The day on which a person accepted it.
    pub on: String,
}

impl AcceptedHistory {
    /// The share that people let run.
    pub fn rate(&self) -> f64 {
        // Counts of an older version know no approvals, so that there may seem to be more overrides than decisions.
        f64::from(self.let_run) / f64::from(self.decisions.max(self.let_run).max(1))
    }
}

/// What the user's trusted configuration says about paths and hosts. Built-in lists come on top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Hosts that may be contacted: a name covers its subdomains.
    pub allowed_hosts: Vec<String>,
    /// The built-in list of hosts does not count.
    pub only_allowed_hosts: bool,
    /// Hosts that may not be contacted, whatever the lists say.
    pub denied_hosts: Vec<String>,
    /// Paths whose change is never settled by layer 1, absolute or relative to the project.
    pub protected_paths: Vec<String>,
    /// Paths that no call may touch.
    pub denied_paths: Vec<String>,
    /// Patterns for files that deny or ask: whoever matches one of them by a wildcard is told from the rest.
    pub file_patterns: Vec<Pattern>,
    /// Unlisted GET and unknown servers block, every external read asks.
    pub strict: bool,
    /// Ports that doorward's desk was ever on, beside the usual one.
    pub desk_ports: Vec<u16>,
}

/// The disk, the environment and the programs of the machine.
pub trait Machine {
    fn home(&self) -> Option<&str>;
    /// Directories for temporary files of everybody.
    fn temporary(&self) -> &[String];
    /// Every directory between the temporary directory and this path is the user's own, or is yet to be made.
    fn is_own_temporary(&self, _path: &str) -> bool {
        false
    }
    /// The shell to which the agent hands its commands.
    fn shell(&self) -> Shell {
        Shell::Bash
    }
    fn environment(&self, name: &str) -> Option<Cow<'_, str>>;
    /// All variables, for judging a command that prints them.
    fn environment_all(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)>;
    fn case_insensitive(&self) -> bool;
    fn look(&self, path: &str) -> Look;
    /// Both names stand for one file, as hard links do.
    fn is_same_file(&self, _one: &str, _other: &str) -> bool {
        false
    }
    /// Where the link at exactly this path leads, as written in it.
    fn link(&self, path: &str) -> Option<String>;
    /// Some link lies somewhere below this directory's ancestors, so that resolving is worth the effort.
    fn may_have_links(&self) -> bool {
        true
    }
    fn content(&self, path: &str, limit: usize) -> Content;
    /// Size, permissions and last change of what lies at the path itself; `None` if not known.
    fn stats(&self, _path: &str) -> Option<Stats> {
        None
    }
    /// Counts what lies at and below the path, within a budget of the world's own.
    fn tally(&self, path: &str) -> Tally;
    /// The names in a directory that a glob or a recipe search may want; `None` if not known.
    fn entries(&self, directory: &str) -> Option<Vec<String>>;
    /// The names in a directory with their kinds, for walks that look at nothing else.
    fn listing(&self, directory: &str) -> Listing {
        let Some(names) = self.entries(directory) else {
            return Listing { names: Vec::new(), is_whole: self.look(directory).kind != Kind::Directory };
        };
        let with_kind = |name: String| {
            let kind = self.look(&crate::lexical::join(directory, &name)).kind;
            (name, kind)
        };
        Listing { names: names.into_iter().map(with_kind).collect(), is_whole: true }
    }
    /// Everything below a directory with its kind, links not followed; `None` if there is too much or some of it cannot be
    /// read.
    fn below(&self, _directory: &str) -> Option<Vec<(String, Kind)>> {
        None
    }
    /// What is not listed is not there.
    fn lists_everything(&self) -> bool {
        true
    }
    /// Which file `name` stands for; a name with a slash is an absolute path.
    fn program(&self, name: &str) -> Identity;
    /// How many files of the project import this one; `None` if nobody knows, or finding out would take too long.
    fn dependents(&self, _path: &str) -> Option<u32> {
        None
    }
}

/// What git knows and would write.
pub trait Repositories {
    fn tracking(&self, path: &str) -> Tracking;
    /// The last commit holds the file as it is tracked, so that git brings back exactly that.
    fn is_committed(&self, _path: &str) -> bool {
        true
    }
    /// The files that the repository around `directory` tracks at or below `below`, as absolute paths, whether they are there or
    /// not; `None` if there are too many or that is not known.
    fn tracked_files(&self, directory: &str, below: &str) -> Option<Vec<String>>;
    fn git(&self, directory: &str) -> Option<Git>;
    /// The work trees of other repositories that git looks into from this one, as absolute paths; `None` if not known.
    fn submodules(&self, _root: &str) -> Option<Vec<String>> {
        None
    }
    /// Which files a git command would write, and with what.
    fn rewrites(&self, write: &GitWrite) -> Rewrite;
    /// The paths, as absolute ones, that differ in what is shown; `None` if that cannot be said.
    fn changed_paths(&self, _directory: &str, _shown: &Shown) -> Option<Vec<String>> {
        None
    }
    /// The commits of `branch` since that one are only here, it is not the default branch, and the reflog keeps them;
    /// `HEAD` is the branch that is checked out. Where there are none, nothing is written again.
    fn rewritable(&self, directory: &str, branch: &str, since: &str) -> bool;
    /// A rebase has begun there, of a branch that is not the default one.
    fn is_rebasing(&self, directory: &str) -> bool;
}

/// What the user trusts and has configured.
pub trait Configured {
    /// The root of the work tree that the agent works in.
    fn project(&self) -> Option<&str>;
    fn project_trusted(&self) -> bool;
    fn mcp(&self, server: &str, tool: &str) -> McpTrust;
    /// What the user's trusted configuration says about paths and hosts.
    fn settings(&self) -> &Settings;
    /// The user's own program files, packed and checked; they add to what is built in and replace nothing.
    fn own_programs(&self) -> &'static [u8] {
        &[]
    }
    /// Keys the hashes that stand for redacted secrets.
    fn redaction_key(&self) -> [u8; 16];
}

/// What the session at hand has done so far, and what came into the project with it.
pub trait SessionView {
    /// Directories that belong to the agent alone.
    fn scratch(&self) -> &[String];
    /// Another call of the session may be at work, so that the disk may change before this one runs.
    fn is_busy(&self) -> bool {
        false
    }
    /// The path is a directory among temporary files that the session made, or lies in one and was made after it. Who wrote
    /// what it holds is another question: a repository that was fetched lies there as well.
    fn is_made(&self, _path: &str) -> bool {
        false
    }
    /// Everything in this directory came to be in this session and belongs to the user: nothing was moved, linked or mounted
    /// into it, and it is no work tree of a repository elsewhere.
    fn holds_only_own(&self, _directory: &str) -> bool {
        false
    }
    /// The process belongs to this session.
    fn session_process(&self, pid: u32) -> bool;
    fn history(&self) -> History;
    /// Files that changed since the project was trusted, or were written in this session, other than by plain edits.
    fn changed_files(&self) -> Vec<String>;
    /// The path belongs to something that came into the project and that nobody has trusted.
    fn arrival(&self, path: &str) -> Option<Arrival>;
}

/// What people answered to similar calls before.
pub trait Memory {
    /// The share of overrides, from 0 to 1, of a pattern that a person accepted as asked about too much; `None` for others.
    fn override_rate(&self, pattern: &str) -> Option<f64>;
    /// What that share is made of, where it is known.
    fn accepted_history(&self, _pattern: &str) -> Option<AcceptedHistory> {
        None
    }
    /// The share of decisions on this pattern in the last 30 days that a person overrode. A fact for the record only.
    fn observed_overrides(&self, _pattern: &str) -> Option<f64> {
        None
    }
}

/// Everything that the engine may ask, answered by one machine.
///
/// Paths that are passed in are absolute and free of `.` and `..`.
pub trait World: Machine + Repositories + Configured + SessionView + Memory {}

impl<T: Machine + Repositories + Configured + SessionView + Memory> World for T {}
