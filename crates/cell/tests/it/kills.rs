//! Commits that are killed at any moment: the tree is before or after, never between.

use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use doorward_cell::Treatment;

use crate::support::{Place, Times, as_user, count, difference, tree};

/// Changes of every sort, some of which the file system can do only one after the other.
const CHANGES: &str = "for i in 1 2 3 4 5 6 7 8 9; do echo new > new$i; echo more >> old$i; done; rm -r tree; mkdir -p a/b/c; \
    echo x > a/b/c/x; ln -s x a/b/link; ln new1 a/hard; rm gone; rm -r turn; echo file > turn; chmod 700 old1; chmod 555 a/b";

fn fill(place: &Place) {
    let project = place.project();
    for path in
        (1..10).map(|number| format!("old{number}")).chain(["tree/1", "tree/2/3", "gone", "turn/in"].map(String::from))
    {
        let path = project.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "before\n").unwrap();
    }
    std::fs::write(place.path("outside/file"), "mine").unwrap();
}

/// In a process of its own, which is killed.
fn committer(base: PathBuf, id: &str) {
    let (run, deeds) = doorward_cell::Cell::at(base.join("state")).held(id).unwrap();
    println!("COMMITTING");
    let _ = run.commit(&deeds, &|_| Treatment::Commit);
}

fn kill_many(test: &str, kills: usize) {
    if let (Ok(base), Ok(id)) = (std::env::var("DOORWARD_CELL_BASE"), std::env::var("DOORWARD_CELL_RUN")) {
        committer(base.into(), &id);
        return;
    }
    if !as_user(test) {
        return;
    }
    let mut rng = fastrand::Rng::with_seed(count("DOORWARD_CELL_SEED", 7) as u64);
    let (mut unchanged, mut changed, mut done, mut longest) = (0, 0, 0, Duration::from_millis(20));
    let times = Times::RecentAlike { since: i64::MAX };
    let progress = std::env::var_os("DOORWARD_CELL_PROGRESS");
    for round in 0..kills {
        if let (0, Some(file)) = (round % 50, &progress) {
            std::fs::write(file, format!("{round} kills: {unchanged} before, {changed} after\n")).unwrap();
        }
        let place = Place::new();
        fill(&place);
        let ran = place.run(CHANGES);
        let mut deeds = ran.run.deeds().unwrap();
        let id = ran.run.hold(&mut deeds).unwrap();
        let before = tree(&place.project(), Times::Exact);
        let outside = tree(&place.path("outside"), Times::Exact);
        let mut child = Process::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture", "--include-ignored"])
            .env("DOORWARD_CELL_BASE", place.base.path())
            .env("DOORWARD_CELL_RUN", &id)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_start(child.stdout.take().unwrap());
        let began = std::time::Instant::now();
        let delay = rng.u64(0..longest.as_micros() as u64 * 5 / 4 + 1);
        std::thread::sleep(Duration::from_micros(delay));
        if child.try_wait().unwrap().is_some() {
            done += 1;
            longest = longest * 3 / 4;
        } else {
            longest = (longest + began.elapsed() / 8).min(Duration::from_millis(400));
        }
        let _ = child.kill();
        child.wait().unwrap();
        doorward_cell::recover(&place.path("state")).unwrap();
        let now = tree(&place.project(), Times::Exact);
        if difference(&before, &now).is_empty() {
            unchanged += 1;
            assert!(place.cell().held(&id).is_some(), "round {round}: what was held is still held");
        } else {
            let plain = Place::new();
            fill(&plain);
            let status = Process::new("/bin/sh").args(["-c", CHANGES]).current_dir(plain.project()).status().unwrap();
            assert!(status.success());
            let direct = strip(tree(&plain.project(), times));
            let between = difference(&direct, &strip(tree(&place.project(), times)));
            assert!(between.is_empty(), "round {round}: {between:#?}");
            changed += 1;
        }
        assert!(difference(&outside, &tree(&place.path("outside"), Times::Exact)).is_empty());
    }
    println!("FIGURE kills: {kills} kill -9, {unchanged} before, {changed} after ({done} had ended), 0 between");
}

/// Times are those of two runs; the crash simulator looks at them.
fn strip(
    mut entries: std::collections::BTreeMap<PathBuf, crate::support::Entry>,
) -> std::collections::BTreeMap<PathBuf, crate::support::Entry> {
    entries.values_mut().for_each(crate::support::Entry::forget_time);
    entries
}

fn wait_for_start(out: std::process::ChildStdout) {
    use std::io::BufRead as _;
    let mut lines = std::io::BufReader::new(out).lines();
    while !lines.next().unwrap().unwrap().contains("COMMITTING") {}
}

#[test]
fn a_killed_commit_is_before_or_after() {
    kill_many("kills::a_killed_commit_is_before_or_after", 25);
}

#[test]
#[ignore = "hours; DOORWARD_CELL_KILLS sets the number"]
fn long_a_killed_commit_is_before_or_after() {
    kill_many("kills::long_a_killed_commit_is_before_or_after", count("DOORWARD_CELL_KILLS", 10_000));
}
