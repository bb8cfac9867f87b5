//! Which files a git command would write: looked up in index and trees, as git itself would.

use std::collections::{BTreeMap, BTreeSet};

use doorward_engine::{Becomes, GitSource, GitWrite, Incoming, Rewrite, Standing, World, loads_by_itself};

use super::index::Tracked;
use super::objects::{ChangedPath, Id, ObjectKind, Objects, Unread};
use super::repository::Repository;
use crate::machine::checked_read;

/// How many commits are searched for the point where two branches diverged.
// Branches of daily work parted a few hundred commits ago; an older fork is answered with "not known", which asks.
const PARTED: usize = 2_000;

/// How many commits one command may apply or check out.
// A rebase of more is rare, and each commit costs reading its trees.
const COMMITS: usize = 150;

/// Longer files are not read.
const TEXT: u64 = 256 << 10;

/// How many files are read for what a later command of the same call may run.
// Decision 0024: a command that runs more sources than this asks.
const TEXTS: usize = 48;

const LINK: u32 = 0o120_000;
const REPOSITORY: u32 = 0o160_000;
const DIRECTORY: u32 = 0o040_000;

/// How new content relates to what was there.
pub(crate) trait Standings {
    fn standing(&self, path: &str, id: &Id, source: Option<Id>) -> Standing;
}

/// One command, and the repository it works on.
pub(crate) struct Writer<'w> {
    pub repository: &'w Repository,
    pub objects: &'w Objects,
    pub world: &'w dyn World,
    pub write: &'w GitWrite,
}

/// The result: the files, and their previous content as git hashes.
pub(crate) struct Rewritten {
    pub rewrite: Rewrite,
    pub before: Vec<(String, Id)>,
}

