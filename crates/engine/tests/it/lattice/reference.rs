//! How a call is to be decided, written from the documents and not from `judge`: a table and a list of conditions.
//!
//! Probabilities of layer 2 are taken as given; everything that is made of them is not.

use doorward_engine::layer2::feature::SETTLING;
use doorward_engine::{
    Answer, Clearance, Degree, Effect, Facts, Mark, Mode, Operation, Policy, Reach, Reversibility, Scope, Sensitivity,
    Verdict,
};

use super::written::{Bits, Written};

/// What one stage says: how strict, and who may clear it.
pub(super) type Said = (Verdict, Option<Clearance>);

const FINE: Said = (Verdict::AutoApprove, None);
const SOFT: Said = (Verdict::Confirm, Some(Clearance::Soft));
const FIRM: Said = (Verdict::Confirm, Some(Clearance::Firm));
const HARD: Said = (Verdict::Block, Some(Clearance::Hard));
const DUAL: Said = (Verdict::Block, Some(Clearance::Dual));

/// The documents' answer, and whether layer 1 approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    pub(super) said: Said,
    pub(super) is_settled: bool,
}

/// Decides as the documents say.
pub(super) fn decide(facts: &Facts, policy: &Policy, rules: &[Written]) -> Decided {
    let (mut said, is_settled) = stages(facts, policy, rules);
    if said.contains(&SOFT) && clears_soft(facts, policy, rules) {
        said.retain(|one| *one != SOFT);
    }
    Decided { said: said.into_iter().max().unwrap_or(FINE), is_settled }
}

/// What every stage says on its own. The strictest counts.
fn stages(facts: &Facts, policy: &Policy, rules: &[Written]) -> (Vec<Said>, bool) {
    let facts = &with_limits(facts, policy);
    let mut said = Vec::new();
    let mut say = |one: Said, applies: bool| {
        if applies {
            said.push(one);
        }
    };
    say(FIRM, policy.mode == Mode::ConfirmAll);
    say(HARD, facts.cancelled);
    say(SOFT, facts.coverage.degree == Degree::Unknown);
    say(FIRM, facts.coverage.degree == Degree::Opaque);
    say(FIRM, facts.contained.as_ref().is_some_and(|run| run.wanted_network || run.cut_off.is_some()));
    say(FIRM, facts.intent.boundary.is_some());
    say(FIRM, has_hit_a_rate(facts, policy));
    say(SOFT, is_sweep(facts));
    for rule in rules.iter().filter(|rule| rule.verdict != Verdict::AutoApprove) {
        let fires = is_on(rule, facts, policy) && facts.effects.iter().any(|effect| is_about(rule, effect));
        say((rule.verdict, Some(rule.clears.unwrap_or(Clearance::Firm))), fires);
    }
    for effect in &facts.effects {
        let cell = cell(effect.operation, effect.scope, effect.reversibility, effect.reach);
        say(cell, cell != FINE);
    }
    let is_settled = settles(facts, policy, rules);
    if !is_settled {
        let others = said.iter().map(|one| one.0).max().unwrap_or(Verdict::AutoApprove);
        said.push(weighed(facts, policy, others));
    }
    (said, is_settled)
}

/// Limits on numbers are marks like any other once they are counted.
fn with_limits(facts: &Facts, policy: &Policy) -> Facts {
    let limits = &policy.thresholds;
    let mut facts = facts.clone();
    let is_lost = |effect: &Effect| {
        effect.operation == Operation::Delete
            && effect.reversibility == Reversibility::Irreversible
            && effect.scope != Scope::Scratch
    };
    let mut targets: Vec<&str> = Vec::new();
    let (mut files, mut bytes, mut is_more) = (0, 0, false);
    for effect in facts.effects.iter().filter(|effect| is_lost(effect)) {
        let Some(amount) = effect.amount else { continue };
        if !targets.contains(&effect.target.shown()) {
            targets.push(effect.target.shown());
            (files, bytes, is_more) = (files + amount.files, bytes + amount.bytes, is_more || amount.at_least);
        }
    }
    let is_bulk = is_more || files > u64::from(limits.bulk_files) || bytes > limits.bulk_bytes;
    for effect in &mut facts.effects {
        let Some(amount) = effect.amount else { continue };
        if is_bulk && is_lost(effect) {
            effect.marks.add(Mark::Bulk);
        } else if effect.operation == Operation::Read && amount.bytes > limits.read_bytes {
            effect.marks.add(Mark::LargeRead);
        }
    }
    facts
}

