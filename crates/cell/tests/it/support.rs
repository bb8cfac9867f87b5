//! An ordinary user, a tree to work on, and a way to compare trees.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use doorward_cell::{Cell, Command, Output, Plan, Run};
use tempfile::TempDir;

/// Nobody in particular, and not root.
const USER: u32 = 65534;

/// Says loudly what is not tested because something is missing; in continuous integration that is a failure.
#[allow(clippy::print_stderr, reason = "what is not tested has to be said")]
pub(crate) fn skip(why: &str) {
    eprintln!("SKIPPED: {why}");
    // What a test that passes prints is mostly not shown: `./test` shows this file at its end.
    if let Some(file) = std::env::var_os("DOORWARD_SKIPPED") {
        let written = std::fs::OpenOptions::new().create(true).append(true).open(file);
        let _ = written.and_then(|mut file| writeln!(file, "{why}"));
    }
    assert!(std::env::var_os("CI").is_none_or(|value| value.is_empty()), "nothing may be skipped here: {why}");
}

/// Whether the test goes on in this process. Root runs it again as an ordinary user, who can't be anyone's worst case.
pub(crate) fn as_user(test: &str) -> bool {
    if rustix::process::geteuid().is_root() {
        again_as_user(test);
        return false;
    }
    let state = TempDir::new().unwrap();
    match Cell::at(state.path()).probe() {
        Ok(_) => true,
        Err(missing) => {
            skip(&format!("the box: {missing}"));
            false
        }
    }
}

fn again_as_user(test: &str) {
    let place = TempDir::new().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    // The build directory may be readable for its owner alone.
    let program = place.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = std::process::Command::new(&program)
        .args([test, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"])
        .uid(USER)
        .gid(USER)
        .env("TMPDIR", place.path())
        .env("HOME", place.path())
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("1 passed"), "as user {USER}: {said}");
    for line in said.lines().filter(|line| line.contains("SKIPPED: ") || line.contains("FIGURE ")) {
        println!("{line}");
    }
}

/// A state directory, a home and a project in it, and a place outside.
pub(crate) struct Place {
    pub(crate) base: TempDir,
}

/// What a run printed, and the run.
pub(crate) struct Boxed {
    pub(crate) run: Run,
    pub(crate) out: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        let base = TempDir::new().unwrap();
        for name in ["state", "home", "home/project", "outside"] {
            std::fs::create_dir(base.path().join(name)).unwrap();
        }
        Place { base }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("home/project")
    }

    pub(crate) fn cell(&self) -> Cell {
        Cell::at(self.path("state"))
    }

    pub(crate) fn plan(&self, text: &str) -> Plan {
        let shell = Command::Shell { shell: "/bin/sh".into(), text: text.into() };
        let mut plan = Plan::new(shell, self.project());
        plan.home = Some(self.path("home"));
        plan.env = environment(&self.path("home"));
        plan
    }

    pub(crate) fn run(&self, text: &str) -> Boxed {
        self.run_plan(self.plan(text))
    }

    pub(crate) fn run_plan(&self, mut plan: Plan) -> Boxed {
        let file = tempfile::tempfile().unwrap();
        plan.stdout = Output::To(file.try_clone().unwrap().into());
        plan.stderr = Output::To(file.try_clone().unwrap().into());
        let run = self.cell().run(plan).unwrap();
        let mut out = String::new();
        let mut file = file;
        std::io::Seek::rewind(&mut file).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        out.push_str(&String::from_utf8_lossy(&bytes));
        Boxed { run, out }
    }
}

/// The same for a boxed and for a direct run.
pub(crate) fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let mut env = vec![("HOME".into(), home.into()), ("LC_ALL".into(), "C".into())];
    env.push(("PATH".into(), std::env::var_os("PATH").unwrap_or_default()));
    env.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    for name in ["AUTHOR", "COMMITTER"] {
        env.push((format!("GIT_{name}_NAME").into(), "A".into()));
        env.push((format!("GIT_{name}_EMAIL").into(), "a@example.org".into()));
        env.push((format!("GIT_{name}_DATE").into(), "2026-01-01T00:00:00Z".into()));
    }
    env
}

