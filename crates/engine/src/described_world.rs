//! A machine described in JSON instead of the one that doorward runs on: for `check --world` and for tests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::description::second_work_tree;
pub(crate) use crate::description::{Description, FileDescription, GitDescription, GitOperation};
use crate::incoming::{Arrival, Becomes, GitSource, GitWrite, Incoming, Rewrite, Standing};
use crate::intent::SaidBefore;
use crate::path::{join, lexical, under};
use crate::world::{
    Configured, Content, Git, History, Identity, Kind, Look, Machine, McpTrust, Memory, Repositories, SessionView,
    Settings, Shell, Stats, Tally, Tracking,
};

/// A [`Description`] with its relative keys resolved.
#[derive(Clone, Debug)]
pub struct DescribedWorld {
    description: Description,
    temp: Vec<String>,
    files: BTreeMap<String, FileDescription>,
    symlinks: BTreeMap<String, String>,
    hardlinks: BTreeMap<String, String>,
    git_root: Option<String>,
    tracked: Option<Vec<String>>,
    absent: Vec<String>,
    made: Vec<String>,
    settings: Settings,
    own_programs: &'static [u8],
}

impl DescribedWorld {
    /// Resolves the description's relative paths against `cwd`.
    pub fn new(mut description: Description, cwd: &str) -> DescribedWorld {
        let absolute = |path: &str| lexical(&join(cwd, path));
        let files = std::mem::take(&mut description.files);
        let symlinks = std::mem::take(&mut description.symlinks);
        let hardlinks = std::mem::take(&mut description.hardlinks);
        let git_root = description.git.as_ref().map(|git| {
            let root = git.root.as_deref().or(description.project.as_deref()).unwrap_or(cwd);
            absolute(root)
        });
        description.repositories.iter_mut().for_each(|git| git.root = git.root.as_deref().map(absolute));
        let tracked = description.git.as_ref().and_then(|git| git.tracked_below(cwd));
        DescribedWorld {
            files: files.into_iter().map(|(path, file)| (absolute(&path), file)).collect(),
            hardlinks: hardlinks.into_iter().map(|(path, other)| (absolute(&path), absolute(&other))).collect(),
            symlinks: symlinks.into_iter().map(|(path, target)| (absolute(&path), target)).collect(),
            temp: description.temp.clone().unwrap_or_else(|| vec!["/tmp".into(), "/var/tmp".into()]),
            absent: description.absent.iter().map(|path| absolute(path)).collect(),
            made: description.made.iter().map(|path| absolute(path)).collect(),
            git_root,
            tracked,
            own_programs: &[],
            settings: Settings {
                denied_paths: description.denied_paths.clone(),
                allowed_hosts: description.allowed_hosts.clone(),
                denied_hosts: description.denied_hosts.clone(),
                protected_paths: description.protected_paths.clone(),
                ..Settings::default()
            },
            description,
        }
    }

    /// The same world with program files of the user's own.
    #[must_use]
    pub fn with_programs(mut self, own: &'static [u8]) -> DescribedWorld {
        self.own_programs = own;
        self
    }

