//! What is listed, what is put in place, and what is refused.

use std::os::unix::fs::PermissionsExt as _;

use doorward_cell::{DeedKind, Input, PlanError, Refused, RunError, Treatment};

use crate::support::{Place, as_user};

fn all(_: &doorward_cell::Deed) -> Treatment {
    Treatment::Commit
}

#[test]
fn deeds_name_every_path_once_and_a_commit_does_them() {
    if !as_user("commits::deeds_name_every_path_once_and_a_commit_does_them") {
        return;
    }
    let place = Place::new();
    let project = place.project();
    for (name, text) in [("a", "1"), ("b", "2"), ("moved", "the same words"), ("mode", "m")] {
        std::fs::write(project.join(name), text).unwrap();
    }
    std::fs::create_dir(project.join("old")).unwrap();
    std::fs::write(project.join("old/in"), "x").unwrap();
    std::fs::create_dir(project.join("again")).unwrap();
    std::fs::write(project.join("again/in"), "x").unwrap();
    let ran = place.run(
        "echo new > c; echo more >> a; rm b; mv moved there; chmod 600 mode; ln -s a link; ln c c2; mkdir d; rm -r old; \
         rm -r again; mkdir again; mkfifo pipe; echo said; exit 7",
    );
    assert_eq!((ran.run.status(), ran.out.as_str()), (7, "said\n"));
    let deeds = ran.run.deeds().unwrap();
    let mut found: Vec<(String, DeedKind)> = deeds
        .list()
        .iter()
        .map(|deed| (deed.path.strip_prefix(&project).unwrap().display().to_string(), deed.kind.clone()))
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("a", DeedKind::Changed),
        ("again", DeedKind::ReplacedDirectory),
        ("again/in", DeedKind::Deleted { to: None }),
        ("b", DeedKind::Deleted { to: None }),
        ("link", DeedKind::Symlink { target: "a".into() }),
        ("mode", DeedKind::Mode),
        ("moved", DeedKind::Deleted { to: Some(project.join("there")) }),
        ("old", DeedKind::RemovedDirectory),
        ("old/in", DeedKind::Deleted { to: None }),
        ("pipe", DeedKind::Special),
        ("there", DeedKind::Renamed { from: project.join("moved") }),
        ("d", DeedKind::MadeDirectory),
    ];
    for (path, kind) in expected {
        assert!(found.contains(&(path.to_owned(), kind.clone())), "{path} {kind:?} not in {found:?}");
    }
    let of_c: Vec<_> = found.iter().filter(|(path, _)| path == "c" || path == "c2").map(|(_, kind)| kind).collect();
    assert!(
        of_c.contains(&&DeedKind::Created) && of_c.iter().any(|kind| matches!(kind, DeedKind::HardLink { .. })),
        "{of_c:?}"
    );
    assert_eq!(found.len(), expected_len());
    let changed = deeds.list().iter().find(|deed| deed.path.ends_with("a")).unwrap();
    assert_eq!(deeds.content_before(changed, 100).unwrap(), b"1");
    assert_eq!(deeds.content_after(changed, 100).unwrap(), b"1more\n");
    assert_eq!(deeds.content_after(changed, 2).unwrap(), b"1m");
    assert!(!project.join("c").exists(), "nothing is in place before the commit");
    ran.run.commit(&deeds, &all).unwrap();
    assert_eq!(std::fs::read_to_string(project.join("c")).unwrap(), "new\n");
    assert!(!project.join("old").exists() && !project.join("b").exists() && project.join("again").is_dir());
    assert_eq!(std::fs::read_dir(place.path("state")).unwrap().count(), 0, "the run is gone");
}

fn expected_len() -> usize {
    14
}

