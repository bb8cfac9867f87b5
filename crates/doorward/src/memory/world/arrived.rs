//! What came into the project since it was trusted, and what is unchanged: decided by git's content hashes.

use std::path::Path;

use doorward_engine::{Arrival, GitWrite, Rewrite, Shown, Standing};

use crate::machine::checked_read;
use crate::machine::world::index::Tracked;
use crate::machine::world::objects::{ChangedPath, Id};
use crate::machine::world::repository::Repository;
use crate::machine::world::rewrites::{Standings, Writer};
use crate::machine::world::versions::{FILE, FileVersion, below};
use crate::memory::arrivals::Arrivals;
use crate::memory::world::disk::DiskWorld;
use crate::policy::trust::PinnedProject;

/// How many commits are searched for the state the project was trusted in.
// The same bound as for comparing branches; a project trusted longer ago counts as changed, which asks.
const PARTED: usize = 2_000;

/// How many commits one rebase may rewrite.
const COMMITS: usize = 300;

/// Branches that others build on, whatever the remote says.
// A clone often lacks `origin/HEAD`. Rewriting one of these loses other people's commits, not just one's own.
const USUAL_DEFAULTS: &[&str] = &["main", "master", "trunk", "develop"];

/// What is known about arrivals.
#[derive(Debug)]
pub(crate) enum Arrived {
    Kept(Arrivals),
    /// None were stored: there is no session, or the project was trusted by an older version.
    Untold,
    /// The stored state is gone or was tampered with: any change may have come from anywhere.
    Lost,
}

impl DiskWorld {
    /// When and how the user trusted this project.
    fn pinned(&self) -> Option<&PinnedProject> {
        self.project.as_deref().filter(|_| self.is_trusted).and_then(|project| self.trust.projects.get(project))
    }

    fn arrived(&self) -> &Arrived {
        self.arrivals.get_or_init(|| {
            let (Some(session), Some((project, at))) = (&self.session, self.arrivals_of()) else {
                return Arrived::Untold;
            };
            let has_head = self.pinned().is_some_and(|pinned| pinned.head.is_some());
            match session.arrivals(project) {
                Ok(Some(arrivals)) if arrivals.is_about(at) => Arrived::Kept(arrivals),
                Ok(Some(_)) => Arrived::Kept(Arrivals::since(at)),
                Ok(None) if !has_head => Arrived::Untold,
                Ok(None) | Err(_) => Arrived::Lost,
            }
        })
    }

    /// The repository of the project itself.
    fn own_repository(&self) -> Option<std::rc::Rc<Repository>> {
        let project = self.project.as_deref()?;
        self.repository(project).filter(|repository| repository.root() == project)
    }

    /// Git's hash of a file's content.
    fn bytes_at(&self, path: &str) -> Option<Id> {
        let repository = self.own_repository()?;
        let inner = path.strip_prefix(repository.root())?.trim_start_matches('/');
        let file = std::fs::symlink_metadata(path).ok()?;
        if let Some(index) = repository.index()
            && index.look_up(inner, &file) == Tracked::Same
        {
            return index.id_of(inner).map(|(_, id, _)| id);
        }
        let bytes = file.is_file().then(|| checked_read::bytes_of(Path::new(path), FILE)).flatten()?;
        repository.blob_id(&bytes)
    }

    /// The file has the content the project was trusted with.
    pub(super) fn is_as_trusted(&self, path: &str) -> bool {
        self.pinned().is_some_and(|pinned| pinned.head.is_some())
            && self.bytes_at(path).is_some_and(|id| self.is_trusted_id(path, &id))
    }

    fn is_trusted_id(&self, path: &str, id: &Id) -> bool {
        let known = || {
            let repository = self.own_repository()?;
            let inner = path.strip_prefix(repository.root())?.trim_start_matches('/');
            let head = Id::parse(self.pinned()?.head.as_deref()?)?;
            repository.objects().ok()?.entry_at(&head, inner).ok()?
        };
        known().is_some_and(|(_, trusted)| trusted == *id)
    }

