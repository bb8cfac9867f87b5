//! A preview on screen and as JSON.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::Style;
use doorward_engine::{Mechanism, Verdict};
use serde_json::{Value, json};

use super::{Group, TranscriptSummary};
use crate::desk::transcripts::TranscriptFile;
use crate::machine::agent::Agent;
use crate::machine::visible;

/// Maximum number of groups shown on screen; JSON has all of them.
const SHOWN: usize = 12;

/// How much of a command is shown.
const LENGTH: usize = 100;

const FAINT: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

pub(super) fn text(out: &mut dyn Write, seen: &TranscriptSummary, groups: &[Group], since: &str) -> io::Result<()> {
    let (silent, asked, blocked) = counts(seen);
    let all = silent + asked + blocked;
    writeln!(out, "{all} calls in {} sessions since {}:", seen.sessions, visible(since))?;
    let share = |part: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 * 100.0 };
    for (word, count) in [("silent", silent), ("asked", asked), ("blocked", blocked)] {
        writeln!(out, "  {BOLD}{word:<8}{BOLD:#} {count:>7}  {:>5.1} %", share(count))?;
    }
    for (count, what) in
        [(seen.malformed, "lines could not be read and were skipped"), (seen.unjudged, "calls never reach a hook")]
    {
        if count > 0 {
            writeln!(out, "{FAINT}{count} {what}{FAINT:#}")?;
        }
    }
    let spared: Vec<(Mechanism, u64)> = seen.spared().into_iter().filter(|(_, count)| *count > 0).collect();
    if !spared.is_empty() {
        writeln!(out, "\nsilent, and asked about otherwise, because the call")?;
    }
    for (mechanism, count) in spared {
        writeln!(out, "  {BOLD}{count:>6}{BOLD:#}  {}", mechanism.what())?;
    }
    if !groups.is_empty() {
        writeln!(out, "\ndoorward would ask about:")?;
    }
    for group in groups.iter().take(SHOWN) {
        writeln!(out, "  {BOLD}{:>6}{BOLD:#}  {}", group.calls, visible(&group.reason))?;
        writeln!(out, "          {FAINT}{}{FAINT:#}", visible(&start(&group.example)))?;
        match &group.rule {
            Some(rule) => {
                let others = if rule.others > 0 { format!(", and {} others", rule.others) } else { String::new() };
                writeln!(out, "          {} would silence {} of them{others}", visible(&rule.text), rule.silences)?;
            }
            None => writeln!(out, "          no single rule silences these")?,
        }
    }
    if groups.len() > SHOWN {
        writeln!(out, "  and {} more kinds; --json lists them", groups.len() - SHOWN)?;
    }
    writeln!(
        out,
        "{FAINT}judged on this machine as it is now, in mode auto; nothing was installed or recorded{FAINT:#}"
    )
}

/// Where doorward looked for transcripts, and how many it found.
pub(super) fn places(
    out: &mut dyn Write,
    sources: &[TranscriptFile],
    folders: &[(Agent, PathBuf)],
    home: &str,
) -> io::Result<()> {
    let short = |folder: &PathBuf| {
        let below = folder.strip_prefix(home).map(|rest| format!("~/{}", rest.display()));
        below.unwrap_or_else(|_| folder.display().to_string())
    };
    let line = |(agent, folder): &(Agent, PathBuf)| {
        let count = sources.iter().filter(|source| source.agent == *agent).count();
        format!("{} {} ({count} read)", agent.title(), short(folder))
    };
    let looked: Vec<String> = folders.iter().map(line).collect();
    writeln!(out, "{FAINT}looked in {}{FAINT:#}", visible(&looked.join(", ")))
}

pub(super) fn json(seen: &TranscriptSummary, groups: &[Group], folders: &[(Agent, PathBuf)]) -> Value {
    let (silent, asked, blocked) = counts(seen);
    let listed: Vec<Value> = groups
        .iter()
        .map(|group| {
            let rule = group
                .rule
                .as_ref()
                .map(|rule| json!({ "rule": rule.text, "silences": rule.silences, "others": rule.others }));
            json!({
                "pattern": group.pattern, "reason": group.reason, "example": group.example, "calls": group.calls,
                "rule": rule,
            })
        })
        .collect();
    json!({
        "sessions": seen.sessions, "silent": silent, "asked": asked, "blocked": blocked, "malformed": seen.malformed,
        "unjudged": seen.unjudged, "groups": listed,
        "spared": seen.spared().iter().map(|(one, count)| (one.as_str().to_owned(), json!(count))).collect::<serde_json::Map<_, _>>(),
        "looked_in": folders.iter().map(|(agent, folder)| json!({ "agent": agent.name(), "folder": folder })).collect::<Vec<_>>(),
    })
}

fn counts(seen: &TranscriptSummary) -> (u64, u64, u64) {
    (seen.count(Verdict::AutoApprove), seen.count(Verdict::Confirm), seen.count(Verdict::Block))
}

fn start(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(LENGTH).collect();
    if cut.len() < text.trim_end().len() { format!("{cut} …") } else { cut }
}
