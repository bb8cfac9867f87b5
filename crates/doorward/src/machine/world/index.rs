//! Reads git's index: which files it tracks, and how each looked when git last saw it.

use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

use super::objects::Id;

/// Everything the index says, names in the index's own order.
#[derive(Debug)]
pub(crate) struct Index {
    /// The file itself: object ids are read from it on demand.
    bytes: Vec<u8>,
    hash: usize,
    names: Vec<u8>,
    entries: Vec<IndexEntry>,
    /// When the index itself was written; later changes may go unnoticed.
    written: (u64, u32),
}

#[derive(Clone, Copy, Debug)]
struct IndexEntry {
    start: usize,
    end: usize,
    /// The offset of its object id in the file.
    id_at: usize,
    ctime: (u32, u32),
    mtime: (u32, u32),
    mode: u32,
    size: u32,
    state: EntryFlags,
}

/// What the flags of an entry say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryFlags {
    Ordinary,
    /// In the middle of a merge.
    Conflicted,
    /// Git was told to ignore changes to the file, or only that it will be added.
    Unwatched,
}

/// What the index knows about one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracked {
    /// Tracked, and the file looks as git last saw it.
    Same,
    /// Tracked, and the file looks different, or may.
    Different,
    /// Not tracked.
    Absent,
    /// The index does not say.
    Unsure,
}

const DIRECTORY: u32 = 0o040_000;

impl Index {
    /// Reads an index of version 2, 3 or 4. `None` if it is not one, is truncated, or is only part of the whole.
    pub(crate) fn parse(bytes: Vec<u8>, hash: usize, written: SystemTime) -> Option<Index> {
        let mut reader = ByteReader { bytes: &bytes, at: 0 };
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        let version = reader.number()?;
        let count = usize::try_from(reader.number()?).ok()?;
        if !(2..=4).contains(&version) || count > bytes.len() / 40 {
            return None;
        }
        let written = written.duration_since(UNIX_EPOCH).ok().map(|time| (time.as_secs(), time.subsec_nanos()))?;
        let (names, entries) = (Vec::with_capacity(bytes.len() / 2), Vec::with_capacity(count));
        let mut index = Index { bytes: Vec::new(), hash, names, entries, written };
        for _ in 0..count {
            index.read_entry(&mut reader, hash, version)?;
        }
        if !is_whole(&mut reader, hash) {
            return None;
        }
        index.bytes = bytes;
        Some(index)
    }

    /// Mode and object of a tracked path, and whether git watches the file.
    pub(crate) fn id_of(&self, path: &str) -> Option<(u32, Id, EntryFlags)> {
        let entry = self.find(path.as_bytes())?;
        Some((entry.mode, self.id(entry)?, entry.state))
    }

