//! The figures in the text format of Prometheus.
//!
//! All of them are gauges: they describe a moving window, so they fall as well as rise.

use std::fmt::Write;

use doorward_ledger::Share;

use super::MetricFigures;

/// Something with a name, a meaning and values.
struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Family<'_> {
    fn new<'a>(text: &'a mut String, name: &'static str, help: &str) -> Family<'a> {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        Family { text, name }
    }

    fn value(&mut self, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let braces = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "{}{braces} {value}", self.name);
    }
}

/// The whole page.
pub(super) fn text(figures: &MetricFigures) -> String {
    let metrics = &figures.metrics;
    let mut text = String::new();
    let page = &mut text;
    let mut since = Family::new(page, "doorward_window_start_seconds", "Start of the window that all figures cover.");
    since.value(&[], metrics.since_ms as f64 / 1000.0);
    verdicts(page, &metrics.categories);
    rates(page, "category", &metrics.categories);
    rates(page, "user", &metrics.users);
    rates(page, "project", &metrics.projects);
    let mut overrides = Family::new(page, "doorward_overrides", "Calls that a person overrode so that they ran.");
    metrics.users.iter().for_each(|user| overrides.value(&[("user", &user.name)], user.overridden as f64));
    let mut unavailable = Family::new(page, "doorward_unavailable", "Questions that came when no one could answer.");
    unavailable.value(&[], metrics.unavailable as f64);
    if let Some(between) = metrics.between_confirmations_ms {
        let help = "Mean time from one confirmation to the next.";
        Family::new(page, "doorward_between_confirmations_seconds", help).value(&[], between as f64 / 1000.0);
    }
    counts(page, "doorward_rule_decisions", "Decisions made by a rule.", "rule", &metrics.rules);
    counts(page, "doorward_coverage", "Decisions by how well the call was understood.", "degree", &metrics.coverage);
    counts(page, "doorward_mode", "Decisions by mode.", "mode", &metrics.modes);
    let help = "Calls sent to the box, and contained runs by what became of them.";
    counts(page, "doorward_contained_runs", help, "step", &metrics.runs);
    let help = "Contained runs that did more than expected, and calls that ran in spite of one.";
    Family::new(page, "doorward_contained_mismatches", help).value(&[], metrics.mismatches as f64);
    let mut latency = Family::new(page, "doorward_latency_seconds", "How long a stage took.");
    for of in &metrics.latency {
        latency.value(&[("stage", &of.stage), ("quantile", "0.5")], of.p50_us as f64 / 1e6);
        latency.value(&[("stage", &of.stage), ("quantile", "0.99")], of.p99_us as f64 / 1e6);
    }
    Family::new(page, "doorward_pending", "Calls waiting for an answer.").value(&[], figures.pending as f64);
    let mut alerts = Family::new(page, "doorward_alerts", "Unresolved alerts.");
    figures.alerts.iter().for_each(|(kind, count)| alerts.value(&[("kind", kind)], *count as f64));
    text
}

fn verdicts(page: &mut String, categories: &[Share]) {
    let mut decisions = Family::new(page, "doorward_decisions", "Decisions by category and verdict.");
    for share in categories {
        let parts = [("approve", share.approved), ("confirm", share.confirmed), ("block", share.blocked)];
        for (verdict, count) in parts {
            decisions.value(&[("category", &share.name), ("verdict", verdict)], count as f64);
        }
    }
}

fn rates(page: &mut String, label: &'static str, shares: &[Share]) {
    let (approval, overriding): (&'static str, &'static str) = match label {
        "category" => ("doorward_approval_rate", "doorward_override_rate"),
        "user" => ("doorward_user_approval_rate", "doorward_user_override_rate"),
        _ => ("doorward_project_approval_rate", "doorward_project_override_rate"),
    };
    let mut rate = Family::new(page, approval, &format!("Share of decisions that were approved, by {label}."));
    shares.iter().for_each(|share| rate.value(&[(label, &share.name)], share.approval_rate));
    let mut rate = Family::new(page, overriding, &format!("Share of decisions that were overridden, by {label}."));
    shares.iter().for_each(|share| rate.value(&[(label, &share.name)], share.override_rate));
}

fn counts(page: &mut String, name: &'static str, help: &str, label: &str, counts: &[(String, u64)]) {
    let mut family = Family::new(page, name, help);
    counts.iter().for_each(|(of, count)| family.value(&[(label, of)], *count as f64));
}

/// Escapes the characters that a label's value can't contain.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
