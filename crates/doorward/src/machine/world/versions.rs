//! Git's names for what files hold now, and for the commit that is checked out.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::repository::Repository;
use crate::machine::checked_read;

/// Files larger than this are not hashed.
// Hashing more would show in the time of an answer. A file without a known version counts as brought, which only asks.
pub(crate) const FILE: u64 = 8 << 20;

/// One content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
// State files have always kept it as a pair, and one that an older version wrote must still be read.
#[serde(from = "(String, String)", into = "(String, String)")]
pub(crate) struct FileVersion {
    pub path: String,
    /// Git's hash of the content.
    pub id: String,
}

impl From<(String, String)> for FileVersion {
    fn from((path, id): (String, String)) -> FileVersion {
        FileVersion { path, id }
    }
}

impl From<FileVersion> for (String, String) {
    fn from(version: FileVersion) -> (String, String) {
        (version.path, version.id)
    }
}

/// The current versions of files in a work tree.
pub(crate) fn versions(root: &str, home: &str, paths: &[String]) -> Vec<FileVersion> {
    let Some(repository) = Repository::at(root, home) else { return Vec::new() };
    let version = |path: &String| {
        let bytes = checked_read::bytes_of(Path::new(path), FILE)?;
        Some(FileVersion { path: path.clone(), id: repository.blob_id(&bytes)?.to_string() })
    };
    paths.iter().filter(|path| below(path, root)).filter_map(version).collect()
}

/// The commit checked out in the work tree at `root`.
pub(crate) fn head_of(root: &str) -> Option<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let repository = Repository::at(root, &home)?;
    let head = repository.objects().ok()?.resolve("HEAD").ok()?;
    Some(head.to_string())
}

/// A path is a directory or is inside it.
pub(crate) fn below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
