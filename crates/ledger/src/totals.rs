//! Sums beside the index: what metrics need of a million decisions, by the hour and by the day, so that nobody has to
//! count them again.

use rusqlite::{Transaction, params};
use std::collections::HashMap;

use crate::columns::Row;
use crate::index::stored;

/// An hour, the stretch that is summed up.
pub(crate) const HOUR_MS: u64 = 60 * 60 * 1000;

/// Below this every microsecond has a bucket of its own; above, so many share a doubling.
// Sixteen buckets per doubling keep every percentile within about 6 %.
const FINE: u64 = 16;

pub(crate) const TABLES: &str = "
    DROP TABLE IF EXISTS sums; DROP TABLE IF EXISTS overridden; DROP TABLE IF EXISTS latency;
    CREATE TABLE sums (
        span TEXT, at INTEGER, part TEXT, name TEXT, verdict TEXT, n INTEGER, first_ms INTEGER, last_ms INTEGER,
        PRIMARY KEY (span, at, part, name, verdict)) WITHOUT ROWID;
    CREATE TABLE overridden (
        sequence INTEGER PRIMARY KEY, hour INTEGER, time_ms INTEGER, category TEXT, user TEXT, project TEXT, own INTEGER);
    CREATE TABLE latency (
        span TEXT, at INTEGER, stage TEXT, bucket INTEGER, n INTEGER,
        PRIMARY KEY (span, at, stage, bucket)) WITHOUT ROWID;";

const FORGET: &str = "DELETE FROM sums; DELETE FROM overridden;";

/// What decisions are told apart by, and how the index says it. Each is summed up for itself: together they would be as
/// many as the decisions.
const PARTS: &[(&str, &str)] = &[
    ("all", "''"),
    ("category", "COALESCE(category, '')"),
    ("user", "COALESCE(user, '')"),
    ("project", "COALESCE(project, '')"),
    ("rule", "COALESCE(rule, '')"),
    ("coverage", "COALESCE(coverage, '')"),
    ("mode", "COALESCE(mode, '')"),
    ("unattended", "COALESCE(unattended, 0)"),
    ("review", "COALESCE(review, '')"),
    (RUN, "COALESCE(run, '')"),
];

/// Calls that were sent to the box are no questions: the run that followed is a decision of its own.
const RUN: &str = "run";
const SENT: &str = "COALESCE(run, '') NOT IN ('steered', 'replaced')";

/// An answer is about the last decision before it that has the name; answered twice, it counts once. Only what doorward
/// itself stopped in mode `auto` (`own`) counts as overridden; any yes sets the counters of its session back.
const OVERRIDES: &str = "INSERT OR IGNORE INTO overridden
    SELECT asked.sequence, asked.time_ms / 3600000, answer.time_ms, COALESCE(asked.category, ''),
        COALESCE(asked.user, ''), COALESCE(asked.project, ''), (asked.mode IS NULL OR asked.mode = 'auto') AND asked.demanded IS NULL
    FROM records AS answer JOIN records AS asked ON asked.sequence = (
        SELECT MAX(named.sequence) FROM records AS named
        WHERE named.id = answer.decision AND named.kind = 'decision' AND named.sequence < answer.sequence)
    WHERE answer.kind = 'answer' AND answer.kind <> 'decision' AND answer.sequence >= ?1 AND answer.step = 'approved'
        AND answer.by_whom IN ('person', 'client') AND asked.verdict <> 'approve'";

const LATENCY: &str = "INSERT INTO latency VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT DO UPDATE SET n = n + excluded.n";

const FRESH: &str = "CREATE TEMP TABLE IF NOT EXISTS fresh (
    part TEXT, name TEXT, verdict TEXT, hour INTEGER, n INTEGER, first_ms INTEGER, last_ms INTEGER);
    DELETE FROM fresh;";

/// The length of a span in hours, and the letter for it.
// A year by the hour is 8,760 rows per name; days make long reports cheap, hours make the edges exact.
const SPANS: [(u64, &str); 2] = [(1, "h"), (24, "d")];

