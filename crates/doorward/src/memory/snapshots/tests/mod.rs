//! Calls through the real hook, run by a real shell, and taken back.

mod behaviour;
mod chance;
mod disaster;
pub(crate) mod room;
