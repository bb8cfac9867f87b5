//! The monthly review: a threshold for each operation by risk control, never below the built-in floors.

use std::io::Write;

use doorward_engine::{Operation, Policy, Thresholds};
use doorward_ledger::Reply;
use serde::Serialize;

use super::finding::{Drift, Finding, MISHAPS, REGRET};
use super::history::{DecidedCall, History};
use super::proposal::{PatternChange, ThresholdChange};
use super::rate::Rate;
use super::weigh::RiskScore;
use crate::desk::offers::OfferEffect;
use crate::policy::from_history::AcceptedOffer;

pub(super) const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// Minimum number of cases before a threshold moves.
// A threshold is a quantile; with fewer cases it would follow single calls.
const CASES: u64 = 100;

/// Thresholds are tried in steps of a hundredth, up to here.
// At 1.00 nothing would ever pass, which is what `confirm-all` is for.
const HIGHEST: u32 = 99;

/// What risk control says about one operation.
#[derive(Debug, Serialize)]
pub(super) struct RiskControl {
    pub category: String,
    pub threshold: f64,
    /// Regretted, of what layer 2 approved.
    pub regret: Rate,
    /// Declined or regretted, of the calls that only the threshold keeps from being approved.
    pub kept: Rate,
    pub wanted: Option<f64>,
}

/// What the month says about thresholds.
#[derive(Debug, Serialize)]
pub(super) struct Monthly {
    pub decisions: u64,
    pub categories: Vec<RiskControl>,
    pub findings: Vec<Finding>,
    #[serde(skip)]
    pub changes: Vec<ThresholdChange>,
    /// Patterns whose history should count.
    pub patterns: Vec<PatternChange>,
}

impl Monthly {
    /// Adds the patterns that only layer 2 keeps asking about.
    #[must_use]
    pub(super) fn with_patterns(mut self, found: Vec<(AcceptedOffer, OfferEffect)>) -> Monthly {
        for (AcceptedOffer { pattern, project, let_run, .. }, effect) in found {
            // A moving threshold causes these questions, so it comes first.
            if self.changes.iter().any(|change| pattern.split(" · ").nth(1) == Some(change.category.as_str())) {
                continue;
            }
            let why = format!(
                "only layer 2 asked, and people approved {let_run}; counting that would have let {} of {} run, none of them refused",
                effect.let_run, effect.of
            );
            self.findings.push(Finding::new(Drift::TooStrict, &pattern, why.clone()));
            self.patterns.push(PatternChange { pattern, project: project.unwrap_or_default(), let_run, why });
        }
        self
    }
}

pub(super) fn review(history: &History, policy: &Policy) -> Monthly {
    let mut monthly = Monthly {
        decisions: history.past.len() as u64,
        categories: Vec::new(),
        findings: Vec::new(),
        changes: Vec::new(),
        patterns: Vec::new(),
    };
    for operation in Operation::ALL {
        let cases = Cases::of(history, *operation);
        let threshold = policy.thresholds.wanted(Some(*operation), false);
        let regret = cases.regretted(threshold);
        let kept = cases.bad_between(0.0, threshold);
        let wanted = raised_threshold(&cases, threshold).or_else(|| lowered(&cases, threshold));
        if regret.whole + kept.whole == 0 {
            continue;
        }
        let category = operation.as_str().to_owned();
        if let Some(to) = wanted {
            let why = because(&cases, threshold, to);
            let drift = if to > threshold { Drift::TooLax } else { Drift::TooStrict };
            monthly.findings.push(Finding::new(drift, &category, format!("{threshold:.2} → {to:.2}: {why}")));
            monthly.changes.push(ThresholdChange { category: category.clone(), from: threshold, to, why });
        }
        monthly.categories.push(RiskControl { category, threshold, regret, kept, wanted });
    }
    monthly
}

