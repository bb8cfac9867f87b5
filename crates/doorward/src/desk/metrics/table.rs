//! The figures as a table for the terminal.

use std::io::{self, Write};

use anstyle::Style;
use doorward_ledger::Share;

use super::MetricFigures;
use crate::machine::clock;
use crate::machine::visible;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// More rows than anyone reads.
const ROWS: usize = 8;

pub(super) fn print(out: &mut dyn Write, figures: &MetricFigures) -> io::Result<()> {
    let metrics = &figures.metrics;
    let all = &metrics.all;
    writeln!(out, "{STRONG}since {}{STRONG:#} {FAINT}UTC{FAINT:#}", clock::moment(metrics.since_ms))?;
    writeln!(
        out,
        "{} decisions: {} approved ({}), {} asked about, {} blocked; {} overridden ({})",
        all.decisions,
        all.approved,
        percent(all.approval_rate),
        all.confirmed,
        all.blocked,
        all.overridden,
        percent(all.override_rate)
    )?;
    writeln!(out, "{} questions came when no one could answer; they don't count as denials", metrics.unavailable)?;
    match metrics.between_confirmations_ms {
        Some(between) => writeln!(out, "a question every {} on average", span(between))?,
        None => writeln!(out, "fewer than two questions")?,
    }
    writeln!(out, "{} calls waiting for an answer", figures.pending)?;
    shares(out, "category", &metrics.categories)?;
    let named = |user: &Share| Share { name: crate::desk::screen::user(&user.name), ..user.clone() };
    shares(out, "user", &metrics.users.iter().map(named).collect::<Vec<Share>>())?;
    shares(out, "project", &metrics.projects)?;
    counts(out, "rules that decided most often", &metrics.rules)?;
    counts(out, "how well calls were understood", &metrics.coverage)?;
    counts(out, "how the reviewer answered", &metrics.reviews)?;
    counts(out, "contained runs, and the ways to them", &metrics.runs)?;
    if !metrics.runs.is_empty() {
        writeln!(out, "{:>10}  mismatches: did more than expected, or ran outside the box", metrics.mismatches)?;
    }
    if !metrics.latency.is_empty() {
        writeln!(out, "\n{STRONG}{:<24}{:>10}{:>12}{:>12}{STRONG:#}", "stage", "measured", "p50 µs", "p99 µs")?;
    }
    for of in &metrics.latency {
        writeln!(out, "{:<24}{:>10}{:>12}{:>12}", cut(&of.stage), of.count, of.p50_us, of.p99_us)?;
    }
    let standing: Vec<String> =
        figures.alerts.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| format!("{count} {kind}")).collect();
    if !standing.is_empty() {
        writeln!(out, "\n{STRONG}alerts{STRONG:#}: {}; `doorward alerts` says more", standing.join(", "))?;
    }
    Ok(())
}

fn shares(out: &mut dyn Write, title: &str, shares: &[Share]) -> io::Result<()> {
    if shares.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{STRONG}{title:<24}{:>10}{:>10}{:>8}{:>9}{:>12}{STRONG:#}",
        "decisions", "approved", "asked", "blocked", "overridden"
    )?;
    for share in shares.iter().take(ROWS) {
        writeln!(
            out,
            "{:<24}{:>10}{:>10}{:>8}{:>9}{:>12}",
            cut(&share.name),
            share.decisions,
            percent(share.approval_rate),
            share.confirmed,
            share.blocked,
            format!("{} ({})", share.overridden, percent(share.override_rate))
        )?;
    }
    more(out, shares.len())
}

fn counts(out: &mut dyn Write, title: &str, counts: &[(String, u64)]) -> io::Result<()> {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{STRONG}{title}{STRONG:#}")?;
    for (name, count) in counts.iter().take(ROWS) {
        writeln!(out, "{count:>10}  {}", cut(name))?;
    }
    more(out, counts.len())
}

fn more(out: &mut dyn Write, rows: usize) -> io::Result<()> {
    match rows.saturating_sub(ROWS) {
        0 => Ok(()),
        rest => writeln!(out, "{FAINT}and {rest} more; --json has all{FAINT:#}"),
    }
}

/// The end of a name says most.
fn cut(name: &str) -> String {
    const WIDTH: usize = 23;
    let shown = visible(if name.is_empty() { "not known" } else { name });
    let skip = shown.chars().count().saturating_sub(WIDTH);
    if skip == 0 { shown.into_owned() } else { format!("…{}", shown.chars().skip(skip + 1).collect::<String>()) }
}

fn percent(rate: f64) -> String {
    format!("{:.0} %", rate * 100.0)
}

fn span(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
