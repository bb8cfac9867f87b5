//! Small files that only the user may read and write: opened without following links, replaced as a whole.

use rustix::fs::{self, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No such file is ever longer.
// Grants, sessions and keys are kilobytes. A longer file is not read into memory before it is checked.
pub(crate) const LONGEST: u64 = 4 << 20;
/// A lock is held for microseconds; whoever holds it for two seconds has stopped.
const PAUSE: Duration = Duration::from_micros(100);
// Two seconds in all: longer than any write, shorter than an agent's patience with a hook.
const TRIES: u32 = 20_000;
/// Tries after which the wait is an unusual one.
// After 0.2 s something is unusual, and whoever waits at a terminal should know why.
const TOLD_AFTER: u32 = 2_000;

/// Why a private file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It does not exist.
    #[error("there is no `{}`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Others could read or change it.
    #[error("`{}` is not safe: {why}", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Its content is not what was written.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The operating system refused.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

pub(crate) fn damaged(path: &Path, why: &'static str) -> FileError {
    FileError::Damaged { path: path.to_owned(), why }
}

fn refused<E: Into<io::Error>>(doing: &'static str, path: &Path) -> impl FnOnce(E) -> FileError {
    move |source| FileError::Io { doing, path: path.to_owned(), source: source.into() }
}

/// Reads a file that belongs to the user and is closed to everybody else.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let file = open(path, OFlags::RDONLY)?;
    let size = check(path, &fs::fstat(&file).map_err(refused("look at", path))?)?;
    read_whole(path, &file, size)
}

fn open(path: &Path, access: OFlags) -> Result<File, FileError> {
    let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::NOENT) => Err(FileError::Missing { path: path.to_owned() }),
        Err(Errno::LOOP) => Err(unsafe_file(path, "it is a link")),
        Err(Errno::ISDIR) => Err(unsafe_file(path, "it is not a regular file")),
        Err(error) => Err(refused("open", path)(error)),
    }
}

/// Its length, if it is the user's alone.
fn check(path: &Path, stat: &fs::Stat) -> Result<usize, FileError> {
    if fs::FileType::from_raw_mode(stat.st_mode) != fs::FileType::RegularFile {
        return Err(unsafe_file(path, "it is not a regular file"));
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(unsafe_file(path, "it belongs to another user"));
    }
    // Stricter than for the log: keys and grants must not be readable by others either.
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        return Err(unsafe_file(path, "others can read or write it"));
    }
    match u64::try_from(stat.st_size) {
        Ok(size) if size <= LONGEST => usize::try_from(size).map_err(|_| damaged(path, "it is too long")),
        Ok(_) | Err(_) => Err(damaged(path, "it is too long")),
    }
}

fn read_whole(path: &Path, file: &File, size: usize) -> Result<Vec<u8>, FileError> {
    crate::storage::read_from(file, 0, size).map_err(refused("read", path))
}

/// A private file that is open and locked, to be read as a whole or changed in place.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    path: &'a Path,
    file: File,
    size: usize,
}

impl<'a> Hold<'a> {
    /// Nobody changes it meanwhile.
    pub(crate) fn shared(path: &'a Path) -> Result<Self, FileError> {
        Self::lock(path, OFlags::RDONLY, FlockOperation::NonBlockingLockShared)
    }

    /// Nobody else reads or changes it meanwhile.
    pub(crate) fn exclusive(path: &'a Path) -> Result<Self, FileError> {
        Self::lock(path, OFlags::RDWR, FlockOperation::NonBlockingLockExclusive)
    }

    fn lock(path: &'a Path, access: OFlags, lock: FlockOperation) -> Result<Self, FileError> {
        for tried in 0..TRIES {
            if tried == TOLD_AFTER {
                crate::waiting::waits();
            }
            let file = open(path, access)?;
            match fs::flock(&file, lock) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(error) => return Err(refused("lock", path)(error)),
            }
            let stat = fs::fstat(&file).map_err(refused("look at", path))?;
            let size = check(path, &stat)?;
            // Another file may have taken the name before the lock was had.
            if stat.st_nlink > 0 {
                return Ok(Self { path, file, size });
            }
        }
        Err(refused("lock", path)(io::Error::from(io::ErrorKind::WouldBlock)))
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, FileError> {
        read_whole(self.path, &self.file, self.size)
    }

