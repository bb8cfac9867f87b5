//! What a trusted allow rule, the user's own words or a reviewer may clear: soft confirmations, and nothing else.

use crate::coverage::Degree;
use crate::facts::Facts;
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
    let consent = facts.intent.consent.as_ref().filter(|_| !policy.strict)?;
    Some(format!("you asked for it: “{consent}”"))
}
