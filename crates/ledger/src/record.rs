//! The bodies of the entries: the one place that says which JSON keys the log holds and the index reads.

use crate::event::{Keep, Kind};
use crate::hash::Hash;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A typed body: knows its kind and how long it stays.
pub trait Body: Serialize {
    /// What the entry is about.
    const KIND: Kind;
    /// How long the body stays.
    fn keep(&self) -> Keep {
        Keep::Forever
    }
}

/// What was decided about a call.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Runs without asking.
    Approve,
    /// A person is asked. Also what an absent verdict means.
    #[default]
    Confirm,
    /// Does not run.
    Block,
}

impl Verdict {
    /// The word used on screen and in the index.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Confirm => "confirm",
            Self::Block => "block",
        }
    }
}

/// What layer 1 said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer1 {
    /// Settled as approve, confirm or block, or unsettled.
    pub outcome: String,
    /// The rule that settled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What layer 2 said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer2 {
    /// Class probabilities.
    pub score: Vec<f64>,
    /// Calibrated probability of the top class.
    pub confidence: f64,
}

/// A tool call was judged.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionBody {
    /// Names this decision in answers, outcomes and grants.
    pub id: String,
    /// Which agent asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn within the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The user of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Root of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Working directory of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The tool.
    pub tool: String,
    /// The call in words, secrets replaced.
    pub call: String,
    /// What was observed, as the engine wrote it; replay reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Box<RawValue>>,
    /// What layer 1 said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer1: Option<Layer1>,
    /// What layer 2 said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer2: Option<Layer2>,
    /// What the reviewer said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Box<RawValue>>,
    /// The judgement.
    pub verdict: Verdict,
    /// Why, strictest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The rule that a BLOCK says was violated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<String>,
    /// The operation word of the strictest effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What "similar" means for this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Program, rules, thresholds, model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Microseconds per stage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_us: BTreeMap<String, u64>,
    /// The mode in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Whether a person could answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
    /// Override, identity, sensitivity or irreversible: kept for good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
}

impl Body for DecisionBody {
    const KIND: Kind = Kind::Decision;
    fn keep(&self) -> Keep {
        if self.sensitive || self.violation.is_some() || self.verdict == Verdict::Block {
            Keep::Forever
        } else {
            Keep::Days
        }
    }
}

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
    pub decision: String,
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
        if self.is_override() {
            Keep::Forever
        } else {
            Keep::Days
        }
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
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeBody {
    /// The decision.
    pub decision: String,
    /// What became of it.
    pub became: Became,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl OutcomeBody {
    /// Whether an approval turned out wrong.
    #[must_use]
    pub const fn is_regret(&self) -> bool {
        match self.became {
            Became::Reverted | Became::Flagged => true,
            Became::Ran | Became::Failed => false,
        }
    }
}

impl Body for OutcomeBody {
    const KIND: Kind = Kind::Outcome;
    fn keep(&self) -> Keep {
        if self.is_regret() {
            Keep::Forever
        } else {
            Keep::Days
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
    /// Hash of the exact call, or the pattern of a session grant.
    pub of: String,
    /// The decision it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The session it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
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
    pub session: Option<String>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Body for ModeBody {
    const KIND: Kind = Kind::Mode;
}

/// Something wants attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertBody {
    /// Which alert.
    pub name: String,
    /// What it says.
    pub text: String,
    /// The session it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
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
}

/// A session began, ended or changed its taint or boundaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBody {
    /// Which session.
    pub session: String,
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A decision as large as an everyday one.
    pub(crate) fn everyday(number: u64) -> DecisionBody {
        let facts = r#"{"effects":[{"operation":"execute","target":{"program":"/usr/bin/cargo","words":["test","--workspace"]},"scope":"project","reversibility":"rebuildable","reach":"workspace","sensitivity":"none","coverage":"delegated"}],"rates":{"reads":12},"override_rate":0.01,"taint":[]}"#;
        DecisionBody {
            id: format!("d-{number:016x}"),
            agent: Some("claude".into()),
            session: Some(format!("s-{}", number % 40)),
            project: Some(format!("/home/ada/project-{}", number % 7)),
            cwd: Some("/home/ada/project".into()),
            tool: "bash".into(),
            call: format!("cargo test --workspace -- case_{number}"),
            facts: RawValue::from_string(facts.into()).ok(),
            layer1: Some(Layer1 {
                outcome: "unsettled".into(),
                rule: None,
            }),
            layer2: Some(Layer2 {
                score: vec![0.97, 0.02, 0.01],
                confidence: 0.97,
            }),
            verdict: if number.is_multiple_of(50) {
                Verdict::Block
            } else {
                Verdict::Approve
            },
            violation: (number.is_multiple_of(50)).then(|| "bulk-delete".into()),
            reasons: vec!["trusted recipe, hash unchanged".into()],
            category: Some("execute".into()),
            pattern: Some("bash execute cargo test project rebuildable workspace".into()),
            versions: [("rules".into(), "12".into()), ("model".into(), "3".into())].into(),
            latency_us: [("observe".into(), 8), ("judge".into(), 5)].into(),
            mode: Some("auto".into()),
            ..DecisionBody::default()
        }
    }

    #[test]
    fn an_everyday_decision_takes_at_most_a_kilobyte() {
        let size = serde_json::to_vec(&everyday(7)).unwrap().len() + crate::frame::OVERHEAD;
        eprintln!("everyday decision on disk: {size} bytes");
        assert!(size <= 1024, "{size}");
    }

    #[test]
    fn blocks_violations_and_sensitive_calls_are_kept_for_good() {
        let check = |body: DecisionBody, want| assert_eq!(body.keep(), want, "{body:?}");
        check(DecisionBody::default(), Keep::Days);
        check(
            DecisionBody {
                verdict: Verdict::Block,
                ..Default::default()
            },
            Keep::Forever,
        );
        check(
            DecisionBody {
                sensitive: true,
                ..Default::default()
            },
            Keep::Forever,
        );
        check(
            DecisionBody {
                violation: Some("x".into()),
                ..Default::default()
            },
            Keep::Forever,
        );
    }

    #[test]
    fn a_body_with_unknown_keys_and_without_optional_ones_is_read() {
        let body: DecisionBody = serde_json::from_str(r#"{"id":"a","later":1}"#).unwrap();
        assert_eq!((body.id.as_str(), body.verdict), ("a", Verdict::Confirm));
        let text = serde_json::to_string(&SessionBody {
            session: "s".into(),
            agent: None,
            step: SessionStep::Taint("web".into()),
        });
        assert_eq!(
            text.unwrap(),
            r#"{"session":"s","step":"taint","what":"web"}"#
        );
    }
}