    /// The same world under other settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> DescribedWorld {
        self.settings = settings;
        self
    }

    /// The innermost repository that the path lies in, and its root.
    fn repository(&self, path: &str) -> Option<(&GitDescription, &str)> {
        let first = self.description.git.as_ref().zip(self.git_root.as_deref());
        let others = self.description.repositories.iter().filter_map(|git| Some((git, git.root.as_deref()?)));
        first.into_iter().chain(others).filter(|(_, root)| under(path, root)).max_by_key(|(_, root)| root.len())
    }

    fn file(&self, path: &str) -> Option<&FileDescription> {
        self.files.get(path).or_else(|| {
            self.description
                .case_insensitive
                .then(|| self.files.iter().find(|(known, _)| known.eq_ignore_ascii_case(path)).map(|(_, file)| file))?
        })
    }

    /// Nothing is there: it is described so, or lies where everything would be described.
    fn is_absent(&self, path: &str) -> bool {
        let is_left_out = || {
            let is_left_out = self.absent.iter().any(|absent| under(path, absent));
            // Every machine has a directory for temporary files.
            is_left_out
                && !self.temp.iter().any(|temp| temp == path)
                && !self.made.iter().any(|made| made == path)
                && !self.has_files_below(path)
        };
        !self.symlinks.contains_key(path) && self.file(path).map_or_else(is_left_out, |file| file.exists == Some(false))
    }

    /// A path that the session made, or one below it; a link leads out of it.
    fn is_below_made(&self, path: &str) -> bool {
        self.made.iter().any(|made| under(path, made)) && !self.symlinks.contains_key(path)
    }

    fn has_files_below(&self, path: &str) -> bool {
        self.files.keys().any(|known| known != path && under(known, path))
    }
}

impl Machine for DescribedWorld {
    fn home(&self) -> Option<&str> {
        self.description.home.as_deref()
    }

    fn temporary(&self) -> &[String] {
        &self.temp
    }

    fn is_own_temporary(&self, path: &str) -> bool {
        let parent = crate::path::parent(path);
        let is_root = |directory: &str| directory != "/var/tmp" && self.temp.iter().any(|temp| temp == directory);
        let is_own = |directory: &str| {
            self.is_below_made(directory)
                || self.file(directory).is_some_and(|file| file.exists == Some(false))
                || self.absent.iter().any(|absent| under(directory, absent)) && self.is_absent(directory)
        };
        let above = std::iter::successors(Some(parent), |directory| Some(crate::path::parent(directory)));
        let is_below = self.temp.iter().any(|temp| under(parent, temp));
        is_below
            && above.take_while(|directory| *directory != "/").find(|directory| !is_own(directory)).is_some_and(is_root)
    }

    fn shell(&self) -> Shell {
        self.description.shell
    }

