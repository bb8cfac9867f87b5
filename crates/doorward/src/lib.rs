//! The edge of doorward: everything that touches the machine.
//!
//! Start at `hook/mod.rs`, which answers an agent, or at `cli.rs`, which names every command a person types.
#![forbid(unsafe_code)]

mod cli;
mod desk;
mod hook;
mod machine;
mod memory;
mod policy;

pub use cli::{command_line, status_line};
pub use hook::hook;
