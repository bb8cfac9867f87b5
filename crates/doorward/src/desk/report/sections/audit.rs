//! Section 6: what is logged, what is measured, what triggers alerts, and who reviews when.

use doorward_ledger::{AlertKind, Latency};

use super::super::document::{Chart, Content, Series, Shape, Text, Tone, Topic};
use super::super::gather::{Day, Gathered, RecordFigures};
use super::migration::cadence;
use super::{METRICS, count};
use crate::machine::clock;

const STATS: &str = "doorward audit stats --kind decision --since DAY --until NEXT_DAY";

pub(super) fn parts(gathered: &Gathered) -> Vec<Topic> {
    vec![schema(gathered), metrics(gathered), alerts(gathered), cadence(gathered)]
}

/// What the specification requires to be logged, and where it is.
const WANTED: &[(&str, &str, &str)] = &[
    ("timestamp", "header", "time_ms"),
    ("action summary", "decision", "tool, call, cwd, project, category, pattern"),
    ("layer-1 outcome", "decision", "layer1.outcome, layer1.rule"),
    ("layer-2 score", "decision", "layer2.score, layer2.confidence"),
    ("reviewer", "decision", "review"),
    ("final verdict", "decision", "verdict, reasons, violation, mode"),
    ("user override flag", "answer, grant", "reply, by, why; step, of, expires_ms, clears"),
    ("execution outcome", "outcome", "became, detail, after"),
    ("who", "decision", "agent, session, turn, user, attended"),
    ("what was seen", "decision", "facts, leaves, snapshot, before"),
    ("versions and latency", "decision", "versions, latency_us"),
    ("changes of policy and mode", "policy, mode", "what, before, after, user; mode, before, session"),
    ("sessions", "session", "session, agent, step, what"),
    ("alerts", "alert", "name, text, step, id, user"),
    ("the record itself", "checkpoint, gap, tombstone", "sequence, root, key; after, bytes; dropped, days"),
];

fn schema(gathered: &Gathered) -> Topic {
    let row = |(wanted, kind, keys): &(&'static str, &'static str, &'static str)| {
        vec![Text::plain(*wanted), Text::code(*kind), Text::code(*keys)]
    };
    let part = Topic::new("Log schema")
        .with_text("An append-only log of JSON bodies with hash-chained, signed headers. Every entry is on disk before doorward answers.")
        .table(&["what", "entry", "keys"], WANTED.iter().map(row).collect())
        .from("doorward audit show SEQUENCE --json");
    let Some(record) = &gathered.record else { return part };
    let report = &record.verified.report;
    let held = if report.holds() {
        "The record is intact: {} records, {} bodies dropped by retention, {} gaps."
    } else {
        "The record is broken: {} records, {} bodies dropped by retention, {} gaps."
    };
    let figures = [count(report.records), count(report.dropped), count(report.gaps.len() as u64)];
    let told = Text::filled(held, figures);
    let part = if report.holds() { part.with_text(told) } else { part.warn(told) };
    part.from("doorward audit verify")
}

fn metrics(gathered: &Gathered) -> Topic {
    match &gathered.record {
        Some(record) => figures(record),
        None => Topic::new("Dashboard metrics").with_text("Nothing has been recorded yet."),
    }
}

/// Rates, counts and durations, as tables and charts.
pub(in crate::desk::report) fn figures(record: &RecordFigures) -> Topic {
    let part = Topic::new("Dashboard metrics");
    let (metrics, all) = (&record.metrics, &record.metrics.all);
    let between = metrics.between_confirmations_ms.map_or(Text::plain("fewer than two questions"), span);
    let figures = vec![
        vec![Text::plain("decisions"), count(all.decisions)],
        vec![Text::plain("approved"), count(all.approved)],
        vec![Text::plain("auto-approval rate"), Text::percent(all.approval_rate)],
        vec![Text::plain("asked about"), count(all.confirmed)],
        vec![Text::plain("blocked"), count(all.blocked)],
        vec![Text::plain("overridden"), count(all.overridden)],
        vec![Text::plain("override rate"), Text::percent(all.override_rate)],
        vec![Text::plain("mean time between confirmations"), between],
        vec![Text::plain("questions that no one could answer"), count(metrics.unavailable)],
    ];
    part.table(&["figure", "value"], figures)
        .from(METRICS)
        .with(drawn(record))
        .from(STATS)
        .folded(
            "figures by day",
            &["day", "decisions", "approved", "rate", "asked", "blocked", "overridden", "p50 µs", "p99 µs"],
            days(&record.days),
        )
        .from(STATS)
        .table(&["category", "decisions", "approved", "rate", "asked", "blocked", "overridden"], categories(record))
        .from(METRICS)
        .table(&["stage", "measured", "p50 µs", "p99 µs"], latency(&metrics.latency))
        .from(METRICS)
        .table(&["how well calls were understood", "decisions"], counts(&metrics.coverage))
        .from(METRICS)
        .table(&["deciding rule", "decisions"], counts(&metrics.rules))
        .from(METRICS)
}

