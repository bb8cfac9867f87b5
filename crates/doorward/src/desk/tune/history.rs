//! What the record says happened after each decision: what people answered, and what they regretted.

use std::collections::HashSet;
use std::rc::Rc;

use anyhow::Result;
use doorward_engine::{Mode, Policy};
use doorward_ledger::{DecisionBody, Progress, Reply};
use doorward_vocabulary::Verdict;

use super::weigh::{PolicyVariants, Weighed};
use crate::desk::replay::{Aftermath, ReadCounts, each};
use crate::memory::ledger_view::LedgerView;

/// One decision and its outcome.
#[derive(Debug)]
pub(super) struct DecidedCall {
    pub time_ms: u64,
    pub verdict: Verdict,
    /// The operation of the most serious effect.
    pub category: Rc<str>,
    pub user: Rc<str>,
    pub session: Rc<str>,
    /// The deciding rule; empty if none.
    pub rule: Rc<str>,
    /// The user's answer, if any.
    pub answer: Option<Reply>,
    /// It was reverted, or the user said it should not have run.
    pub is_regretted: bool,
    /// How the current policy judges it, if requested.
    pub weighed: Option<Weighed>,
}

impl DecidedCall {
    pub(super) fn is_let_run(&self) -> bool {
        self.verdict != Verdict::AutoApprove && self.answer == Some(Reply::Approved)
    }

    /// The user was asked and answered.
    pub(super) fn is_answered(&self) -> bool {
        self.verdict != Verdict::AutoApprove && self.answer.is_some()
    }
}

/// The decisions of a period.
#[derive(Debug, Default)]
pub(super) struct History {
    pub past: Vec<DecidedCall>,
    /// The last decision, by sequence and hash: what a proposal is based on.
    pub head: (u64, String),
    pub passed: ReadCounts,
    names: HashSet<Rc<str>>,
}

impl History {
    /// Reads the record from a point in time. With a policy, every decision is judged again under it.
    ///
    /// If every call is asked about, or none, the answers say nothing about rules and thresholds: only mode `auto` counts.
    pub(super) fn read(
        view: &LedgerView,
        since_ms: u64,
        policy: Option<&Policy>,
        progress: impl FnMut(Progress),
    ) -> Result<History> {
        let aftermath = Aftermath::read(&view.log, since_ms)?;
        let scales = policy.map(PolicyVariants::new);
        let mut history = History::default();
        let work = |past: crate::desk::replay::RecordedDecision| {
            let is_auto = past.body.mode.is_none_or(|mode| mode == Mode::Auto);
            let weighed = scales.as_ref().filter(|_| is_auto).map(|scales| scales.weigh(&past.facts));
            let body = DecisionBody { facts: None, ..past.body };
            (past.sequence, past.time_ms, is_auto.then_some((body, weighed)))
        };
        let fold = |(sequence, time_ms, taken): (u64, u64, Option<(DecisionBody, Option<Weighed>)>)| {
            history.head.0 = sequence;
            if let Some((body, weighed)) = taken {
                history.take(time_ms, body, weighed, &aftermath);
            }
        };
        let passed = each(&view.log, since_ms, work, fold, progress)?;
        history.passed = passed;
        history.head.1 = view.log.record(history.head.0)?.map(|record| record.hash.to_string()).unwrap_or_default();
        Ok(history)
    }

    fn take(&mut self, time_ms: u64, body: DecisionBody, weighed: Option<Weighed>, aftermath: &Aftermath) {
        // Questions the user explicitly asked for say nothing about the rules.
        let is_own = body.verdict == Verdict::AutoApprove || body.may_be_overridden();
        let rule = body.violation.or(body.layer1.and_then(|layer| layer.rule));
        // Running it by hand, or calling it a nuisance, counts as a yes.
        let is_yes = aftermath.is_overridden(&body.id) || aftermath.is_friction(&body.id);
        let is_no = aftermath.is_refused(&body.id);
        let past = DecidedCall {
            time_ms,
            verdict: body.verdict,
            category: self.name(body.category.as_deref().unwrap_or("nothing")),
            user: self.name(body.user.as_deref().unwrap_or_default()),
            session: self.name(body.session.as_deref().unwrap_or_default()),
            rule: self.name(rule.as_deref().unwrap_or_default()),
            answer: if is_yes { Some(Reply::Approved) } else { is_no.then_some(Reply::Declined) }.filter(|_| is_own),
            is_regretted: aftermath.is_regret(&body.id),
            weighed,
        };
        self.past.push(past);
    }

    fn name(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.names.get(text) {
            return Rc::clone(known);
        }
        let name: Rc<str> = Rc::from(text);
        self.names.insert(Rc::clone(&name));
        name
    }

    /// What is left out, in sentences.
    pub(super) fn left_out(&self) -> Vec<String> {
        let ReadCounts { dropped, unreadable, bad, .. } = self.passed;
        let sentences = [
            (dropped, "decisions are left out: retention dropped them"),
            (unreadable, "decisions are left out: another version wrote facts that this one can't read"),
            (bad, "parts of the log can't be read and are left out; see `doorward audit verify`"),
        ];
        sentences.iter().filter(|(count, _)| *count > 0).map(|(count, said)| format!("{count} {said}")).collect()
    }
}
