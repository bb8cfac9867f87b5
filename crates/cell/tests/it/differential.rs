//! Generated programs that change files: boxed and committed must be the same as run directly.

use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use doorward_cell::{DeedKind, Refused, Treatment};
use fastrand::Rng;

use crate::support::{Place, Times, as_user, count, difference, environment, tree};

/// One line that does something to files. Names come from a small set, so that lines meet.
fn line(rng: &mut Rng) -> String {
    let file = |rng: &mut Rng| {
        let names = if rng.u32(0..40) == 0 { NAMES_OF_ONE } else { FILES };
        rng.choice(names).unwrap().to_string()
    };
    let directory = |rng: &mut Rng| rng.choice(DIRECTORIES).unwrap().to_string();
    let (f, g, d, e) = (file(rng), file(rng), directory(rng), directory(rng));
    let mode = rng.choice(["600", "644", "755", "444", "700", "000"]).unwrap();
    match rng.u32(0..44) {
        0 => format!("echo {} > {f}", rng.u16(..)),
        1 => format!("echo {} >> {f}", rng.u16(..)),
        2 => format!("rm -f {f}"),
        3 => format!("rm -rf {d}"),
        4 => format!("mkdir -p {d}"),
        5 => format!("rmdir {d}"),
        6 => format!("mv {f} {g}"),
        7 => format!("mv {f} {d}/"),
        8 => format!("mv {d} {e}"),
        9 => format!("cp {f} {g}"),
        10 => format!("cp -a {d} {e}"),
        11 => format!("cp -p {f} {g}"),
        12 => format!("chmod {mode} {f}"),
        13 => format!("chmod {} {d}", rng.choice(["700", "755", "500", "2755", "1777"]).unwrap()),
        14 => format!("ln -s {g} {f}"),
        15 => format!("ln {f} {g}"),
        16 => format!("ln -sfn {d} {f}"),
        17 => format!("touch {f}"),
        18 => format!("touch -d '2020-01-02 03:04:05' {f}"),
        19 => format!("touch -d '2021-01-02 03:04:05' {d}"),
        20 => format!("truncate -s {} {f}", rng.u32(0..200_000)),
        21 => format!("sed -i 's/1/2/' {f}"),
        22 => format!("sort -o {f} {f}"),
        23 => format!("tar --sort=name --mtime=2020-01-01 -cf {g} {d} && tar xf {g} -C {e}"),
        24 => format!("dd if=/dev/zero of={f} bs=1 seek={} count=1 conv=notrunc status=none", rng.u32(0..500_000)),
        25 => format!("split -b 20000 {f} {d}/part-"),
        26 => format!("install -m {mode} {f} {g}"),
        27 => format!("find {d} -type f -delete"),
        // Under a name that nothing opens: whoever opened it would wait for ever.
        28 => format!("mkfifo {d}/pipe"),
        29 => format!("python3 -c 'import os; os.setxattr(\"{f}\", \"user.a\", b\"{}\")'", rng.u8(..)),
        30 => format!("python3 -c 'import os; os.setxattr(\"{d}\", \"user.b\", b\"1\")'"),
        31 => format!("python3 -c 'open(\"{f}\", \"r+b\").write(b\"x\")'"),
        32 => format!("python3 -c 'import shutil; shutil.rmtree(\"{d}\", True); shutil.copytree(\"{e}\", \"{d}\")'"),
        33 => format!("python3 -c 'import os; os.replace(\"{f}\", \"{g}\")'"),
        34 => format!(
            "python3 -c 'import os; os.makedirs(os.fsencode(\"{d}\") + b\"/\\xff\\xfe\"); open(b\"\\xe9\", \"w\").write(\"1\")'"
        ),
        35 => "git add -A && git commit -qm c".to_owned(),
        36 => format!("git mv {f} {g}"),
        37 => "git stash -q; git stash pop -q".to_owned(),
        38 => "git checkout -q -B side && git rm -qf --ignore-unmatch d/one".to_owned(),
        39 => "make -s out".to_owned(),
        40 => "make -s clean".to_owned(),
        41 => format!("umask {}; echo 1 > {f}", rng.choice(["077", "000", "027"]).unwrap()),
        42 => format!("rm -rf {d}; mkdir {d}; echo {} > {d}/in", rng.u8(..)),
        _ => format!("rm -rf {f}; mkdir {f}; echo 1 > {f}/inner; rm -rf {d}; echo file > {d}"),
    }
}