fn has_hit_a_rate(facts: &Facts, policy: &Policy) -> bool {
    let (counts, limits) = (&facts.counts, &policy.thresholds);
    let reads = facts.effects.iter().any(|effect| effect.operation == Operation::Read);
    let is_fast = counts.reads_last_minute >= limits.reads_per_minute || counts.reads_last_seconds >= limits.read_burst;
    (reads && is_fast) || counts.denials_in_a_row >= limits.denials_in_a_row || counts.denials >= limits.denials
}

/// More than 20 tracked files of one call, or 60 of a session, are deleted or edited in place.
fn is_sweep(facts: &Facts) -> bool {
    let one = |effect: &Effect| {
        let is_kept =
            effect.reversibility == Reversibility::Tracked && matches!(effect.target, doorward_engine::Target::Path(_));
        let is_edit = effect.operation == Operation::Write
            && !effect.by.is_empty()
            && !effect.marks.has_any(&[Mark::Creates, Mark::Unseen]);
        let is_deletion = effect.operation == Operation::Delete && effect.scope == Scope::File;
        effect.restorable.max(u64::from(is_kept && (is_edit || is_deletion)))
    };
    let most_of = |target: &str| {
        facts.effects.iter().filter(|effect| effect.target.shown() == target).map(one).max().unwrap_or(0)
    };
    let mut targets: Vec<&str> = facts.effects.iter().map(|effect| effect.target.shown()).collect();
    targets.sort_unstable();
    targets.dedup();
    let here: u64 = targets.into_iter().map(most_of).sum();
    here > 20 || (here > 0 && here + u64::from(facts.counts.restorable) > 60)
}

/// Layer 1 approves what is fully understood, covered effect by effect, loses nothing for good and is not sensitive.
fn settles(facts: &Facts, policy: &Policy, rules: &[Written]) -> bool {
    let loses_nothing = |effect: &Effect| match effect.reversibility {
        Reversibility::NothingChanges => true,
        Reversibility::Irreversible => false,
        Reversibility::Rebuildable | Reversibility::Snapshotted | Reversibility::Tracked => {
            effect.scope == Scope::Scratch
        }
    };
    let is_allowed = |effect: &Effect| {
        rules
            .iter()
            .filter(|rule| rule.verdict == Verdict::AutoApprove)
            .any(|rule| is_on(rule, facts, policy) && is_about(rule, effect))
    };
    facts.coverage.degree == Degree::Full
        && facts
            .effects
            .iter()
            .all(|effect| loses_nothing(effect) && effect.sensitivity == Sensitivity::None && is_allowed(effect))
}

/// The conditions of a rule on the call.
fn is_on(rule: &Written, facts: &Facts, policy: &Policy) -> bool {
    (policy.strict || !rule.is_strict_only)
        && rule.degrees >> facts.coverage.degree as u32 & 1 == 1
        && rule.flows.is_none_or(|flows| facts.flows.iter().any(|flow| flows >> flow.kind as u32 & 1 == 1))
        && (rule.taints.is_empty() || rule.taints.iter().any(|taint| facts.taint.contains(taint)))
        && (rule.tools.is_empty() || rule.tools.contains(&facts.tool))
}

/// The conditions of a rule on an effect.
fn is_about(rule: &Written, effect: &Effect) -> bool {
    let marks: Bits = effect.marks.words();
    let meets = |wanted: &Bits| marks.iter().zip(wanted).any(|(have, want)| have & want != 0);
    rule.operations >> effect.operation as u32 & 1 == 1
        && rule.scopes >> effect.scope as u32 & 1 == 1
        && rule.losses >> effect.reversibility as u32 & 1 == 1
        && rule.reaches >> effect.reach as u32 & 1 == 1
        && rule.sensitivities >> effect.sensitivity as u32 & 1 == 1
        && marks.iter().zip(&rule.all).all(|(have, want)| have & want == *want)
        && rule.any.as_ref().is_none_or(meets)
        && !meets(&rule.none)
}

