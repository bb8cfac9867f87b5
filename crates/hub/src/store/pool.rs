//! A few connections to PostgreSQL, lent out one at a time and made anew once they broke.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, Config, NoTls, config::SslMode, error::SqlState};

/// How many connections there are at most.
// PostgreSQL on two cores gains nothing from more, and its own default limit is a hundred.
const CONNECTIONS: usize = 8;

/// Connections to one database.
#[derive(Debug)]
pub(crate) struct Pool {
    config: Config,
    idle: Mutex<Vec<Client>>,
    permits: Arc<Semaphore>,
}

impl Pool {
    /// A pool for a database; nothing is connected yet.
    pub(crate) fn new(url: &str) -> Result<Arc<Self>> {
        let mut config: Config = url.parse().context("can't read the address of the database")?;
        if config.get_ssl_mode() == SslMode::Require {
            bail!(
                "this build speaks to PostgreSQL over a Unix socket or a private network only: \
                 for an encrypted connection, use a tunnel and leave out `sslmode=require`"
            );
        }
        config.connect_timeout(Duration::from_secs(5)).application_name("doorward-hub");
        Ok(Arc::new(Self { config, idle: Mutex::default(), permits: Arc::new(Semaphore::new(CONNECTIONS)) }))
    }

    /// Borrows a connection.
    pub(crate) async fn get(self: &Arc<Self>) -> Result<Lease, tokio_postgres::Error> {
        // The semaphore is never closed; without a permit there would merely be a connection too many.
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        let client = match self.idle() {
            Some(client) => client,
            None => self.connect().await?,
        };
        Ok(Lease { client: Some(client), pool: Arc::clone(self), _permit: permit })
    }

    fn idle(&self) -> Option<Client> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|client| !client.is_closed());
        idle.pop()
    }

    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move {
            // An error here ends the connection, and whoever holds its client is told.
            let _ended = connection.await;
        });
        Ok(client)
    }
}

/// A borrowed connection.
#[derive(Debug)]
pub(crate) struct Lease {
    client: Option<Client>,
    pool: Arc<Pool>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }
}

#[expect(clippy::expect_used, reason = "the client is taken out when the lease is dropped, and not before")]
impl Deref for Lease {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a lease holds its client until it is dropped")
    }
}

#[expect(clippy::expect_used, reason = "the client is taken out when the lease is dropped, and not before")]
impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("a lease holds its client until it is dropped")
    }
}

/// Why the database can't be used, in a sentence for whoever runs the hub.
pub(crate) fn sentence(error: &tokio_postgres::Error) -> String {
    let Some(db) = error.as_db_error() else {
        return format!("the database can't be reached: {error}");
    };
    if *db.code() == SqlState::DISK_FULL {
        return "the database's disk is full: free some space or run `doorward-hub retain`; nothing was stored"
            .to_owned();
    }
    format!("the database refused: {} ({})", db.message(), db.code().code())
}
