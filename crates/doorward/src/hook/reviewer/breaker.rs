//! Stops asking a reviewer that failed several times in a row, so that calls don't wait for nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How many failures in a row open it.
// One failure is a hiccup. After three, every further soft question would cost its full timeout for nothing.
const FAILURES: u32 = 3;

/// How long it stays open; then one call tries again.
// Long enough to spare a session the waiting, short enough that a restarted local model is used again soon.
const REST_MS: u64 = 60_000;

/// Failures in a row, and the last of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Breaker {
    failures: u32,
    last_ms: u64,
}

impl Breaker {
    /// How long it stays open; `None` if the reviewer may be asked.
    pub(super) fn rests(&self, now_ms: u64) -> Option<Duration> {
        // Setting the clock back does not keep it open.
        let since = now_ms.checked_sub(self.last_ms)?;
        let left = REST_MS.checked_sub(since).filter(|left| *left > 0)?;
        (self.failures >= FAILURES).then(|| Duration::from_millis(left))
    }

    /// Starts a trial after the pause: concurrent calls keep waiting.
    pub(super) fn tries(&mut self, now_ms: u64) {
        if self.failures >= FAILURES {
            self.last_ms = now_ms;
        }
    }

    pub(super) fn failed(&mut self, now_ms: u64) {
        (self.failures, self.last_ms) = (self.failures.saturating_add(1), now_ms);
    }

    pub(super) fn reset(&mut self) {
        *self = Breaker::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_three_failures_it_rests_for_a_minute_and_then_one_call_tries() {
        let mut breaker = Breaker::default();
        for now in 1..=3 {
            assert_eq!(breaker.rests(now), None);
            breaker.failed(now);
        }
        assert!(breaker.rests(4).is_some() && breaker.rests(60_002).is_some());
        assert_eq!(breaker.rests(60_003), None);
        breaker.tries(60_003);
        assert!(breaker.rests(60_004).is_some(), "the others rest while one tries");
        breaker.reset();
        assert_eq!(breaker.rests(60_005), None);
        breaker.failed(60_006);
        assert_eq!(breaker.rests(60_007), None, "one failure is none in a row");
    }
}
