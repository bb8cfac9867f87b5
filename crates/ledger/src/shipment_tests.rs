//! Shipments: what arrives is proven, whatever was done to it on the way.

use crate::event::Keep;
use crate::hash::Hash;
use crate::key::CheckpointKey;
use crate::log::Log;
use crate::record::tests::everyday;
use crate::retain::Days;
use crate::segment::{self, CURRENT};
use crate::shipment::{Held, Refusal, ShipError, Shipment};

struct Rig {
    dir: tempfile::TempDir,
    log: Log,
    key: CheckpointKey,
}

impl Rig {
    fn new(records: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::create(&dir.path().join("log")).unwrap().with_segment_bytes(6000);
        for number in 1..=records {
            let _receipt = log.append(&everyday(number), number * 1000).unwrap();
        }
        let key = CheckpointKey::load_or_create(&dir.path().join("key")).unwrap();
        Self { dir, log, key }
    }

    fn ship(&self, after: u64, most: usize) -> Option<Shipment> {
        self.log.shipment(after, most, (&self.key, 9)).unwrap()
    }

    fn all(&self, most: usize) -> Vec<Shipment> {
        let mut after = 0;
        std::iter::from_fn(|| {
            let shipment = self.ship(after, most)?;
            assert_eq!(shipment.first, after + 1);
            after = shipment.last;
            Some(shipment)
        })
        .collect()
    }

    fn receive(&self, held: &Held, shipment: &Shipment) -> Result<crate::shipment::Arrived, Refusal> {
        held.receive(&shipment.bytes, self.key.fingerprint())
    }
}

#[test]
fn a_log_arrives_whole_in_pieces_of_any_size_and_grows() {
    for most in [1, 1500, 7000, 1 << 20] {
        let mut rig = Rig::new(60);
        let mut held = Held::default();
        let mut got = Vec::new();
        for round in 0..2 {
            while let Some(shipment) = rig.ship(held.head.map_or(0, |head| head.0), most) {
                let arrived = rig.receive(&held, &shipment).unwrap();
                got.extend(arrived.records);
                held = arrived.held;
            }
            let here: Vec<_> = rig.log.records().unwrap().map(Result::unwrap).collect();
            assert!(got == here, "{most} in round {round}");
            let statement = rig.log.checkpoint(&rig.key, 1).unwrap();
            let _receipt = rig.log.append(&everyday(100), 1).unwrap();
            assert!(statement.segments as usize >= held.leaves.len());
        }
        assert!(held.leaves.len() > 5, "{}", held.leaves.len());
    }
}

#[test]
fn repeated_stretches_bring_nothing_and_overlapping_ones_only_what_is_new() {
    let rig = Rig::new(40);
    let pieces = rig.all(5000);
    let mut held = Held::default();
    for piece in &pieces {
        held = rig.receive(&held, piece).unwrap().held;
    }
    for piece in &pieces {
        let again = rig.receive(&held, piece).unwrap();
        assert!(again.records.is_empty() && again.held == held);
        assert_eq!(again.repeats.map(|(sequence, _)| sequence), Some(piece.last));
    }
    let first = rig.receive(&Held::default(), &pieces[0]).unwrap().held;
    let whole = rig.receive(&first, &rig.ship(0, 1 << 20).unwrap()).unwrap();
    assert_eq!(whole.records.first().map(|record| record.header.sequence), Some(pieces[0].last + 1));
    assert_eq!(whole.held, held);
}

#[test]
fn what_comes_too_early_says_what_is_missing() {
    let rig = Rig::new(40);
    let pieces = rig.all(5000);
    let refused = rig.receive(&Held::default(), &pieces[1]).unwrap_err();
    assert!(matches!(refused, Refusal::Ahead { expected: 1, found } if found > 1), "{refused}");
    let held = rig.receive(&Held::default(), &pieces[0]).unwrap().held;
    assert!(matches!(rig.receive(&held, &pieces[2]), Err(Refusal::Ahead { .. })));
}

#[test]
fn no_byte_changed_or_cut_off_goes_unnoticed() {
    let rig = Rig::new(7);
    let key = rig.key.fingerprint();
    let shipment = rig.ship(0, 1 << 20).unwrap();
    let honest = Held::default().receive(&shipment.bytes, key).unwrap();
    for at in 0..shipment.bytes.len() {
        assert!(Held::default().receive(&shipment.bytes[..at], key).is_err(), "cut at {at}");
        let mut bad = shipment.bytes.clone();
        bad[at] ^= 1 << (at % 8);
        // The mark of a frame is the writer's own note, and white space in the statement means nothing: the content is the same.
        if let Ok(arrived) = Held::default().receive(&bad, key) {
            assert_eq!((arrived.records, arrived.held), (honest.records.clone(), honest.held.clone()), "byte {at}");
        }
    }
    let longer = [shipment.bytes.as_slice(), b"x"].concat();
    assert!(Held::default().receive(&longer, key).is_err());
}

