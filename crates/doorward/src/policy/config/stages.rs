//! Stages of built-in rules changed by the user: which of them loosen, and which rules are always active.

use std::collections::{BTreeMap, BTreeSet};

use doorward_engine::{Clearance, Policy, Rule, Stage, Verdict, knowledge};

/// The stages of rules, by name.
pub(crate) type Stages = BTreeMap<String, Stage>;

/// A rule against irreparable damage is always active, and so is one about what a session has read: no configuration
/// retires it.
pub(crate) fn is_fixed(rule: &Rule) -> bool {
    let is_soft = rule.clears == Some(Clearance::Soft);
    match rule.verdict {
        Verdict::Block => rule.clears == Some(Clearance::Dual) || !rule.when.taint.is_empty(),
        Verdict::Confirm => !is_soft && !rule.when.taint.is_empty(),
        Verdict::AutoApprove => false,
    }
}

/// The reason, in words.
pub(crate) fn why_fixed(rule: &Rule) -> &'static str {
    match rule.when.taint.is_empty() {
        true => "it prevents irreparable damage",
        false => "it keeps what the session has read on this machine",
    }
}

/// The effect of a stage. A firm rule in shadow leaves the same question as a retired one.
fn effective_stage(rule: &Rule, stage: Stage) -> Stage {
    let is_firm = rule.verdict != Verdict::AutoApprove && rule.clears != Some(Clearance::Soft);
    match (rule.stage, stage) {
        (Stage::Active, Stage::Shadow) if is_firm => Stage::Retired,
        (_, stage) => stage,
    }
}

/// Applies the stages.
pub(crate) fn apply(stages: &Stages, policy: &mut Policy) {
    if stages.is_empty() {
        return;
    }
    for rule in policy.rules.iter_mut().filter(|rule| !is_fixed(rule)) {
        if let Some(stage) = stages.get(rule.id.as_ref()) {
            rule.stage = effective_stage(rule, *stage);
        }
    }
}

/// The stages stricter than the built-in ones.
pub(crate) fn tightening_only(stages: Stages) -> Stages {
    no_laxer_than(stages, &Stages::new())
}

/// The stricter stage of each rule; where neither is, the first.
pub(crate) fn no_laxer_than(mut stages: Stages, held: &Stages) -> Stages {
    if stages.is_empty() && held.is_empty() {
        return stages;
    }
    let rules = built_in();
    let names: BTreeSet<String> = stages.keys().chain(held.keys()).cloned().collect();
    for name in names {
        let Some(rule) = rules.iter().find(|rule| rule.id == name) else {
            stages.remove(&name);
            continue;
        };
        let theirs = held.get(&name).copied().unwrap_or(rule.stage);
        let mine = stages.get(&name).copied().unwrap_or(rule.stage);
        let stricter = if strictness(rule, mine) >= strictness(rule, theirs) { mine } else { theirs };
        if stricter == rule.stage {
            stages.remove(&name)
        } else {
            stages.insert(name, stricter)
        };
    }
    stages
}

/// The stages with those of another file where these are stricter.
pub(crate) fn stricter(mut stages: Stages, other: &Stages) -> Stages {
    if other.is_empty() {
        return stages;
    }
    let rules = built_in();
    for (name, theirs) in other {
        let Some(rule) = rules.iter().find(|rule| rule.id == *name) else { continue };
        let mine = stages.get(name).copied().unwrap_or(rule.stage);
        if strictness(rule, *theirs) && !strictness(rule, mine) {
            stages.insert(name.clone(), *theirs);
        }
    }
    stages
}

/// Whether a stage is laxer than the built-in one.
pub(crate) fn loosens(stages: &Stages) -> bool {
    tightening_only(stages.clone()).len() < known_rules(stages).len()
}

/// The rules whose effective stage differs between the two.
pub(crate) fn differ(said: &Stages, counts: &Stages) -> bool {
    known_rules(said) != known_rules(counts)
}

