//! The real machine behind the engine's `World` questions.

mod configured;

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use doorward_engine::{
    Arrival, Content, Git, GitWrite, History, Identity, Kind, Listing, Look, Machine, Repositories, Rewrite,
    SessionView, Settings, Shell, Shown, Stats, Tally, Tracking,
};

use crate::machine::paths::Dirs;
use crate::machine::world::objects::Id;
use crate::machine::world::repository::Repository;
use crate::machine::world::{FileVersion, bounds, files, folding, mounts, session, temporary};
use crate::memory::session::Session;
use crate::memory::world::arrived::Arrived;
use crate::memory::world::dependents::Sources;
use crate::memory::world::made;
use crate::memory::world::program;
use crate::memory::world::program::{ProgramContext, SystemDirectories};
use crate::policy::from_history::FromHistory;
use crate::policy::load::Loaded;
use crate::policy::trust::Trust;
use crate::policy::trust::inventory::Inventory;

/// This machine, as one call sees it.
#[derive(Debug)]
pub(crate) struct DiskWorld {
    pub(super) home: String,
    cwd: String,
    pub(super) project: Option<String>,
    temporary: Vec<String>,
    scratch: Vec<String>,
    settings: Settings,
    own_programs: &'static [u8],
    pub(super) is_trusted: bool,
    directories: Vec<String>,
    pub(super) trust: Trust,
    inventory: Inventory,
    /// When the user listed the toolchain directories.
    /// When the user last decided about this project.
    trusted_at: Option<SystemTime>,
    key: OnceCell<[u8; 16]>,
    state: PathBuf,
    repositories: RefCell<BTreeMap<String, Option<Rc<Repository>>>>,
    tallies: RefCell<BTreeMap<String, Tally>>,
    programs: RefCell<BTreeMap<String, Identity>>,
    looks: RefCell<HashMap<String, Look>>,
    system: SystemDirectories,
    by_hash_alone: bool,
    ignores_case: OnceCell<bool>,
    /// What changed since the project was trusted, computed on demand.
    changed: OnceCell<Vec<String>>,
    /// Mounts that may hang and that are not in use here.
    distant: OnceCell<Vec<PathBuf>>,
    pub(super) session: Option<Rc<Session>>,
    /// The accepted offers.
    history: FromHistory,
    /// What came into the project since it was trusted.
    pub(super) arrivals: OnceCell<Arrived>,
    /// The content of files that the call may replace.
    pub(super) replaced: RefCell<Vec<FileVersion>>,
    /// Where commits left the trusted history.
    pub(super) parted: RefCell<BTreeMap<Id, Option<Id>>>,
    shell: Shell,
    /// The command of the server that this relay stands before.
    relayed: Option<Vec<String>>,
    servers: RefCell<BTreeMap<String, configured::KnownServer>>,
    /// The first lines of the project's sources, read on demand.
    sources: Sources,
}

impl DiskWorld {
    /// The same machine, asked by the relay of this server.
    #[must_use]
    pub(crate) fn relaying(mut self, server: Option<Vec<String>>) -> DiskWorld {
        self.relayed = server;
        self
    }

    /// The same machine with the user's own program files.
    #[must_use]
    pub(crate) fn with_programs(mut self, own: &'static [u8]) -> DiskWorld {
        self.own_programs = own;
        self
    }

    /// Redacts with this key instead of the installation's own, which would be created if missing.
    pub(crate) fn with_key(self, key: [u8; 16]) -> DiskWorld {
        // A world that has already redacted something keeps its key.
        let _ = self.key.set(key);
        self
    }

