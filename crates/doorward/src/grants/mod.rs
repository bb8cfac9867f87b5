//! The one door through which a person says yes: what waits for an answer, and permissions for one exact call.
//!
//! Start at `settle.rs`, which the hook asks after a call was judged, or at `answer.rs`, which takes a person's yes or no.

mod answer;
mod bound;
mod command;
mod desk;
mod operands;
mod pending;
mod repeat;
mod settle;
mod show;

pub use command::{ApproveArguments, PendingArguments, RefuseArguments, approve, pending as list_pending, refuse};
pub use desk::Desk;
pub use settle::{Door, is_for_one_key};

#[cfg(test)]
pub use answer::{Yes, approve as say_yes};

#[cfg(test)]
mod tests;
