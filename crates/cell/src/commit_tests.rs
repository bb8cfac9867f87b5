//! A crash at every step of a commit, and at every step of the recovery after it.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, XattrFlags};
use tempfile::TempDir;

use crate::apply::Fuse;
use crate::commit::Treatment;
use crate::layers::Found;
use crate::recover::recover_with;
use crate::run::{Root, Run, write_manifest};
use crate::{Deeds, Refused};

/// A tree and, made by hand, what a run left in its upper layer.
struct World {
    base: TempDir,
    run: Run,
}

type Tree = BTreeMap<PathBuf, (u32, i64, Vec<u8>)>;

fn tree(root: &Path) -> Tree {
    let mut entries = Tree::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        let found = path.symlink_metadata().unwrap();
        let content = match (found.is_file(), found.is_symlink()) {
            (true, _) => std::fs::read(&path).unwrap(),
            (_, true) => std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
            (false, false) => Vec::new(),
        };
        if found.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let modified = found.mtime() * 1_000_000_000 + found.mtime_nsec();
        entries.insert(path.strip_prefix(root).unwrap().to_path_buf(), (found.mode(), modified, content));
    }
    entries
}

fn write(base: &Path, path: &str, text: &str) {
    let path = base.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn whiteout(base: &Path, path: &str) {
    let path = base.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    rustix::fs::mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
}

fn opaque(path: &Path) {
    std::fs::create_dir_all(path).unwrap();
    rustix::fs::setxattr(path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
}

impl World {
    /// Every sort of change there is: new, changed, replaced by another kind, deleted as file and as tree, hidden, linked.
    fn new() -> World {
        let base = TempDir::new().unwrap();
        let lower = base.path().join("project");
        for path in [
            "changed",
            "deleted",
            "to-directory",
            "tree/a/b",
            "tree/c",
            "again/old",
            "to-file/x/y",
            "to-link/x/y",
            "kept/k",
            "ro/f",
        ] {
            write(&lower, path, "before");
        }
        std::fs::set_permissions(lower.join("ro"), std::fs::Permissions::from_mode(0o555)).unwrap();
        let directory = base.path().join("state/0123456789abcdef");
        let upper = directory.join("upper-0");
        for path in ["changed", "new", "deep/er/new", "to-directory/inner", "again/new", "to-file", "kept/more", "ro/f"]
        {
            write(&upper, path, "after");
        }
        std::fs::hard_link(upper.join("new"), upper.join("kept/linked")).unwrap();
        std::os::unix::fs::symlink("new", upper.join("link")).unwrap();
        std::os::unix::fs::symlink("kept", upper.join("to-link")).unwrap();
        std::os::unix::fs::symlink("kept", lower.join("was-link")).unwrap();
        write(&upper, "was-link/k", "after");
        rustix::fs::setxattr(upper.join("changed"), "user.overlay.origin", b"", XattrFlags::empty()).unwrap();
        for path in ["deleted", "tree"] {
            whiteout(&upper, path);
        }
        opaque(&upper.join("again"));
        opaque(&upper.join("to-directory"));
        rustix::fs::setxattr(upper.join("deep"), "user.mine", b"1", XattrFlags::empty()).unwrap();
        std::fs::set_permissions(upper.join("deep/er"), std::fs::Permissions::from_mode(0o500)).unwrap();
        std::fs::set_permissions(upper.join("ro"), std::fs::Permissions::from_mode(0o555)).unwrap();
        let found = lower.metadata().unwrap();
        let root = Root {
            path: lower.canonicalize().unwrap(),
            dev: found.dev(),
            ino: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
            upper: upper.canonicalize().unwrap(),
        };
        write_manifest(&directory, std::slice::from_ref(&root)).unwrap();
        let run = Run {
            directory: directory.canonicalize().unwrap(),
            roots: vec![root],
            since: (i64::MAX, 0),
            status: 0,
            spoiled: None,
            usage: crate::Usage::default(),
            _lock: tempfile::tempfile().unwrap(),
        };
        World { base, run }
    }

    fn deeds(&self) -> Deeds {
        Deeds::new(self.run.roots.clone(), Found::in_layers(&self.run.roots, self.run.since).unwrap())
    }

    fn project(&self) -> PathBuf {
        self.base.path().join("project")
    }

    fn commit(&self, fuse: Fuse) -> Result<(), Refused> {
        let mut fuse = fuse;
        self.run.commit_with(&self.deeds(), &|_| Treatment::Commit, &mut fuse).map(drop)
    }

    fn recover(&self, fuse: Fuse) {
        let mut fuse = fuse;
        recover_with(&self.base.path().join("state"), &mut fuse).unwrap();
    }
}

/// Times differ from world to world; what is compared is whether they are as before, or as the layer has them.
fn alike(one: &Tree, other: &Tree) -> bool {
    let plain =
        |tree: &Tree| -> Vec<_> { tree.iter().map(|(path, entry)| (path.clone(), entry.0, entry.2.clone())).collect() };
    plain(one) == plain(other)
}

#[test]
fn a_commit_does_every_sort_of_change() {
    let world = World::new();
    let upper = world.run.roots[0].upper.clone();
    let time = |path: &Path| path.symlink_metadata().unwrap().modified().unwrap();
    let times: Vec<_> =
        ["new", "deep", "deep/er", "link", "kept", ""].map(|name| (name, time(&upper.join(name)))).into();
    world.commit(Fuse::default()).unwrap();
    let project = world.project();
    let found = tree(&project);
    let paths: Vec<String> = found.keys().map(|path| path.display().to_string()).collect();
    let expected = [
        "",
        "again",
        "again/new",
        "changed",
        "deep",
        "deep/er",
        "deep/er/new",
        "kept",
        "kept/k",
        "kept/linked",
        "kept/more",
        "link",
        "new",
        "ro",
        "ro/f",
        "to-directory",
        "to-directory/inner",
        "to-file",
        "to-link",
        "was-link",
        "was-link/k",
    ];
    assert_eq!(paths, expected);
    assert!(
        ["changed", "new", "to-file", "kept/linked", "ro/f"].iter().all(|path| found[Path::new(path)].2 == b"after")
    );
    assert_eq!((found[Path::new("deep/er")].0 & 0o777, found[Path::new("ro")].0 & 0o777), (0o500, 0o555));
    assert_eq!(project.join("new").metadata().unwrap().ino(), project.join("kept/linked").metadata().unwrap().ino());
    for (name, expected) in times {
        assert_eq!(time(&project.join(name)), expected, "{name}");
    }
    let mut own = Vec::with_capacity(1000);
    for path in ["changed", "again"] {
        rustix::fs::listxattr(project.join(path), rustix::buffer::spare_capacity(&mut own)).unwrap();
        assert!(own.is_empty(), "the overlay's own attributes stay behind");
    }
    let mut value = Vec::with_capacity(10);
    rustix::fs::getxattr(project.join("deep"), "user.mine", rustix::buffer::spare_capacity(&mut value)).unwrap();
    assert_eq!(value, b"1");
    assert!(!world.run.directory.exists());
}

#[test]
fn a_crash_at_any_step_leaves_the_tree_before_or_after() {
    let done = World::new();
    let before = tree(&done.project());
    done.commit(Fuse::default()).unwrap();
    let after = tree(&done.project());
    let (mut unchanged, mut changed, mut crashes) = (0, 0, 0);
    for steps in 0.. {
        let world = World::new();
        let own = tree(&world.project());
        if world.commit(Fuse::after(steps)).is_ok() {
            break;
        }
        crashes += 1;
        // Recovery may crash as often as it likes, if one gets through in the end.
        for again in 0..steps % 23 {
            world.recover(Fuse::after(again));
        }
        world.recover(Fuse::default());
        let now = tree(&world.project());
        if alike(&now, &before) {
            assert_eq!(now, own, "after {steps} steps: times too");
            unchanged += 1;
        } else {
            assert!(alike(&now, &after), "after {steps} steps: {now:#?}");
            changed += 1;
        }
        assert_eq!(std::fs::read_dir(world.base.path().join("state")).unwrap().count(), 0, "after {steps} steps");
    }
    assert!(unchanged > 10 && changed > 20, "{unchanged} before, {changed} after, of {crashes}");
}

#[test]
fn a_torn_journal_is_no_journal() {
    let world = World::new();
    // Only a rename makes it the journal, so half of one is under the other name.
    std::fs::write(world.run.directory.join("journal.new"), b"half").unwrap();
    let before = tree(&world.project());
    world.recover(Fuse::default());
    assert_eq!(tree(&world.project()), before);
    let world = World::new();
    let before = tree(&world.project());
    std::fs::write(world.run.directory.join("journal"), b"a broken disk").unwrap();
    let recovered = recover_with(&world.base.path().join("state"), &mut Fuse::default()).unwrap();
    assert_eq!(recovered.stuck.len(), 1);
    assert_eq!(tree(&world.project()), before);
}

#[test]
fn another_file_system_gets_copies() {
    let (Ok(memory), World { base, mut run }) = (TempDir::new_in("/dev/shm"), World::new()) else { return };
    let sparse = run.roots[0].upper.join("sparse");
    let file = std::fs::File::create(&sparse).unwrap();
    file.set_len(50_000_000).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, b"x", 30_000_000).unwrap();
    std::fs::set_permissions(&sparse, std::fs::Permissions::from_mode(0o000)).unwrap();
    let lower = memory.path().canonicalize().unwrap().join("project");
    assert!(
        std::process::Command::new("cp")
            .arg("-a")
            .arg(base.path().join("project"))
            .arg(&lower)
            .status()
            .unwrap()
            .success()
    );
    let found = lower.metadata().unwrap();
    run.roots[0].path = lower.clone();
    (run.roots[0].dev, run.roots[0].ino) = (found.dev(), found.ino());
    let deeds = Deeds::new(run.roots.clone(), Found::in_layers(&run.roots, run.since).unwrap());
    run.commit(&deeds, &|_| Treatment::Commit).unwrap();
    assert_eq!(std::fs::read_to_string(lower.join("kept/linked")).unwrap(), "after");
    assert_eq!(lower.join("new").metadata().unwrap().ino(), lower.join("kept/linked").metadata().unwrap().ino());
    let sparse = lower.join("sparse").metadata().unwrap();
    assert_eq!((sparse.len(), sparse.mode() & 0o777), (50_000_000, 0));
    assert!(sparse.blocks() < 1000, "holes stay holes: {}", sparse.blocks());
}
