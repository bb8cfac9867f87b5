//! Walking and changing trees without ever following a link or leaving a root.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;

use crate::stamp::{Kind, Stamp};

/// The names that the overlay writes for itself.
pub(crate) const OWN_NAMES: &[u8] = b"user.overlay.";

const OPEN_DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Opens a directory by its absolute path, of which no part may be a link.
pub(crate) fn open_root(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    retrying(|| rustix::fs::openat2(CWD, path, OPEN_DIRECTORY, Mode::empty(), flags))
}

/// Opens a directory below a root; the root itself if `path` is empty.
pub(crate) fn open_below(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    retrying(|| rustix::fs::openat2(root, path, OPEN_DIRECTORY, Mode::empty(), flags))
}

/// The kernel answers AGAIN when something was renamed while it looked.
fn retrying(open: impl Fn() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let mut opened = open();
    for _ in 0..64 {
        match opened {
            Err(Errno::AGAIN | Errno::INTR) => opened = open(),
            Ok(_) | Err(_) => break,
        }
    }
    opened
}

/// Opens an entry of a directory as a directory.
pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(parent, name, OPEN_DIRECTORY, Mode::empty())
}

/// Opens a regular file of a directory to read; a fifo there does not block.
pub(crate) fn open_file(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    if Stamp::of(&rustix::fs::fstat(&file)?).kind == Kind::File { Ok(file) } else { Err(Errno::INVAL) }
}

