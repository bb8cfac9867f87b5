//! From facts and policy to a judgement: all opinions are collected, the strictest wins.

use std::time::Duration;

use doorward_vocabulary::{Clearance, Degree, Mode, Source, Verdict};

use crate::clear;
use crate::contained;
use crate::facts::Facts;
use crate::layer1;
use crate::layer2;
use crate::limits;
use crate::matrix;
use crate::policy::Policy;
use crate::retired::{Extent, Waived};
use crate::review;
use crate::rules;
use crate::verdict::{Classes, Confidence, Judgement, Opinion};

/// How sure layer 2 is, of what, and how long it took to say so.
#[derive(Clone, Copy)]
struct Scored {
    sure: Confidence,
    classes: Option<Classes>,
    took: Duration,
}

/// What the stages said.
struct Heard {
    opinions: Vec<Opinion>,
    /// What shadow rules would have said.
    shadow: Vec<Opinion>,
    /// Absent where layer 2 was not asked.
    scored: Option<Scored>,
}

/// How the stages are listened to.
#[derive(Clone, Copy)]
struct Hearing<'a> {
    /// What is not heard counts as not said.
    is_heard: &'a dyn Fn(&Opinion) -> bool,
    /// What goes with retired rules.
    extent: Extent,
    /// The time that has passed; the engine itself has no clock.
    clock: &'a dyn Fn() -> Duration,
}

// The default for judging: every opinion counts, and a retired rule takes only its soft question with it (decision
// 0027).
const EVERYTHING: Hearing<'static> = Hearing { is_heard: &|_| true, extent: Extent::Soft, clock: &|| Duration::ZERO };

/// Judges a call by what was observed. Deterministic: the same facts and policy give the same judgement.
pub fn judge(facts: &Facts, policy: &Policy) -> Judgement {
    judge_timed(facts, policy, EVERYTHING.clock).0
}

/// The same, and how long layer 2 took by the given clock; `None` if it was not asked.
pub fn judge_timed(facts: &Facts, policy: &Policy, clock: &dyn Fn() -> Duration) -> (Judgement, Option<Duration>) {
    let heard = heard(facts, policy, Hearing { clock, ..EVERYTHING }).cleared(facts, policy);
    let took = heard.scored.map(|scored| scored.took);
    (strictest(heard, policy), took)
}

/// The verdict if nothing were left of the rules that the policy has retired: neither a cell of the matrix that asks about
/// the same effects, firmly or not, nor their marks in layer 2. It says what a rule is to blame for and lets nothing run.
pub fn verdict_without_retired(facts: &Facts, policy: &Policy) -> Verdict {
    let heard = heard(facts, policy, Hearing { extent: Extent::Questions, ..EVERYTHING }).cleared(facts, policy);
    strictest(heard, policy).verdict
}

/// Who demanded a question or a refusal that doorward would not have come to by itself: the mode, the user's own rules and
/// words, a limit of the session. `None` if it stops the call by itself, or nobody does.
pub fn demanded_by(facts: &Facts, policy: &Policy, judgement: &Judgement) -> Option<Source> {
    let demand =
        judgement.opinions.iter().find(|opinion| opinion.verdict != Verdict::AutoApprove && is_demand(opinion))?;
    // Not the rest of the opinions: layer 2 weighs that others ask, and asks along.
    let own = heard(facts, policy, Hearing { is_heard: &|opinion| !is_demand(opinion), ..EVERYTHING });
    own.cleared(facts, policy)
        .opinions
        .iter()
        .all(|opinion| opinion.verdict == Verdict::AutoApprove)
        .then_some(demand.source)
}

/// It says what somebody wants or what the session has been up to, and nothing about this kind of call.
fn is_demand(opinion: &Opinion) -> bool {
    match opinion.source {
        Source::Mode | Source::Cancelled | Source::Permission | Source::Boundary | Source::Limit => true,
        Source::Rule => opinion.rule.as_deref().is_some_and(|rule| rule.starts_with(rules::OWN)),
        Source::Coverage | Source::Matrix | Source::Score | Source::Review | Source::Contained | Source::Nothing => {
            false
        }
    }
}

