//! What people see of the fleet, by role, and that looking leaves a trace.
//!
//! How it grows: `cargo nextest run -p doorward-hub --run-ignored only -E 'test(grows)' --no-capture`.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Edge, Postgres, RunningHub, now_ms};

struct Reader<'a> {
    hub: &'a RunningHub,
    secret: String,
}

impl<'a> Reader<'a> {
    fn new(hub: &'a RunningHub, name: &str, role: &str) -> Self {
        let output = hub.say(&["person", name, "--role", role]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { hub, secret: String::from_utf8(output.stdout).unwrap().trim().to_owned() }
    }

    fn get(&self, path: &str) -> (u16, String) {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let request = config.new_agent().get(format!("{}{path}", self.hub.url()));
        let mut response = request.header("authorization", format!("Bearer {}", self.secret)).call().unwrap();
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    }

    fn rows(&self, path: &str) -> Vec<Value> {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}

#[test]
fn each_role_sees_what_it_needs_and_every_look_at_people_is_written_down() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let mut edge = Edge::enrolled(&hub);
    edge.append(1..=205);
    edge.answer(3);
    edge.ship().unwrap();
    let [viewer, reviewer, owner, auditor] =
        ["viewer", "reviewer", "policy-owner", "auditor"].map(|role| Reader::new(&hub, role, role));
    let agents = viewer.rows("/api/metrics?by=agent");
    assert_eq!((agents.len(), agents[0]["decisions"].as_u64()), (3, Some(69)));
    let team = &viewer.rows("/api/metrics?by=team")[0];
    let figure = |name: &str| team[name].as_u64().unwrap();
    assert_eq!((figure("decisions"), figure("asked"), figure("blocked"), figure("overridden")), (205, 10, 1, 1));
    assert_eq!(viewer.rows("/api/edges")[0]["records"], 206);
    assert_eq!(
        viewer
            .get("/metrics")
            .1
            .lines()
            .filter(|line| *line == "doorward_hub_decisions_total{verdict=\"block\"} 1")
            .count(),
        1
    );
    for path in ["/api/metrics?by=user", "/api/records", "/api/records/1/200", "/api/looks"] {
        assert_eq!(viewer.get(path).0, 403, "{path}");
    }
    let stranger = Reader { hub: &hub, secret: "0".repeat(64) };
    for path in ["/api/metrics?by=agent", "/api/records", "/metrics", "/api/edges"] {
        assert_eq!(stranger.get(path).0, 401, "{path}");
    }
    assert_eq!(reviewer.get("/api/looks").0, 403);
    assert_eq!(postgres.count("select count(*) from look"), 0);

    let blocked = reviewer.rows("/api/records?verdict=block");
    assert_eq!(
        (blocked.len(), blocked[0]["sequence"].as_u64(), blocked[0]["user_name"].as_str()),
        (1, Some(200), Some("ada"))
    );
    assert_eq!(reviewer.rows("/api/records?text=CASE_20&limit=3").len(), 3);
    assert_eq!(reviewer.rows("/api/records?text=%27%3B+drop+table+record%3B--").len(), 0);
    assert_eq!(reviewer.rows("/api/records?user=eve").len(), 0);
    assert_eq!(reviewer.get("/api/records?unheard=of").0, 400);
    let one: Value = serde_json::from_str(&owner.get("/api/records/1/200").1).unwrap();
    assert!(one["body"].as_str().unwrap().contains("case_200"));
    assert_eq!(owner.rows("/api/metrics?by=user")[0]["name"], "ada");
    let looks = auditor.rows("/api/looks");
    let seen: Vec<(&str, u64)> =
        looks.iter().map(|look| (look["person"].as_str().unwrap(), look["rows"].as_u64().unwrap())).collect();
    assert_eq!(
        seen,
        [("policy-owner", 1), ("policy-owner", 1), ("reviewer", 0), ("reviewer", 0), ("reviewer", 3), ("reviewer", 1)]
    );
    // A secret that was taken back opens nothing.
    postgres.sql("update person set revoked_ms = 1 where name = 'auditor'");
    assert_eq!(auditor.get("/api/looks").0, 401);
}

/// Rows as they would have arrived over the last month, from a hundred machines.
fn fill(postgres: &Postgres, from: u64, to: u64) {
    let now = now_ms();
    postgres.sql(&format!(
        "insert into record select 1 + n % 100, n, (select replace(max(inhrelid::regclass::text), 'record_', '')::int from pg_inherits \
         where inhparent = 'record'::regclass), {now}, {now} - (n * 7919 % 2592000) * 1000, 1, n % 200 = 0, sha256(n::text::bytea), \
         sha256(n::text::bytea), 600, convert_to(repeat('x', 600), 'UTF8'), 'd-' || n, null, 'claude', 's-' || n / 400, \
         '/home/ada/project-' || n % 50, 'user-' || n % 100, 'bash', case n % 200 when 0 then 'block' when 1 then 'confirm' else 'approve' end, \
         'rule-' || n % 30, 'execute', 'p', null, null, 'cargo test --workspace -- case_' || n, 13 from generate_series({from}, {to}) n"
    ));
    postgres.sql("insert into edge (id, name, user_name, version, key, checkpoint_key, enrolled_ms, seen_ms) overriding system value \
         select n, 'edge-' || n, 'user-' || n, '1', 'k' || n, 'c' || n, 0, 0 from generate_series(1, 100) n on conflict do nothing");
    postgres.sql("truncate tally; insert into tally select (time_ms / 86400000)::int, edge, agent, project, user_name, category, verdict, count(*), 0, sum(latency_us) \
         from record group by 1, 2, 3, 4, 5, 6, 7; vacuum analyze");
}

#[test]
#[ignore = "fills five million rows"]
fn pages_stay_quick_while_the_ledger_grows() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let auditor = Reader::new(&hub, "auditor", "auditor");
    let since = now_ms() - 7 * 24 * 3_600_000;
    let mut had = 0;
    for millions in [1_u64, 5] {
        let started = Instant::now();
        fill(&postgres, had + 1, millions * 1_000_000);
        eprintln!(
            "{} rows in {:.0} s, {}",
            postgres.count("select count(*) from record"),
            started.elapsed().as_secs_f64(),
            postgres.sql("select pg_size_pretty(pg_database_size('postgres'))")
        );
        had = millions * 1_000_000;
        for path in [
            "/api/metrics?by=team".to_owned(),
            "/api/metrics?by=user".to_owned(),
            "/api/records?verdict=block".to_owned(),
            format!("/api/records?since_ms={since}"),
            "/api/records?user=user-7&verdict=confirm".to_owned(),
            "/api/edges".to_owned(),
        ] {
            let mut times: Vec<Duration> = (0..30)
                .map(|_| {
                    let started = Instant::now();
                    assert_eq!(auditor.get(&path).0, 200);
                    started.elapsed()
                })
                .collect();
            times.sort();
            eprintln!(
                "{millions} million, {path}: p50 {:.1} ms, p95 {:.1} ms",
                times[15].as_secs_f64() * 1e3,
                times[28].as_secs_f64() * 1e3
            );
        }
        let plan = postgres.sql("explain (costs off) select * from every_record where kind = 1 and verdict = 'block' order by time_ms desc limit 100");
        eprintln!("{plan}");
    }
}
