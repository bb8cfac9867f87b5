//! After a crash: finishes what had begun, takes back what had not, removes what nobody keeps.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::apply::{Fuse, apply};
use crate::cell::unattended;
use crate::commit::remove_stage;
use crate::journal::Journal;
use crate::run::{HELD, Root, read_manifest};
use crate::tree;

/// What was found and done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Commits that were finished.
    pub finished: Vec<PathBuf>,
    /// Runs that left something staged, or were left lying; a held one is still held.
    pub taken_back: Vec<PathBuf>,
    /// Commits that can't be finished yet, and why.
    pub stuck: Vec<(PathBuf, String)>,
}

/// Looks through the directory of a cell. Runs that somebody is at are passed over.
///
/// # Errors
/// If the directory can't be read.
pub fn recover(state: &Path) -> std::io::Result<Recovered> {
    recover_with(state, &mut Fuse::default())
}

pub(crate) fn recover_with(state: &Path, fuse: &mut Fuse) -> std::io::Result<Recovered> {
    let mut recovered = Recovered::default();
    let entries = match std::fs::read_dir(state) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(recovered),
        entries => entries?,
    };
    let state = state.canonicalize()?;
    for entry in entries {
        let directory = state.join(entry?.file_name());
        let Some(lock) = unattended(&directory) else { continue };
        one(directory, fuse, &mut recovered);
        drop(lock);
    }
    Ok(recovered)
}

fn one(directory: PathBuf, fuse: &mut Fuse, recovered: &mut Recovered) {
    match Journal::load(&directory) {
        Err(error) => recovered.stuck.push((directory, error.to_string())),
        Ok(Some(journal)) => match apply(&directory, &journal, fuse) {
            Ok(()) => {
                let _ = tree::remove(&directory);
                recovered.finished.push(directory);
            }
            Err(stuck) => {
                let why = format!("`{}`: {}", stuck.path.display(), stuck.errno);
                recovered.stuck.push((directory, why));
            }
        },
        Ok(None) => {
            let roots = read_manifest(&directory).unwrap_or_default();
            take_back(&directory, &roots, fuse);
            if !directory.join(HELD).exists() && fuse.burn().is_ok() {
                let _ = tree::remove(&directory);
            }
            recovered.taken_back.push(directory);
        }
    }
}

fn take_back(directory: &Path, roots: &[Root], fuse: &mut Fuse) {
    for known in roots {
        if let Ok(root) = tree::open_root(&known.path)
            && fuse.burn().is_ok()
        {
            remove_stage(root.as_fd(), directory, known.modified);
        }
    }
}
