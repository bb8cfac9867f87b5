//! What doorward knows about programs and which rules it has: packed at build time, read in place.

pub use doorward_knowledge::{family, file, pack, packed, program, rule, schema, server, tool};

use packed::Packed;

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge.bin"));

/// The knowledge that is built in.
pub fn built_in() -> Packed {
    // INVARIANT: build.rs wrote the bytes; were they broken, an empty pack knows no program and has no rule,
    // and nothing would be approved.
    Packed::open(BYTES).unwrap_or_else(Packed::empty)
}
