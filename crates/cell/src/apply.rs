//! Carries a journal out, as often as it takes.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use crate::journal::{JOURNAL, Journal, Step};
use crate::stamp::{Kind, Stamp};
use crate::tree;

/// The steps that a test lets happen before everything stops, as if the power went.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fuse(Option<u64>);

/// Where it stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) path: PathBuf,
    pub(crate) errno: Errno,
}

impl Fuse {
    #[cfg(test)]
    pub(crate) fn after(steps: u64) -> Fuse {
        Fuse(Some(steps))
    }

    /// Stands before everything that changes the disk.
    pub(crate) fn burn(&mut self) -> Result<(), Errno> {
        match &mut self.0 {
            Some(0) => Err(Errno::CANCELED),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The directory in a root where a commit keeps what it is about to place.
pub(crate) fn stage_name(run: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".doorward-commit-");
    name.push(run.file_name().unwrap_or_default());
    PathBuf::from(name)
}

/// Does every step that is not yet done, makes that durable, and removes the journal.
pub(crate) fn apply(run: &Path, journal: &Journal, fuse: &mut Fuse) -> Result<(), Stuck> {
    let mut roots = Vec::new();
    for (path, dev, ino) in &journal.roots {
        let stuck = |errno| Stuck { path: path.clone(), errno };
        let root = tree::open_root(path).map_err(stuck)?;
        let found = Stamp::of(&rustix::fs::fstat(&root).map_err(stuck)?);
        if (found.dev, found.ino) != (*dev, *ino) {
            return Err(stuck(Errno::STALE));
        }
        roots.push(root);
    }
    let mut applier = Applier { roots: &roots, stage: stage_name(run), fuse, cleared: false };
    for step in &journal.steps {
        // A stage that is gone says that all is placed; that must be true on the disk before it is gone.
        if matches!(step, Step::Finish { .. }) && !applier.cleared {
            applier.sync(&journal.steps).map_err(|errno| Stuck { path: run.to_path_buf(), errno })?;
        }
        applier.step(step).map_err(|errno| Stuck { path: step.path().to_path_buf(), errno })?;
    }
    let finished =
        applier.clear_stages().and_then(|()| applier.sync(&journal.steps)).and_then(|()| applier.fuse.burn());
    let forgotten = finished.and_then(|()| match rustix::fs::unlink(run.join(JOURNAL)) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    });
    forgotten.map_err(|errno| Stuck { path: run.to_path_buf(), errno })
}

impl Step {
    fn place(&self) -> (usize, &Path) {
        match self {
            Step::Remove { root, path, .. }
            | Step::MakeDirectory { root, path }
            | Step::Place { root, path, .. }
            | Step::Finish { root, path, .. } => (*root, path),
        }
    }

    fn path(&self) -> &Path {
        self.place().1
    }
}

struct Applier<'a> {
    roots: &'a [OwnedFd],
    stage: PathBuf,
    fuse: &'a mut Fuse,
    cleared: bool,
}

/// More directories than this are made durable by one call for the whole file system.
const FEW: usize = 64;

impl Applier<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Errno> {
        // The last steps set the times of directories; nothing may be made or removed in them after that.
        if matches!(step, Step::Finish { .. }) && !self.cleared {
            self.clear_stages()?;
        }
        self.fuse.burn()?;
        let (root, path) = step.place();
        let root = self.root(root)?;
        match step {
            Step::Remove { entry, .. } => remove(root, path, entry),
            Step::MakeDirectory { .. } => make_directory(root, path),
            Step::Place { staged, .. } => place(root, &self.stage, *staged, path),
            Step::Finish { mode, modified, attributes, .. } => {
                let directory = open_whatever_mode(root, path)?;
                tree::set_attributes(directory.as_fd(), attributes)?;
                if rustix::fs::fstat(&directory)?.st_mode & 0o7777 != *mode {
                    rustix::fs::fchmod(&directory, Mode::from_raw_mode(*mode))?;
                }
                modified.map_or(Ok(()), |modified| tree::set_modified_of(directory.as_fd(), modified))
            }
        }
    }

    fn root(&self, index: usize) -> Result<BorrowedFd<'_>, Errno> {
        self.roots.get(index).map(AsFd::as_fd).ok_or(Errno::INVAL)
    }

    fn clear_stages(&mut self) -> Result<(), Errno> {
        self.cleared = true;
        for root in self.roots {
            self.fuse.burn()?;
            tree::remove_at(root.as_fd(), self.stage.as_os_str())?;
        }
        Ok(())
    }

    fn sync(&mut self, steps: &[Step]) -> Result<(), Errno> {
        self.fuse.burn()?;
        let touched: HashSet<(usize, &Path)> =
            steps.iter().filter(|step| matches!(step, Step::Finish { .. })).map(Step::place).collect();
        if touched.len() > FEW {
            return self.roots.iter().try_for_each(rustix::fs::syncfs);
        }
        for (root, path) in touched {
            match tree::open_below(self.root(root)?, path) {
                Ok(directory) => rustix::fs::fsync(directory)?,
                // Its last mode does not let its owner read it.
                Err(Errno::ACCESS) => rustix::fs::syncfs(self.root(root)?)?,
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}

/// The parent of a path, whose owner is given the right to change it: its last mode is set when all is done.
fn parent(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    open_whatever_mode(root, tree::split(path).0)
}

fn open_whatever_mode(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    match tree::open_below(root, path) {
        Ok(directory) => {
            let mode = rustix::fs::fstat(&directory)?.st_mode & 0o7777;
            if mode & 0o700 != 0o700 && rustix::fs::fstat(&directory)?.st_uid == rustix::process::geteuid().as_raw() {
                rustix::fs::fchmod(&directory, Mode::from_raw_mode(mode | 0o700))?;
            }
            Ok(directory)
        }
        Err(Errno::ACCESS) => {
            let (above, name) = tree::split(path);
            let above = open_whatever_mode(root, above)?;
            tree::open_own_directory(above.as_fd(), name.ok_or(Errno::ACCESS)?)
        }
        Err(errno) => Err(errno),
    }
}

fn name(path: &Path) -> Result<&OsStr, Errno> {
    tree::split(path).1.ok_or(Errno::INVAL)
}

/// Something else under that name is a stranger's, or what this commit has put there.
fn remove(root: BorrowedFd<'_>, path: &Path, entry: &Stamp) -> Result<(), Errno> {
    let parent = match parent(root, path) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        parent => parent?,
    };
    let name = name(path)?;
    if !tree::stamp_at(parent.as_fd(), name)?.is_some_and(|found| found.same_entry(entry)) {
        return Ok(());
    }
    let flags = if entry.kind == Kind::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match rustix::fs::unlinkat(&parent, name, flags) {
        // A directory into which somebody put something meanwhile stays with that in it.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn make_directory(root: BorrowedFd<'_>, path: &Path) -> Result<(), Errno> {
    let parent = parent(root, path)?;
    match rustix::fs::mkdirat(&parent, name(path)?, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn place(root: BorrowedFd<'_>, stage: &Path, staged: u64, path: &Path) -> Result<(), Errno> {
    let stage = match tree::open_below(root, stage) {
        // Cleared away, so everything in it was placed.
        Err(Errno::NOENT) => return Ok(()),
        stage => stage?,
    };
    let parent = parent(root, path)?;
    match rustix::fs::renameat(&stage, staged.to_string(), &parent, name(path)?) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}
