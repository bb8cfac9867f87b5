//! Makes what a call loses undoable: copies made before it runs, `doorward undo`, and `doorward snapshots`.
//!
//! `before.rs` stands in the hook; `plan.rs` says what has to be copied, `take.rs` copies it, `undo.rs` brings it back.

mod before;
mod copy;
mod doors;
mod fault;
pub mod manifest;
mod plan;
pub mod prune;
pub mod restore;
pub mod store;
mod take;
pub mod undo;
mod undoable;

#[cfg(test)]
pub mod tests;

pub use before::{Keeper, Kept, Loss, Note, ended, ran};
pub use undoable::undoable;
