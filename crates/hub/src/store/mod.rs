//! Everything that is kept in PostgreSQL.

pub(crate) mod alerts;
pub(crate) mod bundles;
mod copy;
pub(crate) mod edges;
pub(crate) mod fleet;
pub(crate) mod ingest;
mod migrate;
mod partition;
pub(crate) mod people;
pub(crate) mod pool;
pub(crate) mod retain;
mod tally;

pub(crate) use migrate::migrate;
pub(crate) use partition::ensure_month;
