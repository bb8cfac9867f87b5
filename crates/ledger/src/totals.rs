//! Sums beside the index: what metrics need of a million decisions, by the hour, so that nobody has to count them again.

use crate::columns::Row;
use crate::index::stored;
use rusqlite::{Transaction, params};
use std::collections::HashMap;

/// An hour, the stretch that is summed up.
pub const HOUR_MS: u64 = 60 * 60 * 1000;

/// Below this every microsecond has a bucket of its own; above, so many share a doubling.
const FINE: u64 = 16;

pub const TABLES: &str = "
    DROP TABLE IF EXISTS sums; DROP TABLE IF EXISTS overridden; DROP TABLE IF EXISTS latency;
    CREATE TABLE sums (
        part TEXT, name TEXT, verdict TEXT, hour INTEGER, n INTEGER, first_ms INTEGER, last_ms INTEGER,
        PRIMARY KEY (part, name, verdict, hour)) WITHOUT ROWID;
    CREATE TABLE overridden (
        sequence INTEGER PRIMARY KEY, hour INTEGER, time_ms INTEGER, category TEXT, user TEXT, project TEXT);
    CREATE TABLE latency (
        stage TEXT, bucket INTEGER, hour INTEGER, n INTEGER, PRIMARY KEY (stage, bucket, hour)) WITHOUT ROWID;";

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
];

/// An answer is about the last decision before it that has the name; answered twice, it counts once.
const OVERRIDES: &str = "INSERT OR IGNORE INTO overridden
    SELECT asked.sequence, asked.time_ms / 3600000, answer.time_ms, COALESCE(asked.category, ''),
        COALESCE(asked.user, ''), COALESCE(asked.project, '')
    FROM records AS answer JOIN records AS asked ON asked.sequence = (
        SELECT MAX(named.sequence) FROM records AS named
        WHERE named.id = answer.decision AND named.kind = 'decision' AND named.sequence < answer.sequence)
    WHERE answer.kind = 'answer' AND answer.kind <> 'decision' AND answer.sequence >= ?1 AND answer.step = 'approved'
        AND answer.by_whom IN ('person', 'client') AND asked.verdict <> 'approve'";

const LATENCY: &str = "INSERT INTO latency VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (stage, bucket, hour) DO UPDATE SET n = n + excluded.n";

/// Adds the entries from a sequence on; from 0 on everything is summed up anew.
pub fn add(transaction: &Transaction<'_>, from: u64) -> rusqlite::Result<()> {
    if from == 0 {
        transaction.execute_batch(FORGET)?;
    }
    for (part, name) in PARTS {
        let sql = format!(
            "INSERT INTO sums SELECT '{part}', {name}, COALESCE(verdict, ''), time_ms / 3600000, COUNT(*), MIN(time_ms),
                MAX(time_ms) FROM records WHERE kind = 'decision' AND sequence >= ?1 GROUP BY 1, 2, 3, 4
             ON CONFLICT DO UPDATE SET n = n + excluded.n, first_ms = MIN(first_ms, excluded.first_ms),
                last_ms = MAX(last_ms, excluded.last_ms)"
        );
        transaction.prepare_cached(&sql)?.execute([stored(from)])?;
    }
    transaction.prepare_cached(OVERRIDES)?.execute([stored(from)])?;
    Ok(())
}

/// Durations that are not in the index yet.
#[derive(Debug, Default)]
pub struct Durations(HashMap<(String, u64, u64), u64>);

impl Durations {
    pub fn note(&mut self, row: Row) {
        let hour = row.time_ms / HOUR_MS;
        for (stage, took_us) in row.stages {
            *self.0.entry((stage, bucket(took_us), hour)).or_default() += 1;
        }
    }

    pub fn store(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached(LATENCY)?;
        for ((stage, bucket, hour), count) in self.0 {
            statement.execute(params![stage, stored(bucket), stored(hour), stored(count)])?;
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
pub fn longest(bucket: u64) -> u64 {
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
    fn a_duration_lies_in_its_bucket_and_hardly_below_the_end_of_it() {
        for took in (0..5000).chain([1 << 20, (1 << 20) + 1, 123_456_789, u64::from(u32::MAX), 1 << 62]) {
            let end = longest(bucket(took));
            assert!(end >= took && end - took <= took / 16, "{took} {end}");
            assert!(bucket(end) == bucket(took) && bucket(end + 1) == bucket(took) + 1, "{took} {end}");
        }
    }
}
