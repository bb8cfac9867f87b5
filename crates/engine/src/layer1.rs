//! Layer 1 approves what is fully understood, changes nothing and touches nothing sensitive.

use doorward_vocabulary::{Degree, Reversibility, Scope, Sensitivity, Source};

use crate::effect::Effect;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::rules;
use crate::verdict::Opinion;

/// Proof that an effect loses nothing for good. There is no other way to a layer-1 approval.
#[derive(Debug)]
struct NothingLost(());

impl NothingLost {
    fn of(effect: &Effect) -> Option<NothingLost> {
        let harmless = match effect.reversibility {
            Reversibility::NothingChanges => true,
            Reversibility::Tracked | Reversibility::Rebuildable | Reversibility::Snapshotted => {
                effect.scope == Scope::Scratch
            }
            Reversibility::Irreversible => false,
        };
        harmless.then_some(NothingLost(()))
    }
}

/// An approval, if every effect is covered by an allow rule and loses nothing.
pub(crate) fn settle(facts: &Facts, policy: &Policy) -> Option<Opinion> {
    if facts.coverage.degree != Degree::Full {
        return None;
    }
    let mut first = None;
    for effect in &facts.effects {
        let rule = covered(facts, effect, policy)?;
        first.get_or_insert(rule);
    }
    let because = match first {
        Some(rule) => rule.what.to_string(),
        None if facts.effects.is_empty() => "reads, changes and sends nothing".to_owned(),
        None => return None,
    };
    let mut opinion = Opinion::approve(Source::Rule, because);
    opinion.rule = first.map(|rule| rule.id.to_string());
    Some(opinion)
}

fn covered<'p>(facts: &Facts, effect: &Effect, policy: &'p Policy) -> Option<&'p crate::knowledge::rule::Rule> {
    let NothingLost(()) = NothingLost::of(effect)?;
    if effect.sensitivity != Sensitivity::None {
        return None;
    }
    rules::allowing(facts, effect, policy)
}
