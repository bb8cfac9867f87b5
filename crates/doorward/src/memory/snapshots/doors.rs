//! Opens files without following any link, so that no path can be redirected in the meantime.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

/// No ordinary file has larger attributes.
const ATTRIBUTES: usize = 64 << 10;

/// How many directories are kept open: enough for a tree, and far below the process limit.
// Many systems allow 256 open files, and copying opens files of its own.
const KEPT: usize = 64;

/// The directories on the path to the last visited one: trees are walked directory by directory, and a deep one must not be
/// reopened from its root each time.
#[derive(Debug, Default)]
pub(super) struct Doors {
    /// The last visited directory.
    last: PathBuf,
    /// Directories on the path to it, outermost first: the length of each one's path in `last`, and the directory itself.
    way: VecDeque<(usize, OwnedFd)>,
    /// How many directories were opened.
    #[cfg(test)]
    opened: usize,
}

impl Doors {
    /// The directory that contains a path, and its name there.
    pub(super) fn parent<'a>(&mut self, path: &'a Path) -> io::Result<(&OwnedFd, &'a OsStr)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        Ok((self.directory(parent)?, name))
    }

    /// A directory, opened component by component from the nearest one that is open.
    pub(super) fn directory(&mut self, path: &Path) -> io::Result<&OwnedFd> {
        let bytes = path.as_os_str().as_bytes();
        let common = shared(self.last.as_os_str().as_bytes(), bytes);
        self.way.retain(|(length, _)| *length <= common);
        if let Err(error) = self.enter(path) {
            self.forget();
            return Err(error);
        }
        self.last = path.to_owned();
        self.way.back().map(|(_, opened)| opened).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Opens the rest of the path to a directory.
    fn enter(&mut self, path: &Path) -> io::Result<()> {
        let bytes = path.as_os_str().as_bytes();
        if self.way.is_empty() {
            if !bytes.starts_with(b"/") {
                return Err(io::Error::from(io::ErrorKind::InvalidInput));
            }
            self.way.push_back((0, fs::open("/", DIRECTORY, Mode::empty())?));
        }
        let mut at = self.way.back().map_or(0, |(length, _)| *length);
        for name in bytes.get(at..).unwrap_or_default().split(|byte| *byte == b'/') {
            let end = at + name.len();
            at = end + 1;
            if matches!(name, b"" | b".") {
                continue;
            }
            let above = self.way.back().map(|(_, opened)| opened);
            let above = above.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            let opened = step(above, name, path)?;
            #[cfg(test)]
            {
                self.opened += 1;
            }
            self.way.push_back((end, opened));
            if self.way.len() > KEPT {
                self.way.pop_front();
            }
        }
        Ok(())
    }

    /// The metadata of the path itself.
    pub(super) fn look(&mut self, path: &Path) -> io::Result<Stat> {
        let (parent, name) = self.parent(path)?;
        Ok(fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Opens a file for reading, without changing its access time if possible.
    pub(super) fn open(&mut self, path: &Path) -> io::Result<File> {
        let (parent, name) = self.parent(path)?;
        // Merely opening some devices has effects, so check the type first.
        if !is_plain(&fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?) {
            return Err(io::Error::other(format!(
                "`{}` is a link, a device or a pipe, not a plain file",
                path.display()
            )));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        match fs::openat(parent, name, flags | OFlags::NOATIME, Mode::empty()) {
            Err(Errno::PERM) => {}
            opened => return Ok(File::from(opened?)),
        }
        Ok(File::from(fs::openat(parent, name, flags, Mode::empty())?))
    }

    /// The target of a link, as written.
    pub(super) fn link(&mut self, path: &Path) -> io::Result<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let (parent, name) = self.parent(path)?;
        let target = fs::readlinkat(parent, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// Forgets open directories, which may have been moved or replaced by now.
    pub(super) fn forget(&mut self) {
        self.way.clear();
    }
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::RDONLY);

/// One component further.
fn step(above: &OwnedFd, name: &[u8], path: &Path) -> io::Result<OwnedFd> {
    if name == b".." {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    match fs::openat(above, name, DIRECTORY, Mode::empty()) {
        // Linux reports this for a link too.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            Err(io::Error::other(format!("`{}` is a link or goes through one", path.display())))
        }
        other => Ok(other?),
    }
}

/// How many bytes two paths share, up to the end of a component in both.
fn shared(one: &[u8], other: &[u8]) -> usize {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let ends = |path: &[u8]| path.get(same).is_none_or(|byte| *byte == b'/');
    if ends(one) && ends(other) {
        return same;
    }
    one.get(..same).and_then(|start| start.iter().rposition(|byte| *byte == b'/')).unwrap_or_default()
}

fn is_plain(stat: &Stat) -> bool {
    fs::FileType::from_raw_mode(stat.st_mode) == fs::FileType::RegularFile
}

/// The extended attributes of an open file or directory.
pub(super) fn attributes(file: &impl std::os::fd::AsFd) -> io::Result<BTreeMap<String, String>> {
    let mut names = Vec::with_capacity(1024);
    match fs::flistxattr(file, rustix::buffer::spare_capacity(&mut names)) {
        Ok(_) => {}
        Err(Errno::OPNOTSUPP) => return Ok(BTreeMap::new()),
        Err(Errno::RANGE) => {
            names.reserve(ATTRIBUTES);
            fs::flistxattr(file, rustix::buffer::spare_capacity(&mut names))?;
        }
        Err(error) => return Err(error.into()),
    }
    let mut found = BTreeMap::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let mut value = Vec::with_capacity(ATTRIBUTES);
        fs::fgetxattr(file, name, rustix::buffer::spare_capacity(&mut value))?;
        let text = value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        found.insert(name.to_owned(), text);
    }
    Ok(found)
}

/// Sets an extended attribute that [`attributes`] has read.
pub(super) fn set_attribute(file: &impl std::os::fd::AsFd, name: &str, value: &str) -> io::Result<()> {
    let bytes: Option<Vec<u8>> = value
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(fs::fsetxattr(file, name, &bytes, fs::XattrFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn paths_share_whole_components_only() {
        for (one, other, length) in [
            ("", "/a", 0),
            ("/", "/a", 0),
            ("/a", "/a", 2),
            ("/a/b", "/a/b/c", 4),
            ("/a/b", "/a/bc", 2),
            ("/a/bc", "/a/bd", 2),
            ("/a/b/c", "/x", 0),
        ] {
            assert_eq!(shared(one.as_bytes(), other.as_bytes()), length, "{one} {other}");
        }
    }

    #[test]
    fn a_deep_chain_is_walked_in_linear_time() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        // Short enough that the whole path still has a name for the system.
        let chain: Vec<PathBuf> = (1..=1_200)
            .scan(root, |path, _| {
                path.push("d");
                Some(path.clone())
            })
            .collect();
        std::fs::create_dir_all(chain.last().unwrap()).unwrap();
        let mut doors = Doors::default();
        for path in &chain {
            doors.look(path).unwrap();
            doors.directory(path).unwrap();
        }
        assert!(doors.opened < 2 * chain.len(), "down: {}", doors.opened);
        for path in chain.iter().rev() {
            doors.directory(path).unwrap();
        }
        // Going up, the way is opened again once for as many directories as are kept.
        assert!(doors.opened < 2 * chain.len() + chain.len() * chain.len() / KEPT, "up: {}", doors.opened);
    }

    #[test]
    fn every_directory_of_a_tree_is_the_one_that_the_path_names() {
        let room = tempfile::tempdir().unwrap();
        let root = room.path().canonicalize().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", 2 * KEPT).collect();
        let paths = [root.join(&deep), root.join("a/b"), root.join("a/bc"), root.join("a"), root.join("d/d/x")];
        for path in &paths {
            std::fs::create_dir_all(path).unwrap();
        }
        let mut doors = Doors::default();
        let up = paths.first().into_iter().flat_map(|deepest| deepest.ancestors());
        for path in paths.iter().map(PathBuf::as_path).chain(up).chain(paths.iter().rev().map(PathBuf::as_path)) {
            let opened = fs::fstat(doors.directory(path).unwrap()).unwrap();
            assert_eq!(opened.st_ino, path.metadata().unwrap().ino(), "{}", path.display());
            assert!(doors.way.len() <= KEPT);
        }
        std::os::unix::fs::symlink(root.join("a"), root.join("link")).unwrap();
        for path in ["link/b", "a/../a", "missing"] {
            assert!(doors.directory(&root.join(path)).is_err(), "{path}");
        }
        assert!(doors.directory(&root.join("a/b")).is_ok());
    }
}
