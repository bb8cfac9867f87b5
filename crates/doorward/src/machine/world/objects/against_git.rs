//! What is read here, against what git says, on random repositories: the same answer or none, never another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::chance::Chance;
use super::super::index::Index;
use super::made::{BRANCHES, TestRepository, ask};
use super::{ChangedPath, HashFormat, Id, Objects, Unread, upstream_of};

/// How many answers were alike, and how many were not given here though git gives them.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    same: usize,
    unread: usize,
}

impl Count {
    /// The same answer or none; `None` of git's is no answer.
    fn check<T: PartialEq + std::fmt::Debug>(&mut self, git: Option<T>, ours: Result<T, Unread>, what: &str) {
        match (git, ours) {
            (Some(git), Ok(ours)) => {
                assert_eq!(git, ours, "{what}");
                self.same += 1;
            }
            (Some(git), Err(problem)) => {
                assert_ne!(problem, Unread::NoSuchName, "{what} is {git:?}");
                self.unread += 1;
            }
            (None, _) => {}
        }
    }
}

fn config(made: &TestRepository) -> BTreeMap<String, String> {
    let printed = made.git(&["config", "--list", "-z"]);
    printed
        .split('\0')
        .filter_map(|line| line.split_once('\n'))
        .map(|(key, value)| (key.to_lowercase(), value.to_owned()))
        .collect()
}

fn names(made: &TestRepository, chance: &mut Chance) -> Vec<String> {
    let plain = "HEAD @ @~1 @^{tree} HEAD^ HEAD^2 HEAD~2^{commit} HEAD^0 HEAD^{} HEAD^{object} HEAD: v1 v1^{} v1^{tree} v1^0 \
        v1^{tag} v2 v2~1 dir/v3 tags/v1 heads/v1 refs/tags/v1 refs/heads/main nested nested^{} nested^{tree} nested^{blob} light \
        stash stash^2 stash^3 stash^3^{tree} ORIG_HEAD FETCH_HEAD MERGE_HEAD @{-1} @{-2} @{-1}~1 @{-3}^{tree} \
        follows origin origin/main origin/HEAD remotes/origin/topic nothing index description packed-refs \
        logs/HEAD objects refs refs/heads worktrees/two/HEAD main-worktree/HEAD :/x main..topic ^main main^{/m} HEAD^3 HEAD~99 \
        HEAD^{blob} x-gabcdef ../HEAD HEAD.lock a//b :0:a";
    let mut names: Vec<String> = plain.split_whitespace().map(str::to_owned).collect();
    for branch in BRANCHES {
        for end in ["", "~1", "^2", "~3^{tree}", "^^^", "^1~1^0"] {
            names.push(format!("{branch}{end}"));
        }
        for _ in 0..6.min(made.paths.len()) {
            let path = &made.paths[chance.below(made.paths.len())];
            let parent = path.rsplit_once('/').map_or("x", |(parent, _)| parent);
            names.extend([path.as_str(), parent, &format!("{parent}/")].map(|path| format!("{branch}:{path}")));
        }
    }
    let ids = made.git(&["rev-list", "--all", "--objects", "--no-object-names"]);
    let ids: Vec<&str> = ids.lines().collect();
    for _ in 0..20.min(ids.len()) {
        let id = ids[chance.below(ids.len())];
        names.extend([
            id.to_owned(),
            id[..4 + chance.below(9)].to_owned(),
            id[..4].to_uppercase(),
            format!("{}^{{}}", &id[..12]),
        ]);
    }
    names.retain(|name| !name.contains('\n'));
    names
}

fn resolved(made: &TestRepository, objects: &Objects, chance: &mut Chance) -> Count {
    let mut count = Count::default();
    let config = config(made);
    let upstream = |branch: &str| upstream_of(&config, branch);
    let names = names(made, chance);
    let printed = ask(&made.root, &["cat-file", "--batch-check=%(objectname)"], &(names.join("\n") + "\n"));
    let printed = String::from_utf8(printed).unwrap();
    assert_eq!(printed.lines().count(), names.len(), "git stopped after {:?}", printed.lines().last());
    for (name, line) in names.iter().zip(printed.lines()) {
        count.check(Id::parse(line), objects.resolve_with(name, &upstream), name);
    }
    // Git stops altogether at a log that is too short, and at a branch that follows none: one run for each.
    let logs = ["HEAD", "", "main", "stash", "topic", "v1", "refs/heads/main"];
    let marks = ["@{u}", "@{upstream}", "follows@{u}", "main@{U}", "topic@{upstream}~1", "main@{yesterday}", "@@{0}"];
    for _ in 0..3 {
        let log = format!("{}@{{{}}}", chance.pick(&logs), chance.below(3));
        for name in [log.as_str(), chance.pick(&marks)] {
            let git = made.git(&["rev-parse", "--verify", "-q", name]);
            count.check(Id::parse(&git), objects.resolve_with(name, &upstream), name);
        }
    }
    let heads = made.git(&["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads"]);
    for (hex, branch) in heads.lines().filter_map(|line| line.split_once(' ')) {
        count.check(Id::parse(hex), objects.resolve_branch(branch), branch);
    }
    count
}

