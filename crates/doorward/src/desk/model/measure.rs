//! How good a model is: verdicts, intervals, calibration.

use doorward_engine::layer2::feature::{changes_elsewhere, has_no_purpose, is_irreversible, operation_in};
use doorward_engine::layer2::{Numbers, chance};
use doorward_engine::{Operation, Thresholds, Verdict};

use super::rows::LabelledCall;

/// A row scored by a model that never saw its source.
#[derive(Clone, Debug)]
pub(super) struct Scored<'r> {
    pub row: &'r LabelledCall,
    /// Calibrated probability that the user would want to be asked, or more.
    pub ask: f64,
    pub block: f64,
    /// The decisive effect, and how certain it is.
    pub operation: Option<Operation>,
    pub approve: f64,
    irreversible: bool,
}

impl<'r> Scored<'r> {
    pub(super) fn new(row: &'r LabelledCall, model: Numbers<'_>, thresholds: &Thresholds) -> Scored<'r> {
        let mut deciding: Option<(f64, f64, Option<Operation>, bool)> = None;
        let (mut ask, mut block) = (0.0f64, 0.0f64);
        for features in &row.effects {
            let [asks, blocks] = model.log_odds(features).map(chance);
            (ask, block) = (ask.max(asks), block.max(blocks.min(asks)));
            let (operation, irreversible) = (
                operation_in(features),
                is_irreversible(features) || has_no_purpose(features) || changes_elsewhere(features),
            );
            let margin = 1.0 - asks - thresholds.wanted(operation, irreversible);
            if deciding.is_none_or(|(least, ..)| margin < least) {
                deciding = Some((margin, 1.0 - asks, operation, irreversible));
            }
        }
        let (_, approve, operation, irreversible) = deciding.unwrap_or((0.0, 1.0 - ask, None, false));
        Scored { row, ask, block, operation, approve, irreversible }
    }

    /// The verdict of all stages together.
    pub(super) fn verdict(&self, thresholds: &Thresholds) -> Verdict {
        let is_sure = self.approve >= thresholds.wanted(self.operation, self.irreversible);
        let scored = if self.row.settled || is_sure { Verdict::AutoApprove } else { Verdict::Confirm };
        self.row.floor.max(scored)
    }

    pub(super) fn should_ask(&self) -> bool {
        self.row.label >= Verdict::Confirm
    }
}

/// A share with its interval of 95 %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct WeightedShare {
    pub part: f64,
    pub whole: f64,
    /// The sum of squares of the weights: what the weighted rows are worth as evidence.
    squares: f64,
}

impl WeightedShare {
    pub(super) fn of(rows: impl Iterator<Item = (bool, f64)>) -> WeightedShare {
        let mut share = WeightedShare::default();
        for (is_part, weight) in rows {
            share.whole += weight;
            share.squares += weight * weight;
            share.part += if is_part { weight } else { 0.0 };
        }
        share
    }

    pub(super) fn value(&self) -> f64 {
        if self.whole > 0.0 { self.part / self.whole } else { 0.0 }
    }

    /// Clopper and Pearson's bounds, on as many rows as the weighted ones are worth.
    pub(super) fn bounds(&self) -> (f64, f64) {
        let n = if self.squares > 0.0 { (self.whole * self.whole / self.squares).floor() } else { 0.0 };
        let hits = self.value() * n;
        (lower(hits, n), upper(hits, n))
    }
}

impl std::fmt::Display for WeightedShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = self.bounds();
        write!(f, "{:.2} % ({:.2}–{:.2})", 100.0 * self.value(), 100.0 * low, 100.0 * high)
    }
}

/// The largest share under which this few hits would not be surprising (2.5 %).
pub(crate) fn upper(hits: f64, n: f64) -> f64 {
    if n < 1.0 || hits >= n {
        return 1.0;
    }
    bisect(|share| at_most(hits, n, share) > 0.025)
}

/// The smallest share under which this many hits would not be surprising (2.5 %).
pub(crate) fn lower(hits: f64, n: f64) -> f64 {
    if n < 1.0 || hits < 0.5 {
        return 0.0;
    }
    bisect(|share| 1.0 - at_most(hits - 1.0, n, share) < 0.025)
}

fn bisect(is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if is_below(middle) { low = middle } else { high = middle }
    }
    high
}

/// The probability of at most this many hits.
fn at_most(hits: f64, n: f64, share: f64) -> f64 {
    let (mut log_term, mut sum) = (n * (1.0 - share).ln(), 0.0);
    let mut k = 0.0;
    while k <= hits.round() {
        sum += f64::exp(log_term);
        log_term += ((n - k) / (k + 1.0)).ln() + (share / (1.0 - share)).ln();
        k += 1.0;
    }
    sum.min(1.0)
}

/// One bar of a calibration curve.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bin {
    pub count: f64,
    pub said: f64,
    pub was: f64,
}

/// Ten bins by what was said, and the expected calibration error.
pub(super) fn calibration(pairs: impl Iterator<Item = (f64, bool, f64)>) -> (Vec<Bin>, f64) {
    let mut bins = vec![Bin::default(); 10];
    for (said, was, weight) in pairs {
        let place = ((said * 10.0) as usize).min(9);
        if let Some(bin) = bins.get_mut(place) {
            bin.count += weight;
            bin.said += said * weight;
            bin.was += if was { weight } else { 0.0 };
        }
    }
    let total: f64 = bins.iter().map(|bin| bin.count).sum();
    let error = bins.iter().map(|bin| (bin.said - bin.was).abs()).sum::<f64>() / total.max(1.0);
    (bins, error)
}
