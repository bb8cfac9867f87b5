//! Repositories made at random by git itself, for tests: the same seed makes the same history.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::chance::{Chance, NAMES};
use super::{Budget, HashFormat, Objects};

/// Branches, two of which look like digits and one like a tag.
pub(super) const BRANCHES: &[&str] = &["main", "feature/x", "topic", "dead", "abcdef", "v1", "ünï/日本", "config"];

/// A repository, and the directory that contains everything about it.
#[derive(Debug)]
pub(super) struct TestRepository {
    pub base: tempfile::TempDir,
    pub root: PathBuf,
    pub git_directory: PathBuf,
    pub common: PathBuf,
    pub format: HashFormat,
    /// Commits were not made one after the other by the clock.
    pub is_skewed: bool,
    /// Paths that some commit has.
    pub paths: Vec<String>,
}

/// Runs git in a neutral surrounding and returns what it printed, whether or not it succeeded.
pub(super) fn ask(directory: &Path, words: &[&str], input: &str) -> Vec<u8> {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", directory);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@b");
        command.env(format!("GIT_{who}_DATE"), "1700100000 +0000");
    }
    command.args(["-c", "protocol.file.allow=always", "-c", "gc.auto=0"]).args(words).current_dir(directory);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("git is installed");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let printed = child.wait_with_output().unwrap().stdout;
    writer.join().unwrap();
    printed
}

pub(super) fn text(directory: &Path, words: &[&str]) -> String {
    String::from_utf8(ask(directory, words, "")).unwrap().trim_end().to_owned()
}

impl TestRepository {
    /// A repository whose history and storage depend on the seed.
    pub(super) fn new(seed: u64) -> TestRepository {
        let mut chance = Chance::new(seed);
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("one");
        let format = if chance.one_in(4) { HashFormat::Sha256 } else { HashFormat::Sha1 };
        let word = if format == HashFormat::Sha1 { "sha1" } else { "sha256" };
        ask(base.path(), &["init", "-q", "-b", "main", "--object-format", word, "one"], "");
        let is_skewed = chance.one_in(4);
        let mut made = TestRepository {
            git_directory: root.join(".git"),
            common: root.join(".git"),
            root,
            base,
            format,
            is_skewed,
            paths: Vec::new(),
        };
        made.import(&mut chance);
        made.store(&mut chance);
        made.work(&mut chance);
        made.derive(&mut chance);
        made
    }

    /// A reader with a generous budget.
    pub(super) fn objects(&self) -> Objects {
        Objects::within(&self.git_directory, &self.common, self.format, Budget::new(200_000, 1 << 30))
    }

    pub(super) fn git(&self, words: &[&str]) -> String {
        text(&self.root, words)
    }

    fn import(&mut self, chance: &mut Chance) {
        let mut stream = String::new();
        let mut history = History { is_skewed: self.is_skewed, ..History::default() };
        for _ in 0..5 + chance.below(30) {
            history.commit(&mut stream, chance, self.format);
        }
        for (tag, branch) in [("v1", "main"), ("v2", "topic"), ("dir/v3", "feature/x")] {
            if let Some((mark, _)) = history.tips.get(branch) {
                write!(stream, "tag {tag}\nfrom :{mark}\ntagger A <a@b> 1700000000 +0000\ndata 1\nx\n").unwrap();
            }
        }
        if let Some((mark, _)) = history.tips.get("topic") {
            write!(stream, "reset refs/tags/light\nfrom :{mark}\n\n").unwrap();
        }
        let limit = format!("fastimport.unpackLimit={}", chance.pick(&["0", "1", "10000"]));
        ask(&self.root, &["-c", &limit, "fast-import", "--quiet", "--depth=20"], &stream);
        self.paths = history.paths.into_iter().collect();
        self.paths.sort();
        self.paths.dedup();
    }

    /// Packs everything, some, or nothing.
    fn store(&self, chance: &mut Chance) {
        let repack = ["repack", "-adfq", "--depth=50", "--window=250"];
        match chance.below(8) {
            0 => drop(self.git(&["gc", "-q"])),
            1 => drop(self.git(&repack)),
            2 => drop(self.git(&["-c", "pack.indexVersion=1", "repack", "-adfq"])),
            3 => drop(self.git(&["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50"])),
            4 => {
                self.git(&["repack", "-dq"]);
                self.git(&["multi-pack-index", "write"]);
                self.git(&["commit-graph", "write", "--reachable"]);
            }
            5 => drop(self.git(&["-c", "pack.packSizeLimit=1m", "repack", "-adq"])),
            _ => {}
        }
        if chance.one_in(2) {
            self.git(&["pack-refs", "--all"]);
        }
    }

    /// Switches, commits, tags and stashes, so that there are logs.
    fn work(&self, chance: &mut Chance) {
        self.git(&["reset", "-q", "--hard"]);
        for _ in 0..chance.below(5) {
            match chance.below(7) {
                0 => drop(self.git(&["checkout", "-q", "-f", "--detach", "HEAD~1"])),
                1 => {
                    std::fs::write(self.root.join("made by work"), format!("{}", chance.below(1000))).unwrap();
                    self.git(&["add", "-A"]);
                    self.git(&["commit", "-q", "-m", "checkout: moving from here to there"]);
                }
                2 => {
                    std::fs::write(self.root.join("untracked"), format!("{}", chance.below(1000))).unwrap();
                    self.git(&["stash", "-q", "-u"]);
                }
                3 => drop(self.git(&["tag", "-a", "-m", "nested", "nested", "v1"])),
                4 => drop(self.git(&["reset", "-q", "--hard", "HEAD~1"])),
                _ => drop(self.git(&["checkout", "-q", "-f", chance.pick(BRANCHES), "--"])),
            }
        }
        if chance.one_in(4) {
            self.git(&["branch", "-q", "-f", "follows", "HEAD"]);
            self.git(&["branch", "-q", "-u", "main", "follows"]);
            self.git(&["repack", "-dq"]);
        }
    }

