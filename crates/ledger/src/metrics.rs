//! Live figures from the sums of the index: rates, counts and durations of a stretch of time.

use serde::Serialize;
use std::collections::BTreeMap;

use crate::index::{Index, IndexError, shown, stored};
use crate::totals::{HOUR_MS, Stretch, longest};

/// Decisions of one category, user or project.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Share {
    /// Which one; empty if the record does not say.
    pub name: String,
    /// All of them.
    pub decisions: u64,
    /// Ran without asking.
    pub approved: u64,
    /// Put to a person.
    pub confirmed: u64,
    /// Blocked.
    pub blocked: u64,
    /// Let run by a person although they were not approved.
    pub overridden: u64,
    /// Approved by all.
    pub approval_rate: f64,
    /// Overridden by all.
    pub override_rate: f64,
}

/// How long a stage took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Which stage.
    pub stage: String,
    /// So many were measured.
    pub count: u64,
    /// Half of them took at most so many microseconds.
    pub p50_us: u64,
    /// All but one in a hundred did.
    pub p99_us: u64,
}

/// Figures of a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// From the hour of this moment on.
    pub since_ms: u64,
    /// All decisions together.
    pub all: Share,
    /// Questions in sessions that nobody attended: unavailable, which is no denial.
    pub unavailable: u64,
    /// From one confirmation to the next, on average.
    pub between_confirmations_ms: Option<u64>,
    /// By the operation of the gravest effect.
    pub categories: Vec<Share>,
    /// By the user of the machine.
    pub users: Vec<Share>,
    /// By project.
    pub projects: Vec<Share>,
    /// Rules that settled most, or were violated most.
    pub rules: Vec<(String, u64)>,
    /// How far calls were understood.
    pub coverage: Vec<(String, u64)>,
    /// By the mode in force.
    pub modes: Vec<(String, u64)>,
    /// How the reviewer answered, where it was asked; `unavailable` is no denial.
    pub reviews: Vec<(String, u64)>,
    /// How calls got to the box, and what became of what contained runs did.
    pub runs: Vec<(String, u64)>,
    /// Contained runs that did more than expected, and calls that ran in spite of one.
    pub mismatches: u64,
    /// Durations by stage.
    pub latency: Vec<Latency>,
}

/// One row of the sums.
struct Sum {
    part: String,
    name: String,
    verdict: String,
    count: u64,
    first_ms: u64,
    last_ms: u64,
}

#[derive(Default)]
struct Groups {
    all: Share,
    unavailable: u64,
    confirmations: Option<(u64, u64)>,
    categories: BTreeMap<String, Share>,
    users: BTreeMap<String, Share>,
    projects: BTreeMap<String, Share>,
    rules: BTreeMap<String, u64>,
    coverage: BTreeMap<String, u64>,
    modes: BTreeMap<String, u64>,
    reviews: BTreeMap<String, u64>,
    runs: BTreeMap<String, u64>,
}

impl Index {
    /// The figures between two moments, whole hours.
    pub fn metrics(&self, since_ms: u64, until_ms: u64) -> Result<Metrics, IndexError> {
        let hours = [stored(since_ms / HOUR_MS), stored(until_ms / HOUR_MS)];
        let stretch = Stretch::of(since_ms / HOUR_MS, until_ms / HOUR_MS);
        let mut groups = Groups::default();
        self.sums(stretch, |sum| groups.add(sum))?;
        self.overridden(hours, |category, user, project, count| groups.overridden([category, user, project], count))?;
        let latency = self.latencies(stretch)?;
        let mismatches = self.mismatches(since_ms / HOUR_MS * HOUR_MS)?;
        Ok(Metrics { since_ms: since_ms / HOUR_MS * HOUR_MS, latency, mismatches, ..groups.finish() })
    }

    fn mismatches(&self, since_ms: u64) -> rusqlite::Result<u64> {
        let sql = "SELECT COUNT(*) FROM records WHERE kind = 'alert' AND step = 'raised' AND time_ms >= ?1
            AND category IN ('promise', 'unboxed')";
        self.db.prepare_cached(sql)?.query_row([stored(since_ms)], |row| row.get(0).map(shown))
    }

    fn sums(&self, stretch: Stretch, mut take: impl FnMut(Sum)) -> rusqlite::Result<()> {
        let chosen = spans("part, name, verdict, n, first_ms, last_ms", "sums");
        let sql =
            format!("SELECT part, name, verdict, SUM(n), MIN(first_ms), MAX(last_ms) FROM ({chosen}) GROUP BY 1, 2, 3");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query(stretch.values())?;
        while let Some(row) = rows.next()? {
            take(Sum {
                part: row.get(0)?,
                name: row.get(1)?,
                verdict: row.get(2)?,
                count: row.get(3).map(shown)?,
                first_ms: row.get(4).map(shown)?,
                last_ms: row.get(5).map(shown)?,
            });
        }
        Ok(())
    }

