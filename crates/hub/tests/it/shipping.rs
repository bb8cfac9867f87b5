//! A log reaches the hub whole, once and in order, and what is not as it should be does not.

use doorward_team::{Failure, ShipFailure};

use crate::support::{Edge, Postgres, RunningHub};

fn stored(postgres: &Postgres, edge: &str) -> String {
    postgres.sql(&format!(
        "select sequence || '|' || encode(hash, 'hex') from every_record where edge = {edge} order by sequence"
    ))
}

#[test]
fn records_arrive_and_answers_are_counted_with_what_they_answer() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let mut edge = Edge::enrolled(&hub);
    let number = edge.welcome.edge.clone();
    edge.append(1..=250);
    assert_eq!(edge.ship().unwrap().records, 250);
    assert_eq!(edge.ship().unwrap().records, 0);
    assert_eq!(stored(&postgres, &number), edge.hashes());
    edge.append(251..=405);
    edge.answer(401);
    // The answer to a decision that arrived long before.
    edge.answer(3);
    edge.ship().unwrap();
    assert_eq!(stored(&postgres, &number), edge.hashes());
    assert_eq!(postgres.sql("select sum(decisions), sum(overridden) from tally"), "405|2");
    assert_eq!(
        postgres.sql("select verdict, sum(decisions) from tally group by 1 order by 1"),
        "approve|388\nblock|2\nconfirm|15"
    );
    assert_eq!(
        postgres.sql("select decision, rule from override_seen order by 1"),
        "d-0000000000000003|push\nd-0000000000000191|push"
    );
    let row = postgres.sql("select user_name, agent, project, verdict, rule, category, call, convert_from(body, 'UTF8')::json->>'tool' from record where sequence = 200");
    assert_eq!(row, "ada|gemini|/home/ada/project-4|block|bulk-delete|execute|cargo test --workspace -- case_200|bash");

    // The same again, from an older state of the edge: nothing is stored twice.
    let key = edge.checkpoint_key();
    let again = edge.log.shipment(0, 20_000, (&key, 1)).unwrap().unwrap();
    edge.hub().post("/v1/shipments", &again.bytes).unwrap();
    assert_eq!(stored(&postgres, &number), edge.hashes());

    // Restored from an older backup, the hub is given again what it lost.
    postgres.sql("create table old as select * from edge");
    let before = edge.hashes();
    edge.append(406..=420);
    edge.ship().unwrap();
    postgres.sql(
        "delete from record where sequence > (select head_sequence from old); update edge set held = old.held, \
         head_sequence = old.head_sequence, head_hash = old.head_hash from old where edge.id = old.id",
    );
    assert_eq!(stored(&postgres, &number), before);
    assert_eq!(edge.ship().unwrap().records, 15);
    assert_eq!(stored(&postgres, &number), edge.hashes());
}

#[test]
fn what_is_forged_cut_off_or_out_of_order_is_refused_with_a_reason_and_an_alert() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let (mut edge, other) = (Edge::enrolled(&hub), Edge::enrolled(&hub));
    edge.append(1..=120);
    let key = edge.checkpoint_key();
    let pieces: Vec<Vec<u8>> = [0, 40, 80]
        .into_iter()
        .map(|after| edge.log.shipment(after, 35_000, (&key, 1)).unwrap().unwrap().bytes)
        .collect();
    let send = |bytes: &[u8]| match edge.hub().post("/v1/shipments", bytes) {
        Err(Failure::Refused(said)) => (said.code, said.sequence, said.error),
        other => panic!("{other:?}"),
    };
    let (code, sequence, _) = send(&pieces[1]);
    assert_eq!((code.as_str(), sequence), ("ahead", Some(1)));
    let (code, _, error) = send(&pieces[0][..pieces[0].len() / 2]);
    assert_eq!(
        (code.as_str(), error.contains("cut off") || error.contains("can't be read")),
        ("forged", true),
        "{error}"
    );
    let mut changed = pieces[0].clone();
    let at = changed.windows(6).position(|window| window == b"case_7").unwrap();
    changed[at + 5] = b'8';
    let (code, _, error) = send(&changed);
    assert!(code == "forged" && error.contains("checksum"), "{error}");
    // The checksum is nobody's secret: whoever changes a record can mend it, and the chain still shows it.
    let (code, _, error) = send(&with_checksum(&changed, at));
    assert!(code == "forged" && error == "the content of record 7 was changed", "{error}");
    // Another edge's records, signed by another edge's key.
    let stolen = other.hub().post("/v1/shipments", &pieces[0]);
    assert!(matches!(stolen, Err(Failure::Refused(said)) if said.code == "forged"));
    let with_its_key = edge.log.shipment(0, 35_000, (&other.checkpoint_key(), 1)).unwrap().unwrap();
    assert_eq!(send(&with_its_key.bytes).0, "forged");
    // The hub stops reading, which the sender may notice before the answer.
    match edge.hub().post("/v1/shipments", &vec![0; 9 << 20]) {
        Err(Failure::Refused(said)) => assert_eq!(said.code, "too-long"),
        Err(Failure::Unreachable { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(postgres.count("select count(*) from record"), 0);
    assert_eq!(postgres.sql("select name, edge, times from alert order by edge"), "refused|1|4\nrefused|2|1");
    // None of it is in the way of the real one.
    assert_eq!(edge.ship().unwrap().records, 120);
}

/// Sums the frame around a place anew.
fn with_checksum(bytes: &[u8], inside: usize) -> Vec<u8> {
    let magic = [0x01, b'd', b'w', 0x02];
    let start = (0..inside).rev().find(|at| bytes[*at..].starts_with(&magic)).unwrap();
    let length = u32::from_le_bytes(bytes[start + 4..start + 8].try_into().unwrap()) as usize;
    let end = start + 96 + length;
    let sum = crc32(&bytes[start..end]).to_le_bytes();
    [&bytes[..end], &sum, &bytes[end + 4..]].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(sum & 1)))
    })
}

#[test]
fn a_copied_machine_is_a_fork_on_both_sides_and_overwrites_nothing() {
    let postgres = Postgres::start();
    let hub = RunningHub::start(&postgres);
    let mut edge = Edge::enrolled(&hub);
    edge.append(1..=30);
    edge.ship().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let copied = std::process::Command::new("cp").arg("-a").arg(edge.keys.path().join("log")).arg(copy.path()).status();
    assert!(copied.unwrap().success());
    edge.append(31..=40);
    edge.ship().unwrap();
    let mut twin = doorward_ledger::Log::open(&copy.path().join("log")).unwrap();
    for number in 131..=150 {
        let _receipt = twin.append(&crate::support::decision(number), 1).unwrap();
    }
    let twin = Edge { log: twin, ..edge };
    // Before anything is sent, the edge sees that the hub's last record is not its own.
    assert!(matches!(twin.ship(), Err(ShipFailure::Fork { sequence: 40 })));
    // One that sends all the same is told by the hub, which says so to whoever looks.
    let key = twin.checkpoint_key();
    let sent = twin.log.shipment(30, 1 << 20, (&key, 1)).unwrap().unwrap();
    let answer = twin.hub().post("/v1/shipments", &sent.bytes);
    assert!(matches!(answer, Err(Failure::Refused(said)) if said.code == "fork" && said.sequence == Some(40)));
    let output = hub.say(&["alerts"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stdout).contains("two histories"));
    assert_eq!(postgres.sql("select count(*), max(sequence) from record"), "40|40");
}