/// The calls of one operation that reached layer 2.
struct Cases<'h> {
    operation: Operation,
    cases: Vec<(&'h DecidedCall, RiskScore)>,
}

impl<'h> Cases<'h> {
    fn of(history: &'h History, operation: Operation) -> Cases<'h> {
        let scored = |past: &'h DecidedCall| {
            let score = past.weighed.as_ref()?.score?;
            (sure(&score, operation) < 1.0).then_some((past, score))
        };
        Cases { operation, cases: history.past.iter().filter_map(scored).collect() }
    }

    /// What was regretted of what is approved at a threshold.
    fn regretted(&self, threshold: f64) -> Rate {
        let mut rate = Rate::default();
        for (past, score) in &self.cases {
            if score.is_approved && sure(score, self.operation) >= threshold {
                rate.count(past.is_regretted);
            }
        }
        rate
    }

    /// What was declined or regretted among the questions between two thresholds.
    fn bad_between(&self, from: f64, to: f64) -> Rate {
        let mut rate = Rate::default();
        for (past, score) in &self.cases {
            let sure = sure(score, self.operation);
            if !score.is_approved && past.answer.is_some() && sure >= from && sure < to {
                rate.count(past.answer == Some(Reply::Declined) || past.is_regretted);
            }
        }
        rate
    }
}

fn sure(score: &RiskScore, operation: Operation) -> f64 {
    score.least.get(operation as usize).copied().map_or(1.0, f64::from)
}

fn steps(above: f64, below: f64) -> impl DoubleEndedIterator<Item = f64> {
    (1..=HIGHEST).map(|percent| f64::from(percent) / 100.0).filter(move |step| *step > above && *step < below)
}

/// The least threshold under which regret is within the limit, even at the upper end of its interval.
fn raised_threshold(cases: &Cases<'_>, threshold: f64) -> Option<f64> {
    let now = cases.regretted(threshold);
    if now.whole < CASES || now.part < MISHAPS || now.value() <= REGRET {
        return None;
    }
    let found = steps(threshold, 1.0).find(|step| cases.regretted(*step).high() <= REGRET);
    // If no threshold is known to be enough, layer 2 asks about nearly everything.
    Some(found.unwrap_or(f64::from(HIGHEST) / 100.0))
}

/// The least threshold, not below the floor, at which nearly nothing would pass that people declined or regretted.
fn lowered(cases: &Cases<'_>, threshold: f64) -> Option<f64> {
    let floor = Thresholds::default().wanted(Some(cases.operation), false);
    let is_enough = |step: &f64| {
        let rate = cases.bad_between(*step, threshold);
        rate.whole >= CASES && rate.high() <= REGRET
    };
    let floor_first = (floor < threshold).then_some(floor);
    floor_first.into_iter().chain(steps(floor, threshold)).find(is_enough)
}

fn because(cases: &Cases<'_>, from: f64, to: f64) -> String {
    if to > from {
        format!(
            "of what was approved, people regretted {}; at {to:.2} they would have regretted {}",
            cases.regretted(from),
            cases.regretted(to)
        )
    } else {
        format!("of what would pass, people declined or regretted {}", cases.bad_between(to, from))
    }
}

impl Monthly {
    pub(super) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{} decisions in thirty days, judged again under the current policy", self.decisions)?;
        writeln!(
            out,
            "at most {:.0} % of layer 2 approvals may be regretted; it takes {CASES} cases and {MISHAPS} regrets to conclude that it is more",
            100.0 * REGRET
        )?;
        for one in &self.categories {
            let wanted = one.wanted.map_or("stays".to_owned(), |wanted| format!("should be {wanted:.2}"));
            writeln!(out, "  {:<10}{:.2}  regretted {:<32} {wanted}", one.category, one.threshold, one.regret)?;
            if one.kept.whole > 0 {
                writeln!(out, "  {:<10}      asked because of the threshold, declined or regretted {}", "", one.kept)?;
            }
        }
        Ok(())
    }
}
