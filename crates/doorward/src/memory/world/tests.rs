//! The disk world against repositories that git itself made.

use std::path::Path;
use std::process::Command;

use doorward_engine::{Configured, Content, Kind, Machine, Repositories, Tally, Tracking};
use tempfile::TempDir;

use crate::machine::paths::Dirs;
use crate::machine::world::project_root;
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::Loaded;

struct Repository {
    base: TempDir,
}

impl Repository {
    /// A work tree `w` beside a home `h`; `extra` are options of `git init`.
    fn new(extra: &[&str]) -> Repository {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir(base.path().join("h")).unwrap();
        let repository = Repository { base };
        let root = repository.root();
        repository.git_in("/", &[&["init", "-q", "-b", "trunk"], extra, &[root.as_str()]].concat());
        repository
    }

    fn root(&self) -> String {
        self.base.path().join("w").to_str().unwrap().to_owned()
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root())
    }

    fn write(&self, name: &str, text: &str) -> &Repository {
        let path = self.path(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn git(&self, arguments: &[&str]) -> &Repository {
        self.git_in(&self.root(), arguments)
    }

    fn git_in(&self, directory: &str, arguments: &[&str]) -> &Repository {
        let status = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@e.example"])
            .args(arguments)
            .current_dir(directory)
            .env("HOME", self.base.path().join("h"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .unwrap();
        assert!(status.success(), "git {arguments:?}");
        self
    }

    /// Waits until the index is older than any file that is written from now on, then lets git look again.
    fn settle(&self) -> &Repository {
        std::thread::sleep(std::time::Duration::from_millis(20));
        self.git(&["update-index", "-q", "--refresh", "--force-write-index"])
    }

    fn world(&self) -> DiskWorld {
        let dirs = Dirs::at(self.base.path().join("h").to_str().unwrap());
        DiskWorld::new(&dirs, &self.root(), project_root(&self.root()), &Loaded::default())
    }

    fn check(&self, expected: &[(&str, Tracking)]) {
        let world = self.world();
        for (name, tracking) in expected {
            assert_eq!(world.tracking(&self.path(name)), *tracking, "{name}");
        }
    }
}

fn typical(extra: &[&str]) -> Repository {
    let repository = Repository::new(extra);
    repository
        .write(".gitignore", "*.log\ntarget/\nlocal.env\n")
        .write("src/a.rs", "a")
        .write("src/deep/er/b.rs", "b")
        .write("readme", "r");
    repository.git(&["add", "."]).git(&["commit", "-qm", "x"]).settle();
    repository
        .write("src/a.rs", "changed")
        .write("new.txt", "n")
        .write("x.log", "l")
        .write("target/debug/out", "o")
        .write("local.env", "s");
    repository
}

const TYPICAL: &[(&str, Tracking)] = &[
    ("readme", Tracking::Clean),
    ("src/deep/er/b.rs", Tracking::Clean),
    ("src/deep", Tracking::Clean),
    ("src/a.rs", Tracking::Modified),
    ("src", Tracking::Modified),
    ("new.txt", Tracking::Untracked),
    ("nowhere.txt", Tracking::Untracked),
    ("x.log", Tracking::Ignored),
    ("local.env", Tracking::Ignored),
    ("target/debug/out", Tracking::Rebuildable),
    ("target", Tracking::Rebuildable),
    (".git/config", Tracking::Unknown),
];

#[test]
fn tracking_is_read_from_an_index_of_every_version() {
    for version in ["2", "3", "4"] {
        let repository = typical(&[]);
        repository.git(&["update-index", "--index-version", version]).check(TYPICAL);
    }
}

#[test]
fn what_lies_in_no_repository_is_outside() {
    let repository = typical(&[]);
    let outside = repository.base.path().join("h/x");
    assert_eq!(repository.world().tracking(outside.to_str().unwrap()), Tracking::Outside);
}

#[test]
fn tracking_works_with_longer_hashes() {
    typical(&["--object-format=sha256"]).check(TYPICAL);
}

#[test]
fn a_file_with_the_same_size_and_time_but_other_content_is_not_clean() {
    let repository = typical(&[]);
    let old = std::fs::metadata(repository.path("readme")).unwrap().modified().unwrap();
    repository.write("readme", "X");
    std::fs::File::options().write(true).open(repository.path("readme")).unwrap().set_modified(old).unwrap();
    repository.check(&[("readme", Tracking::Modified)]);
}

#[test]
fn a_file_that_git_was_told_not_to_watch_is_unknown() {
    let repository = typical(&[]);
    repository.git(&["update-index", "--assume-unchanged", "readme"]).git(&[
        "update-index",
        "--skip-worktree",
        "src/deep/er/b.rs",
    ]);
    repository.write("later", "l").git(&["add", "-N", "later"]);
    repository.check(&[
        ("readme", Tracking::Unknown),
        ("src/deep/er/b.rs", Tracking::Unknown),
        ("later", Tracking::Unknown),
    ]);
}

#[test]
fn a_split_index_is_only_a_part_and_says_nothing() {
    let repository = typical(&[]);
    repository.git(&["update-index", "--split-index"]);
    repository.check(&[("readme", Tracking::Unknown), ("new.txt", Tracking::Unknown)]);
}

#[test]
fn nothing_added_yet_means_untracked() {
    let repository = Repository::new(&[]);
    repository.write("a", "a").check(&[("a", Tracking::Untracked)]);
}

#[test]
fn a_second_work_tree_has_its_own_index_and_branch() {
    let repository = typical(&[]);
    let second = repository.base.path().join("second").to_str().unwrap().to_owned();
    repository.git(&["worktree", "add", "-q", "-b", "side", &second]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    repository.git_in(&second, &["update-index", "-q", "--refresh", "--force-write-index"]);
    let world = repository.world();
    let git = world.git(&second).unwrap();
    assert_eq!((git.root.as_str(), git.branch.as_deref()), (second.as_str(), Some("side")));
    assert_eq!(world.tracking(&format!("{second}/readme")), Tracking::Clean);
    assert_eq!(world.git(&repository.root()).unwrap().branch.as_deref(), Some("trunk"));
}

#[test]
fn the_effective_configuration_follows_includes() {
    let repository = typical(&[]);
    let home = repository.base.path().join("h");
    std::fs::write(home.join(".gitconfig"), "[core]\n pager = less\n[include]\n path = more\n[includeIf \"gitdir:**/w/\"]\n path = yes\n[includeIf \"gitdir:~/w/\"]\n path = no\n").unwrap();
    std::fs::write(home.join("more"), "[core]\n pager = cat\n[init]\n defaultBranch = main\n").unwrap();
    std::fs::write(home.join("yes"), "[a]\n b = c\n").unwrap();
    std::fs::write(home.join("no"), "[a]\n b = d\n").unwrap();
    repository.git(&["remote", "add", "Origin", "https://host.example/x.git"]);
    let git = repository.world().git(&repository.path("src")).unwrap();
    let config = git.config.unwrap();
    assert_eq!(config.get("core.pager").map(String::as_str), Some("cat"));
    assert_eq!(config.get("a.b").map(String::as_str), Some("c"));
    assert_eq!(git.remotes.get("Origin").map(String::as_str), Some("https://host.example/x.git"));
    assert_eq!((git.branch.as_deref(), git.default_branch.as_deref()), (Some("trunk"), Some("main")));
}

#[test]
fn a_condition_that_cannot_be_decided_makes_the_configuration_unknown() {
    let repository = typical(&[]);
    std::fs::write(
        repository.base.path().join("h/.gitconfig"),
        "[includeIf \"hasconfig:remote.*.url:x\"]\n path = y\n",
    )
    .unwrap();
    assert!(repository.world().git(&repository.root()).unwrap().config.is_err());
}

#[test]
fn files_are_counted_looked_at_and_read() {
    let repository = typical(&[]);
    let world = repository.world();
    let counted = Tally::Counted { files: 2, bytes: 8, unrestorable: 1, unrestorable_bytes: 7 };
    assert_eq!(world.tally(&repository.path("src")), counted);
    assert_eq!(world.entries(&repository.path("src")), Some(vec!["a.rs".to_owned(), "deep".to_owned()]));
    assert_eq!(world.content(&repository.path("readme"), 10), Content::Text("r".into()));
    assert_eq!(world.content(&repository.path("readme"), 0), Content::TooLong);
    assert_eq!(world.content(&repository.path("nope"), 10), Content::Missing);
    std::os::unix::fs::symlink("../readme", repository.path("src/link")).unwrap();
    assert_eq!(world.look(&repository.path("src/link")).kind, Kind::Link);
    assert_eq!(world.link(&repository.path("src/link")).as_deref(), Some("../readme"));
    assert_eq!(world.look(&repository.path("nope")).kind, Kind::Missing);
    assert_eq!(world.look("/dev/null").kind, Kind::Special);
    assert_eq!(world.project(), Some(repository.root().as_str()));
}

#[test]
fn a_pipe_is_never_waited_for() {
    let repository = typical(&[]);
    let pipe = repository.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(repository.world().content(&pipe, 10), Content::NotText);
}
