//! A machine with a log, enrolled or not.

use std::path::Path;

use doorward_ledger::{AnswerBody, By, DecisionBody, Disk, Layer1, Layer2, Log, Reply, SigningKey, Storage};
use doorward_team::{Enrolment, Hub, ShipFailure, Shipped, Token, Transport, Welcome, enrol, ship};
use doorward_vocabulary::{Mode, Verdict};
use serde_json::value::RawValue;

use super::{Memory, RunningHub};

pub(crate) struct Edge<S = Disk> {
    pub(crate) log: Log<S>,
    pub(crate) keys: tempfile::TempDir,
    pub(crate) welcome: Welcome,
    pub(crate) hub: Hub,
}

pub(crate) fn key(dir: &Path, name: &str) -> SigningKey {
    SigningKey::load_or_create(&dir.join(name)).unwrap()
}

impl Edge {
    /// With a log on the disk.
    pub(crate) fn enrolled(hub: &RunningHub) -> Self {
        let keys = tempfile::tempdir().unwrap();
        let log = Log::create(&keys.path().join("log")).unwrap().with_segment_bytes(60_000);
        Self::with(log, keys, hub)
    }
}

impl Edge<Memory> {
    /// With a log in memory.
    pub(crate) fn in_memory(hub: &RunningHub) -> Self {
        let log = Log::on(Memory::default());
        log.begin().unwrap();
        Self::with(log, tempfile::tempdir().unwrap(), hub)
    }
}

impl<S: Storage> Edge<S> {
    pub(crate) fn with(log: Log<S>, keys: tempfile::TempDir, hub: &RunningHub) -> Self {
        let token: Token = hub.token().parse().unwrap();
        let (edge_key, checkpoint_key) = (key(keys.path(), "edge.key"), key(keys.path(), "checkpoint.key"));
        let names = ("laptop", "ada", "0.1.0");
        let enrolment = Enrolment::new(&token, (&edge_key, &checkpoint_key), names).unwrap();
        let transport = Transport::new(&hub.url(), None).unwrap();
        let welcome = enrol(&transport, &token, &enrolment).unwrap();
        let hub = Hub::new(transport, welcome.edge.clone(), edge_key, welcome.hub);
        Self { log, keys, welcome, hub }
    }

    pub(crate) fn append(&mut self, numbers: std::ops::RangeInclusive<u64>) {
        for number in numbers {
            let _receipt = self.log.append(&decision(number), now_ms()).unwrap();
        }
    }

    pub(crate) fn answer(&mut self, number: u64) {
        let body = AnswerBody { decision: id(number).into(), reply: Reply::Approved, by: By::Person, why: None };
        let _receipt = self.log.append(&body, now_ms()).unwrap();
    }

    pub(crate) fn checkpoint_key(&self) -> SigningKey {
        key(self.keys.path(), "checkpoint.key")
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(crate) fn ship(&self) -> Result<Shipped, ShipFailure> {
        ship(&self.log, &self.checkpoint_key(), &self.hub, |_head| {})
    }

    /// What the log holds, as the hub should hold it.
    pub(crate) fn hashes(&self) -> String {
        let records = self.log.records().unwrap().map(Result::unwrap);
        records
            .map(|record| format!("{}|{}\n", record.header.sequence, record.hash))
            .collect::<String>()
            .trim()
            .to_owned()
    }
}

pub(crate) fn now_ms() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64
}

fn id(number: u64) -> String {
    format!("d-{number:016x}")
}

const FACTS: &str = r#"{"coverage":{"degree":"full"},"effects":[{"operation":"execute","target":{"program":"/usr/bin/cargo","words":["test","--workspace"]},"scope":"project","reversibility":"rebuildable","reach":"workspace","sensitivity":"none"}],"rates":{"reads":12},"override_rate":0.01,"taint":[]}"#;

/// A decision as large as an everyday one.
pub(crate) fn decision(number: u64) -> DecisionBody {
    let verdict = match number % 200 {
        0 => Verdict::Block,
        1..=5 => Verdict::Confirm,
        _ => Verdict::AutoApprove,
    };
    DecisionBody {
        id: id(number).into(),
        agent: Some(["claude", "codex", "gemini"][number as usize % 3].into()),
        session: Some(format!("s-{}", number / 400).into()),
        project: Some(format!("/home/ada/project-{}", number % 7)),
        user: Some("ada".into()),
        cwd: Some("/home/ada/project".into()),
        tool: "bash".into(),
        call: format!("cargo test --workspace -- case_{number}"),
        facts: RawValue::from_string(FACTS.into()).ok(),
        layer1: Some(Layer1 {
            outcome: "unsettled".into(),
            rule: (verdict != Verdict::AutoApprove).then(|| "push".into()),
        }),
        layer2: Some(Layer2 { score: vec![0.97, 0.02, 0.01], confidence: 0.97 }),
        verdict,
        violation: (verdict == Verdict::Block).then(|| "bulk-delete".into()),
        reasons: vec!["trusted recipe, hash unchanged".into()],
        category: Some(["execute", "read", "write", "network"][number as usize % 4].into()),
        pattern: Some("bash execute cargo test project rebuildable workspace".into()),
        versions: [("rules".into(), "12".into()), ("model".into(), "3".into())].into(),
        latency_us: [("observe".into(), 8 + number % 50), ("judge".into(), 5)].into(),
        mode: Some(Mode::Auto),
        ..DecisionBody::default()
    }
}
