//! Disks made to waste time or to mislead: every answer is bounded, and says when it is not the whole truth.

use std::path::Path;
use std::time::{Duration, Instant};

use doorward_engine::{Content, Kind, Tally, Tracking, World};

use super::{DiskWorld, project_root};
use crate::loading::Loaded;
use crate::places::Places;

/// Generous beside the 20 ms of the budget: tests share their machine, and are not built for speed.
const SOON: Duration = Duration::from_millis(200);

fn world(root: &Path) -> DiskWorld {
    let root = root.to_str().unwrap();
    DiskWorld::new(&Places::at(root), root, project_root(root), &Loaded::default())
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
