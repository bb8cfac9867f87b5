//! What the record keeps of a call and of what became of it.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use doorward_engine::{Facts, Mode, Reach, Reversibility, Sensitivity, Verdict};
use serde::Serialize;
use serde_json::json;

use crate::agents::{Outcome, Proposed};
use crate::judging::Considered;

/// A judged call. The keys are those that the ledger reads.
#[derive(Debug, Serialize)]
struct Decision<'a> {
    kind: &'static str,
    time_ms: u64,
    id: String,
    agent: &'a str,
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<&'a str>,
    user: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    cwd: &'a str,
    tool: &'a str,
    call: &'a str,
    facts: &'a Facts,
    verdict: Verdict,
    settled_by: &'static str,
    reasons: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    pattern: &'a str,
    versions: BTreeMap<&'static str, &'a str>,
    latency_us: BTreeMap<&'static str, u64>,
    mode: &'static str,
    attended: bool,
    sensitive: bool,
}

/// The entry of a judged call, and the name under which later entries refer to it.
pub fn decision(proposed: &Proposed, considered: &Considered, mode: Mode, project: Option<&str>) -> serde_json::Result<Vec<u8>> {
    let (call, facts, judgement) = (&proposed.call, &considered.facts, &considered.judgement);
    let reasons: Vec<&str> = judgement.reasons().map(|opinion| opinion.because.as_str()).collect();
    let violated = judgement.rule.as_deref().unwrap_or(judgement.settled_by.as_str());
    serde_json::to_vec(&Decision {
        kind: "decision",
        time_ms: now(),
        id: proposed.id.clone().unwrap_or_else(|| format!("{:x}-{:x}", now(), std::process::id())),
        agent: &call.agent,
        session: &call.session,
        turn: proposed.turn.as_deref(),
        user: rustix::process::geteuid().as_raw().to_string(),
        project,
        cwd: &call.cwd,
        tool: &facts.tool,
        call: &facts.subject,
        facts,
        verdict: judgement.verdict,
        settled_by: judgement.settled_by.as_str(),
        violation: (judgement.verdict == Verdict::Block).then_some(violated),
        reasons,
        category: facts.gravest().map(|effect| effect.operation.as_str()),
        pattern: &facts.pattern,
        versions: BTreeMap::from([("program", env!("CARGO_PKG_VERSION")), ("policy", judgement.policy.as_str())]),
        latency_us: BTreeMap::from([("judge", u64::try_from(considered.took.as_micros()).unwrap_or(u64::MAX))]),
        mode: mode.as_str(),
        attended: call.attended,
        sensitive: is_sensitive(considered),
    })
}

/// The entry of what became of a call.
pub fn outcome(outcome: &Outcome) -> Vec<u8> {
    let entry = json!({ "kind": "outcome", "time_ms": now(), "decision": outcome.id, "session": outcome.session, "became": outcome.became });
    entry.to_string().into_bytes()
}

/// The entry of a session that began or ended.
pub fn session(agent: &str, session: &str, step: &str) -> Vec<u8> {
    json!({ "kind": "session", "time_ms": now(), "agent": agent, "session": session, "step": step }).to_string().into_bytes()
}

/// Whether the entry is kept for good.
fn is_sensitive(considered: &Considered) -> bool {
    considered.judgement.verdict == Verdict::Block
        || considered.facts.effects.iter().any(|effect| {
            effect.reversibility == Reversibility::Irreversible
                || effect.reach == Reach::Identity
                || effect.sensitivity != Sensitivity::None
        })
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
