//! Pending questions, answered at a terminal.

pub mod answer;
pub mod command;
pub mod narrow;
pub mod show;

pub use command::{ApproveArguments, PendingArguments, RefuseArguments, approve, pending, refuse};