fn span(ms: u64) -> Text {
    match ms / 1000 {
        seconds @ 0..=119 => Text::figure(format!("{seconds} s")),
        seconds @ 120..=7199 => Text::figure(format!("{} min", seconds / 60)),
        seconds => Text::figure(format!("{} h", seconds / 3600)),
    }
}

fn categories(record: &RecordFigures) -> Vec<Vec<Text>> {
    let row = |share: &doorward_ledger::Share| {
        vec![
            super::name_text(&share.name),
            count(share.decisions),
            count(share.approved),
            Text::percent(share.approval_rate),
            count(share.confirmed),
            count(share.blocked),
            count(share.overridden),
        ]
    };
    record.metrics.categories.iter().map(row).collect()
}

fn latency(stages: &[Latency]) -> Vec<Vec<Text>> {
    let row = |of: &Latency| vec![Text::plain(of.stage.clone()), count(of.count), count(of.p50_us), count(of.p99_us)];
    stages.iter().map(row).collect()
}

fn counts(list: &[(String, u64)]) -> Vec<Vec<Text>> {
    list.iter().take(12).map(|(name, number)| vec![super::name_text(name), count(*number)]).collect()
}

fn date(day: &Day) -> String {
    clock::moment(day.start_ms).chars().take(10).collect()
}

fn days(days: &[Day]) -> Vec<Vec<Text>> {
    let micros = |took: Option<u64>| took.map_or(Text::plain("–"), count);
    let row = |day: &Day| {
        let sums = &day.sums;
        vec![
            Text::figure(date(day)),
            count(sums.decisions),
            count(sums.approved),
            sums.approval_rate().map_or(Text::plain("–"), Text::percent),
            count(sums.confirmed),
            count(sums.blocked),
            count(sums.overridden),
            micros(day.p50_us),
            micros(day.p99_us),
        ]
    };
    days.iter().map(row).collect()
}

/// A line through one day would be a dot.
fn drawn(record: &RecordFigures) -> Content {
    match record.days.len() {
        0 | 1 => Content::Paragraph("Charts appear from the second day on.".into()),
        _ => Content::Charts(charts(record)),
    }
}

fn charts(record: &RecordFigures) -> Vec<Chart> {
    let days = &record.days;
    // The year is (nearly) the same for all.
    let places: Vec<String> = days.iter().map(|day| date(day).chars().skip(5).collect()).collect();
    let series = |name, tone, value: &dyn Fn(&Day) -> Option<f64>| Series {
        name,
        tone,
        values: days.iter().map(value).collect(),
    };
    let some = |number: u64| Some(number as f64);
    let chart = |title, shape, unit, series| Chart { title, shape, unit, top: None, places: places.clone(), series };
    let rate =
        series("approved, of all decisions", Tone::Approve, &|day| day.sums.approval_rate().map(|rate| rate * 100.0));
    vec![
        Chart { top: Some(100.0), ..chart("Auto-approval rate by day", Shape::Line, " %", vec![rate]) },
        chart(
            "Verdicts by day",
            Shape::Stacked,
            "",
            vec![
                series("approved", Tone::Approve, &|day| some(day.sums.approved)),
                series("asked", Tone::Confirm, &|day| some(day.sums.confirmed)),
                series("blocked", Tone::Block, &|day| some(day.sums.blocked)),
            ],
        ),
        chart(
            "Confirmations by day",
            Shape::Stacked,
            "",
            vec![series("asked about", Tone::Confirm, &|day| some(day.sums.confirmed))],
        ),
        chart(
            "Latency of judging by day",
            Shape::Line,
            " µs",
            vec![
                series("p99", Tone::Plain, &|day| day.p99_us.and_then(some)),
                series("p50", Tone::Faint, &|day| day.p50_us.and_then(some)),
            ],
        ),
    ]
}

fn alerts(gathered: &Gathered) -> Topic {
    let row = |kind: &AlertKind| {
        vec![Text::code(kind.word()), Text::sentence(&kind.definition()), count(gathered.standing(*kind) as u64)]
    };
    let mut part = Topic::new("Alert rules")
        .table(&["alert", "fires when", "open now"], AlertKind::ALL.iter().map(row).collect())
        .from("doorward alerts, doorward alerts --explain");
    let standing = gathered.record.iter().flat_map(|record| &record.alerts).take(12).map(|alert| {
        Text::code(alert.kind.word()).and(" about ").and(super::name_text(&alert.about)).and(Text::sentence(&format!(
            ": {} (last {})",
            alert.text,
            clock::moment(alert.last_ms)
        )))
    });
    let standing: Vec<Text> = standing.collect();
    if !standing.is_empty() {
        part = part.list(standing).from("doorward alerts");
    }
    part
}
