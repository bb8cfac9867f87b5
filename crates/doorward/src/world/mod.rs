//! The machine that doorward runs on, asked read-only and within bounds. No program is ever started.

#[cfg(test)]
mod against_oracles;
mod bounds;
#[cfg(test)]
mod chance;
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
#[cfg_attr(not(test), allow(dead_code, unused_imports, reason = "what git would write is judged by what is read here"))]
mod objects;
mod program;
mod reflog;
mod repository;
mod session;
mod shelves;
mod temporary;
#[cfg(test)]
mod tests;

pub use disk::DiskWorld;
pub use reflog::commit_changed;
pub use repository::project_root;
