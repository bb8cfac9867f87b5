//! Automatic rollback of a rollout: immediate, recorded, with an alert.
//!
//! An agent falls back to `confirm-all`, never to `shadow`: otherwise a series of blocked calls would end the blocking. The
//! user's own rules only ever ask more, so only the user rolls them back.

use doorward_engine::Thresholds;
use doorward_ledger::{AlertKind, PolicyBody};
use doorward_vocabulary::Verdict;

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::alerts;
use crate::memory::ledger_view::LedgerView;
use crate::memory::rollout_evidence;
use crate::memory::rollout_evidence::JudgedCall;
use crate::policy::load;
use crate::policy::rollout::stage::{RolloutStage, StageChange};
use crate::policy::rollout::state::{Rollout, Subject};

const HOUR_MS: u64 = 60 * 60 * 1000;

/// The time window.
// A day covers one round of work, and a bad release shows within it.
pub(crate) const WINDOW_MS: u64 = 24 * HOUR_MS;

/// This many regretted approvals in a window are a spike.
// A single regret is a mistake anyone makes; taking a rollout back for it would make rollouts useless.
const REGRETS: usize = 2;

/// Below this share of approvals they are not, unless they were flagged: people also undo edits that were fine.
const REGRET_RATE: f64 = 0.01;

/// This many overrides …
// Fewer than ten and the share below moves by whole percents with each answer.
const OVERRIDES: usize = 10;

/// … that are more than this share of decisions.
// About one question in seven answered with yes: the stage asks about ordinary work.
const OVERRIDE_RATE: f64 = 0.15;

/// This many blocks in one session …
// The same spike that raises an alert: an attack, or an agent in a loop. Either is a reason to ask about everything.
const BLOCKS: usize = 5;

/// … within this time.
const BLOCKS_MS: u64 = 10 * 60 * 1000;

/// The triggers in sentences.
pub(crate) fn sentences() -> Vec<(&'static str, String)> {
    let hours = WINDOW_MS / HOUR_MS;
    vec![
        (
            "regret",
            format!(
                "at least {REGRETS} approved calls were flagged in {hours} hours, or undone and reverted and more than {:.0} % of the \
                 approvals, in sessions that got what is new",
                REGRET_RATE * 100.0
            ),
        ),
        (
            "overrides",
            format!(
                "at least {OVERRIDES} calls were overridden in {hours} hours, and more than {:.0} % of the decisions in sessions on the new side",
                OVERRIDE_RATE * 100.0
            ),
        ),
        (
            "blocks",
            format!("at least {BLOCKS} calls of one session were blocked within {} minutes (agents only)", BLOCKS_MS / 60_000),
        ),
        ("then", "an agent goes back to `confirm-all`, thresholds to the previous ones; immediately, in running sessions too, recorded and with an alert".to_owned()),
        ("rules", "your own rules only ask more, so only you roll them back".to_owned()),
    ]
}

/// Why something is rolled back, if it has to be. `is_laxer`: the rollout approves more than before.
pub(crate) fn tripped(subject: &Subject, seen: &[JudgedCall], now_ms: u64, is_laxer: bool) -> Option<String> {
    let since = now_ms.saturating_sub(WINDOW_MS);
    let (hours, is_recent) = (WINDOW_MS / HOUR_MS, |at: &u64| *at >= since);
    let mine: Vec<&JudgedCall> = seen.iter().filter(|seen| seen.is_for(subject)).collect();
    let approved = || mine.iter().filter(|seen| seen.verdict == Verdict::AutoApprove);
    let sorry: Vec<&&JudgedCall> = approved().filter(|seen| seen.regretted_ms.iter().any(is_recent)).collect();
    let regrets = sorry.len();
    let approvals = approved().filter(|seen| is_recent(&seen.time_ms)).count();
    let is_spike = sorry.iter().filter(|seen| seen.is_flagged).count() >= REGRETS
        || regrets as f64 > REGRET_RATE * approvals as f64;
    if regrets >= REGRETS && is_spike && is_laxer {
        return Some(format!("{regrets} approved calls were regretted in {hours} hours"));
    }
    let recent = mine.iter().filter(|seen| is_recent(&seen.time_ms)).count();
    let overrides = mine.iter().filter(|seen| seen.overridden_ms.iter().any(is_recent)).count();
    if overrides >= OVERRIDES && overrides as f64 > OVERRIDE_RATE * recent as f64 {
        return Some(format!("{overrides} of {recent} calls were overridden in {hours} hours"));
    }
    let blocks = matches!(subject, Subject::Agent(_)).then(|| most_blocks(&mine, since)).unwrap_or_default();
    (blocks >= BLOCKS)
        .then(|| format!("{blocks} calls of one session were blocked within {} minutes", BLOCKS_MS / 60_000))
}

/// The most blocks of one session in a short time.
fn most_blocks(seen: &[&JudgedCall], since: u64) -> usize {
    let blocks: Vec<(&str, u64)> = seen
        .iter()
        .filter(|seen| seen.verdict == Verdict::Block && seen.time_ms >= since)
        .map(|seen| (seen.session.as_str(), seen.time_ms))
        .collect();
    let near = |(session, at): &(&str, u64)| {
        blocks.iter().filter(|(other, when)| other == session && when <= at && at - when <= BLOCKS_MS).count()
    };
    blocks.iter().map(near).max().unwrap_or_default()
}