const FILES: &[&str] = &["a", "b", "d/one", "d/e/two", "new", "d/new", "sparse", "'two words'", "../dot"];
/// Seldom, because most of what is done to one of them alone is refused.
const NAMES_OF_ONE: &[&str] = &["linked", "twin"];
const DIRECTORIES: &[&str] = &["d", "d/e", "empty", "n", "n/m", "link", "readonly"];

/// What every program starts from, old enough that a new time is told from an old one.
const START: &str = r#"
set -e
mkdir -p d/e empty readonly
echo 1 > a; echo 2 > b; echo 3 > d/one; echo 4 > d/e/two; echo 5 > readonly/file; echo 6 > 'two words'; echo dot > ~/dot
ln -s d link
echo 7 > twin; ln twin linked
truncate -s 100000 sparse
printf 'out: a\n\tcp a out\nclean:\n\trm -f out\n' > Makefile
git init -q . && git add a b d && git commit -qm start
chmod 555 readonly
chmod 640 b
find ~ -depth -exec touch -h -d '2022-03-04 05:06:07' {} +
"#;

fn prepare(place: &Place) {
    let out = direct(place, START);
    assert!(out, "the start can't be made");
}

fn direct(place: &Place, text: &str) -> bool {
    std::process::Command::new("/bin/sh")
        .args(["-c", text])
        .current_dir(place.project())
        .env_clear()
        .envs(environment(&place.path("home")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

#[derive(Debug, Default)]
struct Tally {
    same: usize,
    /// The overlay can't know which names of a file were meant; such runs are refused.
    hard_linked: usize,
    /// One name of a file was written to and then removed, the other one stayed: the overlay does not show the first.
    parted: usize,
    /// Two direct runs differ as well, and one of them is the same.
    unsteady: usize,
    /// `tar` or `cp` compares two names of one file: inside, they have different numbers (decision 0038), so it goes on where it
    /// stops outside.
    same_file: usize,
    /// `cp` copies a directory into itself until it notices: how far it gets depends on the order of the names.
    into_itself: usize,
    /// A directory that was there is renamed by the bare call, which overlays refuse; the program fails and says so.
    failed_inside: usize,
}

fn one(seed: u64, tally: &mut Tally) {
    let mut rng = Rng::with_seed(seed);
    let lines: Vec<String> = (0..rng.usize(1..10)).map(|_| line(&mut rng)).collect();
    let text = lines.join("\n");
    let (boxed, plain) = (Place::new(), Place::new());
    prepare(&boxed);
    prepare(&plain);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 - 3600;
    let succeeded = direct(&plain, &text);
    let before = tree(&boxed.path("home"), Times::Exact);
    let ran = boxed.run(&text);
    let untouched = difference(&before, &tree(&boxed.path("home"), Times::Exact));
    assert!(untouched.is_empty(), "seed {seed}: before the commit: {untouched:#?}\n{text}");
    let deeds = ran.run.deeds().unwrap();
    match ran.run.commit(&deeds, &|_| Treatment::Commit) {
        Ok(_) => {}
        Err(Refused::HardLinked(_)) => {
            tally.hard_linked += 1;
            let untouched = difference(&before, &tree(&boxed.path("home"), Times::Exact));
            assert!(untouched.is_empty(), "seed {seed}: after a refusal: {untouched:#?}\n{text}");
            return;
        }
        Err(refused) => panic!("seed {seed}: {refused:?}\n{text}\n{}", ran.out),
    }
    // `mv` says these only after it had to copy.
    if ["cross-device", "inter-device", "mv: cannot remove"].iter().any(|sign| ran.out.contains(sign)) {
        tally.failed_inside += 1;
        return;
    }
    let compares = lines.iter().any(|line| line.starts_with("tar ") || line.starts_with("cp "));
    let links = lines.iter().any(|line| line.starts_with("ln ") && !line.starts_with("ln -s"));
    let is_one_file =
        || compares && links && (succeeded != (ran.run.status() == 0) || has_other_content(&boxed, &plain, since));
    if is_one_file() {
        tally.same_file += 1;
        println!("FIGURE same file, seed {seed}: {}", lines.join("; "));
        return;
    }
    assert_eq!(succeeded, ran.run.status() == 0, "seed {seed}\n{text}\n{}", ran.out);
    let times = Times::RecentAlike { since };
    let parted = deeds.list().iter().any(|deed| {
        matches!(deed.kind, DeedKind::Deleted { .. }) && deed.before.is_some_and(|before| before.links > 1)
    });
    let different =
        difference(&relevant(tree(&boxed.path("home"), times)), &relevant(tree(&plain.path("home"), times)));
    if !different.is_empty() && (0..8).any(|_| another_direct_run_is_the_same(&boxed, &text, since)) {
        tally.unsteady += 1;
        return;
    }
    if !different.is_empty() && ran.out.contains("into itself") {
        tally.into_itself += 1;
        println!("FIGURE into itself, seed {seed}: {}", lines.join("; "));
        return;
    }
    if parted && !different.is_empty() {
        tally.parted += 1;
        println!("parted, seed {seed}: {}\nFIGURE parted: {}", different.join("; "), lines.join("; "));
        return;
    }
    assert!(different.is_empty(), "seed {seed}: {different:#?}\n{text}\n{}", ran.out);
    tally.same += 1;
    drop(Place::writable(boxed));
    drop(Place::writable(plain));
}

fn has_other_content(boxed: &Place, plain: &Place, since: i64) -> bool {
    let times = Times::RecentAlike { since };
    relevant(tree(&boxed.path("home"), times)) != relevant(tree(&plain.path("home"), times))
}

impl Place {
    /// Lets the temporary directory be removed whatever the program did to it.
    fn writable(self) -> Place {
        let _ = std::process::Command::new("chmod").args(["-R", "u+rwX"]).arg(self.base.path()).status();
        self
    }
}

/// The index of git holds inode numbers and times.
fn relevant(mut entries: Tree) -> Tree {
    let git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
    entries.retain(|path, _| !(git(path) && path.ends_with("index")));
    entries
}

/// What git does with a file that it can't read depends on the moment: then run and run differ without any box.
fn another_direct_run_is_the_same(boxed: &Place, text: &str, since: i64) -> bool {
    let plain = Place::new();
    prepare(&plain);
    direct(&plain, text);
    let times = Times::RecentAlike { since };
    let same = relevant(tree(&boxed.path("home"), times)) == relevant(tree(&plain.path("home"), times));
    drop(Place::writable(plain));
    same
}

type Tree = std::collections::BTreeMap<std::path::PathBuf, crate::support::Entry>;

fn many(first: usize, programs: usize) {
    let began = std::time::Instant::now();
    let mut tally = Tally::default();
    let progress = std::env::var_os("DOORWARD_CELL_PROGRESS");
    for seed in first..first + programs {
        if let (0, Some(file)) = (seed % 50, &progress) {
            std::fs::write(file, format!("{seed} {tally:?} {:?}\n", began.elapsed())).unwrap();
        }
        let one_began = std::time::Instant::now();
        one(seed as u64, &mut tally);
        if one_began.elapsed() > std::time::Duration::from_secs(10) {
            println!("FIGURE slow: program {seed} took {:?}", one_began.elapsed());
        }
    }
    println!("FIGURE differential: {programs} programs, {tally:?}, {:?}", began.elapsed());
    assert!(tally.same * 10 >= programs * 7, "{tally:?}");
}

#[test]
fn boxed_and_committed_is_the_same_as_run_directly() {
    if as_user("differential::boxed_and_committed_is_the_same_as_run_directly") {
        many(count("DOORWARD_CELL_SEED", 0), 40);
    }
}

#[test]
#[ignore = "many minutes; DOORWARD_CELL_PROGRAMS sets the number"]
fn long_boxed_and_committed_is_the_same_as_run_directly() {
    if as_user("differential::long_boxed_and_committed_is_the_same_as_run_directly") {
        many(count("DOORWARD_CELL_SEED", 0), count("DOORWARD_CELL_PROGRAMS", 5000));
    }
}
