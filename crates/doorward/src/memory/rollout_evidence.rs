//! What the record says about a rollout: decisions, what people answered, what was regretted.

pub(crate) use crate::policy::rollout::assign::rule_key;
use std::collections::BTreeMap;

use anyhow::Result;
use doorward_engine::{Policy, judge};
use doorward_ledger::{AnswerBody, Became, By, DecisionBody, Filter, Kind, Log, OutcomeBody, ReadError, Reply};
use doorward_vocabulary::{CallId, Mode, PatternId, SessionId, Verdict};

use crate::memory::decisions;
use crate::memory::ledger_view::LedgerView;
use crate::policy::rollout::assign::{STAGE, THRESHOLDS};
use crate::policy::rollout::state::Subject;
use crate::policy::rollout::trial::Arm;

/// One decision and its outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JudgedCall {
    pub time_ms: u64,
    pub agent: String,
    pub session: SessionId,
    pub mode: Option<Mode>,
    /// What was decided.
    pub verdict: Verdict,
    /// What would have been decided in mode `auto`.
    pub would: Verdict,
    /// What "similar" means for it.
    pub pattern: PatternId,
    /// The rule that decided it, or that it violated.
    pub rule: Option<String>,
    /// Shadow rules that would have had an opinion.
    pub watched: Vec<String>,
    /// Which side the session was on, as recorded.
    pub placed: BTreeMap<String, String>,
    /// The user approved or refused it.
    pub answer: Option<Answer>,
    /// An approval is an override: doorward itself stopped it, in mode `auto`.
    pub may_be_overridden: bool,
    /// When the user overrode it.
    pub overridden_ms: Option<u64>,
    /// When it was regretted.
    pub regretted_ms: Option<u64>,
    /// The user said so; it was not just reverted.
    pub is_flagged: bool,
}

/// What the user wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    LetRun,
    Refused,
}

/// The user's answer, compared with what `auto` would have said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// A yes to what `auto` would have approved.
    Agreement,
    /// A yes to what `auto` would have asked about or blocked.
    Friction,
    /// A no to what `auto` would have approved, or regret.
    Disagreement,
}

impl JudgedCall {
    /// The set of thresholds it was judged by, if one was on trial.
    pub(crate) fn arm(&self) -> Option<Arm> {
        match self.placed.get(THRESHOLDS)?.split(':').next()? {
            "a" => Some(Arm::A),
            "b" => Some(Arm::B),
            _ => None,
        }
    }

    /// It counts for the rollout: the session was on the new side.
    pub(crate) fn is_for(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Agent(name) => {
                self.agent == *name && self.mode == Some(Mode::Auto) && self.placed.contains_key(STAGE)
            }
            Subject::Rule(id) => {
                self.placed.get(&rule_key(id)).is_some_and(|word| matches!(word.as_str(), "canary:in" | "auto"))
            }
            Subject::Thresholds => self.arm() == Some(Arm::B),
        }
    }

    /// The answer, compared with what `auto` would have said; `None` if there is none, or both would have stopped it.
    pub(crate) fn agreement(&self) -> Option<Comparison> {
        match (self.would, self.answer) {
            (Verdict::AutoApprove, _) if self.regretted_ms.is_some() => Some(Comparison::Disagreement),
            (Verdict::AutoApprove, Some(Answer::LetRun)) => Some(Comparison::Agreement),
            (Verdict::AutoApprove, Some(Answer::Refused)) => Some(Comparison::Disagreement),
            (Verdict::Confirm | Verdict::Block, Some(Answer::LetRun)) => Some(Comparison::Friction),
            (Verdict::Confirm | Verdict::Block, Some(Answer::Refused)) | (_, None) => None,
        }
    }

    /// Whether the judgement and the user agreed; `None` if unknown. A question is not a judgement.
    pub(crate) fn agrees(&self) -> Option<bool> {
        match (self.would, self.answer) {
            (Verdict::AutoApprove, _) if self.regretted_ms.is_some() => Some(false),
            (Verdict::AutoApprove, Some(Answer::LetRun)) | (Verdict::Block, Some(Answer::Refused)) => Some(true),
            (Verdict::AutoApprove, Some(Answer::Refused)) | (Verdict::Block, Some(Answer::LetRun)) => Some(false),
            (Verdict::Confirm, _) | (Verdict::AutoApprove | Verdict::Block, None) => None,
        }
    }
}

