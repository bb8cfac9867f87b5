//! How one entry lies on disk: framed by lengths at both ends and a checksum, so the last one is found from the end of the file.
//!
//! `magic 4 · stored body length 4 · header 88 · body · checksum 4 · frame length 4 · mark 1`, little-endian.
//! The magic holds control characters and a body never does, so no body can contain a frame.

use crate::event::{HEADER, Header, HeaderFlaw, Keep, Kind, take};
use crate::hash::Hash;

/// Starts every frame.
// The first byte is never part of JSON text, so recovery cannot take a body for a frame.
pub(crate) const MAGIC: [u8; 4] = [0x01, b'd', b'w', 0x02];
// Magic, length and header come before the body, so that a reader knows how far to read.
const PREFIX: usize = 4 + 4 + HEADER;
// Checksum, then the length once more: reading backwards from the end finds the last frame.
const SUFFIX: usize = 4 + 4 + 1;
/// Bytes of a frame besides its body.
pub(crate) const OVERHEAD: usize = PREFIX + SUFFIX;
/// The longest body.
// An edit of a large file fits. A length beyond it is damage, and is not allocated.
pub const MAX_BODY: usize = 4 << 20;
/// Bytes of frame length and mark, which end every frame.
pub(crate) const TRAILER: usize = 5;

/// Whether the writer saw its frame reach the disk. Two values that no single flipped bit connects, neither of them
/// zero, so that a frame's last byte differs from the room kept free behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Written; whoever finds it so syncs before adding to it.
    Written,
    /// Synced.
    Settled,
}

impl Mark {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Written => 0x5a,
            Self::Settled => 0xa5,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            0x5a => Some(Self::Written),
            0xa5 => Some(Self::Settled),
            _ => None,
        }
    }
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The file ends inside the frame.
    #[error("the record is cut off")]
    Short,
    /// No frame starts here.
    #[error("no record starts here")]
    Magic,
    /// The two lengths disagree or are out of range.
    #[error("its lengths disagree")]
    Length,
    /// The checksum disagrees.
    #[error("its checksum is wrong")]
    Checksum,
    /// The header makes no sense.
    #[error("its header is malformed")]
    Header,
    /// Written by a later version.
    #[error("it has format {0}, which needs a newer doorward")]
    Newer(u8),
    /// The mark is neither of the two.
    #[error("its mark is malformed")]
    Mark,
}

/// One entry, still in the bytes it was read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub header: Header,
    raw_header: &'a [u8; HEADER],
    /// `None` once retention has dropped it.
    pub body: Option<&'a [u8]>,
    pub mark: Mark,
    /// Bytes on disk.
    pub size: usize,
}

impl<'a> Frame<'a> {
    /// Reads the frame at the front of `bytes`.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Self, Flaw> {
        let (stored, rest) = prefix(bytes)?;
        let (raw_header, rest) = rest.split_first_chunk::<HEADER>().ok_or(Flaw::Short)?;
        let (body, mut rest) = rest.split_at_checked(stored).ok_or(Flaw::Short)?;
        let checksum = u32::from_le_bytes(take(&mut rest).ok_or(Flaw::Short)?);
        let length = u32::from_le_bytes(take(&mut rest).ok_or(Flaw::Short)?);
        let [mark] = take(&mut rest).ok_or(Flaw::Short)?;
        let size = stored + OVERHEAD;
        if usize::try_from(length) != Ok(size) {
            return Err(Flaw::Length);
        }
        let summed = bytes.get(..PREFIX + stored).ok_or(Flaw::Short)?;
        if crc32fast::hash(summed) != checksum {
            return Err(Flaw::Checksum);
        }
        let header = Header::decode(raw_header).map_err(|flaw| match flaw {
            HeaderFlaw::Newer(format) => Flaw::Newer(format),
            HeaderFlaw::Malformed => Flaw::Header,
        })?;
        let body = (stored > 0).then_some(body);
        if body.is_some_and(|body| u32::try_from(body.len()) != Ok(header.body_len)) {
            return Err(Flaw::Length);
        }
        let mark = Mark::from_code(mark).ok_or(Flaw::Mark)?;
        Ok(Self { header, raw_header, body, mark, size })
    }

    /// The frame that ends where `bytes` ends.
    pub(crate) fn decode_last(bytes: &'a [u8]) -> Result<Self, Flaw> {
        let size = last_size(bytes).ok_or(Flaw::Length)?;
        let start = bytes.len().checked_sub(size).ok_or(Flaw::Short)?;
        let frame = Self::decode(bytes.get(start..).ok_or(Flaw::Short)?)?;
        if frame.size == size { Ok(frame) } else { Err(Flaw::Length) }
    }

    /// The hash that the next header names as `previous`.
    pub(crate) fn hash(&self) -> Hash {
        Hash::of(self.raw_header)
    }

    /// Whether the body, if still there, is the one the header was made for.
    pub(crate) fn body_holds(&self) -> bool {
        self.body.is_none_or(|body| Hash::of(body) == self.header.body_hash)
    }
}

