//! Puts what a commit will place beside its target, whole and durable, where no reader looks.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::apply::Fuse;
use crate::stamp::{Kind, Stamp};
use crate::tree;

/// The stage of one root, and the upper layer that it is filled from.
#[derive(Debug)]
pub(crate) struct Stage {
    directory: OwnedFd,
    upper: OwnedFd,
    /// Copies of files with several names, so that the names go on sharing one file.
    copied: HashMap<(u64, u64), u64>,
    unsynced: usize,
}

/// More files than this are made durable by one call for the whole file system.
const FEW: usize = 64;

impl Stage {
    pub(crate) fn make(root: BorrowedFd<'_>, name: &Path, upper: &Path) -> Result<Stage, Errno> {
        match rustix::fs::mkdirat(root, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let directory = tree::open_below(root, name)?;
        Ok(Stage { directory, upper: tree::open_root(upper)?, copied: HashMap::new(), unsynced: 0 })
    }

    /// The upper layer's own file where that can be linked, a copy elsewhere.
    pub(crate) fn take(&mut self, path: &Path, stamp: &Stamp, number: u64, fuse: &mut Fuse) -> Result<(), Errno> {
        fuse.burn()?;
        let (parent, name) = tree::split(path);
        let parent = tree::open_layer(&self.upper, parent)?;
        let name = name.ok_or(Errno::INVAL)?;
        if stamp.kind == Kind::File {
            tree::strip_own_attributes(parent.as_fd(), name, stamp.mode)?;
        }
        let to = number.to_string();
        match rustix::fs::linkat(&parent, name, &self.directory, to.as_str(), AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::OPNOTSUPP) => {
                self.copy(&parent, name, stamp, number)?
            }
            Err(errno) => return Err(errno),
        }
        self.unsynced += 1;
        if self.unsynced <= FEW && stamp.kind == Kind::File {
            match tree::open_file(self.directory.as_fd(), OsStr::new(&to)) {
                Ok(file) => rustix::fs::fsync(file)?,
                Err(Errno::ACCESS) => self.unsynced = FEW + 1,
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// The stage itself must be found again too: one that is missing would pass for one that is done.
    pub(crate) fn sync(&self, root: BorrowedFd<'_>) -> Result<(), Errno> {
        if self.unsynced > FEW {
            return rustix::fs::syncfs(&self.directory);
        }
        rustix::fs::fsync(&self.directory)?;
        rustix::fs::fsync(root)
    }

    fn copy(&mut self, parent: &OwnedFd, name: &OsStr, stamp: &Stamp, number: u64) -> Result<(), Errno> {
        let to = number.to_string();
        let key = (stamp.dev, stamp.ino);
        if stamp.links > 1
            && let Some(first) = self.copied.get(&key)
        {
            return rustix::fs::linkat(&self.directory, first.to_string(), &self.directory, to, AtFlags::empty());
        }
        let to_name = OsStr::new(&to);
        match stamp.kind {
            Kind::File => self.copy_file(parent, name, stamp, to_name)?,
            Kind::Symlink => rustix::fs::symlinkat(tree::target(parent.as_fd(), name)?, &self.directory, to_name)?,
            Kind::Fifo => {
                let mode = Mode::from_raw_mode(stamp.mode);
                rustix::fs::mknodat(&self.directory, to_name, rustix::fs::FileType::Fifo, mode, 0)?;
            }
            Kind::Directory | Kind::Socket | Kind::Device => return Err(Errno::INVAL),
        }
        tree::set_modified(self.directory.as_fd(), to_name, stamp.modified)?;
        self.copied.insert(key, number);
        Ok(())
    }

    fn copy_file(&self, parent: &OwnedFd, name: &OsStr, stamp: &Stamp, to: &OsStr) -> Result<(), Errno> {
        let from = open_own_file(parent.as_fd(), name, stamp)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let new = rustix::fs::openat(&self.directory, to, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&new, stamp.size)?;
        copy_data(&from, &new, stamp.size)?;
        tree::set_attributes(new.as_fd(), &tree::attributes(from.as_fd())?)?;
        rustix::fs::fchmod(&new, Mode::from_raw_mode(stamp.mode))
    }
}

fn open_own_file(parent: BorrowedFd<'_>, name: &OsStr, stamp: &Stamp) -> Result<OwnedFd, Errno> {
    match tree::open_file(parent, name) {
        Err(Errno::ACCESS) => {}
        opened => return opened,
    }
    let (_found, path) = tree::by_number(parent, name)?;
    rustix::fs::chmodat(CWD, path.as_str(), Mode::from_raw_mode(stamp.mode | 0o400), AtFlags::empty())?;
    let opened = tree::open_file(parent, name);
    rustix::fs::chmodat(CWD, path.as_str(), Mode::from_raw_mode(stamp.mode), AtFlags::empty())?;
    opened
}

/// Holes stay holes.
fn copy_data(from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<(), Errno> {
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return Ok(()),
            Err(errno) => return Err(errno),
        };
        let end = rustix::fs::seek(from, SeekFrom::Hole(start))?.min(size);
        at = start;
        let mut buffer = vec![0; 64 << 10];
        while at < end {
            let most = usize::try_from(end - at).unwrap_or(usize::MAX).min(buffer.len());
            let read = rustix::io::pread(from, buffer.get_mut(..most).unwrap_or_default(), at)?;
            if read == 0 {
                return Err(Errno::IO);
            }
            let mut written = 0;
            while written < read {
                let rest = buffer.get(written..read).unwrap_or_default();
                written += rustix::io::pwrite(to, rest, at + written as u64)?;
            }
            at += read as u64;
        }
    }
    Ok(())
}
