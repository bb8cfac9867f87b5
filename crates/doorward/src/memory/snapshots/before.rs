//! Before a call runs: what it would lose is copied, and if only that loss spoke against it, it is approved.

use anyhow::Result;
use doorward_engine::{
    Effect, Facts, Judgement, Mode, Operation, Policy, Reversibility, Scope, ToolCall, Verdict, snapshot,
};

use super::manifest::Manifest;
use super::plan::{self, Ground, Plan, Wanted};
use super::prune::{self, Run};
use super::store::{self, Store};
use super::take;
use super::undo;
use crate::machine::clock::now_ms;
use crate::machine::paths::Places;
use crate::memory::evaluation::Considered;
use crate::memory::world::disk::DiskWorld;
use crate::policy::snapshot_limits::Limits;

/// Keeps copies for one call.
#[derive(Debug)]
pub struct Keeper<'a> {
    pub places: &'a Places,
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
pub enum Note {
    Nothing,
    /// There is something to lose, and other reasons to ask.
    Loses,
    Says(String),
}

impl Keeper<'_> {
    /// Copies what the call would lose if it is approved for that; otherwise the judgement stays as it is.
    pub fn make_undoable(&self, considered: &mut Considered, policy: &Policy) -> Note {
        if policy.mode != Mode::Auto {
            return Note::Nothing;
        }
        if considered.judgement.verdict == Verdict::AutoApprove {
            return self.keep_edits(considered);
        }
        let Some(copied) = considered.once_copied(policy) else { return Note::Nothing };
        if copied.judgement.verdict != Verdict::AutoApprove {
            return Note::Loses;
        }
        match self.keep(&considered.facts.subject, &plan::lost(&considered.facts)) {
            // INVARIANT: the laxer judgement counts only once every byte is durable elsewhere.
            Ok(manifest) => {
                let note = brings_back(&manifest);
                considered.facts = copied.facts;
                (considered.judgement, considered.scoring) = (copied.judgement, copied.scoring);
                considered.snapshot = Some(manifest.taken());
                note
            }
            Err(why) => Note::Says(format!("it could not be made undoable: {why:#}")),
        }
    }

    /// What `make_undoable` would come to if the call were made now, or why no copy could be made; nothing is copied.
    pub fn foresee(&self, considered: &Considered, policy: &Policy) -> Option<Result<(Facts, Judgement)>> {
        if policy.mode != Mode::Auto || considered.judgement.verdict == Verdict::AutoApprove {
            return None;
        }
        let copied =
            considered.once_copied(policy).filter(|copied| copied.judgement.verdict == Verdict::AutoApprove)?;
        Some(self.has_room(&plan::lost(&considered.facts)).map(|()| (copied.facts, copied.judgement)))
    }

    fn has_room(&self, wanted: &[Wanted]) -> Result<()> {
        self.enabled()?;
        let plan = self.plan(wanted)?;
        store::would_fit(self.places, plan.bytes, self.limits.store_bytes)
    }

    fn enabled(&self) -> Result<()> {
        anyhow::ensure!(self.limits.enabled, "`snapshots.enabled` is `false`");
        Ok(())
    }

    /// A person lets the call run: what it loses is copied if that is possible.
    pub fn before_grant(&self, considered: &mut Considered) -> Note {
        let mut wanted = plan::lost(&considered.facts);
        wanted.extend(plan::edited(&considered.facts));
        let is_final = considered.facts.effects.iter().any(stays_lost);
        match (self.keep_for(considered, &wanted), is_final) {
            (Ok(Note::Says(note)), true) => Note::Says(format!("{note}; not everything it changes was copied")),
            (Ok(Note::Nothing), true) => Note::Says("it cannot be undone".to_owned()),
            (Ok(note), _) => note,
            (Err(why), _) => Note::Says(format!("it cannot be undone: {why:#}")),
        }
    }

    /// A program edits files in place, and git would bring back only what was committed.
    fn keep_edits(&self, considered: &mut Considered) -> Note {
        let mut wanted = plan::edited(&considered.facts);
        wanted.retain(|wanted| !self.is_with_git(wanted));
        // It was approved without a copy, and still is.
        self.keep_for(considered, &wanted).unwrap_or(Note::Nothing)
    }

    fn keep_for(&self, considered: &mut Considered, wanted: &[Wanted]) -> Result<Note> {
        if wanted.is_empty() {
            return Ok(Note::Nothing);
        }
        let manifest = self.keep(&considered.facts.subject, wanted)?;
        considered.snapshot = Some(manifest.taken());
        Ok(brings_back(&manifest))
    }

    fn is_with_git(&self, wanted: &Wanted) -> bool {
        self.plan(std::slice::from_ref(wanted)).is_ok_and(|plan| plan.files == 0)
    }

    fn plan(&self, wanted: &[Wanted]) -> Result<Plan> {
        let store = store::root(self.places);
        Plan::of(wanted, Ground { store: &store, world: self.world, limits: self.limits }).map_err(anyhow::Error::msg)
    }

    fn keep(&self, call: &str, wanted: &[Wanted]) -> Result<Manifest> {
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

    fn try_keep(&self, call: &str, wanted: &[Wanted]) -> Result<Manifest> {
        let plan = self.plan(wanted)?;
        let store = Store::of(self.places)?;
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

fn brings_back(manifest: &Manifest) -> Note {
    let (files, _) = manifest.size();
    let undo = format!("`doorward undo {}`", manifest.id);
    Note::Says(match files {
        // Links and empty directories have no content, and what did not exist is taken away again.
        0 => format!("{undo} takes it back"),
        1 => format!("1 file was copied first: {undo} brings it back"),
        files => format!("{files} files were copied first: {undo} brings them back"),
    })
}

/// A call has run: how it left the paths of its snapshot is kept, so that later changes are noticed.
pub fn ran(places: &Places, decision: &str) {
    if !store::may_have(places, decision) {
        return;
    }
    // Without it, an undo takes every difference for a later change and says so.
    let _ = note_after(places, decision);
}

fn note_after(places: &Places, decision: &str) -> Result<()> {
    let Some(store) = Store::existing(places)? else { return Ok(()) };
    let Some(name) = store.named_for(decision) else { return Ok(()) };
    let Some(manifest) = store.find(&name)? else { return Ok(()) };
    store.keep_after(&name, &undo::seen(&manifest))
}

/// A session has ended: what nobody needs any more goes.
pub fn ended(places: &Places, limits: impl FnOnce() -> Limits) {
    let Ok(Some(store)) = Store::existing(places) else { return };
    // What stays is tried again after the next session.
    let _ = prune::prune(&store, limits(), &prune::needed(places), now_ms(), Run::Real);
}