    /// Reads a clone or a further work tree instead.
    fn derive(&mut self, chance: &mut Chance) {
        let two = self.base.path().join("two");
        let one = format!("file://{}", self.root.display());
        match chance.below(8) {
            0 => drop(text(self.base.path(), &["clone", "-q", "-s", "one", "two"])),
            1 => drop(text(self.base.path(), &["clone", "-q", "--reference", "one", &one, "two"])),
            2 => drop(text(self.base.path(), &["clone", "-q", "--depth=3", "--no-single-branch", &one, "two"])),
            3 => drop(self.git(&["worktree", "add", "-q", "-f", "--detach", "../two", "topic"])),
            4 => {
                text(self.base.path(), &["clone", "-q", "-s", "one", "middle"]);
                text(self.base.path(), &["clone", "-q", "-s", "middle", "two"]);
                let list = two.join(".git/objects/info/alternates");
                if list.exists() {
                    std::fs::write(list, "# borrowed\n../../../middle/.git/objects\n").unwrap();
                }
            }
            _ => return,
        }
        if !two.join(".git").exists() {
            return;
        }
        self.root = two;
        self.git_directory = self.git(&["rev-parse", "--absolute-git-dir"]).into();
        self.common = self.root.join(self.git(&["rev-parse", "--git-common-dir"]));
        self.work(chance);
    }
}

/// What the stream for `git fast-import` has told so far.
#[derive(Default)]
struct History {
    mark: usize,
    tips: BTreeMap<String, (usize, Vec<String>)>,
    paths: Vec<String>,
    is_skewed: bool,
}

impl History {
    fn commit(&mut self, stream: &mut String, chance: &mut Chance, format: HashFormat) {
        let branch = if self.mark == 0 { "main" } else { chance.pick(BRANCHES) };
        self.mark += 1;
        let skew = if self.is_skewed { chance.below(100_000) } else { 0 };
        let seconds = 1_700_000_000 + 10 * self.mark - skew;
        let name = format!("refs/heads/{branch}");
        write!(stream, "commit {name}\nmark :{}\ncommitter A <a@b> {seconds} +0000\ndata 2\nm\n\n", self.mark).unwrap();
        let tips: Vec<String> = self.tips.keys().cloned().collect();
        let mut files = match self.tips.get(branch) {
            Some((_, files)) => files.clone(),
            None if tips.is_empty() || chance.one_in(8) => Vec::new(),
            None => {
                let (mark, files) = &self.tips[&tips[chance.below(tips.len())]];
                writeln!(stream, "from :{mark}").unwrap();
                files.clone()
            }
        };
        if !tips.is_empty() && chance.one_in(4) {
            let (mark, _) = &self.tips[&tips[chance.below(tips.len())]];
            writeln!(stream, "merge :{mark}").unwrap();
        }
        for _ in 0..=chance.below(6) {
            change(stream, &mut files, chance, format);
        }
        if chance.one_in(6) {
            let directory = chance.pick(NAMES);
            (0..60)
                .for_each(|number| put(stream, &mut files, &format!("{directory}/wide/{number:03}"), "100644", "same"));
        }
        stream.push('\n');
        self.paths.extend(files.iter().cloned());
        self.tips.insert(branch.to_owned(), (self.mark, files));
    }
}

fn change(stream: &mut String, files: &mut Vec<String>, chance: &mut Chance, format: HashFormat) {
    let depth = chance.below(4);
    let mut path = chance.pick(NAMES).to_owned();
    (0..depth).for_each(|_| path = format!("{path}/{}", chance.pick(NAMES)));
    match chance.below(12) {
        0 | 1 if !files.is_empty() => {
            let gone = files.swap_remove(chance.below(files.len()));
            writeln!(stream, "D {}", quoted(&gone)).unwrap();
        }
        2 => {
            let hex = "12".repeat(format.length());
            writeln!(stream, "M 160000 {hex} {}", quoted(&path)).unwrap();
            files.push(path);
        }
        3 => put(stream, files, &path, "120000", "../somewhere"),
        4 => put(stream, files, &path, "100755", "#!/bin/sh\n"),
        5 if !files.is_empty() => {
            let known = files[chance.below(files.len())].clone();
            put(stream, files, &known, "100755", "changed");
        }
        _ => {
            let text: String = (0..200).map(|line| format!("line {}\n", line * (1 + chance.below(40) / 39))).collect();
            put(stream, files, &path, "100644", &text);
        }
    }
}

fn put(stream: &mut String, files: &mut Vec<String>, path: &str, mode: &str, content: &str) {
    write!(stream, "M {mode} inline {}\ndata {}\n{content}\n", quoted(path), content.len()).unwrap();
    files.push(path.to_owned());
}

fn quoted(path: &str) -> String {
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
