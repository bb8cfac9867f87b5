//! One file of the log: a header that names its first entry and the hash before it, then frames.

use crate::event::take;
use crate::frame::{Flaw, Frame, MAGIC};
use crate::hash::Hash;

/// The segment that is being written.
pub(crate) const CURRENT: &str = "current.log";
/// The segment that will be current once a rotation is through.
// Written completely and synced before it is renamed, so a crash leaves either the old state or the new one.
pub(crate) const NEXT: &str = "next.log";
/// Bytes before the first frame.
// Room for more fields than there are today, without moving the first frame.
pub(crate) const START: usize = 64;

const FILE_MAGIC: [u8; 8] = *b"dwledger";
const VERSION: u32 = 1;

/// The first bytes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Sequence of the first entry.
    pub first: u64,
    /// Hash before the first entry; random for the very first segment, so no two logs are alike.
    pub previous: Hash,
}

impl Opening {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(START);
        out.extend_from_slice(&FILE_MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(self.previous.bytes());
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
        out
    }

    /// The end of a segment that holds nothing else.
    pub(crate) const fn end(&self) -> End {
        End { offset: START, next: self.first, hash: self.previous }
    }

    /// Reads the opening at the front of a segment.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        let raw = bytes.first_chunk::<START>().ok_or(Flaw::Short)?;
        let (summed, checksum) = raw.split_last_chunk::<4>().ok_or(Flaw::Short)?;
        if crc32fast::hash(summed) != u32::from_le_bytes(*checksum) {
            return Err(Flaw::Checksum);
        }
        let mut rest = summed;
        if take::<8>(&mut rest) != Some(FILE_MAGIC) {
            return Err(Flaw::Magic);
        }
        let version = u32::from_le_bytes(take(&mut rest).ok_or(Flaw::Short)?);
        if version != VERSION {
            return Err(Flaw::Newer(u8::try_from(version).unwrap_or(u8::MAX)));
        }
        Ok(Self {
            first: u64::from_le_bytes(take(&mut rest).ok_or(Flaw::Short)?),
            previous: Hash::from(take(&mut rest).ok_or(Flaw::Short)?),
        })
    }
}

/// The name of a segment that is full.
pub(crate) fn closed_name(first: u64) -> String {
    format!("{first:020}.log")
}

/// The first sequence of a full segment, from its name.
pub(crate) fn closed_first(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log")?;
    let all_digits = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

/// What a walk over a segment meets.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// A readable entry and where it starts.
    Entry(usize, Frame<'a>),
    /// Bytes that are no entry: where, how many, why.
    Bad(usize, usize, Flaw),
}

/// Walks over the frames of a segment; after a bad stretch it goes on at the next readable frame.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    /// Starts behind the opening.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: START }
    }

    /// Starts at a known frame boundary.
    pub(crate) const fn from(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let at = self.at;
        match Frame::decode(rest) {
            Ok(frame) => {
                self.at += frame.size;
                Some(Step::Entry(at, frame))
            }
            Err(flaw) => {
                let skipped = resync(rest);
                self.at += skipped;
                Some(Step::Bad(at, skipped, flaw))
            }
        }
    }
}

/// How many bytes to skip until a readable frame starts, or all of them.
fn resync(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= MAGIC.len()) {
        let Some(found) = rest.windows(MAGIC.len()).position(|window| window == MAGIC) else {
            return bytes.len();
        };
        at += found;
        if bytes.get(at..).is_some_and(|rest| Frame::decode(rest).is_ok()) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// What stands at the end of the readable part of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Offset behind the last readable frame.
    pub offset: usize,
    /// Sequence of the next entry.
    pub next: u64,
    /// Hash that the next entry names.
    pub hash: Hash,
}

/// Finds the last readable frame anywhere in a segment, or the opening where there is none.
pub(crate) fn end(bytes: &[u8]) -> Option<End> {
    let last = Walk::new(bytes).filter_map(|step| match step {
        Step::Entry(at, frame) => Some((at, frame)),
        Step::Bad(..) => None,
    });
    if let Some((at, frame)) = last.last() {
        let next = frame.header.sequence.checked_add(1)?;
        return Some(End { offset: at + frame.size, next, hash: frame.hash() });
    }
    Some(Opening::decode(bytes).ok()?.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_comes_back_and_no_flipped_bit_goes_unnoticed() {
        let opening = Opening { first: 77, previous: Hash::of(b"x") };
        let bytes = opening.encode();
        assert_eq!(bytes.len(), START);
        assert_eq!(Opening::decode(&bytes), Ok(opening));
        for bit in 0..START * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Opening::decode(&bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn only_full_segments_have_a_numbered_name() {
        let check = |name: &str, want| assert_eq!(closed_first(name), want, "{name}");
        check(&closed_name(12), Some(12));
        check(CURRENT, None);
        check("12.log", None);
        check("+0000000000000000012.log", None);
        check("00000000000000000012.tmp", None);
    }
}
