//! One git repository, read from its files: where it is, what is tracked, what it is configured to do.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use doorward_engine::{Git, REBUILDABLE, Tracking};

use super::bounds;
use super::git_config::{self, GitConfig, IncludeContext};
use super::ignore::{IgnoreFiles, Ignored, Ignores, ignored};
use super::index::{EntryFlags, Index, Tracked};
use super::objects::{HashFormat, Id, Objects, Unread, blob_id, upstream_of};
use crate::machine::checked_read;

/// Variables that make git look in other places than we do.
// With one of these set, git would act on another repository than the one we looked at, so nothing is known.
const REDIRECTS: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_GRAFT_FILE",
    "GIT_NAMESPACE",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_TEMPLATE_DIR",
    "XDG_CONFIG_HOME",
];

/// The root of the work tree around a directory: where `.git` or a `.doorward.toml` is.
pub(crate) fn project_root(directory: &str) -> Option<String> {
    Path::new(directory)
        .ancestors()
        .take(bounds::LEVELS)
        .find(|candidate| {
            [".git", ".doorward.toml"].iter().any(|marker| candidate.join(marker).symlink_metadata().is_ok())
        })
        .and_then(|root| root.to_str())
        .map(str::to_owned)
}

/// Modes of index entries: a directory collapsed into one entry, and a commit of another repository.
const SPARSE: u32 = 0o040_000;
const SUBMODULE: u32 = 0o160_000;

/// A repository; everything but its path is read on demand.
#[derive(Debug)]
pub(crate) struct Repository {
    root: String,
    git_directory: PathBuf,
    common: PathBuf,
    home: String,
    config: OnceCell<Result<GitConfig, String>>,
    described: OnceCell<Git>,
    index: OnceCell<Option<Index>>,
    ignores: OnceCell<Option<Vec<Ignores>>>,
    objects: OnceCell<Result<Objects, String>>,
    ignore_files: IgnoreFiles,
}

impl Repository {
    /// The repository whose work tree starts at exactly this directory.
    pub(crate) fn at(root: &str, home: &str) -> Option<Repository> {
        let bare = || is_git_directory(Path::new(root)).then(|| PathBuf::from(root));
        let git_directory = git_directory(&Path::new(root).join(".git")).or_else(bare)?;
        let common = match checked_read::start_of(git_directory.join("commondir"), 4096) {
            Some(text) => git_directory.join(text.trim()),
            None => git_directory.clone(),
        };
        Some(Repository {
            root: root.trim_end_matches('/').to_owned(),
            git_directory,
            common,
            home: home.to_owned(),
            config: OnceCell::new(),
            described: OnceCell::new(),
            index: OnceCell::new(),
            ignores: OnceCell::new(),
            objects: OnceCell::new(),
            ignore_files: IgnoreFiles::below(root),
        })
    }

    /// Where git keeps what belongs to this work tree alone.
    pub(crate) fn git_directory(&self) -> &Path {
        &self.git_directory
    }

    /// Where git keeps what all its work trees share.
    pub(crate) fn common(&self) -> &Path {
        &self.common
    }

    /// The directories of nested repositories that git looks into from this one; `None` if unknown.
    pub(crate) fn submodules(&self) -> Option<Vec<String>> {
        let mut found = Vec::new();
        for (name, mode, _, _) in self.index()?.entries() {
            // Part of a sparse index is collapsed and may contain such entries.
            if mode == SPARSE {
                return None;
            }
            if mode == SUBMODULE {
                let path = format!("{}/{}", self.root, std::str::from_utf8(name).ok()?);
                if Path::new(&path).join(".git").symlink_metadata().is_ok() {
                    found.push(path);
                }
            }
            if found.len() > bounds::SUBMODULES {
                return None;
            }
        }
        Some(found)
    }

    /// What the engine needs to know about it.
    pub(crate) fn describe(&self) -> Git {
        let describe = || {
            let config = self.config();
            Git {
                root: self.root.clone(),
                branch: self.branch(),
                default_branch: self.default_branch(),
                remotes: config.as_ref().map(|config| config.remotes.clone()).unwrap_or_default(),
                local: config.as_ref().map(|config| config.local.clone()).unwrap_or_default(),
                system: config.as_ref().map(|config| config.system.clone()).unwrap_or_default(),
                config: config.as_ref().map(|config| config.values.clone()).map_err(Clone::clone),
            }
        };
        self.described.get_or_init(describe).clone()
    }

