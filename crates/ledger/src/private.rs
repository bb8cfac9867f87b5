//! Small files that only the user may read and write: opened without following links, replaced as a whole.

use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// No such file is ever longer.
const LONGEST: u64 = 4 << 20;

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
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => {
            return Err(FileError::Missing { path: path.to_owned() });
        }
        Err(Errno::LOOP) => return Err(unsafe_file(path, "it is a link")),
        Err(error) => return Err(refused("open", path)(error)),
    };
    let stat = fs::fstat(&file).map_err(refused("look at", path))?;
    if fs::FileType::from_raw_mode(stat.st_mode) != fs::FileType::RegularFile {
        return Err(unsafe_file(path, "it is not a regular file"));
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(unsafe_file(path, "it belongs to another user"));
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        return Err(unsafe_file(path, "others can read or write it"));
    }
    let mut bytes = Vec::new();
    let read = File::from(file).take(LONGEST + 1).read_to_end(&mut bytes);
    let count = read.map_err(refused("read", path))?;
    if count as u64 > LONGEST {
        return Err(damaged(path, "it is too long"));
    }
    Ok(bytes)
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

fn scratch_name(path: &Path) -> Result<PathBuf, FileError> {
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce).map_err(refused("draw random bytes for", path))?;
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

fn sync_parent(path: &Path) -> Result<(), FileError> {
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
