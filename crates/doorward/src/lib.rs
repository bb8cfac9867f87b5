//! The edge of doorward: everything that touches the machine.
//!
//! Start at `hook/mod.rs`, which answers an agent, or at `cli.rs`, which names every command a person types.
#![forbid(unsafe_code)]

mod check;
mod cli;
mod config;
mod json;
mod judging;
mod screen;

pub use cli::command_line;

/// Placeholder until the hook is here.
pub fn hook(_: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    std::process::ExitCode::from(2)
}