    fn is_held(&self, path: &str, id: &Id) -> bool {
        match self.arrived() {
            Arrived::Kept(arrivals) => arrivals.had(path, &id.to_string()),
            Arrived::Untold | Arrived::Lost => false,
        }
    }

    /// The commit `source` has the file as it was when it left the trusted history.
    fn is_older(&self, path: &str, id: &Id, source: Id) -> bool {
        let known = || {
            let repository = self.own_repository()?;
            let inner = path.strip_prefix(repository.root())?.trim_start_matches('/');
            let head = Id::parse(self.pinned()?.head.as_deref()?)?;
            let objects = repository.objects().ok()?;
            let parted = || objects.merge_base(&head, &source, PARTED).ok().flatten();
            let base = (*self.parted.borrow_mut().entry(source).or_insert_with(parted))?;
            objects.entry_at(&base, inner).ok()?
        };
        known().is_some_and(|(_, older)| older == *id)
    }

    pub(super) fn find_rewrites(&self, write: &GitWrite) -> Rewrite {
        let Some(repository) = self.repository(&write.directory) else { return Rewrite::Nameless };
        let objects = match repository.objects() {
            Ok(objects) => objects,
            Err(problem) => return Rewrite::Unread(problem.to_owned()),
        };
        let found = Writer { repository: &repository, objects, world: self, write }.find(self);
        let is_own = self.project.as_deref() == Some(repository.root());
        if is_own && write.into.is_none() {
            let kept = found.before.into_iter().filter(|(path, id)| self.bytes_at(path) == Some(*id));
            let kept = kept.filter(|(path, _)| self.find_arrival(path).is_none());
            self.replaced.borrow_mut().extend(kept.map(|(path, id)| FileVersion { path, id: id.to_string() }));
        }
        found.rewrite
    }

    /// The branch's commits since then are on no remote branch, it is not the default branch, and the reflog is on.
    pub(super) fn is_rewritable(&self, directory: &str, branch: &str, since: &str) -> bool {
        let known = || {
            let repository = self.repository(directory)?;
            let git = repository.describe();
            let objects = repository.objects().ok()?;
            let head = objects.resolve_branch(branch).ok()?;
            let base = objects.resolve_with(since, &|branch| repository.upstream(branch)).ok()?;
            let rewritten = objects.between(&[base], head, COMMITS).ok()?;
            if rewritten.is_empty() {
                return Some(true);
            }
            let name = if branch == "HEAD" { git.branch? } else { branch.to_owned() };
            let is_default = git.default_branch.is_some_and(|default| default == name);
            if is_default || USUAL_DEFAULTS.contains(&name.as_str()) || !repository.keeps_reflog() {
                return None;
            }
            let own = objects.between(&objects.tips("refs/remotes/").ok()?, head, COMMITS).ok()?;
            Some(rewritten.iter().all(|commit| own.contains(commit)))
        };
        known().unwrap_or(false)
    }

    /// The paths that differ in what a command shows.
    pub(super) fn shown_paths(&self, directory: &str, shown: &Shown) -> Option<Vec<String>> {
        let repository = self.repository(directory)?;
        let objects = repository.objects().ok()?;
        // There the parents of a commit are others than it says.
        if ["shallow", "info/grafts"].iter().any(|name| repository.common().join(name).exists()) {
            return None;
        }
        let commit = |name: &str| objects.resolve(name).ok();
        // What has no parent is new as a whole.
        let of_commit = |id: &Id| -> Option<Vec<ChangedPath>> {
            let parents = objects.parents(id).ok()?;
            let from: Vec<Option<Id>> =
                if parents.is_empty() { vec![None] } else { parents.into_iter().map(Some).collect() };
            let changes: Option<Vec<_>> = from.into_iter().map(|from| objects.diff(from, *id).ok()).collect();
            Some(changes?.concat())
        };
        let changes = match shown {
            Shown::Commits(names) => {
                let all: Option<Vec<_>> = names.iter().map(|name| of_commit(&commit(name)?)).collect();
                all?.concat()
            }
            Shown::Line(name, count) => {
                let (mut id, mut changes) = (commit(name)?, Vec::new());
                for at in 1..=*count {
                    changes.extend(of_commit(&id)?);
                    id = match objects.parents(&id).ok()?.as_slice() {
                        [] => break,
                        [parent] => *parent,
                        [_, _, ..] if at == *count => break,
                        // Git goes on along both sides, by date.
                        [_, _, ..] => return None,
                    };
                }
                changes
            }
            Shown::Between(one, other) => objects.diff(Some(commit(one)?), commit(other)?).ok()?,
            Shown::Since(one, other) => {
                let (one, other) = (commit(one)?, commit(other)?);
                let base = objects.merge_base(&one, &other, PARTED).ok()??;
                objects.diff(Some(base), other).ok()?
            }
        };
        Some(changes.into_iter().map(|changed| format!("{}/{}", repository.root(), changed.path)).collect())
    }

