//! The home in the box: brought back to the template before each chain, and walked to see what a call changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) const HOME: &str = "/home/dev";
pub(super) const PROJECT: &str = "/home/dev/project";
pub(super) const TEMPLATE: &str = "/run/template";
pub(super) const CANARY: &str = "/var/tmp/canary";

/// What changes whenever an entry of the disk does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    changed: (i64, i64),
    pub size: u64,
    pub mode: u32,
}

/// Entries by path; as plain text, because paths are slow to compare.
pub(super) type Tree = BTreeMap<OsString, Stamp>;

#[derive(Debug)]
pub(super) struct World {
    /// The disk as it was when it was last brought back.
    pub fresh: Tree,
    /// Sources in the template with the places they belong to, parents first.
    wanted: Vec<(PathBuf, PathBuf)>,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let data = fs::symlink_metadata(path).ok()?;
        Some(Stamp {
            inode: data.ino(),
            changed: (data.ctime(), data.ctime_nsec()),
            size: data.size(),
            mode: data.mode(),
        })
    }

    pub(super) fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    pub(super) fn is_link(&self) -> bool {
        self.mode & 0o170_000 == 0o120_000
    }
}

impl World {
    pub(super) fn new() -> World {
        fs::create_dir_all(HOME).unwrap();
        World { fresh: Tree::new(), wanted: wanted() }
    }

    /// Makes the disk what the template says; only what changed is copied.
    pub(super) fn reset(&mut self) {
        // Deepest first, so that directories are empty when their turn comes.
        for (path, stamp) in unlock().iter().rev() {
            match self.fresh.get(path) {
                Some(fresh) if fresh.is_directory() && stamp.is_directory() => {
                    fs::set_permissions(path, Permissions::from_mode(fresh.mode & 0o7777)).unwrap();
                }
                Some(fresh) if fresh == stamp => {}
                Some(_) | None if stamp.is_directory() => fs::remove_dir(path).unwrap(),
                Some(_) | None => fs::remove_file(path).unwrap(),
            }
        }
        for (source, path) in &self.wanted {
            if fs::symlink_metadata(path).is_err() {
                copy(source, path);
            }
        }
        let _ = fs::remove_file(CANARY);
        // Git compares times of its index with those of the files; after this they agree.
        let mut status = Command::new("git");
        status.args(["-C", PROJECT, "status", "--short"]).stdout(Stdio::null()).stderr(Stdio::null());
        status.status().unwrap();
        self.fresh = walk(&[HOME, "/tmp"]);
    }
}

fn wanted() -> Vec<(PathBuf, PathBuf)> {
    let mut wanted = Vec::new();
    for (name, place) in [("home", HOME), ("tmp", "/tmp")] {
        let source = Path::new(TEMPLATE).join(name);
        let paths = walk(&[source.to_str().unwrap()]).into_keys();
        wanted.extend(paths.map(|path| {
            let path = PathBuf::from(path);
            let place = Path::new(place).join(path.strip_prefix(&source).unwrap());
            (path, place)
        }));
    }
    wanted
}

/// Opens directories that a chain has locked.
fn unlock() -> Tree {
    fs::set_permissions(HOME, Permissions::from_mode(0o755)).unwrap();
    loop {
        let tree = walk(&[HOME, "/tmp"]);
        let is_locked = |stamp: &Stamp| stamp.is_directory() && stamp.mode & 0o700 != 0o700;
        let locked: Vec<&OsString> = tree.iter().filter(|(_, stamp)| is_locked(stamp)).map(|(path, _)| path).collect();
        if locked.is_empty() {
            return tree;
        }
        for path in locked {
            fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
        }
    }
}

fn copy(source: &Path, path: &Path) {
    let data = fs::symlink_metadata(source).unwrap();
    if data.is_dir() {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, data.permissions()).unwrap();
        return;
    }
    let _ = fs::remove_file(path);
    if data.is_symlink() {
        return symlink(fs::read_link(source).unwrap(), path).unwrap();
    }
    if !data.is_file() {
        return;
    }
    fs::write(path, fs::read(source).unwrap()).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(data.modified().unwrap())).unwrap();
    fs::set_permissions(path, data.permissions()).unwrap();
}

/// All entries under some directories, the directories themselves left out.
pub(super) fn walk(roots: &[&str]) -> Tree {
    walk_but(roots, "")
}

/// The same without what lies in directories of a name.
pub(super) fn walk_but(roots: &[&str], left_out: &str) -> Tree {
    let mut found = Tree::new();
    let mut folders: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        // What cannot be opened was locked by the chain; its entry itself is noticed.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Some(stamp) = Stamp::of(&path) else { continue };
            if stamp.is_directory() && entry.file_name() != left_out {
                folders.push(path.clone());
            }
            found.insert(path.into_os_string(), stamp);
        }
    }
    found
}

/// The content of a file, or where a link points.
pub(super) fn content(path: &Path, stamp: &Stamp) -> Option<Vec<u8>> {
    if stamp.is_link() {
        return Some(fs::read_link(path).ok()?.into_os_string().into_encoded_bytes());
    }
    fs::read(path).ok()
}
