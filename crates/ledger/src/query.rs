//! Turns a filter into SQL, and counts.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use serde::Serialize;

use crate::columns::{Filter, Row};
use crate::event::Kind;
use crate::index::{Index, IndexError, shown, stored};

// Named one by one, so that a reordered table cannot shift values.
const COLUMNS: &str = "sequence, time_ms, kind, id, decision, agent, session, project, user, tool, verdict, rule,
    category, pattern, violation, step, by_whom, text, latency_us, sensitive";

/// Conditions and the values they are bound to.
struct Where {
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Where {
    fn of(filter: &Filter) -> Self {
        let mut out = Self { conditions: Vec::new(), values: Vec::new() };
        // Words of our own are written out, so that SQLite can see which partial index fits.
        match filter.kind {
            Some(Kind::Decision) => out.say("kind = 'decision'"),
            Some(kind) => out.say(&format!("kind = '{0}' AND kind <> 'decision'", kind.word())),
            None => {}
        }
        if let Some(verdict) = filter.verdict {
            out.say(&format!("verdict = '{}'", verdict.as_str()));
        }
        out.equal("agent", filter.agent.as_deref());
        out.equal("session", filter.session.as_deref());
        out.equal("project", filter.project.as_deref());
        out.equal("rule", filter.rule.as_deref());
        out.equal("category", filter.category.as_deref());
        out.bound("time_ms >= ?", filter.since_ms.map(stored).map(Value::Integer));
        out.bound("time_ms <= ?", filter.until_ms.map(stored).map(Value::Integer));
        out.bound("sequence < ?", filter.before.map(stored).map(Value::Integer));
        out.bound("sequence > ?", filter.after.map(stored).map(Value::Integer));
        if let Some(about) = &filter.about {
            out.say("(id = ? OR decision = ?)");
            out.values.extend([Value::Text(about.clone()), Value::Text(about.clone())]);
        }
        out.bound("text LIKE ? ESCAPE '\\'", filter.text.as_deref().map(pattern).map(Value::Text));
        if filter.violations {
            out.say("violation IS NOT NULL");
        }
        out
    }

    fn say(&mut self, condition: &str) {
        self.conditions.push(condition.to_owned());
    }

    fn equal(&mut self, column: &str, value: Option<&str>) {
        self.bound(&format!("{column} = ?"), value.map(|value| Value::Text(value.to_owned())));
    }

    fn bound(&mut self, condition: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.say(condition);
            self.values.push(value);
        }
    }

    fn sql(&self) -> String {
        if self.conditions.is_empty() { String::new() } else { format!("WHERE {}", self.conditions.join(" AND ")) }
    }
}

/// A pattern that finds the text itself, whatever signs it has.
fn pattern(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

pub(crate) fn list(db: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Row>> {
    let mut rows = Vec::new();
    each(db, filter, |row| rows.push(row))?;
    Ok(rows)
}

/// The same one by one, for whoever must not hold them all.
pub(crate) fn each(db: &Connection, filter: &Filter, mut take: impl FnMut(Row)) -> rusqlite::Result<()> {
    let conditions = Where::of(filter);
    let limit = filter.limit.map_or(-1, i64::from);
    let order = if filter.oldest_first { "ASC" } else { "DESC" };
    let sql = format!("SELECT {COLUMNS} FROM records {} ORDER BY sequence {order} LIMIT {limit}", conditions.sql());
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(&conditions.values))?;
    while let Some(found) = rows.next()? {
        take(row(found)?);
    }
    Ok(())
}

/// When each agent was first recorded.
pub(crate) fn first_by_agent(db: &Connection) -> rusqlite::Result<Vec<(String, u64)>> {
    let sql = "SELECT COALESCE(agent, ''), MIN(time_ms) FROM records WHERE kind = 'decision' GROUP BY 1";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1).map(shown)?)))?;
    rows.collect()
}

fn row(from: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        sequence: shown(from.get(0)?),
        time_ms: shown(from.get(1)?),
        kind: from.get(2)?,
        id: from.get(3)?,
        decision: from.get(4)?,
        agent: from.get(5)?,
        session: from.get(6)?,
        project: from.get(7)?,
        user: from.get(8)?,
        tool: from.get(9)?,
        verdict: from.get(10)?,
        rule: from.get(11)?,
        category: from.get(12)?,
        pattern: from.get(13)?,
        violation: from.get(14)?,
        step: from.get(15)?,
        by: from.get(16)?,
        text: from.get(17)?,
        latency_us: from.get::<_, Option<i64>>(18)?.map(shown),
        sensitive: from.get(19)?,
        ..Row::default()
    })
}

