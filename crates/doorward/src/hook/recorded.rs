//! The last stages of a call: its decision goes on record, and only then is there an answer.

use std::time::Duration;

use anyhow::Result;
use doorward_engine::{Mode, Verdict};
use doorward_ledger::{AlertKind, Receipt};

use super::pipeline::{Cleared, Outcome, Situation};
use super::settle::{self, Settled, Terms};
use super::waiting::{self, Asking};
use super::{concurrent, contained, entry};
use crate::hook::agents::{AgentQuestion, Approval, Decision};
use crate::hook::contained::Way;
use crate::hook::grant_check::{GrantCheck, GrantResult, is_soft};
use crate::hook::rollback;
use crate::machine::clock;
use crate::machine::file_digests;
use crate::machine::presence;
use crate::machine::record::Recorder;
use crate::memory::alerts;
use crate::memory::evaluation::{self, Decided, Evaluation};
use crate::memory::in_flight::Footprint;
use crate::memory::session::TRIAL;
use crate::memory::snapshots::UndoNote;
use crate::memory::tally::{self, Answered};
use crate::policy::client_rules;
use crate::policy::config::Questions;

/// The answer before its decision is on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Draft {
    Allow(String),
    Ask(String),
    Deny(String),
    /// The client does what it would do without us.
    Silent,
}

/// The decision is durable. Only from this can an approving answer be made.
#[must_use]
pub(crate) struct Recorded<'r> {
    situation: Situation<'r>,
    decided: Decided,
    receipt: Receipt,
    settled: Settled,
    grant: GrantResult,
    note: UndoNote,
    asking: Asking,
    way: Way,
}

/// The decision could not be recorded.
#[must_use]
pub(crate) struct Unrecorded {
    mode: Mode,
    error: anyhow::Error,
}

impl<'r> Recorded<'r> {
    /// Completes the decision and records it, together with what the session and a used grant must remember.
    pub(crate) fn of(cleared: Cleared<'r>, ledger: &mut dyn Recorder) -> Result<Recorded<'r>, Unrecorded> {
        let Cleared { situation, evaluation, kept, grant, review } = cleared;
        let (mode, granted) = (situation.mode, grant.is_cleared());
        let asking = asking(&situation, &evaluation, granted);
        let way = contained::way_of(&situation, &evaluation, granted);
        let settled = settle::settle(&evaluation, Terms { mode, asking, problems: &situation.loaded.problems });
        let decided = Decided {
            mode,
            granted,
            demanded: evaluation::demanded(&evaluation, &situation.policy),
            left_to: if way.answers() { Some("box") } else { left_to(&evaluation, granted, &settled.draft, mode) },
            contained: way.word(),
            snapshot: kept.snapshot,
            before: before(&situation, &evaluation, granted),
            review,
            evaluation,
        };
        // Before recording: if the process dies in between, a call counts as in flight that is not, which only asks.
        note_question(&situation, &decided, (&settled.draft, &way), asking);
        // Alerts are raised even if this fails: they were taken from the session's memory and would be lost.
        let recorded = record(&situation, &decided, &grant, ledger);
        raise_alerts(&situation, ledger);
        match recorded {
            Ok(receipt) => {
                if !situation.call().session.starts_with(TRIAL) {
                    tally::count(situation.dirs(), Answered::of(&decided), clock::now_ms());
                }
                Ok(Recorded { situation, decided, receipt, settled, grant, note: kept.note, asking, way })
            }
            Err(error) => Err(Unrecorded { mode, error }),
        }
    }

    /// The answer. An open call is added to the queue.
    pub(crate) fn outcome(self) -> Outcome {
        let Recorded { situation, decided, receipt, settled, grant, note, asking, way } = self;
        let trouble = situation.trouble.clone();
        match way {
            Way::Steered(said) => {
                return Outcome { decision: Decision::Deny(said), wait: Duration::ZERO, trouble };
            }
            Way::Replaced { reason, command } => {
                let decision = Decision::Replace(Approval::recorded(receipt, reason), command);
                return Outcome { decision, wait: Duration::ZERO, trouble };
            }
            Way::Plain | Way::Rehearsed(_) => {}
        }
        let Decided { evaluation, granted, .. } = &decided;
        let may_wait = !granted && settle::may_wait(evaluation, situation.mode, asking);
        let is_watched = || presence::is_there(situation.dirs());
        let wait = match may_wait {
            true => waiting::time(situation.loaded.config.wait_seconds, situation.request.patience, is_watched),
            false => Duration::ZERO,
        };
        let grants = GrantCheck { rehearsal: way.rehearsal(), ..situation.grants() };
        let draft = grants.answer(settled, &grant, &decided, (&situation.request.id, note));
        let decision = match draft {
            Draft::Allow(reason) => Decision::Allow(Approval::recorded(receipt, reason)),
            Draft::Ask(reason) => Decision::Ask(reason),
            Draft::Deny(reason) => Decision::Deny(reason),
            Draft::Silent => Decision::Silent,
        };
        Outcome { decision, wait, trouble }
    }
}

impl Unrecorded {
    /// In shadow mode even a full disk must not stop a call, so it only reports the error; otherwise the call is blocked.
    pub(crate) fn outcome(self) -> Result<Outcome> {
        match self.mode {
            Mode::Shadow => Ok(Outcome { trouble: format!("doorward: {:#}\n", self.error), ..Outcome::silent() }),
            Mode::Auto | Mode::ConfirmAll | Mode::Off => Err(self.error.context("the decision can't be recorded")),
        }
    }
}

/// The session's state is written first: if anything fails after that, the session counts as riskier, never as safer.
fn record(
    situation: &Situation<'_>,
    decided: &Decided,
    grant: &GrantResult,
    ledger: &mut dyn Recorder,
) -> Result<Receipt> {
    let (id, session) = (&situation.request.id, &situation.session);
    let placed = entry::DecisionContext { project: situation.project(), words: &situation.loaded.assigned.words };
    let entry = entry::decision(id, &situation.request.proposed, decided, placed)?;
    session.note(id, decided)?;
    if decided.may_run()
        && let Some(of) = situation.world.arrivals_of()
    {
        session.note_arrivals(of, &decided.evaluation.facts.arrivals, &situation.world.take_replaced())?;
    }
    // The grant's use goes on record after the decision it belongs to.
    let receipt = ledger.append(entry)?;
    grant.record(ledger)?;
    Ok(receipt)
}

/// Digests of the files the call may change, as they are now.
fn before(situation: &Situation<'_>, evaluation: &Evaluation, granted: bool) -> file_digests::FileDigests {
    match evaluation.may_run(situation.mode, granted) {
        true => situation.session.digests(&file_digests::changed(&evaluation.facts, situation.project())),
        false => file_digests::FileDigests::new(),
    }
}

/// Who answers a question that the agent does not ask the user.
fn left_to(evaluation: &Evaluation, granted: bool, draft: &Draft, mode: Mode) -> Option<&'static str> {
    let is_question = evaluation.judgement.verdict <= Verdict::Confirm && !granted;
    match (draft, mode) {
        (Draft::Silent, Mode::Auto) => Some("classifier"),
        (Draft::Deny(_), Mode::Auto | Mode::ConfirmAll) if is_question => Some("queue"),
        _ => None,
    }
}

