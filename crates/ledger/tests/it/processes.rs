//! Several processes write one log, and are killed at random points.

use doorward_ledger::{Anchors, DecisionBody, Disk, DiskGuard, Log, LogError, Storage};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

const DIR: &str = "LEDGER_TEST_DIR";
const COUNT: &str = "LEDGER_TEST_COUNT";

/// A disk that knows how long its lock was held, and waited for, at most.
struct Timed {
    disk: Disk,
    times: Rc<Times>,
}

#[derive(Default)]
struct Times {
    held: Cell<Duration>,
    /// How often it was held for more than a tenth of a second.
    long: Cell<u64>,
    waited: Cell<Duration>,
}

struct Holding<'a> {
    _guard: DiskGuard<'a>,
    since: Instant,
    times: &'a Times,
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        let held = self.since.elapsed();
        self.times.held.set(self.times.held.get().max(held));
        self.times.long.set(self.times.long.get() + u64::from(held > Duration::from_millis(100)));
    }
}

impl Storage for Timed {
    type File = File;
    type Guard<'a> = Holding<'a>;

    fn lock(&self) -> io::Result<Holding<'_>> {
        let before = Instant::now();
        let guard = self.disk.lock()?;
        self.times.waited.set(self.times.waited.get().max(before.elapsed()));
        Ok(Holding { _guard: guard, since: Instant::now(), times: &self.times })
    }
    fn open(&self, name: &str) -> io::Result<File> {
        self.disk.open(name)
    }
    fn view(&self, name: &str) -> io::Result<File> {
        self.disk.view(name)
    }
    fn create(&self, name: &str) -> io::Result<File> {
        self.disk.create(name)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync(&self) -> io::Result<()> {
        self.disk.sync()
    }
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }
    fn place(&self) -> PathBuf {
        self.disk.place()
    }
}

fn body(call: String) -> DecisionBody {
    // Some records are longer than a page, so that a killed writer can leave half of one.
    let call = if call.ends_with('7') { call.repeat(400) } else { call };
    DecisionBody { call, tool: "bash".into(), ..DecisionBody::default() }
}

/// Not a test of its own: the other tests start it as a process.
#[test]
#[ignore = "a writer for the other tests"]
fn writer() {
    let (Ok(dir), Ok(count)) = (std::env::var(DIR), std::env::var(COUNT)) else {
        return;
    };
    let segment_bytes = 200_000;
    let disk = Disk::open(Path::new(&dir)).unwrap();
    let times: Rc<Times> = Rc::default();
    let mut log = Log::on(Timed { disk, times: Rc::clone(&times) }).with_segment_bytes(segment_bytes);
    let mut out = std::io::stdout();
    for number in 0..count.parse().unwrap() {
        let call = format!("process {} call {number}", std::process::id());
        let receipt = loop {
            match log.append(&body(call.clone()), number) {
                // Refused for now, and nothing was recorded: on a slow disk the others may take too long.
                Err(LogError::Busy) => eprintln!("busy"),
                other => break other.unwrap(),
            }
        };
        // One write, so that a kill cannot leave half a line that looks like another.
        out.write_all(format!("\nack {} {} .\n", receipt.sequence, receipt.hash).as_bytes()).unwrap();
        out.flush().unwrap();
    }
    let (held, long, waited) = (times.held.get().as_micros(), times.long.get(), times.waited.get().as_micros());
    out.write_all(format!("\nlock {held} {long} {waited} .\n").as_bytes()).unwrap();
}