    /// The machine around a call in `cwd`, which belongs to `project`.
    pub(crate) fn new(dirs: &Dirs, cwd: &str, project: Option<String>, loaded: &Loaded) -> DiskWorld {
        let home = dirs.home().to_owned();
        let (config, trust) = (&loaded.config, &loaded.trust);
        let pinned = project.as_deref().and_then(|project| trust.projects.get(project));
        // Not the file's modification time: touching the file would renew its trust.
        let accepted = loaded.accepted.accepted_at().or_else(managed_at).or(Some(UNIX_EPOCH));
        DiskWorld {
            cwd: cwd.to_owned(),
            temporary: temporary::shared(),
            scratch: temporary::directories(&home),
            settings: Settings { desk_ports: crate::machine::desk_ports::desk_ports(dirs), ..config.settings() },
            own_programs: &[],
            is_trusted: project.as_deref().is_some_and(|project| config.trusts(project)),
            directories: config.programs.directories.clone(),
            trusted_at: pinned.map(|pinned| UNIX_EPOCH + Duration::from_millis(pinned.at)).or(accepted),
            trust: trust.clone(),
            inventory: Inventory::open(dirs),
            key: OnceCell::new(),
            state: dirs.state(),
            repositories: RefCell::default(),
            tallies: RefCell::default(),
            programs: RefCell::default(),
            looks: RefCell::default(),
            system: SystemDirectories::default(),
            // A configuration that is strict only because it is broken has no list.
            by_hash_alone: config.strict && loaded.problems.is_empty(),
            ignores_case: OnceCell::new(),
            changed: OnceCell::new(),
            distant: OnceCell::new(),
            session: None,
            history: loaded.history.clone(),
            arrivals: OnceCell::new(),
            replaced: RefCell::default(),
            parted: RefCell::default(),
            shell: Shell::default(),
            sources: Sources::default(),
            project,
            home,
            relayed: None,
            servers: RefCell::default(),
        }
    }

    /// The machine for an agent that runs its commands in this shell.
    #[must_use]
    pub(crate) fn with_shell(self, shell: Shell) -> DiskWorld {
        DiskWorld { shell, ..self }
    }

    /// The machine as if the current project were trusted as it is now.
    #[must_use]
    pub(crate) fn once_trusted(self) -> DiskWorld {
        DiskWorld { is_trusted: true, trusted_at: Some(std::time::SystemTime::now()), ..self }
    }

    /// The machine as a session of an agent knows it.
    #[must_use]
    pub(crate) fn in_session(self, session: Rc<Session>) -> DiskWorld {
        let directory = self.project.as_deref().unwrap_or(&self.cwd);
        let own = temporary::client_scratch(session.id(), directory);
        let scratch = self.scratch.iter().cloned().chain(own).collect();
        DiskWorld { session: Some(session), scratch, ..self }
    }

    /// The path's file system may never answer, so don't ask it.
    pub(super) fn is_distant(&self, path: &str) -> bool {
        // Most paths are in the project, as the text alone shows; and a machine can't run without its devices.
        if self.project.as_deref().is_some_and(|project| lies_in(path, project)) || matches!(path, "/dev" | "/dev/null")
        {
            return false;
        }
        let path = Path::new(path);
        let is_near = |near: &str| path.starts_with(near);
        // A mount that contains a directory in use is in use itself.
        let is_above = |used: &str| Path::new(used).starts_with(path);
        if self.project.as_deref().is_some_and(is_near)
            || ["/usr", "/bin", "/etc"].into_iter().any(is_near)
            || [self.home.as_str(), &self.cwd].into_iter().any(is_above)
        {
            return false;
        }
        let distant = self.distant.get_or_init(|| {
            let mounts =
                crate::machine::checked_read::text_of_pipe("/proc/self/mountinfo", bounds::TEXT).unwrap_or_default();
            let in_use: Vec<&str> =
                [Some(self.home.as_str()), Some(&self.cwd), self.project.as_deref()].into_iter().flatten().collect();
            mounts::distant(&mounts, &in_use)
        });
        distant.iter().any(|mount| path.starts_with(mount))
    }

    /// The repository around a directory, found once per directory and mostly from its parent's answer.
    pub(super) fn repository(&self, directory: &str) -> Option<Rc<Repository>> {
        let mut unknown = Vec::new();
        let mut found = None;
        for ancestor in Path::new(directory).ancestors().take(bounds::LEVELS) {
            let Some(path) = ancestor.to_str() else { break };
            if let Some(known) = self.repositories.borrow().get(path) {
                found = known.clone();
                break;
            }
            unknown.push(path.to_owned());
            if self.is_distant(path) {
                continue;
            }
            if let Some(repository) = Repository::at(path, &self.home) {
                found = Some(Rc::new(repository));
                break;
            }
        }
        let mut known = self.repositories.borrow_mut();
        if known.len() < bounds::NAMES {
            known.extend(unknown.into_iter().map(|path| (path, found.clone())));
        }
        found
    }

    /// A recipe with the trusted content.
    fn is_pinned(&self, path: &str) -> bool {
        let Some(project) = &self.project else { return false };
        self.trust.projects.get(project).is_some_and(|pinned| pinned.is_same(project, path))
    }

