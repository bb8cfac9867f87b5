//! `doorward audit`: searches, verifies and maintains the record.

mod arguments;
mod keep;
pub(crate) mod list;
mod room;
mod show;
mod stats;
mod verify;

pub(crate) use crate::memory::ledger_view::Room;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

pub(crate) use arguments::AuditArguments;
use arguments::AuditCommand;
pub(crate) use verify::verified_watched;

use crate::machine::paths::Dirs;

/// Runs the command.
pub(crate) fn run(arguments: &AuditArguments) -> Result<ExitCode> {
    let room = Room::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    match &arguments.command {
        AuditCommand::List(arguments) => list::list(&room, arguments)?,
        AuditCommand::Show(arguments) => show::show(&room, arguments)?,
        AuditCommand::Tail(arguments) => list::tail(&room, arguments)?,
        AuditCommand::Verify(arguments) => return verify::verify(&room, arguments),
        AuditCommand::Export(arguments) => keep::export(&room, arguments)?,
        AuditCommand::Retain(arguments) => keep::retain(room, arguments)?,
        AuditCommand::Stats(arguments) => stats::stats(&room, arguments)?,
        AuditCommand::Reindex(arguments) => keep::reindex(&room, arguments)?,
        AuditCommand::Checkpoint(arguments) => keep::checkpoint(room, arguments)?,
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