/// The matrix, as its page in the documents has it.
pub(super) fn cell(operation: Operation, scope: Scope, loss: Reversibility, reach: Reach) -> Said {
    use Operation as O;
    let is_loss = loss == Reversibility::Irreversible;
    let is_change = matches!(operation, O::Write | O::Delete | O::Mutate) && loss != Reversibility::NothingChanges;
    let in_project = matches!(scope, Scope::File | Scope::Directory | Scope::Project);
    let mut cells = vec![FINE];
    let mut add = |cell: Said, applies: bool| cells.extend(applies.then_some(cell));
    // Who feels it.
    let is_felt_by_change = matches!(operation, O::Write | O::Delete | O::Mutate | O::Execute);
    let is_wide = matches!(reach, Reach::Machine | Reach::Beyond);
    add(SOFT, reach == Reach::Shared && is_felt_by_change);
    add(if scope == Scope::External { SOFT } else { FIRM }, is_wide && is_felt_by_change);
    add(SOFT, reach == Reach::Beyond && operation == O::Network);
    add(FIRM, reach == Reach::Identity);
    add(DUAL, reach == Reach::Identity && matches!(operation, O::Write | O::Delete | O::Mutate));
    // What runs, and where.
    add(SOFT, operation == O::Execute && (is_loss || matches!(scope, Scope::OtherRepo | Scope::System)));
    add(FIRM, operation == O::Execute && scope == Scope::External);
    add(SOFT, operation == O::Network && is_loss);
    // What changes, and whether it comes back.
    add(FIRM, is_change && in_project && is_loss);
    add(FIRM, is_change && matches!(scope, Scope::OtherRepo | Scope::System));
    add(if is_loss { FIRM } else { SOFT }, is_change && scope == Scope::External);
    // What is gone.
    let is_gone = operation == O::Delete && is_change;
    let comes_back = matches!(loss, Reversibility::Tracked | Reversibility::Snapshotted);
    add(SOFT, is_gone && scope == Scope::Directory && loss == Reversibility::Tracked);
    add(FIRM, is_gone && scope == Scope::Project && comes_back);
    add(FIRM, is_gone && scope == Scope::External);
    cells.into_iter().max().unwrap_or(FINE)
}

/// Layer 2: sure enough of every effect, or a question; a firm one where even odds are that nobody would want it.
fn weighed(facts: &Facts, policy: &Policy, others: Verdict) -> Said {
    let Ok(numbers) = policy.scorer.table() else { return FIRM };
    let scores = numbers.scores(facts, others);
    let is_enough = |score: &doorward_engine::layer2::Score| {
        let Some(effect) = facts.effects.get(score.effect) else {
            return 1.0 - score.ask >= policy.thresholds.confidence;
        };
        let is_change = matches!(effect.operation, Operation::Write | Operation::Delete | Operation::Mutate);
        if is_change && matches!(effect.scope, Scope::OtherRepo | Scope::System) {
            return 1.0 - score.ask >= 1.0;
        }
        let has_no_purpose = effect.operation == Operation::Execute && !effect.marks.has_any(SETTLING);
        let is_final = effect.reversibility == Reversibility::Irreversible || has_no_purpose;
        let floor = if is_final { policy.thresholds.irreversible } else { policy.thresholds.confidence };
        1.0 - score.ask >= floor.max(policy.thresholds.by_operation[effect.operation as usize])
    };
    let is_refused = scores.iter().any(|score| numbers.without_history(score)[1].max(score.block) >= 0.5);
    let is_calmed = scores.iter().any(|score| score.features != score.features.without_history());
    if scores.iter().all(is_enough) && !(is_refused && is_calmed) {
        return FINE;
    }
    if is_refused { FIRM } else { SOFT }
}

/// The user's own words or a reviewer may clear soft questions, and nothing else.
fn clears_soft(facts: &Facts, policy: &Policy, rules: &[Written]) -> bool {
    if policy.mode == Mode::ConfirmAll || facts.coverage.degree == Degree::Opaque {
        return false;
    }
    (facts.intent.consent.is_some() && !policy.strict && words_cover(facts, policy, rules))
        || reviewer_allows(facts, policy)
}

/// The words cover some effect, and the others would be approved by themselves.
fn words_cover(facts: &Facts, policy: &Policy, rules: &[Written]) -> bool {
    let covers = |place: usize| facts.intent.covers.iter().any(|covered| *covered as usize == place);
    let mut rest = facts.clone();
    rest.effects =
        (0..facts.effects.len()).filter(|place| !covers(*place)).map(|at| facts.effects[at].clone()).collect();
    rest.intent = doorward_engine::Intent::default();
    let is_some = rest.effects.len() < facts.effects.len();
    is_some && stages(&rest, policy, rules).0.iter().all(|said| said.0 == Verdict::AutoApprove)
}

fn reviewer_allows(facts: &Facts, policy: &Policy) -> bool {
    let Some(review) = &facts.review else { return false };
    let is_lasting = facts.effects.iter().any(|effect| effect.reversibility == Reversibility::Irreversible);
    let wanted = if is_lasting { policy.thresholds.irreversible } else { policy.thresholds.confidence };
    review.answer == Answer::Allows && !policy.strict && review.confidence.is_some_and(|sure| sure.get() >= wanted)
}
