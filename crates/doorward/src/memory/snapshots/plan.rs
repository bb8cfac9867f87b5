//! Which files a call would change that nothing else can restore.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use doorward_engine::{Effect, Facts, Mark, Operation, Tracking, snapshot};
use rustix::fs::{Dir, FileType, Stat};
use rustix::io::Errno;

use super::doors::Doors;
use crate::memory::world::disk::DiskWorld;
use crate::policy::snapshot_limits::Limits;

/// How many paths are checked per file that may be copied.
// Most paths of a walk are git's and need no copy; without a bound a huge clean tree would be walked for nothing.
const LOOKS: u64 = 10;

/// What to copy.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub items: Vec<Item>,
    pub files: u64,
    pub bytes: u64,
    /// How many files git can restore.
    pub left_to_git: u64,
    /// What is not copied although the git command may touch it.
    left: Vec<PathBuf>,
    looked: u64,
}

/// One path to copy, as it looks now.
#[derive(Debug)]
pub(super) struct Item {
    pub path: PathBuf,
    pub stat: Stat,
}

/// One path that the call changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetPath {
    path: PathBuf,
    /// Count files git has as lost too: the command may discard staged changes.
    whole: bool,
    /// It is changed in place, under all its hard links.
    writes: bool,
    /// The program may follow links below it.
    follows: bool,
    /// One of git's own path patterns, or the root of a work tree.
    by_git: bool,
}

/// The paths a call would lose.
pub(super) fn lost(facts: &Facts) -> Vec<TargetPath> {
    facts.effects.iter().filter_map(|effect| Some(changed_path(snapshot::lost(effect)?, effect))).collect()
}

/// The paths a call edits in place.
pub(super) fn edited(facts: &Facts) -> Vec<TargetPath> {
    facts.effects.iter().filter_map(|effect| Some(changed_path(snapshot::edited(effect)?, effect))).collect()
}

fn changed_path(path: &str, effect: &Effect) -> TargetPath {
    let by_git = effect.marks.has(Mark::DiscardsWork);
    TargetPath {
        path: PathBuf::from(path),
        // `git clean` takes only what git doesn't know; `reset` and `checkout` also discard what is staged.
        whole: by_git && effect.by != "git clean",
        writes: effect.operation == Operation::Write,
        // `rm` and git remove a link itself. Any other program may write through it, where no copy was made.
        follows: effect.by != "rm" && !by_git,
        by_git,
    }
}

/// A directory that must not be copied, and the source of git's knowledge about files.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyContext<'a> {
    pub store: &'a Path,
    pub world: &'a DiskWorld,
    pub limits: Limits,
}

impl Plan {
    /// Everything at and below the paths that has to be copied, or why that is not possible.
    pub(super) fn of(wanted: &[TargetPath], context: CopyContext<'_>) -> Result<Plan, String> {
        let mut plan = Plan::default();
        let mut doors = Doors::default();
        for wanted in wanted {
            plan.add(wanted, context, &mut doors)?;
        }
        plan.items.sort_by(|a, b| a.path.cmp(&b.path));
        plan.items.dedup_by(|a, b| a.path == b.path);
        Ok(plan)
    }

    fn add(&mut self, wanted: &TargetPath, context: CopyContext<'_>, doors: &mut Doors) -> Result<(), String> {
        let shown = wanted.path.display();
        // A copy of the path as written would miss what the pattern matches.
        if wanted.by_git && is_pattern(&wanted.path) {
            return Err(format!("`{shown}` may be a git path pattern"));
        }
        // A copy of the store would contain itself.
        if context.store.starts_with(&wanted.path) || wanted.path.starts_with(context.store) {
            return Err(format!("`{shown}` contains the snapshots themselves"));
        }
        let first = self.items.len();
        let mut waiting = vec![(wanted.path.clone(), wanted.whole)];
        while let Some((path, whole)) = waiting.pop() {
            let stat = match doors.look(&path) {
                Ok(stat) => stat,
                Err(error) => return Err(format!("`{}` can't be inspected: {error}", path.display())),
            };
            self.looked += 1;
            if self.looked > context.limits.files.saturating_mul(LOOKS) {
                return Err(format!("more than {} paths would have to be checked", self.looked - 1));
            }
            if kind(&stat) == FileType::Directory {
                let below = TreePosition { wanted, whole };
                waiting.extend(self.directory(path, stat, below, (context, &mut *doors))?);
            } else {
                self.file(path, stat, TreePosition { wanted, whole }, context)?;
            }
        }
        if wanted.by_git {
            self.keep_needed_directories(first);
        }
        Ok(())
    }

    /// Git deletes files; a directory goes only when it is empty.
    fn keep_needed_directories(&mut self, first: usize) {
        let above = |files: &mut dyn Iterator<Item = &PathBuf>| -> BTreeSet<PathBuf> {
            files.flat_map(|path| path.ancestors().skip(1)).map(Path::to_owned).collect()
        };
        let is_directory = |item: &Item| kind(&item.stat) == FileType::Directory;
        let copied =
            above(&mut self.items.iter().skip(first).filter(|item| !is_directory(item)).map(|item| &item.path));
        let stays = above(&mut self.left.iter());
        let mut at = 0;
        self.items.retain(|item| {
            at += 1;
            at <= first || !is_directory(item) || copied.contains(&item.path) || !stays.contains(&item.path)
        });
    }

