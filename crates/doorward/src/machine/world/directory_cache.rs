//! Which programs the directories on the search path contain, so that a long script does not look up each name everywhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

/// After this many misses a directory is listed, which costs as much as a few dozen lookups.
const PATIENCE: usize = 40;

/// Larger directories are not listed.
// `/usr/bin` has between one and two thousand names; a larger directory is cheaper to ask than to list.
const NAMES: usize = 2_000;

/// Directories with misses, by their bytes: comparing paths component by component is slow.
#[derive(Debug, Default)]
pub(crate) struct DirectoryCache(RefCell<BTreeMap<OsString, Listing>>);

#[derive(Debug)]
enum Listing {
    /// How often a name was missing.
    Missed(usize),
    /// All names in lowercase: the disk may ignore case.
    Listed(BTreeSet<String>),
    /// It can't be listed, or has too many entries.
    Unlisted,
}

impl DirectoryCache {
    /// The directory may contain a program of this name.
    pub(crate) fn may_hold(&self, directory: &Path, name: &str) -> bool {
        match self.0.borrow().get(directory.as_os_str()) {
            Some(Listing::Listed(names)) => !name.is_ascii() || names.contains(&name.to_ascii_lowercase()),
            Some(Listing::Missed(_) | Listing::Unlisted) | None => true,
        }
    }

    /// Notes that the directory lacked a name.
    pub(crate) fn missed(&self, directory: &Path) {
        let mut listings = self.0.borrow_mut();
        let Some(listing) = listings.get_mut(directory.as_os_str()) else {
            listings.insert(directory.as_os_str().to_owned(), Listing::Missed(1));
            return;
        };
        if let Listing::Missed(times) = listing {
            *times += 1;
            if *times >= PATIENCE {
                *listing = list(directory).map_or(Listing::Unlisted, Listing::Listed);
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
        let listings = DirectoryCache::default();
        for _ in 0..PATIENCE {
            assert!(listings.may_hold(room.path(), "ls"));
            listings.missed(room.path());
        }
        assert!(!listings.may_hold(room.path(), "ls"));
        assert!(listings.may_hold(room.path(), "tool") && listings.may_hold(room.path(), "Tool"));
        let nowhere = room.path().join("nowhere");
        (0..PATIENCE).for_each(|_| listings.missed(&nowhere));
        assert!(!listings.may_hold(&nowhere, "tool"));
    }
}
