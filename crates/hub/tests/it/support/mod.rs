//! A PostgreSQL, a hub and edges, all real, all private to one test.

mod edge;
mod hub;
mod memory;
mod postgres;

pub(crate) use edge::{Edge, decision, key, now_ms};
pub(crate) use hub::RunningHub;
pub(crate) use memory::Memory;
pub(crate) use postgres::Postgres;
