//! `doorward reset`: resets the denial counters of sessions, and nothing else.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use doorward_ledger::{Filter, Kind, SessionBody, SessionStep};

use crate::desk::person;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::ledger_view::LedgerView;
use crate::memory::session::Session;

/// Sessions idle for longer start over anyway.
// Resetting a session that no one will continue would only add entries to the record.
const RECENT_MS: u64 = 7 * 24 * 60 * 60 * 1000;

#[derive(Debug, Args)]
pub(crate) struct ResetArguments {
    /// Only this session
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
}

pub(crate) fn reset(arguments: &ResetArguments) -> Result<ExitCode> {
    person::required()?;
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let filter = Filter {
        kind: Some(Kind::Decision),
        session: arguments.session.clone(),
        since_ms: Some(clock::now_ms().saturating_sub(RECENT_MS)),
        ..Filter::default()
    };
    let rows = view.index()?.list(&filter)?;
    let sessions: BTreeSet<String> = rows.into_iter().filter_map(|row| row.session).collect();
    let counted: Vec<String> =
        sessions.into_iter().filter(|session| Session::open(&view.dirs, session).has_denials()).collect();
    if counted.is_empty() {
        bail!("no session has denials to reset");
    }
    if !person::agrees(&format!("Reset the denial counters of {} sessions?", counted.len()))? {
        bail!("nothing was changed");
    }
    let mut ledger = Ledger::open(&view.dirs);
    for session in &counted {
        clear(&view.dirs, &mut ledger, session)?;
    }
    writeln!(anstream::stdout(), "Reset the denial counters of {} sessions.", counted.len())?;
    Ok(ExitCode::SUCCESS)
}

/// INVARIANT: the record is durable before the counters are reset.
fn clear(dirs: &Dirs, ledger: &mut dyn Recorder, session: &str) -> Result<()> {
    let body = SessionBody { session: session.into(), agent: None, step: SessionStep::Reset };
    let _receipt = ledger.append(LogEntry::new(&body)?)?;
    Session::open(dirs, session).reset()
}
