//! The only way to approve: calls waiting for an answer, and permissions for one exact call.
//!
//! The hook asks `hook/grant_check.rs` after a call was judged; `desk/grants/answer.rs` takes the user's answer.

pub mod binding;
pub mod drift;
pub mod operands;
pub mod pending;
pub mod queue;
pub mod repeat;
pub mod store;
mod sweep;

pub use pending::{Pending, Status};
pub use queue::{Row, Stand, queue};
pub use sweep::sweep;

#[cfg(test)]
mod tests;
