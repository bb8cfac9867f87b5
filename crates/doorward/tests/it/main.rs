//! The whole program from outside, as agents and people use it; one binary, so that it is linked once.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop, and may say why"
)]

mod audit;
mod chains;
mod check;
mod check_and_hook;
mod commands;
mod config;
mod desk;
mod doctor;
mod everyday;
mod first_minutes;
mod first_words;
mod generated_docs;
#[path = "../../../ledger/tests/it/support/hasty.rs"]
mod hasty;
mod history;
mod hook;
mod incoming;
mod limits;
mod metrics;
mod overrides;
mod parallel;
mod payloads;
mod pi_automode;
mod pi_automode_config;
mod pi_extension;
mod plugin;
mod preview;
mod pushed;
mod readme;
mod real_clients;
mod reconcile;
mod release;
mod replay;
mod replay_million;
mod report;
mod review;
mod reviewer;
mod rollout;
mod sdk;
mod secrets;
mod serve;
mod session;
mod setup;
mod site;
mod spec;
mod statusline;
mod strict;
mod support;
mod tidy;
mod tune;
mod undo;
