//! Serializes alert checks: one process checks, at most one more waits for its turn.

pub(crate) use crate::hook::notifier::Occasion;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::fs::FlockOperation;

use crate::machine::paths::Dirs;

/// How long a process waits for its turn; the next check would find the same anyway.
const PATIENCE: Duration = Duration::from_secs(120);

const LOOK: Duration = Duration::from_millis(50);

/// Held by one process at a time.
#[derive(Debug)]
pub(super) struct NotifierLock(#[allow(dead_code, reason = "the lock goes with the file")] File);

impl NotifierLock {
    /// Waits for the turn; `None` if another process is already waiting, which will see everything this one would.
    pub(super) fn take(dirs: &Dirs, occasion: Occasion) -> Result<Option<NotifierLock>> {
        let end = Instant::now() + PATIENCE;
        let next = file(dirs, "look.next")?;
        // The waiting process may not verify the record.
        let patience = if occasion == Occasion::Ended { end } else { Instant::now() };
        if !locked(&next, patience) {
            return Ok(None);
        }
        let at_work = file(dirs, "look.lock")?;
        Ok(locked(&at_work, end).then_some(NotifierLock(at_work)))
    }
}

fn file(dirs: &Dirs, name: &str) -> std::io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(dirs.state().join(name))
}

fn locked(file: &File, end: Instant) -> bool {
    loop {
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(LOOK);
    }
}
