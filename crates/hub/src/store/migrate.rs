//! The schema, forward only: each migration runs once, in its order, and is never edited afterwards.

use anyhow::{Context, Result, bail};
use doorward_ledger::Hash;
use tokio_postgres::Client;

/// Every migration, oldest first.
const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_ledger", include_str!("../../migrations/0001_ledger.sql")),
    ("0002_bundles", include_str!("../../migrations/0002_bundles.sql")),
];

/// Two hubs that start together migrate one after the other. The number is arbitrary and only ours.
const LOCK: i64 = 0x6477_6875_6201;

/// Brings the schema up to date, or says why it can't be used.
pub(crate) async fn migrate(client: &mut Client) -> Result<()> {
    client.execute("select pg_advisory_lock($1)", &[&LOCK]).await?;
    let migrated = run(client).await;
    client.execute("select pg_advisory_unlock($1)", &[&LOCK]).await?;
    migrated
}

async fn run(client: &mut Client) -> Result<()> {
    client
        .batch_execute(
            "create table if not exists migration (number int primary key, name text not null, hash text not null)",
        )
        .await?;
    let done = client.query("select number, name, hash from migration order by number", &[]).await?;
    for (number, row) in (1..).zip(&done) {
        let (found, name, hash): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
        let known = usize::try_from(found - 1).ok().and_then(|at| MIGRATIONS.get(at));
        let Some((wanted, text)) = known.filter(|_| found == number) else {
            bail!("the database has migration `{name}`, which this version doesn't know: install a newer doorward-hub");
        };
        if name != *wanted || hash != Hash::of(text.as_bytes()).to_string() {
            bail!("migration `{name}` of the database is not the one this version has: was it edited?");
        }
    }
    for (number, (name, text)) in (1_i32..).zip(MIGRATIONS).skip(done.len()) {
        let step = client.transaction().await?;
        step.batch_execute(text).await.with_context(|| format!("migration `{name}` failed"))?;
        let hash = Hash::of(text.as_bytes()).to_string();
        step.execute("insert into migration values ($1, $2, $3)", &[&number, name, &hash]).await?;
        step.commit().await?;
    }
    Ok(())
}
