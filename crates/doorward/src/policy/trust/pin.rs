//! Fingerprints of trusted things: a project's recipes, a program.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use doorward_ledger::Hash;
use serde::{Deserialize, Serialize};

/// A recipe larger than this is not hashed.
// Larger is no text; it then counts as changed, which asks.
const RECIPE: u64 = 64 << 20;

/// A program larger than this is not hashed.
// Hashing a gigabyte takes a second, once, when a person trusts it.
const PROGRAM: u64 = 1 << 30;

/// More recipes than a project has.
// A monorepo has hundreds; pinning has to end somewhere, and an unpinned recipe asks.
const RECIPES: usize = 1_000;

/// A pinned file: its metadata, and the hash of its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PinnedFile {
    pub hash: String,
    size: u64,
    inode: u64,
    /// Only the system can set this time back.
    changed: (i64, i64),
    #[serde(default)]
    device: u64,
    #[serde(default)]
    modified: (i64, i64),
}

/// The state of a pinned file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sameness {
    /// Untouched according to the file system, so it was not read.
    Untouched,
    /// Touched, but with the same content; it is now pinned with the new metadata.
    SameBytes(PinnedFile),
    Different,
}

/// A pinned project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PinnedProject {
    /// Milliseconds since 1970.
    pub at: u64,
    /// Recipes, scripts and hooks by their path below the root.
    pub files: BTreeMap<String, String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

impl PinnedFile {
    pub(crate) fn of(path: &Path) -> Option<PinnedFile> {
        let found = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let hash = hash_within(path, PROGRAM)?;
        Some(PinnedFile { hash, ..stamp(&found) })
    }

    /// Checks whether the file is the pinned one. Its content is read only if its metadata changed.
    pub(crate) fn compare(&self, path: &Path) -> Sameness {
        let Ok(found) = path.metadata() else { return Sameness::Different };
        let now = PinnedFile { hash: self.hash.clone(), ..stamp(&found) };
        if now == *self {
            Sameness::Untouched
        } else if found.len() == self.size && hash_within(path, PROGRAM).is_some_and(|hash| hash == self.hash) {
            Sameness::SameBytes(now)
        } else {
            Sameness::Different
        }
    }

    /// The file has the pinned content.
    pub(crate) fn is_same(&self, path: &Path) -> bool {
        self.compare(path) != Sameness::Different
    }
}

fn stamp(found: &std::fs::Metadata) -> PinnedFile {
    PinnedFile {
        hash: String::new(),
        size: found.len(),
        inode: found.ino(),
        changed: (found.ctime(), found.ctime_nsec()),
        device: found.dev(),
        modified: (found.mtime(), found.mtime_nsec()),
    }
}

/// The hash of a file's content; `None` if it can't be read or is too long.
pub(crate) fn hash_of(path: &Path) -> Option<String> {
    hash_within(path, RECIPE)
}

fn hash_within(path: &Path, limit: u64) -> Option<String> {
    crate::machine::checked_read::bytes_of(path, limit).map(|bytes| Hash::of(&bytes).to_string())
}

impl PinnedProject {
    /// The project as it is now.
    pub(crate) fn of(root: &Path, at: u64) -> PinnedProject {
        let below = |path: &PathBuf| path.strip_prefix(root).ok()?.to_str().map(str::to_owned);
        let files = recipes(root).iter().filter_map(|path| Some((below(path)?, hash_of(path)?))).collect();
        let head = root.to_str().and_then(crate::machine::world::head_of);
        PinnedProject { at, files, head }
    }

    /// The file is a recipe with unchanged content.
    pub(crate) fn is_same(&self, root: &str, path: &str) -> bool {
        let below = path.strip_prefix(root).map(|rest| rest.trim_start_matches('/'));
        let pinned = below.and_then(|below| self.files.get(below));
        pinned.is_some_and(|pinned| hash_of(Path::new(path)).is_some_and(|hash| hash == *pinned))
    }

    /// The recipes that changed.
    pub(crate) fn changes(&self, root: &Path) -> Vec<String> {
        let now = PinnedProject::of(root, 0);
        let mut names: Vec<String> = self.files.keys().chain(now.files.keys()).cloned().collect();
        names.sort();
        names.dedup();
        names.retain(|name| self.files.get(name) != now.files.get(name));
        names
    }
}

/// Files at the root of a project, scripts and hooks: what its tools run.
pub(crate) fn recipes(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in ["", "scripts", "bin", ".husky", ".githooks", ".git/hooks"] {
        let Ok(entries) = std::fs::read_dir(root.join(directory)) else { continue };
        // Git ships sample hooks and runs none of them.
        let is_example = |path: &Path| directory == ".git/hooks" && path.extension().is_some_and(|end| end == "sample");
        let files = entries.flatten().map(|entry| entry.path()).filter(|path| !is_example(path) && path.is_file());
        found.extend(files.take(RECIPES.saturating_sub(found.len())));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_recipe_shows() {
        let root = tempfile::tempdir().unwrap();
        let makefile = root.path().join("Makefile");
        std::fs::write(&makefile, "test:\n").unwrap();
        let pinned = PinnedProject::of(root.path(), 1);
        assert_eq!(pinned.changes(root.path()), Vec::<String>::new());
        assert!(pinned.is_same(root.path().to_str().unwrap(), makefile.to_str().unwrap()));
        std::fs::write(&makefile, "test:\n\trm -rf x\n").unwrap();
        std::fs::write(root.path().join("build.rs"), "").unwrap();
        assert_eq!(pinned.changes(root.path()), ["Makefile", "build.rs"]);
        assert!(!pinned.is_same(root.path().to_str().unwrap(), makefile.to_str().unwrap()));
    }

    #[test]
    fn a_program_is_the_same_until_its_bytes_change() {
        let root = tempfile::tempdir().unwrap();
        let tool = root.path().join("tool");
        std::fs::write(&tool, "one").unwrap();
        let pinned = PinnedFile::of(&tool).unwrap();
        std::fs::write(&tool, "one").unwrap();
        assert!(pinned.is_same(&tool));
        std::fs::write(&tool, "two").unwrap();
        assert!(!pinned.is_same(&tool));
    }
}
