//! Chains of calls on a real disk: whatever the hook approves is performed in a box, and the disk must be none the worse for it.
//!
//! `cargo test -p doorward --test it chains -- --ignored --nocapture long_run` plays 20,000 chains. `DOORWARD_CHAINS` says how many,
//! `DOORWARD_CHAINS_SEED` which, `DOORWARD_CHAINS_JOBS` how many boxes at once, `DOORWARD_BINARY` tests another program, and
//! `DOORWARD_CHAINS_REPLAY='["git status", …]'` with `replay` plays one chain and tells each answer.

mod benign;
mod chance;
mod disguise;
mod generator;
mod grammar;
mod inside;
mod player;
mod report;
mod rig;
mod tools;
mod watch;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use report::Report;
use rig::Rig;
use serde_json::json;

/// Chains that one box plays with what it has learnt: in the long run, and in the short one.
const BOUT: u64 = 250;
const SHORT: u64 = 60;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap())
}

/// Plays chains in several boxes at once. Which chains those are follows from the seed alone.
fn fuzz(rig: &Rig, count: u64, seed: u64, bout: u64) -> Report {
    let jobs = number("DOORWARD_CHAINS_JOBS", 2);
    let (report, next, begin) = (Mutex::new(Report::default()), AtomicU64::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    let left = count.saturating_sub(turn * bout);
                    if left == 0 {
                        return;
                    }
                    let order = json!({ "what": "fuzz", "seed": seed * 1_000_003 + turn, "count": left.min(bout) });
                    let done = rig.run(&order);
                    let mut report = report.lock().unwrap();
                    for violation in report.add(&done) {
                        eprintln!("new: {violation}");
                    }
                    let rate = report.chains as f64 / begin.elapsed().as_secs_f64();
                    eprintln!("{} chains, {rate:.1} per second, {} violations", report.chains, report.violations.len());
                }
            });
        }
    });
    report.into_inner().unwrap()
}

#[test]
fn no_chain_of_approved_calls_does_harm() {
    let Some(rig) = Rig::new("no chain of calls was performed") else { return };
    let report = fuzz(&rig, 4 * SHORT, 22, SHORT);
    eprintln!("{}", report.text());
    assert!(report.approved > 250, "too little was approved to say anything: {}", report.approved);
    assert!(report.violations.is_empty(), "{}", report.text());
}

#[test]
fn ordinary_work_with_git_stays_silent() {
    let Some(rig) = Rig::new("no ordinary work was performed") else { return };
    let play = |half: u64| rig.run(&json!({ "what": "benign", "half": half }));
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| play(0));
        (play(1), first.join().unwrap())
    });
    let situations = first["situations"].as_u64().unwrap() + second["situations"].as_u64().unwrap();
    let all = |name: &str| -> Vec<String> {
        let lists = [&first, &second].map(|report| report[name].as_array().unwrap().iter().map(ToString::to_string));
        lists.into_iter().flatten().collect()
    };
    let (asked, harm) = (all("asked"), all("harm"));
    eprintln!("{} of {situations} ordinary situations ask:\n{}", asked.len(), asked.join("\n"));
    assert!(harm.is_empty(), "ordinary work does harm:\n{}", harm.join("\n"));
    assert!(situations >= 200, "{situations}");
    assert!(asked.len() as u64 * 50 <= situations, "{} of {situations} ask:\n{}", asked.len(), asked.join("\n"));
}

#[test]
#[ignore = "takes half an hour"]
fn long_run() {
    let Some(rig) = Rig::new("no chain of calls was performed") else { return };
    let count = number("DOORWARD_CHAINS", 20_000);
    let report = fuzz(&rig, count, number("DOORWARD_CHAINS_SEED", 1), BOUT);
    eprintln!("{}", report.text());
    if count >= 20_000 {
        let rare = |verb: &&String| report.verbs.get(*verb).is_none_or(|(proposed, _)| *proposed < 100);
        let grammar = grammar::Grammar::load("");
        let rare: Vec<&String> = grammar.verbs.iter().filter(rare).collect();
        assert!(rare.is_empty(), "proposed less than 100 times: {rare:?}");
    }
    assert!(report.violations.is_empty(), "{} violations", report.violations.len());
}

#[test]
#[ignore = "plays the chain in DOORWARD_CHAINS_REPLAY"]
fn replay() {
    let Ok(chain) = std::env::var("DOORWARD_CHAINS_REPLAY") else { return };
    let chain: serde_json::Value = serde_json::from_str(&chain).unwrap();
    let Some(rig) = Rig::new("the chain was not played") else { return };
    eprintln!("{:#}", rig.run(&json!({ "what": "replay", "chain": chain })));
}

/// The first process of a box; outside one it has nothing to do.
#[test]
#[ignore = "runs in the box"]
fn the_box() {
    if let Ok(order) = std::env::var(inside::ORDER) {
        inside::obey(&order);
    }
}
