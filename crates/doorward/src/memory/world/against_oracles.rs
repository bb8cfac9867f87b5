//! What the disk world says, against what the kernel and git say, on random trees. It may be stricter, never laxer.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use doorward_engine::path::{Follow, resolve};
use doorward_engine::{Machine, Repositories, Tally, Tracking};

use crate::machine::paths::Dirs;
use crate::machine::world::chance;
use crate::machine::world::chance::{Chance, NAMES};
use crate::machine::world::project_root;
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::Loaded;

fn world(home: &Path, root: &Path) -> DiskWorld {
    let root = root.to_str().unwrap();
    DiskWorld::new(&Dirs::at(home.to_str().unwrap()), root, project_root(root), &Loaded::default())
}

/// Asks about random paths of one tree. Returns how many were resolved, and how many were given up.
fn paths(seed: u64) -> (usize, usize) {
    let mut chance = Chance::new(seed);
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    let directories = chance::directories(&base, &mut chance);
    chance::links(&base, &directories, &mut chance);
    let world = world(&base, &base);
    let (mut resolved, mut lost, mut further) = (0, 0, 0);
    for _ in 0..40 {
        let mut path = directories[chance.below(directories.len())].to_str().unwrap().to_owned();
        for _ in 0..=chance.below(4) {
            path.push('/');
            path.push_str(match chance.below(6) {
                0 => "..",
                1 => ".",
                2 => "",
                _ => chance.pick(NAMES),
            });
        }
        let ours = resolve(&path, &world, Follow::Last);
        match soft_canonicalize::soft_canonicalize(&path) {
            _ if ours.lost => lost += 1,
            Ok(real) if real == Path::new(&ours.real) => resolved += 1,
            // The oracle follows no link after something that is not there, not even after a `..` behind it; we do.
            Ok(real) => {
                let ends = soft_canonicalize::soft_canonicalize(&ours.real).unwrap();
                assert_eq!(ends, Path::new(&ours.real), "seed {seed}: {path:?} is {real:?}");
                assert!(std::fs::canonicalize(&path).is_err(), "seed {seed}: {path:?} is {real:?}");
                further += 1;
            }
            // The oracle takes a link to something missing of the same name for a circle; the kernel does not.
            Err(error) => {
                let kernel = std::fs::canonicalize(&path).map_err(|error| error.kind());
                let is = &ours.real;
                assert_eq!(kernel, Err(std::io::ErrorKind::NotFound), "seed {seed}: {path:?} is {is:?}, but {error}");
                further += 1;
            }
        }
        // Where the kernel itself gets through, there is no excuse for giving up.
        if let Ok(real) = std::fs::canonicalize(&path) {
            assert_eq!((ours.lost, Path::new(&ours.real)), (false, real.as_path()), "seed {seed}: {path:?}");
        }
    }
    assert!(further <= 20, "seed {seed}: {further} paths lead elsewhere than the oracle says");
    (resolved, lost)
}

#[test]
fn paths_lead_where_the_kernel_says() {
    let (resolved, lost) = (0..300).map(paths).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(resolved > 20 * lost && lost > 0, "{resolved} resolved, {lost} given up");
}

#[test]
#[ignore = "takes a minute: more of the same"]
fn paths_lead_where_the_kernel_says_on_many_trees() {
    (1_000..21_000).for_each(|seed| {
        paths(seed);
    });
}

#[test]
fn a_link_that_cannot_be_read_as_text_leads_nowhere_known() {
    use std::os::unix::ffi::OsStrExt;
    let base = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"\xff/../../../../../etc/passwd");
    symlink(odd, base.path().join("notes")).unwrap();
    let path = base.path().join("notes").to_str().unwrap().to_owned();
    assert!(resolve(&path, &world(base.path(), base.path()), Follow::Last).lost);
}

