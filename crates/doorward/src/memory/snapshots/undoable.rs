//! Which paths `doorward undo` can bring back, for those who only want to say so.

use std::path::PathBuf;

use super::store::Store;
use super::undo::taken_back;
use crate::machine::paths::Places;

/// The paths that were copied in a session and have not been brought back yet; none if nobody can tell.
pub fn undoable(places: &Places, session: &str) -> Vec<PathBuf> {
    let Ok(Some(store)) = Store::existing(places) else { return Vec::new() };
    let Ok((all, _damaged)) = store.all() else { return Vec::new() };
    let back = taken_back(&all);
    let is_meant = |manifest: &&super::manifest::Manifest| manifest.session == session && !back.contains(&manifest.id);
    all.iter().filter(is_meant).flat_map(|manifest| &manifest.entries).map(|entry| entry.path.0.clone()).collect()
}
