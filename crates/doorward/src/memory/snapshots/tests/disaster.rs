//! Cut off, full, changed or used by many at once: nothing is approved without a whole copy, and nothing whole is lost.

use std::sync::atomic::{AtomicBool, Ordering};

use doorward_engine::{ToolCall, observe};

use super::super::manifest::Manifest;
use super::super::plan::{CopyContext, Plan, lost};
use super::super::prune::{Run, prune};
use super::super::store::SnapshotStore;
use super::super::take::take;
use super::room::Room;
use crate::memory::world::disk::DiskWorld;
use crate::policy::snapshot_limits::Snapshots;

#[test]
fn copies_of_many_calls_at_once_do_not_disturb_each_other() {
    let room = Room::new();
    for number in 0..12 {
        room.put(&format!("d{number}/same.txt"), "the same everywhere\n");
        room.put(&format!("d{number}/own.txt"), format!("of {number}\n"));
    }
    let before = room.tree();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let room = &room;
            scope.spawn(move || {
                let command = format!("rm -rf d{number}");
                let (word, why) = room.bash(&format!("t{number}"), &command);
                assert_eq!(word, "allow", "{why}");
                assert!(room.shell(&command));
                room.ran(&format!("t{number}"), &command);
            });
        }
    });
    assert_eq!(room.tree().len(), 0);
    for number in 0..12 {
        room.undo(&format!("t{number}"), false).unwrap();
    }
    assert_eq!(room.tree(), before);
}

#[test]
fn removing_what_is_old_never_takes_what_a_new_copy_needs() {
    let room = Room::new();
    room.put("a.txt", "shared bytes\n".repeat(30_000));
    room.put("b.txt", "shared bytes\n".repeat(30_000));
    assert_eq!(room.bash("t1", "rm a.txt").0, "allow");
    let store = room.store();
    let limits = Snapshots { keep_days: Some(0), store_megabytes: Some(0), ..Snapshots::default() }.limits();
    let now = crate::machine::clock::now_ms();
    let pruned = prune(&store, limits, &Default::default(), now, Run::Real).unwrap();
    assert_eq!((pruned.snapshots.len(), pruned.objects), (0, 0), "a session of today needs it");
    let later = now + 3 * 24 * 60 * 60 * 1000;
    let needed = std::collections::BTreeSet::from(["0c1d".into()]);
    assert!(prune(&store, limits, &needed, later, Run::Real).unwrap().snapshots.is_empty(), "a call waits");
    let dry = prune(&store, limits, &Default::default(), later, Run::Dry).unwrap();
    assert_eq!((dry.snapshots.len(), dry.objects), (1, 1));
    assert!(room.undo("t1", false).is_ok() || room.at("a.txt").exists());
    assert_eq!(room.bash("t2", "rm b.txt").0, "allow");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = prune(&room.store(), limits, &Default::default(), later, Run::Real);
            }
        });
        for number in 0..20 {
            room.put("c.txt", format!("bytes {}\n", number % 3).repeat(40_000));
            let id = format!("t-{number}");
            let (word, why) = room.bash(&id, "rm c.txt");
            assert_eq!(word, "allow", "{why}");
            // Whether it is old by now or not: a manifest that is there is whole.
            let (all, unreadable) = room.store().all().unwrap();
            assert!(unreadable.is_empty());
            for manifest in all {
                for object in manifest.objects().collect::<Vec<_>>() {
                    let is_there = room.store().object(&object).exists();
                    assert!(is_there || room.store().find(&manifest.id).unwrap().is_none());
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn no_object_goes_while_a_manifest_cannot_be_read() {
    let room = Room::new();
    room.put("a.txt", "bytes\n".repeat(60_000));
    assert_eq!(room.bash("t1", "rm a.txt").0, "allow");
    let store = room.store();
    let file = store.manifest_file(&store.named_for("t1").unwrap());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[5] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let later = crate::machine::clock::now_ms() + 400 * 24 * 60 * 60 * 1000;
    let limits = Snapshots::default().limits();
    let pruned = prune(&store, limits, &Default::default(), later, Run::Real).unwrap();
    assert_eq!((pruned.unreadable.len(), pruned.objects), (1, 0));
    assert_eq!(std::fs::read_dir(store.objects()).unwrap().count(), 1);
    assert!(room.undo("t1", true).is_err(), "a manifest that was changed is not believed");
}

/// What becomes of a plan if something happens before it is carried out.
fn taken_after(change: &dyn Fn(&Room)) -> anyhow::Result<Manifest> {
    let room = Room::new();
    room.put("notes/a.txt", "one\n");
    room.put("notes/deep/b.txt", "two\n");
    let dirs = room.dirs();
    let project = room.project().to_str().map(str::to_owned);
    let loaded = crate::policy::load::load(&dirs, project.as_deref(), "claude");
    let world = DiskWorld::new(&dirs, project.as_deref().unwrap(), project.clone(), &loaded);
    let call = ToolCall::bash("rm -rf notes", project.as_deref().unwrap());
    let store = SnapshotStore::open(&dirs).unwrap();
    let root = super::super::store::root(&dirs);
    let limits = Snapshots::default().limits();
    let plan = Plan::of(&lost(&observe(&call, &world)), CopyContext { store: &root, world: &world, limits }).unwrap();
    change(&room);
    take(&store, &plan, Manifest { decision: "t".into(), ..Manifest::default() }, limits)
}

#[test]
fn whatever_changes_between_looking_and_copying_is_noticed() {
    let check = |command: &str| {
        let taken = taken_after(&|room| assert!(room.shell(command)));
        let why = format!("{:#}", taken.map(|manifest| manifest.id).expect_err(command));
        assert!(why.contains("changed") || why.contains("link") || why.contains("No such file"), "{command}: {why}");
    };
    assert!(taken_after(&|_| {}).is_ok());
    check("echo two > notes/a.txt");
    check("echo 'one' > notes/a.txt");
    check("touch notes/new.txt");
    check("rm notes/deep/b.txt");
    check("chmod 600 notes/a.txt");
    check("rm notes/a.txt && ln -s ../secret notes/a.txt");
    check("mv notes/deep elsewhere && ln -s ../elsewhere notes/deep");
    check("mv notes elsewhere && ln -s elsewhere notes");
}
