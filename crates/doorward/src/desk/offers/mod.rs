//! What doorward offers after the third approval: the narrowest rule that would stop the question, and what it would have done.
//!
//! An offer changes nothing by itself. `command.rs` has the commands, `build.rs` builds the rule, `hook/offer_hint.rs` writes
//! the sentence at the end of a reason.

mod build;
mod command;
#[cfg(test)]
mod simulated_person;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::Result;
use doorward_engine::{Facts, Mode, Policy, Verdict, judge};
use doorward_ledger::{DecisionBody, Index, Override};
use doorward_vocabulary::PatternId;
use serde_json::{Value, json};

use crate::desk::replay::Aftermath;
use crate::hook::offer_hint::{DAYS, OVERRIDES};
use crate::machine::clock;
use crate::memory::decisions;
use crate::memory::ledger_view::LedgerView;
use crate::policy::from_history::{AcceptedOffer, FromHistory, id_of};
use crate::policy::load::{self, Overrides};

pub(crate) use command::{accept, accepted, decline, offered, withdraw};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How far back an offer is tested.
const MONTH_MS: u64 = 30 * DAY_MS;

/// Maximum number of decisions an offer is tested on.
const TRIED: u32 = 2_000;

/// An offer is built from this many of the newest overrides; older ones say the same.
const READ: usize = 200;

/// This many overrides of one pattern in a month, without a refusal, become a proposal of the monthly review.
const MONTHLY: usize = 20;

/// What would stop a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Remedy {
    /// Stop asking about these calls.
    Rule(AcceptedOffer),
    /// Layer 2 takes into account how often such calls were approved.
    Past(AcceptedOffer),
    /// The project is not trusted, so no rule applies in it yet.
    Trust,
    /// Only the user's own answer; says why.
    Nothing(&'static str),
}

/// What an offer would have done to recorded decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OfferEffect {
    /// How many such calls were judged in 30 days.
    pub of: usize,
    /// How many of them were asked about and would have run.
    pub let_run: usize,
    /// How many of these the user had refused or regretted.
    pub refused: usize,
}

/// One pattern that the user keeps approving in one project.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offer {
    pub id: String,
    pub pattern: PatternId,
    pub project: String,
    pub overrides: usize,
    pub remedy: Remedy,
    pub effect: OfferEffect,
}

impl Offer {
    /// What the user can accept, if anything.
    pub(crate) fn item(&self) -> Option<&AcceptedOffer> {
        match &self.remedy {
            Remedy::Rule(item) | Remedy::Past(item) => Some(item),
            Remedy::Trust | Remedy::Nothing(_) => None,
        }
    }

    /// The offer in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let OfferEffect { of, let_run, refused } = self.effect;
        let effect = || {
            let none =
                if refused == 0 { "none that you refused".to_owned() } else { format!("{refused} that you refused") };
            format!("would have let {let_run} of {of} such calls run in 30 days, {none}")
        };
        let so_often = format!("you approved {} such calls in {DAYS} days", self.overrides);
        match &self.remedy {
            Remedy::Rule(item) => {
                format!("{so_often}; allowing {} {}: `doorward rules accept {}`", item.describe(), effect(), self.id)
            }
            Remedy::Past(item) => {
                format!("{so_often}; counting {} {}: `doorward rules accept {}`", item.describe(), effect(), self.id)
            }
            Remedy::Trust => format!(
                "{so_often} in a project that isn't trusted; `doorward trust project {}` would stop most of these questions",
                self.project
            ),
            Remedy::Nothing(why) => format!("{so_often} ({}); {why}", self.pattern),
        }
    }

    /// There is something the user can accept or do.
    pub(crate) fn is_something(&self) -> bool {
        !matches!(self.remedy, Remedy::Nothing(_))
    }

    pub(crate) fn to_json(&self) -> Value {
        let (remedy, item) = match &self.remedy {
            Remedy::Rule(item) => ("rule", Some(item)),
            Remedy::Past(item) => ("past", Some(item)),
            Remedy::Trust => ("trust", None),
            Remedy::Nothing(_) => ("nothing", None),
        };
        let OfferEffect { of, let_run, refused } = self.effect;
        json!({
            "id": self.id, "pattern": self.pattern, "project": self.project, "overrides": self.overrides, "way": remedy,
            "calls": item.and_then(|item| item.calls.as_ref()), "sentence": self.sentence(),
            "effect": { "of": of, "letRun": let_run, "refused": refused },
        })
    }
}

