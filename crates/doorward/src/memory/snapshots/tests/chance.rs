//! Trees and destructive calls by chance: what the hook approves and a shell runs comes back exactly.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::room::{Room, Tree};

/// Small, seeded and good enough.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn one<T: Clone>(&mut self, list: &[T]) -> T {
        let at = usize::try_from(self.below(list.len() as u64)).unwrap();
        list[at].clone()
    }
}

const DIRECTORIES: &[&str] = &["notes", "notes/deep", "data", "data/x/y", "src", "odd name"];
const NAMES: &[&str] = &["a.txt", "b.txt", "c.md", "d", "e.log", "-dash", "sp ace.txt", "ü.txt"];

fn content(chance: &mut Chance) -> Vec<u8> {
    let length = if chance.below(40) == 0 { 300_000 } else { chance.one(&[0, 1, 10, 1000, 5000]) };
    let start = chance.next();
    (0..length).map(|at: u64| (start.wrapping_mul(at + 1) >> 32) as u8).collect()
}

fn dress(path: &Path, chance: &mut Chance) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    if chance.below(4) == 0 {
        // Not every file system has them.
        let _ = super::super::doors::set_attribute(&file, "user.colour", "00ff10");
    }
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(chance.below(1_700_000_000_000_000_000));
    if chance.below(2) == 0 {
        file.set_modified(time).unwrap();
    }
    let mode = chance.one(&[0o644, 0o600, 0o755, 0o640, 0o444]);
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// Makes the project anew: some files committed, some of them changed, and many that git does not know. Yields whether git
/// knows any.
fn plant(room: &Room, chance: &mut Chance) -> bool {
    clear(room);
    let mut made = Vec::new();
    for _ in 0..3 + chance.below(12) {
        let path = room.at(chance.one(DIRECTORIES)).join(chance.one(NAMES));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content(chance)).unwrap();
        made.push(path);
    }
    room.put(".gitignore", "*.log\n");
    let is_committed = chance.below(3) == 0;
    if is_committed {
        let half: Vec<String> = made.iter().step_by(2).map(|path| format!("'{}'", path.display())).collect();
        assert!(room.shell(&format!("git add -f -- .gitignore {}; git commit -qm x", half.join(" "))));
        for path in made.iter().step_by(4) {
            std::fs::write(path, content(chance)).unwrap();
        }
    }
    made.iter().filter(|_| chance.below(3) == 0).collect::<Vec<_>>().into_iter().for_each(|path| dress(path, chance));
    if chance.below(3) == 0 {
        let _ = symlink("../nowhere", room.at("notes/link"));
    }
    if chance.below(4) == 0 {
        let _ = std::fs::write(room.at("data").join(OsStr::from_bytes(b"raw\xff")), "x");
    }
    if chance.below(5) == 0 {
        let _ = std::fs::create_dir_all(room.at("notes/empty"));
    }
    if chance.below(5) == 0
        && let Ok(file) = std::fs::File::create(room.at("data/sparse"))
    {
        file.set_len(600_000).unwrap();
    }
    is_committed
}

/// Takes everything out of the project, and out of git's index.
fn clear(room: &Room) {
    for entry in std::fs::read_dir(room.project()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() && !path.ends_with(".git") {
            std::fs::remove_dir_all(path).unwrap();
        } else if !path.ends_with(".git") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let _ = std::fs::remove_file(room.at(".git/index"));
}

fn call(room: &Room, chance: &mut Chance) -> String {
    let quoted = |path: PathBuf| format!("'{}'", path.strip_prefix(room.project()).unwrap().display());
    let files: Vec<PathBuf> = room
        .tree()
        .into_iter()
        .filter(|(path, seen)| seen.kind == 'f' && path.to_str().is_some())
        .map(|(path, _)| path)
        .collect();
    let (one, two) = (quoted(chance.one(&files)), quoted(chance.one(&files)));
    let directory = format!("'{}'", chance.one(DIRECTORIES));
    match chance.below(16) {
        0 | 1 => format!("rm -rf {directory}"),
        2 => format!("rm -f -- {one} {two}"),
        3 => format!("rm -f {directory}/*.txt"),
        4 => format!("echo other > {one}"),
        5 => format!("echo more > {one} && rm -f -- {two}"),
        6 => format!("mv -- {one} {two}"),
        7 => format!("mv -- {directory} moved"),
        8 => "git clean -fd".to_owned(),
        9 => "git clean -fdxq".to_owned(),
        10 => "git reset -q --hard".to_owned(),
        11 => format!("git checkout -q -- {one}"),
        12 => "git checkout -q .".to_owned(),
        13 => format!("git restore {directory}"),
        14 => format!("cd {directory} && rm -rf -- *"),
        _ => format!("cp -- {one} {two}"),
    }
}

/// The files that git has exactly as they are.
fn with_git(room: &Room) -> BTreeSet<PathBuf> {
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new("git").args(arguments).current_dir(room.project()).output().unwrap();
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.map(|name| room.project().join(OsStr::from_bytes(name))).collect::<BTreeSet<PathBuf>>()
    };
    let changed = run(&["ls-files", "-z", "-m", "-d"]);
    run(&["ls-files", "-z"]).into_iter().filter(|path| !changed.contains(path)).collect()
}

