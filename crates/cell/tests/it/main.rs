//! The box as its callers see it, with real kernels, programs and crashes.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod absences;
mod commits;
mod differential;
mod escape;
mod kills;
mod limits;
mod overhead;
mod support;
