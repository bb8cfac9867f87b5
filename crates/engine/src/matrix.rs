//! The decision matrix: the least strict verdict that operation, scope, reversibility and reach permit.

use doorward_vocabulary::{Clearance, Operation, Reach, Reversibility, Scope, Source, Verdict};

use crate::effect::Effect;
use crate::facts::Facts;
use crate::retired::Waived;
use crate::verdict::Opinion;

/// A cell: the least strict verdict, and who may clear it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Floor {
    pub verdict: Verdict,
    pub clearance: Option<Clearance>,
}

// Four cells are enough: who may clear a question matters more than how bad it is (decision 0006).
const APPROVE: Floor = Floor { verdict: Verdict::AutoApprove, clearance: None };
const SOFT: Floor = Floor { verdict: Verdict::Confirm, clearance: Some(Clearance::Soft) };
const FIRM: Floor = Floor { verdict: Verdict::Confirm, clearance: Some(Clearance::Firm) };
// For identity only: a replaced key locks people out, and a yes by habit must not be able to do that.
const DUAL: Floor = Floor { verdict: Verdict::Block, clearance: Some(Clearance::Dual) };

/// The floors of all effects that are above an approval, without those that a retired rule takes with it.
pub(crate) fn floors(facts: &Facts, waived: &Waived) -> Vec<Opinion> {
    let mut opinions: Vec<Opinion> = Vec::new();
    let counts = |(place, effect)| waived.of_effect(place).is_none().then_some(effect);
    for effect in facts.effects.iter().enumerate().filter_map(counts) {
        let floor = floor(effect.operation, effect.scope, effect.reversibility, effect.reach);
        let Some(clearance) = floor.clearance else { continue };
        let because = described(effect);
        if opinions.iter().any(|opinion| opinion.because == because) {
            continue;
        }
        let opinion = match floor.verdict {
            Verdict::Block => Opinion::block(Source::Matrix, clearance, because),
            Verdict::Confirm | Verdict::AutoApprove => Opinion::confirm(Source::Matrix, clearance, because),
        };
        opinions.push(opinion.at(effect.part));
    }
    opinions
}

/// The cell for one combination.
pub fn floor(operation: Operation, scope: Scope, reversibility: Reversibility, reach: Reach) -> Floor {
    let by_operation = match operation {
        Operation::Read => APPROVE,
        Operation::Network => network(reversibility, reach),
        Operation::Execute => execute(scope, reversibility),
        Operation::Write => change(scope, reversibility),
        Operation::Delete => change(scope, reversibility).max(delete(scope, reversibility)),
        Operation::Mutate => change(scope, reversibility),
    };
    by_operation.max(by_reach(operation, scope, reach))
}

fn network(reversibility: Reversibility, reach: Reach) -> Floor {
    match (reversibility, reach) {
        (
            Reversibility::Irreversible,
            Reach::Workspace | Reach::Project | Reach::Shared | Reach::Machine | Reach::Identity | Reach::Beyond,
        ) => SOFT,
        (
            Reversibility::NothingChanges
            | Reversibility::Tracked
            | Reversibility::Rebuildable
            | Reversibility::Snapshotted,
            Reach::Workspace | Reach::Project | Reach::Shared | Reach::Machine | Reach::Identity | Reach::Beyond,
        ) => APPROVE,
    }
}

fn execute(scope: Scope, reversibility: Reversibility) -> Floor {
    let by_scope = match scope {
        Scope::Scratch | Scope::File | Scope::Directory | Scope::Project => APPROVE,
        Scope::OtherRepo | Scope::System => SOFT,
        Scope::External => FIRM,
    };
    let by_loss = match reversibility {
        Reversibility::NothingChanges
        | Reversibility::Tracked
        | Reversibility::Rebuildable
        | Reversibility::Snapshotted => APPROVE,
        Reversibility::Irreversible => SOFT,
    };
    by_scope.max(by_loss)
}

fn change(scope: Scope, reversibility: Reversibility) -> Floor {
    match (scope, reversibility) {
        (Scope::Scratch, _) => APPROVE,
        (_, Reversibility::NothingChanges) => APPROVE,
        (
            Scope::File | Scope::Directory | Scope::Project,
            Reversibility::Tracked | Reversibility::Rebuildable | Reversibility::Snapshotted,
        ) => APPROVE,
        (Scope::File | Scope::Directory | Scope::Project, Reversibility::Irreversible) => FIRM,
        (
            Scope::OtherRepo | Scope::System,
            Reversibility::Tracked
            | Reversibility::Rebuildable
            | Reversibility::Snapshotted
            | Reversibility::Irreversible,
        ) => FIRM,
        (Scope::External, Reversibility::Tracked | Reversibility::Rebuildable | Reversibility::Snapshotted) => SOFT,
        (Scope::External, Reversibility::Irreversible) => FIRM,
    }
}

