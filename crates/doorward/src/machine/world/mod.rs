//! The machine doorward runs on, inspected read-only and within bounds. No program is ever started.

pub(crate) mod bounds;
#[cfg(test)]
pub(crate) mod chance;
pub(crate) mod directory_cache;
pub(crate) mod files;
pub(crate) mod folding;
mod git_config;
mod glob;
mod ignore;
pub(crate) mod index;
pub(crate) mod mounts;
pub(crate) mod objects;
pub(crate) mod ownership;
mod reflog;
pub(crate) mod repository;
pub(crate) mod rewrites;
pub(crate) mod session;
pub(crate) mod temporary;
pub(crate) mod versions;

pub(crate) use reflog::commit_changed;
pub(crate) use repository::project_root;
pub(crate) use versions::{FileVersion, head_of, versions};
