//! What the random repositories do not have: objects that others replace, tables of references, partial clones.

use std::path::Path;

use super::made::{ask, text};
use super::{HashFormat, Id, ObjectKind, Objects, Unread, blob_id};

/// A repository with a few commits on `main` and a branch `side`.
fn repository() -> tempfile::TempDir {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q", "-b", "main"]);
    for number in 0..4 {
        std::fs::write(base.path().join("f"), format!("{number}\n")).unwrap();
        text(base.path(), &["add", "f"]);
        text(base.path(), &["commit", "-q", "-m", &number.to_string()]);
    }
    text(base.path(), &["branch", "side", "HEAD~2"]);
    base
}

fn opened(base: &Path) -> Objects {
    Objects::at(&base.join(".git"), &base.join(".git"), HashFormat::Sha1)
}

fn id(base: &Path, name: &str) -> Id {
    Id::parse(&text(base, &["rev-parse", "--verify", name])).unwrap()
}

#[test]
fn replaced_objects_are_not_read() {
    let base = repository();
    let (head, side) = (id(base.path(), "HEAD"), id(base.path(), "side"));
    assert!(opened(base.path()).tree_of(&head).is_ok());
    text(base.path(), &["replace", "HEAD", "side"]);
    for _ in 0..2 {
        assert!(matches!(opened(base.path()).tree_of(&head), Err(Unread::Unsupported(_))));
        assert!(matches!(opened(base.path()).diff(Some(side), head), Err(Unread::Unsupported(_))));
        assert!(opened(base.path()).tree_of(&side).is_ok());
        text(base.path(), &["pack-refs", "--all"]);
    }
}

#[test]
fn grafts_hide_the_parents() {
    let base = repository();
    let objects = opened(base.path());
    assert_eq!(objects.parents(&id(base.path(), "HEAD")), Ok(vec![id(base.path(), "HEAD~1")]));
    std::fs::create_dir_all(base.path().join(".git/info")).unwrap();
    std::fs::write(base.path().join(".git/info/grafts"), format!("{}\n", id(base.path(), "HEAD"))).unwrap();
    assert!(matches!(opened(base.path()).resolve("HEAD~1"), Err(Unread::Unsupported(_))));
}

#[test]
fn references_in_a_table_are_not_read() {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q", "--ref-format=reftable"]);
    assert!(matches!(opened(base.path()).resolve("HEAD"), Err(Unread::Unsupported(_))));
}

#[test]
fn what_a_partial_clone_left_out_is_not_called_missing() {
    let base = repository();
    text(base.path(), &["config", "uploadpack.allowFilter", "true"]);
    let address = format!("file://{}", base.path().display());
    let blob = id(base.path(), "HEAD:f");
    let other = tempfile::tempdir().unwrap();
    text(other.path(), &["clone", "-q", "--no-checkout", "--filter=blob:none", &address, "two"]);
    let objects = opened(&other.path().join("two"));
    assert_eq!(objects.resolve("HEAD:f"), Ok(blob));
    assert_eq!(objects.read(&blob, 100), Err(Unread::Unsupported("a partial clone")));
    assert!(matches!(objects.resolve("abcdabcdabcd"), Err(Unread::Unsupported(_))));
}

#[test]
fn a_branch_comes_before_a_tag_only_for_a_switch() {
    let base = repository();
    text(base.path(), &["tag", "side", "HEAD"]);
    let objects = opened(base.path());
    assert_eq!(objects.resolve("side"), Ok(id(base.path(), "HEAD")));
    assert_eq!(objects.resolve_branch("side"), Ok(id(base.path(), "refs/heads/side")));
    text(base.path(), &["switch", "-q", "side"]);
    text(base.path(), &["switch", "-q", "--detach", "main"]);
    let objects = opened(base.path());
    assert_eq!(objects.resolve_branch("-"), Ok(id(base.path(), "refs/heads/side")));
    assert_eq!(objects.resolve("@{-1}"), Ok(id(base.path(), "@{-1}")));
    text(base.path(), &["switch", "-q", "main"]);
    assert_eq!(opened(base.path()).resolve("-"), Ok(id(base.path(), "main")));
}

#[test]
fn a_pack_without_an_index_of_its_own_hides_names() {
    let base = repository();
    text(base.path(), &["repack", "-adq"]);
    let digits = id(base.path(), "HEAD").to_string();
    let name = digits.get(..8).unwrap();
    assert!(opened(base.path()).resolve(name).is_ok());
    for entry in std::fs::read_dir(base.path().join(".git/objects/pack")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "idx") {
            std::fs::remove_file(path).unwrap();
        }
    }
    assert!(matches!(opened(base.path()).resolve(name), Err(Unread::Unsupported(_))));
    assert_eq!(opened(base.path()).resolve("HEAD^{tree}"), Err(Unread::Missing));
}

