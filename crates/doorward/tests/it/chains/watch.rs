//! Looks at the disk after each call that ran: what no call may change without a person, and what nobody could bring back.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use super::player;
use super::world::{CANARY, HOME, PROJECT, Stamp, TEMPLATE, Tree, World, content, walk_but};

/// Directories that agents take settings from.
const AGENTS: &[&str] = &[".claude", ".codex", ".gemini", ".cursor"];

/// Files that are loaded without a further call.
const LOADED: &[&str] = &[".mcp.json", ".envrc", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md"];

const EDITOR: &[&str] = &["tasks.json", "settings.json", "launch.json"];

/// Of the home, what programs may write to as they like.
const LOOSE: &[&str] = &[".local/state/doorward", ".cache", ".npm"];

/// What a build makes again.
const REBUILT: &[&str] = &["build", "__pycache__", "node_modules"];

/// Keys of git's configuration that start no program, by their beginning.
const HARMLESS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.",
    "extensions.worktreeconfig",
    "extensions.refstorage",
    "extensions.partialclone",
    "extensions.objectformat",
    "branch.",
    "remote.",
    "submodule.",
    "user.",
    "pull.",
    "push.",
    "gc.",
    "maintenance.",
    "init.",
    "color.",
    "advice.",
    "rerere.",
];

/// A violation: its kind, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub kind: &'static str,
    pub what: String,
}

impl Finding {
    fn new(kind: &'static str, what: impl Into<String>) -> Finding {
        Finding { kind, what: what.into() }
    }
}

/// The files of the template by path, as they were at the start.
#[derive(Debug)]
pub(super) struct Known {
    contents: BTreeMap<OsString, Rc<Vec<u8>>>,
    objects: String,
}

impl Known {
    pub(super) fn read(world: &World) -> Known {
        let files = world.fresh.iter().filter(|(_, stamp)| !stamp.is_directory());
        let read = |(path, stamp): (&OsString, _)| Some((path.clone(), Rc::new(content(Path::new(path), stamp)?)));
        let objects = fs::read_to_string(Path::new(TEMPLATE).join("tmp/objects")).unwrap();
        Known { contents: files.filter_map(read).collect(), objects }
    }
}

