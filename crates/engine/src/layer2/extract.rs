//! From facts to features: one set for each effect, or one for a call without any.

use doorward_vocabulary::{Degree, Mark, Operation, Reach, Reversibility, Scope, Verdict};

use crate::effect::Effect;
use crate::facts::Facts;
use crate::retired::{Gone, Waived};
use crate::taint;
use doorward_knowledge::features::{Features, SETTLING};

/// Marks that only say how much is lost.
// In the agent's own files it does not matter how much is lost, so these are left out of the features there.
const LOSING: &[Mark] = &[
    Mark::Truncates,
    Mark::Recursive,
    Mark::Force,
    Mark::CountUnknown,
    Mark::Wildcard,
    Mark::Unseen,
    Mark::ProcessSignal,
    Mark::SessionFile,
];

/// Marks that say who is hit by a change; reading or running such a file changes nothing for them.
// Otherwise `cat package.json` would score like an edit of it.
const SHARED: &[Mark] = &[
    Mark::Manifest,
    Mark::Lockfile,
    Mark::Ci,
    Mark::Infrastructure,
    Mark::Container,
    Mark::GitHook,
    Mark::GitInternals,
];

/// The features of each effect of a call, in order; `others` is the strictest verdict of the other stages.
pub fn features(facts: &Facts, others: Verdict) -> Vec<Features> {
    features_but(facts, others, &Waived::default())
}

/// The same without what a retired rule takes with it: its marks, and the cell of the matrix that the effect lies in.
pub(super) fn features_but(facts: &Facts, others: Verdict, waived: &Waived) -> Vec<Features> {
    let mut shared = shared(facts);
    shared.add_stages(others);
    if facts.effects.is_empty() {
        let mut alone = shared;
        alone.add_coverage(facts.coverage.degree);
        if !facts.taint.is_empty() {
            alone.add_taint();
        }
        return vec![alone];
    }
    let one = |(place, effect)| of((effect, waived.of_effect(place)), facts, shared);
    facts.effects.iter().enumerate().map(one).collect()
}

/// What counts for every effect of the call.
fn shared(facts: &Facts) -> Features {
    let mut shared = Features::default();
    // After a secret was read, or anything else that makes the call riskier, the past says nothing about it.
    if let Some(rate) = facts.counts.override_rate.filter(|_| !taint::is_void(facts)) {
        shared.add_override_rate(rate);
    }
    shared.add_effect_count(facts.effects.len());
    facts.flows.iter().for_each(|flow| shared.add_flow(flow.kind));
    shared
}

fn of((effect, gone): (&Effect, Option<Gone>), facts: &Facts, shared: Features) -> Features {
    if gone.is_some_and(|gone| gone.whole) {
        return Features::default();
    }
    let mut features = shared;
    let is_placed = gone.is_none_or(|gone| !gone.cell);
    features.add_operation(effect.operation);
    if is_placed {
        features.add_scope(effect.scope);
    }
    features.add_sensitivity(effect.sensitivity);
    // What belongs to the agent alone, or was made in this session, is its own to lose.
    let is_made = effect.operation == Operation::Delete && effect.marks.has(Mark::SessionFile);
    let is_own = effect.scope == Scope::Scratch || is_made;
    if !is_own && is_placed {
        features.add_reversibility(effect.reversibility);
    }
    let changes_nothing = matches!(effect.operation, Operation::Read | Operation::Execute);
    let is_moot = |mark: &Mark| {
        gone.is_some_and(|gone| gone.marks.has(*mark))
            || (is_own && LOSING.contains(mark))
            || (changes_nothing && SHARED.contains(mark))
    };
    effect.marks.iter().filter(|mark| !is_moot(mark)).for_each(|mark| features.add_mark(mark));
    if effect.operation == Operation::Write && effect.marks.has_any(&[Mark::CountUnknown, Mark::Unseen]) && !is_own {
        let is_outside = |other: &Effect| other.operation == Operation::Read && other.marks.has(Mark::OutsideProject);
        if facts.effects.iter().any(is_outside) {
            features.add_brought_in();
        }
    }
    // A single file that git has is brought back by one command.
    let is_kept = match effect.reversibility {
        Reversibility::NothingChanges | Reversibility::Rebuildable | Reversibility::Snapshotted => true,
        Reversibility::Tracked => effect.scope == Scope::File,
        Reversibility::Irreversible => false,
    };
    if effect.operation == Operation::Delete && !is_own && !is_kept {
        features.add_loss();
    }
    if effect.operation == Operation::Execute && !effect.marks.has_any(SETTLING) {
        features.add_no_purpose();
    }
    // Reading something that others share changes nothing for them.
    match (effect.operation, effect.reach) {
        (Operation::Read, Reach::Workspace | Reach::Project | Reach::Shared | Reach::Machine | Reach::Beyond) => {}
        (_, reach) if is_placed => features.add_reach(reach),
        (_, _) => {}
    }
    // A recipe of the project makes its run uncertain, not the file that takes its output.
    match (facts.coverage.degree, effect.operation) {
        (Degree::Delegated, Operation::Execute) | (Degree::Unknown | Degree::Opaque, _) => {
            features.add_coverage(facts.coverage.degree);
        }
        (Degree::Full | Degree::Delegated, _) => {}
    }
    if facts.taint.iter().any(|taint| taint::weighs_on(taint, effect)) {
        features.add_taint();
    }
    features
}
