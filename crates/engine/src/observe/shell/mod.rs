//! Shell commands: text to tree to what would happen.

pub(super) mod aftermath;
pub(super) mod arrays;
pub(super) mod background;
pub(super) mod building;
pub(super) mod builtin;
pub(super) mod code;
pub(super) mod directory;
pub(super) mod evaluate;
pub(super) mod expand;
pub(super) mod exports;
pub(super) mod git_steps;
pub(super) mod grammar;
pub(super) mod list;
pub(super) mod loops;
pub(super) mod poison;
pub(super) mod reading;
pub(super) mod run;
pub(super) mod runner;
pub(super) mod shape;
pub(super) mod simple;
pub(super) mod state;
pub(super) mod trap;
pub(super) mod variables;
pub(super) mod zsh;
