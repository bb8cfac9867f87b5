//! Reads files and directories of a repository, distinguishing missing from unreadable.

use std::io::ErrorKind;
use std::path::Path;

use super::Unread;
use crate::machine::checked_read;

/// Maximum number of names in one git directory.
// Two-digit object directories hold a few dozen names each after `git gc`.
const NAMES: usize = 20_000;

/// The path exists. A path below a file does not, like one in a missing directory.
pub(super) fn exists(path: &Path) -> Result<bool, Unread> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(_) => Err(Unread::Unreadable),
    }
}

pub(super) fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The names in a directory, none if it does not exist. Git has no names that are not UTF-8 here.
pub(super) fn names(directory: &Path) -> Result<Vec<String>, Unread> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(_) => return Err(Unread::Unreadable),
    };
    let mut names = Vec::new();
    for entry in entries {
        if names.len() == NAMES {
            return Err(Unread::OverBudget);
        }
        names.extend(entry.map_err(|_| Unread::Unreadable)?.file_name().into_string().ok());
    }
    Ok(names)
}

/// A file's bytes; `None` if there is no such file.
pub(super) fn bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Unread> {
    match path.metadata() {
        Err(error) if is_absence(&error) => Ok(None),
        Err(_) => Err(Unread::Unreadable),
        Ok(metadata) if metadata.len() > limit => Err(Unread::OverBudget),
        Ok(_) => checked_read::bytes_of(path, limit).map(Some).ok_or(Unread::Unreadable),
    }
}

/// A file's text; `None` if there is no such file.
pub(super) fn text(path: &Path, limit: u64) -> Result<Option<String>, Unread> {
    bytes(path, limit)?.map(|bytes| String::from_utf8(bytes).map_err(|_| Unread::Corrupt)).transpose()
}
