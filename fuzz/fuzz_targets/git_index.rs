//! Any bytes as an index of git: no panic, and every entry can be looked up.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../git_readers.rs"]
mod machine;
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
