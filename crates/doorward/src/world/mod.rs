//! The machine that doorward runs on, asked read-only and within bounds. No program is ever started.

mod bounds;
mod disk;
mod files;
mod git_config;
mod glob;
mod ignore;
mod index;
mod program;
mod repository;
mod session;
mod temporary;
#[cfg(test)]
mod tests;

pub use disk::DiskWorld;
pub use repository::project_root;
