//! What one entry of the log says about itself: its kind, its place in the chain and the hash of its body.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;

/// The format this build writes.
// Written into every header, so that one log may hold records of several versions.
pub const FORMAT: u8 = 1;

/// Bytes of an encoded header.
// A fixed size lets recovery find a header without understanding the body.
pub(crate) const HEADER: usize = 88;

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A tool call was judged.
    Decision,
    /// Somebody said yes or no to a judged call.
    Answer,
    /// What became of a call.
    Outcome,
    /// An override was stored or used.
    Grant,
    /// A rule, threshold, permission or trust changed.
    Policy,
    /// The mode changed.
    Mode,
    /// Something wants attention.
    Alert,
    /// Bytes of the log were lost; says how much at most.
    Gap,
    /// Bodies were dropped by retention.
    Tombstone,
    /// A signed statement about the log so far.
    Checkpoint,
    /// A session began, ended or changed its taint or boundaries.
    Session,
    /// A device was paired or revoked, or signed an answer.
    Device,
}

impl Kind {
    /// Every kind, in the order of its code.
    // The position is the code on disk: new kinds go to the end, and none is ever removed.
    pub const ALL: [Self; 12] = [
        Self::Decision,
        Self::Answer,
        Self::Outcome,
        Self::Grant,
        Self::Policy,
        Self::Mode,
        Self::Alert,
        Self::Gap,
        Self::Tombstone,
        Self::Checkpoint,
        Self::Session,
        Self::Device,
    ];

    /// The word used on screen and in the index.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Answer => "answer",
            Self::Outcome => "outcome",
            Self::Grant => "grant",
            Self::Policy => "policy",
            Self::Mode => "mode",
            Self::Alert => "alert",
            Self::Gap => "gap",
            Self::Tombstone => "tombstone",
            Self::Checkpoint => "checkpoint",
            Self::Session => "session",
            Self::Device => "device",
        }
    }

    /// The code on disk; a code never changes its meaning.
    const fn code(self) -> u8 {
        match self {
            Self::Decision => 1,
            Self::Answer => 2,
            Self::Outcome => 3,
            Self::Grant => 4,
            Self::Policy => 5,
            Self::Mode => 6,
            Self::Alert => 7,
            Self::Gap => 8,
            Self::Tombstone => 9,
            Self::Checkpoint => 10,
            Self::Session => 11,
            Self::Device => 12,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// How long a body stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keep {
    /// Until retention drops it, ninety days at the earliest.
    Days,
    /// For good: blocks, overrides, identity, sensitivity, irreversible effects, policy.
    Forever,
}

impl Keep {
    const fn code(self) -> u8 {
        match self {
            Self::Days => 0,
            Self::Forever => 1,
        }
    }

    const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Days),
            1 => Some(Self::Forever),
            _ => None,
        }
    }
}

/// The chained part of an entry. Its hash is the `previous` of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What the entry is about.
    pub kind: Kind,
    /// How long the body stays.
    pub keep: Keep,
    /// Length of the body as it was written.
    pub body_len: u32,
    /// One more than the entry before.
    pub sequence: u64,
    /// The writer's clock; shown, never used to order.
    pub time_ms: u64,
    /// SHA-256 of the body as it was written.
    pub body_hash: Hash,
    /// Hash of the header before.
    pub previous: Hash,
}

/// Why header bytes mean nothing to this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderFlaw {
    /// A later format.
    Newer(u8),
    /// No writer produces these bytes.
    Malformed,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        let fields = [FORMAT, self.kind.code(), self.keep.code(), 0]
            .into_iter()
            .chain(self.body_len.to_le_bytes())
            .chain(self.sequence.to_le_bytes())
            .chain(self.time_ms.to_le_bytes())
            .chain(*self.body_hash.bytes())
            .chain(*self.previous.bytes());
        for (slot, byte) in out.iter_mut().zip(fields) {
            *slot = byte;
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8; HEADER]) -> Result<Self, HeaderFlaw> {
        let mut rest = bytes.as_slice();
        Self::fields(&mut rest)
    }

    fn fields(rest: &mut &[u8]) -> Result<Self, HeaderFlaw> {
        let malformed = HeaderFlaw::Malformed;
        let [format, kind, keep, zero] = take::<4>(rest).ok_or(malformed)?;
        if format > FORMAT {
            return Err(HeaderFlaw::Newer(format));
        }
        if format == 0 || zero != 0 {
            return Err(malformed);
        }
        Ok(Self {
            kind: Kind::from_code(kind).ok_or(malformed)?,
            keep: Keep::from_code(keep).ok_or(malformed)?,
            body_len: u32::from_le_bytes(take(rest).ok_or(malformed)?),
            sequence: u64::from_le_bytes(take(rest).ok_or(malformed)?),
            time_ms: u64::from_le_bytes(take(rest).ok_or(malformed)?),
            body_hash: Hash::from(take(rest).ok_or(malformed)?),
            previous: Hash::from(take(rest).ok_or(malformed)?),
        })
    }
}

/// Takes the next `N` bytes off the front.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_from_its_bytes() {
        for kind in Kind::ALL {
            let header = Header {
                kind,
                keep: Keep::Forever,
                body_len: 7,
                sequence: u64::MAX,
                time_ms: 3,
                body_hash: Hash::of(b"body"),
                previous: Hash::of(b"before"),
            };
            assert_eq!(Header::decode(&header.encode()), Ok(header));
        }
    }

    #[test]
    fn a_later_format_is_named_and_nonsense_is_not_read() {
        let mut bytes = [0; HEADER];
        let check = |bytes: &[u8; HEADER], want| assert_eq!(Header::decode(bytes), Err(want));
        check(&bytes, HeaderFlaw::Malformed);
        bytes[0] = 9;
        check(&bytes, HeaderFlaw::Newer(9));
        bytes[0] = 1;
        bytes[1] = 99;
        check(&bytes, HeaderFlaw::Malformed);
    }
}
