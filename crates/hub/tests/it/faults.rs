//! What goes wrong around the hub: each ends in a clear sentence, and nothing is lost.

use doorward_ledger::{Keep, Kind};
use doorward_team::{Failure, NONCE, Request, SIGNATURE, ShipFailure, TIME};

use crate::support::{Edge, Postgres, RunningHub};

#[test]
fn a_full_disk_is_said_and_nothing_is_lost_once_there_is_room() {
    let postgres = Postgres::on_a_small_disk(40);
    let hub = RunningHub::start(&postgres);
    let ballast = format!("{}/disk/ballast", postgres.directory());
    postgres.sql(&format!("copy (select repeat('x', 1000) from generate_series(1, 30000)) to '{ballast}'"));
    let mut edge = Edge::in_memory(&hub);
    edge.append(1..=16_000);
    let failed = edge.ship().unwrap_err();
    assert!(failed.is_passing(), "{failed}");
    assert!(failed.to_string().contains("disk is full"), "{failed}");
    let before = postgres.count("select count(*) from record");
    assert_eq!(before, postgres.count("select head_sequence from edge"));
    postgres.sql(&format!("copy (select 1) to program 'rm {ballast}'"));
    assert_eq!(edge.ship().unwrap().head.sequence, 16_000);
    assert_eq!(postgres.sql("select count(*), max(sequence) from record"), "16000|16000");
}

#[test]
fn a_missing_partition_is_made_and_a_month_that_is_old_leaves_with_what_must_stay_kept() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let tables = postgres.sql("select string_agg('drop table ' || inhrelid::regclass, ';') from pg_inherits where inhparent = 'record'::regclass");
    postgres.sql(&tables);
    let mut edge = Edge::enrolled(&hub);
    edge.append(1..=405);
    edge.answer(3);
    edge.ship().unwrap();
    assert_eq!(postgres.count("select count(*) from record"), 406);

    // Half a year later.
    postgres.sql("create table record_202601 partition of record for values from (202601) to (202602); update record set month = 202601");
    let key = edge.checkpoint_key();
    let repeated = edge.log.shipment(0, 20_000, (&key, 1)).unwrap().unwrap();
    assert!(!hub.say(&["retain", "--days", "30"]).status.success());
    let said = hub.say(&["retain"]);
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "1 months dropped: 402 records gone, 4 kept");
    // Blocks, what a person overruled, and the person's answer.
    assert_eq!(
        postgres.sql("select string_agg(sequence::text, ' ' order by sequence) from every_record"),
        "3 200 400 406"
    );
    let runs = postgres.sql("select first || '-' || last from dropped order by first");
    assert_eq!(runs, "1-2\n4-199\n201-399\n401-405");
    edge.hub().post("/v1/shipments", &repeated.bytes).unwrap();
    edge.append(501..=510);
    edge.ship().unwrap();
    assert_eq!(postgres.sql("select count(*), max(sequence) from every_record"), "14|416");
}

#[test]
fn clocks_that_are_wrong_change_no_order_and_raise_an_alert() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let mut edge = Edge::enrolled(&hub);
    for time_ms in [u64::MAX, 0, 1 << 50, 5, u64::MAX] {
        let json = serde_json::to_vec(&crate::support::decision(7)).unwrap();
        let _receipt = edge.log.append_json(Kind::Decision, Keep::Days, json, time_ms).unwrap();
    }
    edge.ship().unwrap();
    let stored = postgres.sql("select sequence || '|' || encode(hash, 'hex') from record order by sequence");
    assert_eq!(stored, edge.hashes());
    let span = postgres.count("select max(day) - min(day) from tally");
    assert!(span <= 402, "{span}");
    // A request whose own clock is two hours off is answered all the same, and an old one that is sent again is no sign of life.
    let key = crate::support::key(edge.keys.path(), "edge.key");
    let time_ms = crate::support::now_ms() + 2 * 60 * 60 * 1000;
    let asked = Request { method: "GET", path: "/v1/edge", edge: &edge.welcome.edge, time_ms, nonce: "ab", body: b"" };
    for seen in ["f", "t"] {
        let answer = ureq::get(format!("{}/v1/edge", hub.url()))
            .header("doorward-edge", &edge.welcome.edge)
            .header(TIME, time_ms.to_string())
            .header(NONCE, "ab")
            .header(SIGNATURE, asked.signature(&key).unwrap())
            .call();
        assert_eq!(answer.unwrap().status(), 200);
        assert_eq!(postgres.sql("select seen_ms = 7 from edge"), seen);
        postgres.sql("update edge set seen_ms = 7");
    }
    assert_eq!(postgres.sql("select name, left(detail, 12) from alert"), "clock|its clock is");
}