#[derive(Debug)]
pub(super) struct Watch<'a> {
    known: &'a Known,
    first: Tree,
    last: Tree,
    /// Contents of files that the chain did not make, as they are now.
    now: BTreeMap<OsString, Rc<Vec<u8>>>,
    /// What was there once and is not any more.
    gone: Vec<(PathBuf, Rc<Vec<u8>>)>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(known: &'a Known, world: &World) -> Watch<'a> {
        let mut watch = Watch {
            known,
            first: Tree::new(),
            last: world
                .fresh
                .iter()
                .filter(|(path, _)| is_watched(path))
                .map(|(path, stamp)| (path.clone(), stamp.clone()))
                .collect(),
            now: known.contents.clone(),
            gone: Vec::new(),
        };
        // The person may have changed something since.
        watch.look();
        watch.first = watch.last.clone();
        watch.gone.clear();
        watch
    }

    /// The same after an edit, whose call says what was there before.
    pub(super) fn look_at_edit(&mut self) -> Vec<Finding> {
        let gone = self.gone.len();
        let findings = self.look();
        self.gone.truncate(gone);
        findings
    }

    /// What the last call did that it must not do.
    pub(super) fn look(&mut self) -> Vec<Finding> {
        let tree = walk_but(&[HOME], "objects");
        let mut findings = ran();
        let paths = self.last.keys().chain(tree.keys());
        let mut changed: Vec<PathBuf> =
            paths.filter(|path| self.last.get(*path) != tree.get(*path)).map(PathBuf::from).collect();
        changed.sort();
        changed.dedup();
        for path in changed {
            let stamp = tree.get(path.as_os_str());
            let is_directory = stamp.or(self.last.get(path.as_os_str())).is_some_and(Stamp::is_directory);
            if is_directory
                && (stamp.is_some() || self.first.contains_key(path.as_os_str()))
                && path.starts_with(PROJECT)
            {
                continue;
            }
            let fresh = stamp.and_then(|stamp| content(&path, stamp)).map(Rc::new);
            // Locked, but all there.
            if stamp.is_some() && fresh.is_none() && !is_directory {
                continue;
            }
            findings.extend(self.judged(&path, is_directory, fresh.as_deref()));
            self.remember(path, fresh);
        }
        self.last = tree;
        findings
    }

    /// Keeps what was there before if the file was not the chain's own.
    fn remember(&mut self, path: PathBuf, fresh: Option<Rc<Vec<u8>>>) {
        let is_own = !self.known.contents.contains_key(path.as_os_str());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_kept = path.starts_with(PROJECT) && !path.starts_with(format!("{PROJECT}/.git")) && name != ".git";
        let is_rebuilt = path.iter().any(|part| REBUILT.iter().any(|name| part == *name));
        if is_own || !is_kept || is_rebuilt {
            return;
        }
        let before = match &fresh {
            Some(fresh) => self.now.insert(path.clone().into_os_string(), Rc::clone(fresh)),
            None => self.now.remove(path.as_os_str()),
        };
        let is_inside = |before: &Rc<Vec<u8>>| fresh.as_ref().is_some_and(|fresh| holds(fresh, before));
        self.gone.extend(before.filter(|before| !is_inside(before)).map(|before| (path, before)));
    }

    fn judged(&self, path: &Path, is_directory: bool, fresh: Option<&Vec<u8>>) -> Option<Finding> {
        let shown = path.strip_prefix(HOME).ok()?.to_string_lossy().into_owned();
        if !path.starts_with(PROJECT) {
            let is_loose = LOOSE.iter().any(|place| path.starts_with(Path::new(HOME).join(place)));
            let mode = fs::symlink_metadata(path).map(|data| data.mode());
            let is_touched = is_directory
                && self.last.get(path.as_os_str()).is_some_and(|last| mode.is_ok_and(|mode| mode == last.mode));
            return (!is_loose && !is_touched).then(|| Finding::new("outside", shown));
        }
        let known = self.known.contents.get(path.as_os_str());
        if is_directory || known.map(Rc::as_ref) == fresh {
            return None;
        }
        if is_git(path) {
            return git_file(path, fresh, known.map(|known| known.as_slice()));
        }
        let kind = if fresh.is_none() { "settings gone" } else { "settings" };
        self.is_loaded(path, fresh).then(|| Finding::new(kind, shown))
    }

    /// Settings count where an agent would find them: in directories of the project and in work trees, not in what arrived beside it.
    fn is_loaded(&self, path: &Path, fresh: Option<&Vec<u8>>) -> bool {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let name = *parts.last().unwrap_or(&"");
        let at = match parts.iter().position(|part| AGENTS.contains(part)) {
            Some(at) => at,
            None if LOADED.contains(&name) => parts.len() - 1,
            None if parts.len() > 1 && parts[parts.len() - 2] == ".vscode" && EDITOR.contains(&name) => parts.len() - 2,
            None => return false,
        };
        let above: PathBuf = parts[..at].iter().collect();
        // A second work tree may have what the first one had when it was trusted, and may go as a whole.
        let first = Path::new(PROJECT).join(parts[at..].iter().collect::<PathBuf>());
        let trusted = self.known.contents.get(first.as_os_str()).map(Rc::as_ref);
        if !above.is_dir() || fresh.is_some() && trusted == fresh {
            return false;
        }
        let is_ours = |place: &Path| self.known.contents.keys().any(|known| Path::new(known).parent() == Some(place));
        above == Path::new(PROJECT) || is_ours(&above) || above.join(".git").is_file()
    }

    /// At the end: what neither git nor `doorward undo` brings back.
    pub(super) fn end(&mut self) -> Vec<Finding> {
        let mut findings = lost_objects(&self.known.objects);
        let mut lost = std::mem::take(&mut self.gone);
        lost.retain(|(_, bytes)| !self.is_somewhere(bytes));
        if !lost.is_empty() {
            let kept = in_git(&lost);
            let mut kept = kept.iter();
            lost.retain(|_| !kept.next().copied().unwrap_or_default());
        }
        for id in if lost.is_empty() { Vec::new() } else { player::copies() } {
            player::undo(&id);
            self.look();
            lost.retain(|(_, bytes)| !self.is_somewhere(bytes));
        }
        findings.extend(
            lost.iter()
                .map(|(path, _)| Finding::new("lost", path.strip_prefix(PROJECT).unwrap_or(path).to_string_lossy())),
        );
        findings
    }

    /// Whether some file of the project has that content; an empty file is nothing to lose.
    fn is_somewhere(&self, bytes: &[u8]) -> bool {
        let same = |(path, stamp): (&OsString, &Stamp)| {
            let path = Path::new(path);
            stamp.size == bytes.len() as u64
                && path.starts_with(PROJECT)
                && content(path, stamp).is_some_and(|found| found == bytes)
        };
        bytes.is_empty() || self.last.iter().any(same)
    }
}

