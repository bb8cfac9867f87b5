//! What the box costs, in milliseconds; run it on a quiet machine.

use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, as_user, count, environment};

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
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

fn boxed(place: &Place, text: &str) -> (Duration, Duration) {
    let cell = place.cell();
    let plan = place.plan(text);
    let began = Instant::now();
    let run = cell.run(plan).unwrap();
    let ran = began.elapsed();
    run.discard().unwrap();
    (ran, began.elapsed())
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
        let (mut plain, mut run, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            plain.push(direct(&place, text));
            let (ran, discarded) = boxed(&place, text);
            run.push(ran);
            all.push(discarded);
        }
        let (plain, run, all) = (median(plain), median(run), median(all));
        println!("FIGURE overhead {name}: plain {plain:.1} ms, boxed {run:.1} ms, and discarded {all:.1} ms");
    }
    let ran = place.run("mkdir -p many; for i in $(seq 134); do echo $i > many/f$i; done");
    let times = (0..rounds).map(|_| {
        let began = Instant::now();
        assert_eq!(ran.run.deeds().unwrap().list().len(), 135);
        began.elapsed()
    });
    println!("FIGURE deeds of 134 files: {:.2} ms", median(times.collect()));
    let began = Instant::now();
    let deeds = ran.run.deeds().unwrap();
    ran.run.commit(&deeds, &|_| doorward_cell::Treatment::Commit).unwrap();
    println!("FIGURE commit of 134 files: {:.1} ms", began.elapsed().as_secs_f64() * 1000.0);
}
