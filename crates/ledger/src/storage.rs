//! The few file operations the log needs, as a trait, so that tests can lose every byte that was not synced.

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::error::{Doing, LogError};

/// How long a writer waits for the others.
// Shorter than an agent's patience with its hook, so that a refusal can still be given.
const PATIENCE: Duration = Duration::from_secs(5);
/// No crowd makes anybody wait for longer than this.
// A record is written in a few milliseconds, and each writer waits for those before it only.
const USUAL: Duration = Duration::from_millis(300);

/// Everybody passes the gate before waiting for the lock, and only one waits behind it: so a writer that comes back at
/// once cannot overtake those who wait.
const GATE: &str = "gate.lock";
/// How often the one behind the gate looks, at least.
// A sync takes hundreds of microseconds, so looking more often would only burn power.
const QUICK: Duration = Duration::from_micros(40);
/// How often the gate is tried before queueing: most waits are over sooner than a thread is made.
const TRIES: u32 = 4;

/// One directory with the files of a log.
pub trait Storage {
    /// An open file.
    type File: Blob;
    /// Holds the lock until dropped.
    type Guard<'a>
    where
        Self: 'a;

    /// Waits for the writers' lock; `WouldBlock` if it takes too long.
    fn lock(&self) -> io::Result<Self::Guard<'_>>;
    /// Opens a file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Self::File>;
    /// Opens a file for reading.
    fn view(&self, name: &str) -> io::Result<Self::File>;
    /// Creates a file that must not exist.
    fn create(&self, name: &str) -> io::Result<Self::File>;
    /// Renames a file, replacing what has that name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync(&self) -> io::Result<()>;
    /// The names in the directory, in any order.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Where it is, for messages.
    fn place(&self) -> PathBuf;
}

/// The bytes of one file.
pub trait Blob {
    /// Length in bytes.
    fn size(&self) -> io::Result<u64>;
    /// Reads some bytes; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some of the bytes.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Makes room: zeros from `from` to `size`, so that writing there changes no length.
    fn reserve(&self, from: u64, size: u64) -> io::Result<()>;
    /// Cuts the file off.
    fn truncate(&self, size: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync(&self) -> io::Result<()>;
}

/// Writes all bytes or fails.
pub(crate) fn write_all<B: Blob>(file: &B, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = bytes.get(count..).unwrap_or_default();
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
pub(crate) fn read_from<B: Blob>(file: &B, offset: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; count];
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(buffer)
}

/// Reads the first `size` bytes of a file.
pub(crate) fn read_all<B: Blob>(file: &B, size: u64) -> io::Result<Vec<u8>> {
    let count = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    read_from(file, 0, count)
}

/// A real directory, held open. Its own descriptor carries the lock, so there is no lock file to delete,
/// and the lock of a process that died is gone with it.
#[derive(Debug)]
pub struct Disk {
    dir: OwnedFd,
    path: PathBuf,
}

impl Disk {
    /// Opens a directory that belongs to the user and that nobody else can write.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match fs::open(path, flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => {
                return Err(LogError::Missing { dir: path.to_owned() });
            }
            Err(error) => return Err(io::Error::from(error)).doing("open the log directory"),
        };
        let stat = fs::fstat(&dir).map_err(io::Error::from).doing("check the log directory")?;
        let refuse = |why| Err(LogError::Unsafe { dir: path.to_owned(), why });
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user");
        }
        // Others may read the log's directory, but whoever can write there can replace the log as a whole.
        if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            return refuse("others can write to it");
        }
        Ok(Self { dir, path: path.to_owned() })
    }

    /// Makes the directory, readable by the user alone, where it is missing.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        match std::fs::create_dir(path) {
            Ok(()) => {
                let private = std::fs::Permissions::from_mode(0o700);
                std::fs::set_permissions(path, private).doing("make the log directory private")?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).doing("create the log directory"),
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))
            .and_then(|parent| parent.sync_all())
            .doing("make the log directory durable")?;
        Self::open(path)
    }

    fn at(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // Not blocking, so that a pipe under a segment's name is refused instead of waited for.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(File::from(fs::openat(&self.dir, name, flags, mode)?))
    }
}

