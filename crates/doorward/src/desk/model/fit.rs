//! Training: logistic regression whose risk weights never fall below zero, pulled towards hand-set weights. The weight of
//! accepted history is not learnt: it is set by hand, and never counts as a risk.
//!
//! A call is as risky as its riskiest effect. Only additions, multiplications and divisions in a fixed order: the same rows
//! give the same bytes on every machine.

use std::collections::BTreeMap;

use doorward_engine::Verdict;
use doorward_engine::layer2::feature::{self, Features, Named};
use doorward_engine::layer2::table::{Heads, ONE, Table};
use doorward_engine::layer2::{odds, probability};

use super::rows::LabelledCall;

/// How strongly a weight is pulled towards its hand-set value.
// Pulled less, rare features would follow the noise of a dozen labels; pulled more, labels would change nothing
// (decision 0018).
const HOLD: f64 = 0.5;
/// No risk weighs less than this share of its hand-set weight, whatever the labels say.
// Labels come from ordinary work, where the risks that matter are rare. Absence of harm must not erase a risk.
const KEPT: f64 = 0.3;
/// The weight of a call that another stage asks about anyway, and of one on a varied machine.
// The score decides nothing about the former, and the latter repeats a call that is already counted.
const ASKED: f64 = 0.3;
const VARIED: f64 = 0.5;
// Far beyond convergence with these steps; the fit is exact rather than nearly done.
const ROUNDS: usize = 1000;
/// Maximum number of an effect's features that move together; limits the step size.
// The bound on the curvature: a larger step could overshoot where many features of one effect agree.
const TOGETHER: f64 = 8.0;

/// Identical rows, merged into one.
struct Example {
    effects: Vec<Features>,
    /// Its total weight, and how much of that has the label.
    weight: f64,
    positive: [f64; 2],
}

/// Fits both heads.
pub(super) fn fit<'r>(rows: impl Iterator<Item = &'r LabelledCall>, prior: &Table) -> Table {
    let examples = examples(rows);
    let ask = head(&examples, prior, 0);
    let block = head(&examples, prior, 1);
    let whole = |value: f64| (value * ONE as f64).round() as i32;
    let weights: Vec<Heads> = ask.weights.iter().zip(&block.weights).map(|(a, b)| [whole(*a), whole(*b)]).collect();
    Table { base: [whole(ask.base), whole(block.base)], slope: [ONE as i32; 2], offset: [0; 2], weights }
}

fn examples<'r>(rows: impl Iterator<Item = &'r LabelledCall>) -> Vec<Example> {
    let mut all: BTreeMap<&[Features], (f64, [f64; 2])> = BTreeMap::new();
    for row in rows {
        let asked = if row.floor > Verdict::AutoApprove { ASKED } else { 1.0 };
        let weight = if row.world == "base" { asked } else { asked * VARIED };
        let (sum, positive) = all.entry(&row.effects).or_default();
        *sum += weight;
        positive[0] += if row.label >= Verdict::Confirm { weight } else { 0.0 };
        positive[1] += if row.label >= Verdict::Block { weight } else { 0.0 };
    }
    let example =
        |(effects, (weight, positive)): (&[Features], _)| Example { effects: effects.to_vec(), weight, positive };
    all.into_iter().map(example).collect()
}

struct Head {
    base: f64,
    weights: Vec<f64>,
}

impl Head {
    fn log_odds(&self, features: &Features) -> f64 {
        self.base + features.iter().filter_map(|number| self.weights.get(number)).sum::<f64>()
    }
}

fn head(examples: &[Example], prior: &Table, which: usize) -> Head {
    let of = |heads: &Heads| odds(i64::from(heads.get(which).copied().unwrap_or_default()));
    let held: Vec<f64> = prior.weights.iter().map(of).collect();
    let mut head = Head { base: of(&prior.base), weights: held.clone() };
    let all: Vec<Named> = feature::all().collect();
    for (weight, named) in head.weights.iter_mut().zip(&all) {
        *weight = if named.is_calm { weight.min(0.0) } else { *weight };
    }
    let steps = steps(examples, held.len());
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    for _ in 0..ROUNDS {
        let (slopes, base_slope) = slopes(examples, &head, which);
        head.base -= base_slope / (0.25 * TOGETHER * total);
        let places = head.weights.iter_mut().zip(&held).zip(&slopes).zip(&steps).zip(&all);
        for ((((weight, held), slope), step), named) in places.filter(|(_, named)| !named.is_calm) {
            *weight -= (slope + HOLD * (*weight - held)) * step;
            // A weight that lowers the score is at most twice its hand-set value.
            *weight = weight.max(if named.is_risk { KEPT * held } else { 2.0 * held.min(0.0) });
        }
    }
    head
}

/// How far each weight may move in one round.
fn steps(examples: &[Example], count: usize) -> Vec<f64> {
    let mut present = vec![0.0; count];
    for example in examples {
        for features in &example.effects {
            for number in features.iter() {
                present.get_mut(number).into_iter().for_each(|sum| *sum += example.weight);
            }
        }
    }
    present.into_iter().map(|sum| 1.0 / (0.25 * TOGETHER * sum + HOLD)).collect()
}

/// How the loss changes with each weight and with the base.
fn slopes(examples: &[Example], head: &Head, which: usize) -> (Vec<f64>, f64) {
    let mut slopes = vec![0.0; head.weights.len()];
    let mut base = 0.0;
    for example in examples {
        let riskiest = example.effects.iter().map(|features| (head.log_odds(features), features));
        let Some((log_odds, features)) = riskiest.max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let wanted = example.positive.get(which).copied().unwrap_or_default();
        let error = example.weight * probability(log_odds) - wanted;
        base += error;
        for number in features.iter() {
            slopes.get_mut(number).into_iter().for_each(|slope| *slope += error);
        }
    }
    (slopes, base)
}

/// Slope and offset that make a head's sums match how often it was right: Platt scaling, pulled towards the identity.
pub(super) fn calibrate(pairs: &[(f64, bool)]) -> (f64, f64) {
    /// How much of a Newton step is taken, so that both numbers settle together.
    // Slope and intercept pull on each other; full steps make the two swing.
    const STEP: f64 = 0.3;
    let (mut slope, mut offset) = (1.0f64, 0.0f64);
    for _ in 0..ROUNDS {
        let (mut by_slope, mut by_offset) = (0.5 * (slope - 1.0), 0.1 * offset);
        let (mut slope_bend, mut offset_bend) = (0.5, 0.1);
        for (log_odds, is_true) in pairs {
            let said = probability(slope * log_odds + offset);
            let error = said - f64::from(u8::from(*is_true));
            by_slope += error * log_odds;
            by_offset += error;
            slope_bend += said * (1.0 - said) * log_odds * log_odds;
            offset_bend += said * (1.0 - said);
        }
        slope = (slope - STEP * by_slope / slope_bend).max(0.2);
        offset -= STEP * by_offset / offset_bend;
    }
    (slope, offset)
}
