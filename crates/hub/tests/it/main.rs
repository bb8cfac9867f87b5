//! The hub against a real PostgreSQL, with edges that ship real logs.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on should stop, and may say why"
)]

mod bundles;
mod enrolment;
mod faults;
mod fleet;
mod kill_loop;
mod linked;
mod load;
mod shipping;
mod support;