/// A decision the user overrode, with its facts.
pub(crate) struct OverriddenCall {
    pub facts: Facts,
    pub agent: String,
}

/// All open offers: enough overrides in seven days and since the user last answered one.
pub(crate) fn open(room: &LedgerView, index: &Index) -> Result<Vec<Offer>> {
    let now_ms = clock::now_ms();
    let loaded = load::load(&room.dirs, None, "");
    let history = &loaded.accepted.history;
    let mut grouped: BTreeMap<(PatternId, String), Vec<Override>> = BTreeMap::new();
    for one in index.overrides(now_ms.saturating_sub(DAYS * DAY_MS))? {
        let Some(project) = one.project.clone() else { continue };
        let id = id_of(&one.pattern, Some(&project));
        if !history.is_declined(&id, now_ms) && history.last_ms(&id).is_none_or(|last| one.time_ms > last) {
            grouped.entry((one.pattern.clone(), project)).or_default().push(one);
        }
    }
    grouped.retain(|_, overrides| overrides.len() >= OVERRIDES);
    if grouped.is_empty() {
        return Ok(Vec::new());
    }
    let aftermath = Aftermath::read(&room.log, now_ms.saturating_sub(MONTH_MS))?;
    let mut offers = Vec::new();
    for ((pattern, project), overrides) in grouped {
        let desk = OfferContext { room, index, aftermath: &aftermath, history, pattern: &pattern, project: &project };
        offers.extend(desk.offer(&overrides)?);
    }
    Ok(offers)
}

/// Patterns that only layer 2 asks about and that were approved all month: their history should count.
pub(crate) fn monthly(room: &LedgerView, index: &Index) -> Result<Vec<(AcceptedOffer, OfferEffect)>> {
    let now_ms = clock::now_ms();
    let loaded = load::load(&room.dirs, None, "");
    let history = &loaded.accepted.history;
    let mut grouped: BTreeMap<(PatternId, String), Vec<Override>> = BTreeMap::new();
    for one in index.overrides(now_ms.saturating_sub(MONTH_MS))? {
        let Some(project) = one.project.clone() else { continue };
        if history.weighs(&one.pattern, Some(&project), now_ms).is_none() {
            grouped.entry((one.pattern.clone(), project)).or_default().push(one);
        }
    }
    grouped.retain(|_, overrides| overrides.len() >= MONTHLY);
    let aftermath = Aftermath::read(&room.log, now_ms.saturating_sub(MONTH_MS))?;
    let mut found = Vec::new();
    for ((pattern, project), overrides) in grouped {
        let desk = OfferContext { room, index, aftermath: &aftermath, history, pattern: &pattern, project: &project };
        found.extend(desk.past(&overrides)?);
    }
    Ok(found)
}

/// What an offer about one pattern in one project is made from.
struct OfferContext<'a> {
    room: &'a LedgerView,
    index: &'a Index,
    aftermath: &'a Aftermath,
    history: &'a FromHistory,
    pattern: &'a str,
    project: &'a str,
}

