//! Pages about what is built in: rules with their vocabulary, programs, the scorecard.

use std::collections::BTreeMap;

use doorward_engine::knowledge::{self, rule::Mask};
use doorward_engine::{
    Degree, FlowKind, Mark, Marks, Operation, Policy, Reach, Reversibility, Rule, Scope, Sensitivity, Verdict, weights,
};

use super::table;

pub(super) fn rules() -> String {
    let policy = Policy::built_in();
    let mut text = format!(
        "# Rules of layer 1\n\n{} rules. Each is one file under `crates/knowledge/rules/`; `doorward rules ID` shows one. A rule fires if \
         all of its conditions hold for one effect of the call; words in one condition are alternatives. The strictest opinion wins.\n",
        policy.rules.len()
    );
    for (verdict, title) in
        [(Verdict::Block, "Block"), (Verdict::Confirm, "Confirm"), (Verdict::AutoApprove, "Approve")]
    {
        let chosen: Vec<&Rule> = policy.rules.iter().filter(|rule| rule.verdict == verdict).collect();
        text.push_str(&format!("\n## {title}: {}\n\n{}.\n\n", chosen.len(), verdict.what()));
        let rows: Vec<Vec<String>> = chosen.iter().map(|rule| row(rule)).collect();
        text.push_str(&table(&["rule", "fires when the call", "why", "instead", "cleared by", "conditions"], &rows));
    }
    text.push_str(&vocabulary());
    text
}

fn row(rule: &Rule) -> Vec<String> {
    vec![
        format!("`{}` {}", rule.id, rule.stage),
        rule.what.to_string(),
        rule.why.to_string(),
        rule.instead.to_string(),
        rule.clears.map_or("–", |clearance| clearance.as_str()).to_owned(),
        conditions(rule),
    ]
}

fn conditions(rule: &Rule) -> String {
    let when = &rule.when;
    let mut parts = Vec::new();
    let mut add = |name: &str, words: Vec<&str>| {
        if !words.is_empty() {
            parts.push(format!("{name} `{}`", words.join(" ")));
        }
    };
    add("operation", words(when.operation, Operation::ALL, Operation::as_str));
    add("scope", words(when.scope, Scope::ALL, Scope::as_str));
    add("reversibility", words(when.reversibility, Reversibility::ALL, Reversibility::as_str));
    add("reach", words(when.reach, Reach::ALL, Reach::as_str));
    add("sensitivity", words(when.sensitivity, Sensitivity::ALL, Sensitivity::as_str));
    add("coverage", words(when.coverage, Degree::ALL, Degree::as_str));
    add("flow", words(when.flow, FlowKind::ALL, FlowKind::as_str));
    add("all of", marks(when.all));
    add("any of", marks(when.any));
    add("none of", marks(when.none));
    add("taint", when.taint.iter().map(AsRef::as_ref).collect());
    add("tool", when.tool.iter().map(AsRef::as_ref).collect());
    parts.join(", ")
}

fn words<T: Copy>(mask: Mask, all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
    let is_asked = |index: usize| mask.0 != 0 && mask.admits(u8::try_from(index).unwrap());
    all.iter().enumerate().filter(|(index, _)| is_asked(*index)).map(|(_, word)| name(*word)).collect()
}

fn marks(marks: Marks) -> Vec<&'static str> {
    marks.iter().map(Mark::as_str).collect()
}

/// Every word that a rule may ask about.
fn vocabulary() -> String {
    let mut text = "\n## Vocabulary\n".to_owned();
    let mut section = |title: &str, rows: Vec<Vec<String>>| {
        text.push_str(&format!("\n### {title}\n\n{}", table(&["word", "meaning"], &rows)));
    };
    section("Operation", listed(Operation::ALL, Operation::as_str, Operation::what));
    section("Scope", listed(Scope::ALL, Scope::as_str, Scope::what));
    section("Reversibility", listed(Reversibility::ALL, Reversibility::as_str, Reversibility::what));
    section("Reach", listed(Reach::ALL, Reach::as_str, Reach::what));
    section("Sensitivity", listed(Sensitivity::ALL, Sensitivity::as_str, Sensitivity::what));
    section("Coverage", listed(Degree::ALL, Degree::as_str, Degree::what));
    section("Flow", listed(FlowKind::ALL, FlowKind::as_str, FlowKind::what));
    section("Marks", listed(Mark::ALL, Mark::as_str, Mark::what));
    text
}

fn listed<T: Copy>(all: &[T], name: fn(T) -> &'static str, what: fn(T) -> &'static str) -> Vec<Vec<String>> {
    all.iter().map(|word| vec![format!("`{}`", name(*word)), what(*word).to_owned()]).collect()
}

pub(super) fn programs() -> String {
    let pack = knowledge::built_in();
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    for key in pack.keys() {
        let (name, is_sub) = key.split_once(' ').map_or((key, 0), |(name, _)| (name, 1));
        *programs.entry(name).or_default() += is_sub;
    }
    let subcommands: usize = programs.values().sum();
    let rows: Vec<Vec<String>> = programs
        .iter()
        .map(|(name, subs)| {
            let what = pack.entry(name).map(|entry| entry.what).unwrap_or_default();
            let subs = if *subs == 0 { String::new() } else { subs.to_string() };
            vec![format!("`{name}`"), what.into_owned(), subs]
        })
        .collect();
    format!(
        "# Programs\n\n{} names of programs with {subcommands} subcommands are described, flag by flag, in \
         `crates/knowledge/programs/`. doorward asks about programs, subcommands and flags that are not described (*unknown*).\n\n{}",
        programs.len(),
        table(&["program", "what it does", "subcommands"], &rows)
    )
}

pub(super) fn features() -> String {
    let limits = Policy::built_in().thresholds;
    let rows: Vec<Vec<String>> = weights()
        .iter()
        .filter(|weight| weight.ask != 0.0 || weight.block != 0.0)
        .map(|weight| {
            let may = weight.way();
            let number = |value: f64| format!("{value:+.3}");
            vec![
                weight.feature.to_owned(),
                weight.value.clone(),
                number(weight.ask),
                number(weight.block),
                may.to_owned(),
            ]
        })
        .collect();
    let raised: Vec<Vec<String>> = Operation::ALL
        .iter()
        .map(|operation| {
            let wanted = |is_irreversible| limits.wanted(Some(*operation), is_irreversible).to_string();
            vec![operation.to_string(), wanted(false), wanted(true)]
        })
        .collect();
    format!(
        "# The scorecard of layer 2\n\nWhat layer 1 leaves open is scored. For each effect the weights of its features are added up for two heads: \
         the log-odds that a person would want to be *asked* (or more), and that nobody would want it done (*block*, never likelier than *ask*). The \
         sum times the slope plus the offset is the calibrated figure; the riskiest effect counts. A feature with a `+` holds for everything from \
         that word on. More risk never lowers a score: only features that say what something is for may lower it. What is not listed weighs \
         nothing.\n\nAn approval needs so much certainty that nobody would want to be asked, by the operation that decides:\n\n{}\nLayer 2 can \
         approve or ask; a floor of the matrix or a rule counts in any case. If *block* is likelier than not, only a person's yes clears the \
         question.\n\n{}",
        table(&["operation", "needed", "if it can't be undone, or its purpose is unknown"], &raised),
        table(&["feature", "value", "ask", "block", "kind"], &rows)
    )
}
