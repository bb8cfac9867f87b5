//! Which paths `doorward undo` can restore, for display.

use std::path::PathBuf;

use super::store::SnapshotStore;
use super::undo::taken_back;
use crate::machine::paths::Dirs;

/// The paths snapshotted in a session and not restored yet; none if unknown.
pub(crate) fn undoable(dirs: &Dirs, session: &str) -> Vec<PathBuf> {
    let Ok(Some(store)) = SnapshotStore::existing(dirs) else { return Vec::new() };
    let Ok((all, _damaged)) = store.all() else { return Vec::new() };
    let back = taken_back(&all);
    let is_meant = |manifest: &&super::manifest::Manifest| manifest.session == session && !back.contains(&manifest.id);
    all.iter().filter(is_meant).flat_map(|manifest| &manifest.entries).map(|entry| entry.path.0.clone()).collect()
}
