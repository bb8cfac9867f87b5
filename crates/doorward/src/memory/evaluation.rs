//! Runs one call through the engine and measures it. A panic becomes a question.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use doorward_engine::{
    Clearance, Counts, Coverage, Degree, Facts, Intent, Judgement, LeftRun, Mode, Obstacle, Opinion, Policy, Source,
    ToolCall, Verdict, World, contacts, demanded_by, judge_timed, observe, observe_before, snapshot,
};
use doorward_ledger::SnapshotTaken;
use doorward_vocabulary::PatternId;
use serde_json::value::RawValue;

use crate::machine::file_digests::FileDigests;

/// What the engine made of a call.
#[derive(Debug)]
#[must_use]
pub(crate) struct Evaluation {
    pub facts: Facts,
    pub judgement: Judgement,
    pub took: Duration,
    /// The part of it spent observing.
    pub observing: Duration,
    /// How long layer 2 took; `None` if it was not asked.
    pub scoring: Option<Duration>,
    /// The verdict if everything the call loses were copied first, if that was requested.
    pub if_copied: Option<Verdict>,
    /// What stands against a contained run, if that was requested; none if it may answer the question.
    pub obstacles: Option<Vec<Obstacle>>,
}

/// A reviewer's answer, as recorded.
#[derive(Debug)]
pub(crate) struct RecordedReview {
    pub said: Box<RawValue>,
    pub took_ms: u64,
}

/// Everything that is recorded about a decision.
#[derive(Debug)]
pub(crate) struct Decided {
    pub evaluation: Evaluation,
    pub mode: Mode,
    /// A grant lets it run, whatever the judgement says.
    pub granted: bool,
    /// Who demanded the question, if doorward itself would have approved.
    pub demanded: Option<&'static str>,
    /// Who answers instead of the user at the agent's prompt: `queue`, `classifier` or `box`.
    pub left_to: Option<&'static str>,
    /// How the call got to the box: `steered`, `rehearsed` or `replaced`.
    pub contained: Option<&'static str>,
    /// The snapshot, if one was taken.
    pub snapshot: Option<SnapshotTaken>,
    /// Digests of the files it changes, to notice later that a change was undone.
    pub before: FileDigests,
    /// The reviewer's answer, if one was asked.
    pub review: Option<RecordedReview>,
}

impl Evaluation {
    /// The verdict in a mode; `None` if doorward stays silent.
    ///
    /// INVARIANT: nothing else in the edge interprets the mode.
    pub(crate) fn counts_as(&self, mode: Mode) -> Option<Verdict> {
        match mode {
            Mode::Off | Mode::Shadow => None,
            // A block stays a block: `confirm-all` adds questions and removes nothing.
            Mode::ConfirmAll => Some(self.judgement.verdict.max(Verdict::Confirm)),
            Mode::Auto => Some(self.judgement.verdict),
        }
    }

    pub(crate) fn is_approved(&self) -> bool {
        self.judgement.verdict == Verdict::AutoApprove
    }

    /// The call may run: it is not blocked, it was granted, or the client decides.
    pub(crate) fn may_run(&self, mode: Mode, granted: bool) -> bool {
        granted || self.counts_as(mode) != Some(Verdict::Block)
    }

    /// Judges again as if everything the call loses were copied first; `None` if a copy would not help.
    pub(crate) fn once_copied(&self, policy: &Policy) -> Option<IfCopied> {
        let facts = snapshot::covered(&self.facts)?;
        let (judgement, scoring) = timed(&facts, policy);
        Some(IfCopied { facts, judgement, scoring })
    }

    /// The same call with other facts, judged again.
    pub(crate) fn with_facts(self, facts: Facts, policy: &Policy) -> Evaluation {
        let (judgement, scoring) = timed(&facts, policy);
        Evaluation { facts, judgement, scoring, ..self }
    }

    /// Judges again with a doubt that only the edge knows about.
    pub(crate) fn with_doubt(self, doubt: &str, policy: &Policy) -> Evaluation {
        let mut facts = self.facts.clone();
        // Opaque coverage can't be cleared by any rule, so the doubt survives every allow pattern.
        facts.coverage.lower(Degree::Opaque, doubt);
        self.with_facts(facts, policy)
    }
}

impl Decided {
    /// A decision made by the judgement alone.
    pub(crate) fn bare(evaluation: Evaluation, mode: Mode) -> Decided {
        Decided {
            evaluation,
            mode,
            granted: false,
            demanded: None,
            left_to: None,
            contained: None,
            snapshot: None,
            before: FileDigests::new(),
            review: None,
        }
    }

    pub(crate) fn may_run(&self) -> bool {
        self.evaluation.may_run(self.mode, self.granted)
    }
}

/// A call, judged as if everything it loses were copied first.
#[derive(Debug)]
pub(crate) struct IfCopied {
    pub facts: Facts,
    pub judgement: Judgement,
    pub scoring: Option<Duration>,
}

/// Judges, and measures layer 2.
fn timed(facts: &Facts, policy: &Policy) -> (Judgement, Option<Duration>) {
    let start = Instant::now();
    judge_timed(facts, policy, &|| start.elapsed())
}

