//! Policy bundles: kept in their chain, handed out, never believed in.

use anyhow::{Context, Result};
use doorward_team::{Bundle, Known};
use tokio_postgres::{Client, Error};

use super::copy::signed;

/// Keeps a bundle that follows the last one; its version.
pub(crate) async fn publish(client: &mut Client, bytes: &[u8], now_ms: u64) -> Result<u64> {
    let bundle = Bundle::read(bytes)?;
    let step = client.transaction().await?;
    step.batch_execute("lock table bundle in exclusive mode").await?;
    let last = step.query_opt("select bytes from bundle order by version desc limit 1", &[]).await?;
    let known = match last {
        Some(row) => {
            let last = Bundle::read(row.get(0)).context("the last bundle can't be read")?;
            let manifest = &last.manifest;
            let about = Some((manifest.version, last.digest()));
            Known { team: Some(manifest.team.clone()), last: about, ..Known::new(manifest.root.clone()) }
        }
        // The first one brings the keys; each machine was told by a person which ones it trusts.
        None => Known::new(bundle.manifest.root.clone()),
    };
    // One that holds from later on may wait here for its time.
    known.accept(&bundle, now_ms.max(bundle.manifest.not_before_ms))?;
    let version = bundle.manifest.version;
    step.execute(
        "insert into bundle values ($1, $2, $3, $4) on conflict do nothing",
        &[&signed(version), &bundle.digest().to_string(), &bytes, &signed(now_ms)],
    )
    .await?;
    step.commit().await?;
    Ok(version)
}

/// The bundle after a version; the last one for whoever has none yet. Empty if there is none.
pub(crate) async fn after(client: &Client, version: u64) -> Result<Vec<u8>, Error> {
    let query = match version {
        0 => "select bytes from bundle where $1::bigint = 0 order by version desc limit 1",
        _ => "select bytes from bundle where version = $1::bigint + 1",
    };
    Ok(client.query_opt(query, &[&signed(version)]).await?.map(|row| row.get(0)).unwrap_or_default())
}
