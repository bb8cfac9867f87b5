//! Every format that was ever shipped still loads: one directory per version, never changed once it is there.

use doorward_ledger::{
    AlertBody, Anchors, AnswerBody, Became, Body, By, Checkpoint, CheckpointKey, CreatedState, Days, DecisionBody,
    FORMAT, GrantBody, GrantStep, Kind, Limit, Log, ModeBody, OutcomeBody, PatternState, PolicyBody, Reply,
    SessionBody, SessionState, SessionStep, StateKey, States,
};
use doorward_vocabulary::Verdict;
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Kinds that came after the golden files were made; the format stayed the same.
const LATER: [Kind; 1] = [Kind::Device];

fn private_copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, PermissionsExt::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn lines(log: &Log) -> String {
    let records = log.records().unwrap();
    records.map(|record| record.unwrap().to_line().unwrap() + "\n").collect()
}

#[test]
fn every_version_ever_shipped_loads_verifies_and_goes_on() {
    let newest = golden().join(format!("v{FORMAT}"));
    if std::env::var_os("UPDATE").is_some() && !newest.exists() {
        make(&newest);
    }
    assert!(newest.exists(), "the format has no golden files: run with UPDATE=1");
    for entry in std::fs::read_dir(golden()).unwrap() {
        check(&entry.unwrap().path());
    }
}

#[test]
fn state_files_of_every_version_still_load() {
    let newest = golden().join(format!("v{FORMAT}/states"));
    if std::env::var_os("UPDATE").is_some() && !newest.exists() {
        make_states(&newest);
    }
    assert!(newest.exists(), "the state files have no golden ones: run with UPDATE=1");
    for entry in std::fs::read_dir(golden()).unwrap() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("states");
        private_copy(&entry.unwrap().path().join("states"), &path);
        for file in std::fs::read_dir(&path).unwrap() {
            std::fs::set_permissions(file.unwrap().path(), PermissionsExt::from_mode(0o600)).unwrap();
        }
        let states = States::at(&path, StateKey::load(&path.join("key")).unwrap());
        let session = states.find::<SessionState>("session").unwrap().unwrap();
        assert_eq!((session.began_ms, session.denials(), session.denials_in_a_row()), (5, 2, 1));
        assert!(session.is_tainted("secret-read") && session.boundaries().eq(["don't push"]));
        assert_eq!(session.reads(LIMIT, 60_000), (3, 3));
        assert_eq!(session.clone().note_run("d9").as_deref(), Some("pattern"));
        assert_eq!(states.find::<CreatedState>("session").unwrap().unwrap().when("/tmp/made"), Some(7));
        assert_eq!(states.find::<PatternState>("pattern").unwrap().unwrap().month(DAY_MS), (1, 2));
        states.update("session", SessionState::note_denial).unwrap();
    }
}

const LIMIT: Limit = Limit { per_minute: 300, burst: 60 };

fn make_states(path: &Path) {
    std::fs::create_dir_all(path).unwrap();
    let states = States::at(path, StateKey::load_or_create(&path.join("key")).unwrap());
    let session = |state: &mut SessionState| {
        state.began_ms = 5;
        state.note_denial();
        state.note_approval();
        state.note_denial();
        state.note_question("d9", "pattern");
        state.taint("secret-read");
        state.add_boundary("don't push");
        (0..3).for_each(|_| state.count_read(LIMIT, 60_000));
    };
    states.update("session", session).unwrap();
    states.update("session", |state: &mut CreatedState| state.note_created("/tmp/made", 7)).unwrap();
    let pattern = |state: &mut PatternState| {
        state.count_decision(DAY_MS);
        state.count_decision(DAY_MS);
        state.count_override(DAY_MS);
    };
    states.update("pattern", pattern).unwrap();
}

