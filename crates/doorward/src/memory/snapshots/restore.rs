//! Restores a snapshot: first the plan of changes, then the changes themselves.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use doorward_ledger::Hash;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps};

use super::copy;
use super::doors::{self, Doors};
use super::manifest::{Entry, FileMetadata, Former, Manifest, Stamp, StampsAfter};
use super::plan::{is_absent, kind};
use super::store::{SnapshotStore, StoredContent};

/// What would happen to one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Unchanged.
    Same,
    /// It is gone and comes back.
    Returns,
    /// It is as the call left it and gets its old content back.
    Changes,
    /// It did not exist and is removed again.
    Goes,
    /// It changed after the call, or may have; it is left alone unless `--overwrite` is given.
    Newer,
    /// Something else is in its place.
    Blocked,
}

/// A path and what would happen to it.
#[derive(Clone, Debug)]
pub(crate) struct RestoreStep {
    pub entry: Entry,
    pub fate: Fate,
    /// Something is there now.
    pub is_there: bool,
    /// The snapshot that has it.
    pub from: String,
}

/// What an undo would do, path by path.
pub(crate) fn preview(manifests: &[(Manifest, Option<StampsAfter>)]) -> Vec<RestoreStep> {
    let mut doors = Doors::default();
    let merged = merged(manifests);
    merged.into_values().map(|known| step(known, &mut doors)).collect()
}

/// The oldest state of a path, its snapshot, and how the newest call left it: `None` if unknown.
struct OldestState {
    entry: Entry,
    from: String,
    expected: Option<Option<Stamp>>,
}

fn merged(manifests: &[(Manifest, Option<StampsAfter>)]) -> BTreeMap<PathBuf, OldestState> {
    let mut sorted: Vec<&(Manifest, Option<StampsAfter>)> = manifests.iter().collect();
    // The oldest snapshot has the state before all of the calls; the newest says how they left it.
    sorted.sort_by_key(|(manifest, _)| manifest.taken_ms);
    let mut all: BTreeMap<PathBuf, OldestState> = BTreeMap::new();
    for (manifest, after) in sorted {
        for (at, entry) in manifest.entries.iter().enumerate() {
            let expected = after.as_ref().and_then(|after| after.stamps.get(at).copied());
            match all.entry(entry.path.0.clone()) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(OldestState { entry: entry.clone(), from: manifest.id.clone(), expected });
                }
                std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().expected = expected,
            }
        }
    }
    all
}

fn step(known: OldestState, doors: &mut Doors) -> RestoreStep {
    let OldestState { entry, from, expected } = known;
    let path = entry.path.0.as_path();
    let (fate, is_there) = match doors.look(path) {
        Err(error) if is_absent(&error) => match entry.what {
            Former::Absent => (Fate::Same, false),
            Former::File { .. } | Former::Link { .. } | Former::Directory { .. } => (Fate::Returns, false),
        },
        Err(_) => (Fate::Blocked, true),
        Ok(stat) => (fate_of(&entry, &stat, expected == Some(Some(Stamp::of(&stat))), doors), true),
    };
    RestoreStep { entry, fate, is_there, from }
}

fn fate_of(entry: &Entry, stat: &Stat, is_as_left: bool, doors: &mut Doors) -> Fate {
    let changes = if is_as_left { Fate::Changes } else { Fate::Newer };
    match (&entry.what, kind(stat)) {
        // A file that the call created and someone has edited since is theirs now.
        (Former::Absent, _) => {
            if is_as_left {
                Fate::Goes
            } else {
                Fate::Newer
            }
        }
        (Former::Directory { about }, FileType::Directory) => {
            if about.mode == stat.st_mode & 0o7777 {
                Fate::Same
            } else {
                changes
            }
        }
        (Former::Directory { .. }, _) | (Former::File { .. } | Former::Link { .. }, FileType::Directory) => {
            Fate::Blocked
        }
        (Former::File { .. } | Former::Link { .. }, _) => {
            if is_same(entry, stat, doors) {
                Fate::Same
            } else {
                changes
            }
        }
    }
}

