//! The only way to approve: calls waiting for an answer, and permissions for one exact call.
//!
//! The hook asks `hook/grant_check.rs` after a call was judged; `desk/grants/answer.rs` takes the user's answer.

pub(crate) mod binding;
pub(crate) mod drift;
pub(crate) mod operands;
pub(crate) mod pending;
pub(crate) mod queue;
pub(crate) mod repeat;
pub(crate) mod store;
mod sweep;

pub(crate) use pending::{Pending, Status};
pub(crate) use queue::{CallState, QueueRow, queue};
pub(crate) use sweep::sweep;

#[cfg(test)]
mod tests;
