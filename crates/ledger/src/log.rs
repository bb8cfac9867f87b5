//! The append-only log: an entry is acknowledged once it is on the disk, and not before.

use std::io;
use std::path::Path;

use crate::error::{Doing, LogError};
use crate::event::{Keep, Kind};
use crate::frame::{self, Place};
use crate::hash::Hash;
use crate::record::Body;
use crate::recover::{self, ROOM, Tail};
use crate::segment::{self, CURRENT, Opening, START};
use crate::storage::{Blob, Disk, Storage, read_from, write_all};

/// A segment longer than this is closed before the next entry.
// Small enough to rewrite for retention and to verify while somebody waits.
pub const SEGMENT_BYTES: u64 = 16 << 20;

/// Proof that an entry is durable. Only a log makes one:
///
/// ```compile_fail,E0639
/// let forged = doorward_ledger::Receipt { sequence: 1, hash: doorward_ledger::Hash::of(b"x") };
/// ```
///
/// and it is used once:
///
/// ```compile_fail,E0382
/// fn twice(receipt: doorward_ledger::Receipt) -> [doorward_ledger::Receipt; 2] {
///     [receipt, receipt]
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "only a receipt allows an approval"]
#[non_exhaustive]
pub struct Receipt {
    /// Its place in the log.
    pub sequence: u64,
    /// The hash the next entry is chained to.
    pub hash: Hash,
}

/// A log that can be appended to and read. Several processes may hold the same one.
#[derive(Debug)]
pub struct Log<S = Disk> {
    pub(crate) storage: S,
    segment_bytes: u64,
}

impl Log {
    /// Opens an existing log's directory. Never begins a new history: a log that went away is an error.
    pub fn open(dir: &Path) -> Result<Self, LogError> {
        Ok(Self::on(Disk::open(dir)?))
    }

    /// Begins a log where there is none, and opens it. Belongs to setup, not to the hook.
    pub fn create(dir: &Path) -> Result<Self, LogError> {
        let log = Self::on(Disk::create(dir)?);
        log.begin()?;
        Ok(log)
    }
}

impl<S: Storage> Log<S> {
    /// A log over any storage.
    pub const fn on(storage: S) -> Self {
        Self { storage, segment_bytes: SEGMENT_BYTES }
    }

    /// Closes segments at another size.
    #[must_use]
    pub fn with_segment_bytes(self, segment_bytes: u64) -> Self {
        Self { segment_bytes, ..self }
    }

    /// Begins the history, unless there is one.
    pub fn begin(&self) -> Result<(), LogError> {
        let _guard = self.lock()?;
        let names = self.storage.list().doing("list the log")?;
        if names.iter().any(|name| name == CURRENT || segment::closed_first(name).is_some()) {
            return Ok(());
        }
        let mut origin = [0; 32];
        getrandom::fill(&mut origin).map_err(io::Error::from).doing("get random bytes")?;
        let opening = Opening { first: 1, previous: Hash::from(origin) };
        recover::prepare(&self.storage, &opening)?;
        recover::promote(&self.storage)?;
        Ok(())
    }

    /// Appends an entry and returns once it is durable.
    pub fn append<B: Body>(&mut self, body: &B, now_ms: u64) -> Result<Receipt, LogError> {
        let json = serde_json::to_vec(body).map_err(|_| LogError::Body)?;
        self.append_json(B::KIND, body.keep(), json, now_ms)
    }

    /// Appends JSON that is already written.
    pub fn append_json(&mut self, kind: Kind, keep: Keep, mut json: Vec<u8>, now_ms: u64) -> Result<Receipt, LogError> {
        // In valid JSON a control character is white space between tokens; a body without any can hold no frame.
        json.iter_mut().filter(|byte| **byte < b' ').for_each(|byte| *byte = b' ');
        let _guard = self.lock()?;
        let mut tail = recover::tail(&self.storage, now_ms)?;
        if tail.offset >= self.segment_bytes && tail.offset > START as u64 {
            tail = self.rotate(tail)?;
        }
        let place = Place { sequence: tail.next, previous: tail.hash, time_ms: now_ms };
        let frame = frame::encode(kind, keep, &json, place).ok_or(LogError::Body)?;
        let end = tail.offset + frame.bytes.len() as u64;
        self.make_room(&tail, end);
        let written = write_all(&tail.file, &frame.bytes, tail.offset)
            .doing("write the record")
            .and_then(|()| recover::settle(&tail.file, end));
        if let Err(error) = written {
            // What is not acknowledged should not stay; if it does, it is only a record too many.
            let _withdrawn = tail.file.truncate(tail.offset);
            return Err(error);
        }
        Ok(Receipt { sequence: tail.next, hash: frame.hash })
    }

    /// Keeps room free behind the record. A disk that cannot do that, or is full, is told by the write itself.
    fn make_room(&self, tail: &Tail<S::File>, end: u64) {
        if end > tail.size {
            let room = ROOM.min(self.segment_bytes).max(1);
            let _reserved = tail.file.reserve(tail.size, end.next_multiple_of(room));
        }
    }

