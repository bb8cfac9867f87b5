//! Layer 2 scores what layer 1 leaves open: a scorecard trained on labelled calls, whose weights a person can read.

mod extract;
mod history;
mod scorer;

use doorward_vocabulary::{Clearance, Reversibility, Source, Verdict};

use crate::facts::Facts;
use crate::policy::Policy;
use crate::retired::{Extent, Waived};
use crate::verdict::{Classes, Confidence, Opinion};
pub use doorward_knowledge::{features as feature, scorer_table as table};
pub use extract::features;
pub use scorer::{Numbers, Score, Scorer, Weight, chance, odds, probability, weights};

/// From this probability that nobody would want it done on, a question about it is not for words or rules to clear.
// At even odds that people would refuse it, a person answers; allow rules and the user's words are not enough.
const REFUSED: f64 = 0.5;

/// The scores of a call that no other stage asks about; none if there is no scorer.
pub fn scores(facts: &Facts, policy: &Policy) -> Vec<Score> {
    let waived = Waived::of(facts, policy, Extent::Soft);
    policy.scorer.scores(facts, Verdict::AutoApprove, &waived).unwrap_or_default()
}

/// What layer 2 says, how sure it is, and of what; `others` is the strictest verdict of the other stages.
pub(crate) fn opinion(
    facts: &Facts,
    policy: &Policy,
    others: Verdict,
    waived: &Waived,
) -> (Opinion, Confidence, Option<Classes>) {
    let weighed = policy.scorer.table().and_then(|table| Ok((table, policy.scorer.scores(facts, others, waived)?)));
    let (table, scores) = match weighed {
        Ok(weighed) => weighed,
        Err(problem) => {
            let because = format!("the risk model is not available, so doorward can't weigh this call: {problem}");
            return (Opinion::confirm(Source::Score, Clearance::Firm, because), Confidence::HALF, None);
        }
    };
    let margin = |score: &Score| 1.0 - score.ask - wanted(score, policy);
    let Some(score) = scores.iter().min_by(|a, b| margin(a).total_cmp(&margin(b))) else {
        let because = "the risk model has nothing to score";
        return (Opinion::confirm(Source::Score, Clearance::Soft, because), Confidence::HALF, None);
    };
    let (wanted, approve) = (wanted(score, policy), 1.0 - score.ask);
    let sure = Confidence::new(score.sure()).unwrap_or(Confidence::HALF);
    let classes = Some(Classes { approve, confirm: score.ask - score.block, block: score.block });
    let top = describe(&table.contributions(score, facts));
    let past = history::sentence(facts, (&table, score), wanted);
    // INVARIANT: history lowers no firm question. Whether it is one is asked as if nobody had accepted anything.
    let refused = scores.iter().any(|score| table.without_history(score)[1].max(score.block) >= REFUSED);
    if approve >= wanted && !(refused && history::is_weighed(score)) {
        let because = format!("doorward is {} % sure that this is safe ({top}){past}", percent(approve));
        return (Opinion::approve(Source::Score, because), sure, classes);
    }
    let clearance = if refused { Clearance::Firm } else { Clearance::Soft };
    let because = unsure(approve, wanted) + &format!(": {top}{past}");
    (Opinion::confirm(Source::Score, clearance, because), sure, classes)
}

/// How sure layer 2 has to be of this effect. What runs for no known purpose may do what cannot be undone.
fn wanted(score: &Score, policy: &Policy) -> f64 {
    // No score is enough for a change outside the project.
    if feature::changes_elsewhere(&score.features) {
        return 1.0;
    }
    let is_final = score.reversibility == Some(Reversibility::Irreversible) || feature::has_no_purpose(&score.features);
    policy.thresholds.wanted(score.operation, is_final)
}

/// That the score is too low, with both numbers.
fn unsure(approve: f64, wanted: f64) -> String {
    let start = if approve >= 0.5 { "probably fine, but " } else { "" };
    let bar = match percent(wanted).as_str() {
        // "85 % sure, approves at 100 %" reads like a promise that no score can keep.
        "100" => ", and this needs certainty".to_owned(),
        wanted => format!(" (it approves at {wanted} %)"),
    };
    format!("{start}doorward is only {} % sure that this is safe{bar}", percent(approve))
}

/// Whole percent, rounded down: 84.6 % of 85 % must not read as enough.
fn percent(share: f64) -> String {
    // Without the tiny part 0.29 × 100 is 28.999….
    format!("{:.0}", (share * 100.0 + 1e-9).floor())
}

/// The three facts that weighed most.
fn describe(contributions: &[(String, f64)]) -> String {
    let parts: Vec<&str> = contributions.iter().take(3).map(|(name, _)| name.as_str()).collect();
    if parts.is_empty() { "no risk factor".to_owned() } else { parts.join(", ") }
}
