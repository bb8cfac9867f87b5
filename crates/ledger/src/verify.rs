//! Proves that the log is what it was, or names the first record that is not.

use std::collections::BTreeMap;

use crate::checkpoint::{Checkpoint, Leaf, root};
use crate::error::LogError;
use crate::event::{Keep, Kind};
use crate::finding::{Fault, Finding};
use crate::frame::{Flaw, Frame};
use crate::hash::Hash;
use crate::log::Log;
use crate::read::{SegmentFile, snapshot};
use crate::record::{DeviceBody, GapBody, TombstoneBody};
use crate::report::{Anchors, Progress, Report};
use crate::segment::{Opening, START, Step, Walk};
use crate::storage::Storage;

/// No report lists more findings; the count goes on.
// One damaged page spoils many records in a row; the first findings show where.
const LISTED: usize = 100;

impl<S: Storage> Log<S> {
    /// Reads the whole log as it stands and compares it with itself and with what was kept.
    pub fn verify(&self, anchors: Anchors<'_>, mut progress: impl FnMut(Progress)) -> Result<Report, LogError> {
        let parts = snapshot(self)?;
        let mut run = Run::new(anchors);
        let of = parts.len() as u64;
        for (segments, part) in (1..).zip(&parts) {
            let bytes = part.load(&self.storage)?;
            run.segment(part, &bytes, segments == of);
            progress(Progress { segments, of, records: run.report.records });
        }
        Ok(run.finish())
    }
}

/// What is known so far.
struct Run<'a> {
    anchors: BTreeMap<u64, Vec<&'a Checkpoint>>,
    report: Report,
    /// Sequence and previous hash of the next entry; the hash is unknown behind unreadable bytes.
    expected: (u64, Option<Hash>),
    origin: Option<Hash>,
    leaves: Vec<Leaf>,
    bare: Vec<(u64, u64)>,
    tombstones: Vec<(u64, u64)>,
    name: String,
}

impl<'a> Run<'a> {
    fn new(anchors: Anchors<'a>) -> Self {
        let mut run = Self {
            anchors: BTreeMap::new(),
            report: Report::default(),
            expected: (1, None),
            origin: None,
            leaves: Vec::new(),
            bare: Vec::new(),
            tombstones: Vec::new(),
            name: "checkpoint".to_owned(),
        };
        for checkpoint in anchors.checkpoints {
            run.admit(checkpoint, anchors.key);
        }
        run
    }

    /// A statement counts if it is signed by the key that should have signed it.
    fn admit(&mut self, checkpoint: &'a Checkpoint, key: Option<Hash>) {
        if !checkpoint.is_signed() {
            return self.find(checkpoint.sequence, 0, Fault::Signature);
        }
        if let Some(key) = key.filter(|key| *key != checkpoint.key) {
            self.find(checkpoint.sequence, 0, Fault::Key { expected: key, found: checkpoint.key });
        }
        self.anchors.entry(checkpoint.sequence).or_default().push(checkpoint);
    }

    fn find(&mut self, sequence: u64, offset: usize, fault: Fault) {
        self.report.found += 1;
        if self.report.findings.len() < LISTED {
            let segment = self.name.clone();
            self.report.findings.push(Finding { sequence, segment, offset: offset as u64, fault });
        }
    }

    fn segment<F>(&mut self, part: &SegmentFile<F>, bytes: &[u8], is_last: bool) {
        self.name.clone_from(&part.name);
        let first = self.opening(part.first, bytes);
        for step in Walk::new(bytes) {
            match step {
                Step::Entry(at, frame) => self.entry(at, &frame, first),
                Step::Bad(at, length, flaw) => self.bad(at, length, flaw, is_last && at + length == bytes.len()),
            }
        }
        if let Some((last, hash)) = self.report.head.filter(|(last, _)| *last >= first) {
            self.leaves.push(Leaf { first, last, hash });
        }
    }

    /// Compares the opening with the name and with the segment before; returns the first sequence.
    fn opening(&mut self, named: Option<u64>, bytes: &[u8]) -> u64 {
        let (sequence, hash) = self.expected;
        let Opening { first, previous } = match Opening::decode(bytes) {
            Ok(opening) => opening,
            Err(flaw) => {
                self.find(sequence, 0, Fault::Opening(flaw));
                return sequence;
            }
        };
        let exact = hash.is_some() || self.origin.is_none();
        self.origin.get_or_insert(previous);
        let follows = if exact { first == sequence } else { first >= sequence };
        if !follows || named.is_some_and(|named| named != first) {
            self.find(sequence, 0, Fault::Segment { expected: sequence, found: first });
        } else if hash.is_some_and(|hash| hash != previous) {
            self.find(sequence, 0, Fault::Chain);
        }
        self.expected = (first, Some(previous));
        first
    }