    /// What git knows about a path, taken as a file: nothing below it is checked.
    pub(crate) fn file_tracking(&self, path: &str) -> Tracking {
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        match self.repository(parent) {
            Some(repository) => repository.tracking(path),
            None => Tracking::Outside,
        }
    }

    /// A build recreates everything in the directory.
    pub(crate) fn is_rebuilt(&self, directory: &str) -> bool {
        let parent = Path::new(directory).parent().and_then(Path::to_str);
        parent.and_then(|parent| self.repository(parent)).is_some_and(|repository| repository.is_rebuilt(directory))
    }

    /// A directory is only as safe as the worst entry in it.
    fn directory_tracking(&self, path: &str) -> Tracking {
        match self.file_tracking(path) {
            found @ (Tracking::Outside | Tracking::Rebuildable | Tracking::Ignored) => return found,
            Tracking::Clean | Tracking::Modified | Tracking::Untracked | Tracking::Unknown => {}
        }
        match self.tally(path) {
            Tally::Counted { files: 0, .. } => Tracking::Untracked,
            Tally::Counted { unrestorable: 0, .. } => Tracking::Clean,
            Tally::Counted { files, unrestorable, .. } if files == unrestorable => Tracking::Untracked,
            Tally::Counted { .. } => Tracking::Modified,
            Tally::More { .. } | Tally::Unknown => Tracking::Unknown,
        }
    }
}

fn lies_in(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// When an administrator last wrote the configuration of the machine.
fn managed_at() -> Option<SystemTime> {
    std::fs::symlink_metadata(crate::policy::load::MANAGED).ok().map(|found| files::changed(&found))
}

impl Machine for DiskWorld {
    fn home(&self) -> Option<&str> {
        Some(&self.home)
    }

    fn temporary(&self) -> &[String] {
        &self.temporary
    }

    fn is_own_temporary(&self, path: &str) -> bool {
        !self.is_distant(path) && temporary::is_own_below(path, &temporary::fleeting())
    }

    fn shell(&self) -> Shell {
        self.shell
    }

    fn environment(&self, name: &str) -> Option<Cow<'_, str>> {
        let value = std::env::var_os(name)?;
        Some(Cow::Owned(value.into_string().unwrap_or_else(|value| value.to_string_lossy().into_owned())))
    }

    fn environment_all(&self) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
        let owned = |text: std::ffi::OsString| Cow::Owned(text.to_string_lossy().into_owned());
        std::env::vars_os().map(|(name, value)| (owned(name), owned(value))).collect()
    }

    fn case_insensitive(&self) -> bool {
        *self
            .ignores_case
            .get_or_init(|| cfg!(target_os = "macos") || self.project.as_deref().is_some_and(folding::ignores_case))
    }

    fn look(&self, path: &str) -> Look {
        if let Some(known) = self.looks.borrow().get(path) {
            return known.clone();
        }
        if self.is_distant(path) {
            return files::nothing(Kind::Unreadable);
        }
        let mut look = files::look(path, self.trusted_at.filter(|_| self.is_trusted), |metadata| {
            self.session.as_ref().is_some_and(|session| session.created(path, metadata))
        });
        look.changed_since_trust &= !(self.is_pinned(path) || self.is_as_trusted(path));
        look.is_built = matches!(look.kind, Kind::File | Kind::Directory) && self.is_built(path);
        let mut looks = self.looks.borrow_mut();
        if looks.len() < bounds::NAMES {
            looks.insert(path.to_owned(), look.clone());
        }
        look
    }

    fn is_same_file(&self, one: &str, other: &str) -> bool {
        !self.is_distant(one) && !self.is_distant(other) && files::is_same(one, other)
    }

    fn link(&self, path: &str) -> Option<String> {
        if self.is_distant(path) {
            return None;
        }
        std::fs::read_link(path).ok()?.into_os_string().into_string().ok()
    }

    fn content(&self, path: &str, limit: usize) -> Content {
        if self.is_distant(path) { Content::Unreadable } else { files::content(path, limit) }
    }

    fn stats(&self, path: &str) -> Option<Stats> {
        if self.is_distant(path) { None } else { files::stats(path) }
    }

    fn tally(&self, path: &str) -> Tally {
        if let Some(known) = self.tallies.borrow().get(path) {
            return *known;
        }
        if self.is_distant(path) {
            return Tally::Unknown;
        }
        let tally = files::tally(path, &|file| self.file_tracking(file));
        self.tallies.borrow_mut().insert(path.to_owned(), tally);
        tally
    }

    fn entries(&self, directory: &str) -> Option<Vec<String>> {
        if self.is_distant(directory) { None } else { files::entries(directory) }
    }

    fn listing(&self, directory: &str) -> Listing {
        if self.is_distant(directory) { Listing::default() } else { files::listing(directory) }
    }

    fn below(&self, directory: &str) -> Option<Vec<(String, Kind)>> {
        if self.is_distant(directory) { None } else { files::below(directory) }
    }

    fn program(&self, name: &str) -> Identity {
        if let Some(known) = self.programs.borrow().get(name) {
            return known.clone();
        }
        let known = ProgramContext {
            cwd: &self.cwd,
            project: self.project.as_deref(),
            home: Some(&self.home),
            directories: &self.directories,
            system: &self.system,
            binaries: &self.trust.binaries,
            inventory: &self.inventory,
            by_hash_alone: self.by_hash_alone,
        };
        let identity = program::identify(name, std::env::var("PATH").ok().as_deref(), &known);
        self.programs.borrow_mut().insert(name.to_owned(), identity.clone());
        identity
    }

    fn dependents(&self, path: &str) -> Option<u32> {
        self.sources.count(path, self)
    }
}

