//! A stretch of the log on its way to another machine, with the signed statement that vouches for it.
//!
//! `magic 8 · length 4 · checkpoint · ( opening of a segment 64 · length 4 · frames )…`, little-endian. The statement covers the
//! log up to the last record of the stretch, so a receiver that holds everything before it can prove all of it.

use serde::{Deserialize, Serialize};

use crate::checkpoint::{Checkpoint, Leaf, root};
use crate::error::LogError;
use crate::event::{Keep, take};
use crate::frame::{Flaw, Frame, Mark};
use crate::hash::Hash;
use crate::key::CheckpointKey;
use crate::log::Log;
use crate::read::{Record, snapshot};
use crate::segment::{Opening, START, Step, Walk};
use crate::storage::Storage;

/// About so many bytes of records travel together.
// Large enough that signatures and round trips do not count, small enough to be sent again without regret.
pub const SHIPMENT_BYTES: usize = 2 << 20;
/// No shipment is longer: one record may be as long as a body can be.
pub const LONGEST_SHIPMENT: usize = SHIPMENT_BYTES + crate::MAX_BODY + (64 << 10);

const MAGIC: [u8; 8] = *b"dwship1\n";

/// A stretch of the log, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shipment {
    /// Its first record.
    pub first: u64,
    /// Its last record.
    pub last: u64,
    /// What is sent.
    pub bytes: Vec<u8>,
}

/// Why a stretch of the log can't be sent.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    /// The log itself could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Bytes in the middle of the log are no record: what is behind them can't be proven.
    #[error("record {sequence} of the log can't be read: {flaw}; `doorward audit verify` shows the damage")]
    Unreadable {
        /// The record that should be there.
        sequence: u64,
        /// Why.
        flaw: Flaw,
    },
    /// The records do not follow each other.
    #[error("record {sequence} does not continue the one before it; `doorward audit verify` shows the damage")]
    Broken {
        /// The record.
        sequence: u64,
    },
}

impl<S: Storage> Log<S> {
    /// The next stretch behind a sequence, about `most` bytes of it; `None` if there is nothing more.
    pub fn shipment(
        &self,
        after: u64,
        most: usize,
        (key, now_ms): (&CheckpointKey, u64),
    ) -> Result<Option<Shipment>, ShipError> {
        let parts = snapshot(self)?;
        let mut gathered = Gathered::new(after, most);
        let (mut leaves, mut origin) = (Vec::new(), None);
        for (number, part) in parts.iter().enumerate() {
            let (opening, leaf) = self.leaf(part)?;
            origin.get_or_insert(opening.previous);
            let Some(leaf) = leaf else { continue };
            if leaf.last <= after {
                leaves.push(leaf);
                continue;
            }
            let is_current = number + 1 == parts.len();
            let Some(leaf) = gathered.segment(opening, &part.load(&self.storage)?, is_current)? else { break };
            leaves.push(leaf);
            if gathered.is_full() {
                break;
            }
        }
        let (Some(origin), Some((last, head))) = (origin, gathered.last) else { return Ok(None) };
        let checkpoint = Checkpoint::over((origin, &leaves), (last, head), key, now_ms);
        Ok(Some(Shipment { first: after + 1, last, bytes: gathered.sealed(&checkpoint) }))
    }
}

/// What was put together so far.
struct Gathered {
    after: u64,
    left: usize,
    parts: Vec<u8>,
    last: Option<(u64, Hash)>,
    is_full: bool,
}

impl Gathered {
    const fn new(after: u64, most: usize) -> Self {
        Self { after, left: most, parts: Vec::new(), last: None, is_full: false }
    }

    const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes what is wanted of one segment; the segment as far as it was taken, or `None` if nothing was.
    fn segment(&mut self, opening: Opening, bytes: &[u8], is_current: bool) -> Result<Option<Leaf>, ShipError> {
        let mut expected = (opening.first, opening.previous);
        let (mut from, mut to) = (None, START);
        let mut damage = None;
        for step in Walk::new(bytes) {
            let (at, frame) = match step {
                Step::Entry(at, frame) => (at, frame),
                Step::Bad(_, _, flaw) => {
                    // What stands before the damage is sent first.
                    self.is_full = true;
                    damage = Some(ShipError::Unreadable { sequence: expected.0, flaw });
                    break;
                }
            };
            // A writer that died may have left a last record that is not durable; sent now and lost with the power, it would
            // look like a second history later.
            if is_current && frame.mark == Mark::Written && at + frame.size == bytes.len() {
                break;
            }
            if (frame.header.sequence, frame.header.previous) != expected {
                return Err(ShipError::Broken { sequence: expected.0 });
            }
            if frame.header.sequence > self.after {
                if self.left == 0 {
                    self.is_full = true;
                    break;
                }
                self.left = self.left.saturating_sub(frame.size);
                from.get_or_insert(at);
                to = at + frame.size;
                self.last = Some((frame.header.sequence, frame.hash()));
            }
            expected = (frame.header.sequence.saturating_add(1), frame.hash());
        }
        match (from, damage) {
            (Some(from), _) => Ok(self.add(opening, bytes.get(from..to).unwrap_or_default())),
            (None, Some(damage)) if self.last.is_none() => Err(damage),
            (None, _) => Ok(None),
        }
    }