/// Observes and judges. If the engine panics, doorward asks.
pub(crate) fn evaluate(call: &ToolCall, world: &dyn World, policy: &Policy) -> Evaluation {
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        panic_on_demand("judging");
        let facts = observe(call, world);
        let observing = start.elapsed();
        let judged = timed(&facts, policy);
        (facts, judged, observing)
    }));
    let took = start.elapsed();
    let (facts, (judgement, scoring), observing) = outcome.unwrap_or_else(|_| {
        let (facts, judgement) = after_panic(call, policy);
        (facts, (judgement, None), took)
    });
    Evaluation { facts, judgement, took, observing, scoring, if_copied: None, obstacles: None }
}

/// Judges facts that were observed elsewhere.
pub(crate) fn of_facts(facts: Facts, policy: &Policy) -> Evaluation {
    let start = Instant::now();
    let (judgement, scoring) = timed(&facts, policy);
    let took = start.elapsed();
    Evaluation { facts, judgement, took, observing: Duration::ZERO, scoring, if_copied: None, obstacles: None }
}

/// Judges a call together with commands that run again after it; `None` if the engine panicked.
pub(crate) fn with_runs(
    call: &ToolCall,
    world: &dyn World,
    policy: &Policy,
    runs: &[LeftRun],
) -> Option<(Facts, Judgement)> {
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let facts = observe_before(call, world, runs);
        let judgement = timed(&facts, policy).0;
        (facts, judgement)
    }));
    judged.ok()
}

/// Who demanded the question, if doorward itself would have approved; a yes to that is not an override.
pub(crate) fn demanded(evaluation: &Evaluation, policy: &Policy) -> Option<&'static str> {
    let Evaluation { facts, judgement, .. } = evaluation;
    if policy.mode != Mode::Auto || judgement.verdict == Verdict::AutoApprove {
        return None;
    }
    // A question about a new host is about trust in that host, not about the command.
    if !contacts(facts).is_empty() {
        return Some("contact");
    }
    // A panic here must not discard the answer we already have.
    let by = catch_unwind(AssertUnwindSafe(|| demanded_by(facts, policy, judgement)));
    by.ok().flatten().map(Source::as_str)
}

/// Suppresses panic messages: standard error belongs to the answer.
pub(crate) fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Panics on demand, so that tests can try it in the whole program. Release builds don't have this.
pub(crate) fn panic_on_demand(place: &str) {
    #[cfg(debug_assertions)]
    #[expect(clippy::panic, reason = "this is the fault that the test asks for")]
    if std::env::var_os("DOORWARD_FAULT").is_some_and(|wanted| wanted == place) {
        panic!("a fault on demand");
    }
    #[cfg(not(debug_assertions))]
    let _ = place;
}

fn after_panic(call: &ToolCall, policy: &Policy) -> (Facts, Judgement) {
    const BECAUSE: &str = "doorward hit an internal error while judging this call, so its risk is unknown";
    let mut coverage = Coverage::full();
    coverage.lower(Degree::Opaque, "a fault of doorward's own");
    let facts = Facts {
        agent: call.agent.clone(),
        attended: call.attended,
        cancelled: call.cancelled,
        ..nothing_known(call.tool.name(), coverage)
    };
    (facts, ask_because(BECAUSE, policy))
}

/// The facts about a call that could not be observed.
pub(crate) fn nothing_known(tool: &str, coverage: Coverage) -> Facts {
    Facts {
        tool: tool.to_owned(),
        subject: String::new(),
        commands: Vec::new(),
        directories: Vec::new(),
        effects: Vec::new(),
        flows: Vec::new(),
        arrivals: Vec::new(),
        lingers: false,
        built: None,
        left: Vec::new(),
        coverage,
        taint: Vec::new(),
        intent: Intent::default(),
        review: None,
        contained: None,
        boxed: false,
        counts: Counts::default(),
        pattern: PatternId::default(),
        agent: String::new(),
        attended: true,
        cancelled: false,
        project_trusted: false,
        project: None,
        home: None,
    }
}

/// A judgement that asks, for calls that could not be judged.
pub(crate) fn ask_because(because: &str, policy: &Policy) -> Judgement {
    let opinion = Opinion::confirm(Source::Coverage, Clearance::Firm, because);
    Judgement {
        verdict: opinion.verdict,
        cleared_by: opinion.cleared_by,
        settled_by: opinion.source,
        rule: None,
        confidence: None,
        classes: None,
        opinions: vec![opinion],
        shadow: Vec::new(),
        policy: policy.version.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::{DescribedWorld, Description};

    #[test]
    fn a_fault_of_our_own_asks() {
        let call = ToolCall::bash("ls", "/");
        let (facts, judgement) = after_panic(&call, &Policy::built_in());
        assert_eq!(judgement.verdict, Verdict::Confirm);
        assert_eq!(facts.coverage.degree, Degree::Opaque);
    }

    #[test]
    fn a_call_is_judged() {
        let world = DescribedWorld::new(Description::default(), "/home/me/project");
        let evaluation = evaluate(&ToolCall::bash("rm -rf ~", "/home/me/project"), &world, &Policy::built_in());
        assert!(evaluation.judgement.verdict > Verdict::AutoApprove);
    }
}
