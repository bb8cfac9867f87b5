//! Everything that `judge` may know about a call. The ledger stores it, so every decision can be judged again.

use doorward_vocabulary::{FlowKind, PatternId};
use serde::{Deserialize, Serialize};

use crate::contained::Contained;
use crate::coverage::Coverage;
use crate::effect::{Effect, Part};
use crate::reviewed::Review;
use crate::world::AcceptedHistory;

/// A flow from one part of the command to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    pub kind: FlowKind,
    #[serde(default)]
    pub from: Part,
    #[serde(default)]
    pub to: Part,
}

/// The directory in which the commands run, from one of them on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directory {
    /// The place of the first such command in [`Facts::commands`].
    pub from: u32,
    /// `None` if it is not known.
    pub path: Option<String>,
}

/// A file that something which outlives its call runs, and the command that runs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftRun {
    /// Empty if any script may be the one that is run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// `None` if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// It is read later, or again and again.
    #[serde(skip_serializing_if = "is_false")]
    pub is_reread: bool,
}

/// What the builds of a call made of the trusted project, once it has run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Built {
    /// Files and directories that a compiler or a build was told to make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// A recipe was followed that may make anything below this directory that git does not keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// What else the call wrote; none of it was built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// What the user's own words say about this call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Intent {
    /// The user's latest words name this operation and this target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<String>,
    /// The effects that those words cover, by their place in [`Facts::effects`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<u32>,
    /// The call crosses something that the user said not to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<String>,
}

/// Counts of this session and of the past.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    #[serde(skip_serializing_if = "is_zero")]
    pub reads_last_minute: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub reads_last_seconds: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub denials_in_a_row: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub denials: u32,
    /// Tracked files that the session deleted or edited in place unasked.
    #[serde(skip_serializing_if = "is_zero")]
    pub restorable: u32,
    /// The share of overrides of a pattern that a person accepted as asked about too much. The scorer weighs it, and it can
    /// only calm. Older records have live counts as `override_rate`, which nobody accepted and nothing reads any more.
    #[serde(rename = "accepted_rate", skip_serializing_if = "Option::is_none")]
    pub override_rate: Option<f64>,
    /// What that share is made of, for the reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<AcceptedHistory>,
    /// The share of the decisions on the same pattern in the last 30 days that a person overrode, where there are any. It is
    /// recorded and never judged: a yes is no risk, and nothing is learnt from it without a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_overrides: Option<f64>,
}

/// All that was observed about a call, redacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    // The record has these three beside the facts and leaves them out here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The command, path, URL or name that the call is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Every simple command of a shell call as normalised words, for permission patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Where the commands run, where that is not the directory of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<Directory>,
    pub effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    pub coverage: Coverage,
    /// Files and directories of the project that the call fills with content nobody has read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<String>,
    /// The call is nothing but a contained run, and the rest says what happens inside.
    #[serde(default, skip_serializing_if = "is_false")]
    pub boxed: bool,
    /// Something that the call starts goes on after its end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lingers: bool,
    /// What that runs, also by way of other files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftRun>,
    /// What its builds leave for later calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<Built>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub intent: Intent,
    /// What a language model answered, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The effects are what a contained run did, and this is how it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contained: Option<Contained>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub counts: Counts,
    /// What "similar" means for override rates, tickets and session grants.
    #[serde(default, skip_serializing_if = "PatternId::is_empty")]
    pub pattern: PatternId,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub attended: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub cancelled: bool,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub project_trusted: bool,
    /// The roots that permission patterns may be relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Facts {
    pub fn has_flow(&self, kind: FlowKind) -> bool {
        self.flows.iter().any(|flow| flow.kind == kind)
    }

    /// The directory of the command at this place; `None` stands for the directory of the call.
    pub fn directory(&self, command: usize) -> Option<&Directory> {
        self.directories.iter().take_while(|directory| directory.from as usize <= command).last()
    }

    /// The gravest effect: what the call is filed under.
    pub fn gravest(&self) -> Option<&Effect> {
        self.effects.iter().max_by_key(|effect| {
            (
                effect.reversibility == doorward_vocabulary::Reversibility::Irreversible,
                effect.reach,
                effect.operation,
                effect.scope,
            )
        })
    }
}
