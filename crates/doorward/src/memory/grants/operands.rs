//! Fingerprints of the files a call names or touches, so that an approval covers them only as they were.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use doorward_ledger::Hash;
use serde::{Deserialize, Serialize};

/// How many bytes are hashed for one call; beyond that, inode, size and change time are used.
// Approving binds the content. Hashing gigabytes would hold the call up, and change time is hard to forge.
const BYTES: u64 = 16 << 20;

/// How many directory entries are checked for one call.
// A lookup each, while the agent waits. Entries beyond it are not part of the binding; the effects still are.
const ENTRIES: usize = 2_000;

/// More links than a sensible path has.
// Loops of links end here; the kernel allows forty.
const LINKS: usize = 16;

/// How far a fingerprint looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Depth {
    /// The content of a file, the identity of a directory.
    #[default]
    Itself,
    /// Everything below a directory too.
    Below,
}

/// The fingerprint of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    #[serde(default)]
    pub depth: Depth,
    pub print: String,
}

/// The fingerprints of some paths as they are now.
pub(crate) fn fingerprints(paths: &BTreeMap<String, Depth>) -> BTreeMap<String, Fingerprint> {
    let mut printer = Fingerprinter { bytes: BYTES, entries: ENTRIES, real: BTreeMap::new() };
    let one = |(path, depth): (&String, &Depth)| {
        (path.clone(), Fingerprint { depth: *depth, print: printer.print(Path::new(path), *depth, LINKS) })
    };
    paths.iter().map(one).collect()
}

/// The paths whose fingerprints are no longer what they were.
pub(crate) fn changed(known: &BTreeMap<String, Fingerprint>) -> Vec<String> {
    let paths = known.iter().map(|(path, print)| (path.clone(), print.depth)).collect();
    let now = fingerprints(&paths);
    known.iter().filter(|(path, print)| now.get(*path) != Some(print)).map(|(path, _)| path.clone()).collect()
}

struct Fingerprinter {
    bytes: u64,
    entries: usize,
    /// Directories and where their links point.
    real: BTreeMap<PathBuf, PathBuf>,
}

