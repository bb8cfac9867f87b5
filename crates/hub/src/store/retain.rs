//! Retention by partition: a month that is old enough goes as a whole, and what must be kept moves out of it first.

use anyhow::{Result, bail};
use tokio_postgres::Client;

use super::partition::name;
use crate::clock::{DAY_MS, month_of};

/// No record goes earlier, as at the edge.
pub(crate) const LEAST_DAYS: u64 = 90;

/// What outlives its month: what the log keeps for good, and decisions that a person overruled.
const KEPT: &str = "(kept or (kind = 1 and (edge, subject) in (select edge, decision from override_seen)))";

/// What retention did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Retained {
    /// Months that are gone.
    pub months: u64,
    /// Records that are gone.
    pub dropped: u64,
    /// Records that were moved and stay.
    pub kept: u64,
}

/// Drops every month whose last day is more than `days` ago.
pub(crate) async fn retain(client: &mut Client, days: u64, now_ms: u64) -> Result<Retained> {
    if days < LEAST_DAYS {
        bail!("records stay for at least {LEAST_DAYS} days");
    }
    // A month that began `days` and a whole month ago ended at least `days` ago.
    let oldest = month_of(now_ms.saturating_sub((days + 31) * DAY_MS));
    let mut done = Retained::default();
    for month in months(client).await?.into_iter().filter(|month| *month < oldest) {
        let (dropped, kept) = drop_month(client, month).await?;
        done.months += 1;
        done.dropped += dropped;
        done.kept += kept;
    }
    Ok(done)
}

/// The months that have a partition.
async fn months(client: &Client) -> Result<Vec<i32>> {
    let rows = client
        .query(
            "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid \
             where i.inhparent = 'record'::regclass order by 1",
            &[],
        )
        .await?;
    Ok(rows.iter().filter_map(|row| row.get::<_, String>(0).strip_prefix("record_")?.parse().ok()).collect())
}

async fn drop_month(client: &mut Client, month: i32) -> Result<(u64, u64)> {
    let table = name(month);
    let step = client.transaction().await?;
    let kept = step
        .execute(&format!("insert into record_kept select * from {table} where {KEPT} on conflict do nothing"), &[])
        .await?;
    // Runs of neighbours that leave; the number that is the same for all of a run is the sequence less its rank.
    let runs = format!(
        "insert into dropped (edge, first, last, last_hash, month) \
         select edge, min(sequence), max(sequence), (array_agg(hash order by sequence desc))[1], {month} from \
         (select edge, sequence, hash, sequence - row_number() over (partition by edge order by sequence) as run \
          from {table} where not {KEPT}) gone group by edge, run on conflict do nothing"
    );
    step.execute(&runs, &[]).await?;
    let dropped: i64 = step.query_one(&format!("select count(*) from {table} where not {KEPT}"), &[]).await?.get(0);
    step.batch_execute(&format!("drop table {table}")).await?;
    step.commit().await?;
    Ok((u64::try_from(dropped).unwrap_or_default(), kept))
}
