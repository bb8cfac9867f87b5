//! `doorward audit stats`: how many decisions of which kind.

use std::io::Write;

use anyhow::Result;

use super::arguments::StatsArguments;
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;

pub(super) fn stats(view: &LedgerView, arguments: &StatsArguments) -> Result<()> {
    let stats = view.index()?.stats(&arguments.filter.filter()?)?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&stats)?)?;
        return Ok(());
    }
    writeln!(out, "{} records", stats.records)?;
    if !stats.categories.is_empty() {
        writeln!(
            out,
            "\n{:<12}{:>10}{:>10}{:>10}{:>10}{:>12}",
            "category", "decisions", "approved", "asked", "blocked", "overridden"
        )?;
    }
    for of in &stats.categories {
        let category = if of.category.is_empty() { "none" } else { &of.category };
        writeln!(
            out,
            "{:<12}{:>10}{:>10}{:>10}{:>10}{:>12}",
            visible(category),
            of.decisions,
            of.approved,
            of.confirmed,
            of.blocked,
            of.overridden
        )?;
    }
    if !stats.violations.is_empty() {
        writeln!(out, "\nviolations")?;
    }
    for (rule, count) in &stats.violations {
        writeln!(out, "{count:>7}  {}", visible(rule))?;
    }
    if let (Some(half), Some(most)) = (stats.latency_p50_us, stats.latency_p99_us) {
        writeln!(out, "\njudging took {half} µs (median), {most} µs (99th percentile)")?;
    }
    Ok(())
}
