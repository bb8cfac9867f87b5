//! `doorward alerts`: what wants attention, why it went off, and a person's word on it.
//!
//! Spikes and breakers are noticed by the hook as they happen (`raise`); everything is evaluated in full whenever
//! somebody asks, and by `notify`, which tells of it.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::{Result, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use doorward_ledger::{Alert, AlertBody, AlertKind, AlertState, AlertStep, Index};

use crate::audit::{Room, verified};
use crate::places::Places;
use crate::record::{Entry, Ledger, Recorder};
use crate::screen::{time, visible};
use crate::trust::person;

#[derive(Debug, Args)]
pub struct AlertsArguments {
    #[command(subcommand)]
    pub what: Option<What>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print when each alert goes off
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Subcommand)]
pub enum What {
    /// List what stands; the same as no word at all
    List,
    /// Say that you have seen one; it stays in the list. Only a person may
    Ack { id: String },
    /// Say that one is dealt with; it is listed again when it goes off anew. Only a person may
    ///
    /// A drop rests for a day and an override rate for a week, because rates recover slowly.
    Resolve {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        /// What was done; the record keeps it
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

/// Exit code: something stands.
const STANDS: u8 = 1;

pub fn run(arguments: &AlertsArguments) -> Result<ExitCode> {
    if arguments.explain {
        return explain(arguments.json);
    }
    let room = Room::open(Places::find().map_err(anyhow::Error::msg)?)?;
    match &arguments.what {
        None | Some(What::List) => return list(&everything(&room)?, arguments.json),
        Some(What::Ack { id }) => {
            let alert = asked(&room, id, "mark it as seen?")?;
            answer(&mut Ledger::of(&room.places), &alert, AlertStep::Acknowledged, alert.text.clone())?;
            writeln!(anstream::stdout(), "seen; it stays in the list until it is resolved")?;
        }
        Some(What::Resolve { id, why }) => {
            let alert = asked(&room, id, "is it dealt with?")?;
            answer(&mut Ledger::of(&room.places), &alert, AlertStep::Resolved, why.clone())?;
            writeln!(anstream::stdout(), "resolved")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What stands, as far as the index can tell: everything but a broken record.
pub fn standing(index: &Index, now_ms: u64) -> Result<Vec<Alert>> {
    Ok(index.standing(index.tripped(now_ms)?)?)
}

/// Keeps the alerts that a call set off. What fails here changes no verdict: asking finds them again.
pub fn raise(alerts: Vec<AlertBody>, ledger: &mut dyn Recorder) {
    for alert in alerts {
        let _ = Entry::new(&alert).and_then(|entry| ledger.append(entry));
    }
}

/// The entry of an alert that has just gone off.
pub fn raised(kind: AlertKind, about: &str, text: &str) -> AlertBody {
    let alert = Alert::new(kind, about, text.to_owned(), 0);
    AlertBody { name: kind.word().to_owned(), text: alert.text, id: Some(alert.id), ..AlertBody::default() }
}

/// What stands, a broken record included.
fn everything(room: &Room) -> Result<Vec<Alert>> {
    let mut alerts: Vec<Alert> = broken(&room.places).into_iter().collect();
    alerts.extend(standing(&room.index()?, time::now_ms())?);
    Ok(alerts)
}

/// A broken record cannot be resolved by a word: it is listed as long as it is broken.
pub fn broken(places: &Places) -> Option<Alert> {
    let text = match verified(places) {
        Ok(verified) if verified.report.holds() => return None,
        Ok(verified) => {
            let first = verified.report.findings.first().map(|finding| finding.fault.to_string()).unwrap_or_default();
            format!("{first}; `doorward audit verify` says more")
        }
        Err(error) => return Some(unusable(&error)),
    };
    Some(of_record(text))
}

/// The alert about a record that cannot be looked at.
pub fn unusable(error: &anyhow::Error) -> Alert {
    of_record(format!("the record cannot be verified: {error:#}"))
}

fn of_record(text: String) -> Alert {
    Alert::new(AlertKind::Chain, "the record", text, time::now_ms())
}

fn asked(room: &Room, id: &str, question: &str) -> Result<Alert> {
    person::required()?;
    let alerts = everything(room)?;
    let Some(alert) = alerts.into_iter().find(|alert| alert.id == id) else {
        bail!("no alert has the id `{id}`; `doorward alerts` lists them");
    };
    if alert.kind == AlertKind::Chain {
        bail!("a broken record cannot be waved through: `doorward audit verify` names the place");
    }
    writeln!(anstream::stdout(), "{}: {}\n{}", alert.kind.word(), visible(&alert.about), visible(&alert.text))?;
    if !person::agrees(question)? {
        bail!("nothing was changed");
    }
    Ok(alert)
}

fn answer(ledger: &mut dyn Recorder, alert: &Alert, step: AlertStep, text: String) -> Result<()> {
    let user = Some(rustix::process::geteuid().as_raw().to_string());
    let name = alert.kind.word().to_owned();
    let body = AlertBody { name, text, step, id: Some(alert.id.clone()), user, session: None };
    ledger.append(Entry::new(&body)?).map(|_receipt| ())
}

fn list(alerts: &[Alert], json: bool) -> Result<ExitCode> {
    let code = if alerts.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(STANDS) };
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(alerts)?)?;
        return Ok(code);
    }
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    for alert in alerts {
        let seen = match alert.state {
            AlertState::Open => "",
            AlertState::Acknowledged => "  (seen)",
        };
        writeln!(
            out,
            "{}  {style}{:<9}{style:#} {}  {}{seen}",
            alert.id,
            alert.kind.word(),
            time::moment(alert.last_ms),
            visible(&alert.about)
        )?;
        writeln!(out, "          {}", visible(&alert.text))?;
    }
    match alerts.is_empty() {
        true => writeln!(out, "nothing wants attention; `doorward alerts --explain` says what would")?,
        false => writeln!(
            out,
            "`doorward alerts ack ID` and `doorward alerts resolve ID --why TEXT` answer one; --explain says when each goes off"
        )?,
    }
    Ok(code)
}

fn explain(json: bool) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    if json {
        let all: serde_json::Map<String, serde_json::Value> =
            AlertKind::ALL.iter().map(|kind| (kind.word().to_owned(), kind.definition().into())).collect();
        writeln!(out, "{:#}", serde_json::Value::Object(all))?;
        return Ok(ExitCode::SUCCESS);
    }
    for kind in AlertKind::ALL {
        let definition = crate::grants::show::prose(&kind.definition(), 88);
        for (line, text) in definition.iter().enumerate() {
            let name = if line == 0 { kind.word() } else { "" };
            writeln!(out, "{name:<10} {}", text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests;