    pub(crate) fn lock(&self) -> Result<S::Guard<'_>, LogError> {
        self.storage.lock().map_err(|source| {
            if source.kind() == io::ErrorKind::WouldBlock {
                LogError::Busy
            } else {
                LogError::Io { doing: "lock the log", source }
            }
        })
    }

    /// Closes the current segment. Each step is durable before the next, so a crash leaves either segment complete.
    fn rotate(&self, tail: Tail<S::File>) -> Result<Tail<S::File>, LogError> {
        let bytes = read_from(&tail.file, 0, START).doing("read the log")?;
        let full = Opening::decode(&bytes)
            .map_err(|_| LogError::Damaged { what: "the start of the current segment can't be read" })?;
        let name = segment::closed_name(full.first);
        match self.storage.view(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).doing("look for a full segment"),
            Ok(_) => {
                return Err(LogError::Damaged { what: "two segments start with the same entry" });
            }
        }
        let opening = Opening { first: tail.next, previous: tail.hash };
        // No room behind the last frame, and no end that was cut off without a sync: it is never mended again.
        tail.file.truncate(tail.offset).doing("close a segment")?;
        tail.file.sync().doing("make a segment durable")?;
        recover::prepare(&self.storage, &opening)?;
        self.storage.rename(CURRENT, &name).doing("close a segment")?;
        self.storage.sync().doing("make the directory durable")?;
        let file = recover::promote(&self.storage)?;
        Ok(Tail::behind(file, opening.end(), START as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::everyday;
    use std::os::unix::fs::PermissionsExt;

    fn fresh() -> (tempfile::TempDir, Log) {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::create(&dir.path().join("log")).unwrap().with_segment_bytes(4000);
        (dir, log)
    }

    #[test]
    fn entries_come_back_in_order_across_segments() {
        let (dir, mut log) = fresh();
        let receipts: Vec<Receipt> = (1..=40).map(|number| log.append(&everyday(number), number).unwrap()).collect();
        let records: Vec<_> = log.records().unwrap().map(Result::unwrap).collect();
        assert_eq!(records.len(), 40);
        for (record, receipt) in records.iter().zip(&receipts) {
            assert_eq!((record.header.sequence, record.hash), (receipt.sequence, receipt.hash));
        }
        assert!(std::fs::read_dir(dir.path().join("log")).unwrap().count() > 3);
        assert_eq!(log.record(17).unwrap().unwrap().header.time_ms, 17);
        assert_eq!(log.record(41).unwrap(), None);
        let other = Log::open(&dir.path().join("log")).unwrap();
        assert_eq!(other.records_from(39).unwrap().count(), 2);
    }

    #[test]
    fn the_end_is_found_wherever_it_lies_in_what_is_read_at_once() {
        let mut log = Log::on(crate::sim::Sim::new(1));
        log.begin().unwrap();
        let lengths = (0..3000).map(|number| number * 37 % 700).chain([0, 9000, 1, 40_000, 2, 8000, 8100, 8192, 3]);
        for (length, want) in lengths.zip(1..) {
            let json = format!("\"{}\"", "x".repeat(length)).into_bytes();
            // A record too many would be one about a gap.
            assert_eq!(log.append_json(Kind::Alert, Keep::Days, json, 1).unwrap().sequence, want, "{length}");
        }
    }

    #[test]
    fn clock_steps_change_nothing_but_the_shown_time() {
        let (_dir, mut log) = fresh();
        let times = [1_700_000_000_000, 0, u64::MAX, 5];
        for (time, want) in times.into_iter().zip(1..) {
            assert_eq!(log.append(&everyday(1), time).unwrap().sequence, want);
        }
        let shown: Vec<u64> = log.records().unwrap().map(|record| record.unwrap().header.time_ms).collect();
        assert_eq!(shown, times);
    }

    #[test]
    fn a_log_is_never_begun_silently() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        assert!(matches!(Log::open(&path), Err(LogError::Missing { .. })));
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        let error = Log::open(&path).unwrap().append(&everyday(1), 1).unwrap_err();
        assert!(matches!(error, LogError::Missing { .. }), "{error}");
    }

    #[test]
    fn a_directory_others_can_write_and_a_linked_file_are_refused() {
        let (dir, mut log) = fresh();
        let path = dir.path().join("log");
        std::fs::rename(path.join(CURRENT), dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), path.join(CURRENT)).unwrap();
        assert!(log.append(&everyday(1), 1).is_err());
        for mode in [0o720, 0o702, 0o777] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            assert!(matches!(Log::open(&path), Err(LogError::Unsafe { .. })), "{mode:o}");
        }
    }

    #[test]
    fn white_space_in_a_body_never_looks_like_a_frame() {
        let (_dir, mut log) = fresh();
        let json = b"{\n\t\"a\": 1\r\n}".to_vec();
        let _receipt = log.append_json(Kind::Alert, Keep::Days, json, 1).unwrap();
        let record = log.record(1).unwrap().unwrap();
        assert_eq!(record.body.unwrap(), b"{  \"a\": 1  }");
        assert!(matches!(log.append_json(Kind::Alert, Keep::Days, vec![], 1), Err(LogError::Body)));
        let long = vec![b'1'; crate::MAX_BODY + 1];
        assert!(matches!(log.append_json(Kind::Alert, Keep::Days, long, 1), Err(LogError::Body)));
        assert_eq!(log.append(&everyday(1), 1).unwrap().sequence, 2);
    }
}