    /// Adds a run of frames of one segment.
    fn add(&mut self, opening: Opening, frames: &[u8]) -> Option<Leaf> {
        self.parts.extend(opening.encode());
        self.parts.extend(u32::try_from(frames.len()).ok()?.to_le_bytes());
        self.parts.extend(frames);
        let (last, hash) = self.last?;
        Some(Leaf { first: opening.first, last, hash })
    }

    fn sealed(self, checkpoint: &Checkpoint) -> Vec<u8> {
        let line = checkpoint.to_line();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(u32::try_from(line.len()).unwrap_or_default().to_le_bytes());
        bytes.extend(line.as_bytes());
        bytes.extend(self.parts);
        bytes
    }
}

/// What a receiver holds of one log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    /// The random hash the log begins with; `None` before the first record.
    pub origin: Option<Hash>,
    /// The last record and its hash.
    pub head: Option<(u64, Hash)>,
    /// The segments so far.
    pub leaves: Vec<Leaf>,
}

/// Why a shipment is refused. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The bytes are no shipment.
    #[error("the shipment is malformed: {0}")]
    Malformed(&'static str),
    /// A record in it can't be read.
    #[error("a record of the shipment can't be read where record {sequence} should be: {flaw}")]
    Unreadable {
        /// The record that should be there.
        sequence: u64,
        /// Why.
        flaw: Flaw,
    },
    /// The statement was not signed by the key it names.
    #[error("the checkpoint of the shipment isn't signed by the key it names")]
    Signature,
    /// The statement was signed by another key than the one that was enrolled.
    #[error("the checkpoint of the shipment is signed by another key than this edge enrolled with")]
    Key,
    /// The statement is about something else than the records.
    #[error("the checkpoint doesn't match the records of the shipment: {0}")]
    Checkpoint(&'static str),
    /// Records before it have not arrived.
    #[error("record {expected} comes next, but the shipment starts with record {found}")]
    Ahead {
        /// What comes next.
        expected: u64,
        /// What arrived.
        found: u64,
    },
    /// A record does not continue the one before it.
    #[error("record {sequence} of the shipment doesn't continue the record before it")]
    Chain {
        /// The record.
        sequence: u64,
    },
    /// A body is not the one its header was made for.
    #[error("the content of record {sequence} was changed")]
    Body {
        /// The record.
        sequence: u64,
    },
    /// A body that must be kept for good is missing.
    #[error("record {sequence} must be kept for good, but its content is missing")]
    Missing {
        /// The record.
        sequence: u64,
    },
    /// Two histories: another record is held under the same sequence.
    #[error("two histories: another record {sequence} was received from this edge before")]
    Fork {
        /// The first record that is known to differ.
        sequence: u64,
    },
}

impl Refusal {
    /// Whether the edge has, or had, a second history.
    #[must_use]
    pub const fn is_fork(&self) -> bool {
        matches!(self, Self::Fork { .. })
    }
}

/// What a shipment brings.
#[derive(Debug)]
pub struct Arrived {
    /// Records that are not held yet, in order.
    pub records: Vec<Record>,
    /// What is held once they are stored.
    pub held: Held,
    /// The statement that covers them.
    pub checkpoint: Checkpoint,
    /// Everything in it is held already if the record with this sequence has this hash.
    pub repeats: Option<(u64, Hash)>,
}

impl Held {
    /// Proves a shipment: statement, chain, contents, and that it continues what is held. `key` names the enrolled key.
    pub fn receive(&self, bytes: &[u8], key: Hash) -> Result<Arrived, Refusal> {
        let mut rest = bytes;
        if take::<8>(&mut rest) != Some(MAGIC) {
            return Err(Refusal::Malformed("it doesn't start like one"));
        }
        let line = counted(&mut rest).ok_or(Refusal::Malformed("its checkpoint is cut off"))?;
        let checkpoint: Checkpoint =
            serde_json::from_slice(line).map_err(|_| Refusal::Malformed("its checkpoint can't be read"))?;
        if checkpoint.key != key {
            return Err(Refusal::Key);
        }
        if !checkpoint.is_signed() {
            return Err(Refusal::Signature);
        }
        let mut receipt = Reading::new(self);
        while !rest.is_empty() {
            let opening = rest.get(..START).and_then(|bytes| Opening::decode(bytes).ok());
            let opening = opening.ok_or(Refusal::Malformed("a segment's opening can't be read"))?;
            rest = rest.get(START..).unwrap_or_default();
            let frames = counted(&mut rest).ok_or(Refusal::Malformed("a segment is cut off"))?;
            receipt.segment(opening, frames)?;
        }
        receipt.finish(checkpoint)
    }
}

/// A length and as many bytes.
fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(u32::from_le_bytes(take(rest)?)).ok()?;
    let (bytes, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(bytes)
}

/// A shipment that is being read.
struct Reading<'a> {
    known: &'a Held,
    origin: Option<Hash>,
    leaves: Vec<Leaf>,
    /// Sequence and previous hash of the next record, once the first one told its own.
    expected: Option<(u64, Hash)>,
    records: Vec<Record>,
    last: Option<(u64, Hash)>,
}

