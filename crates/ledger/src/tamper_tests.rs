//! Whoever changes the log after a checkpoint was kept is found out.

use std::collections::BTreeMap;

use crate::event::{Keep, Kind};
use crate::frame::{Encoded, Frame, Place, encode, without_body};
use crate::key::CheckpointKey;
use crate::record::tests::everyday;
use crate::segment::{Opening, START, Step, Walk};
use crate::sim::Sim;
use crate::{Anchors, Checkpoint, Fault, Hash, Log, Report};

type Files = BTreeMap<String, Vec<u8>>;

/// A log, what was kept of it, and states it once had.
struct Kept {
    files: Files,
    checkpoint: Checkpoint,
    earlier: Vec<Files>,
    key: CheckpointKey,
    _dir: tempfile::TempDir,
}

fn log(files: &Files) -> Log<Sim> {
    Log::on(Sim::with_files(files)).with_segment_bytes(8000)
}

fn kept() -> Kept {
    let dir = tempfile::tempdir().unwrap();
    let key = CheckpointKey::load_or_create(&dir.path().join("key")).unwrap();
    let sim = Sim::new(3);
    let mut log = Log::on(sim.clone()).with_segment_bytes(8000);
    log.begin().unwrap();
    let mut earlier = Vec::new();
    for number in 1..=60 {
        earlier.push(sim.files());
        let _receipt = log.append(&everyday(number), number).unwrap();
    }
    let checkpoint = log.checkpoint(&key, 61).unwrap();
    Kept { files: sim.files(), checkpoint, earlier, key, _dir: dir }
}

fn verify(files: &Files, checkpoints: &[Checkpoint], key: Option<Hash>) -> Report {
    log(files).verify(Anchors { checkpoints, key }, |_| {}).unwrap()
}

fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let steps = Walk::new(bytes).filter_map(|step| match step {
        Step::Entry(at, frame) => Some(bytes[at..at + frame.size].to_vec()),
        Step::Bad(at, ..) => {
            assert!(bytes[at..].iter().all(|byte| *byte == 0), "the log was good");
            None
        }
    });
    steps.collect()
}

fn join(opening: &[u8], frames: &[Vec<u8>]) -> Vec<u8> {
    [opening.to_vec(), frames.concat()].concat()
}

/// Writes the history anew with one body changed and every hash right again, as somebody who knows the format would.
fn rewritten(files: &Files, victim: u64) -> Files {
    let mut out = Files::new();
    let mut hash = None;
    for (name, bytes) in files {
        let mut opening = Opening::decode(bytes).unwrap();
        opening.previous = hash.unwrap_or(opening.previous);
        let mut previous = opening.previous;
        let mut new = opening.encode();
        for raw in frames(bytes) {
            let Frame { header, body, .. } = Frame::decode(&raw).unwrap();
            let mut body = body.unwrap().to_vec();
            if header.sequence == victim {
                body = String::from_utf8(body).unwrap().replace("cargo", "curl ").into_bytes();
            }
            let place = Place { sequence: header.sequence, previous, time_ms: header.time_ms };
            let Encoded { bytes, hash } = encode(header.kind, header.keep, &body, place).unwrap();
            new.extend(bytes);
            previous = hash;
        }
        hash = Some(previous);
        out.insert(name.clone(), new);
    }
    out
}

