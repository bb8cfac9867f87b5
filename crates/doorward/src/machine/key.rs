//! The key for hashing redacted secrets: one per installation, drawn at random.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The key of this installation, created on first use. If it can't be stored, a new one each time: hashes then can't be
/// compared, but no secret leaks.
pub(crate) fn redaction(state: &Path) -> [u8; 16] {
    let path = state.join("redaction.key");
    stored_key(&path).or_else(|| make(&path)).or_else(random).unwrap_or_default()
}

/// The key of this installation if it has one, for callers that must not write anything.
pub(crate) fn kept_or_passing(state: &Path) -> [u8; 16] {
    stored_key(&state.join("redaction.key")).unwrap_or_else(passing)
}

/// A throwaway key.
pub(crate) fn passing() -> [u8; 16] {
    random().unwrap_or_default()
}

fn stored_key(path: &Path) -> Option<[u8; 16]> {
    crate::machine::checked_read::bytes_of(path, 16)?.try_into().ok()
}

fn make(path: &Path) -> Option<[u8; 16]> {
    DirBuilder::new().recursive(true).mode(0o700).create(path.parent()?).ok()?;
    let key = random()?;
    // If another process was faster, its key stays and this one is used once.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok()?;
    file.write_all(&key).ok()?;
    Some(key)
}

/// Bytes drawn at random.
pub(crate) fn random() -> Option<[u8; 16]> {
    let mut key = [0; 16];
    File::open("/dev/urandom").ok()?.read_exact(&mut key).ok()?;
    Some(key)
}
