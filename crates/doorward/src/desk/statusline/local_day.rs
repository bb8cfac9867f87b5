//! When today began where the user is.

use std::path::Path;
use std::process::Command;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Where `date` is on every system that doorward runs on; never looked for on the search path.
const DATE: &str = "/bin/date";

/// The last local midnight.
pub(super) fn began_ms(now_ms: u64) -> u64 {
    midnight(now_ms, offset_minutes())
}

/// Minutes that local time is ahead of UTC.
// The standard library knows no time zones, and a library for one number is too much; asking costs a millisecond.
fn offset_minutes() -> i64 {
    let is_named = std::env::var_os("TZ").is_some() || Path::new("/etc/localtime").exists();
    if !is_named {
        return 0;
    }
    let answer = Command::new(DATE).arg("+%z").output();
    answer.ok().and_then(|answer| offset(&String::from_utf8_lossy(&answer.stdout))).unwrap_or_default()
}

/// Reads `+0530`.
fn offset(text: &str) -> Option<i64> {
    let number: i64 = text.trim().parse().ok()?;
    let minutes = number / 100 * 60 + number % 100;
    (minutes.abs() <= 15 * 60).then_some(minutes)
}

/// The last midnight of a place whose clock is ahead by so many minutes.
fn midnight(now_ms: u64, ahead: i64) -> u64 {
    let shift = ahead.saturating_mul(60_000);
    let local = now_ms.saturating_add_signed(shift);
    (local - local % DAY_MS).saturating_add_signed(-shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_the_users_midnight() {
        // 2026-11-19 01:00 UTC.
        let now_ms = 1_795_050_000_000;
        let hours_since = |ahead: i64| (now_ms - midnight(now_ms, ahead)) / 60_000;
        assert_eq!(hours_since(0), 60);
        assert_eq!(hours_since(330), 60 + 330);
        assert_eq!(hours_since(-480), 60 + 16 * 60);
    }

    #[test]
    fn an_offset_is_read_and_nonsense_is_not() {
        assert_eq!([offset("+0530\n"), offset("-0800"), offset("-0330")], [Some(330), Some(-480), Some(-210)]);
        assert_eq!([offset(""), offset("UTC"), offset("+9999")], [None; 3]);
    }
}
