//! The hub's clock, and the month that a moment lies in.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// The number of a day since 1970.
pub(crate) const fn day_of(time_ms: u64) -> u64 {
    time_ms / DAY_MS
}

/// A month as a number: 202611 is November 2026.
pub(crate) fn month_of(time_ms: u64) -> i32 {
    // Howard Hinnant's civil-from-days: years begin in March, so leap days come last.
    let days = i64::try_from(day_of(time_ms)).unwrap_or_default() + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    i32::try_from(year * 100 + month).unwrap_or(i32::MAX)
}

/// The month after a month.
pub(crate) const fn next_month(month: i32) -> i32 {
    if month % 100 >= 12 { (month / 100 + 1) * 100 + 1 } else { month + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_follow_each_other_through_every_day_of_two_centuries() {
        assert_eq!((month_of(0), month_of(951_782_400_000), month_of(1_763_510_400_000)), (197_001, 200_002, 202_511));
        let mut month = month_of(0);
        for day in 0..73_000 {
            let next = month_of(day * DAY_MS);
            assert!(next == month || next == next_month(month), "day {day}: {month} then {next}");
            month = next;
        }
        assert_eq!(month, 216_911);
    }
}
