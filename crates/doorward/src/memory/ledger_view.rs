//! The record, opened for reading: its log, its index and whether it is intact.

use std::io::Write;

use anyhow::{Context, Result};
use doorward_ledger::{Anchors, Checkpoint, CheckpointKey, FileError, Hash, Index, Log, LogError, Progress, Report};

use crate::machine::paths::Dirs;
use crate::machine::record;

/// A user's record, and where its parts are.
#[derive(Debug)]
pub(crate) struct LedgerView {
    pub dirs: Dirs,
    pub log: Log,
}

impl LedgerView {
    pub(crate) fn open(dirs: Dirs) -> Result<LedgerView> {
        let opened = Log::open(&record::directory(&dirs));
        let log = match opened {
            Err(error @ LogError::Missing { .. }) => {
                return Err(error).context("nothing has been recorded yet; run `doorward setup` to start the record");
            }
            opened => opened.context("can't open the record")?,
        };
        Ok(LedgerView { dirs, log })
    }

    /// The index, up to date.
    pub(crate) fn index(&self) -> Result<Index> {
        let mut index = Index::open(&record::index_file(&self.dirs))?;
        let fed = index.feed(&self.log)?;
        if fed.bad > 0 {
            // If standard error is gone, there is nowhere left to report to.
            let _ = writeln!(
                anstream::stderr(),
                "note: {} parts of the log can't be read; see `doorward audit verify`",
                fed.bad
            );
        }
        Ok(index)
    }
}

/// The result of a verification.
#[derive(Debug)]
pub(crate) struct Verified {
    pub report: Report,
    /// How many checkpoints it was compared with.
    pub checkpoints: usize,
}

/// Verifies a user's record against the checkpoints stored next to it.
pub(crate) fn verify(dirs: &Dirs) -> Result<Verified> {
    let view = LedgerView::open(dirs.clone())?;
    compare(&view, &stored_checkpoints(dirs)?, |_| {})
}

/// The checkpoints stored next to the record.
pub(crate) fn stored_checkpoints(dirs: &Dirs) -> Result<Vec<Checkpoint>> {
    Ok(Checkpoint::load_all(&record::checkpoints(dirs))?)
}

/// Compares the record with checkpoints.
pub(crate) fn compare(view: &LedgerView, kept: &[Checkpoint], progress: impl FnMut(Progress)) -> Result<Verified> {
    let anchors = Anchors { checkpoints: kept, key: own_key(&view.dirs)? };
    let report = view.log.verify(anchors, progress)?;
    Ok(Verified { report, checkpoints: kept.len() })
}

/// The key that signs here; none if there never was one.
fn own_key(dirs: &Dirs) -> Result<Option<Hash>> {
    match CheckpointKey::load(&record::checkpoint_key(dirs)) {
        Ok(key) => Ok(Some(key.fingerprint())),
        Err(FileError::Missing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