    /// A rebase of a private branch is in progress in the repository around a directory.
    pub(super) fn rebases(&self, directory: &str) -> bool {
        let Some(repository) = self.repository(directory) else { return false };
        let begun = ["rebase-merge", "rebase-apply"]
            .iter()
            .find_map(|place| checked_read::start_of(repository.git_directory().join(place).join("head-name"), 4096));
        let name = begun.as_deref().and_then(|name| name.trim().strip_prefix("refs/heads/"));
        let default = repository.describe().default_branch;
        name.is_some_and(|name| !USUAL_DEFAULTS.contains(&name) && default.as_deref() != Some(name))
    }

    /// The content of project files that the call may replace, as git hashes.
    pub(crate) fn take_replaced(&self) -> Vec<FileVersion> {
        self.replaced.take()
    }

    /// The project whose arrivals are tracked, and since when.
    pub(crate) fn arrivals_of(&self) -> Option<(&str, u64)> {
        // A project trusted only by the configuration has no such time.
        let at = self.pinned().map_or(0, |pinned| pinned.at);
        self.project.as_deref().filter(|_| self.is_trusted).map(|project| (project, at))
    }

    pub(super) fn find_arrival(&self, path: &str) -> Option<Arrival> {
        let project = self.project.as_deref().filter(|project| below(path, project))?;
        if let Some(nested) = self.nested(path, project) {
            return Some(Arrival::Repository(nested));
        }
        let place = match self.arrived() {
            Arrived::Kept(arrivals) => arrivals.above(path)?.to_owned(),
            Arrived::Untold => return None,
            Arrived::Lost => path.to_owned(),
        };
        let is_known = self.bytes_at(path).is_some_and(|id| self.is_trusted_id(path, &id) || self.is_held(path, &id));
        (!is_known).then_some(Arrival::Brought(place))
    }

    /// A nested repository, unless it is a submodule at the commit the project names.
    fn nested(&self, path: &str, project: &str) -> Option<String> {
        let directory = match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => path,
            Ok(_) | Err(_) => Path::new(path).parent()?.to_str()?,
        };
        let repository = self.repository(directory)?;
        let root = repository.root();
        if root == project || !below(root, project) {
            return None;
        }
        let own = self.own_repository()?;
        let inner = root.strip_prefix(project)?.trim_start_matches('/');
        let recorded = own.index().and_then(|index| index.id_of(inner)).filter(|(mode, _, _)| *mode == 0o160_000);
        let head = repository.objects().ok().and_then(|objects| objects.resolve("HEAD").ok());
        let has_head = self.pinned().is_some_and(|pinned| pinned.head.is_some());
        let is_trusted = |id: &Id| !has_head || self.is_trusted_id(root, id) || self.is_held(root, id);
        let is_submodule = recorded.is_some_and(|(_, id, _)| Some(id) == head && is_trusted(&id));
        (!is_submodule).then(|| root.to_owned())
    }
}

impl Standings for DiskWorld {
    fn standing(&self, path: &str, id: &Id, source: Option<Id>) -> Standing {
        if self.is_trusted_id(path, id) || self.is_held(path, id) {
            Standing::Known
        } else if source.is_some_and(|source| self.is_older(path, id, source)) {
            Standing::Older
        } else {
            Standing::New
        }
    }
}