fn check(version: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    private_copy(&version.join("log"), &path);
    let mut log = Log::open(&path).unwrap();
    let expected = std::fs::read_to_string(version.join("records.jsonl")).unwrap();
    assert_eq!(lines(&log), expected, "{}", version.display());
    let kinds: BTreeSet<Kind> = log.records().unwrap().map(|record| record.unwrap().header.kind).collect();
    let of_then = Kind::ALL.into_iter().filter(|kind| !LATER.contains(kind));
    assert!(kinds.into_iter().eq(of_then), "not every kind is there");
    let checkpoint = Checkpoint::load(&version.join("checkpoint")).unwrap();
    let checkpoints = [checkpoint];
    let anchors = Anchors { checkpoints: &checkpoints, key: None };
    let before = log.verify(anchors, |_| {}).unwrap();
    assert!(before.holds(), "{:?}", before.findings);
    assert!(before.dropped > 0 && before.gaps.len() == 1);
    let receipt = log.append(&DecisionBody::default(), 1).unwrap();
    assert_eq!(Some(receipt.sequence - 1), before.head.map(|(sequence, _)| sequence));
    let after = log.verify(anchors, |_| {}).unwrap();
    assert!(after.holds(), "{:?}", after.findings);
    assert_eq!(after.anchored, before.anchored);
}

fn make(version: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = Log::create(&path).unwrap().with_segment_bytes(1500);
    let mut day = 0;
    let mut add = |log: &mut Log, count: u64| {
        for _ in 0..count {
            day += 1;
            let body = DecisionBody {
                id: format!("d{day}").into(),
                call: "cargo test".into(),
                tool: "bash".into(),
                verdict: if day % 10 == 0 { Verdict::Block } else { Verdict::AutoApprove },
                ..DecisionBody::default()
            };
            let _receipt = log.append(&body, day * DAY_MS).unwrap();
        }
        day * DAY_MS
    };
    let now_ms = add(&mut log, 5);
    each_kind(&mut log, now_ms);
    let mut current = std::fs::File::options().append(true).open(path.join("current.log")).unwrap();
    current.write_all(b"\x01dw\x02 a torn end").unwrap();
    let now_ms = add(&mut log, 93);
    assert!(log.retain(Days::LEAST, now_ms).unwrap().dropped > 0);
    let key = CheckpointKey::load_or_create(&dir.path().join("key")).unwrap();
    let checkpoint = log.checkpoint(&key, now_ms).unwrap();
    std::fs::create_dir_all(version.join("log")).unwrap();
    for entry in std::fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        if entry.path().metadata().unwrap().len() > 0 {
            std::fs::copy(entry.path(), version.join("log").join(entry.file_name())).unwrap();
        }
    }
    std::fs::write(version.join("records.jsonl"), lines(&log)).unwrap();
    std::fs::write(version.join("checkpoint"), checkpoint.to_line() + "\n").unwrap();
    eprintln!("made {}", version.display());
}

fn each_kind(log: &mut Log, now_ms: u64) {
    fn add(log: &mut Log, body: &impl Body, now_ms: u64) {
        let _receipt = log.append(body, now_ms).unwrap();
    }
    let decision = || "d1".to_owned();
    add(log, &AnswerBody { decision: decision().into(), reply: Reply::Approved, by: By::Person, why: None }, now_ms);
    add(log, &OutcomeBody::new(decision().into(), Became::Ran, None), now_ms);
    let (of, session) = ("call".to_owned(), None);
    let grant = GrantBody {
        step: GrantStep::Stored,
        grant: None,
        of,
        decision: Some(decision().into()),
        session,
        expires_ms: Some(9),
        user: None,
        why: None,
        clears: None,
    };
    add(log, &grant, now_ms);
    let (before, after) = (Some("a".into()), Some("b".into()));
    let policy = PolicyBody { what: "rule promoted".into(), before, after, user: None, project: None };
    add(log, &policy, now_ms);
    add(log, &ModeBody { mode: "auto".into(), before: None, session: None, user: None }, now_ms);
    add(log, &AlertBody { name: "blocks".into(), text: "five".into(), ..AlertBody::default() }, now_ms);
    let step = SessionStep::Boundary("don't push".into());
    add(log, &SessionBody { session: "s".into(), agent: None, step }, now_ms);
}
