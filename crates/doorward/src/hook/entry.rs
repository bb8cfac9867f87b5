//! Log entries for calls, their outcomes and sessions.

use std::collections::BTreeMap;

use anyhow::Result;
use doorward_engine::{Facts, Policy, Reach, Reversibility, Sensitivity, Verdict};
use doorward_ledger::{
    AlertBody, AlertKind, AnswerBody, Became, By, DecisionBody, Layer2, ModeBody, OutcomeBody, Reply, SessionBody,
    SessionStep,
};
use doorward_vocabulary::PatternId;

use crate::hook::agents::{CallReport, CallResult, Lifecycle, ProposedCall, SessionEvent, SessionSwitch};
use crate::machine::file_digests::FileDigests;
use crate::machine::record::LogEntry;
use crate::memory::decisions::{layer1, score};
use crate::memory::evaluation::{Decided, Evaluation};

/// Where a call was judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecisionContext<'a> {
    pub project: Option<&'a str>,
    /// The session's place in each rollout.
    pub words: &'a BTreeMap<String, String>,
}

/// The entry for a judged call.
pub(crate) fn decision(
    id: &str,
    proposed: &ProposedCall,
    decided: &Decided,
    placed: DecisionContext<'_>,
) -> Result<LogEntry> {
    let DecisionContext { project, words } = placed;
    let Evaluation { facts, judgement, .. } = &decided.evaluation;
    let call = &proposed.call;
    // A block without a rule comes from the matrix or a permission; its source stands in for the name.
    let violated = judgement.rule.as_deref().unwrap_or(judgement.settled_by.as_str());
    let body = DecisionBody {
        id: id.into(),
        agent: Some(call.agent.clone()).filter(|agent| !agent.is_empty()),
        session: Some(call.session.clone()).filter(|session| !session.is_empty()),
        turn: proposed.turn.clone(),
        user: crate::machine::user(),
        project: project.map(str::to_owned),
        cwd: Some(call.cwd.clone()),
        tool: facts.tool.clone(),
        call: facts.subject.clone(),
        facts: Some(serde_json::value::to_raw_value(&lean(facts))?),
        layer1: Some(layer1(judgement)),
        layer2: judgement.confidence.map(|confidence| Layer2 { score: score(judgement), confidence: confidence.get() }),
        review: decided.review.as_ref().map(|review| review.said.clone()),
        verdict: judgement.verdict,
        reasons: judgement.reasons_to_read().map(|opinion| opinion.because.clone()).collect(),
        violation: (judgement.verdict == Verdict::Block).then(|| violated.to_owned()),
        category: facts.gravest().map(|effect| effect.operation.as_str().to_owned()),
        pattern: Some(facts.pattern.clone()),
        leaves: crate::memory::session::leaves(decided),
        snapshot: decided.snapshot.clone(),
        before: decided.before.clone(),
        versions: BTreeMap::from([
            ("program".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("policy".to_owned(), judgement.policy.clone()),
            ("knowledge".to_owned(), Policy::KNOWLEDGE.to_owned()),
        ])
        .into_iter()
        .chain(words.clone())
        .collect(),
        watched: judgement.shadow.iter().filter_map(|opinion| opinion.rule.clone()).collect(),
        latency_us: latency(decided),
        mode: Some(decided.mode),
        demanded: decided.demanded.map(str::to_owned),
        attended: Some(call.attended),
        left_to: decided.left_to.map(str::to_owned),
        contained: decided.contained.map(str::to_owned),
        sensitive: is_sensitive(&decided.evaluation),
    };
    LogEntry::new(&body)
}

/// Microseconds of each stage.
fn latency(decided: &Decided) -> BTreeMap<String, u64> {
    let Evaluation { took, observing, scoring, .. } = &decided.evaluation;
    let micros = |took: std::time::Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    // The stages add up to the whole, so the scorer is not part of the rest of judging.
    let judging = took.saturating_sub(*observing).saturating_sub(scoring.unwrap_or_default());
    let mut stages =
        BTreeMap::from([("observe".to_owned(), micros(*observing)), ("judge".to_owned(), micros(judging))]);
    if let Some(scoring) = scoring {
        stages.insert("score".to_owned(), micros(*scoring));
    }
    if let Some(review) = &decided.review {
        stages.insert("review".to_owned(), review.took_ms.saturating_mul(1000));
    }
    stages
}

/// The facts without the fields that the entry already has.
fn lean(facts: &Facts) -> Facts {
    Facts {
        tool: String::new(),
        subject: String::new(),
        pattern: PatternId::default(),
        agent: String::new(),
        ..facts.clone()
    }
}

/// The entry for a yes in the agent's own prompt: doorward asked, and the call ran.
pub(crate) fn yes(decision: &str) -> Result<LogEntry> {
    LogEntry::new(&AnswerBody { decision: decision.into(), reply: Reply::Approved, by: By::Client, why: None })
}

/// The entry for the outcome of a call, with digests of the files it changed.
pub(crate) fn outcome(outcome: CallReport, after: FileDigests) -> Result<LogEntry> {
    let became = match outcome.result {
        CallResult::Ran => Became::Ran,
        CallResult::Failed => Became::Failed,
        CallResult::Declined => return no(outcome.id, By::Classifier, None),
        CallResult::Refused => return no(outcome.id, By::Client, None),
    };
    LogEntry::new(&OutcomeBody { after, ..OutcomeBody::new(outcome.id.into(), became, None) })
}

/// The alert for a call whose files changed between the question and the end of the call.
pub(crate) fn exchanged(outcome: &CallReport, path: &str) -> Result<LogEntry> {
    let text = format!("{path}: changed between the question and the end of the call {}", outcome.id);
    let alert = crate::memory::alerts::new_alert(AlertKind::Exchanged, path, &text);
    LogEntry::new(&AlertBody { session: Some(outcome.session.clone()), ..alert })
}

/// The entry for a call that the agent asked about and that never ran.
pub(crate) fn never_ran(decision: String) -> Result<LogEntry> {
    no(decision, By::Client, Some("it had not run when the session ended"))
}

fn no(decision: String, by: By, why: Option<&str>) -> Result<LogEntry> {
    LogEntry::new(&AnswerBody { decision: decision.into(), reply: Reply::Declined, by, why: why.map(str::to_owned) })
}

/// The entry for a session that the user switched on or off.
pub(crate) fn switched(switched: SessionSwitch) -> Result<LogEntry> {
    let mode = if switched.is_on { "on" } else { "off" }.to_owned();
    let user = crate::machine::user();
    LogEntry::new(&ModeBody { mode, before: None, session: Some(switched.session), user })
}

/// The entry for a session that began, ended or changed.
pub(crate) fn session(agent: &str, event: SessionEvent) -> Result<LogEntry> {
    let step = match event.step {
        Lifecycle::Began => SessionStep::Began,
        Lifecycle::Ended => SessionStep::Ended,
        Lifecycle::Compacted => SessionStep::Compacted,
        Lifecycle::SubagentBegan(name) => SessionStep::SubagentBegan(name),
        Lifecycle::SubagentEnded(name) => SessionStep::SubagentEnded(name),
    };
    LogEntry::new(&SessionBody { session: event.session, agent: Some(agent.to_owned()), step })
}

/// The entry for a limit that the user stated.
pub(crate) fn boundary(agent: &str, session: &str, limit: String) -> Result<LogEntry> {
    let step = SessionStep::Boundary(limit);
    LogEntry::new(&SessionBody { session: session.into(), agent: Some(agent.to_owned()), step })
}

/// The entry is never dropped by retention.
fn is_sensitive(evaluation: &Evaluation) -> bool {
    evaluation.judgement.verdict == Verdict::Block
        || evaluation.facts.effects.iter().any(|effect| {
            effect.reversibility == Reversibility::Irreversible
                || effect.reach == Reach::Identity
                || effect.sensitivity != Sensitivity::None
        })
}