impl OfferContext<'_> {
    /// Offers to count the pattern's history, if that would have stopped questions without letting a refused call run.
    fn past(&self, overrides: &[Override]) -> Result<Option<(AcceptedOffer, OfferEffect)>> {
        let (answers, policy) = self.still_asked(overrides)?;
        for remedy in build::ways((self.pattern, self.project), &answers, &policy) {
            let Remedy::Past(item) = remedy else { continue };
            let effect = self.effect(&item, answers.first().map(|yes| yes.agent.as_str()).unwrap_or_default())?;
            if effect.let_run > 0 && effect.refused == 0 {
                return Ok(Some((item, effect)));
            }
        }
        Ok(None)
    }

    /// The calls among these that the current policy still asks about.
    fn still_asked(&self, overrides: &[Override]) -> Result<(Vec<OverriddenCall>, Policy)> {
        let newest = overrides.get(overrides.len().saturating_sub(READ)..).unwrap_or_default();
        let bodies: Vec<DecisionBody> = newest.iter().filter_map(|one| self.body(one.sequence)).collect();
        let agent = bodies.last().and_then(|body| body.agent.clone()).unwrap_or_default();
        let policy = self.policy(&agent, None)?;
        let still_asked = |body: &DecisionBody| {
            let facts = decisions::facts(body)?;
            let yes = OverriddenCall { facts, agent: agent.clone() };
            (judge(&yes.facts, &policy).verdict != Verdict::AutoApprove).then_some(yes)
        };
        let answers = bodies.iter().filter_map(still_asked).collect();
        Ok((answers, policy))
    }

    /// `None` if the question is no longer asked.
    fn offer(&self, overrides: &[Override]) -> Result<Option<Offer>> {
        let (answers, policy) = self.still_asked(overrides)?;
        if answers.is_empty() {
            return Ok(None);
        }
        let (remedy, effect) = self.best(&answers, &policy)?;
        Ok(Some(Offer {
            id: id_of(self.pattern, Some(self.project)),
            pattern: self.pattern.into(),
            project: self.project.to_owned(),
            overrides: overrides.len(),
            remedy,
            effect,
        }))
    }

    /// The first option that stops the question without letting a refused call run.
    fn best(&self, answers: &[OverriddenCall], policy: &Policy) -> Result<(Remedy, OfferEffect)> {
        if let Some(remedy) = build::without_item(answers, policy) {
            return Ok((remedy, OfferEffect::default()));
        }
        for remedy in build::ways((self.pattern, self.project), answers, policy) {
            let (Remedy::Rule(item) | Remedy::Past(item)) = &remedy else { continue };
            let effect = self.effect(item, answers.first().map(|yes| yes.agent.as_str()).unwrap_or_default())?;
            if effect.let_run > 0 && effect.refused == 0 {
                return Ok((remedy, effect));
            }
        }
        let why = "no narrow rule covers them: each call may do something different, so each one needs your approval";
        Ok((Remedy::Nothing(why), OfferEffect::default()))
    }

    /// What it would have done to the month's decisions.
    fn effect(&self, item: &AcceptedOffer, agent: &str) -> Result<OfferEffect> {
        let (before, after) = (self.policy(agent, None)?, self.policy(agent, Some(item))?);
        let since_ms = clock::now_ms().saturating_sub(MONTH_MS);
        let mut effect = OfferEffect::default();
        for sequence in self.index.decisions_like(self.pattern, self.project, since_ms, TRIED)? {
            let Some(body) = self.body(sequence) else { continue };
            let Some(facts) = decisions::facts(&body) else { continue };
            effect.of += 1;
            let with = build::with_past(&facts, item);
            let is_laxer = judge(&facts, &before).verdict > Verdict::AutoApprove
                && judge(&with, &after).verdict == Verdict::AutoApprove;
            effect.let_run += usize::from(is_laxer);
            let is_bad = self.aftermath.is_refused(&body.id) || self.aftermath.is_regret(&body.id);
            effect.refused += usize::from(is_laxer && is_bad);
        }
        Ok(effect)
    }

    /// The policy in the project, as it is or with one more rule.
    fn policy(&self, agent: &str, item: Option<&AcceptedOffer>) -> Result<Policy> {
        let history = item.map(|item| self.history.clone().with(item.clone()));
        let overrides = Overrides { history, ..Overrides::default() };
        let loaded = load::load_with(&self.room.dirs, Some(self.project), agent, &overrides);
        loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)
    }

    fn body(&self, sequence: u64) -> Option<DecisionBody> {
        let record = self.room.log.record(sequence).ok().flatten()?;
        serde_json::from_slice(&record.body?).ok()
    }
}
