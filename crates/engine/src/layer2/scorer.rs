//! A scorer at work: sums of weights, probabilities, and what weighed most.

use std::sync::Arc;

use doorward_vocabulary::{Operation, Reversibility, Verdict};

use super::extract;
use crate::effect::Effect;
use crate::facts::Facts;
use crate::retired::Waived;
use crate::verdict::OTHERS_ASK;
use doorward_knowledge::features::{self, Features, Named};
use doorward_knowledge::scorer_table::{Heads, ONE, Table};

mod built_in {
    //! Written by the build from `model/scorer.tsv`.
    include!(concat!(env!("OUT_DIR"), "/scorer.rs"));
}

/// The scorer that a policy judges by.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scorer {
    #[default]
    BuiltIn,
    /// One that the user trained. It may only ask more: what is built in counts where that is stricter.
    Own(Arc<Table>),
    /// The one that was asked for cannot be used; the text says why.
    Unavailable(String),
}

/// The numbers of a scorer, wherever they lie.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    base: Heads,
    slope: Heads,
    offset: Heads,
    weights: &'a [Heads],
}

/// The probabilities of one effect, and what they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Probability that a person would want to be asked, or more.
    pub ask: f64,
    /// Probability that nobody would want it done; never more than `ask`.
    pub block: f64,
    pub operation: Option<Operation>,
    pub reversibility: Option<Reversibility>,
    /// The place of the effect in the facts.
    pub effect: usize,
    pub features: Features,
}

impl Score {
    /// The probability of the likeliest of the three answers.
    pub fn sure(&self) -> f64 {
        (1.0 - self.ask).max(self.ask - self.block).max(self.block)
    }
}

/// One line of the scorecard.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    pub feature: &'static str,
    pub value: String,
    pub ask: f64,
    pub block: f64,
    /// It may only raise a score.
    pub is_risk: bool,
    /// It may only lower a score.
    pub is_calm: bool,
}

impl Weight {
    /// Which way it may point, in words.
    pub fn way(&self) -> &'static str {
        match (self.is_risk, self.is_calm) {
            (true, _) => "raises",
            (false, true) => "only lowers",
            (false, false) => "may lower",
        }
    }
}

impl Scorer {
    pub fn table(&self) -> Result<Numbers<'_>, &str> {
        match self {
            Scorer::BuiltIn => Ok(Numbers::BUILT_IN),
            Scorer::Own(table) => Ok(Numbers::of(table)),
            Scorer::Unavailable(problem) => Err(problem),
        }
    }

    /// The scores by these numbers, or by the built-in ones where those are stricter.
    pub(super) fn scores(&self, facts: &Facts, others: Verdict, waived: &Waived) -> Result<Vec<Score>, &str> {
        let mut scores = self.table()?.scores_but(facts, others, waived);
        if let Scorer::Own(_) = self {
            for (score, floor) in scores.iter_mut().zip(Numbers::BUILT_IN.scores_but(facts, others, waived)) {
                (score.ask, score.block) = (score.ask.max(floor.ask), score.block.max(floor.block));
            }
        }
        Ok(scores)
    }

    /// Reads a model file of the user's own.
    pub fn parse(text: &str) -> Result<Scorer, String> {
        let names = features::names();
        let table = Table::parse(text, &names)?;
        match table.wrong_way(&names) {
            Some(name) if name.starts_with("overridden") => Err(format!("it lets `{name}` raise a risk")),
            Some(name) => Err(format!("it lets `{name}` lower a risk")),
            None => Ok(Scorer::Own(Arc::new(table))),
        }
    }
}

impl Numbers<'static> {
    const BUILT_IN: Numbers<'static> =
        Numbers { base: built_in::BASE, slope: built_in::SLOPE, offset: built_in::OFFSET, weights: &built_in::WEIGHTS };
}

