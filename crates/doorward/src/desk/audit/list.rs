//! `doorward audit list` and `tail`: one line per record.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use doorward_ledger::{Filter, Index, Row};

use super::arguments::{ListArguments, TailArguments};
use crate::machine::clock;
use crate::machine::record;
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;

const FAINT: Style = Style::new().dimmed();

/// How often `tail -f` checks the log for new records.
// The log is one file, so a poll is one stat; below this it reads as immediate.
const PAUSE: Duration = Duration::from_millis(250);

/// How much of a call one line shows.
const SHOWN: usize = 120;

pub(crate) fn list(view: &LedgerView, arguments: &ListArguments) -> Result<()> {
    let filter = Filter { limit: Some(arguments.limit), before: arguments.before, ..arguments.filter.filter()? };
    let rows = view.index()?.list(&filter)?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
        return Ok(());
    }
    for row in &rows {
        line(&mut out, row)?;
    }
    match rows.last() {
        None => writeln!(out, "no matching records")?,
        Some(last) if rows.len() as u64 == u64::from(arguments.limit) && last.sequence > 1 => {
            writeln!(out, "{FAINT}first {}; --before {} shows more{FAINT:#}", rows.len(), last.sequence)?;
        }
        Some(_) => {}
    }
    Ok(())
}

pub(crate) fn tail(view: &LedgerView, arguments: &TailArguments) -> Result<()> {
    let filter = arguments.filter.filter()?;
    let mut index = view.index()?;
    let current = record::directory(&view.dirs).join("current.log");
    let mut seen = modified(&current);
    let mut rows = index.list(&Filter { limit: Some(arguments.lines), ..filter.clone() })?;
    rows.reverse();
    let mut last = newest(&index)?;
    print(&rows, arguments.json)?;
    if !arguments.follow {
        return Ok(());
    }
    loop {
        std::thread::sleep(PAUSE);
        let now = modified(&current);
        // A write between the check and the read shows up at the next check.
        if now == seen && now.is_some() {
            continue;
        }
        seen = now;
        let _fed = index.feed(&view.log)?;
        let fresh = Filter { after: Some(last), oldest_first: true, ..filter.clone() };
        let rows = index.list(&fresh)?;
        last = newest(&index)?;
        print(&rows, arguments.json)?;
    }
}

/// The last record in the index.
fn newest(index: &Index) -> Result<u64> {
    let rows = index.list(&Filter { limit: Some(1), ..Filter::default() })?;
    Ok(rows.first().map_or(0, |row| row.sequence))
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn print(rows: &[Row], json: bool) -> Result<()> {
    let mut out = anstream::stdout().lock();
    for row in rows {
        if json {
            writeln!(out, "{}", serde_json::to_string(row)?)?;
        } else {
            line(&mut out, row)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// One record on one line.
pub(crate) fn line(out: &mut dyn Write, row: &Row) -> std::io::Result<()> {
    let word = row.verdict.as_deref().unwrap_or(&row.kind);
    let style = word_style(word);
    write!(
        out,
        "{:>7}  {FAINT}{}{FAINT:#}  {style}{:<9}{style:#}",
        row.sequence,
        clock::moment(row.time_ms),
        visible(word)
    )?;
    for part in [&row.agent, &row.tool, &row.step, &row.by].into_iter().flatten() {
        write!(out, " {}", visible(part))?;
    }
    if let Some(text) = row.text.as_deref().or(row.decision.as_deref()) {
        write!(out, " {}", first_line(text))?;
    }
    if let Some(rule) = &row.rule {
        write!(out, "  {FAINT}({}){FAINT:#}", visible(rule))?;
    }
    writeln!(out)
}

/// The start of a possibly multi-line text.
fn first_line(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let cut: String = first.chars().take(SHOWN).collect();
    let more = if cut.len() < text.trim_end().len() { " …" } else { "" };
    format!("{}{more}", visible(&cut))
}

/// The color of a verdict; other words have none.
pub(crate) fn word_style(word: &str) -> Style {
    let colour = match word {
        "approve" => AnsiColor::Green,
        "confirm" => AnsiColor::Yellow,
        "block" => AnsiColor::Red,
        _ => return Style::new(),
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_takes_one_line_and_hides_nothing() {
        let row = Row {
            sequence: 7,
            kind: "decision".into(),
            verdict: Some("block".into()),
            agent: Some("cla\u{202e}ude".into()),
            text: Some("rm -rf ~\u{1b}[2K\nls".into()),
            rule: Some("bulk-delete".into()),
            ..Row::default()
        };
        let mut out = Vec::new();
        line(&mut out, &row).unwrap();
        let plain = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        assert_eq!(plain, "      7  1970-01-01 00:00:00  block     cla\\u{202e}ude rm -rf ~\\e[2K …  (bulk-delete)\n");
    }
}