    /// Adds a directory; returns its entries.
    fn directory(
        &mut self,
        path: PathBuf,
        stat: Stat,
        below: TreePosition<'_>,
        (context, doors): (CopyContext<'_>, &mut Doors),
    ) -> Result<Vec<(PathBuf, bool)>, String> {
        let is_top = path == below.wanted.path;
        if !is_top && !below.whole && path.to_str().is_some_and(|path| context.world.is_rebuilt(path)) {
            self.leave(path, below);
            return Ok(Vec::new());
        }
        let most = usize::try_from(context.limits.files.saturating_mul(LOOKS)).unwrap_or(usize::MAX);
        let names =
            names(&path, most, doors).map_err(|error| format!("`{}` can't be read: {error}", path.display()))?;
        let is_repository = names.iter().any(|name| name == ".git");
        // A repository that is deleted itself can't restore its files.
        let whole = below.whole || (is_repository && !below.wanted.by_git);
        // Git's own commands leave `.git` in place.
        let is_kept = |name: &std::ffi::OsString| below.wanted.by_git && is_top && name == ".git";
        let inner = names.into_iter().filter(|name| !is_kept(name)).map(|name| (path.join(name), whole)).collect();
        self.items.push(Item { path, stat });
        Ok(inner)
    }

    fn leave(&mut self, path: PathBuf, below: TreePosition<'_>) {
        if below.wanted.by_git {
            self.left.push(path);
        }
    }

    fn file(
        &mut self,
        path: PathBuf,
        stat: Stat,
        below: TreePosition<'_>,
        context: CopyContext<'_>,
    ) -> Result<(), String> {
        let shown = path.display().to_string();
        match kind(&stat) {
            FileType::RegularFile | FileType::Symlink => {}
            FileType::Directory
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return Err(format!("`{shown}` is a device, socket or pipe")),
        }
        if !below.whole && is(&path, context, Tracking::Rebuildable) {
            self.leave(path, below);
            return Ok(());
        }
        if !below.whole && is(&path, context, Tracking::Clean) {
            self.left_to_git += 1;
            self.leave(path, below);
            return Ok(());
        }
        if below.wanted.follows && kind(&stat) == FileType::Symlink && path != below.wanted.path {
            return Err(format!("`{shown}` is a link, and its target may change too"));
        }
        // The copy would restore one name; the others would keep the changed content.
        if below.wanted.writes && kind(&stat) == FileType::RegularFile && stat.st_nlink > 1 {
            return Err(format!("`{shown}` has other hard links, and a change shows up under all of them"));
        }
        let user = rustix::process::geteuid();
        // Restoring could not give the file back to its owner.
        if stat.st_uid != user.as_raw() && !user.is_root() {
            return Err(format!("`{shown}` belongs to another user"));
        }
        self.files += 1;
        self.bytes = self.bytes.saturating_add(u64::try_from(stat.st_size).unwrap_or(u64::MAX));
        let Limits { files, bytes, .. } = context.limits;
        if self.files > files {
            return Err(format!("more than {}", crate::machine::count::counted(files, "file")));
        }
        if self.bytes > bytes {
            return Err(format!("more than {} MB", bytes / 1_000_000));
        }
        self.items.push(Item { path, stat });
        Ok(())
    }
}

/// Where something is in the tree of a path.
#[derive(Clone, Copy, Debug)]
struct TreePosition<'a> {
    wanted: &'a TargetPath,
    whole: bool,
}

pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// What git says about the file, if it knows it. Names that are not UTF-8 are unknown.
fn is(path: &Path, context: CopyContext<'_>, what: Tracking) -> bool {
    path.to_str().is_some_and(|path| context.world.file_tracking(path) == what)
}

/// Git reads these as patterns and pathspec magic.
fn is_pattern(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    // `:` after a slash starts pathspec magic such as `:(glob)` or `:!`.
    bytes.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\')) || bytes.windows(2).any(|pair| pair == b"/:")
}

/// The names in a directory reached without a link, unless there are too many.
fn names(path: &Path, most: usize, doors: &mut Doors) -> std::io::Result<Vec<std::ffi::OsString>> {
    let directory = Dir::read_from(doors.directory(path)?)?;
    let mut names = Vec::new();
    for entry in directory {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if names.len() > most {
            return Err(std::io::Error::other(format!("it has more than {most} entries")));
        }
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

/// The path still looks as it did when the plan was made.
pub(super) fn is_same(then: &Stat, now: Result<Stat, std::io::Error>) -> bool {
    let Ok(now) = now else { return false };
    // Size and times alone miss a rename over the file; inode and change time catch it.
    let seen = |stat: &Stat| {
        (
            (stat.st_dev, stat.st_ino, stat.st_mode, stat.st_size),
            (stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec),
        )
    };
    seen(then) == seen(&now)
}

/// The path does not exist.
pub(super) fn is_absent(error: &std::io::Error) -> bool {
    [Errno::NOENT, Errno::NOTDIR].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
