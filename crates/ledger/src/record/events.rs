//! The bodies of everything but decisions.

use doorward_vocabulary::{CallId, SessionId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::Body;
use crate::event::{Keep, Kind};
use crate::hash::Hash;

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// The call may run.
    Approved,
    /// It may not.
    Declined,
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A person, asked by us.
    Person,
    /// The client's own prompt, inferred from its events.
    Client,
    /// The classifier.
    Classifier,
}

/// Somebody said yes or no to a judged call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerBody {
    /// The decision.
    pub decision: CallId,
    /// Yes or no.
    pub reply: Reply,
    /// Who.
    pub by: By,
    /// In which words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl AnswerBody {
    /// Whether a person let run what was not approved.
    #[must_use]
    pub fn is_override(&self) -> bool {
        self.reply == Reply::Approved && matches!(self.by, By::Person | By::Client)
    }
}

impl Body for AnswerBody {
    const KIND: Kind = Kind::Answer;
    fn keep(&self) -> Keep {
        if self.is_override() { Keep::Forever } else { Keep::Days }
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It ran.
    Ran,
    /// It ran and failed.
    Failed,
    /// Its effect was taken back.
    Reverted,
    /// A person said it should not have run.
    Flagged,
    /// A person said it should have run unasked, or did it by hand after it was blocked.
    Friction,
    /// A person said it was decided well; takes back what was said before.
    Fine,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeBody {
    /// The decision.
    pub decision: CallId,
    /// What became of it.
    pub became: Became,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What the files it changes held afterwards, as keyed digests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub after: BTreeMap<String, String>,
}

impl OutcomeBody {
    /// What became of a decision, and more about it.
    #[must_use]
    pub const fn new(decision: CallId, became: Became, detail: Option<String>) -> Self {
        Self { decision, became, detail, after: BTreeMap::new() }
    }

    /// Whether an approval turned out wrong.
    #[must_use]
    pub const fn is_regret(&self) -> bool {
        match self.became {
            Became::Reverted | Became::Flagged => true,
            Became::Ran | Became::Failed | Became::Friction | Became::Fine => false,
        }
    }
}

impl Body for OutcomeBody {
    const KIND: Kind = Kind::Outcome;
    fn keep(&self) -> Keep {
        match self.became {
            Became::Reverted | Became::Flagged | Became::Friction | Became::Fine => Keep::Forever,
            Became::Ran | Became::Failed => Keep::Days,
        }
    }
}

/// What happened to a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantStep {
    /// A person stored it.
    Stored,
    /// A call used it up.
    Used,
    /// A person took it back.
    Withdrawn,
    /// Its time ran out.
    Expired,
}

/// An override was stored or used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantBody {
    /// What happened.
    pub step: GrantStep,
    /// The grant itself, by the name it was given when it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// Hash of the exact call, or the pattern of a session grant.
    pub of: String,
    /// The decision it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<CallId>,
    /// The session it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// In which words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it clears at most: soft, firm, hard or dual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clears: Option<String>,
}

impl Body for GrantBody {
    const KIND: Kind = Kind::Grant;
}

/// A rule, threshold, permission or trust changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyBody {
    /// What changed, in words.
    pub what: String,
    /// Hash or text before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Hash or text after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The project it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Body for PolicyBody {
    const KIND: Kind = Kind::Policy;
}

/// The mode changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeBody {
    /// The mode from now on.
    pub mode: String,
    /// The mode before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The session, if only that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Body for ModeBody {
    const KIND: Kind = Kind::Mode;
}

/// What happened to an alert.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertStep {
    /// It went off.
    #[default]
    Raised,
    /// A person has seen it.
    Acknowledged,
    /// A person has dealt with it.
    Resolved,
}

impl AlertStep {
    /// What an absent word means.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    fn is_raised(&self) -> bool {
        *self == Self::Raised
    }
}

/// Something wants attention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertBody {
    /// Which alert.
    pub name: String,
    /// What it says, or why it is resolved.
    pub text: String,
    /// What happened.
    #[serde(default, skip_serializing_if = "AlertStep::is_raised")]
    pub step: AlertStep,
    /// Names this alert and what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The session it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

impl Body for AlertBody {
    const KIND: Kind = Kind::Alert;
}

/// Bytes of the log were lost. What was lost was never acknowledged if it is at most one record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapBody {
    /// `torn` or `segment missing`.
    pub reason: String,
    /// The last sequence before the loss.
    pub after: u64,
    /// How many bytes; `None` if nobody can know.
    pub bytes: Option<u64>,
    /// How many records at most; `None` if nobody can know.
    pub records_at_most: Option<u64>,
}

impl Body for GapBody {
    const KIND: Kind = Kind::Gap;
}

/// Bodies were dropped by retention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TombstoneBody {
    /// Sequences from–to, both included, whose bodies are gone.
    pub dropped: Vec<(u64, u64)>,
    /// Everything dropped was older than this many days.
    pub days: u32,
}

impl Body for TombstoneBody {
    const KIND: Kind = Kind::Tombstone;
}

/// A signed statement was made; it covers the log up to and with this entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointBody {
    /// The last sequence before this entry.
    pub sequence: u64,
    /// The Merkle root before this entry.
    pub root: Hash,
    /// Fingerprint of the key that signs.
    pub key: Hash,
}

impl Body for CheckpointBody {
    const KIND: Kind = Kind::Checkpoint;
}

/// What happened to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "step", content = "what")]
pub enum SessionStep {
    /// It began.
    Began,
    /// It ended.
    Ended,
    /// It touched something that makes later calls riskier.
    Taint(String),
    /// The user said not to do something.
    Boundary(String),
    /// A person set its counters back.
    Reset,
    /// Its history was replaced by a summary.
    Compacted,
    /// It started an agent of its own, known by this name.
    #[serde(rename = "subagent-began")]
    SubagentBegan(String),
    /// That agent ended.
    #[serde(rename = "subagent-ended")]
    SubagentEnded(String),
}

/// A session began, ended or changed its taint or boundaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBody {
    /// Which session.
    pub session: SessionId,
    /// Which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub step: SessionStep,
}

impl Body for SessionBody {
    const KIND: Kind = Kind::Session;
    fn keep(&self) -> Keep {
        Keep::Days
    }
}

/// What happened with a device that may answer for its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceStep {
    /// A person paired it at a terminal.
    Paired,
    /// A person took its right away.
    Revoked,
    /// It signed an answer.
    Answered,
}

impl DeviceStep {
    /// The word used on screen and in the index.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Paired => "paired",
            Self::Revoked => "revoked",
            Self::Answered => "answered",
        }
    }
}

/// A device was paired or revoked, or signed an answer. The answer itself has entries of its own behind this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceBody {
    /// What happened.
    pub step: DeviceStep,
    /// The start of its key's hash.
    pub device: String,
    /// What its user calls it.
    pub name: String,
    /// What its key is for: `ed25519` or `p256`.
    pub algorithm: String,
    /// Its public key in base64.
    pub key: String,
    /// The decision that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<CallId>,
    /// Exactly the text that was signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The signature in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Whose machine it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Body for DeviceBody {
    const KIND: Kind = Kind::Device;
}
