//! `doorward audit`: searches, verifies and maintains the record.

mod arguments;
mod filter;
mod keep;
pub(crate) mod list;
mod show;
mod stats;
mod verify;

pub(crate) use crate::memory::ledger_view::LedgerView;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

pub(crate) use arguments::AuditArguments;
use arguments::AuditCommand;
pub(crate) use verify::verified_watched;

use crate::machine::paths::Dirs;

/// Runs the command.
pub(crate) fn run(arguments: &AuditArguments) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    match &arguments.command {
        AuditCommand::List(arguments) => list::list(&view, arguments)?,
        AuditCommand::Show(arguments) => show::show(&view, arguments)?,
        AuditCommand::Tail(arguments) => list::tail(&view, arguments)?,
        AuditCommand::Verify(arguments) => return verify::verify(&view, arguments),
        AuditCommand::Export(arguments) => keep::export(&view, arguments)?,
        AuditCommand::Retain(arguments) => keep::retain(view, arguments)?,
        AuditCommand::Stats(arguments) => stats::stats(&view, arguments)?,
        AuditCommand::Reindex(arguments) => keep::reindex(&view, arguments)?,
        AuditCommand::Checkpoint(arguments) => keep::checkpoint(view, arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl AuditArguments {
    /// The exit code of a command that failed; for `verify`, 1 already means that the record is broken.
    pub(crate) fn failure(&self) -> u8 {
        match self.command {
            AuditCommand::Verify(_) => 2,
            AuditCommand::List(_)
            | AuditCommand::Show(_)
            | AuditCommand::Tail(_)
            | AuditCommand::Export(_)
            | AuditCommand::Retain(_)
            | AuditCommand::Stats(_)
            | AuditCommand::Reindex(_)
            | AuditCommand::Checkpoint(_) => 1,
        }
    }
}

/// Prints a note on standard error.
fn note(text: &str) {
    // If standard error is gone, there is nowhere left to report to.
    let _ = writeln!(anstream::stderr(), "note: {}", crate::machine::visible(text));
}