    /// Every entry in the index's order: path, mode, object, and whether it is neither conflicted nor unwatched.
    /// A sparse index has entries for directories.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&[u8], u32, Id, bool)> {
        self.entries.iter().filter_map(|entry| {
            Some((self.name(entry), entry.mode, self.id(entry)?, entry.state == EntryFlags::Ordinary))
        })
    }

    /// Looks up a path, relative to the root of the work tree.
    pub(crate) fn look_up(&self, path: &str, file: &std::fs::Metadata) -> Tracked {
        let Some(entry) = self.find(path.as_bytes()) else { return self.absent(path) };
        match entry.state {
            EntryFlags::Conflicted => return Tracked::Different,
            EntryFlags::Unwatched => return Tracked::Unsure,
            EntryFlags::Ordinary => {}
        }
        let seconds = |value: i64| u32::try_from(value & 0xffff_ffff).unwrap_or_default();
        let same = entry.mtime == (seconds(file.mtime()), seconds(file.mtime_nsec()))
            && entry.ctime == (seconds(file.ctime()), seconds(file.ctime_nsec()))
            && u64::from(entry.size) == file.size() & 0xffff_ffff
            && entry.mode & 0o170_000 == file.mode() & 0o170_000;
        // A file that changed in the same instant the index was written could look the same and differ.
        let is_racy = (u64::from(entry.mtime.0), entry.mtime.1) >= self.written;
        if same && !is_racy { Tracked::Same } else { Tracked::Different }
    }

    /// Some tracked file has this path, whether it exists or not.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.find(path.as_bytes()).is_some()
    }

    /// Some tracked file is below this directory.
    pub(crate) fn has_below(&self, directory: &str) -> bool {
        let start = format!("{directory}/");
        let at = self.entries.partition_point(|entry| self.name(entry) < start.as_bytes());
        self.entries.get(at).is_some_and(|entry| self.name(entry).starts_with(start.as_bytes()))
    }

    fn absent(&self, path: &str) -> Tracked {
        // A sparse index folds whole directories into one entry.
        let folded = path.match_indices('/').any(|(at, _)| {
            path.get(..=at)
                .and_then(|directory| self.find(directory.as_bytes()))
                .is_some_and(|entry| entry.mode == DIRECTORY)
        });
        if folded { Tracked::Unsure } else { Tracked::Absent }
    }

    fn find(&self, path: &[u8]) -> Option<&IndexEntry> {
        let found = self.entries.binary_search_by(|entry| self.name(entry).cmp(path)).ok()?;
        self.entries.get(found)
    }

    fn id(&self, entry: &IndexEntry) -> Option<Id> {
        self.bytes.get(entry.id_at..entry.id_at + self.hash).and_then(Id::from_bytes)
    }

    fn name(&self, entry: &IndexEntry) -> &[u8] {
        self.names.get(entry.start..entry.end).unwrap_or_default()
    }

    fn read_entry(&mut self, reader: &mut ByteReader<'_>, hash: usize, version: u32) -> Option<()> {
        let begin = reader.at;
        let ctime = (reader.number()?, reader.number()?);
        let mtime = (reader.number()?, reader.number()?);
        let _device_and_inode = (reader.number()?, reader.number()?);
        let mode = reader.number()?;
        let _owner = (reader.number()?, reader.number()?);
        let size = reader.number()?;
        let id_at = reader.at;
        reader.take(hash)?;
        let flags = reader.half()?;
        let extended = if flags & 0x4000 != 0 { reader.half()? } else { 0 };
        let start = self.names.len();
        if version == 4 {
            self.read_folded_name(reader)?;
        } else {
            let name = reader.until_nul()?;
            self.names.extend_from_slice(name);
            let length = reader.at - begin;
            // The name is followed by one to eight zero bytes, up to a multiple of eight.
            reader.take(length.next_multiple_of(8) - length)?;
        }
        let state = match (flags & 0x3000, flags & 0x8000 != 0 || extended & 0x6000 != 0) {
            (0, false) => EntryFlags::Ordinary,
            (0, true) => EntryFlags::Unwatched,
            _ => EntryFlags::Conflicted,
        };
        self.entries.push(IndexEntry { start, end: self.names.len(), id_at, ctime, mtime, mode, size, state });
        Some(())
    }

    /// Version 4 says how much of the last name to drop and what to add.
    fn read_folded_name(&mut self, reader: &mut ByteReader<'_>) -> Option<()> {
        let drop = usize::try_from(reader.variable()?).ok()?;
        let (start, end) = self.entries.last().map_or((0, 0), |last| (last.start, last.end));
        let kept = start..end.checked_sub(drop).filter(|end| *end >= start)?;
        self.names.extend_from_within(kept);
        let name = reader.until_nul()?;
        self.names.extend_from_slice(name);
        Some(())
    }
}

/// No extension says that the rest is in another file.
fn is_whole(reader: &mut ByteReader<'_>, hash: usize) -> bool {
    while reader.bytes.len().saturating_sub(reader.at) > hash {
        let (Some(signature), Some(length)) = (reader.take(4), reader.number()) else { return false };
        let is_link = signature == b"link";
        if is_link || usize::try_from(length).ok().and_then(|length| reader.take(length)).is_none() {
            return false;
        }
    }
    true
}

struct ByteReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    fn half(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let length = self.bytes.get(self.at..)?.iter().position(|byte| *byte == 0)?;
        let name = self.take(length)?;
        self.at += 1;
        Some(name)
    }

    /// The variable-length number of pack files: seven bits per byte, each continuation counts one more.
    fn variable(&mut self) -> Option<u64> {
        let mut value = 0u64;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(u64::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }
}
