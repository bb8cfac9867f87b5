//! The machine that doorward runs on, asked read-only and within bounds. No program is ever started.

#[cfg(test)]
mod against_oracles;
mod arrived;
mod bounds;
#[cfg(test)]
mod chance;
mod dependents;
mod disk;
mod files;
mod folding;
mod git_config;
mod glob;
#[cfg(test)]
mod hostile;
mod ignore;
mod index;
mod mounts;
mod objects;
mod ownership;
mod program;
mod reflog;
mod repository;
mod rewrites;
mod session;
mod shelves;
mod temporary;
#[cfg(test)]
mod tests;

pub use arrived::{head_of, versions};
pub use disk::DiskWorld;
pub use reflog::commit_changed;
pub use repository::project_root;
