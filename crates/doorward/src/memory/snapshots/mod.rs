//! Makes what a call loses undoable: copies made before it runs, `doorward undo`, and `doorward snapshots`.
//!
//! `before.rs` stands in the hook; `plan.rs` says what has to be copied, `take.rs` copies it, `undo.rs` brings it back.

mod before;
mod command;
mod copy;
mod doors;
mod fault;
mod manifest;
mod plan;
mod prune;
mod restore;
mod show;
mod store;
mod take;
mod undo;
mod undoable;

#[cfg(test)]
pub mod tests;

pub use before::{Keeper, Note, ended, ran};
pub use command::{SnapshotsArguments, UndoArguments, snapshots, take_back, undo};
pub use undoable::undoable;
