//! Whether someone is watching for waiting calls: `doorward review` holds a lock as long as it is open.
//!
//! The lock is released with its process, however that ends. Anyone else who takes it only makes calls wait.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::machine::paths::Places;

/// Held while `review` is open.
#[derive(Debug)]
pub(crate) struct Presence(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] File);

fn path(places: &Places) -> PathBuf {
    places.state().join("review.lock")
}

fn open(places: &Places) -> Option<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags.bits() as i32);
    options.open(path(places)).ok()
}

/// Marks `review` as open until the value is dropped. Several may be open at once.
pub(crate) fn announce(places: &Places) -> Option<Presence> {
    let file = open(places)?;
    flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
    Some(Presence(file))
}

/// Whether `review` is open right now.
pub(crate) fn is_there(places: &Places) -> bool {
    // Without the file it was never opened.
    path(places).exists()
        && open(places).is_some_and(|file| {
            matches!(flock(&file, FlockOperation::NonBlockingLockExclusive), Err(rustix::io::Errno::WOULDBLOCK))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_there_as_long_as_they_look() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::at(home.path().to_str().unwrap());
        std::fs::create_dir_all(places.state()).unwrap();
        assert!(!is_there(&places));
        let (one, other) = (announce(&places).unwrap(), announce(&places).unwrap());
        assert!(is_there(&places));
        drop(one);
        assert!(is_there(&places));
        drop(other);
        assert!(!is_there(&places));
    }
}
