//! One thing a call would do: an operation on a target, with how far it reaches and whether it can be undone.

use serde::{Deserialize, Serialize};

use crate::marks::Marks;
use crate::words::words;

words! {
    /// What is done to the target.
    Operation {
        Read = "read" : "looks at something and changes nothing",
        Write = "write" : "creates or changes a file",
        Execute = "execute" : "runs code that is not fully seen here",
        Network = "network" : "talks to another machine",
        Delete = "delete" : "removes a file or its content",
        Mutate = "mutate" : "changes state that is not a file: processes, packages, git refs, services, databases, cloud",
    }
}

words! {
    /// Where the target lies, from the agent's own corner outward.
    Scope {
        Scratch = "scratch" : "temporary files that belong to the agent",
        File = "file" : "one file of the project",
        Directory = "directory" : "a directory of the project",
        Project = "project" : "the whole project",
        OtherRepo = "other-repo" : "another repository or the rest of the home directory",
        System = "system" : "the machine beyond the user's own files",
        External = "external" : "another machine or service",
    }
}

words! {
    /// Whether what is changed can be had back.
    Reversibility {
        NothingChanges = "nothing-changes" : "there is nothing to undo",
        Rebuildable = "rebuildable" : "ignored build output that a build makes again",
        Snapshotted = "snapshotted" : "doorward has a copy",
        Tracked = "tracked" : "git restores it, once somebody notices",
        Irreversible = "irreversible" : "nothing brings it back",
    }
}

words! {
    /// Blast radius: who or what feels it.
    Reach {
        Workspace = "workspace" : "only the agent's own work",
        Project = "project" : "the project that the agent works on",
        Shared = "shared" : "manifest, continuous integration, infrastructure: everybody who builds the project",
        Machine = "machine" : "other programs and users of this machine",
        Identity = "identity" : "authentication or encryption material",
        Beyond = "beyond" : "people and systems elsewhere",
    }
}

words! {
    /// What the content or the target is.
    Sensitivity {
        None = "none" : "nothing sensitive was recognised",
        SecretShaped = "secret-shaped" : "text shaped like a token or password",
        Personal = "personal" : "personal data",
        Credential = "credential" : "a credential store or token file",
        Key = "key" : "a private key",
    }
}

/// What the effect acts on, redacted and resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// An absolute path after links and dots are resolved.
    Path(String),
    /// A host name or address.
    Host(String),
    /// A program, by name or path.
    Program(String),
    /// A named thing that is not a file: a branch, a package, a process, a table.
    Resource(String),
    /// It cannot be said what is acted on.
    Unknown,
}

impl Target {
    /// The target as a person reads it.
    pub fn shown(&self) -> &str {
        match self {
            Target::Path(text) | Target::Host(text) | Target::Program(text) | Target::Resource(text) => text,
            Target::Unknown => "something unknown",
        }
    }
}

/// Where in the command an effect comes from: byte offsets into the redacted text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub start: u32,
    pub end: u32,
}

/// How much an effect loses or hands over, as far as it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Amount {
    pub files: u64,
    pub bytes: u64,
    /// Counting ended before everything was seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// One thing the call would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub operation: Operation,
    pub target: Target,
    pub scope: Scope,
    pub reversibility: Reversibility,
    pub reach: Reach,
    #[serde(default = "no_sensitivity", skip_serializing_if = "is_insensitive")]
    pub sensitivity: Sensitivity,
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
    /// Program and subcommand that cause it, e.g. `git push`; empty for file tools.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    #[serde(default, skip_serializing_if = "is_whole")]
    pub part: Part,
    /// What a deletion loses for good, or a read hands over as a whole. The limits of the policy are held against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// So many files of the project import the file that is changed or deleted, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependents: Option<u32>,
    /// So many tracked files are deleted or put back, where one target stands for several.
    #[serde(default, skip_serializing_if = "is_none")]
    pub restorable: u64,
}

fn no_sensitivity() -> Sensitivity {
    Sensitivity::None
}

fn is_insensitive(sensitivity: &Sensitivity) -> bool {
    *sensitivity == Sensitivity::None
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

fn is_whole(part: &Part) -> bool {
    *part == Part::default()
}

impl Effect {
    /// An effect with the mildest value in every dimension but the operation and target.
    pub fn new(operation: Operation, target: Target) -> Effect {
        Effect {
            operation,
            target,
            scope: Scope::File,
            reversibility: Reversibility::NothingChanges,
            reach: Reach::Workspace,
            sensitivity: Sensitivity::None,
            marks: Marks::default(),
            by: String::new(),
            part: Part::default(),
            amount: None,
            dependents: None,
            restorable: 0,
        }
    }
}