/// Counts over the decisions of one category.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CategoryStats {
    /// The operation word.
    pub category: String,
    /// Decisions.
    pub decisions: u64,
    /// Approved without asking.
    pub approved: u64,
    /// Asked.
    pub confirmed: u64,
    /// Blocked.
    pub blocked: u64,
    /// Let run by a person although not approved.
    pub overridden: u64,
}

/// Counts over the entries that a filter leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Entries of all kinds.
    pub records: u64,
    /// By category, most decisions first.
    pub categories: Vec<CategoryStats>,
    /// Violated rules, most often first.
    pub violations: Vec<(String, u64)>,
    /// Half of the decisions took at most so many microseconds.
    pub latency_p50_us: Option<u64>,
    /// All but one in a hundred did.
    pub latency_p99_us: Option<u64>,
}

impl Index {
    /// Counts what a filter leaves.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, IndexError> {
        let conditions = Where::of(filter);
        Ok(Stats {
            records: self.count(&conditions)?,
            categories: self.categories(&conditions)?,
            violations: self.violations(&conditions)?,
            latency_p50_us: self.latency(&conditions, 50)?,
            latency_p99_us: self.latency(&conditions, 99)?,
        })
    }

    fn count(&self, conditions: &Where) -> rusqlite::Result<u64> {
        let sql = format!("SELECT COUNT(*) FROM records {}", conditions.sql());
        let values = params_from_iter(&conditions.values);
        self.db.query_row(&sql, values, |row| row.get(0).map(shown))
    }

    fn categories(&self, conditions: &Where) -> rusqlite::Result<Vec<CategoryStats>> {
        let sql = format!(
            "SELECT COALESCE(category, ''), COUNT(*), SUM(verdict = 'approve'), SUM(verdict = 'confirm'),
                SUM(verdict = 'block'), SUM(verdict <> 'approve' AND (mode IS NULL OR mode = 'auto') AND demanded IS NULL AND EXISTS (SELECT 1 FROM records AS answer
                    WHERE answer.decision = chosen.id AND answer.kind = 'answer' AND answer.step = 'approved'
                    AND answer.by_whom IN ('person', 'client')))
             FROM (SELECT * FROM records {}) AS chosen WHERE kind = 'decision' GROUP BY 1 ORDER BY 2 DESC, 1",
            conditions.sql()
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(&conditions.values), |row| {
            Ok(CategoryStats {
                category: row.get(0)?,
                decisions: row.get(1).map(shown)?,
                approved: row.get(2).map(shown)?,
                confirmed: row.get(3).map(shown)?,
                blocked: row.get(4).map(shown)?,
                overridden: row.get(5).map(shown)?,
            })
        })?;
        rows.collect()
    }

    fn violations(&self, conditions: &Where) -> rusqlite::Result<Vec<(String, u64)>> {
        let sql = format!(
            "SELECT violation, COUNT(*) FROM (SELECT * FROM records {}) WHERE violation IS NOT NULL
             GROUP BY 1 ORDER BY 2 DESC, 1",
            conditions.sql()
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let values = params_from_iter(&conditions.values);
        let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1).map(shown)?)))?;
        rows.collect()
    }

    fn latency(&self, conditions: &Where, percent: u32) -> rusqlite::Result<Option<u64>> {
        let chosen = format!(
            "(SELECT latency_us FROM (SELECT * FROM records {}) WHERE latency_us IS NOT NULL)",
            conditions.sql()
        );
        let rank = format!("(SELECT MAX(0, (COUNT(*) * {percent} + 99) / 100 - 1) FROM {chosen})");
        let sql = format!("SELECT latency_us FROM {chosen} ORDER BY 1 LIMIT 1 OFFSET {rank}");
        // The conditions stand in the query twice.
        let values = conditions.values.iter().chain(&conditions.values);
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        rows.next()?.map(|row| row.get(0).map(shown)).transpose()
    }
}
