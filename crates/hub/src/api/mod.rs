//! What is asked over HTTP: `edge.rs` answers machines, which sign, and `people.rs` answers people, who sign in.

mod edge;
mod people;
mod refused;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::routing::{any, get};
use doorward_ledger::SigningKey;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::clock::{month_of, next_month, now_ms};
use crate::store::pool::Pool;
use crate::store::{alerts, ensure_month, migrate};

/// So many requests of edges are in memory at once; a shipment is a few megabytes.
const AT_ONCE: usize = 24;
/// How often the hub looks at what no single shipment shows, and makes next month's partition.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// What every request needs.
#[derive(Debug)]
pub(crate) struct Hub {
    pub pool: Arc<Pool>,
    pub key: SigningKey,
    pub team: String,
    at_once: Semaphore,
}

impl Hub {
    pub(crate) fn new(pool: Arc<Pool>, key: SigningKey, team: String) -> Arc<Self> {
        Arc::new(Self { pool, key, team, at_once: Semaphore::new(AT_ONCE) })
    }

    /// Answers until `stopped`.
    pub(crate) async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stopped: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let looking = tokio::spawn(Arc::clone(&self).look());
        let router = Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/v1/{*rest}", any(edge::answer))
            .merge(people::routes())
            .with_state(self);
        axum::serve(listener, router).with_graceful_shutdown(stopped).await?;
        looking.abort();
        Ok(())
    }

    /// Brings the database up to date: the schema, this month's partition and the next.
    pub(crate) async fn prepare(&self) -> Result<()> {
        let mut client = self.pool.get().await?;
        migrate(&mut client).await?;
        let month = month_of(now_ms());
        ensure_month(&mut client, month).await?;
        ensure_month(&mut client, next_month(month)).await?;
        Ok(())
    }

    async fn look(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Ok(mut client) = self.pool.get().await else { continue };
            // A database that is away is noticed by whoever asks; the next look comes in a minute.
            let _made = ensure_month(&mut client, next_month(month_of(now_ms()))).await;
            let _looked = alerts::look(&*client, now_ms()).await;
        }
    }
}