    fn environment(&self, name: &str) -> Option<Cow<'_, str>> {
        self.description.env.get(name).map(|value| Cow::Borrowed(value.as_str()))
    }

    fn environment_all(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        self.description
            .env
            .iter()
            .map(|(name, value)| (Cow::Borrowed(name.as_str()), Cow::Borrowed(value.as_str())))
            .collect()
    }

    fn case_insensitive(&self) -> bool {
        self.description.case_insensitive
    }

    fn look(&self, path: &str) -> Look {
        let file = self.file(path);
        let kind = match file {
            _ if self.symlinks.contains_key(path) => Kind::Link,
            _ if self.is_absent(path) => Kind::Missing,
            None if self.has_files_below(path)
                || self.absent.iter().any(|absent| absent == path)
                || self.made.iter().any(|made| made == path) =>
            {
                Kind::Directory
            }
            Some(_) => Kind::File,
            None if self.description.complete => Kind::Missing,
            None => Kind::Unlisted,
        };
        Look {
            kind,
            size: file.map_or(0, |file| {
                file.size.unwrap_or_else(|| file.content.as_ref().map_or(0, |content| content.len() as u64))
            }),
            executable: file.is_some_and(|file| file.executable),
            hard_links: if self.hardlinks.contains_key(path) { 2 } else { 1 },
            created_this_session: file.is_some_and(|file| file.created_this_session),
            is_built: file.is_some_and(|file| file.built),
            changed_since_trust: file
                .is_some_and(|file| file.changed_since_trust || file.created_this_session || file.arrived),
        }
    }

    fn is_same_file(&self, one: &str, other: &str) -> bool {
        self.hardlinks.get(one).is_some_and(|shared| shared == other)
    }

    fn link(&self, path: &str) -> Option<String> {
        self.symlinks.get(path).cloned()
    }

    fn may_have_links(&self) -> bool {
        !self.symlinks.is_empty()
    }

    fn content(&self, path: &str, limit: usize) -> Content {
        match self.file(path) {
            _ if self.is_absent(path) => Content::Missing,
            Some(FileDescription { cut: true, .. }) => Content::TooLong,
            Some(FileDescription { content: Some(content), .. }) if content.len() > limit => Content::TooLong,
            Some(FileDescription { content: Some(content), .. }) => Content::Text(content.clone()),
            Some(_) | None => Content::Unlisted,
        }
    }

    fn stats(&self, path: &str) -> Option<Stats> {
        let size = self.file(path)?.size?;
        Some(Stats { size, mode: None, modified: None, age: None })
    }

    fn tally(&self, path: &str) -> Tally {
        if let Some(file) = self.file(path) {
            let restorable = matches!(self.tracking(path), Tracking::Clean | Tracking::Rebuildable);
            let (files, bytes) = if file.exists == Some(false) { (0, 0) } else { (1, self.look(path).size) };
            let (unrestorable, unrestorable_bytes) = if restorable { (0, 0) } else { (files, bytes) };
            return Tally::Counted { files, bytes, unrestorable, unrestorable_bytes };
        }
        if self.is_absent(path) {
            return Tally::Counted { files: 0, bytes: 0, unrestorable: 0, unrestorable_bytes: 0 };
        }
        Tally::Unknown
    }

    fn entries(&self, directory: &str) -> Option<Vec<String>> {
        let names: Vec<String> = self
            .files
            .keys()
            .chain(self.symlinks.keys())
            .filter(|path| *path != directory && under(path, directory))
            .filter_map(|path| {
                path.get(directory.len()..)?.trim_start_matches('/').split('/').next().map(str::to_owned)
            })
            .collect();
        let mut names = names;
        names.sort();
        names.dedup();
        (!names.is_empty() || self.description.complete).then_some(names)
    }

    fn below(&self, directory: &str) -> Option<Vec<(String, Kind)>> {
        let inner = |path: &String| under(path, directory);
        let files = self.files.iter().filter(|(_, file)| file.exists != Some(false)).map(|(path, _)| path);
        let mut found: Vec<String> = files.chain(self.symlinks.keys()).filter(|path| inner(path)).cloned().collect();
        let above = |path: &String| {
            let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
            ends.into_iter().filter_map(|at| path.get(..at).map(str::to_owned)).collect::<Vec<_>>()
        };
        found.extend(found.iter().flat_map(above).filter(|path| under(path, directory)).collect::<Vec<_>>());
        found.retain(|path| path != directory);
        found.sort();
        found.dedup();
        Some(found.into_iter().map(|path| (path.clone(), self.look(&path).kind)).collect())
    }

    fn lists_everything(&self) -> bool {
        self.description.complete
    }

    fn program(&self, name: &str) -> Identity {
        if !name.contains('/') {
            return Identity::Trusted(name.to_owned());
        }
        let is_managed = crate::place::is_program_directory(name);
        let in_project = self.project().is_some_and(|project| under(name, project));
        let listed = self.file(name).filter(|file| file.sha256.is_some() && !in_project);
        if listed.is_some_and(|file| file.changed_since_trust) {
            return if is_managed { Identity::Changed(name.to_owned()) } else { Identity::Exchanged(name.to_owned()) };
        }
        if is_managed || listed.is_some() {
            return Identity::Trusted(name.to_owned());
        }
        match self.project() {
            Some(project) if under(name, project) => Identity::Project(name.to_owned()),
            Some(_) | None => Identity::Unlisted(name.to_owned()),
        }
    }

    fn dependents(&self, path: &str) -> Option<u32> {
        self.file(path).and_then(|file| file.dependents)
    }
}

