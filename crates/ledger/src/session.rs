//! What the state files hold: denials, taint, boundaries and rates of a session, overrides of a pattern.

use crate::state::State;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// The override rate looks back so many days.
const MONTH: u64 = 30;
/// Denials in a row, and in all, after which the next call goes to a person.
const IN_A_ROW: u32 = 3;
const IN_ALL: u32 = 20;

/// What one session has been up to. Nothing here lowers a risk, but for an approval, which ends a row of denials,
/// and a person's reset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    denials: u32,
    denials_in_a_row: u32,
    decisions: u64,
    taint: BTreeSet<String>,
    boundaries: BTreeSet<String>,
    rates: BTreeMap<String, Bucket>,
}

impl State for SessionState {
    const NAME: &'static str = "session";
}

impl SessionState {
    /// A call was denied by the classifier.
    pub fn denied(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
        self.denials = self.denials.saturating_add(1);
        self.denials_in_a_row = self.denials_in_a_row.saturating_add(1);
    }

    /// A call was approved.
    pub fn approved(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
        self.denials_in_a_row = 0;
    }

    /// A call was put to a person; that ends no row.
    pub fn asked(&mut self) {
        self.decisions = self.decisions.saturating_add(1);
    }

    /// Something was touched that makes later calls riskier.
    pub fn taint(&mut self, what: &str) {
        self.taint.insert(what.to_owned());
    }

    /// The user said not to do something.
    pub fn bound(&mut self, what: &str) {
        self.boundaries.insert(what.to_owned());
    }

    /// A person set the counters back; taint and boundaries stay.
    pub fn reset(&mut self) {
        (self.denials, self.denials_in_a_row) = (0, 0);
    }

    /// Counts a call of a category against a rate; says whether that is kept.
    pub fn hit(&mut self, category: &str, limit: Limit, now_ms: u64) -> bool {
        self.rates.entry(category.to_owned()).or_default().hit(limit, now_ms)
    }

    /// Whether the next call must go to a person.
    #[must_use]
    pub const fn hands_over(&self) -> bool {
        self.denials_in_a_row >= IN_A_ROW || self.denials >= IN_ALL
    }

    /// Denials so far.
    #[must_use]
    pub const fn denials(&self) -> u32 {
        self.denials
    }

    /// Decisions so far.
    #[must_use]
    pub const fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Whether something was touched.
    #[must_use]
    pub fn is_tainted(&self, what: &str) -> bool {
        self.taint.contains(what)
    }

    /// All that was touched.
    pub fn taints(&self) -> impl Iterator<Item = &str> {
        self.taint.iter().map(String::as_str)
    }

    /// All that the user said not to do.
    pub fn boundaries(&self) -> impl Iterator<Item = &str> {
        self.boundaries.iter().map(String::as_str)
    }
}

/// So many calls a minute, and so many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// In the long run.
    pub per_minute: u32,
    /// At once.
    pub burst: u32,
}

/// A bucket that leaks at the allowed rate. A clock set back leaks nothing; one set ahead empties it once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bucket {
    thousandths: u64,
    at_ms: u64,
}

impl Bucket {
    fn hit(&mut self, limit: Limit, now_ms: u64) -> bool {
        let passed = now_ms.saturating_sub(self.at_ms);
        let leaked = passed.saturating_mul(u64::from(limit.per_minute)) / 60;
        self.thousandths = self.thousandths.saturating_sub(leaked).saturating_add(1000);
        self.at_ms = now_ms;
        let full = u64::from(limit.burst).saturating_mul(1000);
        let keeps = self.thousandths <= full;
        // What was refused does not fill it further, or a busy agent would never be let go again.
        self.thousandths = self.thousandths.min(full.saturating_add(1000));
        keeps
    }
}

/// How often calls of one pattern were let run by a person although they were not approved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternState {
    /// Decisions and overrides by day.
    days: BTreeMap<u64, (u32, u32)>,
}

impl State for PatternState {
    const NAME: &'static str = "pattern";
}

impl PatternState {
    /// A call of this pattern was judged.
    pub fn decided(&mut self, now_ms: u64) {
        let (decisions, _) = self.day(now_ms);
        *decisions = decisions.saturating_add(1);
    }

    /// A person let one run.
    pub fn overridden(&mut self, now_ms: u64) {
        let (_, overrides) = self.day(now_ms);
        *overrides = overrides.saturating_add(1);
    }

    /// Overrides and decisions of the last thirty days.
    #[must_use]
    pub fn month(&self, now_ms: u64) -> (u64, u64) {
        self.since(now_ms, MONTH)
    }

    /// Overrides of the last days; three in seven open a review ticket.
    #[must_use]
    pub fn overrides(&self, now_ms: u64, days: u64) -> u64 {
        self.since(now_ms, days).0
    }

    /// Days that a clock set back puts into the future count as recent.
    fn since(&self, now_ms: u64, days: u64) -> (u64, u64) {
        let from = (now_ms / DAY_MS).saturating_sub(days);
        self.days.range(from..).fold((0, 0), |(overrides, decisions), (_, (decided, overridden))| {
            (overrides + u64::from(*overridden), decisions + u64::from(*decided))
        })
    }

    fn day(&mut self, now_ms: u64) -> &mut (u32, u32) {
        let today = now_ms / DAY_MS;
        // More days than anybody asks for; the oldest goes first.
        while self.days.len() > 2 * MONTH as usize && !self.days.contains_key(&today) {
            self.days.pop_first();
        }
        self.days.entry(today).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_denials_in_a_row_or_twenty_in_all_hand_over() {
        let check = |story: &str, want: bool| {
            let mut state = SessionState::default();
            for sign in story.chars() {
                match sign {
                    'd' => state.denied(),
                    'a' => state.approved(),
                    'q' => state.asked(),
                    'r' => state.reset(),
                    other => panic!("{other}"),
                }
            }
            assert_eq!(state.hands_over(), want, "{story}");
        };
        check("", false);
        check("dd", false);
        check("ddd", true);
        check("ddad", false);
        check("ddqd", true);
        check(&"da".repeat(19), false);
        check(&"da".repeat(20), true);
        check("dddr", false);
    }

    #[test]
    fn a_rate_lets_a_burst_pass_and_then_its_pace_whatever_the_clock_does() {
        let limit = Limit { per_minute: 300, burst: 60 };
        let mut state = SessionState::default();
        let mut at = |now_ms: u64, hits: u32| (0..hits).filter(|_| state.hit("read", limit, now_ms)).count();
        assert_eq!(at(1_000_000, 100), 60);
        assert_eq!(at(1_001_000, 100), 4);
        assert_eq!(at(1_061_000, 100), 60);
        // Set back by years: nothing leaks, and nothing stays shut for years.
        assert_eq!(at(5, 10), 0);
        assert_eq!(at(60_005, 100), 60);
    }

    #[test]
    fn overrides_are_counted_over_thirty_days_and_survive_a_clock_set_back() {
        let mut state = PatternState::default();
        for day in 0..100 {
            state.decided(day * DAY_MS);
            state.decided(day * DAY_MS);
            state.overridden(day * DAY_MS);
        }
        assert_eq!(state.month(99 * DAY_MS), (31, 62));
        assert_eq!(state.overrides(99 * DAY_MS, 7), 8);
        assert!(state.days.len() <= 61);
        assert!(state.month(0).0 >= 31);
    }
}