/// Everything about one entry that a commit keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    mode: u32,
    content: Vec<u8>,
    attributes: Vec<(OsString, Vec<u8>)>,
    /// Seconds; only whether it is recent, if `now` is.
    modified: i64,
    /// The first name of the same file.
    same_as: PathBuf,
}

/// When a time counts as "now".
#[derive(Debug, Clone, Copy)]
pub(crate) enum Times {
    Exact,
    RecentAlike { since: i64 },
}

pub(crate) fn tree(root: &Path, times: Times) -> BTreeMap<PathBuf, Entry> {
    let mut entries = BTreeMap::new();
    let mut names: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    let mut shut = Vec::new();
    let mut paths = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        let mode = directory.metadata().unwrap().permissions();
        if mode.mode() & 0o500 != 0o500 {
            std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode.mode() | 0o500)).unwrap();
            shut.push((directory.clone(), mode));
        }
        let mut inside: Vec<PathBuf> =
            std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        open.extend(inside.iter().filter(|path| path.symlink_metadata().unwrap().is_dir()).cloned());
        paths.append(&mut inside);
    }
    paths.sort();
    for path in paths {
        let found = path.symlink_metadata().unwrap();
        let relative = path.strip_prefix(root).unwrap().to_path_buf();
        let same_as = names.entry((found.dev(), found.ino())).or_insert_with(|| relative.clone()).clone();
        let content = if found.is_file() {
            std::fs::read(&path).unwrap_or_else(|_| b"unreadable".to_vec())
        } else if found.is_symlink() {
            std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            Vec::new()
        };
        let modified = match times {
            Times::RecentAlike { since } if found.mtime() >= since => i64::MAX,
            Times::RecentAlike { .. } => found.mtime(),
            Times::Exact => found.mtime() * 1_000_000_000 + found.mtime_nsec(),
        };
        let attributes = if found.is_symlink() { Vec::new() } else { attributes(&path) };
        entries.insert(relative, Entry { mode: found.mode(), content, attributes, modified, same_as });
    }
    // Opened from the outside in, so shut from the inside out.
    for (directory, mode) in shut.into_iter().rev() {
        entries.get_mut(directory.strip_prefix(root).unwrap()).unwrap().mode = mode.mode();
        std::fs::set_permissions(directory, mode).unwrap();
    }
    entries
}

fn attributes(path: &Path) -> Vec<(OsString, Vec<u8>)> {
    let mut list = Vec::with_capacity(8192);
    if rustix::fs::llistxattr(path, rustix::buffer::spare_capacity(&mut list)).is_err() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for name in list.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name: OsString = std::os::unix::ffi::OsStringExt::from_vec(name.to_vec());
        let mut value = Vec::with_capacity(8192);
        let _ = rustix::fs::lgetxattr(path, name.as_os_str(), rustix::buffer::spare_capacity(&mut value));
        found.push((name, value));
    }
    found.sort();
    found
}

/// Where two trees differ, for a person to read.
pub(crate) fn difference(one: &BTreeMap<PathBuf, Entry>, other: &BTreeMap<PathBuf, Entry>) -> Vec<String> {
    let paths: std::collections::BTreeSet<&PathBuf> = one.keys().chain(other.keys()).collect();
    let differing = paths.into_iter().filter(|path| one.get(*path) != other.get(*path));
    let short = |entry: Option<&Entry>| {
        entry.map_or("absent".to_owned(), |entry| {
            let text = String::from_utf8_lossy(&entry.content[..entry.content.len().min(40)]).into_owned();
            format!("{:o} {text:?} {} {} {:?}", entry.mode, entry.modified, entry.same_as.display(), entry.attributes)
        })
    };
    differing
        .map(|path| format!("{}: {} <> {}", path.display(), short(one.get(path)), short(other.get(path))))
        .collect()
}

/// How often a long test repeats; a short run unless the environment says otherwise.
pub(crate) fn count(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

impl Entry {
    pub(crate) fn forget_time(&mut self) {
        self.modified = 0;
    }
}
