//! Files reached without following a single link, so that no path can be made to lead elsewhere meanwhile.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Larger attributes are no attributes of a file that somebody wrote by hand.
const ATTRIBUTES: usize = 64 << 10;

/// The directory that was opened last: files are mostly visited directory by directory.
#[derive(Debug, Default)]
pub struct Doors {
    last: Option<(PathBuf, OwnedFd)>,
}

impl Doors {
    /// The directory that holds a path, and the name of the path in it.
    pub fn parent<'a>(&mut self, path: &'a Path) -> io::Result<(&OwnedFd, &'a OsStr)> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        if self.last.as_ref().is_none_or(|(known, _)| known != parent) {
            self.last = Some((parent.to_owned(), directory(parent)?));
        }
        let opened = self.last.as_ref().map(|(_, opened)| opened);
        opened.map(|opened| (opened, name)).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Looks at a path itself.
    pub fn look(&mut self, path: &Path) -> io::Result<Stat> {
        let (parent, name) = self.parent(path)?;
        Ok(fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Opens a file to be read, without leaving a trace in its access time where that is possible.
    pub fn open(&mut self, path: &Path) -> io::Result<File> {
        let (parent, name) = self.parent(path)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        match fs::openat(parent, name, flags | OFlags::NOATIME, Mode::empty()) {
            Err(Errno::PERM) => {}
            opened => return Ok(File::from(opened?)),
        }
        Ok(File::from(fs::openat(parent, name, flags, Mode::empty())?))
    }

    /// Where a link leads, as written in it.
    pub fn link(&mut self, path: &Path) -> io::Result<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let (parent, name) = self.parent(path)?;
        let target = fs::readlinkat(parent, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// Whatever was opened may have been moved or replaced by now.
    pub fn forget(&mut self) {
        self.last = None;
    }
}

/// Opens a directory, component by component.
pub fn directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut opened = fs::open("/", flags, Mode::empty())?;
    for component in path.components() {
        opened = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => match fs::openat(&opened, name, flags, Mode::empty()) {
                // Linux says so of a link, too.
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    return Err(io::Error::other(format!("`{}` is or leads through a link", path.display())));
                }
                other => other?,
            },
            Component::ParentDir | Component::Prefix(_) => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
        };
    }
    Ok(opened)
}

/// The extended attributes of an open file or directory.
pub fn attributes(file: &impl std::os::fd::AsFd) -> io::Result<BTreeMap<String, String>> {
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
pub fn set_attribute(file: &impl std::os::fd::AsFd, name: &str, value: &str) -> io::Result<()> {
    let bytes: Option<Vec<u8>> = value
        .as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(fs::fsetxattr(file, name, &bytes, fs::XattrFlags::empty())?)
}