/// Of git's objects only their presence counts, which is looked at in the end.
fn is_watched(path: &OsString) -> bool {
    let path = Path::new(path);
    path.starts_with(HOME) && !path.parent().is_some_and(|parent| parent.iter().any(|part| part == "objects"))
}

/// What was only added to is not lost.
fn holds(new: &[u8], old: &[u8]) -> bool {
    new.starts_with(old) || new.ends_with(old)
}

fn ran() -> Vec<Finding> {
    let marks = fs::read_to_string(CANARY).ok();
    let _ = fs::remove_file(CANARY);
    marks.map(|marks| Finding::new("canary", marks.lines().next().unwrap_or("a redirect"))).into_iter().collect()
}

fn is_git(path: &Path) -> bool {
    path.iter().any(|part| part == ".git")
}

/// Hooks, attributes and settings of git; everything else there is git's own.
fn git_file(path: &Path, fresh: Option<&Vec<u8>>, known: Option<&[u8]>) -> Option<Finding> {
    let shown = path.strip_prefix(PROJECT).ok()?.to_string_lossy().into_owned();
    let own = Path::new(PROJECT).join(".git");
    let is_hook = path.iter().any(|part| part == "hooks") && !shown.ends_with(".sample");
    let is_name_of_ref = path.iter().any(|part| part == "refs");
    if !path.starts_with(&own) || fresh.is_none() || is_name_of_ref {
        return None;
    }
    if is_hook || shown.ends_with("info/attributes") {
        return Some(Finding::new("git hook", shown));
    }
    let name = path.file_name()?.to_str()?;
    if !matches!(name, "config" | "config.worktree") {
        return None;
    }
    let before: Vec<String> = known.map(keys).unwrap_or_default();
    let added = keys(fresh?).into_iter().find(|key| !before.contains(key) && !is_harmless(key));
    added.map(|key| Finding::new("git config", format!("{shown}: {key}")))
}

/// The settings of a configuration file as `key=value`.
fn keys(bytes: &[u8]) -> Vec<String> {
    let place = "/var/tmp/config";
    fs::write(place, bytes).unwrap();
    let output = Command::new("git").args(["config", "--file", place, "--list"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn is_harmless(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.to_ascii_lowercase();
    let runs =
        key.ends_with("pack") || key.ends_with(".update") && value.starts_with('!') || value.starts_with("ext::");
    let is_alias = key.starts_with("alias.") && !value.starts_with('!');
    // A submodule's configuration says where its files are.
    let is_place = key == "core.worktree" && value.starts_with("../../");
    !runs && (is_alias || is_place || HARMLESS.iter().any(|harmless| key.starts_with(harmless)))
}

fn git(arguments: &[&str], input: &str) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(PROJECT).args(["-c", "gc.auto=0"]).args(arguments);
    // What is replaced or belongs to a submodule is kept as well.
    command.env("GIT_NO_REPLACE_OBJECTS", "1");
    command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", format!("{PROJECT}/.git/modules/vendor/lib/objects"));
    command.env("GIT_DIR", format!("{PROJECT}/.git")).stderr(Stdio::null());
    player::fed(command, input.as_bytes())
}

fn lost_objects(objects: &str) -> Vec<Finding> {
    let said = git(&["cat-file", "--batch-check=%(objecttype)"], objects);
    let missing = said.lines().filter(|line| line.ends_with(" missing")).count();
    let answers = said.lines().count();
    let is_whole = missing == 0 && answers == objects.lines().count();
    let what = if answers == 0 { "the repository".to_owned() } else { format!("{missing} objects") };
    (!is_whole).then(|| Finding::new("lost objects", what)).into_iter().collect()
}

/// For each content whether git has it.
fn in_git(lost: &[(PathBuf, Rc<Vec<u8>>)]) -> Vec<bool> {
    let folder = Path::new("/var/tmp/lost");
    fs::create_dir_all(folder).unwrap();
    let mut names = String::new();
    for (number, (_, bytes)) in lost.iter().enumerate() {
        let path = folder.join(number.to_string());
        fs::write(&path, bytes.as_slice()).unwrap();
        names.push_str(&format!("{}\n", path.display()));
    }
    let mut hash = Command::new("git");
    hash.args(["hash-object", "--no-filters", "--stdin-paths"]).current_dir(folder);
    let hashes = player::fed(hash, names.as_bytes());
    let said = git(&["cat-file", "--batch-check"], &hashes);
    let kept: Vec<bool> = said.lines().map(|line| !line.ends_with(" missing")).collect();
    if kept.len() == lost.len() { kept } else { vec![false; lost.len()] }
}