impl<'a> Reading<'a> {
    const fn new(known: &'a Held) -> Self {
        Self { known, origin: known.origin, leaves: Vec::new(), expected: None, records: Vec::new(), last: None }
    }

    fn next(&self) -> u64 {
        self.known.head.map_or(1, |(sequence, _)| sequence.saturating_add(1))
    }

    fn segment(&mut self, opening: Opening, mut frames: &[u8]) -> Result<(), Refusal> {
        let is_first = self.last.is_none();
        if is_first {
            self.enter(opening)?;
        } else if self.expected != Some((opening.first, opening.previous)) {
            return Err(Refusal::Chain { sequence: opening.first });
        }
        if frames.is_empty() {
            return Err(Refusal::Malformed("a segment without records"));
        }
        while !frames.is_empty() {
            let wanted = self.expected.map_or_else(|| self.next(), |(sequence, _)| sequence);
            let frame = Frame::decode(frames).map_err(|flaw| Refusal::Unreadable { sequence: wanted, flaw })?;
            self.record(&frame)?;
            frames = frames.get(frame.size..).unwrap_or_default();
        }
        let (last, hash) = self.last.ok_or(Refusal::Malformed("a segment without records"))?;
        self.leaves.push(Leaf { first: opening.first, last, hash });
        Ok(())
    }

    /// Finds the place of the first segment among those that are held.
    fn enter(&mut self, opening: Opening) -> Result<(), Refusal> {
        if opening.first == 1 && *self.origin.get_or_insert(opening.previous) != opening.previous {
            return Err(Refusal::Fork { sequence: 1 });
        }
        let before = self.known.leaves.iter().take_while(|leaf| leaf.first < opening.first);
        self.leaves = before.copied().collect();
        let ends = self.leaves.last().map_or((0, self.origin), |leaf| (leaf.last, Some(leaf.hash)));
        if ends.0.saturating_add(1) < opening.first {
            return Err(Refusal::Ahead { expected: self.next(), found: opening.first });
        }
        if ends != (opening.first.saturating_sub(1), Some(opening.previous)) {
            return Err(Refusal::Fork { sequence: opening.first.saturating_sub(1).max(1) });
        }
        Ok(())
    }

    fn record(&mut self, frame: &Frame<'_>) -> Result<(), Refusal> {
        let (header, hash) = (frame.header, frame.hash());
        let sequence = header.sequence;
        match self.expected {
            Some(expected) if expected != (sequence, header.previous) => return Err(Refusal::Chain { sequence }),
            Some(_) => {}
            None => self.start(sequence, header.previous)?,
        }
        if !frame.body_holds() {
            return Err(Refusal::Body { sequence });
        }
        if frame.body.is_none() && header.keep == Keep::Forever {
            return Err(Refusal::Missing { sequence });
        }
        match self.known.head {
            Some((head, known)) if sequence == head && known != hash => return Err(Refusal::Fork { sequence }),
            Some((head, _)) if sequence <= head => {}
            Some(_) | None => self.records.push(Record::from_frame(frame)),
        }
        self.expected = Some((sequence.checked_add(1).ok_or(Refusal::Chain { sequence })?, hash));
        self.last = Some((sequence, hash));
        Ok(())
    }

    /// The first record continues what is held, or repeats it.
    fn start(&self, sequence: u64, previous: Hash) -> Result<(), Refusal> {
        let next = self.next();
        if sequence > next {
            return Err(Refusal::Ahead { expected: next, found: sequence });
        }
        let held = self.known.head.map(|(_, hash)| hash).or(self.origin);
        if sequence == next && held != Some(previous) {
            return Err(Refusal::Fork { sequence: next.saturating_sub(1).max(1) });
        }
        Ok(())
    }

    fn finish(self, checkpoint: Checkpoint) -> Result<Arrived, Refusal> {
        let wrong = Refusal::Checkpoint;
        let (last, hash) = self.last.ok_or(Refusal::Malformed("it has no records"))?;
        if (checkpoint.sequence, checkpoint.head) != (last, hash) {
            return Err(wrong("it covers another record than the last one"));
        }
        if self.origin != Some(checkpoint.origin) {
            return Err(wrong("it is about a log with another origin"));
        }
        if (checkpoint.segments, checkpoint.root) != (self.leaves.len() as u64, root(&self.leaves)) {
            return Err(wrong("its root is another one"));
        }
        let repeats = self.records.is_empty().then_some((last, hash));
        let held = match repeats {
            Some(_) => self.known.clone(),
            None => Held { origin: self.origin, head: Some((last, hash)), leaves: self.leaves },
        };
        Ok(Arrived { records: self.records, held, checkpoint, repeats })
    }
}