/// Changes the files in one random way; says how.
fn tamper(kept: &Kept, rng: &mut fastrand::Rng) -> (&'static str, Files) {
    let mut files = kept.files.clone();
    let names: Vec<String> = files.keys().cloned().collect();
    let name = &names[rng.usize(..names.len())];
    let bytes = files[name].clone();
    let (opening, mut entries) = (bytes[..START].to_vec(), frames(&bytes));
    let (one, other) = (rng.usize(..entries.len()), rng.usize(..entries.len()));
    let how = match rng.u8(..11) {
        0..=2 => {
            files.get_mut(name).unwrap()[rng.usize(..bytes.len())] ^= 1 << rng.u8(..8);
            return ("flip a bit", files);
        }
        3 => {
            entries.remove(one);
            "delete a record"
        }
        4 if one != other => {
            entries.swap(one, other);
            "swap two records"
        }
        4 | 5 => {
            entries.insert(other, entries[one].clone());
            "repeat a record"
        }
        6 => {
            // Cutting off only the room behind the last record changes nothing.
            let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
            files.insert(name.clone(), bytes[..rng.usize(..used)].to_vec());
            return ("truncate a segment", files);
        }
        7 => {
            files.remove(name);
            return ("delete a segment", files);
        }
        8 => {
            let sequence = rng.usize(..kept.earlier.len());
            let mut older = log(&kept.earlier[sequence]);
            let fork = if rng.bool() { 0 } else { rng.u64(1..70) };
            for number in 0..fork {
                let _receipt = older.append(&everyday(9000 + number), number).unwrap();
            }
            let how = if fork == 0 { "roll back" } else { "fork" };
            return (how, older.storage.files());
        }
        9 => {
            let header = Frame::decode(&entries[one]).unwrap().header;
            entries[one] = without_body(&header).unwrap().bytes;
            "drop a body without a tombstone"
        }
        _ => {
            return ("rewrite the history", rewritten(&kept.files, rng.u64(1..=60)));
        }
    };
    files.insert(name.clone(), join(&opening, &entries));
    (how, files)
}

fn all_are_found(count: u64) {
    let kept = kept();
    let checkpoints = std::slice::from_ref(&kept.checkpoint);
    assert!(verify(&kept.files, checkpoints, Some(kept.key.fingerprint())).holds());
    let mut rng = fastrand::Rng::with_seed(11);
    let mut ways = BTreeMap::new();
    for number in 0..count {
        let (how, files) = tamper(&kept, &mut rng);
        let found = files.is_empty()
            || !log(&files)
                .verify(Anchors { checkpoints, key: Some(kept.key.fingerprint()) }, |_| {})
                .is_ok_and(|report| report.holds());
        assert!(found, "{number}: {how} was not found");
        *ways.entry(how).or_insert(0) += 1;
        if number % 10_000 == 9_999 {
            eprintln!("{} tampers, all found", number + 1);
        }
    }
    eprintln!("{count} tampers found: {ways:?}");
}

#[test]
fn two_thousand_tampers_are_found() {
    all_are_found(2_000);
}

#[test]
#[ignore = "a minute; run with --release"]
fn a_hundred_thousand_tampers_are_found() {
    all_are_found(100_000);
}

#[test]
fn without_a_checkpoint_the_log_is_called_unanchored() {
    let kept = kept();
    assert_eq!(verify(&kept.files, &[], None).anchored, None);
    let report = verify(&kept.files, std::slice::from_ref(&kept.checkpoint), None);
    assert_eq!(report.anchored, Some(61));
}

#[test]
fn the_first_bad_record_is_named() {
    let kept = kept();
    let check = |victim: u64, change: fn(&mut Vec<u8>), want: fn(&Fault) -> bool| {
        let mut files = kept.files.clone();
        for bytes in files.values_mut() {
            let mut entries = frames(bytes);
            for entry in &mut entries {
                if Frame::decode(entry).unwrap().header.sequence == victim {
                    change(entry);
                }
            }
            *bytes = join(&bytes[..START], &entries);
        }
        let report = verify(&files, std::slice::from_ref(&kept.checkpoint), None);
        let first = &report.findings[0];
        assert!(want(&first.fault), "{first}");
        assert_eq!(first.sequence, victim, "{first}");
    };
    check(1, |entry| entry[150] ^= 1, |fault| matches!(fault, Fault::Unreadable(_)));
    check(30, |entry| entry[90] ^= 1, |fault| matches!(fault, Fault::Unreadable(_)));
    check(31, Vec::clear, |fault| matches!(fault, Fault::Sequence { .. } | Fault::Segment { .. }));
    check(61, Vec::clear, |fault| matches!(fault, Fault::Truncated { last: 60 }));
}

