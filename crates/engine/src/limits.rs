//! Rate limits, burst limits and the denial limit.

use crate::effect::Operation;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::verdict::{Clearance, Opinion, Source};

/// What the limits say about this call.
pub fn opinions(facts: &Facts, policy: &Policy) -> Vec<Opinion> {
    let limits = &policy.thresholds;
    let counts = &facts.counts;
    let mut opinions = Vec::new();
    let reads = facts.effects.iter().any(|effect| effect.operation == Operation::Read);
    if reads && (counts.reads_last_minute >= limits.reads_per_minute || counts.reads_last_seconds >= limits.read_burst)
    {
        let because = format!(
            "{} reads in the last minute: more than the limit",
            counts.reads_last_minute.max(counts.reads_last_seconds)
        );
        opinions.push(Opinion::confirm(Source::Limit, Clearance::Firm, because));
    }
    if counts.denials_in_a_row >= limits.denials_in_a_row || counts.denials >= limits.denials {
        let because = format!(
            "{} calls were denied in a row, {} in this session: a person should look",
            counts.denials_in_a_row, counts.denials
        );
        opinions.push(Opinion::confirm(Source::Limit, Clearance::Firm, because));
    }
    opinions
}
