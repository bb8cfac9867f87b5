//! Section 7: how this can go wrong, how you would notice, and what the figures say now.

use doorward_ledger::{AlertKind, Share};

use super::super::document::{Text, Topic};
use super::super::gather::{Gathered, RecordFigures, RegrettedApproval};
use super::{METRICS, count, name_text};

const OUTCOMES: &str = "doorward audit list --kind outcome --since 30d";

/// Layer 2 counts as sure from this confidence on.
const SURE: f64 = 0.95;

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    vec![friction(gathered), regret(gathered), overconfidence(gathered), drift(gathered), manipulation(gathered)]
}

const EMPTY: &str = "Current value: nothing has been recorded yet.";

fn friction(gathered: &Gathered) -> Topic {
    let part = Topic::new("Layer-1 false negative (blocked safe action → fatigue)").with_text(
        "Detection: people keep overriding what a rule asks about or blocks. A pattern that is overridden again and again opens a ticket; the quarterly audit checks every rule's overrides.",
    );
    let Some(record) = &gathered.record else { return part.with_text(EMPTY) };
    let all = &record.metrics.all;
    let stopped = all.confirmed + all.blocked;
    let share = if stopped == 0 { 0.0 } else { all.overridden as f64 / stopped as f64 };
    let told = Text::filled(
        "Current value: people overrode {} of {} questions and blocks ({}); {} tickets are open.",
        [count(all.overridden), count(stopped), Text::percent(share), count(record.tickets.len() as u64)],
    );
    let rules = record.overridden_rules.iter().take(8);
    let rows = rules.map(|of| vec![name_text(&of.rule), count(of.overridden)]).collect();
    part.with_text(told)
        .from("doorward metrics, doorward tickets")
        .table(&["rule", "its questions and blocks that were overridden"], rows)
        .from("doorward audit stats --rule RULE --since 30d")
}

fn of_layer(record: &RecordFigures, is_rule: bool) -> Vec<&RegrettedApproval> {
    record.regrets.iter().filter(|of| of.regret.rule.is_some() == is_rule).collect()
}

fn regret(gathered: &Gathered) -> Topic {
    let part = Topic::new("Layer-1 false positive (approved unsafe action → harm)").with_text(
        "Detection: an approval that someone undid (`doorward undo`) or flagged is regret. Layer 1 can never approve irreversible effects.",
    );
    let Some(record) = &gathered.record else { return part.with_text(EMPTY) };
    let regretted = of_layer(record, true);
    let told = Text::filled(
        "Current value: {} of {} approvals were made by a rule and regretted.",
        [count(regretted.len() as u64), count(record.metrics.all.approved)],
    );
    part.with_text(told)
        .from("doorward audit list --kind outcome --since 30d, doorward metrics")
        .table(&["outcome", "rule", "call"], regretted.iter().take(8).map(|of| regret_row(of)).collect())
        .from(OUTCOMES)
}

fn regret_row(of: &RegrettedApproval) -> Vec<Text> {
    let rule = of.regret.rule.as_deref().map_or(Text::plain("layer 2"), Text::code);
    vec![Text::plain(of.regret.became.clone()), rule, Text::code(&of.regret.call)]
}

fn overconfidence(gathered: &Gathered) -> Topic {
    let part = Topic::new("Layer-2 overconfidence (high score, wrong verdict)").with_text(
        "Detection: regretted approvals that layer 2 scored, with its confidence. The scorer is calibrated and tested on sources it never saw (`doorward model eval`).",
    );
    let Some(record) = &gathered.record else { return part.with_text(EMPTY) };
    let regretted = of_layer(record, false);
    let sure = regretted.iter().filter(|of| of.confidence.is_some_and(|sure| sure >= SURE)).count();
    let told = Text::filled(
        "Current value: {} of {} approvals were scored by layer 2 and regretted; its confidence was at least {} for {} of them.",
        [count(regretted.len() as u64), count(record.metrics.all.approved), Text::figure(SURE), count(sure as u64)],
    );
    part.with_text(told)
        .from("doorward audit list --kind outcome --since 30d, doorward audit show DECISION")
        .table(&["outcome", "rule", "call"], regretted.iter().take(8).map(|of| regret_row(of)).collect())
        .from(OUTCOMES)
}

fn drift(gathered: &Gathered) -> Topic {
    let part = Topic::new("Override drift (users override so often that CONFIRM becomes theater)").with_text(
        Text::from("Detection: the alert `overrides` fires when ")
            .and(Text::sentence(&AlertKind::Overrides.definition())),
    );
    let Some(record) = &gathered.record else { return part.with_text(EMPTY) };
    let highest = record.metrics.categories.iter().max_by(|a, b| a.override_rate.total_cmp(&b.override_rate));
    let (name, rate) =
        highest.map_or((Text::plain("none"), 0.0), |share: &Share| (name_text(&share.name), share.override_rate));
    let told = Text::filled(
        "Current value: the highest override rate of a category is {} ({}); {} such alerts are open.",
        [Text::percent(rate), name, count(gathered.standing(AlertKind::Overrides) as u64)],
    );
    part.from("doorward alerts --explain").with_text(told).from("doorward metrics, doorward alerts")
}

fn manipulation(gathered: &Gathered) -> Topic {
    let part = Topic::new("Adversarial manipulation (prompt injection tricks classifier)").with_text(
        "Detection: rules see facts and never command text; doorward asks about anything it does not understand, and about sending data once a secret was read. A burst of blocks in one session counts as an attack loop, and doorward asks about its next calls. Calls that ran without a record show up in the agents' transcripts.",
    );
    let Some(record) = &gathered.record else { return part.with_text(EMPTY) };
    let opaque: u64 =
        record.metrics.coverage.iter().filter(|(degree, _)| degree == "opaque").map(|(_, number)| number).sum();
    let row = |what: &'static str, value: u64| vec![what.into(), count(value)];
    let of = |kind| gathered.standing(kind) as u64;
    let rows = vec![
        row("sessions with a burst of blocks", of(AlertKind::Spike)),
        row("sessions paused for you after denials", of(AlertKind::Breaker)),
        row("files swapped between question and call", of(AlertKind::Exchanged)),
        row("calls that ran without a record", of(AlertKind::Unguarded)),
        row("the record broken", of(AlertKind::Chain)),
    ];
    part.table(&["open alerts", "current value"], rows)
        .from("doorward alerts")
        .with_text(Text::filled(
            "{} calls in this period could not be understood at all; doorward asked about or blocked each of them.",
            [count(opaque)],
        ))
        .from(METRICS)
}