impl Fingerprinter {
    fn print(&mut self, path: &Path, depth: Depth, links: usize) -> String {
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) => return format!("nothing ({})", error.kind()),
        };
        // A changed link above the file moves it, just like a link to it.
        let real = self.real(path.parent().unwrap_or(path));
        let what = if metadata.is_symlink() {
            self.link(path, depth, links)
        } else if metadata.is_file() {
            self.file(path, &metadata)
        } else if metadata.is_dir() {
            self.directory(path, &metadata, depth)
        } else {
            format!("special {}", stamp(&metadata))
        };
        format!("{what} in {}", real.display())
    }

    fn real(&mut self, directory: &Path) -> PathBuf {
        if let Some(known) = self.real.get(directory) {
            return known.clone();
        }
        let real = directory.canonicalize().unwrap_or_default();
        self.real.insert(directory.to_owned(), real.clone());
        real
    }

    fn link(&mut self, path: &Path, depth: Depth, links: usize) -> String {
        let Ok(target) = path.read_link() else { return "a link that cannot be read".to_owned() };
        let Some(left) = links.checked_sub(1) else { return "too many links".to_owned() };
        let next = path.parent().unwrap_or(Path::new("/")).join(&target);
        format!("link to {} · {}", target.display(), self.print(&next, depth, left))
    }

    fn file(&mut self, path: &Path, metadata: &Metadata) -> String {
        let content =
            (metadata.len() <= self.bytes).then(|| crate::machine::checked_read::bytes_of(path, self.bytes)).flatten();
        match content {
            Some(bytes) => {
                self.bytes = self.bytes.saturating_sub(bytes.len() as u64);
                format!("file {} mode {:o}", Hash::of(&bytes), metadata.mode())
            }
            None => format!("file {}", stamp(metadata)),
        }
    }

    fn directory(&mut self, path: &Path, metadata: &Metadata, depth: Depth) -> String {
        let itself = format!("directory {}:{}", metadata.dev(), metadata.ino());
        match depth {
            Depth::Itself => itself,
            Depth::Below => format!("{itself} with {}", Hash::of(self.below(path).join("\n").as_bytes())),
        }
    }

    /// Every entry below a directory, in order, as far as the budget allows; git's own files change just by reading them.
    fn below(&mut self, top: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        let mut folders = vec![top.to_owned()];
        while let Some(folder) = folders.pop() {
            for path in sorted(&folder) {
                let Some(left) = self.entries.checked_sub(1) else { return lines };
                self.entries = left;
                let Ok(metadata) = path.symlink_metadata() else { continue };
                let is_folder = metadata.is_dir();
                // A folder's change time moves with every file in it, and those are listed themselves.
                let told = if is_folder { format!("{}", metadata.ino()) } else { stamp(&metadata) };
                lines.push(format!("{} {told}", path.display()));
                // `git status` rewrites the index; an approval must survive that.
                if is_folder && path.file_name().is_none_or(|name| name != ".git") {
                    folders.push(path);
                }
            }
        }
        lines
    }
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.take(ENTRIES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The metadata of a file. Only the system sets the change time.
fn stamp(found: &Metadata) -> String {
    format!(
        "{}:{} size {} mode {:o} changed {}.{}",
        found.dev(),
        found.ino(),
        found.len(),
        found.mode(),
        found.ctime(),
        found.ctime_nsec()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Whether the fingerprint of `name` notices what `spoil` does.
    fn notices(name: &str, depth: Depth, spoil: impl Fn(&Path)) -> bool {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        std::fs::write(at("file"), "one").unwrap();
        std::fs::write(at("other"), "one").unwrap();
        symlink("file", at("link")).unwrap();
        std::fs::create_dir_all(at("dir/deep")).unwrap();
        std::fs::write(at("dir/deep/x"), "one").unwrap();
        symlink("dir", at("way")).unwrap();
        let known = fingerprints(&BTreeMap::from([(at(name).to_str().unwrap().to_owned(), depth)]));
        assert_eq!(changed(&known), Vec::<String>::new());
        spoil(room.path());
        !changed(&known).is_empty()
    }

    #[test]
    fn a_change_of_bytes_mode_link_or_kind_shows() {
        let write = |name: &'static str| move |room: &Path| std::fs::write(room.join(name), "two").unwrap();
        assert!(notices("file", Depth::Itself, write("file")));
        assert!(!notices("file", Depth::Itself, write("other")));
        assert!(notices("link", Depth::Itself, write("file")), "through a link");
        assert!(notices("missing", Depth::Itself, write("missing")), "what was not there is there");
        assert!(notices("dir/deep/x", Depth::Itself, write("dir/deep/x")));
        assert!(notices("dir", Depth::Below, write("dir/deep/x")));
        assert!(notices("dir", Depth::Below, write("dir/deep/new")));
        assert!(!notices("dir", Depth::Itself, write("dir/deep/new")));
        assert!(notices("file", Depth::Itself, |room| {
            std::fs::set_permissions(room.join("file"), PermissionsExt::from_mode(0o755)).unwrap();
        }));
        assert!(notices("link", Depth::Itself, |room| {
            std::fs::remove_file(room.join("link")).unwrap();
            symlink("other", room.join("link")).unwrap();
        }));
        assert!(notices("way/deep/x", Depth::Itself, |room| {
            std::fs::remove_file(room.join("way")).unwrap();
            std::fs::create_dir_all(room.join("way/deep")).unwrap();
            std::fs::write(room.join("way/deep/x"), "one").unwrap();
        }));
        assert!(notices("file", Depth::Itself, |room| {
            std::fs::remove_file(room.join("file")).unwrap();
            std::fs::create_dir(room.join("file")).unwrap();
        }));
    }

    #[test]
    fn links_in_a_circle_and_pipes_end() {
        let room = tempfile::tempdir().unwrap();
        symlink("b", room.path().join("a")).unwrap();
        symlink("a", room.path().join("b")).unwrap();
        let path = room.path().join("a").to_str().unwrap().to_owned();
        let known = fingerprints(&BTreeMap::from([(path, Depth::Below), ("/dev/null".to_owned(), Depth::Below)]));
        assert_eq!(known.len(), 2);
        assert_eq!(changed(&known), Vec::<String>::new());
    }
}
