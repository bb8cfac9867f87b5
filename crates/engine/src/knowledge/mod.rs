//! What doorward knows about programs and which rules it has: data files, packed at build time, read in place.

pub mod file;
pub mod notation;
pub mod pack;
pub mod packed;
pub mod program;
mod rows;
pub mod rule;
pub mod schema;
pub mod tool;

use packed::Packed;

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge.bin"));

/// The knowledge that is built in.
pub fn built_in() -> Packed {
    // INVARIANT: build.rs wrote the bytes; were they broken, an empty pack knows no program and has no rule,
    // and nothing would be approved.
    Packed::open(BYTES).unwrap_or_else(Packed::empty)
}
