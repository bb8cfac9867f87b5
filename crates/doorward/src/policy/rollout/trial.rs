//! Compares two sets of thresholds: which session counts for what, and a stopping rule fixed beforehand.
//!
//! Each session contributes how many of its first calls were asked about. Sessions of both sides are paired in the order they
//! complete; a pair with equal counts says nothing. If the sets are alike, either side wins each other pair with the same
//! chance, whatever the sessions are about. That is tested after every pair by Wald's sequential probability ratio test,
//! once for each direction.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// When a trial ends. Stored with the trial, so that it can't change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stopping {
    /// Maximum probability of finding a difference where there is none.
    pub alpha: f64,
    /// Maximum probability of missing a difference that matters.
    pub beta: f64,
    /// The smallest difference that matters: the share of decided pairs that the better set wins.
    pub effect: f64,
    /// How many calls of a session count; shorter sessions are left out.
    pub calls: u32,
    /// After this many decided pairs the sets are considered alike.
    pub pairs: u32,
}

impl Default for Stopping {
    fn default() -> Stopping {
        // 65 % of decided pairs is a difference people notice; ten calls are the shortest session that says anything.
        // 400 pairs end a trial of equal sets that the test leaves open for too long.
        Stopping { alpha: 0.05, beta: 0.10, effect: 0.65, calls: 10, pairs: 400 }
    }
}

/// Which set a session is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Arm {
    /// The current thresholds.
    A,
    /// Those on trial.
    B,
}

/// What the stopping rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrialResult {
    /// More sessions are needed.
    Open,
    /// The set on trial asks less.
    Better,
    /// It asks more.
    Worse,
    /// No difference that matters.
    Alike,
    /// More of what it approved was regretted; nothing outweighs that.
    Regretted,
}

impl TrialResult {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            TrialResult::Open => "open",
            TrialResult::Better => "better",
            TrialResult::Worse => "worse",
            TrialResult::Alike => "alike",
            TrialResult::Regretted => "regretted",
        }
    }

    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            TrialResult::Open => "more sessions are needed",
            TrialResult::Better => "the set on trial asks less, and no more was regretted",
            TrialResult::Worse => "the set on trial asks more",
            TrialResult::Alike => "no difference that matters",
            TrialResult::Regretted => "more was regretted under the set on trial, which nothing outweighs",
        }
    }
}

/// The state of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrialState {
    pub verdict: TrialResult,
    /// Pairs that the set on trial won and lost.
    pub won: u32,
    pub lost: u32,
    pub alike: u32,
    /// The evidence for each direction, as the logarithm of a likelihood ratio.
    pub better: f64,
    pub worse: f64,
}

impl Stopping {
    /// The evidence that ends the trial. Ville's inequality bounds the chance that it is ever reached by accident by half of
    /// alpha, for each of the two directions.
    pub(crate) fn bound(&self) -> f64 {
        (2.0 / self.alpha).ln()
    }

    /// The rule in words.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "the first {} calls of a session count; sessions are paired in the order they complete; the set that asked less \
             wins the pair; after every pair, Wald's test of 1/2 against {} in both directions, false alarm at most {}, a real \
             difference missed at most {}; alike after {} decided pairs; a set with more regretted calls never wins",
            self.calls, self.effect, self.alpha, self.beta, self.pairs
        )
    }

    /// Goes through pairs: calls asked about in the session under A, and in that under B.
    pub(crate) fn follow(&self, pairs: impl IntoIterator<Item = (u32, u32)>) -> TrialState {
        let (gain, loss) = ((2.0 * self.effect).ln(), (2.0 * (1.0 - self.effect)).ln());
        let mut at = TrialState { verdict: TrialResult::Open, won: 0, lost: 0, alike: 0, better: 0.0, worse: 0.0 };
        for (a, b) in pairs {
            match b.cmp(&a) {
                std::cmp::Ordering::Less => {
                    at.won += 1;
                    (at.better, at.worse) = (at.better + gain, at.worse + loss);
                }
                std::cmp::Ordering::Greater => {
                    at.lost += 1;
                    (at.better, at.worse) = (at.better + loss, at.worse + gain);
                }
                std::cmp::Ordering::Equal => at.alike += 1,
            }
            at.verdict = self.judge(&at);
            // Nothing after the end counts: the result is final.
            if at.verdict != TrialResult::Open {
                break;
            }
        }
        at
    }

    fn judge(&self, at: &TrialState) -> TrialResult {
        let (bound, given_up) = (self.bound(), self.beta.ln());
        if at.better >= bound {
            return TrialResult::Better;
        }
        if at.worse >= bound {
            return TrialResult::Worse;
        }
        let is_alike = at.better <= given_up && at.worse <= given_up;
        if is_alike || at.won + at.lost >= self.pairs { TrialResult::Alike } else { TrialResult::Open }
    }
}

/// Pairs sessions as they complete.
#[derive(Debug)]
pub(crate) struct Pairing {
    calls: u32,
    /// Calls so far, and how many were asked about.
    sessions: BTreeMap<String, (u32, u32)>,
    waiting: [VecDeque<u32>; 2],
    pairs: Vec<(u32, u32)>,
}

impl Pairing {
    pub(crate) fn new(stopping: &Stopping) -> Pairing {
        Pairing { calls: stopping.calls, sessions: BTreeMap::new(), waiting: Default::default(), pairs: Vec::new() }
    }

    /// The next call of a session.
    pub(crate) fn count_call(&mut self, session: &str, arm: Arm, is_asked: bool) {
        let (calls, asked) = self.sessions.entry(session.to_owned()).or_default();
        // Long sessions must not weigh more than short ones.
        if *calls >= self.calls {
            return;
        }
        *calls += 1;
        *asked += u32::from(is_asked);
        if *calls == self.calls {
            let asked = *asked;
            self.complete(arm, asked);
        }
    }

    pub(crate) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    fn complete(&mut self, arm: Arm, asked: u32) {
        let [a, b] = &mut self.waiting;
        match arm {
            Arm::A => a.push_back(asked),
            Arm::B => b.push_back(asked),
        }
        if let (Some(first), Some(second)) = (a.front().copied(), b.front().copied()) {
            let _ = (a.pop_front(), b.pop_front());
            self.pairs.push((first, second));
        }
    }
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
