//! The stages of a rollout, the share of a canary, and what a session gets at each.

use std::fmt;
use std::str::FromStr;

use doorward_engine::Mode;
use serde::{Deserialize, Serialize};

/// How far a rollout has come. Each stage gives more freedom than the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RolloutStage {
    /// Every call is asked about; also the meaning of a missing stage
    #[default]
    ConfirmAll,
    /// Decisions are recorded and nothing is enforced
    Shadow,
    /// A share of sessions runs in `auto`, the rest as in the stage before
    Canary,
    /// Every session
    Auto,
}

impl RolloutStage {
    /// Every stage, in order.
    pub(crate) const ALL: [RolloutStage; 4] =
        [RolloutStage::ConfirmAll, RolloutStage::Shadow, RolloutStage::Canary, RolloutStage::Auto];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            RolloutStage::ConfirmAll => "confirm-all",
            RolloutStage::Shadow => "shadow",
            RolloutStage::Canary => "canary",
            RolloutStage::Auto => "auto",
        }
    }

    pub(crate) fn next(self) -> Option<RolloutStage> {
        RolloutStage::ALL.into_iter().find(|stage| *stage > self)
    }

    /// The mode of a session outside the share of a canary is that of the stage before it, so a canary has none of its own.
    pub(crate) const fn mode(self) -> Option<Mode> {
        match self {
            RolloutStage::ConfirmAll => Some(Mode::ConfirmAll),
            RolloutStage::Shadow => Some(Mode::Shadow),
            RolloutStage::Canary => None,
            RolloutStage::Auto => Some(Mode::Auto),
        }
    }
}

impl fmt::Display for RolloutStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The share of sessions in a canary, in whole percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Share(u8);

impl Share {
    pub(crate) fn new(percent: u8) -> Option<Share> {
        (1..=99).contains(&percent).then_some(Share(percent))
    }

    /// Whether a number spread evenly over `u64` is within the share.
    pub(crate) const fn covers(self, drawn: u64) -> bool {
        (drawn as u128 * 100) >> 64 < self.0 as u128
    }

    pub(crate) const fn percent(self) -> u8 {
        self.0
    }
}

impl Default for Share {
    fn default() -> Share {
        Share(10)
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let number = text.trim().trim_end_matches('%').trim_end();
        let share = number.parse().ok().and_then(Share::new);
        share.ok_or_else(|| format!("`{text}` is not a share of sessions: write `1%` to `99%`"))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

/// One step of a rollout.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StageChange {
    pub stage: RolloutStage,
    pub share: Share,
    pub since_ms: u64,
    /// The entry of the log that says so.
    pub record: u64,
    /// It was rolled back to here, which applies to running sessions too.
    pub is_rollback: bool,
}

/// What happened to one agent, rule or set so far, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Track {
    steps: Vec<StageChange>,
}

/// More steps than a rollout has; the oldest go first.
// A session keeps the stage it began in, so the steps of running sessions must stay; older ones are in the log.
const STEPS: usize = 12;

impl Track {
    pub(crate) fn starting(step: StageChange) -> Track {
        Track { steps: vec![step] }
    }

    pub(crate) fn push(&mut self, step: StageChange) {
        self.steps.push(step);
        let surplus = self.steps.len().saturating_sub(STEPS);
        self.steps.drain(..surplus);
    }

    /// The log entry of the current step.
    pub(crate) fn set_record(&mut self, record: u64) {
        if let Some(step) = self.steps.last_mut() {
            step.record = record;
        }
    }

    /// The current step.
    pub(crate) fn now(&self) -> StageChange {
        self.steps.last().cloned().unwrap_or_default()
    }

    pub(crate) fn steps(&self) -> &[StageChange] {
        &self.steps
    }

    /// The last stage it was in below the current one; the strictest if there was none.
    pub(crate) fn before(&self) -> RolloutStage {
        self.below(self.steps.len().saturating_sub(1))
    }

    /// The stage that applies to a session: the one current when it started, unless it was rolled back since. A session older
    /// than the rollout gets nothing from it.
    pub(crate) fn for_session(&self, began_ms: Option<u64>) -> EffectiveStage {
        let rolled_back = self.steps.iter().rposition(|step| step.is_rollback);
        let began = match began_ms {
            None => self.steps.len().checked_sub(1),
            Some(began) => self.steps.iter().rposition(|step| step.since_ms <= began),
        };
        match rolled_back.max(began) {
            Some(at) => {
                let step = self.steps.get(at).cloned().unwrap_or_default();
                EffectiveStage { stage: step.stage, share: step.share, before: self.below(at) }
            }
            None => EffectiveStage::default(),
        }
    }

    fn below(&self, at: usize) -> RolloutStage {
        let stage = self.steps.get(at).map(|step| step.stage).unwrap_or_default();
        let earlier = self.steps.get(..at).unwrap_or_default();
        earlier.iter().rev().map(|step| step.stage).find(|earlier| *earlier < stage).unwrap_or_default()
    }
}

/// What applies to one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EffectiveStage {
    pub stage: RolloutStage,
    pub share: Share,
    /// What a session outside the canary's share gets.
    pub before: RolloutStage,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(steps: &[(RolloutStage, u64, bool)]) -> Track {
        let step = |(stage, since_ms, is_rollback): &(RolloutStage, u64, bool)| StageChange {
            stage: *stage,
            since_ms: *since_ms,
            is_rollback: *is_rollback,
            ..StageChange::default()
        };
        Track { steps: steps.iter().map(step).collect() }
    }

    #[test]
    fn a_session_keeps_the_stage_it_began_in_unless_that_was_rolled_back() {
        use RolloutStage::{Auto, Canary, ConfirmAll, Shadow};
        let promoted = track(&[(ConfirmAll, 10, false), (Shadow, 20, false), (Canary, 30, false), (Auto, 40, false)]);
        let rolled_back = track(&[(Shadow, 20, false), (Auto, 30, false), (ConfirmAll, 40, true), (Auto, 50, false)]);
        for (track, began, stage) in [
            (&promoted, Some(5), ConfirmAll),
            (&promoted, Some(10), ConfirmAll),
            (&promoted, Some(35), Canary),
            (&promoted, Some(99), Auto),
            (&promoted, None, Auto),
            (&rolled_back, Some(35), ConfirmAll),
            (&rolled_back, Some(45), ConfirmAll),
            (&rolled_back, Some(55), Auto),
            (&Track::default(), None, ConfirmAll),
        ] {
            assert_eq!(track.for_session(began).stage, stage, "{began:?}");
        }
        assert_eq!(promoted.for_session(Some(35)).before, Shadow);
        assert_eq!((promoted.before(), track(&[(Canary, 1, false)]).before()), (Canary, ConfirmAll));
    }

    #[test]
    fn a_share_is_a_whole_number_of_per_cent() {
        for (text, want) in [("10%", Some(10)), ("7", Some(7)), (" 99 %", Some(99)), ("0%", None), ("100%", None)] {
            assert_eq!(text.parse::<Share>().ok().map(Share::percent), want, "{text}");
        }
        assert!("half".parse::<Share>().is_err() && "-1%".parse::<Share>().is_err());
    }
}
