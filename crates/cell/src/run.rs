//! A run that has ended: its outcome, its deeds, and what becomes of them.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::codec::{Reader, Writer};
use crate::deeds::Deeds;
use crate::layers::{Change, Found, Place};
use crate::limits::Spoiled;
use crate::missing::Missing;
use crate::plan::PlanError;
use crate::report::Usage;
use crate::tree;

/// A tree under an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// Of the root itself, for the case that a commit is taken back.
    pub(crate) modified: (i64, i64),
    pub(crate) upper: PathBuf,
}

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("no box on this machine: {0}")]
    Missing(#[from] Missing),
    #[error("the box ended in an unknown way")]
    Lost,
    #[error("can't keep the run: {0}")]
    State(#[from] std::io::Error),
}

impl From<Errno> for RunError {
    fn from(errno: Errno) -> RunError {
        RunError::State(errno.into())
    }
}

/// A run that has ended. Dropping it leaves its layers on the disk: `discard` it, `commit` it or `hold` it.
#[derive(Debug)]
pub struct Run {
    pub(crate) directory: PathBuf,
    pub(crate) roots: Vec<Root>,
    pub(crate) since: (i64, i64),
    pub(crate) status: i32,
    pub(crate) spoiled: Option<Spoiled>,
    pub(crate) usage: Usage,
    /// Says that somebody still works on it; `recover` passes it over.
    pub(crate) _lock: std::fs::File,
}

pub(crate) const MANIFEST: &str = "manifest";
pub(crate) const HELD: &str = "held";

impl Run {
    /// The exit status; 128 and the number of the signal if one ended it.
    #[must_use]
    pub fn status(&self) -> i32 {
        self.status
    }

    /// The limit that ended it; such a run is never committed.
    #[must_use]
    pub fn spoiled(&self) -> Option<Spoiled> {
        self.spoiled
    }

    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The name under which `Cell::held` finds it.
    #[must_use]
    pub fn id(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What it did. Call it soon: every change below from then on is noticed at the commit.
    ///
    /// # Errors
    /// If a layer can't be read.
    pub fn deeds(&self) -> std::io::Result<Deeds> {
        Ok(Deeds::new(self.roots.clone(), Found::in_layers(&self.roots, self.since)?))
    }

    /// Keeps run and deeds, with digests, for a later commit by another process.
    ///
    /// # Errors
    /// If they can't be written.
    pub fn hold(self, deeds: &mut Deeds) -> std::io::Result<String> {
        deeds.seal();
        let mut to = Writer::default();
        to.number(self.status as u64);
        write_roots(&mut to, &self.roots);
        to.time(self.since);
        to.number(deeds.found.changes.len() as u64);
        for change in &deeds.found.changes {
            write_change(&mut to, change);
        }
        for places in [&deeds.found.meanwhile, &deeds.found.odd] {
            to.number(places.len() as u64);
            for (root, path) in places {
                to.number(*root as u64);
                to.path(path);
            }
        }
        to.save(&self.directory, HELD)?;
        Ok(self.id())
    }

    pub(crate) fn held(directory: PathBuf, lock: std::fs::File) -> Option<(Run, Deeds)> {
        let bytes = std::fs::read(directory.join(HELD)).ok()?;
        let mut from = Reader::checked(&bytes)?;
        let status = from.number()? as i32;
        let roots = read_roots(&mut from, &directory)?;
        let since = from.time()?;
        let mut found = Found::default();
        for _ in 0..from.number()? {
            found.changes.push(read_change(&mut from)?);
        }
        for places in [&mut found.meanwhile, &mut found.odd] {
            for _ in 0..from.number()? {
                let place: Place = (usize::try_from(from.number()?).ok()?, from.path()?);
                places.push(place);
            }
        }
        let deeds = Deeds::new(roots.clone(), found);
        let run = Run { directory, roots, since, status, spoiled: None, usage: Usage::default(), _lock: lock };
        from.is_empty().then_some((run, deeds))
    }

    /// Throws away what it did; nothing of it was ever in place.
    ///
    /// # Errors
    /// If the layers can't be removed.
    pub fn discard(self) -> std::io::Result<()> {
        Ok(tree::remove(&self.directory)?)
    }
}

pub(crate) fn write_manifest(directory: &Path, roots: &[Root]) -> std::io::Result<()> {
    let mut to = Writer::default();
    write_roots(&mut to, roots);
    to.save(directory, MANIFEST)
}

pub(crate) fn read_manifest(directory: &Path) -> Option<Vec<Root>> {
    let bytes = std::fs::read(directory.join(MANIFEST)).ok()?;
    read_roots(&mut Reader::checked(&bytes)?, directory)
}

fn write_roots(to: &mut Writer, roots: &[Root]) {
    to.number(roots.len() as u64);
    for root in roots {
        to.path(&root.path);
        to.number(root.dev);
        to.number(root.ino);
        to.time(root.modified);
    }
}

fn read_roots(from: &mut Reader<'_>, directory: &Path) -> Option<Vec<Root>> {
    let count = usize::try_from(from.number()?).ok()?;
    let mut roots = Vec::new();
    for index in 0..count {
        let upper = upper(directory, index);
        roots.push(Root {
            path: from.path()?,
            dev: from.number()?,
            ino: from.number()?,
            modified: from.time()?,
            upper,
        });
    }
    Some(roots)
}

pub(crate) fn upper(directory: &Path, index: usize) -> PathBuf {
    directory.join(format!("upper-{index}"))
}

fn write_change(to: &mut Writer, change: &Change) {
    to.number(change.root as u64);
    to.path(&change.path);
    to.stamp(change.before.as_ref());
    to.stamp(change.after.as_ref());
    to.number(u64::from(change.opaque));
    to.number(u64::from(change.attributes_differ));
    to.digest(change.before_digest.as_ref());
    to.digest(change.after_digest.as_ref());
}

fn read_change(from: &mut Reader<'_>) -> Option<Change> {
    Some(Change {
        root: usize::try_from(from.number()?).ok()?,
        path: from.path()?,
        before: from.stamp()?,
        after: from.stamp()?,
        opaque: from.number()? != 0,
        attributes_differ: from.number()? != 0,
        before_digest: from.digest()?,
        after_digest: from.digest()?,
    })
}
