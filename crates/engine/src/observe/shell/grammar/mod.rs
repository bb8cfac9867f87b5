//! The shell's own words: its builtins, and which program is which shell.

mod builtins;
mod dialects;

pub(crate) use builtins::Builtin;
