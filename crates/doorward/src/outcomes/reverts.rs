//! Calls that were taken back: a later call of the record threw away what they had changed.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use doorward_engine::{Effect, Mark, Operation, Scope, Target, path};
use doorward_ledger::{Became, Kind, Log, OutcomeBody};

use crate::replay::{self, Aftermath, Past};

/// What one decision changes and throws away.
struct Deed {
    id: String,
    changes: Vec<String>,
    discards: Vec<String>,
}

/// The decisions that were taken back and of which the record does not say so yet.
pub fn found(log: &Log, since_ms: u64) -> Result<Vec<OutcomeBody>> {
    let aftermath = Aftermath::read(log, since_ms)?;
    let ran = ran(log, since_ms)?;
    let mut open: HashMap<String, Vec<String>> = HashMap::new();
    let mut found: Vec<OutcomeBody> = Vec::new();
    let fold = |deed: Option<Deed>| {
        let Some(deed) = deed.filter(|deed| ran.contains(&deed.id)) else { return };
        for discarded in &deed.discards {
            let gone: Vec<String> = open.keys().filter(|path| path::under(path, discarded)).cloned().collect();
            for path in gone {
                for decision in open.remove(&path).unwrap_or_default() {
                    let is_new = !found.iter().any(|known| known.decision == decision) && !aftermath.is_said(&decision);
                    if is_new {
                        let detail = Some(format!("`{path}` was put back by {}", deed.id));
                        found.push(OutcomeBody { decision, became: Became::Reverted, detail });
                    }
                }
            }
        }
        for path in deed.changes {
            open.entry(path).or_default().push(deed.id.clone());
        }
    };
    let _passed = replay::each(log, since_ms, |past| deed(&past), fold, |_| {})?;
    Ok(found)
}

fn deed(past: &Past) -> Option<Deed> {
    let of = |wanted: &dyn Fn(&Effect) -> bool| -> Vec<String> {
        past.facts.effects.iter().filter(|effect| wanted(effect)).filter_map(path_of).collect()
    };
    let discards = of(&|effect| effect.marks.has(Mark::DiscardsWork) && effect.by.starts_with("git "));
    let changes = of(&|effect| changes_a_file(effect) && !effect.marks.has(Mark::DiscardsWork));
    let has_any = !(discards.is_empty() && changes.is_empty());
    has_any.then(|| Deed { id: past.body.id.clone(), changes, discards })
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
fn ran(log: &Log, since_ms: u64) -> Result<HashSet<String>> {
    let mut ran = HashSet::new();
    replay::others(log, since_ms, |record| {
        let is_outcome = record.header.kind == Kind::Outcome;
        let body = record.body.as_deref().filter(|_| is_outcome);
        let outcome = body.and_then(|body| serde_json::from_slice::<OutcomeBody>(body).ok());
        ran.extend(outcome.filter(|outcome| outcome.became == Became::Ran).map(|outcome| outcome.decision));
    })?;
    Ok(ran)
}
