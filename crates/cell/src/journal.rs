//! The journal of one commit: once it is durable the commit will be finished, whatever happens.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::codec::{Reader, Writer};
use crate::stamp::Stamp;

pub(crate) const JOURNAL: &str = "journal";

/// One step. Each can be done twice: the second time finds that it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Removes this very entry.
    Remove {
        root: usize,
        path: PathBuf,
        entry: Stamp,
    },
    MakeDirectory {
        root: usize,
        path: PathBuf,
    },
    /// Moves what is staged under that number into place.
    Place {
        root: usize,
        staged: u64,
        path: PathBuf,
    },
    /// Gives a directory its mode, attributes and time, after everything in it is done.
    Finish {
        root: usize,
        path: PathBuf,
        mode: u32,
        modified: Option<(i64, i64)>,
        attributes: Vec<(OsString, Vec<u8>)>,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Journal {
    /// Path, device and inode of each root.
    pub(crate) roots: Vec<(PathBuf, u64, u64)>,
    pub(crate) steps: Vec<Step>,
}

impl Journal {
    pub(crate) fn save(&self, directory: &Path) -> std::io::Result<()> {
        let mut to = Writer::default();
        to.number(self.roots.len() as u64);
        for (path, dev, ino) in &self.roots {
            to.path(path);
            to.number(*dev);
            to.number(*ino);
        }
        for step in &self.steps {
            write(&mut to, step);
        }
        to.save(directory, JOURNAL)
    }

    /// `Ok(None)` if there is none.
    pub(crate) fn load(directory: &Path) -> std::io::Result<Option<Journal>> {
        let bytes = match std::fs::read(directory.join(JOURNAL)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // It was renamed into place after it was synced, so it is whole, unless the disk is broken.
        read(&bytes).map(Some).ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidData))
    }
}

fn write(to: &mut Writer, step: &Step) {
    let mut head = |tag: u64, root: usize, path: &Path| {
        to.number(tag);
        to.number(root as u64);
        to.path(path);
    };
    match step {
        Step::Remove { root, path, entry } => {
            head(0, *root, path);
            to.stamp(Some(entry));
        }
        Step::MakeDirectory { root, path } => head(1, *root, path),
        Step::Place { root, staged, path } => {
            head(2, *root, path);
            to.number(*staged);
        }
        Step::Finish { root, path, mode, modified, attributes } => {
            head(3, *root, path);
            to.number(u64::from(*mode));
            to.number(u64::from(modified.is_some()));
            to.time(modified.unwrap_or_default());
            to.number(attributes.len() as u64);
            for (name, value) in attributes {
                to.bytes(name.as_bytes());
                to.bytes(value);
            }
        }
    }
}

fn read(bytes: &[u8]) -> Option<Journal> {
    let mut from = Reader::checked(bytes)?;
    let mut journal = Journal::default();
    for _ in 0..from.number()? {
        journal.roots.push((from.path()?, from.number()?, from.number()?));
    }
    while !from.is_empty() {
        journal.steps.push(read_step(&mut from)?);
    }
    Some(journal)
}

fn read_step(from: &mut Reader<'_>) -> Option<Step> {
    let (tag, root, path) = (from.number()?, usize::try_from(from.number()?).ok()?, from.path()?);
    Some(match tag {
        0 => Step::Remove { root, path, entry: from.stamp()?? },
        1 => Step::MakeDirectory { root, path },
        2 => Step::Place { root, staged: from.number()?, path },
        3 => {
            let mode = u32::try_from(from.number()?).ok()?;
            let timed = from.number()? != 0;
            let modified = from.time()?;
            let mut attributes = Vec::new();
            for _ in 0..from.number()? {
                let name = OsString::from_vec(from.bytes()?.to_vec());
                attributes.push((name, from.bytes()?.to_vec()));
            }
            Step::Finish { root, path, mode, modified: timed.then_some(modified), attributes }
        }
        _ => return None,
    })
}