#[test]
fn discarding_leaves_nothing_whatever_its_modes() {
    if !as_user("commits::discarding_leaves_nothing_whatever_its_modes") {
        return;
    }
    let place = Place::new();
    let ran = place.run("mkdir -p x/y; echo a > x/y/z; chmod 0 x/y/z x/y x");
    ran.run.deeds().unwrap();
    ran.run.discard().unwrap();
    assert_eq!(std::fs::read_dir(place.project()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(place.path("state")).unwrap().count(), 0);
}

#[test]
fn what_others_changed_meanwhile_is_not_overwritten() {
    if !as_user("commits::what_others_changed_meanwhile_is_not_overwritten") {
        return;
    }
    let place = Place::new();
    let file = place.project().join("a");
    std::fs::write(&file, "old").unwrap();
    // After the deeds were read.
    let ran = place.run("echo boxed > a");
    let deeds = ran.run.deeds().unwrap();
    std::fs::write(&file, "theirs").unwrap();
    assert_eq!(ran.run.commit(&deeds, &all), Err(Refused::ChangedMeanwhile(vec![file.clone()])));
    // While it ran.
    let change = std::thread::spawn({
        let file = file.clone();
        move || {
            std::thread::sleep(std::time::Duration::from_millis(700));
            std::fs::write(file, "theirs again").unwrap();
        }
    });
    let ran = place.run("echo boxed > a; sleep 1.2");
    change.join().unwrap();
    let deeds = ran.run.deeds().unwrap();
    assert_eq!(deeds.changed_meanwhile(), std::slice::from_ref(&file));
    assert!(matches!(ran.run.commit(&deeds, &all), Err(Refused::ChangedMeanwhile(_))));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "theirs again");
    // A directory that is to be deleted has got something new in it.
    std::fs::create_dir(place.project().join("d")).unwrap();
    let ran = place.run("rmdir d");
    let deeds = ran.run.deeds().unwrap();
    std::fs::write(place.project().join("d/new"), "").unwrap();
    assert!(matches!(ran.run.commit(&deeds, &all), Err(Refused::ChangedMeanwhile(_))));
}

#[test]
fn a_held_run_is_committed_as_it_was_seen_or_not_at_all() {
    if !as_user("commits::a_held_run_is_committed_as_it_was_seen_or_not_at_all") {
        return;
    }
    let place = Place::new();
    for spoil in [false, true] {
        let ran = place.run("echo one > a; mkdir -p d/e; echo two > d/e/f");
        let mut deeds = ran.run.deeds().unwrap();
        let listed = deeds.list().to_vec();
        let id = ran.run.hold(&mut deeds).unwrap();
        if spoil {
            let file = place.path(&format!("state/{id}/upper-0/project/a"));
            let seen = std::fs::metadata(&file).unwrap().modified().unwrap();
            std::fs::write(&file, "oNe\n").unwrap();
            std::fs::File::open(&file).unwrap().set_modified(seen).unwrap();
        }
        let recovered = doorward_cell::recover(&place.path("state")).unwrap();
        assert!(recovered.finished.is_empty(), "recovery keeps what is held");
        let (run, deeds) = place.cell().held(&id).unwrap();
        assert_eq!(deeds.list(), listed);
        assert!(place.cell().held(&id).is_none(), "one at a time");
        assert_eq!(run.commit(&deeds, &all).is_ok(), !spoil);
        drop(run);
        for name in ["a", "d"] {
            let _ = std::fs::remove_file(place.project().join(name));
            let _ = std::fs::remove_dir_all(place.project().join(name));
        }
    }
}