impl Repositories for DescribedWorld {
    fn tracking(&self, path: &str) -> Tracking {
        let Some((git, root)) = self.repository(path) else { return Tracking::Outside };
        let is_first = self.git_root.as_deref() == Some(root);
        let clean = if git.clean.unwrap_or(true) { Tracking::Clean } else { Tracking::Modified };
        if self.is_absent(path) {
            return Tracking::Untracked;
        }
        let ignored = || git.ignored_tracking(path.strip_prefix(root)?);
        if let Some(file) = self.file(path) {
            match file.tracked {
                Some(true) if file.modified => return Tracking::Modified,
                Some(true) => return clean,
                Some(false) if ignored().is_none() => return Tracking::Untracked,
                Some(false) => {}
                None if file.modified => return Tracking::Modified,
                None => {}
            }
        }
        if let Some(tracking) = ignored() {
            return tracking;
        }
        let listed = if is_first { self.tracked.clone() } else { git.tracked_below(root) };
        match listed {
            None => clean,
            Some(paths) if paths.iter().any(|known| under(path, known) || under(known, path)) => clean,
            Some(_) => Tracking::Untracked,
        }
    }

    fn tracked_files(&self, _directory: &str, below: &str) -> Option<Vec<String>> {
        let is_tracked = |path: &&String| matches!(self.tracking(path), Tracking::Clean | Tracking::Modified);
        let listed = self.files.keys().filter(|path| under(path, below)).filter(is_tracked);
        let named = self.tracked.iter().flatten().filter(|path| under(path, below) && !self.files.contains_key(*path));
        Some(listed.chain(named).cloned().collect())
    }

    fn git(&self, directory: &str) -> Option<Git> {
        let beside = || {
            let root = second_work_tree(self.git_root.as_deref()?, directory)?;
            Some((self.description.git.as_ref()?, root))
        };
        let (git, root) = self.repository(directory).or_else(beside)?;
        let inner = git.submodules.iter().find(|(path, _)| under(directory, &lexical(&join(root, path))));
        let (root, own) = match inner {
            Some((path, config)) => (lexical(&join(root, path)), config),
            None => (root.to_owned(), &git.config),
        };
        let lower = |set: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            set.iter().map(|(key, value)| (key.to_ascii_lowercase(), value.clone())).collect()
        };
        let (local, user, system) = (lower(own), lower(&git.user_config), lower(&git.system_config));
        let is_systems = |key: &&String| !local.contains_key(*key) && !user.contains_key(*key);
        Some(Git {
            root,
            branch: git.branch.clone(),
            default_branch: git.default_branch.clone(),
            remotes: git.remotes.clone(),
            local: local.keys().cloned().collect(),
            system: system.keys().filter(is_systems).cloned().collect(),
            config: Ok(system.into_iter().chain(user).chain(local).collect()),
        })
    }

    fn submodules(&self, root: &str) -> Option<Vec<String>> {
        let git = self.description.git.as_ref()?;
        let is_main = self.git_root.as_deref() == Some(root);
        Some(git.submodules.keys().filter(|_| is_main).map(|path| lexical(&join(root, path))).collect())
    }

    fn rewrites(&self, write: &GitWrite) -> Rewrite {
        let (Some(root), Some(brings)) =
            (&self.git_root, self.description.git.as_ref().and_then(|git| git.brings.as_ref()))
        else {
            return Rewrite::Undescribed;
        };
        let name = match &write.source {
            GitSource::Index | GitSource::Sparse => "index",
            GitSource::Tree(name)
            | GitSource::Subtree(name)
            | GitSource::Side(name)
            | GitSource::Change(name)
            | GitSource::Undo(name)
            | GitSource::Stash(name) => name,
            GitSource::Bisect(_) | GitSource::Unknown => return Rewrite::Unread("it is not described".into()),
        };
        let Some(files) = brings.get(name) else { return Rewrite::Nameless };
        let base = write.into.as_deref().unwrap_or(root);
        let incoming = files.iter().map(|(path, text)| Incoming {
            path: lexical(&join(base, path)),
            becomes: Some(Becomes::Text(text.clone())),
            standing: Standing::New,
        });
        let is_meant = |file: &Incoming| {
            write.into.is_some() || write.paths.is_empty() || write.paths.iter().any(|path| under(&file.path, path))
        };
        Rewrite::Files(incoming.filter(is_meant).collect())
    }

    fn rewritable(&self, _directory: &str, _branch: &str, _since: &str) -> bool {
        self.description
            .git
            .as_ref()
            .is_some_and(|git| git.unpublished && git.branch.is_some() && git.branch != git.default_branch)
    }

    fn is_rebasing(&self, directory: &str) -> bool {
        self.repository(directory).is_some_and(|(git, _)| git.operation == Some(GitOperation::Rebase))
    }
}