impl<'a> Numbers<'a> {
    pub fn of(table: &'a Table) -> Numbers<'a> {
        Numbers { base: table.base, slope: table.slope, offset: table.offset, weights: &table.weights }
    }

    /// The calibrated log-odds of both heads, in thousandths.
    pub fn log_odds(&self, features: &Features) -> [i64; 2] {
        let mut sums = self.base.map(i64::from);
        for number in features.iter() {
            let weight = self.weights.get(number).copied().unwrap_or_default();
            sums.iter_mut().zip(weight).for_each(|(sum, weight)| *sum += i64::from(weight));
        }
        let [ask, block] = sums;
        let calibrated =
            |sum: i64, slope: i32, offset: i32| (sum * i64::from(slope)).div_euclid(ONE) + i64::from(offset);
        [calibrated(ask, self.slope[0], self.offset[0]), calibrated(block, self.slope[1], self.offset[1])]
    }

    /// The probabilities of both heads.
    pub fn chances(&self, features: &Features) -> [f64; 2] {
        let [ask, block] = self.log_odds(features).map(chance);
        [ask, block.min(ask)]
    }

    /// The same scores as if nobody had accepted anything out of history.
    pub fn without_history(&self, score: &Score) -> [f64; 2] {
        self.chances(&score.features.without_history())
    }

    /// One score for each effect; a call without effects is scored by how well it was understood.
    pub fn scores(&self, facts: &Facts, others: Verdict) -> Vec<Score> {
        self.scores_but(facts, others, &Waived::default())
    }

    /// The same without what a retired rule takes with it.
    fn scores_but(&self, facts: &Facts, others: Verdict, waived: &Waived) -> Vec<Score> {
        let of = |(place, features): (usize, Features)| {
            let [ask, block] = self.chances(&features);
            let effect = facts.effects.get(place);
            let operation = effect.map(|effect| effect.operation);
            Score {
                ask,
                block,
                operation,
                reversibility: effect.map(|effect| effect.reversibility),
                effect: place,
                features,
            }
        };
        extract::features_but(facts, others, waived).into_iter().enumerate().map(of).collect()
    }

    /// All weights with their names, the base and the calibration first.
    pub fn scorecard(&self) -> Vec<Weight> {
        let row = |feature, value: &str, heads: Heads, (is_risk, is_calm)| Weight {
            feature,
            value: value.to_owned(),
            ask: odds(i64::from(heads[0])),
            block: odds(i64::from(heads[1])),
            is_risk,
            is_calm,
        };
        let either = (false, false);
        let mut list = vec![
            row("base", "every call", self.base, either),
            row("calibration", "slope", self.slope, either),
            row("calibration", "offset", self.offset, either),
        ];
        let all = features::all().zip(features::names()).zip(self.weights);
        list.extend(all.map(|((named, name), heads)| {
            let value = name.strip_prefix(named.group).unwrap_or(&name).trim_start().to_owned();
            row(named.group, &value, *heads, (named.is_risk, named.is_calm))
        }));
        list
    }

    /// What raised a score, the most telling first, in log-odds. Steps of one dimension are one contribution.
    pub fn contributions(&self, score: &Score, facts: &Facts) -> Vec<(String, f64)> {
        let effect = facts.effects.get(score.effect);
        let mut list: Vec<(Named, i64)> = Vec::new();
        for number in score.features.iter() {
            let (Some(named), Some(weight)) = (features::named(number), self.weights.get(number)) else { continue };
            let added = i64::from(weight[0]);
            let is_same = |known: &Named| known.group == named.group && !matches!(named.group, "mark" | "flow");
            match list.iter_mut().find(|(known, _)| is_same(known)) {
                Some((reached, sum)) => (*reached, *sum) = (named, *sum + added),
                None => list.push((named, added)),
            }
        }
        list.retain(|(_, added)| *added > 0);
        list.sort_by_key(|(_, added)| std::cmp::Reverse(*added));
        list.into_iter().map(|(named, added)| (worded(named, effect), odds(added))).collect()
    }
}

/// A contribution as a person reads it.
fn worded(named: Named, effect: Option<&Effect>) -> String {
    match (named.group, effect) {
        ("mark" | "flow" | "operation", _) => named.word.to_owned(),
        ("scope", Some(effect)) => format!("scope {}", effect.scope),
        ("reach", Some(effect)) => format!("reach {}", effect.reach),
        ("reversibility", Some(effect)) => effect.reversibility.to_string(),
        ("sensitivity", Some(effect)) => effect.sensitivity.to_string(),
        ("coverage", _) if named.word == "delegated" => "delegated".to_owned(),
        ("coverage", _) => "partly unknown".to_owned(),
        ("overridden", _) => "let run before".to_owned(),
        ("session", _) => "what happened before in the session".to_owned(),
        ("effects", _) => "many effects at once".to_owned(),
        ("purpose", _) => "nothing says what it runs for".to_owned(),
        ("content", _) => "unseen content from outside the project".to_owned(),
        ("loss", _) => "deletes what no build makes again".to_owned(),
        ("stages", _) => OTHERS_ASK.to_owned(),
        (group, _) => format!("{group} {}", named.word),
    }
}

/// The whole scorecard that is built in, for the documentation.
pub fn weights() -> Vec<Weight> {
    Numbers::BUILT_IN.scorecard()
}

/// Thousandths of log-odds as log-odds.
pub fn odds(thousandths: i64) -> f64 {
    thousandths as f64 / ONE as f64
}

/// The probability that log-odds, in thousandths, stand for.
pub fn chance(thousandths: i64) -> f64 {
    probability(odds(thousandths))
}

/// The probability that log-odds stand for.
pub fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + exponential(-log_odds))
}

/// e to the power of `x`, by additions and multiplications alone, so that every machine gets the same bits.
fn exponential(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let halvings = 10;
    let reduced = x / f64::from(1 << halvings);
    let mut sum = 1.0;
    let mut term = 1.0;
    for n in 1..=12 {
        term *= reduced / f64::from(n);
        sum += term;
    }
    (0..halvings).fold(sum, |power, _| power * power)
}
