//! A million records: verified in seconds, listed at once.

#[path = "support/hasty.rs"]
mod hasty;

use doorward_ledger::{Anchors, CheckpointKey, DecisionBody, Disk, Filter, Index, Kind, Layer1, Layer2, Log};
use doorward_vocabulary::{Mode, Verdict};
use hasty::Hasty;
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

const FACTS: &str = r#"{"effects":[{"operation":"execute","target":{"program":"/usr/bin/cargo","words":["test","--workspace"]},"scope":"project","reversibility":"rebuildable","reach":"workspace","sensitivity":"none","coverage":"delegated"}],"rates":{"reads":12},"override_rate":0.01,"taint":[]}"#;

fn body(number: u64) -> DecisionBody {
    let programs = ["cargo test", "git status", "ls -la src", "rg --files", "python3 -m pytest"];
    let verdict = match number % 200 {
        0 => Verdict::Block,
        1..=5 => Verdict::Confirm,
        _ => Verdict::AutoApprove,
    };
    DecisionBody {
        id: format!("d-{number:016x}").into(),
        agent: Some(["claude", "codex", "gemini"][number as usize % 3].into()),
        session: Some(format!("s-{}", number / 400).into()),
        project: Some(format!("/home/ada/project-{}", number % 23)),
        cwd: Some(format!("/home/ada/project-{}", number % 23)),
        tool: "bash".into(),
        call: format!("{} -- case_{number}", programs[number as usize % 5]),
        facts: RawValue::from_string(FACTS.into()).ok(),
        layer1: Some(Layer1 { outcome: "unsettled".into(), rule: None }),
        layer2: Some(Layer2 { score: vec![0.97, 0.02, 0.01], confidence: 0.97 }),
        verdict,
        violation: (verdict == Verdict::Block).then(|| format!("rule-{}", number % 31)),
        reasons: vec!["trusted recipe, hash unchanged".into()],
        category: Some(["execute", "read", "write", "network"][number as usize % 4].into()),
        pattern: Some("bash execute cargo test project rebuildable workspace".into()),
        versions: [("rules".into(), "12".into()), ("model".into(), "3".into())].into(),
        latency_us: [("observe".into(), 8 + number % 50), ("judge".into(), 5)].into(),
        mode: Some(Mode::Auto),
        ..DecisionBody::default()
    }
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    let elapsed = started.elapsed();
    eprintln!("{what}: {elapsed:.3?}");
    (result, elapsed)
}

fn many(count: u64, verify_within: Duration, list_within: Duration) {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::on(Hasty(Disk::create(&dir.path().join("log")).unwrap()));
    log.begin().unwrap();
    timed("fill", || {
        for number in 0..count {
            let _receipt = log.append(&body(number), 1_700_000_000_000 + number * 60_000).unwrap();
        }
    });
    let key = CheckpointKey::load_or_create(&dir.path().join("key")).unwrap();
    let (checkpoint, _) = timed("checkpoint", || log.checkpoint(&key, 0).unwrap());
    let checkpoints = [checkpoint];
    let anchors = Anchors { checkpoints: &checkpoints, key: Some(key.fingerprint()) };
    let mut steps = 0;
    let (report, took) = timed("verify", || log.verify(anchors, |_| steps += 1).unwrap());
    assert!(report.holds() && steps > 0, "{:?}", report.findings);
    assert_eq!((report.records, report.anchored), (count + 1, Some(count + 1)));
    assert!(took <= verify_within, "verify took {took:?}");
    let path = dir.path().join("index.sqlite");
    let ((mut index, _), _) = timed("reindex", || Index::rebuild(&path, &log).unwrap());
    timed("feed with nothing new", || index.feed(&log).unwrap());
    let all = Filter { limit: Some(50), ..Filter::default() };
    let questions = [
        ("newest", all.clone()),
        ("approved", Filter { verdict: Some(Verdict::AutoApprove), ..all.clone() }),
        ("blocked", Filter { verdict: Some(Verdict::Block), ..all.clone() }),
        ("confirmed by codex", Filter { verdict: Some(Verdict::Confirm), agent: Some("codex".into()), ..all.clone() }),
        ("unknown agent", Filter { agent: Some("nobody".into()), ..all.clone() }),
        ("session", Filter { session: Some("s-1000".into()), ..all.clone() }),
        (
            "project and category",
            Filter { project: Some("/home/ada/project-7".into()), category: Some("network".into()), ..all.clone() },
        ),
        ("rule", Filter { rule: Some("rule-7".into()), ..all.clone() }),
        (
            "an hour",
            Filter {
                since_ms: Some(1_700_000_000_000 + 60_000 * (count / 2)),
                until_ms: Some(1_700_000_000_000 + 60_000 * (count / 2 + 60)),
                ..all.clone()
            },
        ),
        ("rare text", Filter { text: Some("case_77".into()), ..all.clone() }),
        ("absent text", Filter { text: Some("no such words".into()), ..all.clone() }),
        ("violations", Filter { violations: true, ..all.clone() }),
        ("answers", Filter { kind: Some(Kind::Answer), ..all }),
    ];
    for (what, filter) in questions {
        let (_, took) = timed(what, || index.list(&filter).unwrap());
        assert!(took <= list_within, "{what} took {took:?}");
    }
    timed("stats", || index.stats(&Filter::default()).unwrap());
    let (metrics, took) = timed("metrics", || index.metrics(0, 4_000_000_000_000).unwrap());
    assert!(metrics.all.decisions == count && took <= list_within, "metrics took {took:?}");
}

#[test]
fn some_thousand_records_are_verified_and_listed() {
    many(3_000, Duration::from_secs(5), Duration::from_secs(1));
}

#[test]
#[ignore = "a minute and a gigabyte; run with --release"]
fn a_million_records_are_verified_in_seconds_and_listed_at_once() {
    many(1_000_000, Duration::from_secs(5), Duration::from_secs(1));
}
