//! `doorward alerts`: open alerts, why they fired, and acknowledging or resolving them.
//!
//! All alerts are evaluated in full on every run of this command, and by `notify`, which delivers them.

use std::io::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::{Result, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use doorward_ledger::{Alert, AlertBody, AlertKind, AlertState, AlertStep};

use crate::desk::person;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use crate::memory::alerts::everything;
use crate::memory::ledger_view::LedgerView;

#[derive(Debug, Args)]
pub(crate) struct AlertsArguments {
    #[command(subcommand)]
    pub what: Option<AlertsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Explain when each alert fires
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AlertsCommand {
    /// List open alerts (the default)
    List,
    /// Mark an alert as seen; it stays in the list (not for agents)
    Ack { id: String },
    /// Resolve an alert; it is listed again if it fires again (not for agents)
    ///
    /// A resolved drop stays quiet for a day and an override rate for a week, because rates recover slowly.
    Resolve {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        /// What you did about it, kept in the record
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

/// Exit code: there are open alerts.
const STANDS: u8 = 1;

pub(crate) fn run(arguments: &AlertsArguments) -> Result<ExitCode> {
    if arguments.explain {
        return explain(arguments.json);
    }
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    match &arguments.what {
        None | Some(AlertsCommand::List) => return list(&everything(&view)?, arguments.json),
        Some(AlertsCommand::Ack { id }) => {
            let alert = confirm(&view, id, "Mark it as seen?")?;
            answer(&mut Ledger::open(&view.dirs), &alert, AlertStep::Acknowledged, alert.text.clone())?;
            writeln!(anstream::stdout(), "Marked as seen; it stays in the list until you resolve it.")?;
        }
        Some(AlertsCommand::Resolve { id, why }) => {
            let alert = confirm(&view, id, "Resolve it?")?;
            answer(&mut Ledger::open(&view.dirs), &alert, AlertStep::Resolved, why.clone())?;
            writeln!(anstream::stdout(), "resolved")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn confirm(view: &LedgerView, id: &str, question: &str) -> Result<Alert> {
    person::required()?;
    let alerts = everything(view)?;
    let Some(alert) = alerts.into_iter().find(|alert| alert.id == id) else {
        bail!("no alert has the id `{id}`; `doorward alerts` lists them");
    };
    if alert.kind == AlertKind::Chain {
        bail!("a broken record can't be resolved by hand; `doorward audit verify` shows where it is broken");
    }
    writeln!(anstream::stdout(), "{}: {}\n{}", alert.kind.word(), visible(&alert.about), visible(&alert.text))?;
    if !person::agrees(question)? {
        bail!("nothing was changed");
    }
    Ok(alert)
}

fn answer(ledger: &mut dyn Recorder, alert: &Alert, step: AlertStep, text: String) -> Result<()> {
    let user = crate::machine::user();
    let name = alert.kind.word().to_owned();
    let body = AlertBody { name, text, step, id: Some(alert.id.clone()), user, session: None };
    ledger.append(LogEntry::new(&body)?).map(|_receipt| ())
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
            clock::moment(alert.last_ms),
            visible(&alert.about)
        )?;
        writeln!(out, "          {}", visible(&alert.text))?;
    }
    match alerts.is_empty() {
        true => writeln!(out, "no open alerts; `doorward alerts --explain` says when each one fires")?,
        false => writeln!(
            out,
            "`doorward alerts ack ID` marks one as seen, `doorward alerts resolve ID --why TEXT` resolves it; --explain says when each one fires"
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
        let definition = crate::desk::grants::show::prose(&kind.definition(), 88);
        for (line, text) in definition.iter().enumerate() {
            let name = if line == 0 { kind.word() } else { "" };
            writeln!(out, "{name:<10} {}", text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests;
