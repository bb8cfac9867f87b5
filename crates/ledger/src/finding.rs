//! What can be wrong with a log, in words.

use std::fmt;

use crate::frame::Flaw;
use crate::hash::Hash;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The record it is about; for bytes that cannot be read, the one expected there.
    pub sequence: u64,
    /// The file.
    pub segment: String,
    /// Where in the file.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sequence, segment, offset, fault } = self;
        write!(f, "record {sequence} (`{segment}` at byte {offset}): {fault}")
    }
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Bytes in the middle are no entry.
    #[error("it can't be read: {0}")]
    Unreadable(Flaw),
    /// The last bytes are no entry: a crash, or a change to the last record.
    #[error("the last {bytes} bytes were only partly written: {flaw}; writing the next record repairs this")]
    Torn {
        /// How many.
        bytes: u64,
        /// Why.
        flaw: Flaw,
    },
    /// A segment does not open as it should.
    #[error("the start of its segment can't be read: {0}")]
    Opening(Flaw),
    /// A segment is missing, renamed or out of place.
    #[error("its segment should start with record {expected}, but starts with record {found}")]
    Segment {
        /// What comes next.
        expected: u64,
        /// What the segment says.
        found: u64,
    },
    /// Entries are missing or out of order.
    #[error("found record {found} where record {expected} should be")]
    Sequence {
        /// What comes next.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// The entry does not continue the one before.
    #[error("it does not continue the record before it")]
    Chain,
    /// The body is not the one that was written.
    #[error("its content was changed")]
    Body,
    /// A body that must stay is gone.
    #[error("its content must be kept, but is missing")]
    Kept,
    /// Bodies are gone that no tombstone names.
    #[error("the content of the records up to {to} is missing, and no record says that it was removed")]
    Dropped {
        /// The last of them.
        to: u64,
    },
    /// The log says itself that more was lost than a crash can lose.
    #[error("records after {after} were lost, {}", how_many(.at_most))]
    Lost {
        /// The last one before the loss.
        after: u64,
        /// How many at most.
        at_most: Option<u64>,
    },
    /// A checkpoint's signature is wrong.
    #[error("the checkpoint's signature is wrong")]
    Signature,
    /// A checkpoint was signed by another key.
    #[error("the checkpoint is signed by key {found}, not by {expected}")]
    Key {
        /// The key that should have signed.
        expected: Hash,
        /// The key that did.
        found: Hash,
    },
    /// This is another log than the checkpoint's.
    #[error("the checkpoint belongs to another log")]
    Origin,
    /// The history was replaced: another record stands where the checkpoint saw one.
    #[error("the checkpoint was made for a different record here")]
    Head,
    /// The segments are not those the checkpoint saw.
    #[error("the checkpoint was made for different segments")]
    Root,
    /// The log ends before the checkpoint.
    #[error("the log ends with record {last}, before the checkpoint")]
    Truncated {
        /// The last record there is.
        last: u64,
    },
    /// The record that the checkpoint saw is not there.
    #[error("the record that the checkpoint was made for is missing")]
    Absent,
}

fn how_many(count: &Option<u64>) -> String {
    count.map_or_else(|| "and doorward can't tell how many".to_owned(), |count| format!("{count} at most"))
}
