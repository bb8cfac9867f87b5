//! What is asked about the whole fleet: counts from the tally, records by time.

use serde::Deserialize;
use tokio_postgres::{Client, Error};

use super::copy::signed;
use crate::clock::{DAY_MS, day_of, month_of, next_month};

/// What counts are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum By {
    User,
    Team,
    Project,
    Agent,
    Category,
    Edge,
    Day,
}

impl By {
    const fn column(self) -> &'static str {
        match self {
            Self::User => "t.user_name",
            Self::Team => "e.team",
            Self::Project => "t.project",
            Self::Agent => "t.agent",
            Self::Category => "t.category",
            Self::Edge => "e.name",
            Self::Day => "t.day::text",
        }
    }
}

/// Counts of decisions, one JSON object per group, the largest first.
pub(crate) async fn counts(client: &Client, by: By, (now_ms, days): (u64, u64)) -> Result<Vec<String>, Error> {
    let from = i32::try_from(day_of(now_ms.saturating_sub(days * DAY_MS))).unwrap_or(i32::MAX);
    let column = by.column();
    // `column` is one of seven words above; everything from outside is a parameter.
    let query = format!(
        "select to_json(c)::text from (select {column} as name, sum(decisions)::bigint as decisions, \
         sum(decisions) filter (where verdict = 'approve')::bigint as approved, \
         sum(decisions) filter (where verdict = 'confirm')::bigint as asked, \
         sum(decisions) filter (where verdict = 'block')::bigint as blocked, sum(overridden)::bigint as overridden, \
         round(sum(latency_us) / greatest(sum(decisions), 1))::bigint as latency_us \
         from tally t join edge e on e.id = t.edge where day >= $1 group by 1 order by 2 desc limit 1000) c"
    );
    Ok(client.query(&query, &[&from]).await?.iter().map(|row| row.get(0)).collect())
}

/// Which records are wanted; what is absent does not matter.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Wanted {
    pub verdict: Option<String>,
    pub agent: Option<String>,
    pub project: Option<String>,
    pub user: Option<String>,
    pub rule: Option<String>,
    pub text: Option<String>,
    pub edge: Option<i32>,
    pub since_ms: Option<u64>,
    pub before_ms: Option<u64>,
    pub limit: Option<u32>,
}

/// No page is longer.
const PAGE: u32 = 500;
/// Without a wish, a search goes back so far.
// A word that occurs nowhere would otherwise be looked for in every record there is.
const USUAL_MS: u64 = 30 * DAY_MS;

const SEARCH: &str = "select to_json(r)::text from (select edge, sequence, time_ms, agent, session, project, user_name, tool, \
     verdict, rule, category, call, latency_us from every_record where kind = 1 and month >= $1 and month <= $2 \
     and time_ms >= $3 and time_ms < $4 and ($5::text is null or verdict = $5) and ($6::text is null or agent = $6) \
     and ($7::text is null or project = $7) and ($8::text is null or user_name = $8) and ($9::text is null or rule = $9) \
     and ($10::int is null or edge = $10) and ($11::text is null or position(lower($11) in lower(call)) > 0) \
     order by time_ms desc limit $12) r";

/// Decisions, the newest first, one JSON object each.
pub(crate) async fn search(client: &Client, wanted: &Wanted, now_ms: u64) -> Result<Vec<String>, Error> {
    let since_ms = wanted.since_ms.unwrap_or_else(|| now_ms.saturating_sub(USUAL_MS));
    let until_ms = wanted.before_ms.unwrap_or(u64::MAX);
    // Partitions go by arrival, which is never before the record: a clock that runs a month ahead is a month off here too.
    let (first, last) = (month_of(since_ms.saturating_sub(31 * DAY_MS)), next_month(month_of(now_ms)));
    let rows = client
        .query(
            SEARCH,
            &[
                &first,
                &last,
                &signed(since_ms),
                &signed(until_ms),
                &wanted.verdict,
                &wanted.agent,
                &wanted.project,
                &wanted.user,
                &wanted.rule,
                &wanted.edge,
                &wanted.text,
                &i64::from(wanted.limit.unwrap_or(100).min(PAGE)),
            ],
        )
        .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// One record with its body, as JSON; `None` if there is none.
pub(crate) async fn record(client: &Client, edge: i32, sequence: u64) -> Result<Option<String>, Error> {
    let query = "select json_build_object('edge', edge, 'sequence', sequence, 'time_ms', time_ms, 'received_ms', received_ms, \
         'hash', encode(hash, 'hex'), 'body_hash', encode(body_hash, 'hex'), 'body', convert_from(body, 'UTF8'))::text \
         from every_record where edge = $1 and sequence = $2";
    Ok(client.query_opt(query, &[&edge, &signed(sequence)]).await?.map(|row| row.get(0)))
}

/// Lists that are one query each.
pub(crate) const EDGES: &str = "select to_json(e)::text from (select id, name, team, version, head_sequence as records, \
     seen_ms, skew_ms, revoked_ms from edge order by id) e";
pub(crate) const ALERTS: &str = "select to_json(a)::text from (select id, name, edge, detail, times, first_ms, last_ms \
     from alert where resolved_ms is null order by last_ms desc limit 1000) a";
pub(crate) const LOOKS: &str = "select to_json(l)::text from (select at_ms, person, role, what, rows from look \
     order by id desc limit 1000) l";

/// The rows of such a list.
pub(crate) async fn list(client: &Client, query: &str) -> Result<Vec<String>, Error> {
    Ok(client.query(query, &[]).await?.iter().map(|row| row.get(0)).collect())
}

/// Figures for Prometheus; none of them is about a person.
pub(crate) async fn figures(client: &Client) -> Result<String, Error> {
    let mut text = String::new();
    let mut add = |name: &str, help: &str, kind: &str, rows: Vec<(String, i64)>| {
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        for (labels, value) in rows {
            text.push_str(&format!("{name}{labels} {value}\n"));
        }
    };
    let query = "select verdict, sum(decisions)::bigint from tally group by 1 order by 1";
    let decisions = client.query(query, &[]).await?;
    let decisions =
        decisions.iter().map(|row| (format!("{{verdict=\"{}\"}}", label(row.get(0))), row.get(1))).collect();
    add("doorward_hub_decisions_total", "Decisions received, by verdict.", "counter", decisions);
    let query = "select count(*), coalesce(sum(head_sequence), 0)::bigint from edge where revoked_ms is null";
    let row = client.query_one(query, &[]).await?;
    add("doorward_hub_edges", "Machines that may ship.", "gauge", vec![(String::new(), row.get(0))]);
    add("doorward_hub_records_total", "Records received.", "counter", vec![(String::new(), row.get(1))]);
    let alerts =
        client.query("select name, count(*) from alert where resolved_ms is null group by 1 order by 1", &[]).await?;
    let alerts = alerts.iter().map(|row| (format!("{{name=\"{}\"}}", label(row.get(0))), row.get(1))).collect();
    add("doorward_hub_alerts", "Open alerts, by name.", "gauge", alerts);
    Ok(text)
}

/// A label holds no quote and no line end.
fn label(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '"' | '\\') && !c.is_control()).collect()
}
