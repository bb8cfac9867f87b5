//! What doorward knows about named things: programs, tools of MCP servers, rules, and the shape of the scorer's table.
//!
//! A person writes TOML (`programs/`, `rules/`, `tools/`, `servers/`); `program.rs`, `rule.rs`, `tool.rs` and `server.rs` read it and name the line
//! of every mistake; `pack.rs` makes one blob of it when the engine is built; `packed.rs` reads that blob in place.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
#![forbid(unsafe_code)]

mod facets;
pub mod family;
pub mod features;
pub mod file;
pub mod notation;
pub mod pack;
pub mod packed;
pub mod program;
mod rows;
pub mod rule;
pub mod schema;
pub mod scorer_table;
pub mod server;
#[cfg(feature = "sources")]
pub mod sources;
pub mod tool;
