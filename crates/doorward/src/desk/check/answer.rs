//! The answer to one checked call, as one line of JSON.

use serde::Serialize;
use serde_json::Value;

use crate::machine::visible;
use crate::memory::evaluation::Evaluation;

/// One line of the output of `check --jsonl`.
#[derive(Debug, Serialize)]
pub(crate) struct CheckAnswer {
    pub id: Value,
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleared_by: Option<&'static str>,
    pub settled_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    pub coverage: &'static str,
    /// The verdict after snapshotting what the call would lose, as the hook does in mode `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_copied: Option<&'static str>,
    /// What stands against trying it in a contained run; empty if that may answer the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacles: Option<Vec<&'static str>>,
    pub reasons: Vec<String>,
    pub latency_us: u64,
}

impl CheckAnswer {
    pub(crate) fn new(id: Value, evaluation: &Evaluation) -> CheckAnswer {
        let judgement = &evaluation.judgement;
        CheckAnswer {
            id,
            verdict: judgement.verdict.as_str(),
            cleared_by: judgement.cleared_by.map(|clearance| clearance.as_str()),
            settled_by: judgement.settled_by.as_str(),
            rule: judgement.rule.clone(),
            confidence: judgement.confidence.map(|confidence| confidence.get()),
            coverage: evaluation.facts.coverage.degree.as_str(),
            if_copied: evaluation.if_copied.map(|verdict| verdict.as_str()),
            obstacles: evaluation.obstacles.as_ref().map(|all| all.iter().map(|one| one.as_str()).collect()),
            reasons: judgement.reasons_to_read().map(|opinion| visible(&opinion.because).into_owned()).collect(),
            latency_us: u64::try_from(evaluation.took.as_micros()).unwrap_or(u64::MAX),
        }
    }

    /// The answer to a line that is not a call.
    pub(crate) fn malformed(id: Value, reason: String) -> CheckAnswer {
        CheckAnswer {
            id,
            verdict: doorward_engine::Verdict::Confirm.as_str(),
            cleared_by: None,
            settled_by: "malformed",
            rule: None,
            confidence: None,
            coverage: doorward_engine::Degree::Opaque.as_str(),
            if_copied: None,
            obstacles: None,
            reasons: vec![reason],
            latency_us: 0,
        }
    }
}
