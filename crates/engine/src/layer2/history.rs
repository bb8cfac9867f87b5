//! What a person accepted out of history, in words: how often such calls were let run, and what that changed.

use super::scorer::{Numbers, Score};
use crate::facts::Facts;

/// History is one of the things that this score is made of.
pub(crate) fn is_weighed(score: &Score) -> bool {
    score.features != score.features.without_history()
}

/// What history did to a score; nothing if it did nothing.
pub(crate) fn sentence(facts: &Facts, (numbers, score): (&Numbers<'_>, &Score), wanted: f64) -> String {
    if !is_weighed(score) {
        return String::new();
    }
    let [before, _] = numbers.without_history(score);
    let before = 1.0 - before;
    let turned = if before < wanted { "ask" } else { "approve too" };
    format!("; {}, and without that it would be {:.0} % and {turned}", counted(facts), 100.0 * before)
}

fn counted(facts: &Facts) -> String {
    match (&facts.counts.accepted, facts.counts.override_rate) {
        (Some(past), _) => format!(
            "you let this run {} of {} times in 30 days and agreed on {} that this counts",
            past.let_run,
            past.decisions.max(past.let_run),
            past.on
        ),
        (None, rate) => format!("you let {:.0} % of such calls run", 100.0 * rate.unwrap_or_default()),
    }
}