#[test]
fn a_checkpoint_of_another_key_or_with_a_changed_field_is_found() {
    let kept = kept();
    let dir = tempfile::tempdir().unwrap();
    let other = CheckpointKey::load_or_create(&dir.path().join("key")).unwrap();
    let resigned = log(&kept.files).checkpoint(&other, 1).unwrap();
    let fault = |checkpoint: &Checkpoint, key| {
        let report = verify(&kept.files, std::slice::from_ref(checkpoint), Some(key));
        report.findings[0].fault
    };
    let mine = kept.key.fingerprint();
    assert!(matches!(fault(&resigned, mine), Fault::Key { .. }));
    for change in [
        |checkpoint: &mut Checkpoint| checkpoint.sequence -= 1,
        |checkpoint: &mut Checkpoint| checkpoint.time_ms += 1,
        |checkpoint: &mut Checkpoint| checkpoint.root = Hash::of(b"x"),
        |checkpoint: &mut Checkpoint| checkpoint.key = Hash::of(b"x"),
    ] {
        let mut changed = kept.checkpoint.clone();
        change(&mut changed);
        assert_eq!(fault(&changed, mine), Fault::Signature);
    }
}

#[test]
fn a_checkpoint_of_another_log_is_called_that() {
    let (one, other) = (kept(), kept());
    let report = verify(&one.files, &[other.checkpoint], None);
    assert_eq!(report.findings[0].fault, Fault::Origin);
    assert_eq!(report.anchored, None);
}

#[test]
fn dropping_what_must_be_kept_is_found_even_behind_a_tombstone() {
    let kept = kept();
    let mut log = log(&kept.files);
    let tombstone = crate::TombstoneBody { dropped: vec![(1, 60)], days: 90 };
    let _receipt = log.append(&tombstone, 1).unwrap();
    let mut files = log.storage.files();
    for bytes in files.values_mut() {
        let mut entries = frames(bytes);
        for entry in &mut entries {
            let header = Frame::decode(entry).unwrap().header;
            if header.kind == Kind::Decision {
                *entry = without_body(&header).unwrap().bytes;
            }
        }
        *bytes = join(&bytes[..START], &entries);
    }
    let report = verify(&files, &[kept.checkpoint], None);
    assert_eq!(report.found, 1, "{:?}", report.findings);
    assert_eq!((report.findings[0].sequence, report.findings[0].fault), (50, Fault::Kept));
    assert_eq!(Keep::Forever, crate::Body::keep(&everyday(50)));
}

#[test]
fn checkpoints_are_kept_beside_the_log_and_sent_elsewhere() {
    let kept = kept();
    let dir = tempfile::tempdir().unwrap();
    let path = kept.checkpoint.save(dir.path()).unwrap();
    assert_eq!(Checkpoint::load(&path).unwrap(), kept.checkpoint);
    assert_eq!(Checkpoint::load_all(dir.path()).unwrap(), std::slice::from_ref(&kept.checkpoint));
    assert_eq!(Checkpoint::load_all(&dir.path().join("none")).unwrap(), []);
    let copy = dir.path().join("copy");
    crate::Elsewhere::File(copy.clone()).send(&kept.checkpoint).unwrap();
    assert_eq!(Checkpoint::load(&copy).unwrap(), kept.checkpoint);
    let command = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        crate::Elsewhere::Command(words).send(&kept.checkpoint)
    };
    let other = dir.path().join("other");
    command(&["tee", other.to_str().unwrap()]).unwrap();
    assert_eq!(Checkpoint::load(&other).unwrap(), kept.checkpoint);
    assert!(command(&["false"]).is_err());
    assert!(command(&[]).is_err());
}