/// Adds the entries from a sequence on; from 0 on everything is summed up anew.
pub(crate) fn add(transaction: &Transaction<'_>, from: u64) -> rusqlite::Result<()> {
    if from == 0 {
        transaction.execute_batch(FORGET)?;
    }
    transaction.execute_batch(FRESH)?;
    for (part, name) in PARTS {
        let counted = if *part == RUN { "true" } else { SENT };
        let sql = format!(
            "INSERT INTO fresh SELECT '{part}', {name}, COALESCE(verdict, ''), time_ms / 3600000, COUNT(*), MIN(time_ms),
                MAX(time_ms) FROM records WHERE kind = 'decision' AND sequence >= ?1 AND {counted} GROUP BY 1, 2, 3, 4"
        );
        transaction.prepare_cached(&sql)?.execute([stored(from)])?;
    }
    for (hours, span) in SPANS {
        let sql = format!(
            "INSERT INTO sums SELECT '{span}', hour / {hours}, part, name, verdict, SUM(n), MIN(first_ms), MAX(last_ms)
                FROM fresh WHERE true GROUP BY 2, 3, 4, 5
             ON CONFLICT DO UPDATE SET n = n + excluded.n, first_ms = MIN(first_ms, excluded.first_ms),
                last_ms = MAX(last_ms, excluded.last_ms)"
        );
        transaction.prepare_cached(&sql)?.execute([])?;
    }
    transaction.execute_batch("DELETE FROM fresh;")?;
    transaction.prepare_cached(OVERRIDES)?.execute([stored(from)])?;
    Ok(())
}

/// Whole days of a stretch of time, and the hours before and behind them; what is empty ends before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub days: [i64; 2],
    pub before: [i64; 2],
    pub behind: [i64; 2],
}

impl Stretch {
    /// From one hour to another, both included.
    pub(crate) fn of(first: u64, last: u64) -> Self {
        let (day, end) = (first.div_ceil(24), last.saturating_add(1) / 24);
        let both = |from: u64, to: u64| [stored(from), stored(to)];
        if day >= end {
            return Self { days: [1, 0], before: both(first, last), behind: [1, 0] };
        }
        let before = if day * 24 == first { [1, 0] } else { both(first, day * 24 - 1) };
        Self { days: both(day, end - 1), before, behind: both(end * 24, last) }
    }

    /// In the order of the questions.
    pub(crate) fn values(&self) -> [i64; 6] {
        let ([a, b], [c, d], [e, f]) = (self.days, self.before, self.behind);
        [a, b, c, d, e, f]
    }
}

/// Durations that are not in the index yet.
#[derive(Debug, Default)]
pub(crate) struct Durations(HashMap<(&'static str, u64, String, u64), u64>);

impl Durations {
    pub(crate) fn note(&mut self, row: Row) {
        let hour = row.time_ms / HOUR_MS;
        for (stage, took_us) in row.stages {
            for (hours, span) in SPANS {
                *self.0.entry((span, hour / hours, stage.clone(), bucket(took_us))).or_default() += 1;
            }
        }
    }

    pub(crate) fn store(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached(LATENCY)?;
        for ((span, at, stage, bucket), count) in self.0 {
            statement.execute(params![span, stored(at), stage, stored(bucket), stored(count)])?;
        }
        Ok(())
    }
}

/// The bucket of a duration: exact below sixteen microseconds, within six per cent above.
fn bucket(took_us: u64) -> u64 {
    if took_us < FINE {
        return took_us;
    }
    let doublings = u64::from(took_us.ilog2()) - u64::from(FINE.ilog2());
    FINE + doublings * FINE + ((took_us >> doublings) - FINE)
}

/// The longest duration in a bucket.
pub(crate) fn longest(bucket: u64) -> u64 {
    let Some(above) = bucket.checked_sub(FINE) else { return bucket };
    let (doublings, place) = (above / FINE, above % FINE);
    // A number from a damaged index must not overflow.
    let width = 1_u64.checked_shl(u32::try_from(doublings).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
    (FINE + place).saturating_mul(width).saturating_add(width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_days_and_the_hours_around_them() {
        for (first, last) in
            [(0, 0), (0, 23), (0, 24), (1, 23), (1, 24), (5, 47), (5, 48), (24, 47), (30, 31), (7, 200)]
        {
            let Stretch { days, before, behind } = Stretch::of(first, last);
            let mut hours: Vec<i64> = (before[0]..=before[1]).collect();
            (days[0]..=days[1]).for_each(|day| hours.extend(day * 24..(day + 1) * 24));
            hours.extend(behind[0]..=behind[1]);
            assert_eq!(hours, (first as i64..=last as i64).collect::<Vec<_>>(), "{first} {last}");
        }
    }

    #[test]
    fn a_duration_lies_in_its_bucket_and_hardly_below_the_end_of_it() {
        for took in (0..5000).chain([1 << 20, (1 << 20) + 1, 123_456_789, u64::from(u32::MAX), 1 << 62]) {
            let end = longest(bucket(took));
            assert!(end >= took && end - took <= took / 16, "{took} {end}");
            assert!(bucket(end) == bucket(took) && bucket(end + 1) == bucket(took) + 1, "{took} {end}");
        }
    }
}
