//! Repositories made to mislead or to waste time: damage is said to be damage, and every answer comes soon.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::chance::Chance;
use super::super::index::Index;
use super::made::{TestRepository, ask, text};
use super::{Budget, HashFormat, Id, Objects, Unread};

/// Generous: tests share their machine, and are not built for speed.
const SOON: Duration = Duration::from_secs(5);

/// Everything that is asked of a damaged repository, told as one text.
fn asked(objects: &Objects, ids: &[Id]) -> Vec<Result<String, Unread>> {
    let mut answers = Vec::new();
    for name in ["HEAD", "main~2", "v1^{tree}", "@{-1}", "stash@{0}", "main@{1}", "abcd", "topic"] {
        answers.push(objects.resolve(name).map(|id| id.to_string()));
    }
    for pair in ids.windows(2) {
        answers.push(objects.diff(Some(pair[0]), pair[1]).map(|changes| format!("{changes:?}")));
        answers.push(objects.merge_bases(&pair[0], &pair[1], 200).map(|bases| format!("{bases:?}")));
        answers.push(objects.between(&pair[..1], pair[1], 200).map(|commits| format!("{commits:?}")));
        answers.push(objects.read(&pair[0], 1 << 20).map(|object| format!("{object:?}")));
    }
    answers
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Cuts a file off, or changes some of its bytes.
fn damaged(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.is_empty() || chance.one_in(5) {
        bytes.truncate(chance.below(bytes.len() + 1));
        return bytes;
    }
    for _ in 0..=chance.below(3) {
        // Heads and tables lie at the beginning and matter most.
        let within = if chance.one_in(2) { bytes.len().min(1200) } else { bytes.len() };
        let at = chance.below(within);
        bytes[at] = u8::try_from(chance.below(256)).unwrap();
    }
    bytes
}

/// Damages each kind of file again and again. Objects then say what they said before, or nothing.
fn damage(seed: u64, rounds: usize) -> usize {
    let made = TestRepository::new(seed);
    let ids: Vec<Id> = made.git(&["rev-list", "--all"]).lines().filter_map(Id::parse).take(6).collect();
    let whole = asked(&made.objects(), &ids);
    let mut paths = Vec::new();
    files(&made.common, &mut paths);
    paths.retain(|path| path.to_str().is_some_and(|path| !path.contains("/hooks/")));
    let mut chance = Chance::new(seed);
    let mut noticed = 0;
    for _ in 0..rounds {
        let path = &paths[chance.below(paths.len())];
        let bytes = std::fs::read(path).unwrap();
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, damaged(&bytes, &mut chance)).unwrap();
        let objects = Objects::at(&made.git_directory, &made.common, made.format);
        let started = Instant::now();
        let answers = asked(&objects, &ids);
        assert!(started.elapsed() < SOON, "seed {seed}: {path:?} took {:?}", started.elapsed());
        let is_object = path.strip_prefix(made.common.join("objects")).is_ok_and(|inner| !inner.starts_with("info"));
        for (answer, before) in answers.iter().zip(&whole) {
            noticed += usize::from(answer != before);
            assert!(
                !is_object || answer == before || answer.is_err(),
                "seed {seed}: {path:?}: {answer:?}, was {before:?}"
            );
        }
        std::fs::write(path, bytes).unwrap();
    }
    noticed
}

#[test]
fn damage_is_noticed_or_does_not_matter() {
    let noticed: usize = [3, 5, 8, 13].map(|seed| damage(seed, 60)).iter().sum();
    assert!(noticed > 100, "only {noticed} answers changed");
}

#[test]
#[ignore = "takes minutes: more of the same"]
fn much_damage_is_noticed_or_does_not_matter() {
    (100..160).for_each(|seed| {
        damage(seed, 200);
    });
}

#[test]
fn a_damaged_index_never_panics() {
    let made = TestRepository::new(7);
    made.git(&["reset", "-q", "--hard", "main"]);
    let bytes = std::fs::read(made.git_directory.join("index")).unwrap();
    let mut chance = Chance::new(7);
    let mut read = 0;
    for _ in 0..5_000 {
        let index = Index::parse(damaged(&bytes, &mut chance), made.format.length(), std::time::SystemTime::now());
        let Some(index) = index else { continue };
        read += index.entries().count();
        assert_eq!(index.id_of("not there"), None);
    }
    assert!(read > 0);
}