/// What is wrong with an entry, in words.
pub(crate) fn remark(name: &str, stage: Stage) -> Option<&'static str> {
    match built_in().iter().find(|rule| rule.id == name) {
        None => Some("is not a built-in rule; set the stage of your own rules in their files"),
        Some(rule) if is_fixed(rule) && stage != Stage::Active => Some(if rule.when.taint.is_empty() {
            "is always active: it prevents irreparable damage"
        } else {
            "is always active: it keeps what the session has read on this machine"
        }),
        Some(_) => None,
    }
}

/// Without entries that have no effect: unknown names, rules that are always active, built-in stages.
fn known_rules(stages: &Stages) -> Stages {
    if stages.is_empty() {
        return Stages::new();
    }
    let rules = built_in();
    let has_effect =
        |name: &str, stage: Stage| rules.iter().any(|rule| rule.id == name && !is_fixed(rule) && rule.stage != stage);
    stages
        .iter()
        .filter(|(name, stage)| has_effect(name, **stage))
        .map(|(name, stage)| (name.clone(), *stage))
        .collect()
}

fn built_in() -> Vec<Rule> {
    knowledge::built_in().rules().unwrap_or_default()
}

/// An allow rule is stricter when inactive, any other rule when active.
fn strictness(rule: &Rule, stage: Stage) -> bool {
    (stage == Stage::Active) != (rule.verdict == Verdict::AutoApprove)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(rows: &[(&str, Stage)]) -> Stages {
        rows.iter().map(|(name, stage)| ((*name).to_owned(), *stage)).collect()
    }

    #[test]
    fn to_retire_a_rule_loosens_unless_it_approves() {
        for (name, loosening) in
            [("push", true), ("read-plain", false), ("delete-root", false), ("no-such-rule", false)]
        {
            assert_eq!(loosens(&stages(&[(name, Stage::Retired)])), loosening, "{name}");
        }
        let both = stages(&[("push", Stage::Retired), ("read-plain", Stage::Retired)]);
        assert_eq!(tightening_only(both.clone()), stages(&[("read-plain", Stage::Retired)]));
        assert_eq!(no_laxer_than(both.clone(), &both), both);
        assert_eq!(no_laxer_than(Stages::new(), &both), stages(&[("read-plain", Stage::Retired)]));
    }

    #[test]
    fn what_stops_a_catastrophe_is_never_retired() {
        let mut policy = Policy::built_in();
        apply(&stages(&[("delete-root", Stage::Retired), ("push", Stage::Retired)]), &mut policy);
        let stage = |id: &str| policy.rules.iter().find(|rule| rule.id == id).unwrap().stage;
        assert_eq!((stage("delete-root"), stage("push")), (Stage::Active, Stage::Retired));
        assert!(remark("delete-root", Stage::Retired).is_some() && remark("push", Stage::Retired).is_none());
    }

    #[test]
    fn what_a_session_has_read_is_never_tuned_away() {
        let tainted: Vec<Rule> = built_in().into_iter().filter(|rule| !rule.when.taint.is_empty()).collect();
        assert!(tainted.iter().any(|rule| rule.id == "tainted-egress"), "{tainted:?}");
        for rule in tainted.iter().filter(|rule| rule.clears != Some(Clearance::Soft)) {
            for stage in [Stage::Retired, Stage::Shadow] {
                let mut policy = Policy::built_in();
                apply(&stages(&[(&rule.id, stage)]), &mut policy);
                let found = policy.rules.iter().find(|found| found.id == rule.id).unwrap();
                assert_eq!(found.stage, rule.stage, "{}", rule.id);
                assert!(remark(&rule.id, stage).is_some(), "{}", rule.id);
            }
        }
    }

    #[test]
    fn a_firm_rule_leaves_its_question_whether_it_is_retired_or_only_watches() {
        let mut policy = Policy::built_in();
        let is_firm = |rule: &&Rule| rule.clears == Some(Clearance::Firm) && rule.verdict == Verdict::Confirm;
        let firm = built_in().into_iter().find(|rule| is_firm(&rule) && !is_fixed(rule)).unwrap();
        apply(&stages(&[(&firm.id, Stage::Shadow), ("push", Stage::Shadow)]), &mut policy);
        let stage = |id: &str| policy.rules.iter().find(|rule| rule.id == id).unwrap().stage;
        assert_eq!((stage(&firm.id), stage("push")), (Stage::Retired, Stage::Shadow));
    }
}
