//! How long to wait before trying again: longer each time, never in step with the others.

use std::time::Duration;

/// The first wait, and the unit of the later ones.
const FIRST: Duration = Duration::from_secs(1);
/// No wait is longer.
// An edge that comes back after a hub's bad night should not wait for an hour.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// Waits between failed attempts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Something worked: the next failure is the first again.
    pub const fn reset(&mut self) {
        self.failures = 0;
    }

    /// The wait after one more failure: between half of it and all of it, as `chance` (any number) says. Fifty edges that lost
    /// their hub at one moment must not come back at one moment.
    pub fn next(&mut self, chance: u64) -> Duration {
        let whole = FIRST.saturating_mul(1 << self.failures.min(20)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let half = whole / 2;
        half + half.mul_f64((chance % 1000) as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_are_spread() {
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..40).map(|_| backoff.next(500)).collect();
        assert!(waits[0] < waits[1] && waits[1] < waits[2]);
        assert!(waits.iter().all(|wait| *wait <= LONGEST) && waits[39] > LONGEST / 2);
        backoff.reset();
        assert!(backoff.next(999) <= FIRST);
        let spread: Vec<Duration> = [0, 999].map(|chance| Backoff { failures: 5 }.next(chance)).to_vec();
        assert!(spread[1] > spread[0].mul_f64(1.9));
    }
}
