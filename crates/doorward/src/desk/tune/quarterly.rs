//! The quarterly review: layer 1 rules compared with what people answered and regretted.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use doorward_engine::{Policy, Rule, Stage, Verdict};
use serde::Serialize;

use super::finding::{self, ALWAYS, Drift, Finding, MISHAPS, REGRET, UserRate};
use super::history::History;
use super::proposal::{KeptRule, RuleChange};
use super::rate::Rate;
use super::without::Without;
use crate::machine::visible;
use crate::policy::config::stages;

pub(super) const QUARTER_MS: u64 = 90 * 24 * 60 * 60 * 1000;

/// Minimum number of answers before a rule is retired.
// Retiring a rule is permanent until someone notices; it needs more evidence than calling it too strict.
const ANSWERS: u64 = 50;

/// Minimum number of calls before two rules are said to overlap.
// Two rare rules overlap by accident easily.
const TOGETHER: u64 = 30;

/// Maximum share of overridden questions of a rule that may have been regretted.
// If the user regrets the overrides, the rule was right and the answers were wrong.
const AFTERWARDS: f64 = 0.05;

/// What the quarter says about one rule.
#[derive(Debug, Serialize)]
pub(super) struct AuditedRule {
    pub rule: String,
    /// How often it had an opinion.
    pub fired: u64,
    /// Overridden, of the answered calls that would have passed without the rules that asked.
    pub overridden: Rate,
    /// Regretted, of what it approved or people overrode.
    pub regret: Rate,
}

/// What the quarter says about rules and overrides.
#[derive(Debug, Serialize)]
pub(super) struct Quarterly {
    pub decisions: u64,
    pub rules: Vec<AuditedRule>,
    /// Rules that never had an opinion; for a guard that may be the best outcome.
    pub silent: Vec<String>,
    /// Rules that always matched together.
    pub overlaps: Vec<(String, String, u64)>,
    pub users: Vec<UserRate>,
    pub findings: Vec<Finding>,
    #[serde(skip)]
    pub changes: Vec<RuleChange>,
    /// Rules that are too strict but stay, because retiring them would change nothing.
    #[serde(skip)]
    pub kept: Vec<KeptRule>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    fired: u64,
    overridden: Rate,
    regret: Rate,
}

pub(super) fn review(history: &History, policy: &Policy) -> Quarterly {
    let users = finding::users(history.past.iter());
    let tallies = tallies(history, policy, &users);
    let mut quarterly = Quarterly {
        decisions: history.past.len() as u64,
        rules: Vec::new(),
        silent: Vec::new(),
        overlaps: overlaps(history, policy),
        findings: finding::bursts(history.past.iter()),
        changes: Vec::new(),
        kept: Vec::new(),
        users,
    };
    let active = || policy.rules.iter().zip(0..).zip(&tallies).filter(|((rule, _), _)| rule.stage == Stage::Active);
    let is_strict =
        |((rule, _), tally): &((&Rule, u16), &Tally)| matches!(drift_of(rule, tally), Some((Drift::TooStrict, _)));
    let strict: BTreeSet<u16> = active().filter(is_strict).map(|((_, place), _)| place).collect();
    for ((rule, place), tally) in active() {
        if tally.fired == 0 {
            quarterly.silent.push(rule.id.to_string());
            continue;
        }
        let Tally { fired, overridden, regret } = *tally;
        quarterly.rules.push(AuditedRule { rule: rule.id.to_string(), fired, overridden, regret });
        if let Some((drift, why)) = drift_of(rule, tally) {
            let without = strict.contains(&place).then(|| Without::of(history, place, &strict));
            quarterly.propose(rule, drift, (why, without.map(|without| (without.is_laxer(), without.words(policy)))));
        }
    }
    quarterly.findings.extend(finding::abuses(&quarterly.users));
    quarterly
}

impl Quarterly {
    /// A finding about a rule, and what to do with it: retire it, unless that would change nothing.
    fn propose(&mut self, rule: &Rule, drift: Drift, (why, effect): (String, Option<(bool, String)>)) {
        let id = rule.id.to_string();
        let is_kept = stages::is_fixed(rule) || effect.as_ref().is_some_and(|(is_laxer, _)| !is_laxer);
        let why = effect.map(|(_, words)| format!("{why}; {words}")).unwrap_or(why);
        self.findings.push(Finding::new(drift, &rule.id, why.clone()));
        match is_kept {
            true => self.kept.push(KeptRule { id, why }),
            false => self.changes.push(RuleChange { id, from: Stage::Active, to: Stage::Retired, why }),
        }
    }
}

