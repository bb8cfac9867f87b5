//! Makes calls undoable: snapshots taken before they run, for `doorward undo` and `doorward snapshots`.
//!
//! `before.rs` is called by the hook; `plan.rs` decides what to copy, `take.rs` copies it, `undo.rs` restores it.

mod before;
mod copy;
mod doors;
mod fault;
pub(crate) mod manifest;
mod plan;
pub(crate) mod prune;
pub(crate) mod restore;
pub(crate) mod store;
mod take;
pub(crate) mod undo;
mod undoable;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use before::{Keeper, KeptCopy, Loss, UndoNote, prune_after_call, ran};
pub(crate) use undoable::undoable;
