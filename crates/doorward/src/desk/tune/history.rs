//! What the record says became of each decision: what people answered, and what they regretted.

use std::collections::HashSet;
use std::rc::Rc;

use anyhow::Result;
use doorward_engine::{Mode, Policy};
use doorward_ledger::{DecisionBody, Progress, Reply};
use doorward_vocabulary::Verdict;

use super::weigh::{Scales, Weighed};
use crate::desk::replay::{Aftermath, Passed, each};
use crate::memory::ledger_view::Room;

/// One decision, and what became of it.
#[derive(Debug)]
pub struct Past {
    pub time_ms: u64,
    pub verdict: Verdict,
    /// The operation of the gravest effect.
    pub category: Rc<str>,
    pub user: Rc<str>,
    pub session: Rc<str>,
    /// The rule that decided; empty if it was none.
    pub rule: Rc<str>,
    /// What a person said to it, if anybody did.
    pub answer: Option<Reply>,
    /// It was taken back, or a person said that it should not have run.
    pub is_regretted: bool,
    /// What the policy in force makes of it, where somebody asked.
    pub weighed: Option<Weighed>,
}

impl Past {
    pub fn is_let_run(&self) -> bool {
        self.verdict != Verdict::AutoApprove && self.answer == Some(Reply::Approved)
    }

    /// Somebody was asked, and said something.
    pub fn is_answered(&self) -> bool {
        self.verdict != Verdict::AutoApprove && self.answer.is_some()
    }
}

/// The decisions of a stretch of time.
#[derive(Debug, Default)]
pub struct History {
    pub past: Vec<Past>,
    /// The last decision, by its place in the log and its hash: what a proposal is made from.
    pub head: (u64, String),
    pub passed: Passed,
    names: HashSet<Rc<str>>,
}

impl History {
    /// Reads the record from a moment on. With a policy, every decision is judged again under it.
    ///
    /// Where every call is confirmed, or none is, the answers say nothing about rules and thresholds: only mode `auto` counts.
    pub fn read(
        room: &Room,
        since_ms: u64,
        policy: Option<&Policy>,
        progress: impl FnMut(Progress),
    ) -> Result<History> {
        let aftermath = Aftermath::read(&room.log, since_ms)?;
        let scales = policy.map(Scales::new);
        let mut history = History::default();
        let work = |past: crate::desk::replay::Past| {
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
        let passed = each(&room.log, since_ms, work, fold, progress)?;
        history.passed = passed;
        history.head.1 = room.log.record(history.head.0)?.map(|record| record.hash.to_string()).unwrap_or_default();
        Ok(history)
    }

    fn take(&mut self, time_ms: u64, body: DecisionBody, weighed: Option<Weighed>, aftermath: &Aftermath) {
        // What was asked only because somebody demanded it says nothing about the rules.
        let is_own = body.verdict == Verdict::AutoApprove || body.may_be_overridden();
        let rule = body.violation.or(body.layer1.and_then(|layer| layer.rule));
        // Whoever did by hand what was not approved, or called it a nuisance, would have said yes.
        let is_yes = aftermath.is_overridden(&body.id) || aftermath.is_friction(&body.id);
        let is_no = aftermath.is_refused(&body.id);
        let past = Past {
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
    pub fn left_out(&self) -> Vec<String> {
        let Passed { dropped, unreadable, bad, .. } = self.passed;
        let sentences = [
            (dropped, "decisions are left out: retention dropped them"),
            (unreadable, "decisions are left out: another version wrote facts that this one cannot read"),
            (bad, "stretches of the log cannot be read and are left out; `doorward audit verify` says more"),
        ];
        sentences.iter().filter(|(count, _)| *count > 0).map(|(count, said)| format!("{count} {said}")).collect()
    }
}
