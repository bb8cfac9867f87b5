//! Makes entries durable before an answer is given: this crate's side of the ledger.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use doorward_ledger::{Body, Checkpoint, CheckpointKey, Keep, Kind, Log, LogError, Receipt};

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;

/// Alerts are checked at least every this many decisions; a decision is one or more entries.
// Starting a process costs milliseconds; alerts are also checked whenever one is recorded and when a session ends.
pub(crate) const LOOK_EVERY: u64 = 50;

/// This process recorded an alert, or the last of that many entries.
static IS_LOOK_DUE: AtomicBool = AtomicBool::new(false);

/// Whether alerts should be checked, because of what this process recorded since the last time.
pub(crate) fn is_look_due() -> bool {
    IS_LOOK_DUE.swap(false, Ordering::Relaxed)
}

/// One entry, ready to be recorded.
#[derive(Debug)]
pub(crate) struct LogEntry {
    kind: Kind,
    keep: Keep,
    json: Vec<u8>,
}

impl LogEntry {
    pub(crate) fn new<B: Body>(body: &B) -> Result<LogEntry> {
        let json = serde_json::to_vec(body).context("can't serialize the record")?;
        Ok(LogEntry { kind: B::KIND, keep: body.keep(), json })
    }
}

/// Anything that keeps the record.
pub(crate) trait Recorder {
    /// Records one entry and returns once it is durable.
    fn append(&mut self, entry: LogEntry) -> Result<Receipt>;
}

/// The user's ledger.
#[derive(Debug)]
pub(crate) struct Ledger {
    directory: PathBuf,
    /// A missing ledger may be started.
    may_begin: bool,
}

impl Ledger {
    /// The ledger of a user. If there is a configuration there was a ledger, and a missing one is not silently started over.
    pub(crate) fn open(dirs: &Dirs) -> Ledger {
        Ledger { directory: directory(dirs), may_begin: !dirs.config_file().exists() }
    }

    /// Signs the current ledger.
    pub(crate) fn sign(&self, dirs: &Dirs) -> Result<()> {
        let mut log = self.open_log()?;
        checkpoint(dirs, &mut log, now_ms()).map(|_kept| ())
    }

    fn open_log(&self) -> Result<Log, LogError> {
        match Log::open(&self.directory) {
            Err(LogError::Missing { .. }) if self.may_begin => begin_in(&self.directory),
            opened => opened,
        }
    }
}

impl Recorder for Ledger {
    fn append(&mut self, entry: LogEntry) -> Result<Receipt> {
        let mut log = self.open_log().context("`doorward setup` starts a log if there is none")?;
        let kind = entry.kind;
        let receipt = log.append_json(kind, entry.keep, entry.json, now_ms())?;
        // By sequence and not by a counter of ours: every hook is a new process.
        if kind == Kind::Alert || receipt.sequence.is_multiple_of(LOOK_EVERY) {
            IS_LOOK_DUE.store(true, Ordering::Relaxed);
        }
        Ok(receipt)
    }
}

/// Starts the ledger of a user, unless there is one.
pub(crate) fn begin(dirs: &Dirs) -> Result<()> {
    begin_in(&directory(dirs)).map(|_log| ()).context("can't start the log")
}

/// The directory of a user's ledger.
pub(crate) fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("log")
}

/// The path of the ledger's index.
pub(crate) fn index_file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("index.sqlite")
}

/// The directory of the ledger's checkpoints.
pub(crate) fn checkpoints(dirs: &Dirs) -> PathBuf {
    dirs.state().join("checkpoints")
}

/// The key that signs them.
pub(crate) fn checkpoint_key(dirs: &Dirs) -> PathBuf {
    dirs.state().join("checkpoint.key")
}

/// Signs the current ledger and saves the checkpoint next to it.
pub(crate) fn checkpoint(dirs: &Dirs, log: &mut Log, now_ms: u64) -> Result<(Checkpoint, PathBuf)> {
    let directory = checkpoints(dirs);
    DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
    let key = CheckpointKey::load_or_create(&checkpoint_key(dirs))?;
    let checkpoint = log.checkpoint(&key, now_ms)?;
    let path = checkpoint.save(&directory)?;
    Ok((checkpoint, path))
}

fn begin_in(directory: &Path) -> Result<Log, LogError> {
    if let Some(parent) = directory.parent() {
        // Problems with the parent show up when the log is created in it.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(parent);
    }
    Log::create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_ledger::{SessionBody, SessionStep};

    fn entry() -> LogEntry {
        LogEntry::new(&SessionBody { session: "s".into(), agent: None, step: SessionStep::Began }).unwrap()
    }

    #[test]
    fn a_ledger_is_begun_where_nothing_was_set_up_and_never_again() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        assert_eq!(Ledger::open(&dirs).append(entry()).unwrap().sequence, 1);
        assert_eq!(Ledger::open(&dirs).append(entry()).unwrap().sequence, 2);
        std::fs::create_dir_all(dirs.config_file().parent().unwrap()).unwrap();
        std::fs::write(dirs.config_file(), "").unwrap();
        assert_eq!(Ledger::open(&dirs).append(entry()).unwrap().sequence, 3);
        std::fs::remove_dir_all(directory(&dirs)).unwrap();
        assert!(Ledger::open(&dirs).append(entry()).is_err());
        begin(&dirs).unwrap();
        assert_eq!(Ledger::open(&dirs).append(entry()).unwrap().sequence, 1);
    }
}