fn prefix(mut bytes: &[u8]) -> Result<(usize, &[u8]), Flaw> {
    let magic = take::<4>(&mut bytes).ok_or(Flaw::Short)?;
    if magic != MAGIC {
        return Err(Flaw::Magic);
    }
    let stored = u32::from_le_bytes(take(&mut bytes).ok_or(Flaw::Short)?);
    match usize::try_from(stored) {
        Ok(stored) if stored <= MAX_BODY => Ok((stored, bytes)),
        Ok(_) | Err(_) => Err(Flaw::Length),
    }
}

/// The size that the end of `bytes` claims for the last frame, if it is a possible one.
pub(crate) fn last_size(bytes: &[u8]) -> Option<usize> {
    let trailer = bytes.last_chunk::<TRAILER>()?;
    let length = u32::from_le_bytes(*trailer.first_chunk::<4>()?);
    let size = usize::try_from(length).ok()?;
    (OVERHEAD..=OVERHEAD + MAX_BODY).contains(&size).then_some(size)
}

/// Where a new entry goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub sequence: u64,
    pub previous: Hash,
    pub time_ms: u64,
}

/// A frame ready to be written, and the hash of its header.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub bytes: Vec<u8>,
    pub hash: Hash,
}

/// Frames a body; `None` if it is empty or too long.
pub(crate) fn encode(kind: Kind, keep: Keep, body: &[u8], place: Place) -> Option<Encoded> {
    if body.is_empty() || body.len() > MAX_BODY {
        return None;
    }
    let header = Header {
        kind,
        keep,
        body_len: u32::try_from(body.len()).ok()?,
        sequence: place.sequence,
        time_ms: place.time_ms,
        body_hash: Hash::of(body),
        previous: place.previous,
    };
    assemble(&header, body, Mark::Written)
}

/// The same entry without its body, as retention leaves it.
pub(crate) fn without_body(header: &Header) -> Option<Encoded> {
    assemble(header, &[], Mark::Settled)
}

fn assemble(header: &Header, body: &[u8], mark: Mark) -> Option<Encoded> {
    let raw = header.encode();
    let size = body.len() + OVERHEAD;
    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&u32::try_from(body.len()).ok()?.to_le_bytes());
    bytes.extend_from_slice(&raw);
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(size).ok()?.to_le_bytes());
    bytes.push(mark.code());
    Some(Encoded { bytes, hash: Hash::of(&raw) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(body: &[u8]) -> Encoded {
        let place = Place { sequence: 5, previous: Hash::of(b"p"), time_ms: 9 };
        encode(Kind::Decision, Keep::Days, body, place).unwrap()
    }

    #[test]
    fn a_frame_is_read_from_either_end() {
        let Encoded { bytes, hash } = sample(b"{\"a\":1}");
        for frame in [Frame::decode(&bytes).unwrap(), Frame::decode_last(&bytes).unwrap()] {
            assert_eq!((frame.hash(), frame.size), (hash, bytes.len()));
            assert_eq!(frame.body, Some(b"{\"a\":1}".as_slice()));
            assert!(frame.body_holds());
        }
    }

    #[test]
    fn no_single_flipped_bit_and_no_cut_goes_unnoticed() {
        let Encoded { bytes, .. } = sample(b"{\"a\":1}");
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Frame::decode(&bad).is_err(), "bit {bit}");
        }
        for cut in 0..bytes.len() {
            assert!(Frame::decode(&bytes[..cut]).is_err(), "cut {cut}");
        }
    }

    #[test]
    fn a_dropped_body_leaves_the_chain_as_it_was() {
        let Encoded { bytes, hash } = sample(b"{}");
        let header = Frame::decode(&bytes).unwrap().header;
        let dropped = without_body(&header).unwrap();
        assert_eq!(dropped.hash, hash);
        assert_eq!(Frame::decode(&dropped.bytes).unwrap().body, None);
    }
}
