//! A shipment becomes rows: proven first, stored whole or not at all, acknowledged once it is durable.

use std::sync::Arc;

use bytes::Bytes;
use doorward_ledger::{Arrived, Hash, Held, PublicKey, Refusal, Row};
use doorward_team::Head;
use futures_util::SinkExt;
use tokio_postgres::{Client, Transaction};

use super::alerts::Alert;
use super::copy::{INTO, Rows, signed};
use super::partition::{self, ensure_month};
use super::pool::Pool;
use super::tally::Tally;
use crate::clock::{month_of, now_ms};

/// Why nothing was stored.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The shipment is not what it says, or does not fit.
    Refused(Refusal),
    /// The edge is not welcome any more.
    Revoked,
    /// The database can't do it now.
    Database(tokio_postgres::Error),
    /// What is stored can't be understood.
    Damaged(String),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error)
    }
}

/// Stores what a shipment brings; the last record that is held afterwards.
pub(crate) async fn ingest(pool: &Arc<Pool>, edge: i32, bytes: Bytes) -> Result<Head, Failure> {
    let mut client = pool.get().await?;
    let first = attempt(&mut client, edge, bytes.clone()).await;
    let outcome = match first {
        Err(Failure::Database(error)) if partition::is_missing(&error) => {
            ensure_month(&mut client, month_of(now_ms())).await?;
            attempt(&mut client, edge, bytes).await
        }
        other => other,
    };
    if let Err(Failure::Refused(refusal)) = &outcome {
        note(&client, edge, refusal).await?;
    }
    outcome
}

/// A refusal is on record even if nobody reads the answer.
async fn note(client: &Client, edge: i32, refusal: &Refusal) -> Result<(), tokio_postgres::Error> {
    let detail = refusal.to_string();
    let (name, subject) = match refusal {
        Refusal::Fork { sequence } => ("fork", format!("{sequence}")),
        // Two processes of one edge may overtake each other; nothing is wrong then.
        Refusal::Ahead { .. } => return Ok(()),
        Refusal::Malformed(_)
        | Refusal::Unreadable { .. }
        | Refusal::Signature
        | Refusal::Key
        | Refusal::Checkpoint(_)
        | Refusal::Chain { .. }
        | Refusal::Body { .. }
        | Refusal::Missing { .. } => ("refused", String::new()),
    };
    Alert { name, edge: Some(edge), subject: &subject, detail: &detail }.raise(client, now_ms()).await
}

async fn attempt(client: &mut Client, edge: i32, bytes: Bytes) -> Result<Head, Failure> {
    let now_ms = now_ms();
    let step = client.transaction().await?;
    // The lock of this row orders everything that one edge sends.
    let row = step
        .query_one("select held, checkpoint_key, revoked_ms, user_name from edge where id = $1 for update", &[&edge])
        .await?;
    if row.get::<_, Option<i64>>(2).is_some() {
        return Err(Failure::Revoked);
    }
    let held: Held = serde_json::from_str(row.get(0)).map_err(|error| Failure::Damaged(error.to_string()))?;
    let key = PublicKey::from_hex(row.get(1)).ok_or_else(|| Failure::Damaged("the edge's key".to_owned()))?;
    // Hashing megabytes would hold up every other edge that this thread serves.
    let (arrived, columns) = tokio::task::block_in_place(|| prove(&held, &bytes, key.fingerprint()))?;
    let columns = named(columns, row.get(3));
    if let Some(last) = arrived.repeats {
        repeated(&step, edge, last).await?;
    } else {
        store(&step, (edge, now_ms), &arrived, &columns).await?;
    }
    step.commit().await?;
    let head = arrived.held.head;
    Ok(Head { sequence: head.map_or(0, |(sequence, _)| sequence), hash: head.map(|(_, hash)| hash) })
}

fn prove(held: &Held, bytes: &[u8], key: Hash) -> Result<(Arrived, Vec<Row>), Failure> {
    let arrived = held.receive(bytes, key).map_err(Failure::Refused)?;
    let columns = arrived.records.iter().map(Row::of).collect();
    Ok((arrived, columns))
}

/// A log names its user by the number that the machine gave them; a team knows names.
fn named(mut columns: Vec<Row>, user: &str) -> Vec<Row> {
    for row in &mut columns {
        if row.user.as_deref().is_some_and(|user| user.bytes().all(|byte| byte.is_ascii_digit())) {
            row.user = Some(user.to_owned());
        }
    }
    columns
}

/// Everything in it is held already, if its last record is the one that is held.
async fn repeated(step: &Transaction<'_>, edge: i32, (sequence, hash): (u64, Hash)) -> Result<(), Failure> {
    let known = step
        .query_opt("select hash from every_record where edge = $1 and sequence = $2", &[&edge, &signed(sequence)])
        .await?;
    match known {
        Some(row) if row.get::<_, &[u8]>(0) != hash.bytes() => Err(Failure::Refused(Refusal::Fork { sequence })),
        // Retention may have dropped it; what it was can't be said any more, and nothing is stored.
        Some(_) | None => Ok(()),
    }
}

async fn store(
    step: &Transaction<'_>,
    (edge, now_ms): (i32, u64),
    arrived: &Arrived,
    columns: &[Row],
) -> Result<(), Failure> {
    let mut rows = Rows::new(edge, month_of(now_ms), now_ms);
    let mut tally = Tally::default();
    for (record, row) in arrived.records.iter().zip(columns) {
        rows.add(record, row);
        tally.add(record, row, now_ms);
    }
    let sink = step.copy_in::<_, Bytes>(INTO).await?;
    let mut sink = std::pin::pin!(sink);
    sink.send(rows.finish()).await?;
    sink.finish().await?;
    tally.store(step, edge, now_ms).await?;
    let held = serde_json::to_string(&arrived.held).map_err(|error| Failure::Damaged(error.to_string()))?;
    let (sequence, hash) = arrived.held.head.ok_or_else(|| Failure::Damaged("no last record".to_owned()))?;
    step.execute(
        "update edge set held = $2, head_sequence = $3, head_hash = $4, checkpoint = $5, seen_ms = $6 where id = $1",
        &[&edge, &held, &signed(sequence), &hash.bytes().as_slice(), &arrived.checkpoint.to_line(), &signed(now_ms)],
    )
    .await?;
    Ok(())
}