#[test]
fn what_must_not_come_out_is_refused_whole() {
    if !as_user("commits::what_must_not_come_out_is_refused_whole") {
        return;
    }
    let place = Place::new();
    let project = place.project();
    std::fs::write(place.path("outside/shared"), "s").unwrap();
    std::fs::hard_link(place.path("outside/shared"), project.join("shared")).unwrap();
    type Expected = fn(&Refused) -> bool;
    let cases: [(&str, Expected); 4] = [
        ("cp /bin/true a; chmod u+s a", |refused| matches!(refused, Refused::Privileged(_))),
        ("cp /bin/true a; chmod g+s a", |refused| matches!(refused, Refused::Privileged(_))),
        ("echo more >> shared", |refused| matches!(refused, Refused::HardLinked(_))),
        ("touch a; python3 -c 'import os; os.setxattr(\"a\", \"user.overlay.opaque\", b\"y\")'", |refused| {
            matches!(refused, Refused::Unsupported(_))
        }),
    ];
    for (text, expected) in cases {
        let ran = place.run(text);
        if ran.run.status() != 0 {
            // Older kernels refuse such attributes themselves.
            assert!(text.contains("setxattr"), "{text}: {}", ran.out);
            continue;
        }
        let deeds = ran.run.deeds().unwrap();
        let refused = ran.run.commit(&deeds, &all).unwrap_err();
        assert!(expected(&refused), "{text}: {refused:?}");
        assert_eq!(std::fs::read_dir(&project).unwrap().count(), 1, "{text}");
    }
    assert_eq!(std::fs::read_to_string(place.path("outside/shared")).unwrap(), "s");
    let ran = place.run("mkdir .git; echo a > .git/config; echo b > b");
    let deeds = ran.run.deeds().unwrap();
    let guard = |deed: &doorward_cell::Deed| match deed.path.ends_with(".git/config") {
        true => Treatment::Refuse,
        false => Treatment::Commit,
    };
    assert_eq!(ran.run.commit(&deeds, &guard), Err(Refused::Protected(vec![project.join(".git/config")])));
    assert!(!project.join("b").exists());
}

#[test]
fn what_is_left_stays_in_the_box() {
    if !as_user("commits::what_is_left_stays_in_the_box") {
        return;
    }
    let place = Place::new();
    let ran = place.run("mkdir -p ~/.cache/tool/deep; echo a > ~/.cache/tool/deep/x; echo b > b");
    let deeds = ran.run.deeds().unwrap();
    let cache = place.path("home/.cache");
    let treat = |deed: &doorward_cell::Deed| match deed.path.starts_with(&cache) {
        true => Treatment::Leave,
        false => Treatment::Commit,
    };
    let done = ran.run.commit(&deeds, &treat).unwrap();
    assert!(done.left >= 4, "{done:?}");
    assert!(place.project().join("b").exists() && !cache.exists());
}

#[test]
fn plans_that_no_box_can_hold_are_refused() {
    if !as_user("commits::plans_that_no_box_can_hold_are_refused") {
        return;
    }
    let place = Place::new();
    for wide in ["/", "/tmp", "/dev", "/proc/self", "/var"] {
        let mut plan = place.plan("true");
        plan.project = wide.into();
        plan.home = None;
        assert!(matches!(place.cell().run(plan), Err(RunError::Plan(PlanError::TooWide(_)))), "{wide}");
    }
    let mut plan = place.plan("true");
    plan.masks.push(place.path("home"));
    assert!(matches!(place.cell().run(plan), Err(RunError::Plan(PlanError::Masked(_)))));
    let mut plan = place.plan("true");
    plan.command = doorward_cell::Command::Argv(vec![]);
    assert!(matches!(place.cell().run(plan), Err(RunError::Plan(PlanError::NoCommand))));
}

#[test]
fn streams_and_status_are_those_of_the_command() {
    if !as_user("commits::streams_and_status_are_those_of_the_command") {
        return;
    }
    let place = Place::new();
    for (text, status) in [("exit 3", 3), ("kill -TERM $$", 143), ("no-such-program", 127), ("/etc/passwd", 126)] {
        assert_eq!(place.run(text).run.status(), status, "{text}");
    }
    let mut plan = place.plan("");
    plan.command = doorward_cell::Command::Argv(vec!["no-such-program".into()]);
    assert_eq!(place.run_plan(plan).run.status(), 127);
    std::fs::write(place.path("outside/input"), "some words\n".repeat(100_000)).unwrap();
    let mut plan = place.plan("cat | wc -c; cat /dev/stdin | wc -c");
    plan.stdin = Input::From(std::fs::File::open(place.path("outside/input")).unwrap().into());
    let ran = place.run_plan(plan);
    assert_eq!(ran.out.split_whitespace().collect::<Vec<_>>(), ["1100000", "0"]);
    let ran = place.run("seq 1 200000; yes | head -n 3");
    assert!(ran.out.ends_with("200000\ny\ny\ny\n") && ran.out.len() > 1_000_000);
    std::fs::set_permissions(place.project(), std::fs::Permissions::from_mode(0o755)).unwrap();
}
