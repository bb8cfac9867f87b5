//! Removes snapshots that are no longer needed, and never one that might be.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use doorward_ledger::Hash;
use doorward_vocabulary::SessionId;

use super::manifest::Manifest;
use super::store::{LockKind, SnapshotStore};
use crate::machine::paths::Dirs;
use crate::memory::grants::store::GrantStore;
use crate::policy::snapshot_limits::Limits;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What was or would be removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruned {
    pub snapshots: Vec<String>,
    pub objects: u64,
    pub bytes: u64,
    /// Unreadable snapshots: as long as there is one, no object is removed, since it may need it.
    pub unreadable: Vec<String>,
}

/// Whether anything is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Dry,
    Real,
}

/// Removes what exceeds the limits.
pub(crate) fn prune(
    store: &SnapshotStore,
    limits: Limits,
    needed: &BTreeSet<SessionId>,
    now_ms: u64,
    run: Run,
) -> Result<Pruned> {
    let _lock = store.lock(LockKind::Alone)?;
    let (all, unreadable) = store.all()?;
    let goes = outdated(&all, limits, needed, now_ms);
    let mut pruned = Pruned { unreadable, ..Pruned::default() };
    let mut kept: BTreeSet<Hash> = BTreeSet::new();
    for manifest in &all {
        if goes.contains(&manifest.id) {
            pruned.snapshots.push(manifest.id.clone());
            pruned.bytes += store.pack(&manifest.id).metadata().map(|found| found.len()).unwrap_or_default();
        } else {
            kept.extend(manifest.objects());
        }
    }
    if run == Run::Real {
        // INVARIANT: a manifest is removed before its objects.
        pruned.snapshots.iter().try_for_each(|id| store.drop_manifest(id))?;
        sync(store)?;
        for path in store.lost_packs()? {
            let _ = std::fs::remove_file(path);
        }
        for entry in std::fs::read_dir(store.half())? {
            let _ = std::fs::remove_file(entry?.path());
        }
    }
    if pruned.unreadable.is_empty() {
        sweep(store, &kept, &mut pruned, run)?;
    }
    if run == Run::Real {
        store.set_weight()?;
    }
    Ok(pruned)
}

fn sweep(store: &SnapshotStore, kept: &BTreeSet<Hash>, pruned: &mut Pruned, run: Run) -> Result<()> {
    for entry in std::fs::read_dir(store.objects())? {
        let entry = entry?;
        let hash = entry.file_name().to_str().and_then(Hash::from_hex);
        if hash.is_some_and(|hash| kept.contains(&hash)) {
            continue;
        }
        pruned.objects += 1;
        pruned.bytes += entry.metadata().map(|found| found.len()).unwrap_or_default();
        if run == Run::Real {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn sync(store: &SnapshotStore) -> Result<()> {
    let made = store.manifest_file("x");
    let directory = made.parent().unwrap_or(&made);
    Ok(std::fs::File::open(directory)?.sync_all()?)
}

/// The snapshots that may go: too old, or the oldest of too many bytes. Those of sessions that were active in the last day
/// or are waiting for an answer stay.
fn outdated(all: &[Manifest], limits: Limits, needed: &BTreeSet<SessionId>, now_ms: u64) -> BTreeSet<String> {
    // Setting the clock back makes nothing old.
    let age = |manifest: &Manifest| now_ms.saturating_sub(manifest.taken_ms);
    let recent: BTreeSet<&str> =
        all.iter().filter(|manifest| age(manifest) < DAY_MS).map(|manifest| manifest.session.as_str()).collect();
    let may_go = |manifest: &Manifest| {
        let is_of_session = !manifest.session.is_empty() && recent.contains(manifest.session.as_str());
        age(manifest) >= DAY_MS && !is_of_session && !needed.contains(&manifest.session)
    };
    let mut goes: BTreeSet<String> = BTreeSet::new();
    goes.extend(all.iter().filter(|one| may_go(one) && age(one) > limits.keep_ms).map(|manifest| manifest.id.clone()));
    let mut users: HashMap<Hash, (u64, u64)> = HashMap::new();
    for manifest in all.iter().filter(|manifest| !goes.contains(&manifest.id)) {
        count(manifest, &mut users, |users| users.0 += 1);
    }
    let mut weight: u64 = users.values().map(|(_, size)| size).sum();
    // The newest come first.
    for manifest in all.iter().rev().filter(|manifest| may_go(manifest)) {
        if weight <= limits.store_bytes || !goes.insert(manifest.id.clone()) {
            continue;
        }
        count(manifest, &mut users, |users| {
            users.0 = users.0.saturating_sub(1);
            if users.0 == 0 {
                weight = weight.saturating_sub(users.1);
            }
        });
    }
    goes
}

/// Does something for each object of a manifest, once.
fn count(manifest: &Manifest, users: &mut HashMap<Hash, (u64, u64)>, mut change: impl FnMut(&mut (u64, u64))) {
    let mut seen = BTreeSet::new();
    for entry in &manifest.entries {
        if let super::manifest::Former::File { hash, size, .. } = &entry.what
            && seen.insert(*hash)
        {
            change(users.entry(*hash).or_insert((0, *size)));
        }
    }
}

/// Sessions with a call that is waiting for an answer or approved.
pub(crate) fn needed(dirs: &Dirs) -> BTreeSet<SessionId> {
    match GrantStore::open_at(dirs) {
        Ok(store) => store.open_calls().into_iter().map(|pending| pending.session).collect(),
        Err(_) => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::{EncodedPath, Entry, FileMetadata, Former};
    use super::*;

    const NOW: u64 = 100 * DAY_MS;

    fn manifest(id: &str, session: &str, days_ago: u64, bytes: u64) -> Manifest {
        let what =
            Former::File { hash: Hash::of(id.as_bytes()), size: bytes, at: None, about: FileMetadata::default() };
        Manifest {
            id: id.into(),
            session: session.into(),
            taken_ms: NOW - days_ago * DAY_MS,
            entries: vec![Entry { path: EncodedPath("/x".into()), what }],
            ..Manifest::default()
        }
    }

    #[test]
    fn the_old_and_the_heavy_go_and_what_is_needed_stays() {
        let limits = Limits { enabled: true, files: 9, bytes: 9, keep_ms: 30 * DAY_MS, store_bytes: 100 };
        let all = [
            manifest("new", "now", 0, 500),
            manifest("same-session", "now", 50, 500),
            manifest("light", "a", 2, 10),
            manifest("heavy", "b", 3, 60),
            manifest("asked", "waits", 60, 60),
            manifest("old", "c", 40, 1),
        ];
        let needed = BTreeSet::from(["waits".into()]);
        let goes: Vec<String> = outdated(&all, limits, &needed, NOW).into_iter().collect();
        assert_eq!(goes, ["heavy", "light", "old"], "over the limit by what may not go, so all that may go does");
        let wide = Limits { store_bytes: 10_000, ..limits };
        assert_eq!(outdated(&all, wide, &needed, NOW), BTreeSet::from(["old".to_owned()]));
        let set_back = outdated(&all, wide, &needed, 0);
        assert!(set_back.is_empty(), "a clock that was set back makes nothing old");
    }
}
