//! The changes that are to be put in place, and all that may stand against it.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::commit::{Refused, Treatment, failed};
use crate::deeds::{Deed, Deeds};
use crate::digest::Digest;
use crate::journal::Step;
use crate::layers::Change;
use crate::stamp::{Kind, Stamp};
use crate::tree;

/// The changes that are to be put in place.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) deeds: &'a Deeds,
    pub(crate) changes: Vec<&'a Change>,
    pub(crate) left: usize,
}

impl Wanted<'_> {
    /// What is left takes along what lies in it, and a directory that keeps something can't be removed.
    pub(crate) fn of<'a>(deeds: &'a Deeds, treat: &dyn Fn(&Deed) -> Treatment) -> Result<Wanted<'a>, Refused> {
        let mut left: HashSet<(usize, &Path)> = HashSet::new();
        let mut refused = Vec::new();
        for deed in deeds.list() {
            match (treat(deed), deeds.found.changes.get(deed.change)) {
                (Treatment::Leave, Some(change)) => drop(left.insert((change.root, &change.path))),
                (Treatment::Refuse, _) => refused.push(deed.path.clone()),
                (Treatment::Leave | Treatment::Commit, _) => {}
            }
        }
        if !refused.is_empty() {
            return Err(Refused::Protected(refused));
        }
        let stays = |change: &&Change| {
            let above = change.path.ancestors().any(|above| left.contains(&(change.root, above)));
            let kept_below = change.after.is_none_or(|after| after.kind != Kind::Directory)
                && left.iter().any(|(root, path)| *root == change.root && path.starts_with(&change.path));
            above || kept_below
        };
        let changes: Vec<&Change> = deeds.found.changes.iter().filter(|change| !stays(change)).collect();
        // A directory in which nothing is done any more needs no new time.
        let touched: HashSet<(usize, &Path)> = changes
            .iter()
            .filter(|change| !is_merged(change))
            .flat_map(|change| change.path.ancestors().map(|above| (change.root, above)))
            .collect();
        let own = |change: &Change| {
            change.attributes_differ
                || change.opaque
                || change.before.zip(change.after).is_some_and(|(before, after)| before.mode != after.mode)
                || (left.is_empty() && change.before.zip(change.after).is_some_and(|(b, a)| b.modified != a.modified))
        };
        let kept = |change: &&Change| {
            !is_merged(change) || touched.contains(&(change.root, change.path.as_path())) || own(change)
        };
        let count = deeds.found.changes.len() - changes.len();
        Ok(Wanted { deeds, changes: changes.into_iter().filter(kept).collect(), left: count })
    }

    pub(crate) fn check(&self) -> Result<(), Refused> {
        let committed: HashSet<(usize, &Path)> =
            self.changes.iter().map(|change| (change.root, change.path.as_path())).collect();
        let among = |places: &[(usize, PathBuf)]| -> Vec<PathBuf> {
            let hit = places.iter().filter(|(root, path)| committed.contains(&(*root, path.as_path())));
            hit.map(|(root, path)| self.deeds.absolute(*root, path)).collect()
        };
        let some = |paths: Vec<PathBuf>, refusal: fn(Vec<PathBuf>) -> Refused| {
            if paths.is_empty() { Ok(()) } else { Err(refusal(paths)) }
        };
        some(among(&self.deeds.found.meanwhile), Refused::ChangedMeanwhile)?;
        some(among(&self.deeds.found.odd), Refused::Unsupported)?;
        some(self.those(is_special), Refused::Special)?;
        some(self.those(is_privileged), Refused::Privileged)?;
        let shared = self.shared_below();
        some(self.those(|change| shared.contains(&(change.root, change.path.as_path()))), Refused::HardLinked)?;
        let names = self.names_above();
        let more = |change: &Change| {
            let file = change.after.filter(|after| after.kind == Kind::File && after.links > 1);
            file.is_some_and(|after| names.get(&(after.dev, after.ino)) != Some(&after.links))
        };
        some(self.those(more), Refused::HardLinked)
    }

    fn those(&self, which: impl Fn(&Change) -> bool) -> Vec<PathBuf> {
        let hit = self.changes.iter().filter(|change| which(change));
        hit.map(|change| self.deeds.absolute(change.root, &change.path)).collect()
    }

    /// How many names each file of the upper layers has there.
    fn names_above(&self) -> HashMap<(u64, u64), u64> {
        let mut names = HashMap::new();
        for after in self.deeds.found.changes.iter().filter_map(|change| change.after) {
            *names.entry((after.dev, after.ino)).or_default() += 1;
        }
        names
    }

    /// An overlay parts the names of a file when it is written to through one of them. What the command meant is known only
    /// if every name was dealt with, and those that are left are one file again.
    fn shared_below(&self) -> HashSet<(usize, &Path)> {
        let mut files: HashMap<(u64, u64), Vec<&Change>> = HashMap::new();
        for change in &self.changes {
            if let Some(before) = change.before.filter(|before| before.kind == Kind::File && before.links > 1) {
                files.entry((before.dev, before.ino)).or_default().push(change);
            }
        }
        let known = |names: &[&Change]| {
            let links = names.first().and_then(|name| name.before).map_or(0, |before| before.links);
            let after: HashSet<_> =
                names.iter().filter_map(|name| name.after).map(|after| (after.dev, after.ino)).collect();
            names.iter().all(|name| name.after.is_none()) || (names.len() as u64 == links && after.len() <= 1)
        };
        let unknown = files.into_values().filter(|names| !known(names)).flatten();
        unknown.filter(|change| change.after.is_some()).map(|change| (change.root, change.path.as_path())).collect()
    }

    pub(crate) fn open_roots(&self) -> Result<Vec<OwnedFd>, Refused> {
        let mut opened = Vec::new();
        for root in &self.deeds.roots {
            let fail = |errno| failed(&root.path, errno);
            let fd = tree::open_root(&root.path).map_err(fail)?;
            let found = Stamp::of(&rustix::fs::fstat(&fd).map_err(fail)?);
            if (found.dev, found.ino) != (root.dev, root.ino) {
                return Err(Refused::ChangedMeanwhile(vec![root.path.clone()]));
            }
            opened.push(fd);
        }
        Ok(opened)
    }

    /// Nothing below is other than it was when the deeds were read, and nothing above other than what was seen.
    pub(crate) fn unchanged(&self, roots: &[OwnedFd]) -> Result<(), Refused> {
        let mut changed = Vec::new();
        for change in &self.changes {
            let path = || self.deeds.absolute(change.root, &change.path);
            let Some(root) = roots.get(change.root) else { return Err(failed(&path(), Errno::INVAL)) };
            let now = tree::stamp_below(root.as_fd(), &change.path).map_err(|errno| failed(&path(), errno))?;
            let same = match (&change.before, &now) {
                (Some(before), Some(now)) if is_merged(change) && !change.opaque => {
                    before.same_entry(now) && before.mode == now.mode
                }
                (Some(before), Some(now)) => before == now && self.same_digest(change, false),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !same || !self.same_above(change) {
                changed.push(path());
            }
        }
        if changed.is_empty() { Ok(()) } else { Err(Refused::ChangedMeanwhile(changed)) }
    }

    /// Staging links the upper file, which changes the time of its change and the number of its names, and nothing else.
    fn same_above(&self, change: &Change) -> bool {
        let Some(after) = change.after.filter(|after| after.kind == Kind::File) else { return true };
        let Some(root) = self.deeds.roots.get(change.root) else { return false };
        let now = || {
            let (parent, name) = tree::split(&change.path);
            let parent = tree::open_layer(&tree::open_root(&root.upper)?, parent)?;
            tree::stamp_at(parent.as_fd(), name.ok_or(Errno::INVAL)?)
        };
        let Ok(Some(now)) = now() else { return false };
        now.same_entry(&after)
            && (now.size, now.mode, now.modified) == (after.size, after.mode, after.modified)
            && self.same_digest(change, true)
    }

    fn same_digest(&self, change: &Change, above: bool) -> bool {
        let known = if above { change.after_digest } else { change.before_digest };
        let Some(known) = known else { return true };
        let Some(root) = self.deeds.roots.get(change.root) else { return false };
        let base = if above { &root.upper } else { &root.path };
        let digest = || {
            let (parent, name) = tree::split(&change.path);
            let parent = tree::open_below(tree::open_root(base)?.as_fd(), parent)?;
            Digest::of(&tree::open_file(parent.as_fd(), name.ok_or(Errno::INVAL)?)?)
        };
        digest() == Ok(known)
    }

    /// What a directory is to be when all is done.
    pub(crate) fn finish(&self, change: &Change, roots: &[OwnedFd]) -> Result<Option<Step>, Errno> {
        let Some(after) = change.after.filter(|after| after.kind == Kind::Directory) else { return Ok(None) };
        let upper = self.deeds.roots.get(change.root).ok_or(Errno::INVAL)?.upper.clone();
        let above = tree::open_layer(&tree::open_root(&upper)?, &change.path)?;
        let root = roots.get(change.root).ok_or(Errno::INVAL)?;
        // Somebody else put something into it meanwhile: then the later time is right.
        let theirs = match change.before.filter(|_| is_merged(change) && !change.path.as_os_str().is_empty()) {
            Some(before) => {
                tree::stamp_below(root.as_fd(), &change.path)?.is_some_and(|now| now.modified != before.modified)
            }
            None => false,
        };
        Ok(Some(Step::Finish {
            root: change.root,
            path: change.path.clone(),
            mode: after.mode,
            modified: (!theirs && self.left == 0).then_some(after.modified),
            attributes: tree::attributes(above.as_fd())?,
        }))
    }
}

/// A directory that was there and stays.
pub(crate) fn is_merged(change: &Change) -> bool {
    let directory = |stamp: &Option<Stamp>| stamp.is_some_and(|stamp| stamp.kind == Kind::Directory);
    directory(&change.before) && directory(&change.after)
}

fn is_special(change: &Change) -> bool {
    change.after.is_some_and(|after| matches!(after.kind, Kind::Socket | Kind::Device))
}

/// Setuid and setgid on a file that did not have them; a directory hands its group on, which gives nobody any right.
fn is_privileged(change: &Change) -> bool {
    let bits =
        |stamp: Option<Stamp>| stamp.filter(|stamp| stamp.kind == Kind::File).map_or(0, |stamp| stamp.mode & 0o6000);
    bits(change.after) & !bits(change.before) != 0
        || change.after.is_some_and(|after| after.kind == Kind::Directory && after.mode & 0o4000 != 0)
}