fn commits(made: &TestRepository) -> Vec<Id> {
    made.git(&["rev-list", "--all"]).lines().filter_map(Id::parse).collect()
}

fn side(mode: &str, id: &str) -> Option<(u32, Id)> {
    let mode = u32::from_str_radix(mode, 8).unwrap();
    (mode != 0).then(|| (mode, Id::parse(id).unwrap()))
}

/// What `git diff-tree -r -z` prints between trees, one list for each pair.
fn git_diffs(made: &TestRepository, pairs: &[(String, String)]) -> Vec<Vec<ChangedPath>> {
    let input: String = pairs.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
    let printed = ask(&made.root, &["diff-tree", "-r", "-z", "--no-renames", "--raw", "--stdin"], &input);
    let mut rest = std::str::from_utf8(&printed).unwrap();
    let mut lists: Vec<Vec<ChangedPath>> = Vec::new();
    while !rest.is_empty() {
        let Some(record) = rest.strip_prefix(':') else {
            rest = rest.split_once('\n').unwrap().1;
            lists.push(Vec::new());
            continue;
        };
        let (head, after) = record.split_once('\0').unwrap();
        let (path, after) = after.split_once('\0').unwrap();
        rest = after;
        let head: Vec<&str> = head.split(' ').collect();
        let (from, to) = (side(head[0], head[2]), side(head[1], head[3]));
        lists.last_mut().unwrap().push(ChangedPath { path: path.to_owned(), from, to });
    }
    lists.iter_mut().for_each(|list| list.sort());
    lists
}

fn compared(made: &TestRepository, objects: &Objects, chance: &mut Chance) -> Count {
    let mut count = Count::default();
    let commits = commits(made);
    let empty = made.format.empty_tree();
    let tree = |id: Option<Id>| id.map_or(empty, |id| objects.tree_of(&id).unwrap()).to_string();
    let mut any = || commits[chance.below(commits.len())];
    let pairs: Vec<(Option<Id>, Id)> = (0..8).map(|round| ((round > 0).then(&mut any), any())).collect();
    let trees: Vec<(String, String)> = pairs.iter().map(|(from, to)| (tree(*from), tree(Some(*to)))).collect();
    let lists = git_diffs(made, &trees);
    assert_eq!(lists.len(), pairs.len());
    for ((from, to), git) in pairs.iter().zip(lists) {
        // Where a file is gone, a directory may have its name.
        for changed in git.iter().filter(|changed| changed.to.is_some()) {
            assert_eq!(objects.entry_at(to, &changed.path), Ok(changed.to), "{to}:{}", changed.path);
        }
        assert_eq!(objects.entry_at(to, "not there/at all"), Ok(None));
        let ours = objects.diff(*from, *to).map(|mut changes| {
            changes.sort();
            changes
        });
        count.check(Some(git), ours, &format!("{from:?} {to}"));
    }
    count
}

fn descended(made: &TestRepository, objects: &Objects, chance: &mut Chance) -> Count {
    let mut count = Count::default();
    let commits = commits(made);
    for _ in 0..2 {
        let (one, other) = (commits[chance.below(commits.len())], commits[chance.below(commits.len())]);
        let (left, right) = (one.to_string(), other.to_string());
        let bases = made.git(&["merge-base", "--all", &left, &right]);
        let bases: BTreeSet<Id> = bases.lines().filter_map(Id::parse).collect();
        let ours = objects.merge_bases(&one, &other, 10_000).map(|bases| bases.into_iter().collect());
        count.check(Some(bases), ours, &format!("merge-base {one} {other}"));
        let git = made.git(&["rev-list", &left, "--not", &right]);
        let git: BTreeSet<Id> = git.lines().filter_map(Id::parse).collect();
        let ours: BTreeSet<Id> = objects.between(&[other], one, 10_000).unwrap().into_iter().collect();
        assert!(
            ours.is_superset(&git) && (made.is_skewed || ours == git),
            "rev-list {one} ^{other}: {ours:?} for {git:?}"
        );
        let parents = made.git(&["rev-list", "--parents", "-n", "1", &left]);
        let parents: Vec<Id> = parents.split(' ').skip(1).filter_map(Id::parse).collect();
        count.check(Some(parents), objects.parents(&one), &left);
    }
    count
}

