//! Directories among temporary files that the session made, and what of the files in them is its own.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use doorward_engine::Tracking;

use crate::machine::checked_read;
use crate::machine::clock::milliseconds;
use crate::machine::world::repository::Repository;
use crate::machine::world::temporary;
use crate::memory::session::Session;
use crate::memory::world::disk::DiskWorld;

/// More entries are not looked at; a directory that holds more is asked about.
// A clone of an ordinary repository. Looking at so many takes a few milliseconds.
const ENTRIES: usize = 5_000;

/// Of what git says of a work tree, so much is read: a name, or the first lines of its history.
const HEAD: u64 = 4096;

/// File system clocks lag by a few milliseconds.
const SLACK_MS: u64 = 20;

/// A directory that the session made, as it is found now.
struct Made {
    at_ms: u64,
    device: u64,
    user: u32,
}

impl DiskWorld {
    /// A build of this session made it, and git does not keep it.
    pub(super) fn is_built(&self, path: &str) -> bool {
        let Some(session) = self.session.as_ref().filter(|_| self.is_trusted) else { return false };
        let is_made =
            session.has_built() && std::fs::symlink_metadata(path).is_ok_and(|found| session.built(path, &found));
        let is_kept = || matches!(self.file_tracking(path), Tracking::Clean | Tracking::Modified | Tracking::Unknown);
        is_made && !is_kept()
    }

    /// A work tree of the project that this session added. Its branch stays when it goes; a commit without one would not.
    pub(super) fn has_added(&self, directory: &str) -> bool {
        let Some(session) = self.session.as_ref().filter(|_| !self.is_distant(directory)) else { return false };
        let made = session.when_created(directory).zip(std::fs::symlink_metadata(directory).ok());
        let is_own = made.is_some_and(|(at_ms, found)| {
            let user = rustix::process::geteuid().as_raw();
            found.is_dir() && Made { at_ms, device: found.dev(), user }.has_made(&found)
        });
        let own = self.project.as_deref().and_then(|project| self.repository(project));
        let Some((own, added)) = own.zip(Repository::at(directory, &self.home)).filter(|_| is_own) else {
            return false;
        };
        let real = |path: &Path| path.canonicalize().ok();
        let git_directory = added.git_directory();
        let is_of_project = real(added.common()).is_some_and(|common| Some(&common) == real(own.common()).as_ref());
        let text = |name: &str| checked_read::start_of(git_directory.join(name), HEAD).unwrap_or_default();
        let keeps_all = text("HEAD").starts_with("ref: refs/heads/") || text("logs/HEAD").lines().count() <= 1;
        is_of_project && git_directory.parent().is_some_and(|parent| parent.ends_with("worktrees")) && keeps_all
    }
}

/// The path is a directory that the session made, or lies in one, reached without links, and is as young as it.
pub(crate) fn is_made(path: &str, session: &Session) -> bool {
    let Some((root, made)) = root_above(path, session) else { return false };
    let inner: Vec<&Path> = Path::new(path).ancestors().take_while(|above| *above != Path::new(&root)).collect();
    let is_own = |at: usize, above: &Path| {
        above.symlink_metadata().is_ok_and(|found| made.is_own(&found) && (at == 0 || found.is_dir()))
    };
    inner.iter().enumerate().all(|(at, above)| is_own(at, above))
}

/// Everything in the directory came to be there in this session, and a repository elsewhere has no work tree in it.
pub(crate) fn holds_only_own(directory: &str, session: &Session) -> bool {
    let Some((_, made)) = root_above(directory, session).filter(|_| is_made(directory, session)) else { return false };
    let mut waiting = vec![Path::new(directory).to_owned()];
    let mut seen = 0;
    while let Some(at) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&at) else { return false };
        for entry in entries {
            seen += 1;
            let Some((entry, found)) = entry.ok().and_then(|entry| Some((entry.path(), entry.metadata().ok()?))) else {
                return false;
            };
            let is_work_tree = found.is_file() && entry.ends_with(".git");
            if seen > ENTRIES || is_work_tree || !made.has_made(&found) {
                return false;
            }
            if found.is_dir() {
                waiting.push(entry);
            }
        }
    }
    true
}

/// The outermost directory above the path, or the path itself, that the session made among temporary files.
fn root_above(path: &str, session: &Session) -> Option<(String, Made)> {
    let shared = temporary::fleeting();
    let ancestors = Path::new(path).ancestors().filter_map(Path::to_str);
    let below = ancestors.take_while(|above| shared.iter().any(|root| temporary::lies_below(above, root)));
    let (root, at_ms) = below.filter_map(|above| Some((above, session.when_created(above)?))).last()?;
    let found = Path::new(root).symlink_metadata().ok()?;
    let made = Made { at_ms, device: found.dev(), user: rustix::process::geteuid().as_raw() };
    (found.is_dir() && made.is_own(&found) && temporary::is_own_below(root, &shared)).then(|| (root.to_owned(), made))
}

impl Made {
    /// Made after the directory, by this user, on the same disk, and no link.
    fn is_own(&self, found: &Metadata) -> bool {
        self.has_made(found) && !found.is_symlink() && (found.is_dir() || found.nlink() == 1)
    }

    /// The same for what is only taken away: a link goes without what it leads to.
    fn has_made(&self, found: &Metadata) -> bool {
        let born = found.created().or_else(|_| found.modified()).map(milliseconds).unwrap_or_default();
        found.dev() == self.device && found.uid() == self.user && born.saturating_add(SLACK_MS) >= self.at_ms
    }
}
