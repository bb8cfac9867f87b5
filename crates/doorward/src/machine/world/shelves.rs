//! Which programs a directory of the search path holds, so that a long script does not ask for each name everywhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// After so many names in vain a directory is listed, which takes as long as some dozen looks.
const PATIENCE: usize = 40;

/// Larger directories are not.
const NAMES: usize = 2_000;

/// Directories that were asked in vain, by their bytes: paths are compared part by part, which takes its time.
#[derive(Debug, Default)]
pub struct Shelves(RefCell<BTreeMap<OsString, Shelf>>);

#[derive(Debug)]
enum Shelf {
    /// How often a name was not there.
    Missed(usize),
    /// All names in small letters: the disk may not tell them apart.
    Listed(BTreeSet<String>),
    /// It cannot be listed, or holds too much.
    Unlisted,
}

impl Shelves {
    /// The directory may hold a program of this name.
    pub fn may_hold(&self, directory: &Path, name: &str) -> bool {
        match self.0.borrow().get(directory.as_os_str()) {
            Some(Shelf::Listed(names)) => !name.is_ascii() || names.contains(&name.to_ascii_lowercase()),
            Some(Shelf::Missed(_) | Shelf::Unlisted) | None => true,
        }
    }

    /// The directory held no program of some name.
    pub fn missed(&self, directory: &Path) {
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