fn contents(made: &TestRepository, objects: &Objects) -> Count {
    let mut count = Count::default();
    let ids = made.git(&["rev-list", "--all", "--objects", "--no-object-names"]);
    let ids: Vec<&str> = ids.lines().step_by(5).collect();
    let printed = ask(&made.root, &["cat-file", "--batch"], &(ids.join("\n") + "\n"));
    let mut rest = &printed[..];
    for hex in ids {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
        let head: Vec<&str> = std::str::from_utf8(&rest[..end]).unwrap().split(' ').collect();
        let size: usize = head[2].parse().unwrap();
        let bytes = rest[end + 1..end + 1 + size].to_vec();
        rest = &rest[end + 2 + size..];
        let ours =
            objects.read(&Id::parse(hex).unwrap(), 1 << 20).map(|(kind, bytes)| (kind.as_str().to_owned(), bytes));
        count.check(Some((head[1].to_owned(), bytes)), ours, hex);
    }
    count
}

fn indexed(made: &TestRepository) -> Count {
    let mut count = Count::default();
    let bytes = std::fs::read(made.git_directory.join("index")).unwrap_or_else(|_| b"DIRC\0\0\0\x02\0\0\0\0".to_vec());
    let index = Index::parse(bytes, made.format.length(), std::time::SystemTime::now()).unwrap();
    let printed = String::from_utf8(ask(&made.root, &["ls-files", "-s", "-z"], "")).unwrap();
    let git: Vec<(String, u32, Id)> = printed
        .split_terminator('\0')
        .map(|line| {
            let (head, path) = line.split_once('\t').unwrap();
            let head: Vec<&str> = head.split(' ').collect();
            (path.to_owned(), u32::from_str_radix(head[0], 8).unwrap(), Id::parse(head[1]).unwrap())
        })
        .collect();
    for (path, mode, id) in &git {
        let ours = index.id_of(path).map(|(mode, id, _)| (mode, id));
        assert_eq!(ours, Some((*mode, *id)), "{path}");
    }
    let ours =
        index.entries().map(|(path, mode, id, _)| (String::from_utf8(path.to_vec()).unwrap(), mode, id)).collect();
    count.check(Some(git), Ok(ours), "index");
    count
}

/// Compares everything in one repository.
fn compare(seed: u64) -> Count {
    let made = TestRepository::new(seed);
    let objects = made.objects();
    let mut chance = Chance::new(seed + 1);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        [
            resolved(&made, &objects, &mut chance),
            compared(&made, &objects, &mut chance),
            descended(&made, &objects, &mut chance),
            contents(&made, &objects),
            indexed(&made),
        ]
    }));
    let counts = caught.unwrap_or_else(|_| panic!("seed {seed}"));
    counts
        .iter()
        .fold(Count::default(), |sum, one| Count { same: sum.same + one.same, unread: sum.unread + one.unread })
}

fn compare_all(seeds: std::ops::Range<u64>) {
    let middle = u64::midpoint(seeds.start, seeds.end);
    let halves = [seeds.start..middle, middle..seeds.end].map(|half| {
        std::thread::spawn(move || half.map(compare).fold((0, 0), |sum, one| (sum.0 + one.same, sum.1 + one.unread)))
    });
    let (same, unread) =
        halves.into_iter().map(|half| half.join().unwrap()).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{same} answers alike, {unread} given up");
    assert!(same > 20 * unread && unread > 0, "{same} alike, {unread} given up");
}

#[test]
fn repositories_say_what_git_says() {
    compare_all(0..40);
}

#[test]
#[ignore = "makes two thousand repositories: takes minutes"]
fn two_thousand_repositories_say_what_git_says() {
    compare_all(1_000..3_000);
}

#[test]
fn the_hash_is_the_configured_one() {
    let check = |pairs: &[(&str, &str)]| {
        HashFormat::configured(&pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    };
    assert_eq!(check(&[]), Ok(HashFormat::Sha1));
    assert_eq!(
        check(&[("core.repositoryformatversion", "1"), ("extensions.objectformat", "sha256")]),
        Ok(HashFormat::Sha256)
    );
    assert!(check(&[("core.repositoryformatversion", "2")]).is_err());
    assert!(check(&[("extensions.refstorage", "reftable")]).is_err());
    assert!(check(&[("extensions.something", "true")]).is_err());
}