impl Writer<'_> {
    pub(crate) fn find(&self, standings: &dyn Standings) -> Rewritten {
        match self.changes() {
            Ok((changes, source)) => {
                let before = changes.iter().filter_map(|change| Some((self.absolute(&change.path), change.from?.1)));
                let before = before.collect();
                Rewritten { rewrite: Rewrite::Files(self.incoming(changes, source, standings)), before }
            }
            Err(Unread::NoSuchName) => Rewritten { rewrite: Rewrite::Nameless, before: Vec::new() },
            Err(unread) => Rewritten { rewrite: Rewrite::Unread(unread.to_string()), before: Vec::new() },
        }
    }

    fn incoming(&self, changes: Vec<ChangedPath>, source: Option<Id>, standings: &dyn Standings) -> Vec<Incoming> {
        let mut texts = TEXTS;
        let meant = changes.into_iter().map(|change| (self.absolute(&change.path), change.to));
        let meant = meant.filter(|(path, _)| self.is_meant(path));
        let one = |(path, to): (String, Option<(u32, Id)>)| {
            let Some((mode, id)) = to else {
                return Incoming { path, becomes: None, standing: Standing::New };
            };
            let standing = standings.standing(&path, &id, source);
            let is_wanted = standing != Standing::Known && (loads_by_itself(&path, self.world) || may_run(&path));
            let becomes = match mode & 0o170_000 {
                LINK => self.text(&id).map_or(Becomes::Unseen, Becomes::Link),
                REPOSITORY => Becomes::Repository,
                _ if is_wanted && texts > 0 => {
                    texts -= 1;
                    self.text(&id).map_or(Becomes::Unseen, Becomes::Text)
                }
                _ => Becomes::Unseen,
            };
            Incoming { path, becomes: Some(becomes), standing }
        };
        meant.map(one).collect()
    }

    fn text(&self, id: &Id) -> Option<String> {
        let (kind, bytes) = self.objects.read(id, TEXT).ok()?;
        String::from_utf8(bytes).ok().filter(|_| kind == ObjectKind::Blob)
    }

    fn absolute(&self, path: &str) -> String {
        let base = self.write.into.as_deref().unwrap_or(self.repository.root());
        format!("{}/{path}", base.trim_end_matches('/'))
    }

    fn is_meant(&self, path: &str) -> bool {
        // Git can be told to ignore case, by a flag, pathspec magic or a variable.
        let path = path.to_lowercase();
        let below = |limit: &String| {
            path.strip_prefix(&limit.to_lowercase()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.write.into.is_some() || self.write.paths.is_empty() || self.write.paths.iter().any(below)
    }

    /// What differs, and the commit it comes from.
    fn changes(&self) -> Result<(Vec<ChangedPath>, Option<Id>), Unread> {
        let objects = self.objects;
        match &self.write.source {
            GitSource::Index => Ok((self.staged()?, None)),
            GitSource::Sparse => Ok((self.left_out()?, None)),
            GitSource::Tree(name) => {
                let (head, to) = (self.head()?, self.commit(name)?);
                let mut changes = objects.diff(head, to)?;
                // Missing committed files come back too.
                if head == Some(to) || !self.write.paths.is_empty() {
                    changes.extend(self.staged()?);
                }
                Ok((changes, Some(to)))
            }
            GitSource::Subtree(name) => {
                let to = self.commit(name)?;
                Ok((objects.diff(None, to)?, Some(to)))
            }
            GitSource::Side(name) => {
                let to = self.commit(name)?;
                let base = self.parting(to)?;
                let changes = objects.diff(base, to)?;
                self.is_in_place(&changes, base)?;
                Ok((changes, Some(to)))
            }
            GitSource::Change(name) => Ok((self.series(name)?, None)),
            GitSource::Undo(name) => Ok((self.undone(name)?, None)),
            GitSource::Stash(name) => Ok((self.put_aside(name)?, None)),
            GitSource::Bisect(names) => Ok((self.tried(names)?, None)),
            GitSource::Unknown => Err(Unread::Unsupported("which commit is meant")),
        }
    }

    fn head(&self) -> Result<Option<Id>, Unread> {
        match self.objects.resolve("HEAD") {
            Ok(head) => Ok(Some(head)),
            // A repository without any commit.
            Err(Unread::NoSuchName) => Ok(None),
            Err(unread) => Err(unread),
        }
    }

    /// Where the other side diverged from the current one; the current one itself if unknown.
    fn parting(&self, other: Id) -> Result<Option<Id>, Unread> {
        let Some(head) = self.head()? else { return Ok(None) };
        match self.objects.merge_base(&head, &other, PARTED) {
            Ok(Some(base)) => Ok(Some(base)),
            Ok(None) | Err(Unread::OverBudget) => Ok(Some(head)),
            Err(unread) => Err(unread),
        }
    }

    /// A change to a file that was moved here follows it to its new path, which we don't search for.
    fn is_in_place(&self, changes: &[ChangedPath], base: Option<Id>) -> Result<(), Unread> {
        // Git follows renames by similarity; guessing another way than git does would name the wrong file.
        const MOVED: Unread = Unread::Unsupported("where changes to files go that were moved or deleted here");
        let (Some(head), Some(base)) = (self.head()?, base) else { return Ok(()) };
        if head == base {
            return Ok(());
        }
        let here = self.objects.diff(Some(base), head)?;
        let gone: BTreeSet<&str> =
            here.iter().filter(|change| change.to.is_none()).map(|change| change.path.as_str()).collect();
        if gone.is_empty() {
            return Ok(());
        }
        let head = self.objects.tree_of(&head)?;
        for change in changes.iter().filter(|change| change.to.is_some()) {
            let above = change.path.rsplit_once('/').map(|(directory, _)| directory);
            let is_moved = match (change.from, above) {
                (Some(_), _) => gone.contains(change.path.as_str()),
                (None, Some(directory)) => {
                    is_above(directory, &gone) && self.objects.entry_at(&head, directory)?.is_none()
                }
                (None, None) => false,
            };
            if is_moved {
                return Err(MOVED);
            }
        }
        Ok(())
    }

    /// A commit, by the name a command gives it.
    fn commit(&self, name: &str) -> Result<Id, Unread> {
        if name == "BISECT_START" {
            let path = self.repository.git_directory().join(name);
            let start = checked_read::start_of(path, 4096).ok_or(Unread::NoSuchName)?;
            return self.objects.resolve_branch(start.trim());
        }
        if is_path(name) {
            return Err(Unread::NoSuchName);
        }
        if name.contains("@{u") {
            return self.objects.resolve_with(name, &|branch| self.repository.upstream(branch));
        }
        self.is_one_name(name)?;
        match self.objects.resolve_branch(name) {
            Err(Unread::NoSuchName) => self.guessed(name),
            other => other,
        }
    }

    /// Some commands take the tag, others the branch, if both have the name.
    fn is_one_name(&self, name: &str) -> Result<(), Unread> {
        let base = name.find(['~', '^', '@', ':']).and_then(|end| name.get(..end)).unwrap_or(name);
        let of = |place: &str| match self.objects.resolve(&format!("refs/{place}/{base}^0")) {
            Ok(id) => Ok(Some(id)),
            Err(Unread::NoSuchName) => Ok(None),
            Err(unread) => Err(unread),
        };
        if base.is_empty() {
            return Ok(());
        }
        match (of("heads")?, of("tags")?) {
            (Some(branch), Some(tag)) if branch != tag => Err(Unread::Ambiguous),
            (Some(_) | None, Some(_) | None) => Ok(()),
        }
    }

    /// `git switch NAME` takes the branch of that name of the only remote that has one.
    fn guessed(&self, name: &str) -> Result<Id, Unread> {
        let remotes = self.repository.describe().remotes;
        let mut found = Vec::new();
        for remote in remotes.keys() {
            match self.objects.resolve(&format!("refs/remotes/{remote}/{name}")) {
                Ok(id) => found.push(id),
                Err(Unread::NoSuchName) => {}
                Err(unread) => return Err(unread),
            }
        }
        match found.as_slice() {
            [] => Err(Unread::NoSuchName),
            [id] => Ok(*id),
            _ => Err(Unread::Ambiguous),
        }
    }

    /// What one commit, or each of a range, changed against its parents.
    fn series(&self, name: &str) -> Result<Vec<ChangedPath>, Unread> {
        let commits = match name.split_once("..") {
            Some((good, bad)) if !bad.starts_with('.') => {
                let end = |name: &str| self.commit(if name.is_empty() { "HEAD" } else { name });
                self.objects.between(&[end(good)?], end(bad)?, COMMITS)?
            }
            Some(_) => return Err(Unread::Unsupported("this way of naming a range")),
            None => vec![self.commit(name)?],
        };
        let mut all = BTreeMap::new();
        for commit in commits {
            for change in self.of_commit(commit)? {
                all.insert((change.path.clone(), change.to), change);
            }
        }
        Ok(all.into_values().collect())
    }

    /// Which parent counts for a merge, only a flag says: all of them do.
    fn of_commit(&self, commit: Id) -> Result<Vec<ChangedPath>, Unread> {
        let parents = self.objects.parents(&commit)?;
        if parents.is_empty() {
            return self.objects.diff(None, commit);
        }
        let mut all = Vec::new();
        for parent in parents {
            let changes = self.objects.diff(Some(parent), commit)?;
            self.is_in_place(&changes, Some(parent))?;
            all.extend(changes);
        }
        Ok(all)
    }

    /// What reverting a commit would bring back.
    fn undone(&self, name: &str) -> Result<Vec<ChangedPath>, Unread> {
        let changes = self.series(name)?;
        let turned = |change: ChangedPath| ChangedPath { path: change.path, from: change.to, to: change.from };
        Ok(changes.into_iter().map(turned).collect())
    }

    /// A stash is a commit on what was checked out, with the index and the untracked files as further parents.
    fn put_aside(&self, name: &str) -> Result<Vec<ChangedPath>, Unread> {
        let stash = self.objects.resolve(name)?;
        let parents = self.objects.parents(&stash)?;
        let base = parents.first().copied();
        let mut all = self.objects.diff(base, stash)?;
        self.is_in_place(&all, base)?;
        if let Some(index) = parents.get(1) {
            all.extend(self.objects.diff(base, *index)?);
        }
        if let Some(untracked) = parents.get(2) {
            all.extend(self.objects.diff(None, *untracked)?);
        }
        Ok(all)
    }

    /// Every commit between the good ones and the bad one may be checked out.
    fn tried(&self, names: &[String]) -> Result<Vec<ChangedPath>, Unread> {
        let mut ends = names.iter().filter(|name| !name.starts_with('-')).map(|name| self.commit(name));
        let mut all: Vec<Id> = ends.by_ref().collect::<Result<_, _>>()?;
        let mut known = Vec::new();
        for name in self.marked()? {
            let id = self.objects.resolve(&format!("refs/bisect/{name}"))?;
            if name == "bad" || name == "new" { all.insert(0, id) } else { known.push(id) }
        }
        known.extend(self.head()?);
        let Some(bad) = all.first().copied() else { return Ok(Vec::new()) };
        let good: Vec<Id> = all.iter().skip(1).copied().chain(known).collect();
        let mut changes = Vec::new();
        // It is not always clear which one is bad, so treat all of them as bad.
        for end in std::iter::once(bad).chain(good.iter().copied()) {
            let others: Vec<Id> = good.iter().copied().chain([bad]).filter(|id| *id != end).collect();
            for commit in self.objects.between(&others, end, COMMITS)? {
                for parent in self.objects.parents(&commit)? {
                    changes.extend(self.objects.diff(Some(parent), commit)?);
                }
            }
        }
        Ok(changes)
    }

    /// The names below `refs/bisect`.
    fn marked(&self) -> Result<Vec<String>, Unread> {
        let directory = self.repository.git_directory().join("refs/bisect");
        let Ok(entries) = std::fs::read_dir(directory) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in entries.take(COMMITS) {
            let name = entry.map_err(|_| Unread::Unreadable)?.file_name();
            names.push(name.into_string().map_err(|_| Unread::Corrupt)?);
        }
        Ok(names)
    }

    /// Index entries that are not in the work tree as staged, so something may load them.
    fn staged(&self) -> Result<Vec<ChangedPath>, Unread> {
        if !self.repository.has_index() {
            // A work tree that was made without its files has none staged either.
            return self.head()?.map_or_else(|| Ok(Vec::new()), |head| self.objects.diff(None, head));
        }
        self.entries(false)
    }

    /// The same, plus existing ones that may be left out from now on.
    fn left_out(&self) -> Result<Vec<ChangedPath>, Unread> {
        self.entries(true)
    }

    fn entries(&self, with_present: bool) -> Result<Vec<ChangedPath>, Unread> {
        let index = self.repository.index().ok_or(Unread::Unsupported("the index"))?;
        let mut changes = Vec::new();
        for (name, mode, id, _) in index.entries() {
            let Ok(name) = std::str::from_utf8(name) else { return Err(Unread::Corrupt) };
            if mode == DIRECTORY {
                return Err(Unread::Unsupported("a sparse index"));
            }
            let absolute = self.absolute(name);
            if !loads_by_itself(&absolute, self.world) {
                continue;
            }
            let file = std::fs::symlink_metadata(&absolute);
            let is_present = file.is_ok_and(|file| index.look_up(name, &file) == Tracked::Same);
            let to = (!is_present).then_some((mode, id));
            if !is_present || with_present {
                changes.push(ChangedPath { path: name.to_owned(), from: None, to });
            }
        }
        Ok(changes)
    }
}

/// One of the paths is below the directory.
fn is_above(directory: &str, paths: &BTreeSet<&str>) -> bool {
    let start = format!("{directory}/");
    paths.range(start.as_str()..).next().is_some_and(|path| path.starts_with(&start))
}

/// Not a possible reference name, nor any other way of naming a commit.
fn is_path(name: &str) -> bool {
    let may_be_revision = name.contains("^{") || name.contains("@{") || (name.starts_with(':') && name.len() > 2);
    let is_odd = name.starts_with('.') || name.ends_with('/') || name.contains(['*', '?', '[', '\\', ' ']);
    (is_odd && !may_be_revision) || matches!(name, ":/" | ":")
}

/// Files that a later command of the call may run or load: worth reading.
fn may_run(path: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "py", "js", "mjs", "cjs", "ts", "mts", "tsx", "jsx", "sh", "bash", "zsh", "mk", "json", "toml", "yml", "yaml",
        "cfg", "ini", "just",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_none_or(|(_, ending)| ENDINGS.contains(&ending))
}
