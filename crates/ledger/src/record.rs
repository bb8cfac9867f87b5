//! The bodies of the entries: with `record/`, the one place that says which JSON keys the log holds and the index reads.

mod events;
pub use events::{
    AlertBody, AlertStep, AnswerBody, Became, By, CheckpointBody, DeviceBody, DeviceStep, GapBody, GrantBody,
    GrantStep, ModeBody, OutcomeBody, PolicyBody, Reply, SessionBody, SessionStep, TombstoneBody,
};

use doorward_vocabulary::{CallId, Mode, PatternId, SessionId, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::event::{Keep, Kind};

/// A typed body: knows its kind and how long it stays.
pub trait Body: Serialize {
    /// What the entry is about.
    const KIND: Kind;
    /// How long the body stays.
    fn keep(&self) -> Keep {
        Keep::Forever
    }
}

/// What layer 1 said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer1 {
    /// Pass, confirm, block, or unsettled; older records say `approve`, and `unsettled` wherever layer 2 ran.
    pub outcome: String,
    /// The rule that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What layer 2 said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layer2 {
    /// The probabilities of approve, which is the score that it is safe, confirm and block; older records have none.
    pub score: Vec<f64>,
    /// Calibrated probability of the top class.
    pub confidence: f64,
}

/// The copy that was made of what the call changes, before it was let run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotTaken {
    /// What `doorward undo` calls it.
    pub id: String,
    /// How many files and links it holds.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// A tool call was judged.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionBody {
    /// Names this decision in answers, outcomes and grants.
    pub id: CallId,
    /// Which agent asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
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
    /// What was observed, as the engine wrote it, without what stands beside it here; replay reads it.
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
    pub pattern: Option<PatternId>,
    /// Rules that are only watched and would have spoken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<String>,
    /// What it leaves behind for the rest of the session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// The copy of what it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotTaken>,
    /// What the files it changes held before, as keyed digests.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, String>,
    /// Program, rules, thresholds, model, and where the session stands in what is rolled out in stages.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Microseconds per stage.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_us: BTreeMap<String, u64>,
    /// The mode in force.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known_mode")]
    pub mode: Option<Mode>,
    /// Who demanded the question or the refusal, where doorward's own judgement in mode `auto` would have let the call pass: an
    /// ask pattern, a boundary, a limit, a secret that was read before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demanded: Option<String>,
    /// Whether a person could answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
    /// Who was to answer the question in place of whoever sits before the agent: the `queue` of calls that wait, the agent's
    /// own `classifier`, where the user chose that, or the `box`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_to: Option<String>,
    /// How the call got to the box: `steered`, `rehearsed` or `replaced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contained: Option<String>,
    /// Override, identity, sensitivity or irreversible: kept for good.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
}

/// A mode that a later version added is no mode here; the log keeps the word.
fn known_mode<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Mode>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    Ok(word.as_deref().and_then(Mode::parse))
}

impl DecisionBody {
    /// Whether a person's yes is an override: doorward itself stopped the call, in mode `auto`.
    #[must_use]
    pub fn may_be_overridden(&self) -> bool {
        let is_auto = self.mode.is_none_or(|mode| mode == Mode::Auto);
        self.verdict != Verdict::AutoApprove && is_auto && self.demanded.is_none()
    }
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A decision as large as an everyday one.
    pub(crate) fn everyday(number: u64) -> DecisionBody {
        let facts = r#"{"effects":[{"operation":"execute","target":{"program":"/usr/bin/cargo","words":["test","--workspace"]},"scope":"project","reversibility":"rebuildable","reach":"workspace","sensitivity":"none","coverage":"delegated"}],"rates":{"reads":12},"override_rate":0.01,"taint":[]}"#;
        DecisionBody {
            id: format!("d-{number:016x}").into(),
            agent: Some("claude".into()),
            session: Some(format!("s-{}", number % 40).into()),
            project: Some(format!("/home/ada/project-{}", number % 7)),
            cwd: Some("/home/ada/project".into()),
            tool: "bash".into(),
            call: format!("cargo test --workspace -- case_{number}"),
            facts: RawValue::from_string(facts.into()).ok(),
            layer1: Some(Layer1 { outcome: "unsettled".into(), rule: None }),
            layer2: Some(Layer2 { score: vec![0.97, 0.02, 0.01], confidence: 0.97 }),
            verdict: if number.is_multiple_of(50) { Verdict::Block } else { Verdict::AutoApprove },
            violation: (number.is_multiple_of(50)).then(|| "bulk-delete".into()),
            reasons: vec!["trusted recipe, hash unchanged".into()],
            category: Some("execute".into()),
            pattern: Some("bash execute cargo test project rebuildable workspace".into()),
            versions: [("rules".into(), "12".into()), ("model".into(), "3".into())].into(),
            latency_us: [("observe".into(), 8), ("judge".into(), 5)].into(),
            mode: Some(Mode::Auto),
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
        check(DecisionBody { verdict: Verdict::Block, ..Default::default() }, Keep::Forever);
        check(DecisionBody { sensitive: true, ..Default::default() }, Keep::Forever);
        check(DecisionBody { violation: Some("x".into()), ..Default::default() }, Keep::Forever);
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
        assert_eq!(text.unwrap(), r#"{"session":"s","step":"taint","what":"web"}"#);
    }
}
