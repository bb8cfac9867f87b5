//! Reverted calls: a later recorded call discarded their changes, or their edit was undone.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use doorward_engine::{Effect, Mark, Operation, Scope, Target, path};
use doorward_ledger::{Became, Kind, Log, OutcomeBody, StateKey};
use doorward_vocabulary::CallId;

use super::undone::{Changes, RecordedChange, SOON_MS, UndoneChange};
use crate::desk::replay::{self, Aftermath, RecordedDecision};
use crate::machine::clock::milliseconds;
use crate::machine::file_digests::{self, FileDigests};
use crate::machine::world;
use crate::memory::ledger_view::LedgerView;

/// What one decision changes and discards.
struct DecidedChange {
    id: CallId,
    turn: Option<String>,
    time_ms: u64,
    before: FileDigests,
    changes: Vec<String>,
    discards: Vec<String>,
}

/// How a call ended.
struct CallEnd {
    time_ms: u64,
    after: FileDigests,
}

/// Reverted decisions that are not yet recorded as such.
pub(super) fn find(view: &LedgerView, since_ms: u64) -> Result<Vec<OutcomeBody>> {
    let ends = ends(&view.log, since_ms)?;
    let mut discarded = Discarded::default();
    let (mut changes, mut undone) = (Changes::default(), Vec::new());
    let fold = |deed: Option<DecidedChange>| {
        let Some(deed) = deed else { return };
        for (path, state) in &deed.before {
            undone.extend(changes.held(path, state, deed.time_ms));
        }
        let Some(end) = ends.get(&deed.id) else { return };
        for (path, change) in changed(&deed, end) {
            undone.extend(changes.changed(path, change));
        }
        discarded.pass(deed);
    };
    let _passed = replay::each(&view.log, since_ms, |past| deed(&past), fold, |_| {})?;
    if let Ok(key) = StateKey::load(&view.dirs.state().join("state.key")) {
        undone.extend(changes.open().iter().flat_map(|(path, at_ms)| put_back(&mut changes, path, *at_ms, &key)));
    }
    undone.extend(discarded.found);
    let aftermath = Aftermath::read(&view.log, since_ms)?;
    undone.retain(|undone| !aftermath.is_said(&undone.decision) && !is_kept(undone, view.dirs.home()));
    let mut found: BTreeMap<CallId, OutcomeBody> = BTreeMap::new();
    for undone in undone {
        let detail = in_words(&undone);
        let outcome = || OutcomeBody::new(undone.decision.clone(), Became::Reverted, Some(detail));
        found.entry(undone.decision.clone()).or_insert_with(outcome);
    }
    Ok(found.into_values().collect())
}

/// What recorded calls restored with git.
#[derive(Default)]
struct Discarded {
    /// Files, and the decisions that changed them, with the time.
    open: HashMap<String, Vec<(CallId, u64)>>,
    found: Vec<UndoneChange>,
}

impl Discarded {
    fn pass(&mut self, deed: DecidedChange) {
        for discarded in &deed.discards {
            let gone: Vec<String> = self.open.keys().filter(|path| path::under(path, discarded)).cloned().collect();
            for path in gone {
                for (decision, from_ms) in self.open.remove(&path).unwrap_or_default() {
                    let (path, by, to_ms) = (path.clone(), Some(deed.id.clone()), deed.time_ms);
                    self.found.push(UndoneChange { decision, path, by: by.map(Into::into), from_ms, to_ms });
                }
            }
        }
        for path in deed.changes {
            self.open.entry(path).or_default().push((deed.id.clone(), deed.time_ms));
        }
    }
}

/// The file was written again soon after its last change and has its old content back.
fn put_back(changes: &mut Changes, path: &str, at_ms: u64, key: &StateKey) -> Vec<UndoneChange> {
    let modified = std::fs::symlink_metadata(path).and_then(|found| found.modified()).map(milliseconds);
    match modified {
        // Most files were left alone or changed much later; no need to read them.
        Ok(modified) if modified > at_ms && modified - at_ms <= SOON_MS => {
            file_digests::digest(path, key).map(|state| changes.held(path, &state, modified)).unwrap_or_default()
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// A commit, stash or checkout happened in between, so nothing is lost.
fn is_kept(undone: &UndoneChange, home: &str) -> bool {
    world::commit_changed(&undone.path, home, undone.from_ms..=undone.to_ms)
}

fn in_words(undone: &UndoneChange) -> String {
    let by = undone.by.as_deref().unwrap_or("hand");
    format!("`{}` was put back by {by}", undone.path)
}

fn deed(past: &RecordedDecision) -> Option<DecidedChange> {
    let of = |wanted: &dyn Fn(&Effect) -> bool| -> Vec<String> {
        past.facts.effects.iter().filter(|effect| wanted(effect)).filter_map(path_of).collect()
    };
    let discards = of(&|effect| effect.marks.has(Mark::DiscardsWork) && effect.by.starts_with("git "));
    let changes = of(&|effect| changes_a_file(effect) && !effect.marks.has(Mark::DiscardsWork));
    if discards.is_empty() && changes.is_empty() {
        return None;
    }
    let body = &past.body;
    let (id, turn, before) = (body.id.clone(), body.turn.clone(), body.before.clone());
    Some(DecidedChange { id, turn, time_ms: past.time_ms, before, changes, discards })
}

/// What a call did to the files whose content is known before and after it.
fn changed<'a>(deed: &'a DecidedChange, end: &'a CallEnd) -> impl Iterator<Item = (&'a str, RecordedChange)> {
    deed.before.iter().filter_map(|(path, before)| {
        let after = end.after.get(path).filter(|after| *after != before)?;
        let (before, after, at_ms) = (before.clone(), after.clone(), end.time_ms);
        let change = RecordedChange { decision: deed.id.clone(), turn: deed.turn.clone(), before, after, at_ms };
        Some((path.as_str(), change))
    })
}

fn changes_a_file(effect: &Effect) -> bool {
    let changes = match effect.operation {
        Operation::Write | Operation::Delete => true,
        Operation::Read | Operation::Execute | Operation::Network | Operation::Mutate => false,
    };
    changes && effect.scope != Scope::Scratch
}

fn path_of(effect: &Effect) -> Option<String> {
    match &effect.target {
        Target::Path(path) => Some(path.clone()),
        Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
    }
}

/// The decisions whose call ran to its end.
fn ends(log: &Log, since_ms: u64) -> Result<HashMap<CallId, CallEnd>> {
    let mut ends = HashMap::new();
    replay::others(log, since_ms, |record| {
        let time_ms = record.header.time_ms;
        let is_outcome = record.header.kind == Kind::Outcome;
        let body = record.body.as_deref().filter(|_| is_outcome);
        let outcome = body.and_then(|body| serde_json::from_slice::<OutcomeBody>(body).ok());
        if let Some(OutcomeBody { decision, after, .. }) = outcome.filter(|outcome| outcome.became == Became::Ran) {
            ends.insert(decision, CallEnd { time_ms, after });
        }
    })?;
    Ok(ends)
}
