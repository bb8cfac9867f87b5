//! From facts and policy to a judgement: all opinions are collected, the strictest wins.

use crate::clear;
use crate::coverage::Degree;
use crate::facts::Facts;
use crate::layer1;
use crate::layer2;
use crate::limits;
use crate::matrix;
use crate::policy::{Mode, Policy};
use crate::review;
use crate::rules;
use crate::verdict::{Classes, Clearance, Confidence, Judgement, Opinion, Source, Verdict};

/// How sure layer 2 is, and of what.
type Scored = (Confidence, Option<Classes>);

/// Judges a call by what was observed. Deterministic: the same facts and policy give the same judgement.
pub fn judge(facts: &Facts, policy: &Policy) -> Judgement {
    let (mut opinions, shadow, scored) = opinions(facts, policy);
    clear::soft(&mut opinions, facts, policy);
    opinions.extend(review::opinion(&opinions, facts));
    strictest(opinions, shadow, scored, policy)
}

/// Who demanded a question or a refusal that doorward would not have come to by itself: the mode, the user's own rules and
/// words, a limit of the session. `None` if it stops the call by itself, or nobody does.
pub fn demanded_by(facts: &Facts, policy: &Policy, judgement: &Judgement) -> Option<Source> {
    let demand =
        judgement.opinions.iter().find(|opinion| opinion.verdict != Verdict::AutoApprove && is_demand(opinion))?;
    // Not the rest of the opinions: layer 2 weighs that others ask, and asks along.
    let (mut own, _, _) = heard(facts, policy, |opinion| !is_demand(opinion));
    clear::soft(&mut own, facts, policy);
    own.extend(review::opinion(&own, facts));
    own.iter().all(|opinion| opinion.verdict == Verdict::AutoApprove).then_some(demand.source)
}

/// It says what somebody wants or what the session has been up to, and nothing about this kind of call.
fn is_demand(opinion: &Opinion) -> bool {
    match opinion.source {
        Source::Mode | Source::Cancelled | Source::Permission | Source::Boundary | Source::Limit => true,
        Source::Rule => opinion.rule.as_deref().is_some_and(|rule| rule.starts_with(rules::OWN)),
        Source::Coverage | Source::Matrix | Source::Score | Source::Review | Source::Nothing => false,
    }
}

/// What every stage thinks, before anything is cleared: the opinions, those of shadow rules, and how sure layer 2 is.
pub(crate) fn opinions(facts: &Facts, policy: &Policy) -> (Vec<Opinion>, Vec<Opinion>, Option<Scored>) {
    heard(facts, policy, |_| true)
}

/// The same, as if what is not heard had not been said.
fn heard(
    facts: &Facts,
    policy: &Policy,
    is_heard: impl Fn(&Opinion) -> bool,
) -> (Vec<Opinion>, Vec<Opinion>, Option<Scored>) {
    let facts = &*limits::measured(facts, policy);
    let mut opinions = mode(policy);
    opinions.extend(cancelled(facts));
    opinions.extend(policy.permissions.opinions(facts));
    opinions.extend(coverage(facts));
    let (fired, shadow) = rules::opinions(facts, policy);
    opinions.extend(fired);
    opinions.extend(matrix::floors(facts));
    opinions.extend(limits::opinions(facts, policy));
    opinions.extend(boundary(facts));
    opinions.retain(is_heard);
    let mut scored = None;
    match layer1::settle(facts, policy) {
        Some(approval) => opinions.push(approval),
        None => {
            let others = opinions.iter().map(|opinion| opinion.verdict).max().unwrap_or(Verdict::AutoApprove);
            let (opinion, sure, classes) = layer2::opinion(facts, policy, others);
            scored = Some((sure, classes));
            opinions.push(opinion);
        }
    }
    (opinions, shadow, scored)
}

/// What the mode of the agent demands.
fn mode(policy: &Policy) -> Vec<Opinion> {
    let because = "this agent is not trusted yet: every call is confirmed";
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
        format!("not understood: {}", facts.coverage.because.join("; ")),
    ))
}

/// Something that the user said not to do.
fn boundary(facts: &Facts) -> Option<Opinion> {
    let said = facts.intent.boundary.as_ref()?;
    Some(Opinion::confirm(Source::Boundary, Clearance::Firm, format!("you said: “{said}”")))
}

/// The strictest opinion decides; if there is none, a person does.
fn strictest(mut opinions: Vec<Opinion>, shadow: Vec<Opinion>, scored: Option<Scored>, policy: &Policy) -> Judgement {
    if opinions.is_empty() {
        opinions.push(Opinion::confirm(Source::Nothing, Clearance::Firm, "no stage had an opinion"));
    }
    opinions.sort_by_key(|opinion| std::cmp::Reverse(opinion.strictness()));
    let first = opinions.first().cloned();
    Judgement {
        verdict: first.as_ref().map_or(Verdict::Confirm, |opinion| opinion.verdict),
        cleared_by: first.as_ref().and_then(|opinion| opinion.cleared_by),
        settled_by: first.as_ref().map_or(Source::Nothing, |opinion| opinion.source),
        rule: first.and_then(|opinion| opinion.rule),
        confidence: scored.map(|(sure, _)| sure),
        classes: scored.and_then(|(_, classes)| classes),
        opinions,
        shadow,
        policy: policy.version.clone(),
    }
}
