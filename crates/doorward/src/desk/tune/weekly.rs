//! The weekly review: how much was regretted and how much was asked needlessly, compared with the four weeks before.

use std::collections::BTreeMap;
use std::io::Write;

use doorward_vocabulary::Verdict;
use serde::Serialize;

use super::finding::{self, ALWAYS, ANSWERS, Drift, Finding, MISHAPS, REGRET, UserRate};
use super::history::{DecidedCall, History};
use super::rate::{Rate, Trend};

pub(super) const WEEK_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// The weeks that this one is compared with.
// A month evens out the days someone was away; more would hide a trend.
pub(super) const BEFORE: u64 = 4;

/// The rates of one category.
#[derive(Debug, Serialize)]
pub(super) struct Category {
    pub category: String,
    /// Approved and later reverted or flagged, of all that was approved: the specification's false positives.
    pub regret: Rate,
    pub regret_before: Rate,
    pub regret_trend: Trend,
    /// Asked about and approved, of all answered questions: the specification's false negatives.
    pub friction: Rate,
    pub friction_before: Rate,
    pub friction_trend: Trend,
}

/// The results of the week.
#[derive(Debug, Serialize)]
pub(super) struct Weekly {
    pub decisions: u64,
    pub categories: Vec<Category>,
    pub users: Vec<UserRate>,
    pub findings: Vec<Finding>,
}

/// Regret and friction.
#[derive(Clone, Copy, Default)]
struct Rates {
    regret: Rate,
    friction: Rate,
}

impl Rates {
    fn count(&mut self, past: &DecidedCall) {
        match past.verdict {
            Verdict::AutoApprove => self.regret.count(past.is_regretted),
            Verdict::Confirm if past.is_answered() => self.friction.count(past.is_let_run()),
            Verdict::Confirm | Verdict::Block => {}
        }
    }
}

/// Reviews the week before a point in time.
pub(super) fn review(history: &History, now_ms: u64) -> Weekly {
    let begin = now_ms.saturating_sub(WEEK_MS);
    let week = || history.past.iter().filter(move |past| past.time_ms >= begin);
    let mut categories: BTreeMap<&str, [Rates; 2]> = BTreeMap::new();
    for past in &history.past {
        let [now, before] = categories.entry(&past.category).or_default();
        if past.time_ms >= begin { now.count(past) } else { before.count(past) }
    }
    let category = |(name, [now, before]): (&str, [Rates; 2])| Category {
        category: name.to_owned(),
        regret: now.regret,
        regret_before: before.regret,
        regret_trend: now.regret.trend(before.regret),
        friction: now.friction,
        friction_before: before.friction,
        friction_trend: now.friction.trend(before.friction),
    };
    let categories: Vec<Category> = categories.into_iter().map(category).collect();
    let users = finding::users(week());
    let mut findings: Vec<Finding> = categories.iter().filter_map(regretted).collect();
    findings.extend(asked_for_nothing(week(), &users));
    findings.extend(finding::bursts(week()));
    findings.extend(finding::abuses(&users));
    Weekly { decisions: week().count() as u64, categories, users, findings }
}

fn regretted(category: &Category) -> Option<Finding> {
    let Category { category, regret, .. } = category;
    (regret.part >= MISHAPS && regret.low() > REGRET).then(|| {
        let text = format!(
            "regretted {regret}, the limit is {:.0} %; `doorward tune monthly` weighs the threshold",
            100.0 * REGRET
        );
        Finding::new(Drift::TooLax, category, text)
    })
}

/// Rules whose questions are nearly always answered with yes, by people who don't say yes to everything.
fn asked_for_nothing<'p>(week: impl Iterator<Item = &'p DecidedCall>, users: &[UserRate]) -> Vec<Finding> {
    let is_excessive = |name: &str| users.iter().any(|user| user.is_excessive && user.user == name);
    let mut rules: BTreeMap<&str, Rate> = BTreeMap::new();
    for past in week.filter(|past| past.is_answered() && past.verdict == Verdict::Confirm && !past.rule.is_empty()) {
        if !is_excessive(&past.user) {
            rules.entry(&past.rule).or_default().count(past.is_let_run());
        }
    }
    let found = rules.into_iter().filter(|(_, rate)| rate.whole >= ANSWERS && rate.low() > ALWAYS);
    let finding = |(rule, rate): (&str, Rate)| {
        let text = format!("asked and then approved {rate}; `doorward tune quarterly` weighs the rule");
        Finding::new(Drift::TooStrict, rule, text)
    };
    found.map(finding).collect()
}

impl Weekly {
    pub(super) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{} decisions in seven days, compared with the four weeks before", self.decisions)?;
        writeln!(out, "regret: approved and later reverted or flagged (the specification's false positives)")?;
        for one in self.categories.iter().filter(|one| one.regret.whole > 0) {
            writeln!(
                out,
                "  {:<10}{:<32} was {:<32} {}",
                one.category,
                one.regret,
                one.regret_before,
                one.regret_trend.as_str()
            )?;
        }
        writeln!(out, "friction: asked about and approved, of what was answered (its false negatives)")?;
        for one in self.categories.iter().filter(|one| one.friction.whole > 0) {
            writeln!(
                out,
                "  {:<10}{:<32} was {:<32} {}",
                one.category,
                one.friction,
                one.friction_before,
                one.friction_trend.as_str()
            )?;
        }
        finding::print_users(out, &self.users)
    }
}
