//! What becomes of single calls.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::room::Room;
use crate::desk::grants::answer::approve as say_yes;

/// A room with committed, changed, ignored and new files.
fn lived_in() -> Room {
    let room = Room::new();
    room.put(".gitignore", "*.log\nlocal/\ntarget/\n");
    room.put("src/a.rs", "committed\n");
    room.put("src/b.rs", "committed\n");
    assert!(room.shell("git add -A && git commit -qm x"));
    room.put("src/a.rs", "changed\n");
    room.put("notes/n.txt", "a note\n");
    room.put("notes/m.log", "ignored\n");
    room.put("local/data.db", "ignored data\n");
    room.put("target/out.o", "built\n");
    room.put("u.txt", "untracked\n");
    room
}

#[test]
fn what_only_its_loss_spoke_against_is_copied_and_approved_and_comes_back() {
    for command in [
        "rm u.txt",
        "rm -rf notes",
        "rm -rf notes local u.txt",
        "rm notes/*.txt",
        "echo new > u.txt",
        "echo new > src/a.rs",
        "mv u.txt v.txt",
        "mv notes papers",
        "git clean -fd",
        "git clean -fdx",
        "git reset --hard",
        "git checkout -- src/a.rs",
        "git checkout .",
        "git restore src",
        "git checkout -f main",
        "cd notes && rm n.txt",
        "rm -rf src",
    ] {
        let room = lived_in();
        let before = room.tree();
        let (word, why) = room.bash("t1", command);
        assert_eq!(word, "allow", "{command}: {why}");
        assert!(why.contains("doorward undo"), "{command}: {why}");
        assert!(room.shell(command), "{command}");
        room.ran("t1", command);
        assert_ne!(room.tree(), before, "{command}");
        let undone = room.undo("t1", false).unwrap();
        assert_eq!(undone.short, Vec::<String>::new(), "{command}");
        assert!(room.shell("git ls-files -d -z | xargs -0 -r git checkout -q --"), "{command}");
        for (path, seen) in before.iter().filter(|(path, seen)| seen.kind != 'd' && !path.ends_with("b.rs")) {
            let now = room.tree().get(path).cloned();
            let is_rebuilt = path.ends_with("out.o");
            assert!(now.as_ref() == Some(seen) || is_rebuilt, "{command}: {} {now:?}", path.display());
        }
    }
}

#[test]
fn a_tracked_file_in_a_directory_of_build_output_is_copied() {
    let room = lived_in();
    room.put("pkg/target/kept.txt", "committed\n");
    assert!(room.shell("git add -f pkg && git commit -qm y"));
    room.put("pkg/target/kept.txt", "changed since\n");
    assert_eq!(room.bash("t1", "rm -rf pkg").0, "allow");
    assert!(room.shell("rm -rf pkg"));
    room.ran("t1", "rm -rf pkg");
    room.undo("t1", false).unwrap();
    assert_eq!(std::fs::read(room.at("pkg/target/kept.txt")).unwrap(), b"changed since\n");
}

#[test]
fn what_was_only_staged_comes_back_too() {
    let room = lived_in();
    room.put("staged.txt", "only in the index\n");
    assert!(room.shell("git add staged.txt"));
    assert_eq!(room.bash("t1", "git reset --hard").0, "allow");
    assert!(room.shell("git reset --hard") && !room.at("staged.txt").exists());
    room.ran("t1", "git reset --hard");
    room.undo("t1", false).unwrap();
    assert_eq!(std::fs::read(room.at("staged.txt")).unwrap(), b"only in the index\n");
}

#[test]
fn a_grant_of_a_person_copies_first_and_says_so() {
    use crate::desk::grants::answer::ApprovedBy;
    use crate::memory::grants::store::GrantStore;
    let room = lived_in();
    let command = "rm -rf notes && git push origin main";
    let (word, why) = room.bash("t1", command);
    assert!(word != "allow" && why.contains("cannot be brought back"), "{why}");
    let desk = GrantStore::open_at(&room.dirs()).unwrap();
    let pending = desk.open_calls().pop().unwrap();
    let mut ledger = crate::machine::record::Ledger::open(&room.dirs());
    say_yes(&desk, &mut ledger, &pending.id, ApprovedBy::Key, None).unwrap();
    let (word, why) = room.bash("t2", command);
    assert!(word == "allow" && why.contains("2 files were copied first"), "{word}: {why}");
    std::fs::write(room.at(".env"), "TOKEN=x\n").unwrap();
    assert_ne!(room.bash("t3", "rm .env").0, "allow");
    let pending = desk.open_calls().into_iter().find(|pending| pending.call == "rm .env").unwrap();
    say_yes(&desk, &mut ledger, &pending.id, ApprovedBy::Key, None).unwrap();
    let (word, why) = room.bash("t4", "rm .env");
    assert!(word == "allow" && why.contains("It cannot be undone"), "{word}: {why}");
}

#[test]
fn file_tools_that_overwrite_what_git_does_not_have_are_undoable() {
    let room = lived_in();
    let before = room.tree();
    let path = room.at("u.txt");
    let (word, why) = room.ask("t1", "Write", json!({ "file_path": path, "content": "other\n" }));
    assert_eq!(word, "allow", "{why}");
    std::fs::write(&path, "other\n").unwrap();
    room.ran("t1", "");
    room.undo("t1", false).unwrap();
    assert_eq!(room.tree(), before);
}

