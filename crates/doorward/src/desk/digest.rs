//! `doorward digest`: what a session did, in a few lines; also shown at the end of a session where the agent displays it.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use doorward_ledger::{Filter, Index, Kind};
use serde_json::json;

use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::memory::digest::{self, Digest};
use crate::memory::ledger_view::LedgerView;
use crate::memory::session::TRIAL;

/// Maximum number of files and hosts shown; JSON has all of them.
// Someone deciding about an old call needs the gist of its session; ten lines still fit above the question.
const SHOWN: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct DigestArguments {
    /// The session; default: the last one
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn run(arguments: &DigestArguments) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let index = view.index()?;
    let session = match &arguments.session {
        Some(session) => session.clone(),
        None => last_session(&index)?,
    };
    let digest = digest::of(&view, &index, &session)?;
    if digest.calls == 0 {
        bail!("no session `{session}` on record; `doorward audit list` shows the recorded ones");
    }
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", digest.to_json())?;
    } else {
        digest.print(&mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn last_session(index: &Index) -> Result<String> {
    let rows = index.list(&Filter { kind: Some(Kind::Decision), limit: Some(50), ..Filter::default() })?;
    // The trial call of `setup` is not part of anyone's work.
    let own = |session: &String| !session.starts_with(TRIAL);
    match rows.into_iter().filter_map(|row| row.session).find(own) {
        Some(session) => Ok(session),
        None => bail!("no sessions on record yet"),
    }
}

impl Digest {
    fn print(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "session {}", visible(&self.session))?;
        writeln!(out, "{}", self.line())?;
        for host in self.hosts.iter().take(SHOWN) {
            writeln!(out, "  host {}", visible(host))?;
        }
        for (file, can_be_undone) in self.files.iter().take(SHOWN) {
            let note = if *can_be_undone { "can be undone" } else { "cannot be undone" };
            writeln!(out, "  file {}  ({note})", visible(file))?;
        }
        let more = self.hosts.len().saturating_sub(SHOWN) + self.files.len().saturating_sub(SHOWN);
        if more > 0 {
            writeln!(out, "  and {more} more; --json lists them")?;
        }
        Ok(())
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "session": self.session, "calls": self.calls, "asked": self.asked, "blocked": self.blocked,
            "hosts": self.hosts,
            "files": self.files.iter().map(|(path, can)| json!({ "path": path, "undoable": can })).collect::<Vec<_>>(),
        })
    }
}
