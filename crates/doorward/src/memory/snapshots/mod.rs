//! Makes calls undoable: snapshots taken before they run, for `doorward undo` and `doorward snapshots`.
//!
//! `before.rs` is called by the hook; `plan.rs` decides what to copy, `take.rs` copies it, `undo.rs` restores it.

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
