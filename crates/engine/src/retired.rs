//! What a retired rule takes with it: the cell of the matrix and the marks of layer 2 that would ask its question in its place.

use doorward_vocabulary::{Clearance, Marks, Verdict};

use crate::facts::Facts;
use crate::knowledge::rule::{Rule, Stage};
use crate::matrix::{self, Floor};
use crate::policy::Policy;
use crate::rules;
use doorward_knowledge::features::SETTLING;

/// How much goes with a retired rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What a standing permission may clear: soft questions. This is what counts.
    Soft,
    /// Every question about the effects that the rule is about, firm ones too: what the rule is to blame for. Nothing is
    /// decided by it.
    Questions,
}

/// What is left out of one effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    /// The marks that made the rule fire.
    pub marks: Marks,
    /// The cell of the matrix asks, so what makes it ask is left out of layer 2 too: scope, reversibility and reach.
    pub cell: bool,
    /// Nothing is left of it to be weighed.
    pub whole: bool,
}

/// What is left out of each effect of a call.
#[derive(Debug, Default)]
pub(crate) struct Waived(Vec<Option<Gone>>);

impl Waived {
    /// What the retired rules of a policy take with them. Rules of the user's own never do: without one of them the built-in
    /// policy counts as it is.
    pub(crate) fn of(facts: &Facts, policy: &Policy, extent: Extent) -> Waived {
        let is_gone = |rule: &&Rule| {
            rule.stage == Stage::Retired
                && rule.verdict == Verdict::Confirm
                && extent.takes_rule(rule)
                && !rule.id.starts_with(rules::OWN)
                && (policy.strict || !rule.when.strict)
                && rules::holds_for_call(&rule.when, facts)
        };
        // The strict profile leaves no standing permission.
        if policy.strict && extent == Extent::Soft {
            return Waived::default();
        }
        let gone: Vec<&Rule> = policy.rules.iter().filter(is_gone).collect();
        if gone.is_empty() {
            return Waived::default();
        }
        let of_effect = |effect: &crate::effect::Effect| {
            let cell = matrix::floor(effect.operation, effect.scope, effect.reversibility, effect.reach);
            let about = gone.iter().filter(|rule| rules::holds_for_effect(&rule.when, effect));
            let marks = about.map(|rule| named(rule)).reduce(|mut all, more| {
                all.union(more);
                all
            });
            let is_asking = cell.verdict > Verdict::AutoApprove;
            marks.filter(|_| extent.takes_cell(cell)).map(|marks| Gone {
                marks,
                cell: is_asking,
                whole: extent == Extent::Questions,
            })
        };
        Waived(facts.effects.iter().map(of_effect).collect())
    }

    /// What is left out of this effect; `None` if it counts as it is.
    pub(crate) fn of_effect(&self, effect: usize) -> Option<Gone> {
        self.0.get(effect).copied().flatten()
    }
}

impl Extent {
    fn takes_rule(self, rule: &Rule) -> bool {
        self == Extent::Questions || rule.clears == Some(Clearance::Soft)
    }

    fn takes_cell(self, cell: Floor) -> bool {
        match self {
            Extent::Soft => cell.clearance.is_none_or(|clearance| clearance == Clearance::Soft),
            Extent::Questions => cell.verdict < Verdict::Block,
        }
    }
}

/// The marks that make the rule fire. One that settles is kept: to leave it out would raise the risk.
fn named(rule: &Rule) -> Marks {
    let mut marks = rule.when.all;
    marks.union(rule.when.any);
    SETTLING.iter().for_each(|mark| marks.remove(*mark));
    marks
}
