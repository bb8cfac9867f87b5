//! Streams recorded decisions through several threads, with only a few batches in memory.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Result, anyhow};
use doorward_engine::Facts;
use doorward_ledger::{DecisionBody, Kind, Log, Progress, ReadError, Record};

use crate::memory::decisions;

/// Entries per batch.
// Large enough that handing over costs nothing, small enough that the last thread does not finish alone.
const BATCH: usize = 128;

/// Maximum number of waiting batches.
// Bounds memory where reading is faster than judging.
const AHEAD: usize = 8;

/// More threads than this would only wait for the disk.
const THREADS: usize = 4;

/// A recorded decision, reassembled with its facts.
#[derive(Debug)]
pub(crate) struct RecordedDecision {
    pub sequence: u64,
    pub time_ms: u64,
    pub body: DecisionBody,
    pub facts: Facts,
}

/// Counts of what was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadCounts {
    /// Decisions with facts that can be judged.
    pub decisions: u64,
    /// Decisions whose body was dropped by retention.
    pub dropped: u64,
    /// Decisions without facts, or with facts in an unknown format.
    pub unreadable: u64,
    /// Parts of the log that are not entries.
    pub bad: u64,
}

/// Entries of one batch, numbered so that results come back in order.
struct Batch<T> {
    number: u64,
    items: Vec<T>,
    progress: Progress,
}

/// Processes every decision since a point in time, oldest first: `work` on several threads, `fold` in log order.
pub(crate) fn each<R: Send>(
    log: &Log,
    since_ms: u64,
    work: impl Fn(RecordedDecision) -> R + Sync,
    mut fold: impl FnMut(R),
    mut progress: impl FnMut(Progress),
) -> Result<ReadCounts> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let (to_work, waiting) = sync_channel::<Batch<Record>>(AHEAD);
    let (to_fold, done) = sync_channel::<Batch<Option<R>>>(AHEAD);
    let waiting = Mutex::new(waiting);
    let (waiting, work) = (&waiting, &work);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || read(log, since_ms, &to_work));
        for _ in 0..threads {
            let to_fold = to_fold.clone();
            scope.spawn(move || work_off(waiting, &to_fold, work));
        }
        drop(to_fold);
        let mut judged = ReadCounts::default();
        in_order(&done, |batch| {
            for result in batch.items {
                match result {
                    Some(result) => {
                        judged.decisions += 1;
                        fold(result);
                    }
                    None => judged.unreadable += 1,
                }
            }
            progress(batch.progress);
        });
        let read = reader.join().map_err(|_| anyhow!("internal error while reading the record"))??;
        Ok(ReadCounts { dropped: read.dropped, bad: read.bad, ..judged })
    })
}

/// Every entry that is not a decision, oldest first: outcomes, answers, policy changes.
pub(crate) fn others(log: &Log, since_ms: u64, mut each: impl FnMut(&Record)) -> Result<()> {
    for record in log.records()? {
        match record {
            Ok(record) if record.header.kind != Kind::Decision && record.header.time_ms >= since_ms => each(&record),
            Ok(_) | Err(ReadError::Bad { .. }) => {}
            Err(ReadError::Log(error)) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Reads the log and hands out batches; stops early once the receivers are gone.
fn read(log: &Log, since_ms: u64, to_work: &SyncSender<Batch<Record>>) -> Result<ReadCounts> {
    let mut records = log.records()?;
    let of = records.segments_left();
    let mut passed = ReadCounts::default();
    let (mut items, mut number, mut count) = (Vec::with_capacity(BATCH), 0, 0);
    loop {
        let next = records.next();
        let is_end = next.is_none();
        match next {
            Some(Ok(record)) => {
                count += 1;
                let is_wanted = record.header.kind == Kind::Decision && record.header.time_ms >= since_ms;
                match record.body {
                    Some(_) if is_wanted => items.push(record),
                    None if is_wanted => passed.dropped += 1,
                    Some(_) | None => {}
                }
            }
            Some(Err(ReadError::Bad { .. })) => passed.bad += 1,
            Some(Err(ReadError::Log(error))) => return Err(error.into()),
            None => {}
        }
        if items.len() == BATCH || is_end {
            let segments = if is_end { of } else { of.saturating_sub(records.segments_left() + 1) };
            let progress = Progress { segments, of, records: count };
            let batch = Batch { number, items: std::mem::take(&mut items), progress };
            number += 1;
            if to_work.send(batch).is_err() || is_end {
                return Ok(passed);
            }
        }
    }
}

fn work_off<R>(
    waiting: &Mutex<Receiver<Batch<Record>>>,
    to_fold: &SyncSender<Batch<Option<R>>>,
    work: &impl Fn(RecordedDecision) -> R,
) {
    loop {
        let taken = waiting.lock().map(|waiting| waiting.recv());
        let Ok(Ok(Batch { number, items, progress })) = taken else { return };
        let items = items.iter().map(|record| past(record).map(work)).collect();
        if to_fold.send(Batch { number, items, progress }).is_err() {
            return;
        }
    }
}

/// The decision and its facts; `None` if it can't be judged again.
fn past(record: &Record) -> Option<RecordedDecision> {
    let body: DecisionBody = serde_json::from_slice(record.body.as_deref()?).ok()?;
    let facts = decisions::facts(&body)?;
    Some(RecordedDecision { sequence: record.header.sequence, time_ms: record.header.time_ms, body, facts })
}

/// Batches in the order of their numbers, whichever is done first.
fn in_order<T>(done: &Receiver<Batch<T>>, mut each: impl FnMut(Batch<T>)) {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for batch in done {
        early.insert(batch.number, batch);
        while let Some(batch) = early.remove(&next) {
            each(batch);
            next += 1;
        }
    }
}
