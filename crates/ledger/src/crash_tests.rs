//! Every boundary at which the process can die, the power can go or the system can refuse.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sim::{Failure, Plan, Sim, Survives};
use crate::{AlertBody, Anchors, Fault, Log, LogError, Receipt};

const SURVIVES: [Survives; 3] = [Survives::Nothing, Survives::Everything, Survives::Some];

/// No two bodies are alike, so a record that was lost and written again is not taken for the old one.
fn body(number: u64) -> AlertBody {
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
    // Some bodies are longer than a sector, so that a write can be torn inside.
    let text = "x".repeat(if number.is_multiple_of(3) { 1300 } else { 200 });
    AlertBody { name: format!("alert {unique}"), text, ..AlertBody::default() }
}

fn log(sim: &Sim) -> Log<Sim> {
    Log::on(sim.clone()).with_segment_bytes(1500)
}

/// Appends until something fails; what was acknowledged is remembered.
fn work(sim: &Sim, count: u64, acknowledged: &mut Vec<Receipt>) -> Result<(), LogError> {
    let mut log = log(sim);
    log.begin()?;
    for number in 0..count {
        acknowledged.push(log.append(&body(number), number)?);
    }
    Ok(())
}

/// INVARIANT: what was acknowledged is there, in order, and the chain holds but for an end that nobody has mended yet.
fn check(sim: &Sim, acknowledged: &[Receipt], about: &str) {
    let log = log(sim);
    let records: Vec<_> = match log.records() {
        Ok(records) => records.filter_map(Result::ok).collect(),
        Err(LogError::Missing { .. }) if acknowledged.is_empty() => return,
        Err(error) => panic!("{about}: {error}"),
    };
    for receipt in acknowledged {
        let found = records.iter().find(|record| record.header.sequence == receipt.sequence);
        assert_eq!(found.map(|record| record.hash), Some(receipt.hash), "{about}: {receipt:?}");
    }
    let report = log.verify(Anchors::default(), |_| {}).unwrap();
    for finding in &report.findings {
        assert!(matches!(finding.fault, Fault::Torn { .. }), "{about}: {finding}");
    }
    for (_, gap) in &report.gaps {
        assert_eq!(gap.records_at_most, Some(1), "{about}: {gap:?}");
    }
}

/// After any misfortune the log goes on, and then nothing at all is wrong with it.
fn goes_on(sim: &Sim, acknowledged: &mut Vec<Receipt>, about: &str) {
    sim.restart(Plan::Calm);
    check(sim, acknowledged, about);
    work(sim, 4, acknowledged).unwrap_or_else(|error| panic!("{about}: {error}"));
    sim.power_cut(Survives::Nothing);
    check(sim, acknowledged, about);
    let report = log(sim).verify(Anchors::default(), |_| {}).unwrap();
    assert!(report.holds(), "{about}: {:?}", report.findings);
    let increasing = acknowledged.windows(2).all(|pair| pair[0].sequence < pair[1].sequence);
    assert!(increasing, "{about}");
}

fn operations_of(count: u64) -> u64 {
    let sim = Sim::new(0);
    work(&sim, count, &mut Vec::new()).unwrap();
    sim.count()
}

#[test]
fn a_power_cut_at_any_boundary_loses_nothing_acknowledged() {
    for at in 1..=operations_of(14) {
        for seed in 0..12 {
            let survives = SURVIVES[seed as usize % 3];
            let about = format!("power cut at operation {at}, seed {seed}, {survives:?}");
            let sim = Sim::new(seed);
            let mut acknowledged = Vec::new();
            sim.restart(Plan::DieAt(at));
            let _died = work(&sim, 14, &mut acknowledged);
            sim.power_cut(survives);
            goes_on(&sim, &mut acknowledged, &about);
        }
    }
}

