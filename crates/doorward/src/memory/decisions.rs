//! Recorded decisions, read back: their facts, and whether judging them again says the same.

use doorward_engine::{Facts, Judgement, Opinion, Policy, Ruling, Source, Verdict};
use doorward_ledger::{DecisionBody, Layer1, Layer2};

/// The facts of a recorded decision, reassembled.
pub(crate) fn facts(body: &DecisionBody) -> Option<Facts> {
    let mut facts: Facts = serde_json::from_str(body.facts.as_ref()?.get()).ok()?;
    facts.tool.clone_from(&body.tool);
    facts.subject.clone_from(&body.call);
    facts.pattern = body.pattern.clone().unwrap_or_default();
    facts.agent = body.agent.clone().unwrap_or_default();
    Some(facts)
}

/// The decision was made by this build under this policy, so judging it again must give the same.
pub(crate) fn is_of_policy(body: &DecisionBody, policy: &str) -> bool {
    let is = |key: &str, value: &str| body.versions.get(key).is_some_and(|kept| kept == value);
    is("policy", policy) && is("knowledge", Policy::KNOWLEDGE)
}

/// The recorded judgement equals the new one, bit for bit.
pub(crate) fn says_the_same(body: &DecisionBody, judgement: &Judgement) -> bool {
    let confidence = |sure: f64| sure.to_bits();
    let of = |opinion: &Opinion| opinion.because.clone();
    // Older records list session limits first.
    let is_reasons = |kept: &[String]| {
        kept.iter().cloned().eq(judgement.reasons_to_read().map(of))
            || kept.iter().cloned().eq(judgement.reasons().map(of))
    };
    let is_layer1 = |kept: &Layer1| *kept == layer1(judgement) || *kept == layer1_before(judgement);
    // Older records have no score.
    let is_score = |kept: &Layer2| kept.score.is_empty() || bits(&kept.score).eq(bits(&score(judgement)));
    body.verdict == judgement.verdict
        && body.layer1.as_ref().is_some_and(is_layer1)
        && body.layer2.as_ref().is_none_or(is_score)
        && body.layer2.as_ref().map(|layer| confidence(layer.confidence))
            == judgement.confidence.map(|sure| confidence(sure.get()))
        && is_reasons(&body.reasons)
}

/// Compares the record of another build's decision with this build's. The record does not say who could clear it.
pub(crate) fn stand(body: &DecisionBody, now: &Ruling) -> Ruling {
    if body.versions.get("knowledge").is_some_and(|build| build == Policy::KNOWLEDGE) {
        return now.clone();
    }
    let rule = body.layer1.as_ref().and_then(|layer| layer.rule.clone());
    Ruling { verdict: body.verdict, rule, ..now.clone() }
}

/// What layer 1 said on its own, whatever layer 2 or a reviewer said: its strictest verdict, and the rule.
pub(crate) fn layer1(judgement: &Judgement) -> Layer1 {
    let strictest = judgement.opinions.iter().find(|opinion| !matches!(opinion.source, Source::Score | Source::Review));
    let (outcome, rule) = match strictest {
        Some(opinion) if opinion.verdict != Verdict::AutoApprove => (opinion.verdict.as_str(), opinion.rule.clone()),
        // Layer 2 scores what layer 1 does not approve.
        Some(opinion) if judgement.confidence.is_none() => ("pass", opinion.rule.clone()),
        Some(_) | None => ("unsettled", None),
    };
    Layer1 { outcome: outcome.to_owned(), rule }
}

/// Layer 2's probabilities for approve, confirm, block; the first is the score that it is safe.
pub(crate) fn score(judgement: &Judgement) -> Vec<f64> {
    judgement.classes.map(|classes| vec![classes.approve, classes.confirm, classes.block]).unwrap_or_default()
}

fn bits(score: &[f64]) -> impl Iterator<Item = u64> + '_ {
    score.iter().map(|part| part.to_bits())
}

/// The same as older records put it, which mentioned layer 1 only if nothing else was asked.
fn layer1_before(judgement: &Judgement) -> Layer1 {
    let is_settled = judgement.settled_by != Source::Score && judgement.confidence.is_none();
    Layer1 {
        outcome: if is_settled { judgement.verdict.as_str().to_owned() } else { "unsettled".to_owned() },
        rule: judgement.rule.clone(),
    }
}