fn compare(room: &Room, before: &Tree, middle: &Tree, git: &BTreeSet<PathBuf>, about: &str) {
    let after = room.tree();
    for (path, seen) in before {
        let now = after.get(path).unwrap_or_else(|| panic!("{about}: {} is missing", path.display()));
        if git.contains(path) {
            assert_eq!(now.content, seen.content, "{about}: {}", path.display());
            continue;
        }
        let mut wanted = seen.clone();
        // A directory that stayed there was changed by taking files out and putting them back.
        if seen.kind == 'd' && middle.contains_key(path) {
            wanted.modified = now.modified;
        }
        // Below a directory that came back, git's own files were put back as well.
        if seen.kind == 'd' && git.iter().any(|file| file.starts_with(path)) {
            wanted.modified = now.modified;
        }
        assert!(wanted == *now, "{about}: {} was {wanted:?} and is {now:?}", path.display());
    }
}

/// So many runs; yields how many calls were approved and how many were not.
fn runs(count: u64, seed: u64, tell: bool) -> (u64, u64) {
    let (mut room, mut chance) = (Room::new(), Chance(seed));
    let (mut approved, mut asked) = (0, 0);
    for run in 0..count {
        if run % 200 == 199 {
            room = Room::new();
        }
        if tell && run % 500 == 0 {
            eprintln!("{run} of {count}: {approved} approved, {asked} asked");
        }
        let is_committed = plant(&room, &mut chance);
        let (id, command) = (format!("t{run}"), call(&room, &mut chance));
        let before = room.tree();
        let git = if is_committed { with_git(&room) } else { BTreeSet::new() };
        let (word, why) = room.bash(&id, &command);
        let about = format!("seed {seed} run {run}: {command}");
        if word != "allow" {
            asked += 1;
            continue;
        }
        approved += 1;
        room.shell(&command);
        let middle = room.tree();
        let is_told = chance.below(2) == 0;
        if is_told {
            room.ran(&id, &command);
        }
        if why.contains("doorward undo") && before != middle {
            match room.undo(&id, !is_told) {
                Ok(undone) => assert!(undone.short.is_empty(), "{about}: {:?}", undone.short),
                Err(error) => panic!("{about}: {error:#}"),
            }
        }
        let lost =
            git.iter().filter(|path| room.tree().get(*path).is_none_or(|now| now.content != before[*path].content));
        let lost: Vec<String> = lost.map(|path| format!("'{}'", path.display())).collect();
        if !lost.is_empty() {
            assert!(room.shell(&format!("git checkout -q -- {}", lost.join(" "))), "{about}: {lost:?}");
        }
        compare(&room, &before, &middle, &git, &about);
    }
    (approved, asked)
}

#[test]
fn whatever_is_approved_comes_back_exactly() {
    let (approved, asked) = runs(60, 0x5eed, false);
    assert!(approved > 20, "{approved} approved, {asked} asked");
}

#[test]
#[ignore = "takes minutes: cargo nextest run -p doorward --run-ignored only whatever_is_approved_comes_back_ten"]
fn whatever_is_approved_comes_back_ten_thousand_times() {
    let (approved, asked) = runs(10_000, 0xacce55, true);
    assert!(approved > 3_000, "{approved} approved, {asked} asked");
    eprintln!("10000 runs: {approved} approved and brought back, {asked} asked");
}