pub(crate) fn stamp_at(parent: BorrowedFd<'_>, name: &OsStr) -> Result<Option<Stamp>, Errno> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Stamp::of(&stat))),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// The entry at a path below a root.
pub(crate) fn stamp_below(root: BorrowedFd<'_>, path: &Path) -> Result<Option<Stamp>, Errno> {
    let (parent, name) = split(path);
    let Some(name) = name else { return Ok(Some(Stamp::of(&rustix::fs::fstat(root)?))) };
    match open_below(root, parent) {
        Ok(parent) => stamp_at(parent.as_fd(), name),
        // What lies behind a link does not lie below this root.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// A relative path as parent and name; the empty path has no name.
pub(crate) fn split(path: &Path) -> (&Path, Option<&OsStr>) {
    (path.parent().unwrap_or(Path::new("")), path.file_name())
}

pub(crate) fn names(directory: BorrowedFd<'_>) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(names)
}

/// What stands in a link.
pub(crate) fn target(parent: BorrowedFd<'_>, name: &OsStr) -> Result<PathBuf, Errno> {
    let target = rustix::fs::readlinkat(parent, name, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

pub(crate) fn set_modified(parent: BorrowedFd<'_>, name: &OsStr, modified: (i64, i64)) -> Result<(), Errno> {
    rustix::fs::utimensat(parent, name, &times(modified), AtFlags::SYMLINK_NOFOLLOW)
}

pub(crate) fn set_modified_of(file: BorrowedFd<'_>, modified: (i64, i64)) -> Result<(), Errno> {
    rustix::fs::futimens(file, &times(modified))
}

fn times(modified: (i64, i64)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        last_modification: Timespec { tv_sec: modified.0, tv_nsec: modified.1 },
    }
}

/// The extended attributes that belong to the file: the user's and access lists, without the overlay's own.
pub(crate) fn attributes(file: BorrowedFd<'_>) -> Result<Vec<(OsString, Vec<u8>)>, Errno> {
    let mut list = Vec::with_capacity(1024);
    match rustix::fs::flistxattr(file, rustix::buffer::spare_capacity(&mut list)) {
        Ok(_) => {}
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Err(Errno::RANGE) => {
            list = Vec::with_capacity(64 << 10);
            rustix::fs::flistxattr(file, rustix::buffer::spare_capacity(&mut list))?;
        }
        Err(errno) => return Err(errno),
    }
    let ours = |name: &&[u8]| {
        (name.starts_with(b"user.") && !name.starts_with(OWN_NAMES)) || name.starts_with(b"system.posix_acl_")
    };
    let mut attributes = Vec::new();
    for name in list.split(|byte| *byte == 0).filter(ours) {
        let mut value = Vec::with_capacity(64 << 10);
        rustix::fs::fgetxattr(file, OsStr::from_bytes(name), rustix::buffer::spare_capacity(&mut value))?;
        attributes.push((OsString::from_vec(name.to_vec()), value));
    }
    attributes.sort();
    Ok(attributes)
}

/// Gives a file exactly these attributes.
pub(crate) fn set_attributes(file: BorrowedFd<'_>, wanted: &[(OsString, Vec<u8>)]) -> Result<(), Errno> {
    let present = attributes(file)?;
    for (name, value) in wanted.iter().filter(|wanted| !present.contains(wanted)) {
        rustix::fs::fsetxattr(file, name.as_os_str(), value, XattrFlags::empty())?;
    }
    for (name, _) in present.iter().filter(|(name, _)| !wanted.iter().any(|(wanted, _)| wanted == name)) {
        rustix::fs::fremovexattr(file, name.as_os_str())?;
    }
    Ok(())
}

/// The value of one attribute of the overlay on a directory.
pub(crate) fn own_attribute(directory: BorrowedFd<'_>, name: &str) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(256);
    rustix::fs::fgetxattr(directory, name, rustix::buffer::spare_capacity(&mut value)).ok()?;
    Some(value)
}

/// The names of the overlay's own attributes on an entry.
pub(crate) fn own_attributes(parent: BorrowedFd<'_>, name: &OsStr) -> Result<Vec<OsString>, Errno> {
    let (_file, path) = by_number(parent, name)?;
    let mut list = Vec::with_capacity(64 << 10);
    match rustix::fs::listxattr(path, rustix::buffer::spare_capacity(&mut list)) {
        Ok(_) | Err(Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(errno),
    }
    let own = list.split(|byte| *byte == 0).filter(|name| name.starts_with(OWN_NAMES));
    Ok(own.map(|name| OsString::from_vec(name.to_vec())).collect())
}

/// Takes them off a file of doorward's own, whatever its mode.
pub(crate) fn strip_own_attributes(parent: BorrowedFd<'_>, name: &OsStr, mode: u32) -> Result<(), Errno> {
    let own = own_attributes(parent, name)?;
    if own.is_empty() {
        return Ok(());
    }
    let (_file, path) = by_number(parent, name)?;
    let strip = || own.iter().try_for_each(|name| rustix::fs::removexattr(path.as_str(), name.as_os_str()));
    match strip() {
        Err(Errno::ACCESS) => {}
        stripped => return stripped,
    }
    let set = |mode| rustix::fs::chmodat(CWD, path.as_str(), Mode::from_raw_mode(mode), AtFlags::empty());
    set(mode | 0o600)?;
    let stripped = own.iter().try_for_each(|name| match rustix::fs::removexattr(path.as_str(), name.as_os_str()) {
        Err(Errno::NODATA) => Ok(()),
        removed => removed,
    });
    set(mode).and(stripped)
}

/// A path that leads to this very entry, for calls that take no open file without the right to read it.
pub(crate) fn by_number(parent: BorrowedFd<'_>, name: &OsStr) -> Result<(OwnedFd, String), Errno> {
    let file = rustix::fs::openat(parent, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok((file, path))
}

/// Removes a tree that is doorward's own, whatever its modes.
pub(crate) fn remove(path: &Path) -> Result<(), Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    match open_root(parent) {
        Ok(parent) => remove_at(parent.as_fd(), name),
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

pub(crate) fn remove_at(parent: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    let directory = open_own_directory(parent, name)?;
    for entry in names(directory.as_fd())? {
        remove_at(directory.as_fd(), &entry)?;
    }
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Opens a directory of doorward's own layers, giving itself the right to if the command took it away.
pub(crate) fn open_own_directory(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let all = Mode::RUSR | Mode::WUSR | Mode::XUSR;
    let path_only = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::openat(parent, name, path_only, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&found)?.st_mode & 0o7777);
    if !mode.contains(all) {
        rustix::fs::chmodat(CWD, format!("/proc/self/fd/{}", found.as_raw_fd()), mode | all, AtFlags::empty())?;
    }
    open_directory(parent, name)
}

/// Opens a directory of a layer by its path, of which any part may be shut.
pub(crate) fn open_layer(layer: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut directory = open_below(layer.as_fd(), Path::new(""))?;
    for part in path.components() {
        directory = open_own_directory(directory.as_fd(), part.as_os_str())?;
    }
    Ok(directory)
}

/// What a tree takes on the disk.
pub(crate) fn disk_bytes(path: &Path) -> u64 {
    fn below(directory: &OwnedFd) -> u64 {
        let Ok(names) = names(directory.as_fd()) else { return 0 };
        let mut sum = 0;
        for name in names {
            let Ok(stat) = rustix::fs::statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            sum += (stat.st_blocks as u64) * 512;
            if Stamp::of(&stat).kind == Kind::Directory {
                sum += open_directory(directory.as_fd(), &name).map_or(0, |inner| below(&inner));
            }
        }
        sum
    }
    open_root(path).map_or(0, |root| below(&root))
}

pub(crate) fn free_bytes(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize))
}