#[test]
fn a_second_power_cut_while_mending_loses_nothing_acknowledged() {
    for at in 1..=operations_of(5) {
        for again in 1..40 {
            let about = format!("power cuts at {at} and {again}");
            let sim = Sim::new(at * 1000 + again);
            let mut acknowledged = Vec::new();
            for stop in [at, again] {
                sim.restart(Plan::DieAt(stop));
                let _died = work(&sim, 5, &mut acknowledged);
                sim.power_cut(Survives::Some);
            }
            goes_on(&sim, &mut acknowledged, &about);
        }
    }
}

#[test]
fn any_series_of_dying_writers_and_power_cuts_loses_nothing_acknowledged() {
    series(0..500);
}

#[test]
#[ignore = "minutes; run with --release"]
fn a_hundred_thousand_series_of_dying_writers_and_power_cuts_lose_nothing_acknowledged() {
    for start in (1_000..101_000).step_by(10_000) {
        series(start..start + 10_000);
        eprintln!("{} series", start + 9_000);
    }
}

fn series(seeds: Range<u64>) {
    for seed in seeds {
        let sim = Sim::new(seed);
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut acknowledged = Vec::new();
        let mut story = format!("seed {seed}");
        for _ in 0..12 {
            let stop = rng.u64(1..60);
            sim.restart(Plan::DieAt(stop));
            let _died = work(&sim, 20, &mut acknowledged);
            story = format!("{story}, died at {stop}");
            if rng.u8(..3) == 0 {
                let survives = SURVIVES[rng.usize(..3)];
                sim.power_cut(survives);
                story = format!("{story}, power cut ({survives:?})");
            }
        }
        goes_on(&sim, &mut acknowledged, &story);
    }
}

#[test]
fn a_refusal_at_any_operation_ends_in_an_error_or_in_a_durable_record() {
    const ENOSPC: i32 = 28;
    const EIO: i32 = 5;
    const EROFS: i32 = 30;
    const EMFILE: i32 = 24;
    let failures = [
        Failure::Errno(ENOSPC),
        Failure::Errno(EIO),
        Failure::Errno(EROFS),
        Failure::Errno(EMFILE),
        Failure::Short,
        Failure::HalfThen(ENOSPC),
        Failure::HalfThen(EIO),
    ];
    let mut cases = 0;
    for at in 1..=operations_of(14) {
        for failure in failures {
            for plan in [Plan::FailAt(at, failure), Plan::FailFrom(at, failure)] {
                for survives in SURVIVES {
                    cases += 1;
                    let about = format!("{plan:?}, {survives:?}");
                    let sim = Sim::new(at);
                    let mut acknowledged = Vec::new();
                    sim.restart(plan);
                    // The writer goes on after each error, as many processes would.
                    for _ in 0..3 {
                        let _result = work(&sim, 5, &mut acknowledged);
                    }
                    sim.power_cut(survives);
                    goes_on(&sim, &mut acknowledged, &about);
                }
            }
        }
    }
    eprintln!("{cases} refusals, none acknowledged without a durable record");
}

#[test]
fn a_lasting_refusal_is_said_in_words_and_never_acknowledged() {
    let check = |code: i32, full: bool| {
        let sim = Sim::new(1);
        work(&sim, 3, &mut Vec::new()).unwrap();
        sim.restart(Plan::FailFrom(3, Failure::Errno(code)));
        let error = log(&sim).append(&body(1), 1).unwrap_err();
        assert_eq!(error.is_full(), full, "{error}");
        assert!(error.to_string().starts_with("cannot "), "{error}");
    };
    check(28, true);
    check(30, false);
    check(5, false);
}

#[test]
fn a_current_segment_that_was_taken_away_is_a_gap_nobody_can_measure() {
    let sim = Sim::new(1);
    let mut acknowledged = Vec::new();
    work(&sim, 6, &mut acknowledged).unwrap();
    crate::Storage::remove(&sim, "current.log").unwrap();
    let _receipt = log(&sim).append(&body(0), 9).unwrap();
    let report = log(&sim).verify(Anchors::default(), |_| {}).unwrap();
    assert_eq!(report.gaps.len(), 1);
    assert!(matches!(report.findings[0].fault, Fault::Lost { at_most: None, .. }));
}
