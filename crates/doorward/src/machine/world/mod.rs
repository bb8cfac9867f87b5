//! The machine doorward runs on, inspected read-only and within bounds. No program is ever started.

pub mod bounds;
#[cfg(test)]
pub mod chance;
pub mod files;
pub mod folding;
mod git_config;
mod glob;
mod ignore;
pub mod index;
pub mod mounts;
pub mod objects;
pub mod ownership;
mod reflog;
pub mod repository;
pub mod rewrites;
pub mod session;
pub mod shelves;
pub mod temporary;
pub mod versions;

pub use reflog::commit_changed;
pub use repository::project_root;
pub use versions::{head_of, versions};
