//! The partitions of the record: one per month of arrival, made before they are needed and again if one is missing.

use tokio_postgres::{Client, Error, error::SqlState};

use crate::clock::next_month;

/// Makers of a partition wait for each other. The number is arbitrary and only ours.
const LOCK: i64 = 0x6477_6875_6202;

/// The table of a month.
pub(crate) fn name(month: i32) -> String {
    format!("record_{month:06}")
}

/// Makes sure that a month has its partition.
pub(crate) async fn ensure_month(client: &mut Client, month: i32) -> Result<(), Error> {
    let step = client.transaction().await?;
    step.execute("select pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let (name, next) = (name(month), next_month(month));
    // Numbers only: nothing here comes from outside.
    let make = format!("create table if not exists {name} partition of record for values from ({month}) to ({next})");
    step.batch_execute(&make).await?;
    step.commit().await
}

/// Whether a row found no partition to go to.
pub(crate) fn is_missing(error: &Error) -> bool {
    // PostgreSQL has no code of its own for it; no table of ours has a check constraint.
    error.code() == Some(&SqlState::CHECK_VIOLATION)
}
