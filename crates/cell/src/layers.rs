//! Compares the upper layer of an overlay with the tree below it: what differs, and what somebody else changed meanwhile.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::digest::Digest;
use crate::run::Root;
use crate::stamp::{Kind, Stamp};
use crate::tree;

/// One path that is not as it was. A directory stands after everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) root: usize,
    /// Below the root.
    pub(crate) path: PathBuf,
    pub(crate) before: Option<Stamp>,
    pub(crate) after: Option<Stamp>,
    /// The directory hides all that was in it before.
    pub(crate) opaque: bool,
    pub(crate) attributes_differ: bool,
    pub(crate) before_digest: Option<Digest>,
    pub(crate) after_digest: Option<Digest>,
}

/// A root, and a path below it.
pub(crate) type Place = (usize, PathBuf);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) changes: Vec<Change>,
    /// Changed below by somebody else since the run began.
    pub(crate) meanwhile: Vec<Place>,
    /// What can't be compared or committed: unreadable directories, attributes that imitate the overlay's own.
    pub(crate) odd: Vec<Place>,
}

impl Found {
    /// Everything in the upper layers of these roots.
    pub(crate) fn in_layers(roots: &[Root], since: (i64, i64)) -> Result<Found, Errno> {
        let mut found = Found::default();
        for (index, root) in roots.iter().enumerate() {
            let (upper_parent, name) = tree::split(&root.upper);
            let upper_parent = tree::open_root(upper_parent)?;
            let name = name.ok_or(Errno::INVAL)?;
            let after = tree::stamp_at(upper_parent.as_fd(), name)?.ok_or(Errno::NOENT)?;
            let upper = tree::open_own_directory(upper_parent.as_fd(), name)?;
            let lower = tree::open_root(&root.path)?;
            let before = Stamp::of(&rustix::fs::fstat(&lower)?);
            if (before.dev, before.ino) != (root.dev, root.ino) {
                return Err(Errno::STALE);
            }
            let mut walk = Walk { root: index, since, found: &mut found };
            let pair = Pair { upper: &upper, lower: Some((&lower, before)), shown: true };
            walk.merged(Path::new(""), &pair, after)?;
        }
        Ok(found)
    }

    fn add(&mut self, place: Place, before: Option<Stamp>, after: Option<Stamp>, look: Look) {
        let (root, path) = place;
        let Look { opaque, attributes_differ } = look;
        let (before_digest, after_digest) = (None, None);
        self.changes.push(Change { root, path, before, after, opaque, attributes_differ, before_digest, after_digest });
    }
}

/// What a stamp does not tell.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    opaque: bool,
    attributes_differ: bool,
}

struct Walk<'a> {
    root: usize,
    since: (i64, i64),
    found: &'a mut Found,
}

/// A directory in both layers.
struct Pair<'a> {
    upper: &'a OwnedFd,
    lower: Option<(&'a OwnedFd, Stamp)>,
    /// Whether what is below shows through.
    shown: bool,
}

impl Pair<'_> {
    fn below(&self, name: &OsStr) -> Result<Option<Stamp>, Errno> {
        self.lower.map_or(Ok(None), |(lower, _)| tree::stamp_at(lower.as_fd(), name))
    }
}