/// The path has the content, mode and time of the snapshot.
fn is_same(entry: &Entry, stat: &Stat, doors: &mut Doors) -> bool {
    let path = entry.path.0.as_path();
    let looks_same = |about: &FileMetadata| {
        FileMetadata { accessed: about.accessed, ..FileMetadata::of(stat, about.attributes.clone()) } == *about
    };
    match &entry.what {
        Former::File { hash, size, about, .. } => {
            let mut same_bytes =
                || doors.open(path).and_then(|mut file| Hash::of_reader(&mut file)).ok() == Some(*hash);
            kind(stat) == FileType::RegularFile
                && u64::try_from(stat.st_size) == Ok(*size)
                && looks_same(about)
                && same_bytes()
        }
        Former::Link { to, .. } => kind(stat) == FileType::Symlink && doors.link(path).is_ok_and(|now| now == to.0),
        Former::Directory { .. } | Former::Absent => false,
    }
}

/// Carries out the steps. Returns what could not be restored completely.
pub(crate) fn restore(store: &SnapshotStore, steps: &[&RestoreStep]) -> Result<Vec<String>> {
    let mut work = Restorer { store, doors: Doors::default(), short: Vec::new() };
    let directory = |step: &&&RestoreStep| matches!(step.entry.what, Former::Directory { .. });
    // Paths are sorted, so a directory comes before its entries.
    for step in steps.iter().filter(directory) {
        work.make_directory(step)?;
    }
    let goes = |step: &&&RestoreStep| matches!(step.entry.what, Former::Absent);
    let comes = steps.iter().filter(|step| !directory(step) && !goes(step));
    // Entries are removed before their directory.
    for step in comes.chain(steps.iter().rev().filter(goes)) {
        let shown = || format!("can't restore `{}`", step.entry.path.0.display());
        work.restore_one(step).with_context(shown)?;
    }
    for step in steps.iter().rev().filter(directory) {
        work.finish_directory(step)?;
    }
    Ok(work.short)
}

struct Restorer<'a> {
    store: &'a SnapshotStore,
    doors: Doors,
    short: Vec<String>,
}

