//! Disks made to waste time or to mislead: every answer is bounded, and says when it is not the whole truth.

use std::path::Path;
use std::time::{Duration, Instant};

use doorward_engine::{Content, Kind, Machine, Repositories, Tally, Tracking};

use crate::machine::paths::Dirs;
use crate::machine::world::project_root;
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::Loaded;

/// Generous beside the 20 ms of the budget: tests share their machine, and are not built for speed.
const SOON: Duration = Duration::from_secs(5);

fn world(root: &Path) -> DiskWorld {
    let root = root.to_str().unwrap();
    DiskWorld::new(&Dirs::at(root), root, project_root(root), &Loaded::default())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The count stops, the answer says so, and it comes soon.
fn gives_up(directory: &Path) {
    let world = world(directory);
    let started = Instant::now();
    let tally = world.tally(text(directory));
    assert!(started.elapsed() < SOON, "took {:?}", started.elapsed());
    assert!(matches!(tally, Tally::More { .. }), "{tally:?}");
    assert_eq!(world.entries(text(directory)), None);
    assert!(!matches!(world.tracking(text(directory)), Tracking::Clean | Tracking::Rebuildable));
}

/// Names for one file, as many as one file may have, then for the next.
fn fill(directory: &Path, count: usize) {
    let mut original = directory.join("0");
    for number in 0..count {
        let path = directory.join(number.to_string());
        if number % 50_000 == 0 {
            std::fs::write(&path, "").unwrap();
            original = path;
        } else {
            std::fs::hard_link(&original, path).unwrap();
        }
    }
}

#[test]
fn a_directory_of_twenty_thousand_files_is_not_counted_to_the_end() {
    let base = tempfile::tempdir().unwrap();
    fill(base.path(), 20_000);
    gives_up(base.path());
}

#[test]
#[ignore = "makes a million files"]
fn a_directory_of_a_million_files_is_not_counted_to_the_end() {
    let base = tempfile::tempdir().unwrap();
    fill(base.path(), 1_000_000);
    gives_up(base.path());
}

#[test]
fn links_in_a_circle_are_not_walked() {
    let base = tempfile::tempdir().unwrap();
    let inner = base.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    std::os::unix::fs::symlink(base.path(), inner.join("up")).unwrap();
    std::os::unix::fs::symlink("self", inner.join("self")).unwrap();
    let tally = world(base.path()).tally(text(base.path()));
    assert!(matches!(tally, Tally::Counted { files: 2, unrestorable: 2, .. }), "{tally:?}");
}

#[test]
fn pipes_and_sockets_are_seen_and_never_opened() {
    let base = tempfile::tempdir().unwrap();
    let pipe = base.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = base.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for path in [&pipe, &socket] {
        let world = world(base.path());
        let started = Instant::now();
        assert_eq!(world.look(text(path)).kind, Kind::Special);
        assert_eq!(world.content(text(path), 10), Content::NotText);
        assert!(matches!(world.tally(text(path)), Tally::Counted { files: 1, unrestorable: 1, .. }));
        assert!(started.elapsed() < SOON);
    }
}

#[test]
fn a_tree_that_changes_during_the_walk_ends_the_walk_all_the_same() {
    let base = tempfile::tempdir().unwrap();
    let (here, there) = (base.path().join("d"), base.path().join("e"));
    std::fs::create_dir(&here).unwrap();
    fill(&here, 300);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _gone = std::fs::rename(&here, &there);
                let _back = std::fs::rename(&there, &here);
            }
        });
        for _ in 0..50 {
            let world = world(base.path());
            let tally = world.tally(text(base.path()));
            assert!(!matches!(tally, Tally::Counted { files: 1.., unrestorable: 0, .. }), "{tally:?}");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// What the whole engine says about a command in a directory, and how long that took.
fn judged(directory: &Path, command: &str) -> (doorward_engine::Verdict, Duration) {
    let mut loaded = Loaded::default();
    loaded.config.projects.trusted.push(text(directory).to_owned());
    let root = text(directory);
    let world = DiskWorld::new(&Dirs::at("/nowhere"), root, project_root(root), &loaded);
    let call = doorward_engine::ToolCall::bash(command, root);
    let started = Instant::now();
    let evaluation = crate::memory::evaluation::evaluate(&call, &world, &doorward_engine::Policy::built_in());
    (evaluation.judgement.verdict, started.elapsed())
}

fn git(directory: &Path, arguments: &[&str], input: &str) {
    use std::io::Write;
    let mut child = std::process::Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@e.example"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "git {arguments:?}");
}

#[test]
fn a_repository_of_fifty_thousand_files_is_judged_by_the_entry_of_the_file() {
    let base = tempfile::tempdir().unwrap();
    git(base.path(), &["init", "-q"], "");
    let entries: String = (0..50_000)
        .map(|number| format!("100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\tsrc/d{}/f{number}\n", number % 500))
        .collect();
    git(base.path(), &["hash-object", "-w", "--stdin"], "");
    git(base.path(), &["update-index", "--index-info"], &entries);
    std::fs::create_dir_all(base.path().join("src/d7")).unwrap();
    std::fs::write(base.path().join("src/d7/f7"), "").unwrap();
    std::fs::write(base.path().join("src/d7/new"), "").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    git(base.path(), &["update-index", "-q", "--refresh", "--force-write-index", "--ignore-missing"], "");
    let world = world(base.path());
    let started = Instant::now();
    assert_eq!(world.tracking(text(&base.path().join("src/d7/f7"))), Tracking::Clean);
    assert_eq!(world.tracking(text(&base.path().join("src/d7/new"))), Tracking::Untracked);
    let looked = started.elapsed();
    let (_, took) = judged(base.path(), "rm src/d7/f7 && git status && sed -n 1,5p src/d7/f7");
    println!("50,000 entries: two files in {looked:?}, a call in {took:?}");
    assert!(looked < SOON * 5 && took < SOON * 5, "{looked:?} {took:?}");
    let (verdict, _) = judged(base.path(), "rm -rf src");
    assert!(verdict > doorward_engine::Verdict::AutoApprove);
}

#[test]
fn a_directory_that_may_not_be_looked_into_is_not_known() {
    // Nothing is closed to the administrator.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let closed = base.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::write(closed.join("file"), "").unwrap();
    let mode = |mode: u32| -> std::fs::Permissions { std::os::unix::fs::PermissionsExt::from_mode(mode) };
    std::fs::set_permissions(&closed, mode(0o000)).unwrap();
    let world = world(base.path());
    let tally = world.tally(text(&closed));
    let verdict = judged(base.path(), "rm -rf closed").0;
    std::fs::set_permissions(&closed, mode(0o700)).unwrap();
    assert!(!matches!(tally, Tally::Counted { unrestorable: 0, .. }), "{tally:?}");
    assert!(verdict > doorward_engine::Verdict::AutoApprove);
}

#[test]
fn deleting_a_directory_that_is_too_large_to_count_is_not_approved() {
    let base = tempfile::tempdir().unwrap();
    git(base.path(), &["init", "-q"], "");
    let many = base.path().join("many");
    std::fs::create_dir(&many).unwrap();
    fill(&many, 20_000);
    for command in ["rm -rf many", "rm many/*", "find many -delete", "mv many /tmp/elsewhere"] {
        let (verdict, took) = judged(base.path(), command);
        assert!(verdict > doorward_engine::Verdict::AutoApprove, "{command}");
        assert!(took < SOON * 5, "{command} took {took:?}");
    }
}