#[test]
fn places_beyond_two_gigabytes_are_found() {
    let base = repository();
    let directory = base.path().join(".git/objects/pack");
    text(base.path(), &["repack", "-adq"]);
    let find = |end: &str| {
        let names = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path());
        names.into_iter().find(|path| path.extension().is_some_and(|extension| extension == end)).unwrap()
    };
    let (index, pack) = (find("idx"), find("pack"));
    std::fs::remove_file(&index).unwrap();
    // Everything behind the first bytes is told to lie far away, and so is looked up in the table for that.
    text(base.path(), &["index-pack", "--index-version=2,0x40", pack.to_str().unwrap()]);
    assert!(index.exists());
    let objects = opened(base.path());
    let listed = text(base.path(), &["rev-list", "--all", "--objects", "--no-object-names"]);
    for hex in listed.lines() {
        let kind = text(base.path(), &["cat-file", "-t", hex]);
        let (ours, bytes) = objects.read(&Id::parse(hex).unwrap(), 1 << 20).unwrap();
        assert_eq!((ours.as_str(), bytes), (kind.as_str(), ask(base.path(), &["cat-file", &kind, hex], "")));
    }
}

#[test]
fn files_are_named_as_git_names_them() {
    let base = repository();
    assert_eq!(blob_id(HashFormat::Sha1, b"3\n"), id(base.path(), "HEAD:f"));
    assert_eq!(opened(base.path()).read(&id(base.path(), "HEAD:f"), 2), Ok((ObjectKind::Blob, b"3\n".to_vec())));
    assert_eq!(opened(base.path()).read(&id(base.path(), "HEAD:f"), 1), Err(Unread::TooLarge));
    let hex = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
    assert_eq!(blob_id(HashFormat::Sha256, b"").to_string(), hex);
}

/// Fifty thousand files, five thousand commits, and a branch that differs in two hundred files of sixty directories.
#[test]
#[ignore = "makes a large repository: takes a minute"]
fn a_large_repository_is_compared_quickly() {
    let base = tempfile::tempdir().unwrap();
    text(base.path(), &["init", "-q", "-b", "main"]);
    let mut stream = String::new();
    let path =
        |number: usize| format!("d{}/e{}/f{}/file {number}.rs", number / 2_500, number / 250 % 10, number / 25 % 10);
    let mut commit = |branch: &str, seconds: usize, from: Option<&str>, files: &mut dyn Iterator<Item = usize>| {
        stream.push_str(&format!("commit refs/heads/{branch}\ncommitter A <a@b> {seconds} +0000\ndata 0\n"));
        from.iter().for_each(|from| stream.push_str(&format!("from {from}\n")));
        for number in files {
            let content = format!("{number} {seconds}");
            stream.push_str(&format!("M 644 inline {}\ndata {}\n{content}\n", path(number), content.len()));
        }
        stream.push('\n');
    };
    commit("main", 1_700_000_000, None, &mut (0..50_000));
    (1..5_000)
        .for_each(|number| commit("main", 1_700_000_000 + number, None, &mut std::iter::once(number * 7 % 50_000)));
    let some = |number: usize| (number % 60) * 825 + number / 60;
    commit("other", 1_700_010_000, Some("refs/heads/main"), &mut (0..200).map(some));
    ask(base.path(), &["fast-import", "--quiet"], &stream);
    text(base.path(), &["gc", "-q"]);
    text(base.path(), &["reset", "-q", "--hard"]);
    let mut best = [std::time::Duration::MAX; 3];
    for _ in 0..50 {
        let mut note = |which: usize, started: std::time::Instant| best[which] = best[which].min(started.elapsed());
        let started = std::time::Instant::now();
        let objects = opened(base.path());
        let (head, other) = (objects.resolve("HEAD").unwrap(), objects.resolve("other").unwrap());
        assert_eq!(objects.diff(Some(head), other).unwrap().len(), 200);
        note(0, started);
        let started = std::time::Instant::now();
        assert_eq!(objects.merge_base(&head, &other, 500), Ok(Some(head)));
        note(1, started);
        let bytes = std::fs::read(base.path().join(".git/index")).unwrap();
        let started = std::time::Instant::now();
        let index = super::super::index::Index::parse(bytes, 20, std::time::SystemTime::now()).unwrap();
        note(2, started);
        assert_eq!(index.entries().count(), 50_000);
    }
    println!("200 changes in {:?}, merge base in {:?}, 50,000 entries of the index in {:?}", best[0], best[1], best[2]);
}

#[test]
fn commits_of_the_same_second_are_told_apart() {
    let base = repository();
    let (objects, head, side) = (opened(base.path()), id(base.path(), "HEAD"), id(base.path(), "side"));
    assert_eq!(objects.between(&[head], side, 100), Ok(Vec::new()));
    assert_eq!(objects.between(&[side], head, 100), Ok(vec![head, id(base.path(), "HEAD~1")]));
    assert_eq!(objects.merge_base(&side, &head, 100), Ok(Some(side)));
}