    /// What git knows about a file, a link or a missing path.
    pub(crate) fn tracking(&self, path: &str) -> Tracking {
        let Some(inner) = path.strip_prefix(self.root.as_str()).map(|inner| inner.trim_start_matches('/')) else {
            return Tracking::Outside;
        };
        // Anything in the repository's own directory is not a work file, whatever its name.
        if inner.is_empty() || inner.split('/').any(|component| component == ".git") {
            return Tracking::Unknown;
        }
        let Some(index) = self.index() else { return Tracking::Unknown };
        let Ok(file) = std::fs::symlink_metadata(path) else {
            return if index.has(inner) { Tracking::Modified } else { Tracking::Untracked };
        };
        match index.look_up(inner, &file) {
            Tracked::Same => Tracking::Clean,
            Tracked::Different => Tracking::Modified,
            Tracked::Unsure => Tracking::Unknown,
            Tracked::Absent => self.untracked(inner, file.is_dir()),
        }
    }

    /// Every tracked file at or below the path, unless there are too many or the index can't be read.
    pub(crate) fn tracked_files(&self, below: &str) -> Option<Vec<String>> {
        if !self.has_index() {
            return Some(Vec::new());
        }
        let inner = match below.strip_prefix(self.root.as_str()) {
            Some(inner) if inner.is_empty() || inner.starts_with('/') => inner.trim_matches('/').as_bytes(),
            Some(_) | None => return Some(Vec::new()),
        };
        let is_below = |name: &[u8]| {
            let rest = name.strip_prefix(inner);
            rest.is_some_and(|rest| inner.is_empty() || rest.is_empty() || rest.starts_with(b"/"))
        };
        let mut found = Vec::new();
        for (name, _, _, _) in self.index()?.entries().filter(|(name, _, _, _)| is_below(name)) {
            if found.len() >= bounds::TRACKED {
                return None;
            }
            found.push(format!("{}/{}", self.root.trim_end_matches('/'), std::str::from_utf8(name).ok()?));
        }
        // A conflict has an entry for each side.
        found.dedup();
        Some(found)
    }

    /// The last commit has the file as the index does, and no filter applies between the commit and the file.
    pub(crate) fn is_committed(&self, path: &str) -> bool {
        let found = || {
            let inner = path.strip_prefix(self.root.as_str())?.trim_start_matches('/');
            let (mode, id, state) = self.index()?.id_of(inner)?;
            let objects = self.objects().ok()?;
            let head = objects.resolve("HEAD").ok()?;
            let (of_head, committed) = objects.entry_at(&head, inner).ok()??;
            Some(state == EntryFlags::Ordinary && of_head == mode && committed == id && !self.may_filter(inner))
        };
        found().unwrap_or(false)
    }

    /// An attributes file above the path mentions filters.
    fn may_filter(&self, inner: &str) -> bool {
        let speaks = |file: PathBuf| match file.symlink_metadata() {
            Err(_) => false,
            Ok(_) => checked_read::start_of(&file, bounds::TEXT).is_none_or(|text| text.contains("filter")),
        };
        let above = Path::new(inner).ancestors().skip(1).map(|above| Path::new(&self.root).join(above));
        above.map(|directory| directory.join(".gitattributes")).chain([self.common.join("info/attributes")]).any(speaks)
    }

    /// A build recreates everything in the directory.
    pub(crate) fn is_rebuilt(&self, directory: &str) -> bool {
        let inner = directory.strip_prefix(self.root.as_str()).map(|inner| inner.trim_start_matches('/'));
        let has_tracked = inner.is_none_or(|inner| self.index().is_none_or(|index| index.has_below(inner)));
        !has_tracked && self.tracking(directory) == Tracking::Rebuildable
    }

    fn untracked(&self, inner: &str, is_directory: bool) -> Tracking {
        let Some(general) = self.ignores() else { return Tracking::Unknown };
        match ignored(&self.ignore_files, general, inner, is_directory) {
            (Ignored::Yes, by) if REBUILDABLE.contains(&by.as_str()) => Tracking::Rebuildable,
            (Ignored::Yes, _) => Tracking::Ignored,
            (Ignored::No, _) => Tracking::Untracked,
            (Ignored::Unsure, _) => Tracking::Unknown,
        }
    }

    fn config(&self) -> &Result<GitConfig, String> {
        self.config.get_or_init(|| {
            if let Some(name) = REDIRECTS.iter().find(|name| std::env::var_os(name).is_some()) {
                return Err(format!("the variable `{name}` changes what git reads"));
            }
            if self.git_directory.as_path() == Path::new(&self.root) {
                return Err(format!("`{}` is the inside of a repository", self.root));
            }
            let branch = self.branch();
            let git_directory = self.git_directory.to_str().ok_or("git's directory is not UTF-8")?;
            let around = IncludeContext { home: &self.home, git_directory, branch: branch.as_deref() };
            git_config::effective(&self.common, &self.git_directory, around)
        })
    }