    /// Changes it in place; what a crash leaves half done is found by its code.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        crate::storage::write_all(&self.file, bytes, 0).map_err(refused("write", self.path))?;
        if bytes.len() < self.size {
            self.file.set_len(bytes.len() as u64).map_err(refused("write", self.path))?;
        }
        Ok(())
    }
}

fn unsafe_file(path: &Path, why: &'static str) -> FileError {
    FileError::Unsafe { path: path.to_owned(), why }
}

/// What to do with a file that already has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Replace,
    Leave,
}

/// How much a write promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// It survives a power cut.
    Durable,
    /// It is whole or absent; it can be made again.
    Whole,
}

/// Makes the directory of a file, for the user alone, where nothing was set up yet.
pub(crate) fn make_room(path: &Path) -> Result<(), FileError> {
    let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) else { return Ok(()) };
    if directory.exists() {
        return Ok(());
    }
    make_room(directory)?;
    match DirBuilder::new().mode(0o700).create(directory) {
        // Somebody else was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(refused("make", directory)(error)),
        Ok(()) => sync_parent(directory),
    }
}

/// Writes a whole file or nothing, readable by the user alone.
pub(crate) fn write(path: &Path, bytes: &[u8], existing: Existing, promise: Promise) -> Result<(), FileError> {
    let scratch = scratch_name(path)?;
    let result = write_scratch(&scratch, bytes, promise).and_then(|()| put(&scratch, path, existing));
    if result.is_err() || existing == Existing::Leave {
        // Only a leftover under a name nobody reads.
        let _removed = std::fs::remove_file(&scratch);
    }
    result?;
    match promise {
        Promise::Durable => sync_parent(path),
        Promise::Whole => Ok(()),
    }
}

pub(crate) fn scratch_name(path: &Path) -> Result<PathBuf, FileError> {
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce).map_err(refused("get random bytes for", path))?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", crate::hash::hex(&nonce)));
    Ok(PathBuf::from(name))
}

fn write_scratch(path: &Path, bytes: &[u8], promise: Promise) -> Result<(), FileError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(refused("make", path))?;
    let mut file = File::from(file);
    file.write_all(bytes).map_err(refused("write", path))?;
    match promise {
        Promise::Durable => file.sync_all().map_err(refused("make durable", path)),
        Promise::Whole => Ok(()),
    }
}

fn put(scratch: &Path, path: &Path, existing: Existing) -> Result<(), FileError> {
    match existing {
        Existing::Replace => std::fs::rename(scratch, path).map_err(refused("name", path)),
        Existing::Leave => match std::fs::hard_link(scratch, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(refused("name", path)(error)),
            Ok(()) | Err(_) => Ok(()),
        },
    }
}

pub(crate) fn sync_parent(path: &Path) -> Result<(), FileError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))
        .and_then(|parent| parent.sync_all())
        .map_err(refused("make durable", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_private_file_is_replaced_or_left_as_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for (text, existing, want) in
            [("a", Existing::Leave, "a"), ("b", Existing::Leave, "a"), ("c", Existing::Replace, "c")]
        {
            write(&path, text.as_bytes(), existing, Promise::Durable).unwrap();
            assert_eq!(read(&path).unwrap(), want.as_bytes());
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_missing_is_made_for_the_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/file");
        make_room(&path).unwrap();
        make_room(&path).unwrap();
        for made in ["a", "a/b"] {
            assert_eq!(dir.path().join(made).metadata().unwrap().permissions().mode() & 0o777, 0o700, "{made}");
        }
        std::fs::write(dir.path().join("in-the-way"), "").unwrap();
        assert!(make_room(&dir.path().join("in-the-way/b/file")).is_err());
    }

    #[test]
    fn a_file_others_can_read_a_link_and_a_directory_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let link = dir.path().join("link");
        write(&path, b"a", Existing::Leave, Promise::Whole).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let check = |path: &Path| assert!(matches!(read(path), Err(FileError::Unsafe { .. })));
        check(&link);
        check(dir.path());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        check(&path);
        let missing = read(&dir.path().join("nothing"));
        assert!(matches!(missing, Err(FileError::Missing { .. })));
    }
}
