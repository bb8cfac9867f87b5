//! `doorward audit show`: everything about one record.

use std::io::Write;

use anstyle::Style;
use anyhow::{Context, Result, bail};
use doorward_engine::Facts;
use doorward_ledger::{Filter, Kind, Record, Row};
use serde_json::{Value, json};

use super::arguments::ShowArguments;
use super::list::{line, word_style};
use crate::desk::screen::effect_line;
use crate::machine::clock;
use crate::machine::visible;
use crate::memory::decisions;
use crate::memory::ledger_view::LedgerView;

const FAINT: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

pub(super) fn show(view: &LedgerView, arguments: &ShowArguments) -> Result<()> {
    let (sequence, later) = find(view, &arguments.id)?;
    let record = view.log.record(sequence)?.with_context(|| {
        format!("the index has record {sequence}, but the log does not; run `doorward audit verify`")
    })?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let record: Value = serde_json::from_str(&record.to_line()?)?;
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({ "record": record, "later": later }))?)?;
        return Ok(());
    }
    render(&mut out, &record)?;
    if !later.is_empty() {
        heading(&mut out, "what happened next")?;
        for row in &later {
            line(&mut out, row)?;
        }
    }
    Ok(())
}

/// The sequence number of the record, and the records about it.
fn find(view: &LedgerView, id: &str) -> Result<(u64, Vec<Row>)> {
    let index = view.index()?;
    let about = |name: &str| Filter { about: Some(name.to_owned()), oldest_first: true, ..Filter::default() };
    if let Ok(sequence) = id.parse::<u64>() {
        let just = Filter { after: sequence.checked_sub(1), before: sequence.checked_add(1), ..Filter::default() };
        let row = index.list(&just)?.pop().with_context(|| format!("no record {sequence}"))?;
        let related = match &row.id {
            Some(name) => index.list(&about(name))?,
            None => Vec::new(),
        };
        return Ok((sequence, related.into_iter().filter(|other| other.sequence != sequence).collect()));
    }
    let mut rows = index.list(&about(id))?;
    // An agent may reuse a name; take the newest decision.
    let Some(at) = rows.iter().rposition(|row| row.id.as_deref() == Some(id)) else {
        bail!("no record `{id}`; `doorward audit list` shows the numbers, with `--json` the names too");
    };
    let decision = rows.remove(at);
    Ok((decision.sequence, rows))
}

fn render(out: &mut dyn Write, record: &Record) -> Result<()> {
    let header = &record.header;
    writeln!(
        out,
        "{STRONG}record {}{STRONG:#}  {}  {} UTC",
        header.sequence,
        header.kind.word(),
        clock::moment(header.time_ms)
    )?;
    match record.body.as_deref().map(serde_json::from_slice::<Value>) {
        None => {
            writeln!(out, "  its body was dropped by `doorward audit retain`; the chain still proves that it existed")?
        }
        Some(Err(error)) => writeln!(out, "  can't read its body: {error}")?,
        Some(Ok(Value::Object(mut body))) => {
            let raw = body.remove("facts");
            for (name, value) in &body {
                field(out, name, value)?;
            }
            if header.kind == Kind::Decision {
                let body = record.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
                match (body.as_ref().and_then(decisions::facts), raw) {
                    (Some(facts), _) => observed(out, &facts)?,
                    // A later version may use words that this one does not know.
                    (None, Some(raw)) => field(out, "facts", &raw)?,
                    (None, None) => {}
                }
            }
        }
        Some(Ok(other)) => field(out, "body", &other)?,
    }
    heading(out, "chain")?;
    writeln!(out, "  {FAINT}hash      {}{FAINT:#}", record.hash)?;
    writeln!(out, "  {FAINT}previous  {}{FAINT:#}", header.previous)?;
    Ok(())
}

/// One key of a body; lists and tables take a line each.
fn field(out: &mut dyn Write, name: &str, value: &Value) -> std::io::Result<()> {
    let name = visible(name);
    match value {
        Value::String(text) => {
            let style = if name == "verdict" { word_style(text) } else { Style::new() };
            let mut lines = text.lines();
            writeln!(out, "  {name:<12}{style}{}{style:#}", visible(lines.next().unwrap_or_default()))?;
            lines.try_for_each(|line| writeln!(out, "  {:<12}{}", "", visible(line)))
        }
        Value::Array(list) => {
            let mut name = name.as_ref();
            for item in list {
                writeln!(out, "  {name:<12}{}", plain(item))?;
                name = "";
            }
            Ok(())
        }
        Value::Object(table) => {
            let parts: Vec<String> =
                table.iter().map(|(key, value)| format!("{} {}", visible(key), plain(value))).collect();
            writeln!(out, "  {name:<12}{}", parts.join(" · "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => writeln!(out, "  {name:<12}{value}"),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => visible(&text.replace('\n', "⏎")).into_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            visible(&value.to_string()).into_owned()
        }
    }
}

/// What was understood of the call.
fn observed(out: &mut dyn Write, facts: &Facts) -> Result<()> {
    heading(out, "understood")?;
    writeln!(out, "  coverage {}: {}", facts.coverage.degree, facts.coverage.degree.what())?;
    for because in &facts.coverage.because {
        writeln!(out, "    {}", visible(because))?;
    }
    for command in &facts.commands {
        writeln!(out, "  command  {}", visible(command))?;
    }
    for effect in &facts.effects {
        writeln!(out, "  {}", effect_line(effect))?;
    }
    for flow in &facts.flows {
        writeln!(out, "  flow {}: {}", flow.kind, flow.kind.what())?;
    }
    if !facts.taint.is_empty() {
        writeln!(out, "  session taint: {}", visible(&facts.taint.join(", ")))?;
    }
    let counts = &facts.counts;
    Ok(writeln!(
        out,
        "  {FAINT}before it: {} reads in the last minute, {} denials, {} of them in a row{FAINT:#}",
        counts.reads_last_minute, counts.denials, counts.denials_in_a_row
    )?)
}

fn heading(out: &mut dyn Write, title: &str) -> std::io::Result<()> {
    writeln!(out, "{STRONG}{title}{STRONG:#}")
}