/// Git restores a tracked file, and single ones are missed by whoever wants them back; a whole directory asks.
fn delete(scope: Scope, reversibility: Reversibility) -> Floor {
    match (scope, reversibility) {
        (Scope::Scratch, _) | (_, Reversibility::NothingChanges) => APPROVE,
        (Scope::File, Reversibility::Tracked) => APPROVE,
        (Scope::Directory, Reversibility::Tracked) => SOFT,
        (Scope::File | Scope::Directory | Scope::Project, Reversibility::Rebuildable) => APPROVE,
        (Scope::File | Scope::Directory, Reversibility::Snapshotted) => APPROVE,
        (Scope::File | Scope::Directory, Reversibility::Irreversible) => FIRM,
        (Scope::Project, Reversibility::Tracked | Reversibility::Snapshotted | Reversibility::Irreversible) => FIRM,
        (
            Scope::OtherRepo | Scope::System | Scope::External,
            Reversibility::Tracked
            | Reversibility::Rebuildable
            | Reversibility::Snapshotted
            | Reversibility::Irreversible,
        ) => FIRM,
    }
}

fn by_reach(operation: Operation, scope: Scope, reach: Reach) -> Floor {
    match (operation, reach) {
        (_, Reach::Workspace | Reach::Project) => APPROVE,
        (Operation::Read, Reach::Shared | Reach::Machine | Reach::Beyond) => APPROVE,
        (Operation::Read, Reach::Identity) => FIRM,
        (Operation::Network, Reach::Shared | Reach::Machine) => APPROVE,
        (Operation::Network, Reach::Beyond) => SOFT,
        (Operation::Execute | Operation::Write | Operation::Delete | Operation::Mutate, Reach::Shared) => SOFT,
        (
            Operation::Execute | Operation::Write | Operation::Delete | Operation::Mutate,
            Reach::Machine | Reach::Beyond,
        ) => {
            if scope == Scope::External {
                SOFT
            } else {
                FIRM
            }
        }
        (Operation::Network | Operation::Execute, Reach::Identity) => FIRM,
        (Operation::Write | Operation::Delete | Operation::Mutate, Reach::Identity) => DUAL,
    }
}

/// An effect in words, with its place in the matrix.
///
/// Every word of the matrix has a phrase of its own: two effects that read alike count as one question.
pub fn described(effect: &Effect) -> String {
    // Often the target is only the command itself: nobody "changes kubectl delete".
    let is_command = effect.by.ends_with(effect.target.shown());
    let verb = match (effect.operation, is_command) {
        (Operation::Execute, _) => "runs",
        (Operation::Read, false) => "reads",
        (Operation::Read, true) => "reads with",
        (Operation::Write, false) => "writes",
        (Operation::Write, true) => "writes with",
        (Operation::Network, false) => "contacts",
        (Operation::Network, true) => "connects out with",
        (Operation::Delete, false) => "deletes",
        (Operation::Delete, true) => "deletes with",
        (Operation::Mutate, false) => "changes",
        (Operation::Mutate, true) => "makes changes with",
    };
    let scope = match effect.scope {
        Scope::Scratch => "a temporary file",
        Scope::File => "one file",
        Scope::Directory => "a directory",
        Scope::Project => "the whole project",
        Scope::OtherRepo => "outside the project",
        Scope::System => "on this machine",
        Scope::External => "on another machine or service",
    };
    let undo = match effect.reversibility {
        Reversibility::NothingChanges => "changes nothing",
        Reversibility::Rebuildable => "a build restores it",
        Reversibility::Snapshotted => "doorward has a copy",
        Reversibility::Tracked => "can be undone",
        Reversibility::Irreversible => "can't be undone",
    };
    let reach = match effect.reach {
        Reach::Workspace => "concerns only the agent's work",
        Reach::Project => "concerns the project",
        Reach::Shared => "concerns everyone who builds the project",
        Reach::Machine => "concerns the whole machine",
        Reach::Identity => "concerns keys or credentials",
        Reach::Beyond => "concerns people and systems elsewhere",
    };
    format!("{verb} {} ({scope}, {undo}, {reach})", effect.target.shown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn riskier_is_never_laxer() {
        for operation in Operation::ALL {
            for (scope, wider) in Scope::ALL.iter().zip(Scope::ALL.iter().skip(1)) {
                for (loss, worse) in Reversibility::ALL.iter().zip(Reversibility::ALL.iter().skip(1)) {
                    for (reach, farther) in Reach::ALL.iter().zip(Reach::ALL.iter().skip(1)) {
                        let here = floor(*operation, *scope, *loss, *reach);
                        assert!(
                            here <= floor(*operation, *scope, *worse, *reach),
                            "{operation} {scope} {loss} {reach}: {worse}"
                        );
                        if (*reach, *farther) != (Reach::Identity, Reach::Beyond) {
                            assert!(
                                here <= floor(*operation, *scope, *loss, *farther),
                                "{operation} {scope} {loss} {reach}: {farther}"
                            );
                        }
                        if *wider != Scope::External {
                            assert!(
                                here <= floor(*operation, *wider, *loss, *reach),
                                "{operation} {scope} {loss} {reach}: {wider}"
                            );
                        }
                    }
                }
            }
        }
    }
}