#[test]
fn words_of_any_length_and_kind_keep_nothing_from_arriving() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let mut edge = Edge::enrolled(&hub);
    let mut chance = fastrand::Rng::with_seed(7);
    // Random, because PostgreSQL would press a repeated letter into nothing.
    let long: String = (0..40_000).map(|_| chance.alphanumeric()).collect();
    for word in [long.as_str(), "a\0b", "", "\u{202e}\u{1f600}'\"\\;--"] {
        let body = doorward_ledger::DecisionBody {
            id: word.into(),
            agent: Some(word.to_owned()),
            session: Some(word.into()),
            project: Some(word.to_owned()),
            user: Some(word.to_owned()),
            category: Some(word.to_owned()),
            violation: Some(word.to_owned()),
            tool: word.to_owned(),
            call: word.to_owned(),
            ..doorward_ledger::DecisionBody::default()
        };
        let _receipt = edge.log.append(&body, 1).unwrap();
        let answer = doorward_ledger::AnswerBody {
            decision: word.into(),
            reply: doorward_ledger::Reply::Approved,
            by: doorward_ledger::By::Person,
            why: None,
        };
        let _receipt = edge.log.append(&answer, 1).unwrap();
        edge.ship().unwrap();
        // The same answer again, to a decision that arrived before.
        let _receipt = edge.log.append(&answer, 1).unwrap();
        edge.ship().unwrap();
    }
    let stored = postgres.sql("select sequence || '|' || encode(hash, 'hex') from record order by sequence");
    assert_eq!(stored, edge.hashes());
}

#[test]
fn a_hub_or_a_database_that_is_away_is_waited_for() {
    let mut postgres = Postgres::start();
    let mut hub = RunningHub::start(&postgres);
    let mut edge = Edge::enrolled(&hub);
    edge.append(1..=10);
    postgres.kill();
    let failed = edge.ship().unwrap_err();
    assert!(failed.is_passing() && matches!(failed, ShipFailure::Hub(Failure::Busy(_))), "{failed}");
    hub.kill();
    let failed = edge.ship().unwrap_err();
    assert!(failed.is_passing() && matches!(failed, ShipFailure::Hub(Failure::Unreachable { .. })), "{failed}");
    postgres.run();
    hub.run();
    assert_eq!(edge.ship().unwrap().records, 10);
}

#[test]
fn a_schema_of_another_version_is_not_touched() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    assert!(hub.say(&["token"]).status.success());
    for (change, want) in [
        ("update migration set hash = 'x' where number = 1", "was it edited?"),
        ("insert into migration values (2000, '2000_future', 'x')", "install a newer doorward-hub"),
    ] {
        postgres.sql("create table if not exists saved as select * from migration");
        postgres.sql(change);
        let said = hub.say(&["serve", "--listen", "127.0.0.1:0"]);
        assert!(!said.status.success());
        assert!(String::from_utf8_lossy(&said.stderr).contains(want), "{}", String::from_utf8_lossy(&said.stderr));
        postgres.sql("delete from migration; insert into migration select * from saved");
    }
}
