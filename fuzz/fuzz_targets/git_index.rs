//! Any bytes as an index of git: no panic, and every entry can be looked up.
#![no_main]
#![allow(dead_code, unused_imports, reason = "only a part of the edge is included")]

use libfuzzer_sys::fuzz_target;

#[path = "."]
mod machine {
    #[path = "../../crates/doorward/src/machine/checked_read.rs"]
    pub mod checked_read;
    #[path = "."]
    pub mod world {
        #[path = "../../crates/doorward/src/machine/world/index.rs"]
        pub mod index;
        #[path = "../../crates/doorward/src/machine/world/objects/mod.rs"]
        pub mod objects;
    }
}
use machine::world;

fuzz_target!(|bytes: &[u8]| {
    for hash in [20, 32] {
        let Some(index) = world::index::Index::parse(bytes.to_vec(), hash, std::time::SystemTime::now()) else {
            continue;
        };
        for (path, _, id, _) in index.entries().take(100) {
            assert_eq!(id.bytes().len(), hash);
            let _ = std::str::from_utf8(path).map(|path| (index.id_of(path), index.has_below(path)));
        }
    }
});