    fn entry(&mut self, at: usize, frame: &Frame<'_>, first: u64) {
        let header = frame.header;
        let sequence = header.sequence;
        let (wanted, previous) = self.expected;
        let follows = if previous.is_some() { sequence == wanted } else { sequence >= wanted };
        if !follows {
            self.find(wanted, at, Fault::Sequence { expected: wanted, found: sequence });
        }
        if previous.is_some_and(|previous| previous != header.previous) {
            self.find(sequence, at, Fault::Chain);
        }
        if !frame.body_holds() {
            self.find(sequence, at, Fault::Body);
        }
        let hash = frame.hash();
        self.report.records += 1;
        self.report.head = Some((sequence, hash));
        self.expected = (sequence.saturating_add(1), Some(hash));
        match frame.body {
            Some(body) => self.content(at, sequence, header.kind, body),
            None => self.bare(at, sequence, header.keep),
        }
        self.compare(at, Leaf { first, last: sequence, hash });
    }

    /// Notes what gaps and tombstones say.
    fn content(&mut self, at: usize, sequence: u64, kind: Kind, body: &[u8]) {
        match kind {
            Kind::Gap => match serde_json::from_slice::<GapBody>(body) {
                Ok(gap) => {
                    // One torn record was never acknowledged; more cannot come from a crash.
                    if gap.records_at_most.is_none_or(|most| most > 1) {
                        self.find(sequence, at, Fault::Lost { after: gap.after, at_most: gap.records_at_most });
                    }
                    self.report.gaps.push((sequence, gap));
                }
                Err(_) => self.find(sequence, at, Fault::Body),
            },
            Kind::Tombstone => match serde_json::from_slice::<TombstoneBody>(body) {
                Ok(tombstone) => {
                    let earlier = tombstone.dropped.into_iter().filter(|(_, to)| *to < sequence);
                    self.tombstones.extend(earlier);
                }
                Err(_) => self.find(sequence, at, Fault::Body),
            },
            Kind::Device => match serde_json::from_slice::<DeviceBody>(body) {
                Ok(device) => self.report.devices.push((sequence, device)),
                Err(_) => self.find(sequence, at, Fault::Body),
            },
            Kind::Decision
            | Kind::Answer
            | Kind::Outcome
            | Kind::Grant
            | Kind::Policy
            | Kind::Mode
            | Kind::Alert
            | Kind::Checkpoint
            | Kind::Session => {}
        }
    }

    /// Notes an entry without a body; the tombstone for it comes later in the log.
    fn bare(&mut self, at: usize, sequence: u64, keep: Keep) {
        self.report.dropped += 1;
        match keep {
            Keep::Forever => self.find(sequence, at, Fault::Kept),
            Keep::Days => match self.bare.last_mut().filter(|(_, to)| to.checked_add(1) == Some(sequence)) {
                Some((_, to)) => *to = sequence,
                None => self.bare.push((sequence, sequence)),
            },
        }
    }

    fn bad(&mut self, at: usize, length: usize, flaw: Flaw, is_end: bool) {
        let (sequence, _) = self.expected;
        let fault = if is_end { Fault::Torn { bytes: length as u64, flaw } } else { Fault::Unreadable(flaw) };
        self.find(sequence, at, fault);
        // The entry behind it will tell its own sequence; nobody can say what it should be chained to.
        self.expected = (sequence, None);
    }

    fn compare(&mut self, at: usize, leaf: Leaf) {
        let Some(checkpoints) = self.anchors.remove(&leaf.last) else {
            return;
        };
        self.leaves.push(leaf);
        let (found_root, segments) = (root(&self.leaves), self.leaves.len() as u64);
        self.leaves.pop();
        for checkpoint in checkpoints {
            if Some(checkpoint.origin) != self.origin {
                self.find(leaf.last, at, Fault::Origin);
            } else if checkpoint.head != leaf.hash {
                self.find(leaf.last, at, Fault::Head);
            } else if (checkpoint.root, checkpoint.segments) != (found_root, segments) {
                self.find(leaf.last, at, Fault::Root);
            } else {
                self.report.anchored = Some(leaf.last);
            }
        }
    }

    fn finish(mut self) -> Report {
        let last = self.report.head.map_or(0, |(sequence, _)| sequence);
        self.name = "end".to_owned();
        for (sequence, _) in std::mem::take(&mut self.anchors) {
            let fault = if sequence > last { Fault::Truncated { last } } else { Fault::Absent };
            self.find(sequence, START, fault);
        }
        let tombstones = merged(std::mem::take(&mut self.tombstones));
        for (from, to) in std::mem::take(&mut self.bare) {
            let covered = tombstones.iter().any(|(start, end)| *start <= from && to <= *end);
            if !covered {
                self.find(from, START, Fault::Dropped { to });
            }
        }
        self.report
    }
}

/// Ranges sorted, with neighbours joined.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (from, to) in ranges {
        match out.last_mut().filter(|(_, end)| from <= end.saturating_add(1)) {
            Some((_, end)) => *end = (*end).max(to),
            None => out.push((from, to)),
        }
    }
    out
}
