//! Many edges at once: how much the hub stores in a second, and that all of it is there, once, in order.
//!
//! The long form: `cargo nextest run -p doorward-hub --run-ignored only -E 'test(fifty_edges)' --no-capture`.

use std::time::Instant;

use crate::support::{Edge, Memory, Postgres, RunningHub};

#[test]
fn a_few_edges_at_once_lose_nothing() {
    run(6, 1500);
}

#[test]
#[ignore = "stores a million records"]
fn fifty_edges_with_twenty_thousand_records_each() {
    run(50, 20_000);
}

fn run(edges: usize, records: u64) {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let mut all: Vec<Edge<Memory>> = (0..edges).map(|_| Edge::in_memory(&hub)).collect();
    for edge in &mut all {
        edge.append(1..=records);
    }
    let started = Instant::now();
    std::thread::scope(|scope| {
        for edge in &mut all {
            scope.spawn(|| {
                let shipped = loop {
                    match edge.ship() {
                        Ok(shipped) => break shipped,
                        Err(failure) => assert!(failure.is_passing(), "{failure}"),
                    }
                };
                assert_eq!(shipped.head.sequence, records);
            });
        }
    });
    let took = started.elapsed();
    let count = records * edges as u64;
    eprintln!(
        "{edges} edges, {count} records in {:.1} s: {:.0} records/s",
        took.as_secs_f64(),
        count as f64 / took.as_secs_f64()
    );
    assert_eq!(postgres.count("select count(*) from record"), count);
    assert_eq!(postgres.count("select sum(decisions) from tally"), count);
    for edge in &all {
        let stored = postgres.sql(&format!(
            "select sequence || '|' || encode(hash, 'hex') from record where edge = {} order by sequence",
            edge.welcome.edge
        ));
        assert!(stored == edge.hashes(), "edge {}", edge.welcome.edge);
    }
}