fn start(dir: &Path, count: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::writer", "--ignored", "--nocapture", "--quiet"])
        .env(DIR, dir)
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn output(child: &mut Child) -> String {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

/// How long a writer held the lock at most, how often for too long, and how long it waited at most; in microseconds.
fn lock_times(text: &str) -> [u64; 3] {
    let line = text.lines().find_map(|line| line.strip_prefix("lock ")?.strip_suffix(" .")).unwrap();
    let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// What a writer acknowledged before it ended.
fn acknowledged(text: &str) -> Vec<(u64, String)> {
    let acks = text.lines().filter_map(|line| line.strip_prefix("ack ")?.strip_suffix(" ."));
    acks.map(|ack| ack.split_once(' ').unwrap())
        .map(|(sequence, hash)| (sequence.parse().unwrap(), hash.to_owned()))
        .collect()
}

fn kill_cycles(cycles: u32) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let log = Log::create(&path).unwrap();
    let (mut total, mut checked) = (0, 0);
    for cycle in 0..cycles {
        let mut children: Vec<Child> = (0..3).map(|_| start(&path, 1_000_000)).collect();
        std::thread::sleep(Duration::from_micros(fastrand::u64(2_000..22_000)));
        for child in &mut children {
            child.kill().unwrap();
        }
        let mut acks = BTreeMap::new();
        for child in &mut children {
            child.wait().unwrap();
            for (sequence, hash) in acknowledged(&output(child)) {
                assert!(acks.insert(sequence, hash).is_none(), "{sequence} acknowledged twice");
            }
        }
        for record in log.records_from(checked + 1).unwrap() {
            // An end that was torn by this kill is mended by the next writer.
            let Ok(record) = record else { break };
            checked = record.header.sequence;
            if let Some(hash) = acks.remove(&checked) {
                assert_eq!(hash, record.hash.to_string());
                total += 1;
            }
        }
        assert!(acks.is_empty(), "cycle {cycle}: acknowledged and lost: {acks:?}");
        if cycle % 500 == 499 {
            eprintln!("{} cycles, {total} records acknowledged, none lost", cycle + 1);
        }
    }
    let mut last = Log::open(&path).unwrap();
    let _receipt = last.append(&body("last".into()), 1).unwrap();
    let report = log.verify(Anchors::default(), |_| {}).unwrap();
    assert!(report.holds(), "{:?}", report.findings);
    eprintln!(
        "{cycles} cycles, 3 writers: {total} acknowledged, 0 lost, {} records, {} gaps",
        report.records,
        report.gaps.len()
    );
    assert!(total > u64::from(cycles), "the writers hardly wrote: {total}");
}

fn crowd(processes: u64, each: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let log = Log::create(&path).unwrap();
    let started = Instant::now();
    let mut children: Vec<Child> = (0..processes).map(|_| start(&path, each)).collect();
    let readers: Vec<_> = children
        .drain(..)
        .map(|mut child| {
            std::thread::spawn(move || {
                let text = output(&mut child);
                assert!(child.wait().unwrap().success(), "a writer failed: {text}");
                (acknowledged(&text), lock_times(&text))
            })
        })
        .collect();
    let mut all = BTreeMap::new();
    let (mut held, mut long, mut waited) = (0, 0, 0);
    for reader in readers {
        let (acks, [longest, often, wait]) = reader.join().unwrap();
        (held, long, waited) = (held.max(longest), long + often, waited.max(wait));
        assert_eq!(acks.len() as u64, each);
        assert!(acks.windows(2).all(|pair| pair[0].0 < pair[1].0), "not increasing");
        all.extend(acks);
    }
    let elapsed = started.elapsed();
    assert!(all.keys().copied().eq(1..=processes * each), "not every sequence once");
    let records = log.records().unwrap().map(Result::unwrap);
    assert!(records.map(|record| (record.header.sequence, record.hash.to_string())).eq(all));
    assert!(log.verify(Anchors::default(), |_| {}).unwrap().holds());
    let rate = (processes * each) as f64 / elapsed.as_secs_f64();
    eprintln!(
        "{processes} processes × {each}: {elapsed:.1?}, {rate:.0} durable records per second; lock held for {held} µs at most, \
         {long} times for more than 100 ms; waited for {waited} µs at most"
    );
    // A holder that a busy machine does not let run cannot let go.
    assert!(long * 20 <= processes * each, "the lock was held for more than 100 ms {long} times");
}

#[test]
fn killed_writers_lose_nothing_they_acknowledged() {
    kill_cycles(200);
}

#[test]
#[ignore = "minutes"]
fn ten_thousand_killed_writers_lose_nothing_they_acknowledged() {
    kill_cycles(10_000);
}

#[test]
fn a_few_processes_share_one_strictly_increasing_sequence() {
    crowd(8, 100);
}

#[test]
#[ignore = "a minute"]
fn sixty_four_processes_share_one_strictly_increasing_sequence() {
    crowd(64, 2_000);
}
