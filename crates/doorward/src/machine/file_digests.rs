//! File content before and after a call, as keyed digests: enough to tell later that a change was undone, and nothing more.

use std::collections::BTreeMap;
use std::path::Path;

use doorward_engine::{Facts, Operation, Target};
use doorward_ledger::StateKey;

/// Paths, each with a digest of its content.
pub(crate) type FileDigests = BTreeMap<String, String>;

/// A call that changes more files than this is not watched.
// Decision 0022: every watched file is read before and after the call. More than this is a formatter, not an edit.
const FILES: usize = 8;

/// Neither is a longer file.
// Hashing has to vanish in the noise of an answer.
const BYTES: u64 = 256 << 10;

/// Stands for a missing file.
pub(crate) const NOTHING: &str = "nothing";

/// The files of a project that a call changes.
pub(crate) fn changed(facts: &Facts, project: Option<&str>) -> Vec<String> {
    let Some(project) = project else { return Vec::new() };
    let is_change = |operation| matches!(operation, Operation::Write | Operation::Delete);
    let path = |target: &Target| match target {
        Target::Path(path) => Some(path.clone()),
        Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
    };
    let changes = facts.effects.iter().filter(|effect| is_change(effect.operation));
    let mut paths: Vec<String> = changes.filter_map(|effect| path(&effect.target)).collect();
    paths.retain(|path| Path::new(path).starts_with(project) && !path.contains("/.git/"));
    paths.sort_unstable();
    paths.dedup();
    if paths.len() > FILES { Vec::new() } else { paths }
}

/// The current content of the paths; long files and anything that is not a file are left out.
pub(crate) fn digests(paths: &[String], key: &StateKey) -> FileDigests {
    paths.iter().filter_map(|path| Some((path.clone(), digest(path, key)?))).collect()
}

/// The current content of a path.
pub(crate) fn digest(path: &str, key: &StateKey) -> Option<String> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(NOTHING.to_owned()),
        Ok(_) | Err(_) => return None,
    }
    let bytes = crate::machine::checked_read::bytes_of(Path::new(path), BYTES)?;
    // The path is part of the digest, so that the record does not reveal which files are identical.
    let [a, b, c, d, e, f, g, h, ..] = key.code(path, &bytes);
    Some(format!("{:016x}", u64::from_be_bytes([a, b, c, d, e, f, g, h])))
}
