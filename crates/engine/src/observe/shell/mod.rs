//! Shell commands: text to tree to what would happen.

pub mod builtin;
pub mod code;
pub mod expand;
pub mod field;
pub mod paths;
pub mod run;
pub mod shape;
pub mod simple;
pub mod state;
