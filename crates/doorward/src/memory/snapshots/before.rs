//! Copies what a call would lose before it runs. If that loss was the only reason to ask, the call is approved.

use anyhow::Result;
use doorward_engine::{Effect, Mode, Operation, Policy, Reversibility, Scope, ToolCall, Verdict, snapshot};
use doorward_ledger::SnapshotTaken;

use super::manifest::Manifest;
use super::plan::{self, CopyContext, Plan, TargetPath};
use super::prune::{self, Run};
use super::store::{self, SnapshotStore};
use super::take;
use super::undo;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::memory::evaluation::{Evaluation, IfCopied};
use crate::memory::world::disk::DiskWorld;
use crate::policy::snapshot_limits::Limits;

/// Keeps copies for one call.
#[derive(Debug)]
pub(crate) struct Keeper<'a> {
    pub dirs: &'a Dirs,
    pub world: &'a DiskWorld,
    pub call: &'a ToolCall,
    pub project: Option<&'a str>,
    pub limits: Limits,
    /// The decision about the call.
    pub id: &'a str,
}

/// What the answer says about undoing the call, if anything.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum UndoNote {
    Nothing,
    /// There is something to lose, and other reasons to ask.
    Loses,
    Says(String),
}

/// What was copied for a call, and what the answer says about it.
#[derive(Debug)]
pub(crate) struct KeptCopy {
    pub snapshot: Option<SnapshotTaken>,
    pub note: UndoNote,
}

impl KeptCopy {
    pub(crate) fn nothing() -> KeptCopy {
        KeptCopy { snapshot: None, note: UndoNote::Nothing }
    }

    /// No copy, but something to say about that.
    pub(crate) fn with_note(note: UndoNote) -> KeptCopy {
        KeptCopy { snapshot: None, note }
    }

    fn of(manifest: &Manifest) -> KeptCopy {
        KeptCopy { snapshot: Some(manifest.to_record()), note: brings_back(manifest) }
    }
}

/// What can be done about what a call would lose.
#[derive(Debug)]
pub(crate) enum Loss {
    /// Nothing that a copy would help with.
    None,
    /// There is something to lose, and other reasons to ask.
    AskedAnyway,
    /// With a copy the call is approved; this is its evaluation then.
    Coverable(Box<Evaluation>),
}

impl Loss {
    /// What a call that is not approved would lose.
    pub(crate) fn of(evaluation: &Evaluation, policy: &Policy) -> Loss {
        match evaluation.once_copied(policy) {
            None => Loss::None,
            Some(copied) if copied.judgement.verdict != Verdict::AutoApprove => Loss::AskedAnyway,
            Some(IfCopied { facts, judgement, scoring }) => Loss::Coverable(Box::new(Evaluation {
                facts,
                judgement,
                scoring,
                if_copied: evaluation.if_copied,
                obstacles: None,
                took: evaluation.took,
                observing: evaluation.observing,
            })),
        }
    }
}

