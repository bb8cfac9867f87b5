//! When today began where the user is.

use std::path::PathBuf;
use std::process::Command;

use crate::machine::checked_read;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Where `date` is on every system that doorward runs on; never looked for on the search path.
const DATE: &str = "/bin/date";

/// The last local midnight.
pub(super) fn began_ms(now_ms: u64) -> u64 {
    midnight(now_ms, offset_minutes(now_ms))
}

/// Minutes that local time is ahead of UTC.
// Starting `date` takes longer than the whole line, so it is asked only where the zone's own table can't say.
fn offset_minutes(now_ms: u64) -> i64 {
    let named = std::env::var("TZ").ok();
    let file = match named.as_deref().map(|name| name.trim_start_matches(':')) {
        None => PathBuf::from("/etc/localtime"),
        Some("" | "UTC" | "GMT" | "UTC0") => return 0,
        Some(name) if name.starts_with('/') => PathBuf::from(name),
        Some(name) => PathBuf::from("/usr/share/zoneinfo").join(name),
    };
    if named.is_none() && !file.exists() {
        return 0;
    }
    let table = checked_read::bytes_of(&file, 1 << 20);
    let found = table.and_then(|table| in_table(&table, i64::try_from(now_ms / 1000).ok()?));
    found.or_else(asked).unwrap_or_default()
}

fn asked() -> Option<i64> {
    let answer = Command::new(DATE).arg("+%z").output().ok()?;
    offset(&String::from_utf8_lossy(&answer.stdout))
}

/// Reads the 64-bit part of a zone file (RFC 8536); `None` if the table ends before now and a rule goes on.
fn in_table(table: &[u8], now: i64) -> Option<i64> {
    let first = Header::read(table, 0)?;
    let start = 44 + first.length(4);
    let header = Header::read(table, start)?;
    let times = start + 44;
    let kinds = times + header.times * 8;
    let types = kinds + header.times;
    let time = |at: usize| Some(i64::from_be_bytes(table.get(times + at * 8..)?.first_chunk().copied()?));
    let passed = (0..header.times).take_while(|at| time(*at).is_some_and(|time| time <= now)).count();
    let footer = String::from_utf8_lossy(table.get(start + 44 + header.length(8)..)?).into_owned();
    // A comma begins the rule for daylight saving time after the last entry.
    if passed == header.times && footer.contains(',') {
        return None;
    }
    let kind = match passed.checked_sub(1) {
        Some(last) => usize::from(*table.get(kinds + last)?),
        None => 0,
    };
    let seconds = i32::from_be_bytes(table.get(types + kind * 6..)?.first_chunk().copied()?);
    in_range(i64::from(seconds) / 60)
}

/// The counts that a zone file begins with.
struct Header {
    times: usize,
    kinds: usize,
    characters: usize,
    leaps: usize,
    standard: usize,
    universal: usize,
}

impl Header {
    fn read(table: &[u8], at: usize) -> Option<Header> {
        let header = table.get(at..at.checked_add(44)?)?;
        if !header.starts_with(b"TZif") {
            return None;
        }
        let count = |at: usize| -> Option<usize> {
            usize::try_from(u32::from_be_bytes(header.get(20 + at * 4..)?.first_chunk().copied()?)).ok()
        };
        let [universal, standard, leaps, times, kinds, characters] =
            [count(0)?, count(1)?, count(2)?, count(3)?, count(4)?, count(5)?];
        // More than any zone has; keeps the sums below from overflowing.
        let all = [universal, standard, leaps, times, kinds, characters];
        all.iter().all(|count| *count <= 1 << 16).then_some(Header {
            times,
            kinds,
            characters,
            leaps,
            standard,
            universal,
        })
    }

    /// The bytes behind it, with times of so many bytes.
    const fn length(&self, time: usize) -> usize {
        self.times * (time + 1)
            + self.kinds * 6
            + self.characters
            + self.leaps * (time + 4)
            + self.standard
            + self.universal
    }
}

/// Reads `+0530`.
fn offset(text: &str) -> Option<i64> {
    let number: i64 = text.trim().parse().ok()?;
    in_range(number / 100 * 60 + number % 100)
}

fn in_range(minutes: i64) -> Option<i64> {
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
        let minutes_since = |ahead: i64| (now_ms - midnight(now_ms, ahead)) / 60_000;
        assert_eq!(minutes_since(0), 60);
        assert_eq!(minutes_since(330), 60 + 330);
        assert_eq!(minutes_since(-480), 60 + 16 * 60);
    }

    #[test]
    fn an_offset_is_read_and_nonsense_is_not() {
        assert_eq!([offset("+0530\n"), offset("-0800"), offset("-0330")], [Some(330), Some(-480), Some(-210)]);
        assert_eq!([offset(""), offset("UTC"), offset("+9999")], [None; 3]);
    }

    /// A zone file with one change, an hour apart.
    fn zone(change: i64, rule: &str) -> Vec<u8> {
        let header = |times: u32, kinds: u32| {
            let counts = [0, 0, 0, times, kinds, 4].map(u32::to_be_bytes).concat();
            [b"TZif2".as_slice(), &[0; 15], &counts].concat()
        };
        let kind = |minutes: i32| [(minutes * 60).to_be_bytes().as_slice(), &[0, 0]].concat();
        let short = [header(0, 1), kind(0), b"UTC\0".to_vec()].concat();
        let long =
            [header(1, 2), change.to_be_bytes().to_vec(), vec![1], kind(60), kind(120), b"CET\0".to_vec()].concat();
        [short, long, format!("\n{rule}\n").into_bytes()].concat()
    }

    #[test]
    fn a_zone_is_read_from_its_table_and_left_to_date_behind_its_end() {
        let table = zone(1_000, "CET-1");
        assert_eq!([in_table(&table, 999), in_table(&table, 1_000)], [Some(60), Some(120)]);
        let ruled = zone(1_000, "CET-1CEST,M3.5.0,M10.5.0/3");
        assert_eq!([in_table(&ruled, 999), in_table(&ruled, 1_000)], [Some(60), None]);
        (0..table.len()).for_each(|length| assert!(in_table(&table[..length], 999).is_none_or(|found| found == 60)));
        assert_eq!(in_table(b"TZif2", 0), None);
    }
}