#[test]
fn a_statement_by_another_key_or_about_other_records_is_refused() {
    let (rig, other) = (Rig::new(20), Rig::new(20));
    let shipment = rig.ship(0, 1 << 20).unwrap();
    let foreign = Held::default().receive(&shipment.bytes, other.key.fingerprint());
    assert_eq!(foreign.unwrap_err(), Refusal::Key);
    // The thief of a log has no key, and signs with one of their own.
    let stolen = rig.log.shipment(0, 1 << 20, (&other.key, 9)).unwrap().unwrap();
    assert_eq!(rig.receive(&Held::default(), &stolen).unwrap_err(), Refusal::Key);
    let part = rig.ship(0, 3000).unwrap();
    let length = u32::from_le_bytes(shipment.bytes[8..12].try_into().unwrap()) as usize;
    let short = u32::from_le_bytes(part.bytes[8..12].try_into().unwrap()) as usize;
    let mixed = Shipment { bytes: [&shipment.bytes[..12 + length], &part.bytes[12 + short..]].concat(), ..part };
    assert!(matches!(rig.receive(&Held::default(), &mixed), Err(Refusal::Checkpoint(_))));
}

#[test]
fn a_second_history_is_a_fork_wherever_it_parts() {
    let rig = Rig::new(30);
    let copy = tempfile::tempdir().unwrap();
    let log = copy.path().join("log");
    std::fs::create_dir(&log).unwrap();
    for entry in std::fs::read_dir(rig.dir.path().join("log")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), log.join(entry.file_name())).unwrap();
    }
    let mut twin = Log::open(&log).unwrap().with_segment_bytes(6000);
    let mut rig = rig;
    let _receipt = rig.log.append(&everyday(31), 1).unwrap();
    let _receipt = twin.append(&everyday(99), 1).unwrap();
    let _receipt = twin.append(&everyday(98), 1).unwrap();
    let held = rig.receive(&Held::default(), &rig.ship(0, 1 << 20).unwrap()).unwrap().held;
    for after in [0, 29, 30, 31] {
        let shipment = twin.shipment(after, 1 << 20, (&rig.key, 9)).unwrap().unwrap();
        let refused = rig.receive(&held, &shipment).unwrap_err();
        assert_eq!(refused, Refusal::Fork { sequence: 31 }, "after {after}");
    }
    let other = Rig::new(30);
    let shipment = other.log.shipment(0, 1 << 20, (&rig.key, 9)).unwrap().unwrap();
    assert_eq!(rig.receive(&held, &shipment).unwrap_err(), Refusal::Fork { sequence: 1 });
}

#[test]
fn a_current_segment_taken_away_is_a_fork_once_its_records_had_arrived() {
    let mut rig = Rig::new(30);
    let held = rig.receive(&Held::default(), &rig.ship(0, 1 << 20).unwrap()).unwrap().held;
    std::fs::remove_file(rig.dir.path().join("log").join(CURRENT)).unwrap();
    for number in 0..12 {
        let _receipt = rig.log.append(&everyday(number), 1).unwrap();
    }
    let shipment = rig.ship(0, 1 << 20).unwrap();
    assert!(rig.receive(&held, &shipment).unwrap_err().is_fork());
}

#[test]
fn dropped_bodies_arrive_as_headers_unless_they_must_be_kept() {
    let day = 24 * 60 * 60 * 1000;
    let mut rig = Rig::new(0);
    for number in 1..=200 {
        let _receipt = rig.log.append(&everyday(number), number * day).unwrap();
    }
    assert!(rig.log.retain(Days::LEAST, 200 * day).unwrap().dropped > 20);
    let arrived = rig.receive(&Held::default(), &rig.ship(0, 1 << 20).unwrap()).unwrap();
    assert!(arrived.records.iter().any(|record| record.body.is_none()));
    let kept = arrived.records.iter().filter(|record| record.header.keep == Keep::Forever);
    assert!(kept.clone().count() >= 4 && kept.clone().all(|record| record.body.is_some()));
}

#[test]
fn damage_is_named_after_everything_before_it_was_sent() {
    let rig = Rig::new(30);
    let path = rig.dir.path().join("log").join(segment::closed_name(1));
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let shipment = rig.ship(0, 1 << 20).unwrap();
    let arrived = rig.receive(&Held::default(), &shipment).unwrap();
    let last = arrived.held.head.unwrap().0;
    assert!((2..6).contains(&last), "{last}");
    let error = rig.log.shipment(last, 1 << 20, (&rig.key, 9)).unwrap_err();
    assert!(matches!(error, ShipError::Unreadable { sequence, .. } if sequence == last + 1), "{error}");
    assert!(error.to_string().contains("doorward audit verify"));
}

#[test]
fn an_origin_is_bound_to_the_first_record() {
    assert_eq!(
        Held::default().receive(b"", Hash::of(b"k")).unwrap_err(),
        Refusal::Malformed("it doesn't start like one")
    );
}
