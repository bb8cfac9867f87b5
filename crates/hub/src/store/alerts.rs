//! What somebody should look at: each kind once per edge and subject while it is open, with how often it happened.

use tokio_postgres::{Error, GenericClient};

use super::copy::signed;
use crate::clock::DAY_MS;

/// One thing to look at.
#[derive(Debug)]
pub(crate) struct Alert<'a> {
    /// `fork`, `refused`, `clock`, `silent`, `overridden`, `spike`.
    pub name: &'a str,
    /// The edge, if it is about one.
    pub edge: Option<i32>,
    /// What is counted together.
    pub subject: &'a str,
    /// In a sentence.
    pub detail: &'a str,
}

impl Alert<'_> {
    /// Raises it, or counts it once more.
    pub(crate) async fn raise(&self, client: &impl GenericClient, now_ms: u64) -> Result<(), Error> {
        client
            .execute(
                "insert into alert (name, edge, subject, detail, first_ms, last_ms) values ($1, $2, $3, $4, $5, $5) \
                 on conflict (name, coalesce(edge, 0), subject) where resolved_ms is null \
                 do update set times = alert.times + 1, last_ms = excluded.last_ms, detail = excluded.detail",
                &[&self.name, &self.edge, &self.subject, &self.detail, &signed(now_ms)],
            )
            .await
            .map(|_rows| ())
    }
}

/// An edge that said nothing for so long has stopped shipping.
// A watching edge asks twice a minute; a laptop that sleeps over night should not wake anybody.
const SILENT_MS: u64 = 24 * 60 * 60 * 1000;
/// So many people answered yes to one rule's question within a week.
const MANY: i64 = 3;
/// So many edges were blocked by one rule within ten minutes.
const SPIKE_EDGES: i64 = 3;

/// Looks for what no single shipment shows.
pub(crate) async fn look(client: &impl GenericClient, now_ms: u64) -> Result<(), Error> {
    let since = signed(now_ms.saturating_sub(SILENT_MS));
    for row in client.query("select id, name from edge where revoked_ms is null and seen_ms < $1", &[&since]).await? {
        let (edge, name): (i32, String) = (row.get(0), row.get(1));
        let detail = format!("`{name}` has not shipped its log for a day");
        Alert { name: "silent", edge: Some(edge), subject: "", detail: &detail }.raise(client, now_ms).await?;
    }
    let week = signed(now_ms.saturating_sub(7 * DAY_MS));
    for row in client
        .query(
            "select rule, count(distinct user_name) from override_seen where at_ms >= $1 and rule <> '' \
             group by rule having count(distinct user_name) >= $2",
            &[&week, &MANY],
        )
        .await?
    {
        let (rule, people): (String, i64) = (row.get(0), row.get(1));
        let detail = format!("{people} people overrode the rule `{rule}` within seven days");
        Alert { name: "overridden", edge: None, subject: &rule, detail: &detail }.raise(client, now_ms).await?;
    }
    let lately = signed(now_ms.saturating_sub(10 * 60 * 1000));
    for row in client
        .query(
            "select rule, count(distinct edge) from record where time_ms >= $1 and kind = 1 and verdict <> 'approve' \
             and verdict = 'block' and rule is not null group by rule having count(distinct edge) >= $2",
            &[&lately, &SPIKE_EDGES],
        )
        .await?
    {
        let (rule, edges): (String, i64) = (row.get(0), row.get(1));
        let detail = format!("the rule `{rule}` blocked calls on {edges} machines within ten minutes");
        Alert { name: "spike", edge: None, subject: &rule, detail: &detail }.raise(client, now_ms).await?;
    }
    Ok(())
}
