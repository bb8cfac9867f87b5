//! Pending questions, answered at a terminal.

pub(crate) mod answer;
pub(crate) mod command;
pub(crate) mod narrow;
pub(crate) mod show;

pub(crate) use command::{ApproveArguments, PendingArguments, RefuseArguments, approve, pending, refuse};
