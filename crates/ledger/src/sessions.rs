//! The sessions that agents worked in, latest first, with what was decided in them.

use rusqlite::params;
use serde::Serialize;

use crate::index::{Index, IndexError, shown, stored};

/// Decisions that one page looks through for sessions.
// A page of sessions is usually found in far fewer; without a bound one endless session would make the page read all of them.
const WINDOW: i64 = 20_000;

/// A session and its figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// The agent's name for it.
    pub session: String,
    /// Which agent.
    pub agent: Option<String>,
    /// The project of its last call.
    pub project: Option<String>,
    /// The first decision's time.
    pub began_ms: u64,
    /// The last decision's time.
    pub last_ms: u64,
    /// The last decision's place in the log.
    pub last: u64,
    /// All decisions.
    pub decisions: u64,
    /// Approved without asking.
    pub approved: u64,
    /// Asked.
    pub confirmed: u64,
    /// Blocked.
    pub blocked: u64,
}

/// One page of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SessionPage {
    /// Latest first.
    pub sessions: Vec<SessionSummary>,
    /// Ask for what came before this to see the next page; none if there is no more.
    pub next: Option<u64>,
}

impl Index {
    /// Sessions whose last decision came before a place in the log.
    pub fn sessions(&self, before: Option<u64>, limit: u32) -> Result<SessionPage, IndexError> {
        let before = before.map_or(i64::MAX, stored);
        let mut recent = self.db.prepare_cached(
            "SELECT session, MAX(sequence) AS last FROM
                 (SELECT session, sequence FROM records WHERE kind = 'decision' AND sequence < ?1 ORDER BY sequence DESC LIMIT ?2)
             WHERE session IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM records AS later WHERE later.session = session AND later.kind = 'decision' AND later.sequence >= ?1)
             GROUP BY session ORDER BY last DESC LIMIT ?3",
        )?;
        let found = recent.query_map(params![before, WINDOW, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(String, i64)> = found.collect::<Result<_, _>>()?;
        let next = match found.last() {
            Some((_, last)) if found.len() >= limit as usize => Some(*last),
            _ => self.end_of_window(before)?,
        };
        let sessions =
            found.into_iter().map(|(session, last)| self.summary(session, last)).collect::<Result<_, _>>()?;
        Ok(SessionPage { sessions, next: next.map(shown) })
    }

    /// Where the window ended, if there is more behind it.
    fn end_of_window(&self, before: i64) -> Result<Option<i64>, IndexError> {
        let mut end = self.db.prepare_cached(
            "SELECT sequence FROM records WHERE kind = 'decision' AND sequence < ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2",
        )?;
        let mut rows = end.query(params![before, WINDOW - 1])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    }

    fn summary(&self, session: String, last: i64) -> Result<SessionSummary, IndexError> {
        let mut figures = self.db.prepare_cached(
            "SELECT COUNT(*), SUM(verdict = 'approve'), SUM(verdict = 'confirm'), SUM(verdict = 'block'), MIN(time_ms), MAX(time_ms)
             FROM records WHERE session = ?1 AND kind = 'decision'",
        )?;
        let counted = figures.query_row(params![session], |row| {
            Ok(SessionSummary {
                decisions: row.get(0).map(shown)?,
                approved: row.get(1).map(shown)?,
                confirmed: row.get(2).map(shown)?,
                blocked: row.get(3).map(shown)?,
                began_ms: row.get(4).map(shown)?,
                last_ms: row.get(5).map(shown)?,
                ..SessionSummary::default()
            })
        })?;
        let mut latest = self.db.prepare_cached("SELECT agent, project FROM records WHERE sequence = ?1")?;
        let (agent, project) = latest.query_row(params![last], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(SessionSummary { session, agent, project, last: shown(last), ..counted })
    }
}
