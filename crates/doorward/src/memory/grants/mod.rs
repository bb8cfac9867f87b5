//! The one door through which a person says yes: what waits for an answer, and permissions for one exact call.
//!
//! Start at `settle.rs`, which the hook asks after a call was judged, or at `answer.rs`, which takes a person's yes or no.

pub mod answer;
mod bound;
mod command;
mod desk;
pub mod narrow;
mod operands;
mod pending;
mod queue;
mod repeat;
mod settle;
pub mod show;
mod since;
mod sweep;

pub use answer::{APART_MS, Step, Yes, to_type};
pub use command::{ApproveArguments, PendingArguments, RefuseArguments, approve, pending as list_pending, refuse};
pub use desk::Desk;
pub use pending::{Pending, Status};
pub use queue::{Row, Stand, queue};
pub use settle::{Door, Settled, TRIAL, is_for_one_key, is_soft};
pub use since::changed_since;
pub use sweep::sweep;

#[cfg(test)]
pub use answer::{approve as say_yes, refuse as say_no};
#[cfg(test)]
pub use settle::{way_around, way_to_yes};

#[cfg(test)]
mod tests;