impl Walk<'_> {
    fn merged(&mut self, path: &Path, pair: &Pair<'_>, after: Stamp) -> Result<(), Errno> {
        let first = self.found.changes.len();
        let names = tree::names(pair.upper.as_fd())?;
        for name in &names {
            self.entry(&path.join(name), pair, name)?;
        }
        let before = pair.lower.map(|(_, stamp)| stamp);
        if !pair.shown {
            self.hidden(path, pair, &names)?;
        }
        let attributes_differ = match pair.lower {
            Some((lower, _)) => tree::attributes(lower.as_fd())? != tree::attributes(pair.upper.as_fd())?,
            None => !tree::attributes(pair.upper.as_fd())?.is_empty(),
        };
        let same = before.is_some_and(|before| (before.mode, before.modified) == (after.mode, after.modified));
        if !same || attributes_differ || self.found.changes.len() > first {
            let look = Look { opaque: !pair.shown && before.is_some(), attributes_differ };
            self.found.add((self.root, path.to_path_buf()), before, Some(after), look);
        }
        Ok(())
    }

    /// What was in a directory that was removed and made again.
    fn hidden(&mut self, path: &Path, pair: &Pair<'_>, above: &[std::ffi::OsString]) -> Result<(), Errno> {
        let Some((lower, stamp)) = pair.lower else { return Ok(()) };
        self.judge_age(path, &stamp);
        for name in tree::names(lower.as_fd())?.into_iter().filter(|name| !above.contains(name)) {
            if let Some(stamp) = tree::stamp_at(lower.as_fd(), &name)? {
                self.gone(&path.join(&name), lower.as_fd(), stamp)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, pair: &Pair<'_>, name: &OsStr) -> Result<(), Errno> {
        let Some(after) = tree::stamp_at(pair.upper.as_fd(), name)? else { return Ok(()) };
        let before = pair.below(name)?;
        if is_whiteout(pair.upper.as_fd(), name, &after) {
            return match (before, pair.lower) {
                (Some(before), Some((lower, _))) => self.gone(path, lower.as_fd(), before),
                _ => Ok(()),
            };
        }
        match (&before, pair.lower) {
            (None, Some((_, parent))) => self.judge_age(path, &parent),
            (Some(before), Some((lower, _))) if before.kind == Kind::Directory && after.kind != Kind::Directory => {
                self.gone(path, lower.as_fd(), *before)?;
                // The directory itself comes back below as what replaced it.
                self.found.changes.pop();
            }
            (Some(_) | None, _) => {}
        }
        if after.kind != Kind::Directory {
            return self.file(path, pair, name);
        }
        let upper = tree::open_own_directory(pair.upper.as_fd(), name)?;
        let walked = self.directory(path, pair, &upper, after);
        // It had to be opened with another mode: what was found is what must be found again.
        if after.mode & 0o700 != 0o700 {
            rustix::fs::fchmod(&upper, rustix::fs::Mode::from_raw_mode(after.mode))?;
        }
        walked
    }

    fn directory(&mut self, path: &Path, pair: &Pair<'_>, upper: &OwnedFd, after: Stamp) -> Result<(), Errno> {
        let name = path.file_name().unwrap_or_default();
        let before = pair.below(name)?;
        let opaque = tree::own_attribute(upper.as_fd(), "user.overlay.opaque").is_some_and(|value| value == b"y");
        if tree::own_attributes(pair.upper.as_fd(), name)?.iter().any(imitates) {
            self.found.odd.push((self.root, path.to_path_buf()));
        }
        let shown = pair.shown && !opaque;
        match (before, pair.lower) {
            (Some(before), Some((lower, _))) if before.kind == Kind::Directory => {
                let Ok(lower) = tree::open_directory(lower.as_fd(), name) else {
                    self.found.odd.push((self.root, path.to_path_buf()));
                    return Ok(());
                };
                self.merged(path, &Pair { upper, lower: Some((&lower, before)), shown }, after)
            }
            (Some(before), _) => {
                self.judge_age(path, &before);
                self.merged(path, &Pair { upper, lower: None, shown: true }, after)?;
                if let Some(change) = self.found.changes.last_mut() {
                    change.before = Some(before);
                }
                Ok(())
            }
            (None, _) => self.merged(path, &Pair { upper, lower: None, shown: true }, after),
        }
    }

    fn file(&mut self, path: &Path, pair: &Pair<'_>, name: &OsStr) -> Result<(), Errno> {
        let Some(after) = tree::stamp_at(pair.upper.as_fd(), name)? else { return Ok(()) };
        let before = pair.below(name)?;
        if after.kind == Kind::File && tree::own_attributes(pair.upper.as_fd(), name)?.iter().any(imitates) {
            self.found.odd.push((self.root, path.to_path_buf()));
        }
        let mut attributes_differ = false;
        if let (Some(before), Some((lower, _))) = (&before, pair.lower) {
            let alike = (before.kind, before.mode, before.size, before.modified)
                == (after.kind, after.mode, after.size, after.modified);
            attributes_differ =
                attributes_of(lower.as_fd(), name, before) != attributes_of(pair.upper.as_fd(), name, &after);
            if alike && !attributes_differ && same_content(lower.as_fd(), pair.upper.as_fd(), name, after.kind) {
                return Ok(());
            }
            self.judge_age(path, before);
        }
        let look = Look { opaque: false, attributes_differ };
        self.found.add((self.root, path.to_path_buf()), before, Some(after), look);
        Ok(())
    }

    /// A tree that is no longer there, with every entry of it.
    fn gone(&mut self, path: &Path, parent: BorrowedFd<'_>, stamp: Stamp) -> Result<(), Errno> {
        self.judge_age(path, &stamp);
        if stamp.kind == Kind::Directory {
            match tree::open_directory(parent, path.file_name().unwrap_or_default()) {
                Ok(directory) => {
                    for name in tree::names(directory.as_fd())? {
                        if let Some(stamp) = tree::stamp_at(directory.as_fd(), &name)? {
                            self.gone(&path.join(&name), directory.as_fd(), stamp)?;
                        }
                    }
                }
                Err(_) => self.found.odd.push((self.root, path.to_path_buf())),
            }
        }
        self.found.add((self.root, path.to_path_buf()), Some(stamp), None, Look::default());
        Ok(())
    }

    fn judge_age(&mut self, path: &Path, below: &Stamp) {
        if below.changed > self.since {
            self.found.meanwhile.push((self.root, path.to_path_buf()));
        }
    }
}

/// A program may write attributes that look like the overlay's; the kernel keeps them under another name.
fn imitates(name: &std::ffi::OsString) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"user.overlay.overlay.") || name == b"user.overlay.redirect"
}

fn is_whiteout(parent: BorrowedFd<'_>, name: &OsStr, stamp: &Stamp) -> bool {
    let device = || rustix::fs::statat(parent, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).map(|stat| stat.st_rdev);
    stamp.kind == Kind::Device && device() == Ok(0)
}

/// `None` where they can't be read: unequal to any other, unless both are.
fn attributes_of(parent: BorrowedFd<'_>, name: &OsStr, stamp: &Stamp) -> Option<Vec<(std::ffi::OsString, Vec<u8>)>> {
    if stamp.kind != Kind::File {
        return None;
    }
    tree::open_file(parent, name).and_then(|file| tree::attributes(file.as_fd())).ok()
}

fn same_content(lower: BorrowedFd<'_>, upper: BorrowedFd<'_>, name: &OsStr, kind: Kind) -> bool {
    let digest = |parent| tree::open_file(parent, name).and_then(|file| Digest::of(&file)).ok();
    match kind {
        Kind::File => digest(lower).is_some_and(|below| digest(upper) == Some(below)),
        Kind::Symlink => tree::target(lower, name).is_ok_and(|below| tree::target(upper, name) == Ok(below)),
        Kind::Directory | Kind::Fifo | Kind::Socket | Kind::Device => false,
    }
}
