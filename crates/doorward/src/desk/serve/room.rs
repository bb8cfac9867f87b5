//! What all requests share: whose desk it is, who signed in, what was asked to be signed.

use std::collections::hash_map::DefaultHasher;
use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use rustix::fs::{FlockOperation, flock};

use super::gate::Gate;
use super::store::{DeskStore, Device};
use super::tokens::{Nonces, Tokens, Visitor};
use super::views::Figures;
use crate::machine::paths::Dirs;
use crate::memory::ledger_view::LedgerView;

#[derive(Debug)]
pub(super) struct Room {
    pub dirs: Dirs,
    pub gate: Gate,
    pub tokens: Mutex<Tokens>,
    pub nonces: Mutex<Nonces>,
    /// Held while an answer is carried out: of two answers to one call, the second finds it answered.
    pub answering: Mutex<()>,
    pub figures: Figures,
    /// Held while the index takes in new entries, so that one request does the work of all.
    feeding: Mutex<()>,
}

/// One desk per user: two would each know only half of who signed in.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "the lock lasts as long as the file is open")] File);

impl Turn {
    pub(super) fn take(dirs: &Dirs) -> Result<Turn> {
        let file = Turn::open(dirs)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let store = DeskStore::open(dirs)?;
            let at = store.running().map_or_else(String::new, |running| format!(" at {}", running.origin));
            bail!("a desk is already running{at}; `doorward serve --link` opens it");
        }
        Ok(Turn(file))
    }

    /// Whether a desk is running.
    pub(super) fn is_held(dirs: &Dirs) -> bool {
        Turn::open(dirs).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_err())
    }

    fn open(dirs: &Dirs) -> Result<File> {
        let directory = dirs.state().join("desk");
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let flags = rustix::fs::OFlags::NOFOLLOW;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags.bits() as i32);
        Ok(options.open(directory.join("desk.lock"))?)
    }
}

/// A lock whose holder panicked is still a lock: what it guards is replaced whole, never half.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Room {
    pub(super) fn new(dirs: Dirs, origins: Vec<String>) -> Room {
        Room {
            dirs,
            gate: Gate::new(origins),
            tokens: Mutex::default(),
            nonces: Mutex::default(),
            answering: Mutex::default(),
            figures: Figures::default(),
            feeding: Mutex::default(),
        }
    }

    /// Who a token belongs to; a device that was revoked since is nobody.
    pub(super) fn visitor(&self, token: &str) -> Option<Visitor> {
        let visitor = locked(&self.tokens).find(token)?;
        let is_good = visitor.device.as_deref().is_none_or(|device| self.is_good(device));
        is_good.then_some(visitor)
    }

    pub(super) fn is_good(&self, device: &str) -> bool {
        self.store().is_ok_and(|store| store.good_device(device).is_some())
    }

    /// The device, if it may answer now.
    pub(super) fn device(&self, id: &str) -> Option<Device> {
        self.store().ok()?.good_device(id)
    }

    pub(super) fn store(&self) -> Result<DeskStore> {
        DeskStore::open(&self.dirs)
    }

    /// The record, with its index up to date.
    pub(super) fn record(&self) -> Result<(LedgerView, doorward_ledger::Index)> {
        let view = LedgerView::open(self.dirs.clone())?;
        let _feeding = locked(&self.feeding);
        let index = view.index()?;
        Ok((view, index))
    }

    /// Changes when the queue does. Names, sizes and times of its files suffice; none is opened.
    pub(super) fn queue_stamp(&self) -> u64 {
        let Ok(entries) = std::fs::read_dir(self.dirs.state().join("pending")) else { return 0 };
        let stamp = |entry: std::fs::DirEntry| {
            let found = entry.metadata().ok()?;
            let mut hasher = DefaultHasher::new();
            (entry.file_name(), found.len(), found.mtime(), found.mtime_nsec()).hash(&mut hasher);
            Some(hasher.finish())
        };
        // Added up, because the order of a directory says nothing.
        entries.flatten().filter_map(stamp).fold(1, u64::wrapping_add)
    }
}
