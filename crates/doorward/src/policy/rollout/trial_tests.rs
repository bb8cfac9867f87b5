//! The stopping rule on sessions made up by a seeded generator: how often it errs, and how soon it ends.

use super::*;
use crate::machine::splitmix::SplitMix;

/// Made-up sessions.
struct Chance(SplitMix);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0.next()
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Calls asked about in a session: sessions differ from each other more than calls within one.
    fn session(&mut self, calls: u32, factor: f64) -> u32 {
        let rate = match self.next() % 10 {
            0..4 => 0.03,
            4..8 => 0.12,
            _ => 0.45,
        };
        (0..calls).map(|_| u32::from(self.unit() < rate * factor)).sum()
    }
}

/// Trials in which the set on trial asks so many times as often: the share with each verdict, and the pairs they took.
fn simulate(trials: u32, seed: u64, factor: f64) -> (BTreeMap<&'static str, f64>, f64) {
    let stopping = Stopping::default();
    let mut chance = Chance(SplitMix(seed));
    let (mut verdicts, mut taken) = (BTreeMap::new(), 0);
    for _ in 0..trials {
        let pairs =
            std::iter::repeat_with(|| (chance.session(stopping.calls, 1.0), chance.session(stopping.calls, factor)));
        let standing = stopping.follow(pairs);
        *verdicts.entry(standing.verdict.as_str()).or_insert(0.0) += 1.0 / f64::from(trials);
        taken += standing.won + standing.lost + standing.alike;
    }
    (verdicts, f64::from(taken) / f64::from(trials))
}

#[test]
#[allow(clippy::print_stdout, reason = "the measured figures are the point")]
fn sets_that_are_alike_are_told_apart_no_more_often_than_stated() {
    let stopping = Stopping::default();
    let (verdicts, pairs) = simulate(4000, 7, 1.0);
    let of = |word: &str| verdicts.get(word).copied().unwrap_or_default();
    let false_alarms = of("better") + of("worse");
    println!(
        "false alarms: {:.2} % of 4000 trials without a difference (stated: at most {:.0} %); {pairs:.0} pairs on average",
        false_alarms * 100.0,
        stopping.alpha * 100.0
    );
    assert!(false_alarms <= stopping.alpha, "{verdicts:?}");
    assert!(of("open") == 0.0, "every trial ends: {verdicts:?}");
}

#[test]
#[allow(clippy::print_stdout, reason = "the measured figures are the point")]
fn a_set_that_asks_much_less_wins_and_one_that_asks_much_more_loses() {
    for (factor, word) in [(0.3, "better"), (2.2, "worse")] {
        let (verdicts, pairs) = simulate(1000, 11, factor);
        let found = verdicts.get(word).copied().unwrap_or_default();
        println!(
            "asks {factor} times as often: {word} in {:.1} % of 1000 trials, {pairs:.0} pairs on average",
            found * 100.0
        );
        assert!(found >= 1.0 - Stopping::default().beta, "{factor}: {verdicts:?}");
    }
}

#[test]
fn what_is_looked_at_often_stays_what_it_is() {
    let stopping = Stopping::default();
    let mut chance = Chance(SplitMix(3));
    let pairs: Vec<(u32, u32)> = (0..400).map(|_| (chance.session(10, 1.0), chance.session(10, 0.3))).collect();
    let whole = stopping.follow(pairs.iter().copied());
    assert_eq!(whole.verdict, TrialResult::Better);
    let ended = (whole.won + whole.lost + whole.alike) as usize;
    for seen in 0..pairs.len() {
        let standing = stopping.follow(pairs[..seen].iter().copied());
        let wanted = if seen < ended { TrialResult::Open } else { TrialResult::Better };
        assert_eq!(standing.verdict, wanted, "{seen} of {ended}");
    }
}

#[test]
fn sessions_are_paired_when_both_are_complete_and_only_their_first_calls_count() {
    let mut pairing = Pairing::new(&Stopping { calls: 2, ..Stopping::default() });
    for (session, arm, is_asked) in [
        ("one", Arm::A, true),
        ("two", Arm::B, false),
        ("one", Arm::A, true),
        ("one", Arm::A, true),
        ("three", Arm::A, false),
        ("two", Arm::B, false),
        ("three", Arm::A, false),
        ("four", Arm::B, true),
    ] {
        pairing.count_call(session, arm, is_asked);
    }
    assert_eq!(pairing.pairs(), [(2, 0)]);
    pairing.count_call("four", Arm::B, false);
    assert_eq!(pairing.pairs(), [(2, 0), (0, 1)]);
}