impl Repositories for DiskWorld {
    fn tracking(&self, path: &str) -> Tracking {
        match self.look(path).kind {
            Kind::Directory => self.directory_tracking(path),
            Kind::Unreadable => Tracking::Unknown,
            Kind::Missing | Kind::File | Kind::Link | Kind::Special | Kind::Unlisted => self.file_tracking(path),
        }
    }

    fn is_committed(&self, path: &str) -> bool {
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
        self.repository(parent).is_some_and(|repository| repository.is_committed(path))
    }

    fn tracked_files(&self, directory: &str, below: &str) -> Option<Vec<String>> {
        match self.repository(directory) {
            Some(repository) => repository.tracked_files(below),
            None => Some(Vec::new()),
        }
    }

    fn git(&self, directory: &str) -> Option<Git> {
        self.repository(directory).map(|repository| repository.describe())
    }

    fn submodules(&self, root: &str) -> Option<Vec<String>> {
        self.repository(root)?.submodules()
    }

    fn rewrites(&self, write: &GitWrite) -> Rewrite {
        self.find_rewrites(write)
    }

    fn changed_paths(&self, directory: &str, shown: &Shown) -> Option<Vec<String>> {
        self.shown_paths(directory, shown)
    }

    fn rewritable(&self, directory: &str, branch: &str, since: &str) -> bool {
        self.is_rewritable(directory, branch, since)
    }

    fn is_rebasing(&self, directory: &str) -> bool {
        self.rebases(directory)
    }
}

impl SessionView for DiskWorld {
    fn scratch(&self) -> &[String] {
        &self.scratch
    }

    fn is_busy(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_busy())
    }

    fn is_made(&self, path: &str) -> bool {
        !self.is_distant(path) && self.session.as_ref().is_some_and(|session| made::is_made(path, session))
    }

    fn holds_only_own(&self, place: &str) -> bool {
        !self.is_distant(place) && self.session.as_ref().is_some_and(|session| made::holds_only_own(place, session))
    }

    fn is_own_work_tree(&self, directory: &str) -> bool {
        self.has_added(directory)
    }

    fn session_process(&self, pid: u32) -> bool {
        session::is_ours(pid)
    }

    fn history(&self) -> History {
        self.session.as_ref().map(|session| session.history()).unwrap_or_default()
    }

    fn changed_files(&self) -> Vec<String> {
        let walk = || match (&self.project, self.trusted_at) {
            (Some(project), Some(then)) if self.is_trusted => {
                let mut changed = files::changed_since(project, then);
                changed.retain(|path| !(self.is_pinned(path) || self.is_as_trusted(path)));
                changed
            }
            (Some(_) | None, Some(_) | None) => Vec::new(),
        };
        self.changed.get_or_init(walk).clone()
    }

    fn arrival(&self, path: &str) -> Option<Arrival> {
        self.find_arrival(path)
    }
}
