//! A read-only view of rollouts: the stages and the rules. Rolls nothing back.

use anyhow::Result;

use crate::desk::rollout::criteria;
use crate::desk::rollout::criteria::Criterion;
use crate::desk::rollout::show::{SubjectFigures, display_name, is_over, place};
use crate::hook::rollback;
use crate::machine::paths::Dirs;
use crate::policy::rollout::stage::RolloutStage;
use crate::policy::rollout::state::{Rollout, Subject};
use crate::policy::rollout::trial::Stopping;

/// One rollout.
#[derive(Debug)]
pub(crate) struct RolloutView {
    /// `agent `claude``, `rule `x``, `the thresholds on trial`.
    pub what: String,
    /// The agent, if it is one.
    pub agent: Option<String>,
    /// The stage in words.
    pub place: String,
    pub since_ms: u64,
    pub is_rollback: bool,
    pub next: Option<RolloutStage>,
    pub criteria: Vec<Criterion>,
    /// The command to promote it.
    pub promote: String,
    pub trial: Option<OnTrial>,
}

/// How the thresholds on trial are doing.
#[derive(Debug)]
pub(crate) struct OnTrial {
    pub name: String,
    pub verdict: &'static str,
    pub what: &'static str,
    pub won: String,
    pub lost: String,
    pub alike: String,
    /// Evidence that it is better, that it is worse, and how much ends the trial.
    pub evidence: [f64; 3],
}

/// The rules of a rollout, in sentences.
#[derive(Debug)]
pub(crate) struct RolloutRules {
    pub criteria: Vec<(String, String)>,
    pub stopping: String,
    pub triggers: Vec<(&'static str, String)>,
}

/// All rollouts.
pub(crate) fn views(dirs: &Dirs) -> Result<Vec<RolloutView>> {
    let rollout = Rollout::load(dirs).map_err(anyhow::Error::msg)?.unwrap_or_default();
    rollout.subjects().into_iter().map(|subject| view(dirs, &rollout, &subject)).collect()
}

pub(crate) fn rules() -> RolloutRules {
    RolloutRules {
        criteria: criteria::sentences(),
        stopping: Stopping::default().sentence(),
        triggers: rollback::sentences(),
    }
}

fn view(dirs: &Dirs, rollout: &Rollout, subject: &Subject) -> Result<RolloutView> {
    let track = rollout.track(subject).cloned().unwrap_or_default();
    let now = track.now();
    let figures = SubjectFigures::of(dirs, rollout, subject)?;
    let trial = figures.standing.as_ref().zip(rollout.trial.as_ref()).map(|(standing, trial)| OnTrial {
        name: format!("{}#{}", trial.name, trial.fingerprint()),
        verdict: standing.verdict.as_str(),
        what: standing.verdict.meaning(),
        won: standing.won.to_string(),
        lost: standing.lost.to_string(),
        alike: standing.alike.to_string(),
        evidence: [standing.better, standing.worse, trial.stopping.bound()],
    });
    Ok(RolloutView {
        what: subject.display(),
        agent: match subject {
            Subject::Agent(name) => Some(name.clone()),
            Subject::Rule(_) | Subject::Thresholds => None,
        },
        place: place(subject, &track),
        since_ms: now.since_ms,
        is_rollback: now.is_rollback,
        next: now.stage.next().filter(|_| !is_over(subject, &now)),
        criteria: figures.criteria,
        promote: format!("doorward rollout promote{}", display_name(subject)),
        trial,
    })
}
