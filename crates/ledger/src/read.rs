//! Reads the log as it stood at one moment, segment by segment, without holding up writers.

use std::collections::VecDeque;
use std::io;

use crate::error::{Doing, LogError};
use crate::event::Header;
use crate::frame::{Flaw, Frame};
use crate::hash::Hash;
use crate::log::Log;
use crate::recover;
use crate::segment::{self, CURRENT, Step, Walk};
use crate::storage::{Blob, Storage, read_all};

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The chained part.
    pub header: Header,
    /// The hash the next entry is chained to.
    pub hash: Hash,
    /// JSON; `None` once retention has dropped it.
    pub body: Option<Vec<u8>>,
}

impl Record {
    pub(crate) fn from_frame(frame: &Frame<'_>) -> Self {
        Self { header: frame.header, hash: frame.hash(), body: frame.body.map(<[u8]>::to_vec) }
    }
}

/// Bytes of the log that could not be read, or that do not belong where they stand.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The log itself could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Some bytes are no entry; reading goes on behind them.
    #[error("`{segment}` at byte {offset}: {flaw}")]
    Bad {
        /// The file.
        segment: String,
        /// Where in the file.
        offset: u64,
        /// How many bytes.
        bytes: u64,
        /// Why.
        flaw: Flaw,
    },
}

/// One segment as it stood when the snapshot was taken.
#[derive(Debug)]
pub(crate) struct SegmentFile<F> {
    pub name: String,
    /// The first sequence its name promises; `None` for the current one.
    pub first: Option<u64>,
    /// Open for the current segment only, whose name may move on.
    held: Option<(F, u64)>,
}

/// A file that a part holds already, or that was opened for it.
#[derive(Debug)]
pub(crate) enum Opened<'a, F> {
    Held(&'a F),
    Fresh(F),
}

impl<F> AsRef<F> for Opened<'_, F> {
    fn as_ref(&self) -> &F {
        match self {
            Self::Held(file) => file,
            Self::Fresh(file) => file,
        }
    }
}

impl<F: Blob> SegmentFile<F> {
    /// The file and how much of it counts.
    pub(crate) fn file<S: Storage<File = F>>(&self, storage: &S) -> Result<(Opened<'_, F>, u64), LogError> {
        if let Some((file, size)) = &self.held {
            return Ok((Opened::Held(file), *size));
        }
        let file = storage.view(&self.name).doing("open a segment")?;
        let size = file.size().doing("check a segment")?;
        Ok((Opened::Fresh(file), size))
    }

    /// All bytes of the segment.
    pub(crate) fn load<S: Storage<File = F>>(&self, storage: &S) -> Result<Vec<u8>, LogError> {
        let (file, size) = self.file(storage)?;
        read_all(file.as_ref(), size).doing("read a segment")
    }
}

/// The segments of one moment, oldest first.
pub(crate) fn snapshot<S: Storage>(log: &Log<S>) -> Result<Vec<SegmentFile<S::File>>, LogError> {
    let _guard = log.lock()?;
    let names = log.storage.list().doing("list the log")?;
    let mut firsts: Vec<u64> = names.iter().filter_map(|name| segment::closed_first(name)).collect();
    firsts.sort_unstable();
    let mut parts: Vec<SegmentFile<S::File>> = firsts
        .into_iter()
        .map(|first| SegmentFile { name: segment::closed_name(first), first: Some(first), held: None })
        .collect();
    match log.storage.view(CURRENT) {
        Ok(file) => {
            let size = file.size().doing("check the log")?;
            let size = recover::used_size(&file, size)?;
            parts.push(SegmentFile { name: CURRENT.to_owned(), first: None, held: Some((file, size)) });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).doing("open the log"),
    }
    if parts.is_empty() {
        return Err(LogError::Missing { dir: log.storage.place() });
    }
    Ok(parts)
}

impl<S: Storage> Log<S> {
    /// All entries of this moment, oldest first.
    pub fn records(&self) -> Result<Records<'_, S>, LogError> {
        self.records_from(0)
    }

    /// The entries of this moment from a sequence on.
    pub fn records_from(&self, sequence: u64) -> Result<Records<'_, S>, LogError> {
        let mut parts = VecDeque::from(snapshot(self)?);
        // A segment can be passed over if the one behind it begins no later than what is wanted.
        while parts.get(1).and_then(|part| part.first).is_some_and(|first| first <= sequence) {
            parts.pop_front();
        }
        Ok(Records { log: self, parts, name: String::new(), bytes: Vec::new(), at: 0, from: sequence })
    }

    /// The entries of the segment that is being written, oldest first: the latest ones, without reading the rest.
    pub fn current_records(&self) -> Result<Records<'_, S>, LogError> {
        let mut parts = VecDeque::from(snapshot(self)?);
        parts.drain(..parts.len().saturating_sub(1));
        Ok(Records { log: self, parts, name: String::new(), bytes: Vec::new(), at: 0, from: 0 })
    }

    /// One entry.
    pub fn record(&self, sequence: u64) -> Result<Option<Record>, ReadError> {
        for record in self.records_from(sequence)? {
            match record {
                Ok(record) if record.header.sequence == sequence => return Ok(Some(record)),
                Ok(_) => return Ok(None),
                Err(error @ ReadError::Log(_)) => return Err(error),
                Err(ReadError::Bad { .. }) => {}
            }
        }
        Ok(None)
    }
}

/// Entries in order; bad bytes are reported once and passed over.
#[derive(Debug)]
pub struct Records<'a, S: Storage> {
    log: &'a Log<S>,
    parts: VecDeque<SegmentFile<S::File>>,
    name: String,
    bytes: Vec<u8>,
    at: usize,
    from: u64,
}

impl<S: Storage> Records<'_, S> {
    /// How many segments have not been opened yet.
    #[must_use]
    pub fn segments_left(&self) -> u64 {
        self.parts.len() as u64
    }

    /// The next thing in this segment; `Some(None)` for an entry that is not wanted.
    fn step(&mut self) -> Option<Option<Result<Record, ReadError>>> {
        match Walk::from(&self.bytes, self.at).next()? {
            Step::Entry(at, frame) => {
                self.at = at + frame.size;
                if frame.header.sequence < self.from {
                    return Some(None);
                }
                Some(Some(Ok(Record::from_frame(&frame))))
            }
            Step::Bad(at, bytes, flaw) => {
                self.at = at + bytes;
                let segment = self.name.clone();
                Some(Some(Err(ReadError::Bad { segment, offset: at as u64, bytes: bytes as u64, flaw })))
            }
        }
    }

    fn advance(&mut self) -> Option<Result<(), LogError>> {
        let part = self.parts.pop_front()?;
        self.name.clone_from(&part.name);
        self.at = segment::START;
        match part.load(&self.log.storage) {
            Ok(bytes) => {
                self.bytes = bytes;
                Some(Ok(()))
            }
            Err(error) => {
                self.bytes = Vec::new();
                Some(Err(error))
            }
        }
    }
}

impl<S: Storage> Iterator for Records<'_, S> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step() {
                Some(None) => {}
                Some(item) => return item,
                None => match self.advance()? {
                    Ok(()) => {}
                    Err(error) => return Some(Err(error.into())),
                },
            }
        }
    }
}
