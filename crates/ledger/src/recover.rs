//! Finds the end of the log in a constant number of reads, and mends what a crash left behind.
//!
//! INVARIANT: everything before the last frame is durable, because a writer holds the lock until its frame is synced,
//! and one that finds the last frame unsettled syncs it before adding to it. So a crash can only tear the last frame.

use std::io;

use crate::error::{Doing, LogError};
use crate::event::{Keep, Kind};
use crate::frame::{self, Flaw, Frame, MAGIC, Mark, Place};
use crate::hash::Hash;
use crate::record::GapBody;
use crate::segment::{self, CURRENT, End, NEXT, Opening, START};
use crate::storage::{Blob, Storage, read_all, read_from, write_all};

/// How much room is kept free behind the last frame at most; a sync is a third cheaper where no length changes.
// Several records fit in before the file has to grow again, and little is lost in a segment of 16 MiB.
pub(crate) const ROOM: u64 = 32 << 10;
/// So much is read at a time while the last frame is looked for; room that is free is passed over.
// Reads backwards from the end: two pages usually hold the last frame.
const WINDOW: usize = 8 << 10;
/// So many bytes before the free room say how long the last frame is, and mostly hold all of it.
// One page: the trailer with the frame's length is in it whenever the file was closed properly.
const TELLING: usize = 4 << 10;

/// Where the next entry goes.
#[derive(Debug)]
pub(crate) struct Tail<F> {
    pub file: F,
    pub offset: u64,
    pub next: u64,
    pub hash: Hash,
    /// The length of the file; behind `offset` there are only zeros.
    pub size: u64,
}

impl<F> Tail<F> {
    pub(crate) fn behind(file: F, end: End, size: u64) -> Self {
        Self { file, offset: end.offset as u64, next: end.next, hash: end.hash, size }
    }
}

/// Opens the current segment at its end. The caller holds the lock.
pub(crate) fn tail<S: Storage>(storage: &S, now_ms: u64) -> Result<Tail<S::File>, LogError> {
    let file = match storage.open(CURRENT) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return resume(storage, now_ms),
        Err(error) => return Err(error).doing("open the log"),
    };
    let size = file.size().doing("check the log")?;
    let Some((end, mark)) = peek(&file, size)? else {
        return mend(file, size, now_ms);
    };
    if end.offset == START {
        // Whoever gave the segment its name may have died before that was durable.
        storage.sync().doing("make the directory durable")?;
    }
    match mark {
        Mark::Settled => {}
        Mark::Written => settle(&file, end.offset as u64)?,
    }
    Ok(Tail::behind(file, end, size))
}

/// The last bytes of a file before the room that is kept free, and where they end.
fn used<F: Blob>(file: &F, size: u64) -> Result<(Vec<u8>, u64), LogError> {
    let mut end = size;
    loop {
        let count = usize::try_from(end).unwrap_or(usize::MAX).min(WINDOW);
        let mut bytes = read_last(file, end, count)?;
        let zeros = bytes.len() - trimmed(&bytes);
        end -= zeros as u64;
        let least = size.min(START as u64);
        if end <= least {
            // The checksum of an opening may end in zeros of its own.
            let bytes = read_from(file, 0, START).doing("read the log")?;
            return Ok((bytes, least));
        }
        if zeros < bytes.len() {
            bytes.truncate(bytes.len() - zeros);
            let wanted = usize::try_from(end).unwrap_or(usize::MAX).min(TELLING);
            if bytes.len() < wanted {
                bytes = read_last(file, end, wanted)?;
            }
            return Ok((bytes, end));
        }
    }
}

