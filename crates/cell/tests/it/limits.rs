//! Commands that want too much end, and nothing of them goes on.

use std::time::{Duration, Instant};

use doorward_cell::{Limits, Refused, Spoiled, Treatment};

use crate::support::{Place, as_user};

/// How many processes have the home of this place in their environment.
fn processes(place: &Place) -> usize {
    let mark = format!("HOME={}\0", place.path("home").display()).into_bytes();
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = numbers.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|environment| environment.windows(mark.len()).any(|part| part == mark)).count()
}

#[test]
fn each_limit_ends_the_run_and_spoils_it() {
    if !as_user("limits::each_limit_ends_the_run_and_spoils_it") {
        return;
    }
    let place = Place::new();
    let usual = Limits::default();
    let memory = "python3 -c 'import os,time\nfor i in range(6):\n  if os.fork() == 0: x = bytearray(40<<20); time.sleep(9)\ntime.sleep(9)'";
    let cases = [
        ("sleep 60", Limits { time: Duration::from_millis(300), ..usual }, Spoiled::Time),
        (
            "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > f$i; done",
            Limits { written: 4 << 20, ..usual },
            Spoiled::Written,
        ),
        ("yes", Limits { output: 1 << 20, ..usual }, Spoiled::Output),
        (memory, Limits { memory: 100 << 20, ..usual }, Spoiled::Memory),
        ("sleep 60", Limits { reserve: u64::MAX, ..usual }, Spoiled::Disk),
    ];
    for (text, limits, why) in cases {
        let mut plan = place.plan(text);
        plan.limits = Limits { time: limits.time.min(Duration::from_secs(20)), ..limits };
        let began = Instant::now();
        let ran = place.run_plan(plan);
        assert_eq!(ran.run.spoiled(), Some(why), "{text}: {}", ran.out.len());
        assert!(began.elapsed() < Duration::from_secs(19), "{text}");
        let deeds = ran.run.deeds().unwrap();
        assert_eq!(ran.run.commit(&deeds, &|_| Treatment::Commit), Err(Refused::Spoiled(why)));
        ran.run.discard().unwrap();
    }
    assert_eq!(std::fs::read_dir(place.project()).unwrap().count(), 0);
}

#[test]
fn one_file_can_not_grow_beyond_its_limit() {
    if !as_user("limits::one_file_can_not_grow_beyond_its_limit") {
        return;
    }
    let place = Place::new();
    let mut plan = place.plan("exec dd if=/dev/zero of=big bs=1M count=64 status=none");
    plan.limits.file = 1 << 20;
    let ran = place.run_plan(plan);
    assert_eq!(ran.run.status(), 128 + libc::SIGXFSZ);
}

const BOMB: &str = "exec python3 -c '
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.05)'";

#[test]
fn a_fork_bomb_stays_small_and_ends() {
    if !as_user("limits::a_fork_bomb_stays_small_and_ends") {
        return;
    }
    let place = Place::new();
    let mut plan = place.plan(BOMB);
    plan.limits.processes = 48;
    plan.limits.time = Duration::from_secs(2);
    let during = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let looks = (0..15).map(|_| {
                std::thread::sleep(Duration::from_millis(100));
                processes(&place)
            });
            looks.max().unwrap_or_default()
        });
        let ran = place.run_plan(plan);
        assert!(ran.run.status() != 0);
        watcher.join().unwrap()
    });
    assert!((10..=48).contains(&during), "{during} during");
    assert_eq!(processes(&place), 0, "nothing is left");
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    if !as_user("limits::what_a_command_leaves_running_ends_with_it") {
        return;
    }
    let place = Place::new();
    let ran =
        place.run("setsid nohup sh -c 'trap \"\" TERM HUP; sleep 1; echo late > late' >/dev/null 2>&1 & echo started");
    assert_eq!(ran.out, "started\n");
    assert_eq!(processes(&place), 0, "nothing runs when the run has returned");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(ran.run.deeds().unwrap().is_empty());
}

#[test]
fn the_caller_can_stop_a_run() {
    if !as_user("limits::the_caller_can_stop_a_run") {
        return;
    }
    let place = Place::new();
    let (stop, caller) = rustix::pipe::pipe().unwrap();
    let mut plan = place.plan("sleep 60");
    plan.stop = Some(stop);
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(caller);
    });
    let began = Instant::now();
    assert_eq!(place.run_plan(plan).run.spoiled(), Some(Spoiled::Stopped));
    assert!(began.elapsed() < Duration::from_secs(20));
    stopper.join().unwrap();
}
