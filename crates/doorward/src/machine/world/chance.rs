//! Random trees for tests: the same seed makes the same tree.

use std::path::{Path, PathBuf};

/// A small generator of numbers; the seed is all its state.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap() % limit
    }

    pub(crate) fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Names that a careless reader of paths or of git's output trips over.
pub(crate) const NAMES: &[&str] = &[
    "a",
    "b",
    "A",
    "src",
    "Src",
    "build",
    "target",
    "out",
    "x.log",
    "keep.log",
    "-rf",
    "--help",
    "two words",
    " lead",
    "trail ",
    "new\nline",
    "tab\t",
    "é",
    "e\u{301}",
    "日本",
    "#x",
    "!x",
    "*",
    "[a]",
    "\\",
    "a\\b",
    "?",
    "'",
    "\"",
    "$HOME",
    "~",
    "...",
    ".gitx",
    ".gitignore.bak",
    "node_modules",
    "README",
    "readme",
    "a.b.c",
    "c",
    "d1",
    "{x}",
];

/// Directories below `root`, `root` first.
pub(crate) fn directories(root: &Path, chance: &mut Chance) -> Vec<PathBuf> {
    let mut made = vec![root.to_owned()];
    for _ in 0..2 + chance.below(6) {
        let path = made[chance.below(made.len())].join(chance.pick(NAMES));
        if std::fs::create_dir(&path).is_ok() {
            made.push(path);
        }
    }
    made
}

/// Links of every kind: to each other, in circles, to nothing, up and away.
pub(crate) fn links(root: &Path, directories: &[PathBuf], chance: &mut Chance) {
    for _ in 0..chance.below(10) {
        let at = directories[chance.below(directories.len())].join(chance.pick(NAMES));
        let target = match chance.below(6) {
            0 => root.join(chance.pick(NAMES)),
            1 => directories[chance.below(directories.len())].clone(),
            2 => PathBuf::from(format!("../{}", chance.pick(NAMES))),
            3 => PathBuf::from(format!("{}/../{}/.", chance.pick(NAMES), chance.pick(NAMES))),
            4 => PathBuf::from(at.file_name().unwrap()),
            _ => PathBuf::from(chance.pick(NAMES)),
        };
        let _taken_already = std::os::unix::fs::symlink(target, at);
    }
}
