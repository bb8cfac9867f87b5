//! Puts the deeds of a run in place: checked, staged, journalled, then moved.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::apply::{Fuse, Stuck, apply, stage_name};
use crate::deeds::{Deed, Deeds};
use crate::journal::Journal;
use crate::limits::Spoiled;
use crate::run::{Run, write_manifest};
use crate::stage::Stage;
use crate::steps::Steps;
use crate::tree;
use crate::wanted::{Wanted, is_merged};

/// What the caller wants done with one deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    Commit,
    /// Stays in the box and goes with it: caches of tools.
    Leave,
    /// Nothing at all is committed.
    Refuse,
}

/// What was put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub placed: usize,
    pub removed: usize,
    pub left: usize,
}

/// Why nothing was committed; only after `Interrupted` is something in place, and `recover` does the rest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("somebody else changed {} since the run began", named(.0))]
    ChangedMeanwhile(Vec<PathBuf>),
    #[error("{} may not be changed", named(.0))]
    Protected(Vec<PathBuf>),
    /// Other names of the same file would keep the old content, where the command itself might have changed them too.
    #[error("{} has other names that may have to change with it", named(.0))]
    HardLinked(Vec<PathBuf>),
    #[error("{} would run with another's rights", named(.0))]
    Privileged(Vec<PathBuf>),
    #[error("{} is a socket or a device", named(.0))]
    Special(Vec<PathBuf>),
    #[error("{} can't be compared with what was there", named(.0))]
    Unsupported(Vec<PathBuf>),
    #[error("the run is not whole: {}", .0.sentence())]
    Spoiled(Spoiled),
    #[error("`{}`: {why}", path.display())]
    Failed { path: PathBuf, why: String },
    #[error("stopped at `{}` ({why}); it will be finished by the next recovery", path.display())]
    Interrupted { path: PathBuf, why: String },
}

fn named(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = paths.iter().take(SHOWN).map(|path| format!("`{}`", path.display())).collect();
    if paths.len() > SHOWN {
        names.push(format!("{} more", paths.len() - SHOWN));
    }
    names.join(", ")
}

impl Run {
    /// Puts in place what `treat` wants committed: all of it or, for any reason, nothing. The run is gone afterwards, unless
    /// it was refused.
    ///
    /// # Errors
    /// With the reason why nothing is in place, or why only recovery can finish it.
    pub fn commit(&self, deeds: &Deeds, treat: &dyn Fn(&Deed) -> Treatment) -> Result<Committed, Refused> {
        self.commit_with(deeds, treat, &mut Fuse::default())
    }

    pub(crate) fn commit_with(
        &self,
        deeds: &Deeds,
        treat: &dyn Fn(&Deed) -> Treatment,
        fuse: &mut Fuse,
    ) -> Result<Committed, Refused> {
        if let Some(spoiled) = self.spoiled {
            return Err(Refused::Spoiled(spoiled));
        }
        let wanted = Wanted::of(deeds, treat)?;
        wanted.check()?;
        let roots = wanted.open_roots()?;
        wanted.unchanged(&roots)?;
        let placed = wanted.changes.iter().filter(|change| change.after.is_some() && !is_merged(change)).count();
        let removed = wanted.changes.iter().filter(|change| change.after.is_none()).count();
        let done = Committed { placed, removed, left: wanted.left };
        if wanted.changes.is_empty() {
            return Ok(self.gone(done));
        }
        let journal = match self.stage(&wanted, &roots, fuse).and_then(|journal| {
            wanted.unchanged(&roots)?;
            fuse.burn().map_err(|errno| failed(&self.directory, errno))?;
            let why = |error: std::io::Error| Refused::Failed { path: self.directory.clone(), why: error.to_string() };
            journal.save(&self.directory).map_err(why).map(|()| journal)
        }) {
            Ok(journal) => journal,
            Err(refused) => {
                self.unstage(&roots, fuse);
                return Err(refused);
            }
        };
        let interrupted = |stuck: Stuck| Refused::Interrupted { path: stuck.path, why: stuck.errno.to_string() };
        apply(&self.directory, &journal, fuse).map_err(interrupted)?;
        Ok(self.gone(done))
    }

    /// The layers are of no more use; what can't be removed now is found by `recover`.
    fn gone(&self, done: Committed) -> Committed {
        let _ = tree::remove(&self.directory);
        done
    }

    fn unstage(&self, roots: &[OwnedFd], fuse: &mut Fuse) {
        for (root, known) in roots.iter().zip(&self.roots) {
            if fuse.burn().is_ok() {
                remove_stage(root.as_fd(), &self.directory, known.modified);
            }
        }
    }

    fn stage(&self, wanted: &Wanted<'_>, roots: &[OwnedFd], fuse: &mut Fuse) -> Result<Journal, Refused> {
        let name = stage_name(&self.directory);
        // By this recovery finds the stages of a commit that never came to its journal.
        let why = |error: std::io::Error| Refused::Failed { path: self.directory.clone(), why: error.to_string() };
        write_manifest(&self.directory, &self.roots).map_err(why)?;
        let mut stages: HashMap<usize, Stage> = HashMap::new();
        let mut steps = Steps::default();
        for change in &wanted.changes {
            let fail = |errno| failed(&wanted.deeds.absolute(change.root, &change.path), errno);
            let number = steps.add(change, &wanted.finish(change, roots).map_err(fail)?);
            let (Some(number), Some(after), Some(root)) = (number, &change.after, roots.get(change.root)) else {
                continue;
            };
            let stage = match stages.entry(change.root) {
                std::collections::hash_map::Entry::Occupied(there) => there.into_mut(),
                std::collections::hash_map::Entry::Vacant(free) => {
                    fuse.burn().map_err(fail)?;
                    let upper = self.roots.get(change.root).map(|root| root.upper.as_path()).unwrap_or(Path::new(""));
                    free.insert(Stage::make(root.as_fd(), &name, upper).map_err(fail)?)
                }
            };
            stage.take(&change.path, after, number, fuse).map_err(fail)?;
        }
        for (index, stage) in &stages {
            let Some(root) = roots.get(*index) else { continue };
            stage.sync(root.as_fd()).map_err(|errno| failed(&name, errno))?;
        }
        let roots = self.roots.iter().map(|root| (root.path.clone(), root.dev, root.ino)).collect();
        Ok(Journal { roots, steps: steps.in_order() })
    }
}

pub(crate) fn remove_stage(root: BorrowedFd<'_>, run: &Path, modified: (i64, i64)) {
    let name = stage_name(run);
    if matches!(tree::stamp_at(root, name.as_os_str()), Ok(Some(_))) && tree::remove_at(root, name.as_os_str()).is_ok()
    {
        let _ = tree::set_modified_of(root, modified);
    }
}

pub(crate) fn failed(path: &Path, errno: Errno) -> Refused {
    Refused::Failed { path: path.to_path_buf(), why: errno.to_string() }
}