fn tallies(history: &History, policy: &Policy, users: &[UserRate]) -> Vec<Tally> {
    let is_excessive = |name: &str| users.iter().any(|user| user.is_excessive && user.user == name);
    let mut tallies = vec![Tally::default(); policy.rules.len()];
    for past in &history.past {
        let Some(weighed) = &past.weighed else { continue };
        let place = |rule: u16| usize::from(rule);
        if let Some(tally) = weighed.allowed_by.and_then(|rule| tallies.get_mut(place(rule))) {
            tally.fired += 1;
            if past.verdict == Verdict::AutoApprove {
                tally.regret.count(past.is_regretted);
            }
        }
        for rule in &weighed.rules {
            let Some(tally) = tallies.get_mut(place(*rule)) else { continue };
            tally.fired += 1;
            if past.is_answered() && weighed.blamed.contains(rule) && !is_excessive(&past.user) {
                tally.overridden.count(past.is_let_run());
                if past.is_let_run() {
                    tally.regret.count(past.is_regretted);
                }
            }
        }
    }
    tallies
}

/// What to do with a rule, and why.
fn drift_of(rule: &Rule, tally: &Tally) -> Option<(Drift, String)> {
    let Tally { overridden, regret, .. } = tally;
    match rule.verdict {
        Verdict::AutoApprove => (regret.part >= MISHAPS && regret.low() > REGRET).then(|| {
            let why = format!("its approvals were regretted {regret}; without it layer 2 weighs these calls");
            (Drift::TooLax, why)
        }),
        Verdict::Confirm => {
            let is_always = overridden.whole >= ANSWERS && overridden.low() > ALWAYS;
            (is_always && regret.value() <= REGRET && regret.high() <= AFTERWARDS).then(|| {
                let why = format!("of the calls it stopped, people overrode {overridden} and regretted {regret}");
                (Drift::TooStrict, why)
            })
        }
        // A block is not removed just because people got used to overriding it.
        Verdict::Block => None,
    }
}

/// Pairs of rules that never matched without each other.
fn overlaps(history: &History, policy: &Policy) -> Vec<(String, String, u64)> {
    let mut alone: BTreeMap<u16, u64> = BTreeMap::new();
    let mut pairs: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    for rules in history.past.iter().filter_map(|past| past.weighed.as_ref()).map(|weighed| &weighed.rules) {
        for (at, rule) in rules.iter().enumerate() {
            *alone.entry(*rule).or_default() += 1;
            for other in rules.iter().skip(at + 1) {
                *pairs.entry((*rule, *other)).or_default() += 1;
            }
        }
    }
    let count = |rule: u16| alone.get(&rule).copied().unwrap_or_default();
    let name = |rule: u16| policy.rules.get(usize::from(rule)).map(|rule| rule.id.to_string()).unwrap_or_default();
    let found = pairs
        .into_iter()
        .filter(|((one, other), both)| *both >= TOGETHER && count(*one) == *both && count(*other) == *both);
    found.map(|((one, other), both)| (name(one), name(other), both)).collect()
}

impl Quarterly {
    pub(super) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{} decisions in ninety days, judged again under the current policy", self.decisions)?;
        writeln!(
            out,
            "rules with an opinion; overridden counts answers about calls that would have passed without the rules that asked"
        )?;
        for one in &self.rules {
            writeln!(
                out,
                "  {:<24}{:>7} times  overridden {:<32} regretted {}",
                visible(&one.rule),
                one.fired,
                one.overridden,
                one.regret
            )?;
        }
        for (one, other, both) in &self.overlaps {
            writeln!(out, "always together: {} and {}, {both} times", visible(one), visible(other))?;
        }
        writeln!(out, "{} rules never had an opinion: {}", self.silent.len(), visible(&self.silent.join(", ")))?;
        finding::print_users(out, &self.users)
    }
}
