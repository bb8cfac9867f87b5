//! Evaluates rules: a rule fires if the call and one of its effects meet every condition.

use doorward_vocabulary::{Clearance, Operation, Source, Verdict};

use crate::effect::Effect;
use crate::facts::Facts;
use crate::knowledge::rule::{Rule, Stage, When};
use crate::limits;
use crate::policy::Policy;
use crate::retired::Extent;
use crate::verdict::Opinion;

/// What the name of a rule of the user's own begins with.
// A prefix that no built-in rule has, so a user's rule can never take the place of one.
pub const OWN: &str = "own/";

/// What the confirm and block rules say, and what shadow rules would say.
pub(crate) fn opinions(facts: &Facts, policy: &Policy, extent: Extent) -> (Vec<Opinion>, Vec<Opinion>) {
    let (mut fired, mut shadow) = (Vec::new(), Vec::new());
    for rule in policy.rules.iter().filter(|rule| rule.verdict != Verdict::AutoApprove) {
        let list = match rule.stage {
            Stage::Active => &mut fired,
            Stage::Shadow => &mut shadow,
            Stage::Retired if extent == Extent::Soft && left_of(rule).is_some() => &mut fired,
            Stage::Retired => continue,
        };
        if (rule.when.strict && !policy.strict) || !holds_for_call(&rule.when, facts) {
            continue;
        }
        if let Some(effect) = subject(&rule.when, facts) {
            let said = opinion(rule, effect, limits::hit(&rule.when, facts, effect, policy));
            list.push(if rule.stage == Stage::Retired { reduced(said, rule) } else { said });
        }
    }
    (fired, shadow)
}

/// What is left of a built-in rule that a person retired: nothing of a soft question, a soft one of a firm one, a firm one of a
/// refusal. So nobody tunes into silence what only a person may let pass.
fn left_of(rule: &Rule) -> Option<Clearance> {
    if rule.id.starts_with(OWN) {
        return None;
    }
    match (rule.verdict, rule.clears) {
        (Verdict::AutoApprove, _) | (Verdict::Confirm, Some(Clearance::Soft)) => None,
        (Verdict::Confirm, _) => Some(Clearance::Soft),
        (Verdict::Block, _) => Some(Clearance::Firm),
    }
}

/// The same question, smaller. It is no longer the rule's own, so that no review charges the rule with it.
fn reduced(said: Opinion, rule: &Rule) -> Opinion {
    let clearance = left_of(rule).unwrap_or(Clearance::Firm);
    let because = format!("{} (the rule `{}` is retired)", said.because, rule.id);
    Opinion { instead: said.instead, part: said.part, ..Opinion::confirm(said.source, clearance, because) }
}

/// The first active allow rule that covers the effect.
pub(crate) fn allowing<'p>(facts: &Facts, effect: &Effect, policy: &'p Policy) -> Option<&'p Rule> {
    policy
        .rules
        .iter()
        .filter(|rule| rule.verdict == Verdict::AutoApprove && rule.stage == Stage::Active)
        .filter(|rule| policy.strict || !rule.when.strict)
        .find(|rule| holds_for_call(&rule.when, facts) && holds_for_effect(&rule.when, effect))
}

/// The effect that the rule is about: for a rule about a flow, the address in it, or else its end.
fn subject<'f>(when: &When, facts: &'f Facts) -> Option<&'f Effect> {
    let mut effects = facts.effects.iter().filter(|effect| holds_for_effect(when, effect));
    let flow = facts.flows.iter().find(|flow| when.flow.0 != 0 && when.flow.admits(flow.kind as u8));
    let in_flow = flow.and_then(|flow| {
        let is_address =
            |effect: &&Effect| effect.operation == Operation::Network && effect.part.start <= flow.to.start;
        effects.clone().rfind(is_address).or_else(|| effects.clone().find(|effect| effect.part == flow.to))
    });
    in_flow.or_else(|| effects.next())
}

fn opinion(rule: &Rule, effect: &Effect, limit: Option<String>) -> Opinion {
    let mut because = format!("{}: {}", rule.what, effect.target.shown());
    because.extend(limit.map(|limit| format!(" ({limit})")));
    if let Some((recipe, _)) = effect.by.split_once(crate::effect::RECIPE) {
        because.push_str(&format!(" (in `{recipe}`)"));
    }
    let clearance = rule.clears.unwrap_or(doorward_vocabulary::Clearance::Firm);
    let mut opinion = match rule.verdict {
        Verdict::Block => Opinion::block(Source::Rule, clearance, because),
        Verdict::Confirm | Verdict::AutoApprove => Opinion::confirm(Source::Rule, clearance, because),
    };
    opinion.rule = Some(rule.id.to_string());
    opinion.instead = (!rule.instead.is_empty()).then(|| rule.instead.to_string());
    opinion.at(effect.part)
}

/// The conditions on the call as a whole.
pub(crate) fn holds_for_call(when: &When, facts: &Facts) -> bool {
    when.coverage.admits(facts.coverage.degree as u8)
        && (when.flow.0 == 0 || facts.flows.iter().any(|flow| when.flow.admits(flow.kind as u8)))
        && (when.taint.is_empty() || facts.taint.iter().any(|taint| when.taint.iter().any(|wanted| wanted == taint)))
        && (when.tool.is_empty() || when.tool.iter().any(|tool| *tool == facts.tool))
}

/// The conditions on one effect.
pub(crate) fn holds_for_effect(when: &When, effect: &Effect) -> bool {
    when.operation.admits(effect.operation as u8)
        && when.scope.admits(effect.scope as u8)
        && when.reversibility.admits(effect.reversibility as u8)
        && when.reach.admits(effect.reach as u8)
        && when.sensitivity.admits(effect.sensitivity as u8)
        && effect.marks.contains(when.all)
        && (when.any.is_empty() || effect.marks.intersects(when.any))
        && !effect.marks.intersects(when.none)
}

/// All conditions of a rule, on a call and one of its effects.
pub fn holds(when: &When, facts: &Facts, effect: &Effect) -> bool {
    holds_for_call(when, facts) && holds_for_effect(when, effect)
}
