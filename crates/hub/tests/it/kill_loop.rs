//! Edges, hub and PostgreSQL are killed again and again while records are written and sent: none is lost, none is stored twice.
//!
//! The long form: `cargo nextest run -p doorward-hub --run-ignored only -E 'test(three_hundred_kills)' --no-capture`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use doorward_ledger::{Log, SigningKey};
use doorward_team::{Hub, Transport, Welcome, ship};

use crate::support::{Edge, Postgres, RunningHub, decision, key, now_ms};

const DIR: &str = "DOORWARD_TEST_EDGE";
const EDGES: usize = 4;

#[test]
fn a_few_kills_lose_nothing() {
    kills(12);
}

#[test]
#[ignore = "300 kills take minutes"]
fn three_hundred_kills_lose_nothing() {
    kills(300);
}

/// What an edge's process needs to go on after it was killed.
#[derive(serde::Serialize, serde::Deserialize)]
struct Place {
    url: String,
    welcome: Welcome,
}

fn hub_of(dir: &Path) -> (Hub, SigningKey) {
    let place: Place = serde_json::from_slice(&std::fs::read(dir.join("place")).unwrap()).unwrap();
    let transport = Transport::new(&place.url, None).unwrap();
    (Hub::new(transport, place.welcome.edge, key(dir, "edge.key"), place.welcome.hub), key(dir, "checkpoint.key"))
}

/// Not a test: the process of an edge, which writes and ships until it is killed or told to stop.
#[test]
#[ignore = "started by the others"]
fn an_edge() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let (hub, checkpoint) = hub_of(&dir);
    let mut log = Log::open(&dir.join("log")).unwrap().with_segment_bytes(30_000);
    let mut chance = fastrand::Rng::new();
    while !dir.join("stop").exists() {
        for _ in 0..chance.u32(1..20) {
            let receipt = log.append(&decision(chance.u64(..1000)), now_ms()).unwrap();
            // What was acknowledged is noted outside the log, so that the test knows what must not be lost.
            std::fs::write(dir.join("acknowledged"), format!("{} {}", receipt.sequence, receipt.hash)).unwrap();
        }
        if let Err(failure) = ship(&log, &checkpoint, &hub, |_head| {}) {
            assert!(failure.is_passing(), "{failure}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

fn spawn(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill_loop::an_edge", "--ignored", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn kills(rounds: u32) {
    let mut postgres = Postgres::start();
    let mut hub = RunningHub::start(&postgres);
    let edges: Vec<Edge> = (0..EDGES).map(|_| Edge::enrolled(&hub)).collect();
    let mut running: Vec<Child> = Vec::new();
    for edge in &edges {
        let place = Place { url: hub.url(), welcome: edge.welcome.clone() };
        std::fs::write(edge.keys.path().join("place"), serde_json::to_vec(&place).unwrap()).unwrap();
        running.push(spawn(edge.keys.path()));
    }
    let mut chance = fastrand::Rng::new();
    let mut killed = [0; 3];
    for _ in 0..rounds {
        std::thread::sleep(Duration::from_millis(chance.u64(20..400)));
        let victim = chance.usize(..3);
        killed[victim] += 1;
        match victim {
            0 => {
                postgres.kill();
                postgres.run();
            }
            1 => {
                hub.kill();
                hub.run();
            }
            _ => {
                let which = chance.usize(..EDGES);
                // One that ended by itself failed an assertion of its own.
                assert!(running[which].try_wait().unwrap().is_none(), "edge {which} ended by itself");
                running[which].kill().unwrap();
                running[which].wait().unwrap();
                running[which] = spawn(edges[which].keys.path());
            }
        }
    }
    for (edge, process) in edges.iter().zip(&mut running) {
        std::fs::write(edge.keys.path().join("stop"), "").unwrap();
        assert!(process.wait().unwrap().success());
        edge.ship().unwrap();
    }
    let mut records = 0;
    for edge in &edges {
        let acknowledged = std::fs::read_to_string(edge.keys.path().join("acknowledged")).unwrap();
        let here = edge.hashes();
        assert!(here.contains(&acknowledged.replace(' ', "|")), "the log lost what it acknowledged");
        let stored = postgres.sql(&format!(
            "select sequence || '|' || encode(hash, 'hex') from record where edge = {} order by sequence",
            edge.welcome.edge
        ));
        assert!(stored == here, "edge {}", edge.welcome.edge);
        records += here.lines().count();
    }
    assert_eq!(postgres.sql("select count(*) from alert where name <> 'silent'"), "0");
    let [databases, hubs, machines] = killed;
    eprintln!(
        "{records} records; killed: PostgreSQL {databases} times, hub {hubs}, edges {machines}: 0 lost, 0 doubled"
    );
}
