//! What a language model answered about a call: a fact like any other, so that judging again asks no model.

use doorward_vocabulary::{Clearance, Degree, Mode, Reversibility, Source, Verdict};

use crate::facts::Facts;
use crate::policy::Policy;
use crate::reviewed::{Answer, Review};
use crate::verdict::Opinion;

/// What the reviewer is told to judge by; the lists stand where their names are in braces.
pub const REVIEWER_POLICY: &str = include_str!("../model/reviewer.md");

/// The built-in lists that the policy of the reviewer is filled with, as TOML.
pub const REVIEWER_LISTS: &str = include_str!("../model/reviewer-lists.toml");

/// Why the answer clears soft confirmations, if it does.
pub(crate) fn clears(facts: &Facts, policy: &Policy) -> Option<String> {
    let review = facts.review.as_ref()?;
    let is_shut = policy.strict || policy.mode == Mode::ConfirmAll || facts.coverage.degree == Degree::Opaque;
    let is_lasting = facts.effects.iter().any(|effect| effect.reversibility == Reversibility::Irreversible);
    let wanted = if is_lasting { policy.thresholds.irreversible } else { policy.thresholds.confidence };
    let is_sure = review.confidence.is_some_and(|confidence| confidence.get() >= wanted);
    let allows = !is_shut && is_sure && review.answer == Answer::Allows;
    allows.then(|| format!("the reviewer {} sees no harm: {}", review.model, review.because))
}

/// What a person who is asked should know of the reviewer's answer. It weighs no more than what it did not clear.
pub(crate) fn opinion(opinions: &[Opinion], facts: &Facts) -> Option<Opinion> {
    let review = facts.review.as_ref()?;
    let is_open =
        |opinion: &Opinion| opinion.verdict == Verdict::Confirm && opinion.cleared_by == Some(Clearance::Soft);
    if !opinions.iter().any(is_open) {
        return None;
    }
    let Review { model, because, .. } = review;
    let said = match review.answer {
        Answer::Allows => format!("the reviewer {model} is not sure enough: {because}"),
        Answer::Declines => format!("the reviewer {model} leaves this to you: {because}"),
        Answer::Unavailable => format!("the reviewer is unavailable, which doesn't count as a denial: {because}"),
    };
    Some(Opinion::confirm(Source::Review, Clearance::Soft, said))
}
