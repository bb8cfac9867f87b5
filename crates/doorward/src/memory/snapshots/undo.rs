//! Undoes calls, in a way that can itself be undone.

use anyhow::{Context, Result, bail};

use super::manifest::{Entry, Former, Manifest, Stamp, StampsAfter};
use super::plan::{Item, Plan};
use super::restore::{self, Fate, RestoreStep};
use super::store::SnapshotStore;
use super::take;
use crate::machine::clock::now_ms;
use crate::policy::snapshot_limits::Limits;

/// What to undo, and how.
#[derive(Debug)]
pub(crate) struct Undo<'a> {
    pub store: &'a SnapshotStore,
    pub manifests: Vec<(Manifest, Option<StampsAfter>)>,
    pub limits: Limits,
    /// Also overwrite what changed after the call.
    pub overwrite: bool,
}

/// The result.
#[derive(Debug)]
pub(crate) struct Undone {
    /// The snapshot that undoes this.
    pub id: String,
    pub paths: usize,
    /// What could not be restored completely.
    pub short: Vec<String>,
}

impl<'a> Undo<'a> {
    pub(crate) fn of(store: &'a SnapshotStore, ids: &[String], limits: Limits) -> Result<Undo<'a>> {
        let mut manifests = Vec::new();
        for id in ids {
            let Some(manifest) = store.find(id)? else { bail!("no snapshot `{id}`") };
            manifests.push((manifest, store.after(id)));
        }
        Ok(Undo { store, manifests, limits, overwrite: false })
    }

    pub(crate) fn preview(&self) -> Vec<RestoreStep> {
        restore::preview(&self.manifests)
    }

    /// The steps that would be taken.
    pub(crate) fn wanted<'s>(&self, steps: &'s [RestoreStep]) -> Vec<&'s RestoreStep> {
        let is_wanted = |step: &&RestoreStep| match step.fate {
            Fate::Returns | Fate::Changes | Fate::Goes => true,
            Fate::Newer => self.overwrite,
            Fate::Same | Fate::Blocked => false,
        };
        steps.iter().filter(is_wanted).collect()
    }

    /// Copies what will be overwritten, then restores what was there.
    pub(crate) fn run(&self, steps: &[&RestoreStep]) -> Result<Undone> {
        let Some((first, _)) = self.manifests.first() else { bail!("there is nothing to undo") };
        let mut plan = Plan::default();
        let mut absent = Vec::new();
        for step in steps {
            let path = step.entry.path.0.clone();
            if step.is_there {
                let stat = rustix::fs::lstat(&path)?;
                plan.files += 1;
                plan.bytes = plan.bytes.saturating_add(u64::try_from(stat.st_size).unwrap_or_default());
                plan.items.push(Item { path, stat });
            } else {
                absent.push(Entry { path: step.entry.path.clone(), what: Former::Absent });
            }
        }
        let manifest = Manifest {
            id: String::new(),
            decision: first.decision.clone(),
            session: first.session.clone(),
            project: first.project.clone(),
            call: format!("undo of: {}", first.call),
            taken_ms: now_ms(),
            undoes: Some(self.manifests.iter().map(|(manifest, _)| manifest.id.as_str()).collect::<Vec<_>>().join(" ")),
            entries: absent,
            left_to_git: 0,
        };
        let manifest = take::take(self.store, &plan, manifest, self.limits)?;
        let again = || format!("not everything was restored; `doorward undo {}` continues", first.id);
        let short = restore::restore(self.store, steps).with_context(again)?;
        self.store.keep_after(&manifest.id, &stamps_now(&manifest))?;
        Ok(Undone { id: manifest.id, paths: steps.len(), short })
    }
}

/// How the paths of a snapshot look now.
pub(crate) fn stamps_now(manifest: &Manifest) -> StampsAfter {
    StampsAfter { stamps: manifest.entries.iter().map(|entry| Stamp::now(&entry.path.0)).collect() }
}

/// The snapshots that were already undone.
pub(crate) fn taken_back(all: &[Manifest]) -> Vec<String> {
    let undone = all.iter().filter_map(|manifest| manifest.undoes.as_deref());
    undone.flat_map(|ids| ids.split(' ').map(str::to_owned)).collect()
}
