//! How much of a repository one call may read.

use std::cell::Cell;

use super::Unread;

/// Objects of one call: a few hundred trees and commits are what a switch of branches needs.
const OBJECTS: u32 = 1_200;

/// Bytes of one call, inflated. Every step of a chain of deltas counts, and chains of wide directories are long.
const BYTES: u64 = 32 << 20;

/// Bytes that every step along a chain of deltas costs at least, so that long chains of nothing end too.
const STEP: u64 = 64;

/// What is left of both.
#[derive(Debug)]
pub struct Budget {
    objects: Cell<u32>,
    bytes: Cell<u64>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::new(OBJECTS, BYTES)
    }
}

impl Budget {
    pub fn new(objects: u32, bytes: u64) -> Budget {
        Budget { objects: Cell::new(objects), bytes: Cell::new(bytes) }
    }

    pub(super) fn spend_object(&self) -> Result<(), Unread> {
        self.objects.set(self.objects.get().checked_sub(1).ok_or(Unread::OverBudget)?);
        Ok(())
    }

    /// Asked before the bytes are made, so that no bomb goes off.
    pub(super) fn spend_bytes(&self, count: u64) -> Result<(), Unread> {
        let left = self.bytes.get().checked_sub(count.max(STEP)).ok_or(Unread::OverBudget)?;
        self.bytes.set(left);
        Ok(())
    }

    pub(super) fn bytes_left(&self) -> u64 {
        self.bytes.get()
    }
}
