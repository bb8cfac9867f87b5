//! Shell commands: text to tree to what would happen.

pub mod aftermath;
pub mod arrays;
pub mod background;
pub mod building;
pub mod builtin;
pub mod code;
pub mod directory;
pub mod evaluate;
pub mod expand;
pub mod exports;
pub mod field;
pub mod git_steps;
pub mod list;
pub mod loops;
pub mod paths;
pub mod reading;
pub mod run;
pub mod shape;
pub mod simple;
pub mod state;
pub mod trap;
pub mod variables;
pub mod zsh;
