//! Times as people read and write them, always in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    #[cfg(test)]
    if let Some(pretended) = pretended::NOW_MS.get() {
        return pretended;
    }
    milliseconds(SystemTime::now())
}

/// A clock that a test sets, for its own thread. Release builds don't have this.
#[cfg(test)]
pub(crate) mod pretended {
    use std::cell::Cell;

    thread_local! {
        pub(super) static NOW_MS: Cell<Option<u64>> = const { Cell::new(None) };
    }

    pub(crate) fn set(now_ms: u64) {
        NOW_MS.set(Some(now_ms));
    }
}

/// Milliseconds from 1970 to a point in time.
pub(crate) fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// `2026-11-15 09:30:00`.
pub(crate) fn moment(time_ms: u64) -> String {
    let seconds = time_ms / 1000;
    let (year, month, day) = civil(seconds / DAY);
    let rest = seconds % DAY;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Reads a date, a date with a time, or an age: `2026-11-15`, `2026-11-15 09:30`, `90s`, `30m`, `12h`, `7d`, `2w`.
pub(crate) fn parse(text: &str, now_ms: u64) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is not a time: write `2026-11-15`, `2026-11-15 09:30` (UTC), or an age such as `30m`, `12h` or `7d`"
        )
    };
    let text = text.trim();
    if let Some(ago) = ago(text) {
        return Ok(now_ms.saturating_sub(ago));
    }
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let days = date_of(date).ok_or_else(wrong)?;
    let seconds = time_of(time.trim_end_matches('Z')).ok_or_else(wrong)?;
    days.checked_mul(DAY).and_then(|start| (start + seconds).checked_mul(1000)).ok_or_else(wrong)
}

fn ago(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    number.checked_mul(seconds * 1000)
}

fn date_of(text: &str) -> Option<u64> {
    let mut parts = text.split('-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let days = days_until(year, month, day)?;
    // A day that the month does not have turns into another one.
    (parts.next().is_none() && civil(days) == (year, month, day)).then_some(days)
}

fn time_of(text: &str) -> Option<u64> {
    let mut parts = text.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    (parts.next().is_none() && hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Year, month and day of a day since 1970, counting in 400-year eras that start in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

fn days_until(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_and_read_back() {
        for (time_ms, shown) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_763_199_000_000, "2025-11-15 09:30:00"),
            (4_107_542_399_000, "2100-02-28 23:59:59"),
        ] {
            assert_eq!(moment(time_ms), shown);
            assert_eq!(parse(shown, 0), Ok(time_ms), "{shown}");
        }
        assert_eq!(parse("2025-11-15", 0), Ok(1_763_164_800_000));
        assert_eq!(parse("2025-11-15T09:30Z", 0), Ok(1_763_199_000_000));
        assert_eq!(parse("12h", 100_000_000), Ok(56_800_000));
        assert_eq!(parse("9999999d", 5), Ok(0));
    }

    #[test]
    fn what_is_no_moment_is_an_error() {
        for text in ["", "yesterday", "2025-02-30", "2025-13-01", "2025-11-15 25:00", "1d2", "-3h", "2025-11-15-1", "é"]
        {
            assert!(parse(text, 0).is_err(), "{text}");
        }
    }
}
