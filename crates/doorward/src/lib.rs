//! The edge of doorward: everything that touches the machine.
//!
//! Start at `hook/mod.rs`, which answers an agent, or at `cli.rs`, which names every command a person types.
#![forbid(unsafe_code)]

mod accepted;
mod agents;
mod alerts;
mod arrivals;
mod audit;
mod check;
mod cli;
mod client_rules;
mod config;
mod demo;
mod digest;
mod doctor;
mod from_history;
mod grants;
mod held;
mod hook;
mod json;
mod judging;
mod key;
mod literate;
mod loading;
mod manual;
mod metrics;
mod model;
mod naming;
mod notify;
mod offers;
mod outcomes;
mod own;
mod places;
mod presence;
mod preview;
mod private_state;
mod reconcile;
mod record;
mod replay;
mod report;
mod review;
mod reviewer;
mod rollout;
mod rules;
mod screen;
mod seen;
mod serve;
mod session;
mod setup;
mod snapshots;
mod spoken;
mod status;
mod telling;
mod transcripts;
mod trust;
mod trusted;
mod tune;
mod underway;
mod world;

pub use cli::command_line;
pub use hook::hook;