const PATTERNS: &[&str] = &[
    "*.log",
    "!keep.log",
    "build/",
    "/target",
    "out",
    "a/",
    "/a",
    "a/b",
    "**/b",
    "a/**",
    "a/**/b",
    "src/*",
    "!src/a",
    "*",
    "!*/",
    "?",
    "[a-c]",
    "[!a]",
    "[^a]",
    "[]a]",
    "[a",
    "[[:alpha:]]",
    "[\\a]",
    "[a\\]b]",
    "[é]",
    "a**",
    "**a",
    "a**/b",
    "***",
    "\\#x",
    "#x",
    "\\!x",
    "!x",
    "two words",
    "trail\\ ",
    "trail ",
    " lead",
    "x\t",
    "\\*",
    "\\\\",
    "a\\",
    "é",
    "日*",
    "node_modules/",
    "/**/",
    "/",
    "**",
    "*/b",
    "/*/c",
    "A",
    "{x}",
    "README",
    "-rf",
    "**/",
    "*/",
    "d1/**/",
    "[a-",
    "[z-a]",
    "[--0]",
    "\"",
    "...",
];

struct Tree {
    home: PathBuf,
    root: PathBuf,
}

impl Tree {
    fn git(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut child = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@e.example", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(&self.root)
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap().stdout
    }

    fn names(&self, arguments: &[&str], input: &[u8]) -> BTreeSet<String> {
        let said = self.git(arguments, input);
        said.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(|name| text(name).to_owned()).collect()
    }

    /// Tracked files that differ from the index.
    fn changed(&self) -> BTreeSet<String> {
        let said = self.git(&["-c", "status.renames=false", "status", "--porcelain", "-z", "-uno"], b"");
        let lines = said.split(|byte| *byte == 0).filter(|line| line.len() > 3);
        lines.filter(|line| line[1] != b' ').map(|line| text(&line[3..]).to_owned()).collect()
    }

