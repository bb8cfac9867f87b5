//! What a trusted allow rule, the user's own words or a reviewer may clear: soft confirmations, and nothing else.

use crate::coverage::Degree;
use crate::facts::{Facts, Intent};
use crate::judge;
use crate::policy::{Mode, Policy};
use crate::review;
use crate::verdict::{Clearance, Opinion, Source, Verdict};

/// Replaces soft confirmations by an approval if something clears them.
pub fn soft(opinions: &mut Vec<Opinion>, facts: &Facts, policy: &Policy) {
    let by = cleared_by(facts, policy).map(|by| (Source::Permission, by));
    let reviewed = || review::clears(facts, policy).map(|by| (Source::Review, by));
    let Some((source, by)) = by.or_else(reviewed) else { return };
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
        return Some("an allow pattern of the configuration covers every command".to_owned());
    }
    let consent = facts.intent.consent.as_ref().filter(|_| !policy.strict && is_all_asked_for(facts, policy))?;
    Some(format!("you asked for it: “{consent}”"))
}

/// What the user's words do not cover would be approved by itself.
fn is_all_asked_for(facts: &Facts, policy: &Policy) -> bool {
    let is_covered = |index: usize| facts.intent.covers.iter().any(|covered| *covered as usize == index);
    let rest =
        facts.effects.iter().enumerate().filter(|(index, _)| !is_covered(*index)).map(|(_, effect)| effect.clone());
    let rest = Facts { effects: rest.collect(), intent: Intent::default(), ..facts.clone() };
    rest.effects.len() < facts.effects.len()
        && judge::opinions(&rest, policy).iter().all(|opinion| opinion.verdict == Verdict::AutoApprove)
}