/// A repository with one loose object in it, whose name it returns.
fn with_loose(bytes: &[u8], id: &str) -> (tempfile::TempDir, Id) {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q"]);
    let path = base.path().join(".git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    (base, Id::parse(id).unwrap())
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
}

fn opened(base: &Path) -> Objects {
    Objects::at(&base.join(".git"), &base.join(".git"), HashFormat::Sha1)
}

#[test]
fn bombs_stop_at_the_budget() {
    let id = "ab".repeat(20);
    let zeros = vec![0; 40 << 20];
    // Says that it is small, and is not.
    let (base, name) = with_loose(&deflated(&[b"blob 10\0", &zeros[..]].concat()), &id);
    assert_eq!(opened(base.path()).read(&name, 1 << 30), Err(Unread::Corrupt));
    // Says how large it is.
    let head = format!("blob {}\0", zeros.len());
    let (base, name) = with_loose(&deflated(&[head.as_bytes(), &zeros[..]].concat()), &id);
    assert_eq!(opened(base.path()).read(&name, 1 << 30), Err(Unread::OverBudget));
    assert_eq!(opened(base.path()).read(&name, 1 << 20), Err(Unread::TooLarge));
    // Another object than the one asked for.
    let (base, name) = with_loose(&deflated(b"blob 2\0hi"), &id);
    assert_eq!(opened(base.path()).read(&name, 1 << 20), Err(Unread::Corrupt));
}

/// Stores an object as it is, without git's checks, and returns its name.
fn store(base: &Path, kind: &str, bytes: &[u8]) -> Id {
    let path = base.join("object");
    std::fs::write(&path, bytes).unwrap();
    let hex = text(base, &["hash-object", "-w", "--literally", "-t", kind, path.to_str().unwrap()]);
    Id::parse(&hex).unwrap()
}

fn entry(mode: &str, name: &[u8], id: Id) -> Vec<u8> {
    [mode.as_bytes(), b" ", name, b"\0", id.bytes()].concat()
}

#[test]
fn trees_that_git_would_not_write_are_corrupt() {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q"]);
    let blob = store(base.path(), "blob", b"x");
    let check = |tree: &[Vec<u8>], expected: Result<usize, Unread>| {
        let id = store(base.path(), "tree", &tree.concat());
        assert_eq!(opened(base.path()).diff(None, id).map(|changes| changes.len()), expected, "{tree:?}");
    };
    let file = |name: &str| entry("100644", name.as_bytes(), blob);
    check(&[file("a"), file("b")], Ok(2));
    check(&[file("b"), file("a")], Err(Unread::Corrupt));
    check(&[file("a"), file("a")], Err(Unread::Corrupt));
    for name in [".git", ".GIT", "..", ".", "", "a/b", "git~1", "Git~1"] {
        check(&[file(name)], Err(Unread::Corrupt));
    }
    check(&[entry("100644", b"\xff", blob)], Err(Unread::Corrupt));
    for mode in ["100664", "040000", "777", "100600", ""] {
        check(&[entry(mode, b"a", blob)], Err(Unread::Corrupt));
    }
    let empty = HashFormat::Sha1.empty_tree();
    check(&[file("a"), file("a.b"), entry("40000", b"a", empty)], Err(Unread::Corrupt));
    check(&[file("a.b"), entry("40000", b"a", empty)], Ok(1));
    check(&[entry("40000", b"a", blob)], Err(Unread::Corrupt));
    check(&[entry("100644", b"a", Id::from_bytes(&[0; 20]).unwrap())], Err(Unread::Corrupt));
}

#[test]
fn trees_full_of_one_another_stop_at_the_budget() {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q"]);
    let mut id = HashFormat::Sha1.empty_tree();
    for _ in 0..12 {
        let tree: Vec<Vec<u8>> = (b'a'..=b'j').map(|name| entry("40000", &[name], id)).collect();
        id = store(base.path(), "tree", &tree.concat());
    }
    let started = Instant::now();
    assert_eq!(opened(base.path()).diff(None, id), Err(Unread::OverBudget));
    assert!(started.elapsed() < SOON);
}

#[test]
fn long_chains_and_histories_stop_at_the_budget() {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q", "-b", "main"]);
    let mut stream = String::new();
    for number in 0..2_000 {
        stream
            .push_str(&format!("commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata 0\n", 1_700_000_000 + number));
        stream.push_str(&format!(
            "M 644 inline f\ndata {}\n{}{number}\n\n",
            3_000 + number.to_string().len(),
            "x".repeat(3_000)
        ));
    }
    ask(base.path(), &["fast-import", "--quiet", "--depth=4000"], &stream);
    let objects = opened(base.path());
    let head = objects.resolve("HEAD").unwrap();
    assert_eq!(objects.between(&[], head, 100), Err(Unread::OverBudget));
    assert_eq!(opened(base.path()).between(&[], head, usize::MAX), Err(Unread::OverBudget));
    assert_eq!(opened(base.path()).resolve("HEAD~400").map(|_| ()), Ok(()));
    assert_eq!(opened(base.path()).resolve("HEAD~4000"), Err(Unread::OverBudget));
    let few = Objects::within(
        &base.path().join(".git"),
        &base.path().join(".git"),
        HashFormat::Sha1,
        Budget::new(2, 1 << 20),
    );
    assert_eq!(few.resolve("HEAD~3"), Err(Unread::OverBudget));
    assert_eq!(opened(base.path()).resolve(&"HEAD^".repeat(1_000)), Err(Unread::OverBudget));
}

#[test]
fn circles_end() {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q", "-b", "main"]);
    let git = base.path().join(".git");
    std::fs::write(git.join("refs/heads/a"), "ref: refs/heads/b\n").unwrap();
    std::fs::write(git.join("refs/heads/b"), "ref: refs/heads/a\n").unwrap();
    assert_eq!(opened(base.path()).resolve("a"), Err(Unread::Corrupt));
    std::fs::create_dir_all(git.join("objects/info")).unwrap();
    std::fs::write(git.join("objects/info/alternates"), "../objects\n../../.git/objects\n").unwrap();
    let started = Instant::now();
    assert!(opened(base.path()).read(&Id::parse(&"ab".repeat(20)).unwrap(), 10).is_err());
    assert!(started.elapsed() < SOON);
}