#[test]
fn what_would_be_asked_anyway_is_not_copied() {
    for command in
        ["rm -rf ../other", "rm u.txt && git push", "rm u.txt; rm $X", "rm -rf .", "git stash pop && rm u.txt"]
    {
        let room = lived_in();
        std::fs::create_dir(room.base().join("other")).unwrap();
        let (word, why) = room.bash("t1", command);
        assert_ne!(word, "allow", "{command}: {why}");
        assert!(!room.base().join("home/.local/state/doorward/snapshots").exists(), "{command}");
    }
    let room = lived_in();
    let (word, _) = room.bash("t1", "git status");
    assert_eq!(word, "allow");
    assert!(!room.base().join("home/.local/state/doorward/snapshots").exists());
}

#[test]
fn what_does_not_fit_or_cannot_be_copied_asks_and_says_why() {
    let check = |prepare: &dyn Fn(&Room), command: &str, wanted: &str| {
        let room = lived_in();
        prepare(&room);
        let (word, why) = room.bash("t1", command);
        assert!(word != "allow" && why.contains(wanted), "{command}: {word} {why}");
    };
    check(&|room| room.configure("[snapshots]\nfiles = 1\n"), "rm -rf notes", "more than 1 file");
    check(&|room| room.configure("[snapshots]\nmegabytes = 0\n"), "rm -rf notes", "more than 0 MB");
    check(&|room| room.configure("[snapshots]\nstore_megabytes = 0\n"), "rm -rf notes", "more than 0 MB");
    check(&|room| room.configure("[snapshots]\nenabled = false\n"), "rm -rf notes", "snapshots.enabled");
    check(&|room| assert!(room.shell("mkfifo notes/pipe")), "rm -rf notes", "device, socket or pipe");
    check(&|room| assert!(room.shell("ln u.txt notes/u2.txt")), "echo x > u.txt", "cannot be brought back");
    check(
        &|room| assert!(room.shell("ln -s ../src notes/l")),
        "find -L notes -name '*.rs' -delete",
        "behind the links",
    );
    check(&|room| assert!(room.shell("ln -s ../src notes/l")), "mv notes papers", "is a link");
    check(&|_| {}, "git checkout -- '*.rs'", "git path pattern");
    check(
        &|room| {
            let store = room.base().join("home/.local/state/doorward/snapshots");
            std::fs::create_dir_all(store.parent().unwrap()).unwrap();
            symlink("/tmp", store).unwrap();
        },
        "rm u.txt",
        "could not be made undoable",
    );
}

#[test]
fn a_later_change_is_noticed_and_kept_unless_it_may_be_overwritten() {
    let room = lived_in();
    assert_eq!(room.bash("t1", "echo new > u.txt").0, "allow");
    assert!(room.shell("echo new > u.txt"));
    room.ran("t1", "echo new > u.txt");
    room.put("u.txt", "a person's later work\n");
    assert!(room.undo("t1", false).is_err() || std::fs::read(room.at("u.txt")).unwrap() == b"a person's later work\n");
    let undone = room.undo("t1", true).unwrap();
    assert_eq!(std::fs::read(room.at("u.txt")).unwrap(), b"untracked\n");
    room.undo(&undone.id, false).unwrap();
    assert_eq!(std::fs::read(room.at("u.txt")).unwrap(), b"a person's later work\n");
}

#[test]
fn taking_back_can_be_taken_back() {
    let room = lived_in();
    assert_eq!(room.bash("t1", "rm -rf notes").0, "allow");
    assert!(room.shell("rm -rf notes"));
    room.ran("t1", "rm -rf notes");
    let after = room.tree();
    let undone = room.undo("t1", false).unwrap();
    assert!(room.at("notes/n.txt").exists());
    room.undo(&undone.id, false).unwrap();
    assert_eq!(room.tree(), after);
}

#[test]
fn a_whole_session_goes_back_to_its_beginning() {
    use super::super::undo::Undo;
    use crate::policy::snapshot_limits::Snapshots;
    let room = lived_in();
    let before = room.tree();
    for (id, command) in [("t1", "echo one > u.txt"), ("t2", "echo two > u.txt"), ("t3", "rm -rf notes u.txt")] {
        assert_eq!(room.bash(id, command).0, "allow", "{command}");
        assert!(room.shell(command));
        room.ran(id, command);
    }
    let store = room.store();
    let ids: Vec<String> = store.all().unwrap().0.into_iter().map(|manifest| manifest.id).collect();
    assert_eq!(ids.len(), 3);
    let undo = Undo::of(&store, &ids, Snapshots::default().limits()).unwrap();
    let steps = undo.preview();
    undo.run(&undo.wanted(&steps)).unwrap();
    for (path, seen) in before.iter().filter(|(path, _)| path.ends_with("u.txt") || path.ends_with("n.txt")) {
        assert_eq!(room.tree().get(path), Some(seen));
    }
}

#[test]
fn nothing_is_brought_back_through_a_link() {
    let room = lived_in();
    assert_eq!(room.bash("t1", "rm -rf notes").0, "allow");
    assert!(room.shell("rm -rf notes && mkdir ../elsewhere && ln -s ../elsewhere notes"));
    room.ran("t1", "rm -rf notes");
    let _ = room.undo("t1", true);
    assert_eq!(std::fs::read_dir(room.base().join("elsewhere")).unwrap().count(), 0);
}
