//! What the box costs, in milliseconds; run it on a quiet machine.

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, as_user, count, environment};

/// The middle and the best, in milliseconds: where others work too, the truth lies between.
fn figure(mut times: Vec<Duration>) -> String {
    times.sort();
    let millis = |time: Duration| time.as_secs_f64() * 1000.0;
    format!("{:.1} ms (best {:.1})", millis(times[times.len() / 2]), millis(times[0]))
}

/// Processor time of this process and its children, which others do not change much. The kernel counts in hundredths.
fn processor_millis() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(4);
    fields.map(|field| field.parse::<u64>().unwrap() * 10).sum()
}

fn measured(rounds: usize, mut what: impl FnMut() -> Duration) -> String {
    let before = processor_millis();
    let times = (0..rounds).map(|_| what()).collect();
    let each = (processor_millis() - before) as f64 / rounds as f64;
    format!("{}, {each:.1} ms of processor", figure(times))
}

fn direct(place: &Place, text: &str) -> Duration {
    let began = Instant::now();
    let status = Process::new("/bin/sh")
        .args(["-c", text])
        .current_dir(place.project())
        .env_clear()
        .envs(environment(&place.path("home")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap();
    began.elapsed()
}

/// Set-up and teardown included, the removal of the layers too.
fn boxed(place: &Place, text: &str) -> Duration {
    let cell = place.cell();
    let plan = place.plan(text);
    let began = Instant::now();
    let run = cell.run(plan).unwrap();
    run.discard().unwrap();
    began.elapsed()
}

#[test]
#[ignore = "a measurement; DOORWARD_CELL_ROUNDS sets the number of rounds"]
fn long_overhead() {
    if !as_user("overhead::long_overhead") {
        return;
    }
    let rounds = count("DOORWARD_CELL_ROUNDS", 51);
    let place = Place::new();
    let files = "git init -q .; for i in $(seq 300); do mkdir -p d$((i % 20)); echo $i > d$((i % 20))/f$i; done; git add -A; git commit -qm a; \
        for i in $(seq 50); do printf 'import unittest\\nclass T%s(unittest.TestCase):\\n  def test(self): self.assertEqual(%s, %s)\\n' $i $i $i > test_$i.py; done";
    direct(&place, files);
    for (name, text) in [("true", ":"), ("git status", "git status --short"), ("50 tests", "python3 -m unittest -q")] {
        println!("FIGURE overhead {name}, plain: {}", measured(rounds, || direct(&place, text)));
        println!("FIGURE overhead {name}, boxed: {}", measured(rounds, || boxed(&place, text)));
    }
    let ran = place.run("mkdir -p many; for i in $(seq 134); do echo $i > many/f$i; done");
    let times = (0..rounds).map(|_| {
        let began = Instant::now();
        assert_eq!(ran.run.deeds().unwrap().list().len(), 135);
        began.elapsed()
    });
    println!("FIGURE deeds of 134 files: {}", figure(times.collect()));
    let began = Instant::now();
    let deeds = ran.run.deeds().unwrap();
    ran.run.commit(&deeds, &|_| doorward_cell::Treatment::Commit).unwrap();
    println!("FIGURE commit of 134 files: {:.1} ms", began.elapsed().as_secs_f64() * 1000.0);
}
