//! Whether someone is watching for waiting calls: `doorward review` holds a lock as long as it is open.
//!
//! The lock is released with its process, however that ends. Anyone else who takes it only makes calls wait.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::machine::paths::Dirs;

/// Held while `review` is open.
#[derive(Debug)]
pub(crate) struct Presence(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] File);

fn path(dirs: &Dirs) -> PathBuf {
    dirs.state().join("review.lock")
}

fn open(dirs: &Dirs) -> Option<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags.bits() as i32);
    options.open(path(dirs)).ok()
}

/// Marks `review` as open until the value is dropped. Several may be open at once.
pub(crate) fn announce(dirs: &Dirs) -> Option<Presence> {
    let file = open(dirs)?;
    flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
    Some(Presence(file))
}

/// Whether `review` is open right now.
pub(crate) fn is_there(dirs: &Dirs) -> bool {
    // Without the file it was never opened.
    path(dirs).exists()
        && open(dirs).is_some_and(|file| {
            // Trying for the exclusive lock tells that someone holds the shared one. It is released with `file`.
            matches!(flock(&file, FlockOperation::NonBlockingLockExclusive), Err(rustix::io::Errno::WOULDBLOCK))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_there_as_long_as_they_look() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        std::fs::create_dir_all(dirs.state()).unwrap();
        assert!(!is_there(&dirs));
        let (one, other) = (announce(&dirs).unwrap(), announce(&dirs).unwrap());
        assert!(is_there(&dirs));
        drop(one);
        assert!(is_there(&dirs));
        drop(other);
        assert!(!is_there(&dirs));
    }
}
