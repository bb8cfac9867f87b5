//! From facts and policy to a judgement: all opinions are collected, the strictest wins.

use crate::facts::Facts;
use crate::policy::Policy;
use crate::verdict::{Clearance, Judgement, Opinion, Source, Verdict};

/// Judges a call by what was observed. Deterministic: the same facts and policy give the same judgement.
pub fn judge(facts: &Facts, policy: &Policy) -> Judgement {
    let mut opinions = policy.permissions.opinions(facts);
    if opinions.is_empty() {
        opinions.push(Opinion::confirm(Source::Nothing, Clearance::Firm, "no stage had an opinion"));
    }
    opinions.sort_by_key(|opinion| std::cmp::Reverse(opinion.strictness()));
    let first = opinions.first().cloned();
    Judgement {
        verdict: first.as_ref().map_or(Verdict::Confirm, |opinion| opinion.verdict),
        cleared_by: first.as_ref().and_then(|opinion| opinion.cleared_by),
        settled_by: first.as_ref().map_or(Source::Nothing, |opinion| opinion.source),
        rule: first.and_then(|opinion| opinion.rule),
        confidence: None,
        opinions,
        shadow: Vec::new(),
        policy: policy.version.clone(),
    }
}