/// Everything from a log entry on. If a mode asks about everything, the facts are judged again as in `auto`.
pub(crate) fn read(log: &Log, from: u64, policy: &Policy) -> Result<Vec<JudgedCall>> {
    let mut found = Collector { policy, seen: Vec::new(), by_id: BTreeMap::new() };
    for record in log.records_from(from)? {
        let record = match record {
            Ok(record) => record,
            Err(ReadError::Log(error)) => return Err(error.into()),
            // `doorward audit verify` says more about unreadable parts.
            Err(ReadError::Bad { .. }) => continue,
        };
        let (body, at) = (record.body.unwrap_or_default(), record.header.time_ms);
        let kind = record.header.kind;
        if kind == Kind::Decision {
            found.decision(&body, at);
        } else if kind == Kind::Answer {
            found.answer(&body, at);
        } else if kind == Kind::Outcome {
            found.outcome(&body, at);
        }
    }
    Ok(found.seen)
}

/// The first entry at or after a point in time.
pub(crate) fn first_since(view: &LedgerView, since_ms: u64) -> Result<u64> {
    let filter = Filter { since_ms: Some(since_ms), oldest_first: true, limit: Some(1), ..Filter::default() };
    let first = view.index()?.list(&filter)?.first().map(|row| row.sequence);
    // Nothing is that recent: the next entry will be.
    Ok(first.unwrap_or(u64::MAX))
}

struct Collector<'a> {
    policy: &'a Policy,
    seen: Vec<JudgedCall>,
    /// An answer is about the last earlier decision with that name.
    by_id: BTreeMap<CallId, usize>,
}

impl Collector<'_> {
    fn decision(&mut self, body: &[u8], time_ms: u64) {
        let Ok(body) = serde_json::from_slice::<DecisionBody>(body) else { return };
        self.by_id.insert(body.id.clone(), self.seen.len());
        let (would, may_be_overridden) = (self.would(&body), body.may_be_overridden());
        let is_place = |key: &str| key == STAGE || key == THRESHOLDS || key.starts_with("rule ");
        self.seen.push(JudgedCall {
            time_ms,
            verdict: body.verdict,
            would,
            may_be_overridden,
            agent: body.agent.unwrap_or_default(),
            session: body.session.unwrap_or_default(),
            mode: body.mode,
            pattern: body.pattern.unwrap_or_default(),
            rule: body.violation.or_else(|| body.layer1.and_then(|layer| layer.rule)),
            watched: body.watched,
            placed: body.versions.into_iter().filter(|(key, _)| is_place(key)).collect(),
            ..JudgedCall::default()
        });
    }

    /// Missing facts leave a question.
    fn would(&self, body: &DecisionBody) -> Verdict {
        if body.mode != Some(Mode::ConfirmAll) {
            return body.verdict;
        }
        let judged = decisions::facts(body).map(|facts| judge(&facts, self.policy).verdict);
        judged.unwrap_or_default()
    }

    fn about(&mut self, decision: &str) -> Option<&mut JudgedCall> {
        let at = *self.by_id.get(decision)?;
        self.seen.get_mut(at)
    }

    fn answer(&mut self, body: &[u8], time_ms: u64) {
        let Ok(body) = serde_json::from_slice::<AnswerBody>(body) else { return };
        if body.by == By::Classifier {
            return;
        }
        let Some(seen) = self.about(&body.decision) else { return };
        match body.reply {
            Reply::Approved => {
                seen.answer = Some(Answer::LetRun);
                if seen.may_be_overridden {
                    seen.overridden_ms = Some(time_ms);
                }
            }
            Reply::Declined => seen.answer = Some(Answer::Refused),
        }
    }

    fn outcome(&mut self, body: &[u8], time_ms: u64) {
        let Ok(body) = serde_json::from_slice::<OutcomeBody>(body) else { return };
        let Some(seen) = self.about(&body.decision) else { return };
        match body.became {
            Became::Ran | Became::Failed => seen.answer = seen.answer.or(Some(Answer::LetRun)),
            Became::Reverted => seen.regretted_ms = Some(time_ms),
            Became::Flagged => (seen.regretted_ms, seen.is_flagged) = (Some(time_ms), true),
            Became::Friction => {}
            // The user withdraws an earlier flag.
            Became::Fine => (seen.regretted_ms, seen.is_flagged) = (None, false),
        }
    }
}
