//! One thing a call would do: an operation on a target, with how far it reaches and whether it can be undone.

use doorward_vocabulary::{Marks, Operation, Reach, Reversibility, Scope, Sensitivity};
use serde::{Deserialize, Serialize};

/// Stands between the recipe that a call runs and the program in it that does something.
pub(crate) const RECIPE: &str = " › ";

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
