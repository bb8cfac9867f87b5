//! Which programs the directories on the search path contain, so that a long script does not look up each name everywhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// After this many misses a directory is listed, which costs as much as a few dozen lookups.
const PATIENCE: usize = 40;

/// Larger directories are not listed.
const NAMES: usize = 2_000;

/// Directories with misses, by their bytes: comparing paths component by component is slow.
#[derive(Debug, Default)]
pub(crate) struct Shelves(RefCell<BTreeMap<OsString, Shelf>>);

#[derive(Debug)]
enum Shelf {
    /// How often a name was missing.
    Missed(usize),
    /// All names in lowercase: the disk may ignore case.
    Listed(BTreeSet<String>),
    /// It can't be listed, or has too many entries.
    Unlisted,
}

impl Shelves {
    /// The directory may contain a program of this name.
    pub(crate) fn may_hold(&self, directory: &Path, name: &str) -> bool {
        match self.0.borrow().get(directory.as_os_str()) {
            Some(Shelf::Listed(names)) => !name.is_ascii() || names.contains(&name.to_ascii_lowercase()),
            Some(Shelf::Missed(_) | Shelf::Unlisted) | None => true,
        }
    }

    /// Notes that the directory lacked a name.
    pub(crate) fn missed(&self, directory: &Path) {
        let mut shelves = self.0.borrow_mut();
        let Some(shelf) = shelves.get_mut(directory.as_os_str()) else {
            shelves.insert(directory.as_os_str().to_owned(), Shelf::Missed(1));
            return;
        };
        if let Shelf::Missed(times) = shelf {
            *times += 1;
            if *times >= PATIENCE {
                *shelf = list(directory).map_or(Shelf::Unlisted, Shelf::Listed);
            }
        }
    }
}

fn list(directory: &Path) -> Option<BTreeSet<String>> {
    if !directory.exists() {
        return Some(BTreeSet::new());
    }
    let entries = std::fs::read_dir(directory).ok()?.take(NAMES + 1);
    let names: Option<BTreeSet<String>> =
        entries.map(|entry| Some(entry.ok()?.file_name().to_str()?.to_ascii_lowercase())).collect();
    names.filter(|names| names.len() <= NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_listed_once_it_was_asked_in_vain() {
        let room = tempfile::tempdir().unwrap();
        std::fs::write(room.path().join("Tool"), "").unwrap();
        let shelves = Shelves::default();
        for _ in 0..PATIENCE {
            assert!(shelves.may_hold(room.path(), "ls"));
            shelves.missed(room.path());
        }
        assert!(!shelves.may_hold(room.path(), "ls"));
        assert!(shelves.may_hold(room.path(), "tool") && shelves.may_hold(room.path(), "Tool"));
        let nowhere = room.path().join("nowhere");
        (0..PATIENCE).for_each(|_| shelves.missed(&nowhere));
        assert!(!shelves.may_hold(&nowhere, "tool"));
    }
}