    /// Its commits; the error says why they can't be read.
    pub(crate) fn objects(&self) -> Result<&Objects, &str> {
        let open = || {
            let config = self.config().as_ref().map_err(Clone::clone)?;
            let format = HashFormat::configured(&config.values).map_err(|unread| unread.to_string())?;
            Ok(Objects::at(&self.git_directory, &self.common, format))
        };
        self.objects.get_or_init(open).as_ref().map_err(String::as_str)
    }

    /// Old commits can be found again after a branch was moved.
    pub(crate) fn keeps_reflog(&self) -> bool {
        self.config().is_ok()
            && self.value("core.logallrefupdates").is_none_or(|value| git_config::is_true(value) || value == "always")
    }

    /// Git's hash of this content, in this repository.
    pub(crate) fn blob_id(&self, bytes: &[u8]) -> Option<Id> {
        let config = self.config().as_ref().ok()?;
        Some(blob_id(HashFormat::configured(&config.values).ok()?, bytes))
    }

    /// The reference that a branch follows.
    pub(crate) fn upstream(&self, branch: &str) -> Result<Option<String>, Unread> {
        match self.config() {
            Ok(config) => upstream_of(&config.values, branch),
            Err(_) => Err(Unread::Unsupported("the configuration")),
        }
    }

    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    fn value(&self, key: &str) -> Option<&str> {
        self.config().as_ref().ok()?.values.get(key).map(String::as_str)
    }

    /// Something was ever staged here.
    pub(crate) fn has_index(&self) -> bool {
        self.git_directory.join("index").symlink_metadata().is_ok()
    }

    pub(crate) fn index(&self) -> Option<&Index> {
        self.index.get_or_init(|| self.read_index()).as_ref()
    }

    fn read_index(&self) -> Option<Index> {
        self.config().as_ref().ok()?;
        if let Some(elsewhere) = self.value("core.worktree") {
            let tree = self.git_directory.join(elsewhere).canonicalize().ok()?;
            if tree != Path::new(&self.root).canonicalize().ok()? {
                return None;
            }
        }
        let hash = match self.value("extensions.objectformat") {
            None | Some("sha1") => 20,
            Some("sha256") => 32,
            Some(_) => return None,
        };
        let path = self.git_directory.join("index");
        match path.metadata() {
            // A repository in which nothing was ever added.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Index::parse(b"DIRC\0\0\0\x02\0\0\0\0".to_vec(), hash, SystemTime::UNIX_EPOCH)
            }
            Err(_) => None,
            Ok(metadata) => {
                Index::parse(checked_read::bytes_of(&path, bounds::INDEX)?, hash, metadata.modified().ok()?)
            }
        }
    }

    fn ignores(&self) -> Option<&[Ignores]> {
        self.ignores.get_or_init(|| self.read_ignores()).as_deref()
    }

    /// The ignore files that count for the whole repository, weakest first.
    fn read_ignores(&self) -> Option<Vec<Ignores>> {
        if self.value("core.ignorecase").is_some_and(git_config::is_true) {
            return None;
        }
        let own = match self.value("core.excludesfile") {
            Some(path) => match path.strip_prefix("~/") {
                Some(rest) => Path::new(&self.home).join(rest),
                None => PathBuf::from(path),
            },
            None => Path::new(&self.home).join(".config/git/ignore"),
        };
        let mut files = Vec::new();
        for path in [own, self.common.join("info/exclude")] {
            if path.symlink_metadata().is_ok() {
                files.push(Ignores::parse("", &checked_read::start_of(&path, bounds::TEXT)?));
            }
        }
        Some(files)
    }

    fn branch(&self) -> Option<String> {
        symbolic(&self.git_directory.join("HEAD"), "refs/heads/")
    }

    fn default_branch(&self) -> Option<String> {
        symbolic(&self.common.join("refs/remotes/origin/HEAD"), "refs/remotes/origin/")
            .or_else(|| self.value("init.defaultbranch").map(str::to_owned))
    }
}

/// Git treats such a directory as a repository wherever it is, with or without a work tree.
fn is_git_directory(path: &Path) -> bool {
    path.join("HEAD").symlink_metadata().is_ok() && path.join("objects").is_dir() && path.join("refs").is_dir()
}

/// The repository's own directory: `.git`, or wherever the file of that name points.
fn git_directory(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.metadata().ok()?.is_dir() {
        return Some(dot_git.to_owned());
    }
    let text = checked_read::start_of(dot_git, 4096)?;
    let target = text.strip_prefix("gitdir:")?.trim();
    let path = dot_git.parent()?.join(target);
    path.is_dir().then_some(path)
}

/// What a symbolic reference points to, without the prefix.
fn symbolic(path: &Path, prefix: &str) -> Option<String> {
    let text = checked_read::start_of(path, 4096)?;
    text.strip_prefix("ref:")?.trim().strip_prefix(prefix).map(str::to_owned)
}
