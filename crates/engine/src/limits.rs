//! Rate limits, burst limits and the denial limit.

use crate::effect::{Effect, Operation, Reversibility, Scope, Target};
use crate::facts::Facts;
use crate::marks::Mark;
use crate::policy::Policy;
use crate::verdict::{Clearance, Opinion, Source};

/// Files that git has and that one call may delete or edit in place unasked, and those that one session may.
const OF_CALL: usize = 20;
const OF_SESSION: usize = 60;

/// The files that the call deletes or edits in place because git has them.
pub fn restorable(facts: &Facts) -> usize {
    let is_restored = |effect: &&Effect| {
        let is_touched = match effect.operation {
            Operation::Delete => effect.scope == Scope::File,
            Operation::Write => !effect.by.is_empty() && !effect.marks.has_any(&[Mark::Creates, Mark::Unseen]),
            Operation::Read | Operation::Execute | Operation::Network | Operation::Mutate => false,
        };
        is_touched && effect.reversibility == Reversibility::Tracked && matches!(effect.target, Target::Path(_))
    };
    facts.effects.iter().filter(is_restored).count()
}

/// Git brings each of them back, but so many at once somebody should see first.
fn sweeping(facts: &Facts) -> Option<Opinion> {
    let (here, before) = (restorable(facts), usize::try_from(facts.counts.restorable).unwrap_or(usize::MAX));
    let because = if here > OF_CALL {
        format!("deletes or edits {here} tracked files at once: more than {OF_CALL}")
    } else if here > 0 && here.saturating_add(before) > OF_SESSION {
        format!("deletes or edits tracked files: {before} in this session already")
    } else {
        return None;
    };
    Some(Opinion::confirm(Source::Limit, Clearance::Soft, because))
}

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
    opinions.extend(sweeping(facts));
    opinions
}
