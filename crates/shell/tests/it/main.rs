//! The parser from outside: grammar, limits, and shells as oracles.
#![cfg(unix)]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, and may say why"
)]

mod grammar;
mod limits;
mod oracle;
mod outline;
mod roundtrip;
mod support;
mod words;
