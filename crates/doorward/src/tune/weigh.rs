//! Judges a stored call again, to see which rules spoke and how sure layer 2 was of it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use doorward_engine::{Facts, Judgement, Operation, Policy, Source, Stage, Thresholds, Verdict, judge};

/// What the policy in force makes of a call.
#[derive(Debug)]
pub struct Weighed {
    /// The rules that spoke, by their place in the policy.
    pub rules: Vec<u16>,
    /// Those among them without which the verdict would be laxer.
    pub alone: Vec<u16>,
    /// The allow rule that settled it.
    pub allowed_by: Option<u16>,
    /// Layer 2 approved it, or only its thresholds keep it from being approved.
    pub score: Option<Score>,
}

/// How sure layer 2 is of a call: for each operation of its effects, of the effect that it is least sure of.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    pub least: [f32; Operation::ALL.len()],
    /// It is approved as things are; otherwise it would be at the built-in floors.
    pub is_approved: bool,
}

/// A policy, and the same without one rule or with the lowest thresholds.
pub struct Scales<'p> {
    policy: &'p Policy,
    places: BTreeMap<&'p str, u16>,
    without: Vec<OnceLock<Policy>>,
    /// Absent if nothing is above the floors.
    lowest: Option<Policy>,
}

impl<'p> Scales<'p> {
    pub fn new(policy: &'p Policy) -> Scales<'p> {
        let lowest = Policy { thresholds: Thresholds::default(), ..policy.clone() };
        let is_raised = policy.thresholds != lowest.thresholds;
        let places = policy.rules.iter().map(|rule| rule.id.as_ref()).zip(0..).collect();
        let without = policy.rules.iter().map(|_| OnceLock::new()).collect();
        Scales { policy, places, without, lowest: is_raised.then_some(lowest) }
    }

    pub fn weigh(&self, facts: &Facts) -> Weighed {
        let judgement = judge(facts, self.policy);
        let is_approved = judgement.verdict == Verdict::AutoApprove;
        let spoke: Vec<u16> = self.spoke(&judgement);
        let allowed_by = spoke.first().copied().filter(|_| is_approved && judgement.settled_by == Source::Rule);
        let rules: Vec<u16> = if is_approved { Vec::new() } else { spoke };
        let alone =
            rules.iter().copied().filter(|rule| self.is_laxer_without(*rule, facts, judgement.verdict)).collect();
        let score = self.scored(facts, &judgement);
        Weighed { rules, alone, allowed_by, score }
    }

    fn spoke(&self, judgement: &Judgement) -> Vec<u16> {
        let named = judgement.opinions.iter().filter_map(|opinion| opinion.rule.as_deref());
        let mut found: Vec<u16> = named.filter_map(|rule| self.places.get(rule).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_laxer_without(&self, rule: u16, facts: &Facts, verdict: Verdict) -> bool {
        let retired = || {
            let mut policy = self.policy.clone();
            policy.rules.get_mut(usize::from(rule)).into_iter().for_each(|rule| rule.stage = Stage::Retired);
            policy
        };
        let Some(policy) = self.without.get(usize::from(rule)) else { return false };
        judge(facts, policy.get_or_init(retired)).verdict < verdict
    }

    fn scored(&self, facts: &Facts, judgement: &Judgement) -> Option<Score> {
        let is_approved = judgement.verdict == Verdict::AutoApprove && judgement.settled_by == Source::Score;
        let would_be = || {
            let lowest = self.lowest.as_ref().filter(|_| judgement.verdict == Verdict::Confirm);
            lowest.is_some_and(|lowest| judge(facts, lowest).verdict == Verdict::AutoApprove)
        };
        if !is_approved && !would_be() {
            return None;
        }
        let numbers = self.policy.scorer.table().ok()?;
        let mut least = [1.0_f32; Operation::ALL.len()];
        for score in self.policy.scorer.scores(&numbers, facts, Verdict::AutoApprove) {
            let place = score.operation.and_then(|operation| least.get_mut(operation as usize));
            place.into_iter().for_each(|place| *place = place.min((1.0 - score.ask) as f32));
        }
        Some(Score { least, is_approved })
    }
}