    /// Every path below the root but git's own, directories of other repositories left out.
    fn walk(&self, inner: &str, found: &mut Vec<(String, bool)>) {
        for entry in std::fs::read_dir(self.root.join(inner)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{inner}{}", entry.file_name().into_string().unwrap());
            let is_directory = entry.file_type().unwrap().is_dir();
            let is_other = is_directory && entry.path().join(".git").symlink_metadata().is_ok();
            if entry.file_name() == ".git" || is_other {
                continue;
            }
            found.push((name.clone(), is_directory));
            if is_directory {
                self.walk(&format!("{name}/"), found);
            }
        }
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn fill(directories: &[PathBuf], chance: &mut Chance) {
    for _ in 0..3 + chance.below(12) {
        let path = directories[chance.below(directories.len())].join(chance.pick(NAMES));
        if path.symlink_metadata().is_err() {
            std::fs::write(path, chance.pick(&["", "x", "longer"])).unwrap();
        }
    }
}

fn ignore_some(directories: &[PathBuf], chance: &mut Chance) {
    for _ in 0..=chance.below(2) {
        let lines: Vec<&str> = (0..1 + chance.below(4)).map(|_| chance.pick(PATTERNS)).collect();
        let end = chance.pick(&["\n", "\r\n"]);
        let directory = if chance.one_in(2) { &directories[0] } else { &directories[chance.below(directories.len())] };
        std::fs::write(directory.join(".gitignore"), lines.join(end) + end).unwrap();
    }
}

/// Compares one tree. Returns how many paths were compared, and about how many we knew less than git.
fn trees(seed: u64) -> (usize, usize) {
    let mut chance = Chance::new(seed);
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    let mut tree = Tree { home: base.join("h"), root: base.join("w") };
    std::fs::create_dir_all(&tree.home).unwrap();
    std::fs::create_dir(&tree.root).unwrap();
    tree.git(&["init", "-q", "-b", "trunk"], b"");
    let mut directories = chance::directories(&tree.root, &mut chance);
    fill(&directories, &mut chance);
    chance::links(&tree.root, &directories, &mut chance);
    ignore_some(&directories, &mut chance);
    tree.git(if chance.one_in(4) { &["add", "-Af"] } else { &["add", "-A"] }, b"");
    tree.git(&["commit", "-qm", "x", "--allow-empty"], b"");
    match chance.below(6) {
        0 => {
            let second = base.join("second");
            tree.git(&["worktree", "add", "-q", "-b", "side", second.to_str().unwrap()], b"");
            tree.root = second;
            directories = vec![tree.root.clone()];
        }
        1 => {
            let outer = base.join("outer");
            std::fs::create_dir(&outer).unwrap();
            let inner = std::mem::replace(&mut tree.root, outer);
            tree.git(&["init", "-q"], b"");
            tree.git(&["submodule", "--quiet", "add", inner.to_str().unwrap(), "sub"], b"");
            tree.root = tree.root.join("sub");
            directories = vec![tree.root.clone()];
        }
        _ => {}
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    tree.git(&["update-index", "-q", "--refresh", "--force-write-index"], b"");
    std::thread::sleep(std::time::Duration::from_millis(10));
    change(&tree, &directories, &mut chance);
    compare(&tree, seed)
}

/// Changes, deletes and adds files after the commit.
fn change(tree: &Tree, directories: &[PathBuf], chance: &mut Chance) {
    let mut found = Vec::new();
    tree.walk("", &mut found);
    for (name, is_directory) in found {
        let path = tree.root.join(name);
        if is_directory || !path.symlink_metadata().unwrap().is_file() {
            continue;
        }
        match chance.below(8) {
            0 => std::fs::write(path, "changed").unwrap(),
            1 => std::fs::remove_file(path).unwrap(),
            _ => {}
        }
    }
    fill(directories, chance);
}

fn compare(tree: &Tree, seed: u64) -> (usize, usize) {
    let mut found = Vec::new();
    tree.walk("", &mut found);
    let tracked = tree.names(&["ls-files", "-z"], b"");
    let changed = tree.changed();
    let asked: Vec<u8> = found.iter().flat_map(|(name, _)| [name.as_bytes(), b"\0"].concat()).collect();
    let ignored = tree.names(&["check-ignore", "-z", "--stdin"], &asked);
    let world = world(&tree.home, &tree.root);
    let mut less = 0;
    let is_restorable = |name: &String| {
        (tracked.contains(name) && !changed.contains(name)) || (!tracked.contains(name) && ignored.contains(name))
    };
    for (name, is_directory) in &found {
        let path = tree.root.join(name).to_str().unwrap().to_owned();
        let ours = world.tracking(&path);
        let told = format!("seed {seed}: {name:?} is {ours:?}; ignored by git: {}", ignored.contains(name));
        if *is_directory {
            let below: Vec<&String> = found
                .iter()
                .filter(|(file, dir)| !dir && file.starts_with(&format!("{name}/")))
                .map(|(file, _)| file)
                .collect();
            if let Tally::Counted { files, unrestorable: 0, .. } = world.tally(&path) {
                assert_eq!(usize::try_from(files).unwrap(), below.len(), "{told}");
                assert!(below.iter().all(|file| is_restorable(file)), "{told}");
            }
            if ours == Tracking::Clean {
                assert!(below.iter().all(|file| is_restorable(file)), "{told}");
            }
            continue;
        }
        match ours {
            Tracking::Clean => assert!(tracked.contains(name) && !changed.contains(name), "{told}"),
            Tracking::Modified => assert!(tracked.contains(name), "{told}"),
            Tracking::Rebuildable => assert!(ignored.contains(name), "{told}"),
            Tracking::Untracked => assert!(!tracked.contains(name) && !ignored.contains(name), "{told}"),
            Tracking::Ignored => less += usize::from(!ignored.contains(name)),
            Tracking::Outside => panic!("{told}"),
            Tracking::Unknown => less += 1,
        }
    }
    (found.len(), less)
}

#[test]
fn git_tracks_and_ignores_what_we_say() {
    let (compared, less) = (0..100).map(trees).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(
        compared > 500 && less * 5 < compared,
        "of {compared} paths {less} are known less well than git knows them"
    );
}

#[test]
#[ignore = "takes minutes: more of the same"]
fn git_tracks_and_ignores_what_we_say_on_many_trees() {
    (1_000..4_000).for_each(|seed| {
        trees(seed);
    });
}