/// The length without zeros at the end.
fn trimmed(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((shorter, last)) = rest.split_last_chunk::<64>()
        && *last == [0; 64]
    {
        rest = shorter;
    }
    rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// How much of the current segment is in use.
pub(crate) fn used_size<F: Blob>(file: &F, size: u64) -> Result<u64, LogError> {
    used(file, size).map(|(_, end)| end)
}

/// What the last bytes in use say; `None` if they are no frame.
pub(crate) fn peek<F: Blob>(file: &F, size: u64) -> Result<Option<(End, Mark)>, LogError> {
    let (mut bytes, size) = used(file, size)?;
    let length = usize::try_from(size).unwrap_or(usize::MAX);
    if length == START {
        // An opening is synced before it gets its name.
        let opening = Opening::decode(&bytes).ok();
        return Ok(opening.map(|opening| (opening.end(), Mark::Settled)));
    }
    let Some(claimed) = frame::last_size(&bytes).filter(|claimed| claimed + START <= length) else {
        return Ok(None);
    };
    if claimed > bytes.len() {
        bytes = read_last(file, size, claimed)?;
    }
    match Frame::decode_last(&bytes) {
        Ok(frame) => {
            let next = following(frame.header.sequence)?;
            let end = End { offset: length, next, hash: frame.hash() };
            Ok(Some((end, frame.mark)))
        }
        Err(Flaw::Newer(format)) => Err(LogError::Newer { format }),
        Err(Flaw::Short | Flaw::Magic | Flaw::Length | Flaw::Checksum | Flaw::Header | Flaw::Mark) => Ok(None),
    }
}

fn read_last<F: Blob>(file: &F, size: u64, count: usize) -> Result<Vec<u8>, LogError> {
    let bytes = read_from(file, size.saturating_sub(count as u64), count).doing("read the log")?;
    if bytes.len() == count {
        Ok(bytes)
    } else {
        Err(io::Error::from(io::ErrorKind::UnexpectedEof)).doing("read the log")
    }
}

fn following(sequence: u64) -> Result<u64, LogError> {
    sequence.checked_add(1).ok_or(LogError::Damaged { what: "there are no sequence numbers left" })
}

/// Makes the frame that ends at `end` durable, and says so in its mark.
pub(crate) fn settle<F: Blob>(file: &F, end: u64) -> Result<(), LogError> {
    file.sync().doing("make the record durable")?;
    // The mark only saves the next writer a sync, so a failure to set it is no failure.
    let _marked = write_all(file, &[Mark::Settled.code()], end.saturating_sub(1));
    Ok(())
}

/// Replaces what a crash left behind the last readable frame by an event that says how much it was.
fn mend<F: Blob>(file: F, size: u64, now_ms: u64) -> Result<Tail<F>, LogError> {
    let mut bytes = read_all(&file, size).doing("read the log")?;
    bytes.truncate(trimmed(&bytes).max(START));
    if let Some(format) = newer(&bytes) {
        return Err(LogError::Newer { format });
    }
    let end = segment::end(&bytes)
        .ok_or(LogError::Damaged { what: "the current segment has neither a readable start nor a readable entry" })?;
    let lost = bytes.get(end.offset..).unwrap_or_default();
    let begun = lost.windows(MAGIC.len()).filter(|window| *window == MAGIC).count();
    let gap = GapBody {
        reason: "torn".to_owned(),
        after: end.next.saturating_sub(1),
        bytes: Some(lost.len() as u64),
        records_at_most: Some(begun.max(1) as u64),
    };
    let tail = write_gap(Tail::behind(file, end, size), &gap, now_ms)?;
    if tail.offset < size {
        tail.file.truncate(tail.offset).doing("cut off the torn end of the log")?;
    }
    let size = tail.offset;
    Ok(Tail { size, ..tail })
}

/// The format of a later version, if one is met before the end.
fn newer(bytes: &[u8]) -> Option<u8> {
    segment::Walk::new(bytes).find_map(|step| match step {
        segment::Step::Bad(_, _, Flaw::Newer(format)) => Some(format),
        segment::Step::Bad(..) | segment::Step::Entry(..) => None,
    })
}

fn write_gap<F: Blob>(tail: Tail<F>, gap: &GapBody, now_ms: u64) -> Result<Tail<F>, LogError> {
    let body = serde_json::to_vec(gap).map_err(|_| LogError::Body)?;
    let place = Place { sequence: tail.next, previous: tail.hash, time_ms: now_ms };
    let frame = frame::encode(Kind::Gap, Keep::Forever, &body, place).ok_or(LogError::Body)?;
    let offset = tail.offset + frame.bytes.len() as u64;
    write_all(&tail.file, &frame.bytes, tail.offset).doing("record the gap")?;
    settle(&tail.file, offset)?;
    let size = tail.size.max(offset);
    Ok(Tail { file: tail.file, size, offset, next: following(tail.next)?, hash: frame.hash })
}

/// There is no current segment: a rotation was cut short, or somebody took it away.
fn resume<S: Storage>(storage: &S, now_ms: u64) -> Result<Tail<S::File>, LogError> {
    // Whoever closed the last segment may have died before its new name was durable.
    storage.sync().doing("make the directory durable")?;
    let names = storage.list().doing("list the log")?;
    let Some(first) = names.iter().filter_map(|name| segment::closed_first(name)).max() else {
        return Err(LogError::Missing { dir: storage.place() });
    };
    let full = storage.view(&segment::closed_name(first)).doing("open the last full segment")?;
    let size = full.size().doing("check the last full segment")?;
    let bytes = read_all(&full, size).doing("read the last full segment")?;
    let end = segment::end(&bytes).ok_or(LogError::Damaged { what: "the last full segment has no readable entry" })?;
    let opening = Opening { first: end.next, previous: end.hash };
    if prepared(storage, &opening)? {
        promote(storage)?;
        return tail(storage, now_ms);
    }
    prepare(storage, &opening)?;
    let file = promote(storage)?;
    let tail = Tail::behind(file, opening.end(), START as u64);
    let gap = GapBody {
        reason: "segment missing".to_owned(),
        after: end.next.saturating_sub(1),
        bytes: None,
        records_at_most: None,
    };
    write_gap(tail, &gap, now_ms)
}

/// Whether a rotation got as far as preparing this segment.
fn prepared<S: Storage>(storage: &S, opening: &Opening) -> Result<bool, LogError> {
    let file = match storage.view(NEXT) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error).doing("open the next segment"),
    };
    let bytes = read_from(&file, 0, START).doing("read the next segment")?;
    Ok(Opening::decode(&bytes) == Ok(*opening))
}

/// Writes the next segment's opening under its waiting name.
pub(crate) fn prepare<S: Storage>(storage: &S, opening: &Opening) -> Result<(), LogError> {
    let file = match storage.create(NEXT) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            storage.remove(NEXT).doing("remove an unfinished segment")?;
            storage.create(NEXT)
        }
        other => other,
    };
    let file = file.doing("create a segment")?;
    write_all(&file, &opening.encode(), 0).doing("write a segment")?;
    file.sync().doing("make a segment durable")?;
    storage.sync().doing("make the directory durable")
}

/// Lets the waiting segment be the current one.
pub(crate) fn promote<S: Storage>(storage: &S) -> Result<S::File, LogError> {
    storage.rename(NEXT, CURRENT).doing("rename a segment")?;
    storage.sync().doing("make the directory durable")?;
    storage.open(CURRENT).doing("open the log")
}
