//! Judges a stored call again, to see which rules had an opinion, what they are responsible for, and how confident layer 2 was.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use doorward_engine::layer2;
use doorward_engine::{
    Facts, Judgement, Operation, Policy, Source, Stage, Thresholds, Verdict, judge, verdict_without_retired,
};

/// How the current policy judges a call.
#[derive(Debug)]
pub(super) struct Weighed {
    /// The rules with an opinion, by position in the policy.
    pub rules: Vec<u16>,
    /// Those of them that would have to go for the call to pass; for a block, those without which it would not be blocked.
    pub blamed: Vec<u16>,
    /// What happens to the question if all of these are retired.
    pub then: WithoutRules,
    /// The allow rule that settled it.
    pub allowed_by: Option<u16>,
    /// Layer 2 approved it, or only its thresholds keep it from being approved.
    pub score: Option<RiskScore>,
}

/// What happens to a question without the rules that asked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WithoutRules {
    Passes,
    /// Still asked, but softly: more may clear it.
    Softens,
    /// Still asked, by this stage.
    Stays(Source),
}

/// Layer 2's confidence in a call: for each operation, that of its least certain effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct RiskScore {
    pub least: [f32; Operation::ALL.len()],
    /// It is approved as things are; otherwise it would be at the built-in floors.
    pub is_approved: bool,
}

/// A policy, and reduced versions of it.
pub(super) struct PolicyVariants<'p> {
    policy: &'p Policy,
    places: BTreeMap<&'p str, u16>,
    /// Each without one rule.
    without: Vec<OnceLock<Policy>>,
    /// Without any rule that asks.
    ///
    /// INVARIANT: removing a rule without an opinion on a call changes nothing, so this equals a policy without exactly the
    /// rules that had one.
    bare: Policy,
    /// With the lowest thresholds; absent if nothing is above the floors.
    lowest: Option<Policy>,
}

impl<'p> PolicyVariants<'p> {
    pub(super) fn new(policy: &'p Policy) -> PolicyVariants<'p> {
        let lowest = Policy { thresholds: Thresholds::default(), ..policy.clone() };
        let is_raised = policy.thresholds != lowest.thresholds;
        let places = policy.rules.iter().map(|rule| rule.id.as_ref()).zip(0..).collect();
        let without = policy.rules.iter().map(|_| OnceLock::new()).collect();
        let mut bare = policy.clone();
        let active = bare.rules.iter_mut().filter(|rule| rule.stage == Stage::Active);
        active.filter(|rule| rule.verdict == Verdict::Confirm).for_each(|rule| rule.stage = Stage::Retired);
        PolicyVariants { policy, places, without, bare, lowest: is_raised.then_some(lowest) }
    }

    pub(super) fn weigh(&self, facts: &Facts) -> Weighed {
        let judgement = judge(facts, self.policy);
        let is_approved = judgement.verdict == Verdict::AutoApprove;
        let spoke: Vec<u16> = self.spoke(&judgement);
        let allowed_by = spoke.first().copied().filter(|_| is_approved && judgement.settled_by == Source::Rule);
        let rules: Vec<u16> = if is_approved { Vec::new() } else { spoke };
        let (blamed, then) = self.blamed(&rules, facts, &judgement);
        let score = self.scored(facts, &judgement);
        Weighed { rules, blamed, then, allowed_by, score }
    }

    fn spoke(&self, judgement: &Judgement) -> Vec<u16> {
        let named = judgement.opinions.iter().filter_map(|opinion| opinion.rule.as_deref());
        let mut found: Vec<u16> = named.filter_map(|rule| self.places.get(rule).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Which rules are responsible, and what would happen without them. Each rule that asks is necessary, so either all are or
    /// none.
    fn blamed(&self, rules: &[u16], facts: &Facts, judgement: &Judgement) -> (Vec<u16>, WithoutRules) {
        let stays = WithoutRules::Stays(judgement.settled_by);
        match judgement.verdict {
            Verdict::AutoApprove => (Vec::new(), WithoutRules::Passes),
            Verdict::Block => {
                let is_laxer = |rule: &u16| self.is_laxer_without(*rule, facts, judgement.verdict);
                (rules.iter().copied().filter(is_laxer).collect(), stays)
            }
            Verdict::Confirm if rules.is_empty() => (Vec::new(), stays),
            Verdict::Confirm if verdict_without_retired(facts, &self.bare) > Verdict::AutoApprove => {
                (Vec::new(), stays)
            }
            Verdict::Confirm => {
                let left = judge(facts, &self.bare);
                let then = match left.verdict {
                    Verdict::AutoApprove => WithoutRules::Passes,
                    Verdict::Confirm | Verdict::Block if left.cleared_by < judgement.cleared_by => {
                        WithoutRules::Softens
                    }
                    Verdict::Confirm | Verdict::Block => WithoutRules::Stays(left.settled_by),
                };
                (rules.to_vec(), then)
            }
        }
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

    fn scored(&self, facts: &Facts, judgement: &Judgement) -> Option<RiskScore> {
        let is_approved = judgement.verdict == Verdict::AutoApprove && judgement.settled_by == Source::Score;
        let would_be = || {
            let lowest = self.lowest.as_ref().filter(|_| judgement.verdict == Verdict::Confirm);
            lowest.is_some_and(|lowest| judge(facts, lowest).verdict == Verdict::AutoApprove)
        };
        if !is_approved && !would_be() {
            return None;
        }
        let mut least = [1.0_f32; Operation::ALL.len()];
        for score in layer2::scores(facts, self.policy) {
            let place = score.operation.and_then(|operation| least.get_mut(operation as usize));
            place.into_iter().for_each(|place| *place = place.min((1.0 - score.ask) as f32));
        }
        Some(RiskScore { least, is_approved })
    }
}
