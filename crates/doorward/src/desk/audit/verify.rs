//! `doorward audit verify`: confirms that the record is intact, or names the first bad entry.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use doorward_ledger::Checkpoint;
use serde_json::{Value, json};

use super::arguments::VerifyArguments;
use crate::desk::screen;
use crate::desk::serve::DeviceReport;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::memory::ledger_view::compare;
use crate::memory::ledger_view::stored_checkpoints;
use crate::memory::ledger_view::{LedgerView, Verified};

/// Maximum number of findings shown on a terminal; JSON has more.
// One torn block makes thousands of findings after it; the first ones say where to look.
const SHOWN: usize = 10;

pub(super) fn verify(view: &LedgerView, arguments: &VerifyArguments) -> Result<ExitCode> {
    let mut kept = stored_checkpoints(&view.dirs)?;
    for path in &arguments.from {
        kept.push(Checkpoint::load(path)?);
    }
    let verified = compare(view, &kept, screen::bar())?;
    let devices = DeviceReport::of(&verified.report.devices);
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let mut all = verified.to_json();
        if let Value::Object(fields) = &mut all {
            fields.insert("devices".into(), devices_json(&devices));
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    } else {
        write!(out, "{verified}")?;
        print_devices(&mut out, &devices)?;
    }
    Ok(if verified.report.holds() && devices.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn devices_json(devices: &DeviceReport) -> Value {
    let answers: Vec<Value> = devices
        .answers
        .iter()
        .map(|(name, device, count)| json!({ "device": device, "name": name, "answers": count }))
        .collect();
    let wrong: Vec<Value> =
        devices.wrong.iter().map(|(sequence, what)| json!({ "sequence": sequence, "what": what })).collect();
    json!({ "signed": answers, "wrong": wrong })
}

/// Who signed answers, and which answers are not what they claim to be.
fn print_devices(out: &mut dyn Write, devices: &DeviceReport) -> std::io::Result<()> {
    for (sequence, what) in devices.wrong.iter().take(SHOWN) {
        writeln!(out, "bad: record {sequence}: {}", visible(what))?;
    }
    for (name, device, count) in &devices.answers {
        let answers = if *count == 1 { "answer" } else { "answers" };
        writeln!(out, "{count} {answers} signed by `{}` ({})", visible(name), visible(device))?;
    }
    Ok(())
}

/// The same, with a progress bar.
pub(crate) fn verified_watched(dirs: &Dirs) -> Result<Verified> {
    let view = LedgerView::open(dirs.clone())?;
    compare(&view, &stored_checkpoints(dirs)?, screen::bar())
}

impl Verified {
    pub(crate) fn to_json(&self) -> Value {
        let Verified { report, checkpoints } = self;
        let findings: Vec<Value> = report
            .findings
            .iter()
            .map(|finding| {
                json!({ "sequence": finding.sequence, "segment": finding.segment, "offset": finding.offset,
                    "fault": finding.fault.to_string() })
            })
            .collect();
        let gaps: Vec<Value> =
            report.gaps.iter().map(|(sequence, gap)| json!({ "sequence": sequence, "gap": gap })).collect();
        json!({
            "holds": report.holds(), "records": report.records, "checkpoints": checkpoints,
            "head": report.head.map(|(sequence, hash)| json!({ "sequence": sequence, "hash": hash })),
            "anchored": report.anchored, "unanchored": self.unanchored(), "dropped": report.dropped, "gaps": gaps,
            "found": report.found, "findings": findings,
        })
    }

    /// How many records no checkpoint covers.
    fn unanchored(&self) -> u64 {
        let last = self.report.head.map_or(0, |(sequence, _)| sequence);
        last.saturating_sub(self.report.anchored.unwrap_or(0))
    }

    fn anchor(&self) -> String {
        match (self.report.anchored, self.unanchored()) {
            (None, _) if self.checkpoints == 0 => {
                "unanchored: there is no saved checkpoint, so a complete rewrite of the record would go unnoticed; \
                 `doorward audit checkpoint` makes one"
                    .to_owned()
            }
            (None, _) => "unanchored: no saved checkpoint matches this log".to_owned(),
            (Some(last), 0) => format!("anchored: a checkpoint covers everything up to record {last}"),
            (Some(last), more) => {
                format!("anchored up to record {last}; the {more} records after it are unanchored")
            }
        }
    }
}

impl std::fmt::Display for Verified {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let report = &self.report;
        for finding in report.findings.iter().take(SHOWN) {
            writeln!(out, "bad: {}", visible(&finding.to_string()))?;
        }
        if report.found > SHOWN as u64 {
            writeln!(out, "     and {} more; --json lists up to a hundred", report.found - SHOWN as u64)?;
        }
        for (sequence, gap) in &report.gaps {
            let most = gap.records_at_most.map_or("an unknown number".to_owned(), |most| format!("at most {most}"));
            writeln!(out, "gap: according to record {sequence}, records were lost after {}: {most}", gap.after)?;
        }
        if report.dropped > 0 {
            writeln!(out, "{} bodies were dropped by `doorward audit retain`", report.dropped)?;
        }
        match report.findings.first() {
            None => writeln!(out, "the record is intact: {} records", report.records)?,
            Some(first) => writeln!(out, "the record is broken, starting at record {}", first.sequence)?,
        }
        writeln!(out, "{}", self.anchor())
    }
}
