//! The readers of git's files, included as sources: they are private to the edge.
#![allow(dead_code, unused_imports, reason = "only a part of the edge is included")]

#[path = "../crates/doorward/src/machine/checked_read.rs"]
pub mod checked_read;
#[path = "."]
pub mod world {
    #[path = "../crates/doorward/src/machine/world/index.rs"]
    pub mod index;
    #[path = "../crates/doorward/src/machine/world/objects/mod.rs"]
    pub mod objects;
}
