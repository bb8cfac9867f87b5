//! Figures that can be checked by hand, and how long they take over a million records.

use doorward_vocabulary::Verdict;
use std::time::Instant;

use super::*;
use crate::event::{Header, Keep, Kind};
use crate::hash::Hash;
use crate::index::Fed;
use crate::read::Record;
use crate::record::{AnswerBody, Body, By, DecisionBody, Reply};

fn record(sequence: u64, time_ms: u64, body: &impl Recordable) -> Record {
    body.record(sequence, time_ms)
}

/// Bodies as the log would hand them over.
trait Recordable {
    fn record(&self, sequence: u64, time_ms: u64) -> Record;
}

impl<B: Body> Recordable for B {
    fn record(&self, sequence: u64, time_ms: u64) -> Record {
        let json = serde_json::to_vec(self).unwrap();
        let header = Header {
            kind: B::KIND,
            keep: Keep::Days,
            body_len: json.len() as u32,
            sequence,
            time_ms,
            body_hash: Hash::of(&json),
            previous: Hash::of(b"before"),
        };
        Record { header, hash: Hash::of(&sequence.to_le_bytes()), body: Some(json) }
    }
}

fn decision(number: u64, verdict: Verdict) -> DecisionBody {
    DecisionBody {
        id: format!("d{number}").into(),
        user: Some(format!("{}", 1000 + number % 2)),
        project: Some("/srv/one".into()),
        category: Some("write".into()),
        facts: serde_json::value::RawValue::from_string(r#"{"coverage":{"degree":"full"}}"#.into()).ok(),
        latency_us: [("judge".into(), number), ("observe".into(), 7)].into(),
        attended: Some(number != 3),
        verdict,
        ..DecisionBody::default()
    }
}

fn index(dir: &tempfile::TempDir, records: Vec<Record>) -> Index {
    let mut index = Index::open(&dir.path().join("index.sqlite")).unwrap();
    index.take(records.into_iter().map(Ok), &mut Fed::default()).unwrap();
    index
}

#[test]
fn rates_counts_and_durations_are_what_the_records_say() {
    let dir = tempfile::tempdir().unwrap();
    let mut records = Vec::new();
    for number in 1..=10 {
        let verdict = match number {
            3 | 5 | 9 => Verdict::Confirm,
            10 => Verdict::Block,
            _ => Verdict::AutoApprove,
        };
        records.push(record(number, number * 1000, &decision(number, verdict)));
    }
    let yes = |number: u64| AnswerBody {
        decision: format!("d{number}").into(),
        reply: Reply::Approved,
        by: By::Person,
        why: None,
    };
    // Answered twice, it counts once; a yes to what was approved is no override.
    for (at, number) in (11..).zip([5, 5, 1]) {
        records.push(record(at, at * 1000, &yes(number)));
    }
    let index = index(&dir, records);
    let metrics = index.metrics(0, u64::from(u32::MAX)).unwrap();
    let all = &metrics.all;
    assert_eq!((all.decisions, all.approved, all.confirmed, all.blocked, all.overridden), (10, 6, 3, 1, 1));
    assert!((all.approval_rate - 0.6).abs() < 1e-9 && (all.override_rate - 0.1).abs() < 1e-9);
    assert_eq!((metrics.unavailable, metrics.between_confirmations_ms), (1, Some(3000)));
    let users: Vec<_> =
        metrics.users.iter().map(|user| (user.name.as_str(), user.decisions, user.overridden)).collect();
    assert_eq!(users, [("1000", 5, 0), ("1001", 5, 1)]);
    assert_eq!(metrics.coverage, [("full".to_owned(), 10)]);
    let latency: Vec<_> =
        metrics.latency.iter().map(|of| (of.stage.as_str(), of.count, of.p50_us, of.p99_us)).collect();
    assert_eq!(latency, [("judge", 10, 5, 10), ("observe", 10, 7, 7)]);
    assert_eq!(index.metrics(crate::totals::HOUR_MS, u64::from(u32::MAX)).unwrap().all, Share::default());
}

#[test]
fn entries_that_come_later_are_added_to_the_sums() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = index(&dir, vec![record(1, 1, &decision(1, Verdict::Confirm))]);
    let yes = AnswerBody { decision: "d1".into(), reply: Reply::Approved, by: By::Client, why: None };
    let later = [record(2, 2, &decision(2, Verdict::Confirm)), record(3, 3, &yes)];
    index.take(later.into_iter().map(Ok), &mut Fed::default()).unwrap();
    let all = index.metrics(0, 10).unwrap().all;
    assert_eq!((all.decisions, all.confirmed, all.overridden), (2, 2, 1));
    assert_eq!(record(1, 1, &yes).header.kind, Kind::Answer);
}

#[test]
#[ignore = "prints a measurement: a million records"]
fn a_million_records_are_summed_up_in_less_than_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::open(&dir.path().join("index.sqlite")).unwrap();
    let started = Instant::now();
    let categories = ["read", "write", "execute", "network", "delete", "mutate"];
    let records = (1..=1_000_000_u64).map(|number| {
        let verdict = match number % 40 {
            0 => Verdict::Block,
            1..=3 => Verdict::Confirm,
            _ => Verdict::AutoApprove,
        };
        let body = DecisionBody {
            category: categories.get((number % 6) as usize).map(|word| (*word).to_owned()),
            project: Some(format!("/srv/project-{}", number % 23)),
            session: Some(format!("s{}", number / 500).into()),
            violation: (number % 40 == 0).then(|| format!("rule-{}", number % 17)),
            ..decision(number, verdict)
        };
        // Ninety days, a record every eight seconds.
        let time_ms = number * 7776;
        let answer = AnswerBody {
            decision: format!("d{}", number - 1).into(),
            reply: Reply::Approved,
            by: By::Person,
            why: None,
        };
        Ok(if number % 40 == 2 { record(number, time_ms, &answer) } else { record(number, time_ms, &body) })
    });
    index.take(records, &mut Fed::default()).unwrap();
    let fed = started.elapsed();
    let now_ms = 1_000_000 * 7776;
    for (what, since_ms) in [("30 days", now_ms - 30 * 24 * 3_600_000), ("everything", 0)] {
        let started = Instant::now();
        let metrics = index.metrics(since_ms, now_ms).unwrap();
        let took = started.elapsed();
        eprintln!("metrics of {what}: {took:?} over {} decisions; fed in {fed:?}", metrics.all.decisions);
        assert!(took.as_secs_f64() < 1.0 && metrics.all.overridden > 0);
    }
    let started = Instant::now();
    let tripped = index.tripped(now_ms).unwrap();
    eprintln!("alerts: {:?}, {} tripped", started.elapsed(), tripped.len());
}
