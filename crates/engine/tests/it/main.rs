//! The engine from outside: corpus, laws, programs and rules; one binary, so that it is linked once.
#![allow(
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, and may say why"
)]

mod bounded;
mod corpus;
mod kin;
mod lattice;
mod laws;
mod oracle;
mod plain_values;
mod programs;
mod redirected;
mod retired;
mod rules;
mod scale;
mod scorer;
mod snippets;
mod support;