/// When a wait began; the clock is not asked if there is none.
#[derive(Debug, Default)]
struct Started(Cell<Option<Instant>>);

impl Started {
    /// What is left of the patience.
    fn left(&self) -> Duration {
        let started = self.0.get().unwrap_or_else(Instant::now);
        self.0.set(Some(started));
        PATIENCE.saturating_sub(started.elapsed())
    }
}

/// Whether the lock was free.
fn try_lock(file: impl AsFd) -> io::Result<bool> {
    match fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Waits for a lock that at most one waits for, asking less and less often. A blocking wait could not be given up, and a
/// stopped process would hold up every other one for good.
fn poll(file: impl AsFd, started: &Started) -> io::Result<()> {
    let (mut pause, mut is_told) = (Duration::from_micros(20), false);
    while !try_lock(&file)? {
        let left = started.left();
        if left.is_zero() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if !is_told && PATIENCE.saturating_sub(left) > USUAL {
            is_told = true;
            crate::waiting::waits();
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(QUICK);
    }
    Ok(())
}

/// Waits for a lock that many wait for. The kernel serves them in the order they came and wakes one at a time; asking
/// again and again would be a lottery that keeps every processor busy. The wait is another thread's, so that it can be
/// given up: a thread that is left behind lets go of the lock as soon as it has it.
fn queue(file: File, started: &Started) -> io::Result<Arc<File>> {
    let file = Arc::new(file);
    for _ in 0..TRIES {
        if try_lock(&*file)? {
            return Ok(file);
        }
        std::thread::sleep(QUICK);
    }
    let (answer, waiting) = mpsc::channel();
    let waited_for = Arc::clone(&file);
    std::thread::Builder::new().spawn(move || {
        let locked = loop {
            match fs::flock(&*waited_for, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                other => break other,
            }
        };
        // Nobody listens any more if the wait was given up.
        let _ = answer.send(locked);
    })?;
    let soon = waiting.recv_timeout(USUAL.min(started.left())).or_else(|_| {
        crate::waiting::waits();
        waiting.recv_timeout(started.left())
    });
    match soon {
        Ok(locked) => locked.map(|()| file).map_err(io::Error::from),
        Err(_) => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// The writers' lock on a directory.
#[derive(Debug)]
pub struct DiskGuard<'a>(&'a OwnedFd);

impl Drop for DiskGuard<'_> {
    fn drop(&mut self) {
        // Closing the descriptor would release the lock too; there is nothing to do about an error.
        let _released = fs::flock(self.0, FlockOperation::Unlock);
    }
}

impl Storage for Disk {
    type File = File;
    type Guard<'a> = DiskGuard<'a>;

    fn lock(&self) -> io::Result<DiskGuard<'_>> {
        let started = Started::default();
        // Without a gate the lock is only less fair, so a disk that cannot be written can still be read.
        let gate = self.at(GATE, OFlags::RDWR | OFlags::CREATE).ok();
        let _gate = gate.map(|gate| queue(gate, &started)).transpose()?;
        poll(&self.dir, &started)?;
        Ok(DiskGuard(&self.dir))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::RDWR)
    }

    fn view(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::RDONLY)
    }

    fn create(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(fs::renameat(&self.dir, from, &self.dir, to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&self.dir, name, AtFlags::empty())?)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.dir)?)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.dir)? {
            names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    fn place(&self) -> PathBuf {
        self.path.clone()
    }
}

impl Blob for File {
    fn size(&self) -> io::Result<u64> {
        let stat = fs::fstat(self)?;
        if fs::FileType::from_raw_mode(stat.st_mode) != fs::FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        u64::try_from(stat.st_size).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn reserve(&self, from: u64, size: u64) -> io::Result<()> {
        let length = size.saturating_sub(from);
        Ok(fs::fallocate(self, fs::FallocateFlags::empty(), from, length)?)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