/// Checks all rollouts and rolls back what has to be; returns what and why. Cheap if there are none.
pub(crate) fn watch(dirs: &Dirs) -> anyhow::Result<Vec<(Subject, String)>> {
    // Untrustworthy state already asks about everything.
    let Ok(Some(rollout)) = Rollout::load(dirs) else { return Ok(Vec::new()) };
    let subjects: Vec<Subject> =
        rollout.subjects().into_iter().filter(|subject| is_watched(&rollout, subject)).collect();
    if subjects.is_empty() {
        return Ok(Vec::new());
    }
    let (view, now) = (LedgerView::open(dirs.clone())?, now_ms());
    let began = subjects.iter().filter_map(|subject| rollout.track(subject)).map(|track| track.now().record).min();
    // A regret may be about a call of an earlier day.
    let recent = rollout_evidence::first_since(&view, now.saturating_sub(7 * WINDOW_MS))?;
    let policy = load::load(dirs, None, "").policy(doorward_engine::Mode::Auto).map_err(anyhow::Error::msg)?;
    let seen = rollout_evidence::read(&view.log, recent.max(began.unwrap_or_default()), &policy)?;
    let mut taken_back = Vec::new();
    for subject in subjects {
        let since = rollout.track(&subject).map(|track| track.now().since_ms).unwrap_or_default();
        let counting: Vec<JudgedCall> = seen.iter().filter(|seen| seen.time_ms >= since).cloned().collect();
        let is_laxer = is_laxer(&rollout, &subject, &policy.thresholds);
        if let Some(why) = tripped(&subject, &counting, now, is_laxer)
            && take_back(dirs, &mut Ledger::open(dirs), &subject, &why)?
        {
            taken_back.push((subject, why));
        }
    }
    Ok(taken_back)
}

/// The hook saw a session run into block after block: an agent being rolled out falls back.
pub(crate) fn on_spike(dirs: &Dirs, agent: &str, ledger: &mut dyn Recorder) {
    let subject = Subject::Agent(agent.to_owned());
    let Ok(Some(rollout)) = Rollout::load(dirs) else { return };
    if is_watched(&rollout, &subject) {
        let why = format!("{BLOCKS} calls of one session were blocked within {} minutes", BLOCKS_MS / 60_000);
        // If this fails, the next check finds it again.
        let _ = take_back(dirs, ledger, &subject, &why);
    }
}

fn is_watched(rollout: &Rollout, subject: &Subject) -> bool {
    let stage = rollout.track(subject).map(|track| track.now().stage).unwrap_or_default();
    stage >= RolloutStage::Canary && !matches!(subject, Subject::Rule(_))
}

fn is_laxer(rollout: &Rollout, subject: &Subject, in_force: &Thresholds) -> bool {
    match subject {
        Subject::Agent(_) | Subject::Rule(_) => true,
        Subject::Thresholds => rollout.trial.as_ref().is_some_and(|trial| trial.numbers.is_laxer_than(in_force)),
    }
}

/// Rolls something back, unless another process just did. It is rolled back even if that can't be recorded.
fn take_back(dirs: &Dirs, ledger: &mut dyn Recorder, subject: &Subject, why: &str) -> anyhow::Result<bool> {
    let now = now_ms();
    let stage = |rollout: &mut Rollout| {
        let track = rollout.track_mut(subject).filter(|track| track.now().stage >= RolloutStage::Canary)?;
        let before = track.now().stage;
        track.push(StageChange {
            stage: RolloutStage::ConfirmAll,
            since_ms: now,
            is_rollback: true,
            ..StageChange::default()
        });
        Some(before)
    };
    let Some(before) = Rollout::update(dirs, stage).map_err(anyhow::Error::msg)? else { return Ok(false) };
    let body = PolicyBody {
        what: format!("the rollout of {} was taken back by itself: {why}", subject.display()),
        before: Some(before.to_string()),
        after: Some(RolloutStage::ConfirmAll.to_string()),
        user: None,
        project: None,
    };
    let text = format!("{}: {why}; back from `{before}` to `{}`", subject.display(), after(subject));
    alerts::raise(vec![alerts::new_alert(AlertKind::Rollback, &subject.display(), &text)], ledger);
    let receipt = ledger.append(LogEntry::new(&body)?)?;
    let noted = |rollout: &mut Rollout| rollout.track_mut(subject).map(|track| track.set_record(receipt.sequence));
    Rollout::update(dirs, noted).map(|_| true).map_err(anyhow::Error::msg)
}

/// What applies after the rollback, in words.
pub(crate) const fn after(subject: &Subject) -> &'static str {
    match subject {
        Subject::Agent(_) => "confirm-all",
        Subject::Rule(_) => "shadow",
        Subject::Thresholds => "the previous thresholds",
    }
}

#[cfg(test)]
#[path = "rollback_tests.rs"]
mod tests;