impl Restorer<'_> {
    fn restore_one(&mut self, step: &RestoreStep) -> Result<()> {
        let path = step.entry.path.0.as_path();
        match &step.entry.what {
            Former::File { hash, size, at, about } => {
                let kept = self.store.content(&step.from, hash, *size, *at)?;
                self.file(path, kept, about)
            }
            Former::Link { to, about } => self.link(path, &to.0, about),
            Former::Absent => self.remove(path),
            Former::Directory { .. } => Ok(()),
        }
    }

    fn make_directory(&mut self, step: &RestoreStep) -> Result<()> {
        let path = step.entry.path.0.as_path();
        if step.fate != Fate::Returns || self.doors.look(path).is_ok() {
            return Ok(());
        }
        self.make_parents(path)?;
        let (parent, name) = self.doors.parent(path)?;
        fs::mkdirat(parent, name, Mode::RWXU).with_context(|| format!("can't create `{}`", path.display()))
    }

    fn finish_directory(&mut self, step: &RestoreStep) -> Result<()> {
        let Former::Directory { about } = &step.entry.what else { return Ok(()) };
        let path = step.entry.path.0.as_path();
        let opened = self.doors.directory(path)?.try_clone()?;
        match step.fate {
            Fate::Returns => self.dress(&opened, about, path),
            Fate::Changes | Fate::Newer => Ok(fs::fchmod(&opened, Mode::from_raw_mode(about.mode))?),
            Fate::Same | Fate::Goes | Fate::Blocked => Ok(()),
        }
    }

    fn file(&mut self, path: &Path, kept: StoredContent, about: &FileMetadata) -> Result<()> {
        self.make_parents(path)?;
        let half = half_name();
        let (parent, name) = self.doors.parent(path)?;
        // Exclusive and without following links: the directory may be shared with others.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let parent = parent.try_clone()?;
        let mut file = File::from(fs::openat(&parent, &half, flags, Mode::RUSR | Mode::WUSR)?);
        let done = copy_content(kept, &mut file)
            .and_then(|()| self.dress(&file, about, path))
            .and_then(|()| Ok(file.sync_all()?))
            .and_then(|()| Ok(fs::renameat(&parent, &half, &parent, name)?));
        if done.is_err() {
            let _ = fs::unlinkat(&parent, &half, AtFlags::empty());
        }
        done
    }

    fn link(&mut self, path: &Path, to: &Path, about: &FileMetadata) -> Result<()> {
        self.make_parents(path)?;
        let half = half_name();
        let (parent, name) = self.doors.parent(path)?;
        fs::symlinkat(to, parent, &half)?;
        // Before the rename, so that the path never exists with the wrong owner.
        let owner = (fs::Uid::from_raw(about.uid), fs::Gid::from_raw(about.gid));
        // Only root may change the owner of a link.
        let _ = fs::chownat(parent, &half, Some(owner.0), Some(owner.1), AtFlags::SYMLINK_NOFOLLOW);
        let done = fs::utimensat(parent, &half, &times(about), AtFlags::SYMLINK_NOFOLLOW)
            .and_then(|()| fs::renameat(parent, &half, parent, name));
        if done.is_err() {
            let _ = fs::unlinkat(parent, &half, AtFlags::empty());
        }
        Ok(done?)
    }

    fn remove(&mut self, path: &Path) -> Result<()> {
        let (parent, name) = self.doors.parent(path)?;
        let stat = fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let flags = if kind(&stat) == FileType::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match fs::unlinkat(parent, name, flags) {
            // Something was put there since the call; deleting it would lose what no snapshot has.
            Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::EXIST) => {
                self.short.push(format!("`{}` is not empty and stays", path.display()));
                Ok(())
            }
            // Another directory takes its place.
            other => {
                self.doors.forget();
                Ok(other?)
            }
        }
    }

    /// Directories that were deleted with their content and are in no snapshot.
    fn make_parents(&mut self, path: &Path) -> Result<()> {
        let Some(parent) = path.parent() else { return Err(anyhow!("it has no directory")) };
        match self.doors.look(parent) {
            Ok(_) => return Ok(()),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error.into()),
        }
        self.make_parents(parent)?;
        let (above, name) = self.doors.parent(parent)?;
        Ok(fs::mkdirat(above, name, Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)?)
    }

    /// Restores the metadata of a file or directory.
    fn dress(&mut self, file: &impl std::os::fd::AsFd, about: &FileMetadata, path: &Path) -> Result<()> {
        let now = fs::fstat(file)?;
        if (now.st_uid, now.st_gid) != (about.uid, about.gid) {
            let owner = (fs::Uid::from_raw(about.uid), fs::Gid::from_raw(about.gid));
            if fs::fchown(file, Some(owner.0), Some(owner.1)).is_err() {
                self.short.push(format!("`{}` could not get its old owner or group back", path.display()));
            }
        }
        for (name, value) in &about.attributes {
            if doors::set_attribute(file, name, value).is_err() {
                self.short.push(format!("`{}` lost the attribute `{name}`", path.display()));
            }
        }
        // After the owner, because `chown` clears the set-user-id bits.
        fs::fchmod(file, Mode::from_raw_mode(about.mode))?;
        // Last, because everything before changes the times.
        Ok(fs::futimens(file, &times(about))?)
    }
}

fn copy_content(kept: StoredContent, to: &mut File) -> Result<()> {
    match kept {
        StoredContent::Bytes(bytes) => Ok(to.write_all(&bytes)?),
        StoredContent::File(mut from) => {
            let stat = fs::fstat(&from)?;
            Ok(copy::copy(&mut from, to, &stat)?)
        }
    }
}

fn times(about: &FileMetadata) -> Timestamps {
    let time = |(seconds, nanoseconds): (i64, i64)| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    Timestamps { last_access: time(about.accessed), last_modification: time(about.modified) }
}

fn half_name() -> String {
    format!(".doorward-{}", crate::memory::call_ids::own_name())
}
