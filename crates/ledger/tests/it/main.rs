//! The ledger from outside: golden logs, processes that are killed, a million records.
#![allow(
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, and may say why"
)]

mod golden;
mod million;
mod processes;
