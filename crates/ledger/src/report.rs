//! What a verification is given and what it says.

use crate::checkpoint::Checkpoint;
use crate::finding::Finding;
use crate::hash::Hash;
use crate::record::{DeviceBody, GapBody};

/// What the log is compared with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anchors<'a> {
    /// Statements that were kept.
    pub checkpoints: &'a [Checkpoint],
    /// Fingerprint of the key that should have signed them.
    pub key: Option<Hash>,
}

/// How far a verification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Segments done.
    pub segments: u64,
    /// Segments in all.
    pub of: u64,
    /// Entries read.
    pub records: u64,
}

/// What a verification found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Readable entries.
    pub records: u64,
    /// Sequence and hash of the last one.
    pub head: Option<(u64, Hash)>,
    /// The last entry that a kept checkpoint vouches for; `None` means *unanchored*.
    pub anchored: Option<u64>,
    /// Bodies dropped by retention.
    pub dropped: u64,
    /// Gaps that the log itself reports, with their sequence.
    pub gaps: Vec<(u64, GapBody)>,
    /// What devices did, with its sequence. Their signatures are not compared here.
    pub devices: Vec<(u64, DeviceBody)>,
    /// What is wrong, in the order of the log; the first names the first bad record.
    pub findings: Vec<Finding>,
    /// How many findings there were in all.
    pub found: u64,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.found == 0
    }
}
