//! What a run did to the trees, as its caller reads it.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::digest::Digest;
use crate::layers::{Change, Found};
use crate::run::Root;
use crate::stamp::{Kind, Stamp};
use crate::tree;

/// What happened to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeedKind {
    /// A file that was not there.
    Created,
    /// The content of a file; its mode and attributes may differ too.
    Changed,
    /// A file with the content of one that is gone.
    Renamed {
        from: PathBuf,
    },
    /// Whatever it was, it is gone; `to` names where its content is now, if a file there has it.
    Deleted {
        to: Option<PathBuf>,
    },
    /// Only its permissions.
    Mode,
    /// Only its extended attributes or its time.
    Attributes,
    /// A symbolic link, new or pointing elsewhere.
    Symlink {
        target: PathBuf,
    },
    /// Another name of a file that was also written or linked.
    HardLink {
        to: PathBuf,
    },
    MadeDirectory,
    /// Removed and made again: nothing of what was in it is left but what is listed.
    ReplacedDirectory,
    RemovedDirectory,
    /// A fifo, a socket, a device.
    Special,
}

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    pub kind: DeedKind,
    pub path: PathBuf,
    pub before: Option<Stamp>,
    pub after: Option<Stamp>,
    /// Which change of the layers this is.
    pub(crate) change: usize,
}

/// Everything that a run did. What is committed is exactly what stands here.
#[derive(Debug)]
pub struct Deeds {
    list: Vec<Deed>,
    pub(crate) found: Found,
    pub(crate) roots: Vec<Root>,
}

impl Deeds {
    pub(crate) fn new(roots: Vec<Root>, found: Found) -> Deeds {
        let mut deeds = Deeds { list: Vec::new(), found, roots };
        deeds.list = deeds.listed();
        deeds
    }

