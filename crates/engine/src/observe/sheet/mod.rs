//! The sheet on which everything observed is written down, and what it holds.

pub(super) mod caused;
pub(super) mod found;
pub(super) mod lingering;
pub(super) mod notes;
pub(super) mod observer;