/// What every stage thinks, before anything is cleared.
pub(crate) fn opinions(facts: &Facts, policy: &Policy) -> Vec<Opinion> {
    heard(facts, policy, EVERYTHING).opinions
}

/// Listens to every stage.
fn heard(facts: &Facts, policy: &Policy, hearing: Hearing<'_>) -> Heard {
    let facts = &*limits::measured(facts, policy);
    let waived = Waived::of(facts, policy, hearing.extent);
    let mut opinions = mode(policy);
    opinions.extend(cancelled(facts));
    opinions.extend(policy.permissions.opinions(facts));
    opinions.extend(coverage(facts));
    opinions.extend(contained::opinion(facts));
    let (fired, shadow) = rules::opinions(facts, policy, hearing.extent);
    opinions.extend(fired);
    opinions.extend(matrix::floors(facts, &waived));
    opinions.extend(limits::opinions(facts, policy));
    opinions.extend(boundary(facts));
    opinions.retain(|opinion| (hearing.is_heard)(opinion));
    let mut scored = None;
    match layer1::settle(facts, policy) {
        Some(approval) => opinions.push(approval),
        None => {
            let others = opinions.iter().map(|opinion| opinion.verdict).max().unwrap_or(Verdict::AutoApprove);
            let before = (hearing.clock)();
            let (opinion, sure, classes) = layer2::opinion(facts, policy, others, &waived);
            scored = Some(Scored { sure, classes, took: (hearing.clock)().saturating_sub(before) });
            opinions.push(opinion);
        }
    }
    Heard { opinions, shadow, scored }
}

impl Heard {
    /// Without the soft questions that something clears, and with what a reviewer says.
    fn cleared(mut self, facts: &Facts, policy: &Policy) -> Heard {
        contained::answer(&mut self.opinions, facts, policy);
        clear::soft(&mut self.opinions, facts, policy);
        self.opinions.extend(review::opinion(&self.opinions, facts));
        self
    }
}

/// What the mode of the agent demands.
fn mode(policy: &Policy) -> Vec<Opinion> {
    let because = "this agent isn't trusted yet, so doorward asks about every call";
    match policy.mode {
        Mode::ConfirmAll => vec![Opinion::confirm(Source::Mode, Clearance::Firm, because)],
        Mode::Auto | Mode::Shadow | Mode::Off => Vec::new(),
    }
}

fn cancelled(facts: &Facts) -> Option<Opinion> {
    facts
        .cancelled
        .then(|| Opinion::block(Source::Cancelled, Clearance::Hard, "the turn was cancelled before this call"))
}

/// What is not understood is never approved by itself.
fn coverage(facts: &Facts) -> Option<Opinion> {
    let clearance = match facts.coverage.degree {
        Degree::Full | Degree::Delegated => return None,
        Degree::Unknown => Clearance::Soft,
        Degree::Opaque => Clearance::Firm,
    };
    Some(Opinion::confirm(
        Source::Coverage,
        clearance,
        format!("doorward can't tell what this does: {}", facts.coverage.because.join("; ")),
    ))
}

/// Something that the user said not to do.
fn boundary(facts: &Facts) -> Option<Opinion> {
    let said = facts.intent.boundary.as_ref()?;
    Some(Opinion::confirm(Source::Boundary, Clearance::Firm, format!("you said: “{said}”")))
}

/// The strictest opinion decides; if there is none, a person does.
fn strictest(Heard { mut opinions, shadow, scored }: Heard, policy: &Policy) -> Judgement {
    if opinions.is_empty() {
        opinions.push(Opinion::confirm(Source::Nothing, Clearance::Firm, "nothing in doorward judged this call"));
    }
    opinions.sort_by_key(|opinion| std::cmp::Reverse(opinion.strictness()));
    let first = opinions.first().cloned();
    Judgement {
        verdict: first.as_ref().map_or(Verdict::Confirm, |opinion| opinion.verdict),
        cleared_by: first.as_ref().and_then(|opinion| opinion.cleared_by),
        settled_by: first.as_ref().map_or(Source::Nothing, |opinion| opinion.source),
        rule: first.and_then(|opinion| opinion.rule),
        confidence: scored.map(|scored| scored.sure),
        classes: scored.and_then(|scored| scored.classes),
        opinions,
        shadow,
        policy: policy.version.clone(),
    }
}
