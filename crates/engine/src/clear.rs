//! What a trusted allow rule, the user's own words or a reviewer may clear: soft confirmations, and nothing else.

use doorward_vocabulary::{Clearance, Degree, Mode, Source, Verdict};

use crate::facts::{Facts, Intent};
use crate::judge;
use crate::permissions::AcceptedCall;
use crate::policy::Policy;
use crate::review;
use crate::verdict::Opinion;

/// Replaces soft confirmations by an approval if something clears them.
pub(crate) fn soft(opinions: &mut Vec<Opinion>, facts: &Facts, policy: &Policy) {
    let by = cleared_by(facts, policy).map(|by| (Source::Permission, by));
    let accepted = || accepted_by(opinions, facts, policy).map(|by| (Source::Permission, by));
    let reviewed = || review::clears(facts, policy).map(|by| (Source::Review, by));
    let Some((source, by)) = by.or_else(accepted).or_else(reviewed) else { return };
    let before = opinions.len();
    opinions.retain(|opinion| opinion.verdict != Verdict::Confirm || opinion.cleared_by != Some(Clearance::Soft));
    if opinions.len() < before {
        opinions.push(Opinion::approve(source, by));
    }
}

fn cleared_by(facts: &Facts, policy: &Policy) -> Option<String> {
    if policy.mode == Mode::ConfirmAll || facts.coverage.degree == Degree::Opaque {
        return None;
    }
    if policy.permissions.allows(facts) {
        return Some("an allow pattern in your configuration covers every command".to_owned());
    }
    let consent = facts.intent.consent.as_ref().filter(|_| !policy.strict && is_all_asked_for(facts, policy))?;
    Some(format!("you asked for it: “{consent}”"))
}

/// A rule that a person accepted out of history covers everything that is asked, and the rest would be approved by itself.
fn accepted_by(opinions: &[Opinion], facts: &Facts, policy: &Policy) -> Option<String> {
    if policy.mode == Mode::ConfirmAll || policy.permissions.accepted.is_empty() {
        return None;
    }
    let asked: Vec<&Opinion> = opinions.iter().filter(|opinion| opinion.verdict != Verdict::AutoApprove).collect();
    let covers = |rule: &&AcceptedCall| {
        let Some(covered) = rule.covers(facts, &asked) else { return false };
        let is_covered = |index: &usize| covered.contains(index);
        let left: Vec<usize> = (0..facts.effects.len()).filter(|index| !is_covered(index)).collect();
        left.is_empty() || is_approved_alone(facts, policy, &left)
    };
    policy.permissions.accepted.iter().find(covers).map(|rule| rule.because.clone())
}

/// These effects, by their places, would be approved if there were no others.
fn is_approved_alone(facts: &Facts, policy: &Policy, places: &[usize]) -> bool {
    let effects = places.iter().filter_map(|place| facts.effects.get(*place)).cloned().collect();
    let alone = Facts { effects, intent: Intent::default(), ..facts.clone() };
    judge::opinions(&alone, policy).iter().all(|opinion| opinion.verdict == Verdict::AutoApprove)
}

/// What the user's words do not cover would be approved by itself.
fn is_all_asked_for(facts: &Facts, policy: &Policy) -> bool {
    let is_covered = |index: &usize| facts.intent.covers.iter().any(|covered| *covered as usize == *index);
    let rest: Vec<usize> = (0..facts.effects.len()).filter(|index| !is_covered(index)).collect();
    rest.len() < facts.effects.len() && is_approved_alone(facts, policy, &rest)
}
