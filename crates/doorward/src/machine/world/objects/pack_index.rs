//! The index of a pack: the offset of each object, looked up in place.

use std::cmp::Ordering;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::{Id, Unread};

/// How many ids are read at once when the search has narrowed down.
// One read of a few kilobytes is cheaper than the last eight steps of a binary search.
const NEAR: u64 = 200;

/// How many objects with the same first digits are told apart.
// An abbreviation that fits more objects is ambiguous to git as well.
const ALIKE: usize = 8;

/// Version 1 stores offset and id together, version 2 in two tables, with large offsets in a third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

#[derive(Debug)]
pub(super) struct PackIndex {
    file: File,
    length: u64,
    hash: u64,
    version: Version,
    /// How many names have a first byte up to each value.
    counts: Vec<u32>,
}

impl PackIndex {
    pub(super) fn new((file, length): (File, u64), hash: usize) -> Result<PackIndex, Unread> {
        let mut head = vec![0; 8 + 4 * 256];
        file.read_exact_at(&mut head, 0).map_err(|_| Unread::Corrupt)?;
        let (version, table) = match head.strip_prefix(b"\xfftOc\0\0\0\x02") {
            Some(table) => (Version::Two, table),
            None if head.starts_with(b"\xfftOc") => {
                return Err(Unread::Unsupported("an unknown version of pack index"));
            }
            None => (Version::One, head.get(..4 * 256).unwrap_or_default()),
        };
        let counts: Vec<u32> = table.chunks(4).filter_map(number).collect();
        let hash = hash as u64;
        let index = PackIndex { file, length, hash, version, counts };
        if index.counts.len() == 256 && index.counts.is_sorted() && index.is_long_enough() {
            Ok(index)
        } else {
            Err(Unread::Corrupt)
        }
    }

    /// The offset of an object in the pack.
    pub(super) fn find(&self, id: &Id) -> Result<Option<u64>, Unread> {
        let first = id.bytes().first().copied().unwrap_or_default();
        let (at, is_there) = self.first_from(id.bytes(), self.with_first(first))?;
        // The search ends at the first name that is not smaller, which may be the one it came from.
        let is_there = is_there || (at < self.count() && self.name(at)? == *id);
        if is_there { self.offset(at).map(Some) } else { Ok(None) }
    }

    /// The ids that start with these digits, of which there are at least two.
    pub(super) fn beginning_with(&self, digits: &str) -> Result<Vec<Id>, Unread> {
        let least = format!("{digits:0<width$}", width = usize::try_from(self.hash).unwrap_or_default() * 2);
        let least = Id::parse(&least).ok_or(Unread::Corrupt)?;
        let first = least.bytes().first().copied().unwrap_or_default();
        let mut found = Vec::new();
        let (mut at, _) = self.first_from(least.bytes(), self.with_first(first))?;
        while at < self.count() && found.len() < ALIKE {
            let name = self.name(at)?;
            if !name.to_string().starts_with(digits) {
                break;
            }
            found.push(name);
            at += 1;
        }
        Ok(found)
    }

    fn count(&self) -> u64 {
        self.counts.last().map_or(0, |count| u64::from(*count))
    }

    fn with_first(&self, byte: u8) -> (u64, u64) {
        let place = usize::from(byte);
        let upto = |place: usize| self.counts.get(place).map_or(0, |count| u64::from(*count));
        (place.checked_sub(1).map_or(0, upto), upto(place))
    }

    /// The first name in the range that is not smaller, and whether it was seen to be the one looked for.
    fn first_from(&self, id: &[u8], (mut low, mut high): (u64, u64)) -> Result<(u64, bool), Unread> {
        while high - low > NEAR {
            let middle = low + (high - low) / 2;
            match self.name(middle)?.bytes().cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal | Ordering::Greater => high = middle,
            }
        }
        let (start, width) = self.names();
        let mut bytes = vec![0; usize::try_from((high - low) * width).map_err(|_| Unread::Corrupt)?];
        self.file.read_exact_at(&mut bytes, start + low * width).map_err(|_| Unread::Corrupt)?;
        let width = usize::try_from(width).map_err(|_| Unread::Corrupt)?;
        let is_smaller = |name: &&[u8]| name.get(..id.len()).is_some_and(|name| name < id);
        let smaller = bytes.chunks(width).take_while(is_smaller).count();
        let is_there = bytes.chunks(width).nth(smaller).is_some_and(|name| name.starts_with(id));
        Ok((low + smaller as u64, is_there))
    }

    /// Where the names begin, and how far one is from the next.
    fn names(&self) -> (u64, u64) {
        match self.version {
            Version::One => (4 * 256 + 4, self.hash + 4),
            Version::Two => (8 + 4 * 256, self.hash),
        }
    }

    fn name(&self, at: u64) -> Result<Id, Unread> {
        let (start, width) = self.names();
        let mut bytes = [0; 32];
        let name = bytes.get_mut(..usize::try_from(self.hash).unwrap_or_default()).unwrap_or_default();
        self.file.read_exact_at(name, start + at * width).map_err(|_| Unread::Corrupt)?;
        Id::from_bytes(name).ok_or(Unread::Corrupt)
    }

    fn offset(&self, at: u64) -> Result<u64, Unread> {
        let count = self.count();
        let (start, width) = self.names();
        let place = match self.version {
            Version::One => start + at * width - 4,
            // A table of checksums follows the ids.
            Version::Two => start + count * (self.hash + 4) + at * 4,
        };
        let near = u64::from(self.number_at(place)?);
        if self.version == Version::One || near & 0x8000_0000 == 0 {
            return Ok(near);
        }
        let far = start + count * (self.hash + 8) + (near & 0x7fff_ffff) * 8;
        Ok(u64::from(self.number_at(far)?) << 32 | u64::from(self.number_at(far + 4)?))
    }

    fn number_at(&self, place: u64) -> Result<u32, Unread> {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, place).map_err(|_| Unread::Corrupt)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn is_long_enough(&self) -> bool {
        let (start, width) = self.names();
        let tables = match self.version {
            Version::One => start - 4 + self.count() * width,
            Version::Two => start + self.count() * (width + 8),
        };
        self.length >= tables + 2 * self.hash
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}