/// Records the alerts this call triggered; a spike of blocks rolls back.
fn raise_alerts(situation: &Situation<'_>, ledger: &mut dyn Recorder) {
    let alerts = situation.session.take_alerts();
    let is_spike = alerts.iter().any(|alert| alert.name == AlertKind::Spike.word());
    alerts::raise(alerts, ledger);
    if is_spike {
        rollback::on_spike(situation.dirs(), situation.request.surroundings.agent.name(), ledger);
    }
}

/// Notes an open call as in flight: it may be approved while others run, and they must not execute what it writes. A call
/// that is refused at once never runs.
fn note_question(situation: &Situation<'_>, decided: &Decided, (draft, way): (&Draft, &Way), asking: Asking) {
    let Decided { evaluation, granted, mode, .. } = decided;
    if let Way::Steered(_) = way {
        return;
    }
    let is_open = *granted
        || matches!(way, Way::Replaced { .. })
        || matches!(draft, Draft::Ask(_))
        || asking == Asking::Classifier
        || settle::may_wait(evaluation, *mode, asking);
    if *mode == Mode::Auto && evaluation.judgement.verdict == Verdict::Confirm && is_open {
        let footprint = Footprint::asked(&situation.request.id, &evaluation.facts, *granted);
        let is_apart = concurrent::is_background(situation.call());
        footprint.into_iter().for_each(|footprint| situation.session.add_asked(footprint.started_apart(is_apart)));
    }
}

/// Who can answer a question about a call.
fn asking(situation: &Situation<'_>, evaluation: &Evaluation, granted: bool) -> Asking {
    let (agent, loaded) = (situation.request.surroundings.agent, &situation.loaded);
    let proposed = &situation.request.proposed;
    let is_chosen = loaded.config.questions(agent.name()) == Some(Questions::Classifier);
    // Handing a question to the client's classifier loosens, so every condition of decision 0029 must hold.
    let is_left = is_chosen
        && proposed.asked == AgentQuestion::Classified
        && loaded.problems.is_empty()
        && !granted
        && is_soft(&evaluation.judgement)
        && !client_rules::project_allows(agent.name(), situation.dirs().home(), situation.project(), &evaluation.facts);
    if is_left {
        return Asking::Classifier;
    }
    match (proposed.call.attended, agent.can_ask(proposed.asked)) {
        // Asking costs nothing there: without a user the client itself says no.
        (false, true) if agent.refuses_unanswered() => Asking::Perhaps,
        (false, _) => Asking::NoOne,
        (true, false) => Asking::Elsewhere,
        (true, true) => Asking::Here,
    }
}
