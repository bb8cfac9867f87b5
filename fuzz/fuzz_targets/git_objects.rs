//! Any bytes as the files of a repository: no panic, and an end. The files are separated by four bytes of `0xfe`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../git_readers.rs"]
mod machine;
use machine::world;

use world::objects::{HashFormat, Id, Objects};

const FILES: &[&str] = &[
    "objects/pack/a.idx",
    "objects/pack/a.pack",
    "packed-refs",
    "HEAD",
    "logs/HEAD",
    "shallow",
    "objects/info/alternates",
];

/// An object of its own file, asked for by name.
const LOOSE: &str = "objects/ab/abababababababababababababababababababab";

fuzz_target!(|bytes: &[u8]| {
    let base = std::env::temp_dir().join(format!("doorward-fuzz-{}", std::process::id()));
    let mut rest = bytes;
    for file in FILES.iter().chain([&LOOSE]) {
        let end = rest.windows(4).position(|window| window == [0xfe; 4]);
        let path = base.join(file);
        path.parent().map(std::fs::create_dir_all);
        let _ = std::fs::write(path, &rest[..end.unwrap_or(rest.len())]);
        rest = end.map_or(&[], |end| &rest[end + 4..]);
    }
    for format in [HashFormat::Sha1, HashFormat::Sha256] {
        let objects = Objects::at(&base, &base, format);
        let named = ["HEAD", "@{-1}", "HEAD@{1}", "main^2~1:a/b", "abab", "v1^{}"].map(|name| objects.resolve(name));
        let known =
            Id::parse(&"ab".repeat(format.length())).into_iter().chain(named.into_iter().filter_map(Result::ok));
        for id in known {
            let _ = (objects.read(&id, 1 << 20), objects.diff(None, id), objects.between(&[], id, 100));
        }
    }
});