impl Keeper<'_> {
    /// Copies what the call would lose. INVARIANT: the laxer judgement counts only once every byte is durable elsewhere.
    pub(crate) fn keep_lost(&self, evaluation: &Evaluation) -> Result<KeptCopy> {
        let manifest = self.keep(&evaluation.facts.subject, &plan::lost(&evaluation.facts))?;
        Ok(KeptCopy::of(&manifest))
    }

    /// What the call would be with a copy if it were made now, or why no copy could be made; nothing is copied.
    pub(crate) fn foresee(&self, evaluation: &Evaluation, policy: &Policy) -> Option<Result<Evaluation>> {
        if policy.mode != Mode::Auto || evaluation.judgement.verdict == Verdict::AutoApprove {
            return None;
        }
        let Loss::Coverable(copied) = Loss::of(evaluation, policy) else { return None };
        Some(self.has_room(&plan::lost(&evaluation.facts)).map(|()| *copied))
    }

    fn has_room(&self, wanted: &[TargetPath]) -> Result<()> {
        self.enabled()?;
        let plan = self.plan(wanted)?;
        store::would_fit(self.dirs, plan.bytes, self.limits.store_bytes)
    }

    fn enabled(&self) -> Result<()> {
        anyhow::ensure!(self.limits.enabled, "`snapshots.enabled` is `false`");
        Ok(())
    }

    /// The user approved the call: what it loses is copied if possible.
    pub(crate) fn before_grant(&self, evaluation: &Evaluation) -> KeptCopy {
        let mut wanted = plan::lost(&evaluation.facts);
        wanted.extend(plan::edited(&evaluation.facts));
        let is_final = evaluation.facts.effects.iter().any(stays_lost);
        match (self.keep_for(evaluation, &wanted), is_final) {
            (Ok(KeptCopy { snapshot, note: UndoNote::Says(note) }), true) => {
                KeptCopy { snapshot, note: UndoNote::Says(format!("{note}; not everything it changes was copied")) }
            }
            (Ok(KeptCopy { note: UndoNote::Nothing, .. }), true) => {
                KeptCopy::with_note(UndoNote::Says("it cannot be undone".to_owned()))
            }
            (Ok(kept), _) => kept,
            (Err(why), _) => KeptCopy::with_note(UndoNote::Says(format!("it cannot be undone: {why:#}"))),
        }
    }

    /// A program edits files in place, and git would bring back only what was committed.
    pub(crate) fn keep_edits(&self, evaluation: &Evaluation) -> KeptCopy {
        let mut wanted = plan::edited(&evaluation.facts);
        wanted.retain(|wanted| !self.is_with_git(wanted));
        // It was approved without a copy, and still is.
        self.keep_for(evaluation, &wanted).unwrap_or_else(|_| KeptCopy::nothing())
    }

    fn keep_for(&self, evaluation: &Evaluation, wanted: &[TargetPath]) -> Result<KeptCopy> {
        if wanted.is_empty() {
            return Ok(KeptCopy::nothing());
        }
        Ok(KeptCopy::of(&self.keep(&evaluation.facts.subject, wanted)?))
    }

    fn is_with_git(&self, wanted: &TargetPath) -> bool {
        self.plan(std::slice::from_ref(wanted)).is_ok_and(|plan| plan.files == 0)
    }

    fn plan(&self, wanted: &[TargetPath]) -> Result<Plan> {
        let store = store::root(self.dirs);
        Plan::of(wanted, CopyContext { store: &store, world: self.world, limits: self.limits })
            .map_err(anyhow::Error::msg)
    }

    fn keep(&self, call: &str, wanted: &[TargetPath]) -> Result<Manifest> {
        self.enabled()?;
        let mut first = None;
        // Whoever else works in the directory may come in between once.
        for _ in 0..2 {
            match self.try_keep(call, wanted) {
                Ok(manifest) => return Ok(manifest),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or_else(|| anyhow::anyhow!("it was not tried")))
    }

    fn try_keep(&self, call: &str, wanted: &[TargetPath]) -> Result<Manifest> {
        let plan = self.plan(wanted)?;
        let store = SnapshotStore::open(self.dirs)?;
        let manifest = Manifest {
            decision: self.id.into(),
            session: self.call.session.clone(),
            project: self.project.map(str::to_owned),
            call: call.to_owned(),
            taken_ms: now_ms(),
            left_to_git: plan.left_to_git,
            ..Manifest::default()
        };
        take::take(&store, &plan, manifest, self.limits)
    }
}

/// The effect changes something that nothing brings back and that is not copied.
fn stays_lost(effect: &Effect) -> bool {
    let is_final = effect.reversibility == Reversibility::Irreversible && effect.scope != Scope::Scratch;
    let changes = matches!(effect.operation, Operation::Write | Operation::Delete | Operation::Mutate);
    is_final && changes && snapshot::lost(effect).is_none()
}

fn brings_back(manifest: &Manifest) -> UndoNote {
    let (files, _) = manifest.size();
    let undo = format!("`doorward undo {}`", manifest.id);
    UndoNote::Says(match files {
        // Links and empty directories have no content, and what did not exist is taken away again.
        0 => format!("{undo} takes it back"),
        1 => format!("1 file was copied first: {undo} brings it back"),
        files => format!("{files} files were copied first: {undo} brings them back"),
    })
}

/// A call has run: how it left the paths of its snapshot is kept, so that later changes are noticed.
pub(crate) fn ran(dirs: &Dirs, decision: &str) {
    if !store::may_have(dirs, decision) {
        return;
    }
    // Without it, an undo takes every difference for a later change and says so.
    let _ = note_after(dirs, decision);
}

fn note_after(dirs: &Dirs, decision: &str) -> Result<()> {
    let Some(store) = SnapshotStore::existing(dirs)? else { return Ok(()) };
    let Some(name) = store.named_for(decision) else { return Ok(()) };
    let Some(manifest) = store.find(&name)? else { return Ok(()) };
    store.keep_after(&name, &undo::stamps_now(&manifest))
}

/// Prunes snapshots after a session has ended.
pub(crate) fn prune_after_call(dirs: &Dirs, limits: impl FnOnce() -> Limits) {
    let Ok(Some(store)) = SnapshotStore::existing(dirs) else { return };
    // What stays is tried again after the next session.
    let _ = prune::prune(&store, limits(), &prune::needed(dirs), now_ms(), Run::Real);
}
