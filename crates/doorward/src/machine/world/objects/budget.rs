//! How much of a repository one call may read.

use std::cell::Cell;

use super::Unread;

/// Objects per call: switching branches needs a few hundred trees and commits.
// Decision 0023: the hook answers within milliseconds, and an object costs microseconds.
const OBJECTS: u32 = 1_200;

/// Inflated bytes per call. Every step of a delta chain counts, and chains of wide directories are long.
const BYTES: u64 = 32 << 20;

/// Minimum cost in bytes of every step of a delta chain, so that long empty chains end too.
// A delta that copies nothing costs no bytes but still a lookup; a hostile pack could chain millions.
const STEP: u64 = 64;

/// What is left of both.
#[derive(Debug)]
pub(crate) struct Budget {
    objects: Cell<u32>,
    bytes: Cell<u64>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(OBJECTS, BYTES)
    }
}

impl Budget {
    pub(crate) fn new(objects: u32, bytes: u64) -> Budget {
        Budget { objects: Cell::new(objects), bytes: Cell::new(bytes) }
    }

    pub(super) fn spend_object(&self) -> Result<(), Unread> {
        self.objects.set(self.objects.get().checked_sub(1).ok_or(Unread::OverBudget)?);
        Ok(())
    }

    /// Checked before the bytes are allocated, to defuse zip bombs.
    pub(super) fn spend_bytes(&self, count: u64) -> Result<(), Unread> {
        let left = self.bytes.get().checked_sub(count.max(STEP)).ok_or(Unread::OverBudget)?;
        self.bytes.set(left);
        Ok(())
    }

    pub(super) fn bytes_left(&self) -> u64 {
        self.bytes.get()
    }
}