impl Configured for DescribedWorld {
    fn project(&self) -> Option<&str> {
        self.description.project.as_deref().or(self.git_root.as_deref())
    }

    fn project_trusted(&self) -> bool {
        self.description.trusted.unwrap_or(true)
    }

    fn mcp(&self, server: &str, _tool: &str) -> McpTrust {
        let server = self.description.server(server);
        match (server.definition_changed, server.trusted) {
            (true, _) => McpTrust::Changed,
            (false, Some(true)) => McpTrust::Trusted,
            (false, Some(false)) => McpTrust::Untrusted,
            (false, None) => McpTrust::Configured,
        }
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn own_programs(&self) -> &'static [u8] {
        self.own_programs
    }

    fn redaction_key(&self) -> [u8; 16] {
        [0; 16]
    }
}

impl SessionView for DescribedWorld {
    fn scratch(&self) -> &[String] {
        &self.description.scratch
    }

    fn is_busy(&self) -> bool {
        self.description.busy
    }

    fn is_made(&self, path: &str) -> bool {
        self.is_below_made(path) && !self.is_absent(path)
    }

    fn holds_only_own(&self, directory: &str) -> bool {
        let is_linked = self.symlinks.keys().chain(self.hardlinks.keys()).any(|path| under(path, directory));
        let is_work_tree = self.file(&join(directory, ".git")).is_some();
        self.is_below_made(directory) && !is_linked && !is_work_tree
    }

    fn is_own_work_tree(&self, directory: &str) -> bool {
        self.made.iter().any(|made| made == directory) && self.file(&join(directory, ".git")).is_some()
    }

    fn session_process(&self, pid: u32) -> bool {
        self.description.session_processes.contains(&pid)
    }

    fn history(&self) -> History {
        let said = SaidBefore::of(&self.description);
        History {
            taint: self.description.taint.clone(),
            answered: self.description.answered.clone(),
            reads_last_minute: self.description.reads_last_minute,
            reads_last_seconds: self.description.reads_last_seconds,
            denials_in_a_row: self.description.denials_in_a_row,
            denials: self.description.denials,
            restorable: self.description.restorable,
            boundaries: said.boundaries,
            released: said.released,
            addresses: said.addresses,
            consented: self.description.used_up.iter().map(|order| (order.clone(), u32::MAX)).collect(),
            doubt: None,
        }
    }

    fn changed_files(&self) -> Vec<String> {
        let changed = |file: &FileDescription| file.changed_since_trust || file.created_this_session || file.arrived;
        self.files.iter().filter(|(_, file)| changed(file)).map(|(path, _)| path.clone()).collect()
    }

    fn arrival(&self, path: &str) -> Option<Arrival> {
        let root = self.git_root.as_deref().unwrap_or("/");
        let nested = self.description.git.iter().flat_map(|git| &git.nested).map(|nested| lexical(&join(root, nested)));
        let brought = |(place, file): (&String, &FileDescription)| {
            (file.arrived && under(path, place)).then(|| Arrival::Brought(place.clone()))
        };
        nested
            .filter(|nested| under(path, nested))
            .map(Arrival::Repository)
            .next()
            .or_else(|| self.files.iter().find_map(brought))
    }
}

impl Memory for DescribedWorld {
    fn override_rate(&self, pattern: &str) -> Option<f64> {
        self.description.override_rate.get(pattern).copied()
    }
}
