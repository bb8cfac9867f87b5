//! Tells whoever wants to know that this process waits for another one.

use std::sync::OnceLock;

static TOLD: OnceLock<fn()> = OnceLock::new();

/// Calls `told` whenever a lock is not free at once. The first one to ask is told.
pub fn on_wait(told: fn()) {
    let _known = TOLD.set(told);
}

/// A lock is held by another process.
pub(crate) fn waits() {
    if let Some(told) = TOLD.get() {
        told();
    }
}