    fn overridden(&self, hours: [i64; 2], mut take: impl FnMut(String, String, String, u64)) -> rusqlite::Result<()> {
        let sql = "SELECT category, user, project, COUNT(*) FROM overridden WHERE own AND hour BETWEEN ?1 AND ?2
            GROUP BY 1, 2, 3";
        let mut statement = self.db.prepare_cached(sql)?;
        let mut rows = statement.query(hours)?;
        while let Some(row) = rows.next()? {
            take(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3).map(shown)?);
        }
        Ok(())
    }

    fn latencies(&self, stretch: Stretch) -> rusqlite::Result<Vec<Latency>> {
        let chosen = spans("stage, bucket, n", "latency");
        let sql = format!("SELECT stage, bucket, SUM(n) FROM ({chosen}) GROUP BY 1, 2 ORDER BY 1, 2");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query(stretch.values())?;
        let mut stages: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            stages.entry(row.get(0)?).or_default().push((row.get(1).map(shown)?, row.get(2).map(shown)?));
        }
        let latency = |(stage, buckets): (String, Vec<(u64, u64)>)| Latency {
            stage,
            count: buckets.iter().map(|(_, count)| count).sum(),
            p50_us: percentile(&buckets, 50),
            p99_us: percentile(&buckets, 99),
        };
        Ok(stages.into_iter().map(latency).collect())
    }
}

impl Share {
    fn add(&mut self, verdict: &str, count: u64) {
        self.decisions += count;
        match verdict {
            "approve" => self.approved += count,
            "block" => self.blocked += count,
            _ => self.confirmed += count,
        }
    }

    fn finish(mut self, name: String) -> Self {
        let of_all = |part: u64| if self.decisions == 0 { 0.0 } else { part as f64 / self.decisions as f64 };
        (self.approval_rate, self.override_rate) = (of_all(self.approved), of_all(self.overridden));
        self.name = name;
        self
    }
}

impl Groups {
    fn add(&mut self, sum: Sum) {
        let Sum { part, name, verdict, count, first_ms, last_ms } = sum;
        let is_question = verdict == "confirm";
        match part.as_str() {
            "all" => {
                self.all.add(&verdict, count);
                if is_question {
                    self.confirmations = Some((first_ms, last_ms));
                }
            }
            "category" => self.categories.entry(name).or_default().add(&verdict, count),
            "user" => self.users.entry(name).or_default().add(&verdict, count),
            "project" => self.projects.entry(name).or_default().add(&verdict, count),
            "rule" if !name.is_empty() => *self.rules.entry(name).or_default() += count,
            "coverage" => *self.coverage.entry(name).or_default() += count,
            "mode" => *self.modes.entry(name).or_default() += count,
            "run" if !name.is_empty() => *self.runs.entry(name).or_default() += count,
            "review" if !name.is_empty() => *self.reviews.entry(name).or_default() += count,
            "unattended" if name == "1" && is_question => self.unavailable += count,
            _ => {}
        }
    }

    fn overridden(&mut self, [category, user, project]: [String; 3], count: u64) {
        self.all.overridden += count;
        self.categories.entry(category).or_default().overridden += count;
        self.users.entry(user).or_default().overridden += count;
        self.projects.entry(project).or_default().overridden += count;
    }

    fn finish(self) -> Metrics {
        let gaps = self.all.confirmed.saturating_sub(1);
        let between = |(first, last): (u64, u64)| (last - first).checked_div(gaps);
        Metrics {
            since_ms: 0,
            unavailable: self.unavailable,
            between_confirmations_ms: self.confirmations.and_then(between),
            all: self.all.finish(String::new()),
            categories: shares(self.categories),
            users: shares(self.users),
            projects: shares(self.projects),
            rules: counts(self.rules),
            coverage: counts(self.coverage),
            modes: counts(self.modes),
            reviews: counts(self.reviews),
            runs: counts(self.runs),
            mismatches: 0,
            latency: Vec::new(),
        }
    }
}

/// The rows of a stretch of time: whole days, and hours around them.
fn spans(columns: &str, table: &str) -> String {
    let of = |span: &str, from: u8| {
        format!("SELECT {columns} FROM {table} WHERE span = '{span}' AND at BETWEEN ?{from} AND ?{}", from + 1)
    };
    [of("d", 1), of("h", 3), of("h", 5)].join(" UNION ALL ")
}

/// The largest first.
fn shares(of: BTreeMap<String, Share>) -> Vec<Share> {
    let mut shares: Vec<Share> = of.into_iter().map(|(name, share)| share.finish(name)).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.decisions));
    shares
}

fn counts(of: BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = of.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// The end of the bucket that so many per cent lie in or below.
fn percentile(buckets: &[(u64, u64)], percent: u64) -> u64 {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let wanted = (all * percent).div_ceil(100).max(1);
    let mut seen = 0;
    let found = buckets.iter().find(|(_, count)| {
        seen += count;
        seen >= wanted
    });
    found.map_or(0, |(bucket, _)| longest(*bucket))
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