    /// Every change, deletions included, each path once.
    #[must_use]
    pub fn list(&self) -> &[Deed] {
        &self.list
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Touched by the run, and changed below it by somebody else since it began.
    #[must_use]
    pub fn changed_meanwhile(&self) -> Vec<PathBuf> {
        self.found.meanwhile.iter().map(|(root, path)| self.absolute(*root, path)).collect()
    }

    /// Up to `budget` bytes of what the file contained before; `None` if it was no readable file.
    #[must_use]
    pub fn content_before(&self, deed: &Deed, budget: usize) -> Option<Vec<u8>> {
        contents(&self.lower(deed)?, budget)
    }

    /// Up to `budget` bytes of what the file contains now.
    #[must_use]
    pub fn content_after(&self, deed: &Deed, budget: usize) -> Option<Vec<u8>> {
        contents(&self.upper(deed)?, budget)
    }

    /// The digests before and after, of what is a readable file.
    #[must_use]
    pub fn digests(&self, deed: &Deed) -> (Option<Digest>, Option<Digest>) {
        let digest = |file: Option<OwnedFd>| file.and_then(|file| Digest::of(&file).ok());
        (digest(self.lower(deed)), digest(self.upper(deed)))
    }

    pub(crate) fn absolute(&self, root: usize, path: &Path) -> PathBuf {
        let root = self.roots.get(root).map_or_else(PathBuf::new, |root| root.path.clone());
        if path.as_os_str().is_empty() { root } else { root.join(path) }
    }

    /// Reads all digests, so that a commit long after can tell whether anything is different.
    pub(crate) fn seal(&mut self) {
        let digests: Vec<_> = self.list.iter().map(|deed| (deed.change, self.digests(deed))).collect();
        for (change, (before, after)) in digests {
            if let Some(change) = self.found.changes.get_mut(change) {
                (change.before_digest, change.after_digest) = (before, after);
            }
        }
    }

    fn lower(&self, deed: &Deed) -> Option<OwnedFd> {
        deed.before.filter(|stamp| stamp.kind == Kind::File)?;
        let change = self.found.changes.get(deed.change)?;
        open(&self.roots.get(change.root)?.path, &change.path).ok()
    }

    fn upper(&self, deed: &Deed) -> Option<OwnedFd> {
        deed.after.filter(|stamp| stamp.kind == Kind::File)?;
        let change = self.found.changes.get(deed.change)?;
        open(&self.roots.get(change.root)?.upper, &change.path).ok()
    }

    fn listed(&self) -> Vec<Deed> {
        let mut first_names = HashMap::new();
        let mut deeds = Vec::new();
        for (index, change) in self.found.changes.iter().enumerate() {
            let path = self.absolute(change.root, &change.path);
            if let Some(kind) = self.kind(change, &path, &mut first_names) {
                deeds.push(Deed { kind, path, before: change.before, after: change.after, change: index });
            }
        }
        self.find_renames(&mut deeds);
        deeds
    }

    fn kind(&self, change: &Change, path: &Path, names: &mut HashMap<(u64, u64), PathBuf>) -> Option<DeedKind> {
        let Some(after) = change.after else {
            let directory = change.before.is_some_and(|before| before.kind == Kind::Directory);
            return Some(if directory { DeedKind::RemovedDirectory } else { DeedKind::Deleted { to: None } });
        };
        let same_kind = change.before.filter(|before| before.kind == after.kind);
        match after.kind {
            Kind::Directory => match same_kind {
                None => Some(DeedKind::MadeDirectory),
                Some(_) if change.opaque => Some(DeedKind::ReplacedDirectory),
                Some(before) if before.mode != after.mode => Some(DeedKind::Mode),
                Some(_) => change.attributes_differ.then_some(DeedKind::Attributes),
            },
            Kind::Symlink => {
                let upper = self.roots.get(change.root).map(|root| root.upper.join(&change.path));
                let target = upper.and_then(|upper| std::fs::read_link(upper).ok()).unwrap_or_default();
                Some(DeedKind::Symlink { target })
            }
            Kind::Fifo | Kind::Socket | Kind::Device => Some(DeedKind::Special),
            Kind::File => {
                if after.links > 1 {
                    let first = names.entry((after.dev, after.ino)).or_insert_with(|| path.to_path_buf());
                    if *first != path {
                        return Some(DeedKind::HardLink { to: first.clone() });
                    }
                }
                Some(self.file_kind(change, same_kind, &after))
            }
        }
    }

    fn file_kind(&self, change: &Change, before: Option<Stamp>, after: &Stamp) -> DeedKind {
        let Some(before) = before else { return DeedKind::Created };
        if before.size != after.size {
            return DeedKind::Changed;
        }
        let digest =
            |base: Option<&Path>| base.and_then(|base| open(base, &change.path).ok()).map(|file| Digest::of(&file));
        let root = self.roots.get(change.root);
        let below = digest(root.map(|root| root.path.as_path()));
        match below {
            Some(Ok(below)) if digest(root.map(|root| root.upper.as_path())) == Some(Ok(below)) => {
                if before.mode == after.mode { DeedKind::Attributes } else { DeedKind::Mode }
            }
            _ => DeedKind::Changed,
        }
    }

    /// A rename shows as a file that is gone and one that is new; copying up keeps size and time, so those lead to the pairs.
    fn find_renames(&self, deeds: &mut [Deed]) {
        let mut gone: HashMap<(u64, (i64, i64)), Vec<usize>> = HashMap::new();
        for (index, deed) in deeds.iter().enumerate() {
            if let (DeedKind::Deleted { .. }, Some(before)) = (&deed.kind, deed.before)
                && before.kind == Kind::File
            {
                gone.entry((before.size, before.modified)).or_default().push(index);
            }
        }
        let created: Vec<usize> = deeds
            .iter()
            .enumerate()
            .filter(|(_, deed)| deed.kind == DeedKind::Created)
            .map(|(index, _)| index)
            .collect();
        for new in created {
            let Some(to) = deeds.get(new).cloned() else { continue };
            let Some(candidates) = to.after.and_then(|after| gone.get_mut(&(after.size, after.modified))) else {
                continue;
            };
            let digest = self.digests(&to).1;
            let matches =
                |old: &&usize| deeds.get(**old).is_some_and(|old| digest.is_some() && self.digests(old).0 == digest);
            let Some(old) = candidates.iter().find(matches).copied() else { continue };
            candidates.retain(|candidate| *candidate != old);
            let Some(from) = deeds.get_mut(old) else { continue };
            from.kind = DeedKind::Deleted { to: Some(to.path) };
            let from = from.path.clone();
            if let Some(to) = deeds.get_mut(new) {
                to.kind = DeedKind::Renamed { from };
            }
        }
    }
}

fn open(base: &Path, path: &Path) -> Result<OwnedFd, Errno> {
    let base = tree::open_root(base)?;
    let (parent, name) = tree::split(path);
    let parent = tree::open_below(base.as_fd(), parent)?;
    tree::open_file(parent.as_fd(), name.ok_or(Errno::INVAL)?)
}

fn contents(file: &OwnedFd, budget: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; budget.min(rustix::fs::fstat(file).ok()?.st_size.max(0) as usize)];
    let mut read = 0;
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match rustix::io::read(file, rest) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(read);
    Some(bytes)
}
