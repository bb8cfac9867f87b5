//! `doorward digest`: what a session did, in a few lines; also told at the end of a session where the agent shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use doorward_engine::{Facts, Operation, Target};
use doorward_ledger::{DecisionBody, Filter, Index, Kind, Row};
use doorward_vocabulary::SessionId;
use serde_json::json;

use crate::audit::Room;
use crate::hook::entry;
use crate::places::Places;
use crate::screen::{counted, visible};
use crate::snapshots;

/// Files and hosts that are shown; JSON has all.
const SHOWN: usize = 10;

#[derive(Debug, Args)]
pub struct DigestArguments {
    /// The session; without it, the last one
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What one session did.
#[derive(Debug, Default, PartialEq)]
pub struct Digest {
    pub session: SessionId,
    pub calls: u64,
    pub asked: u64,
    pub blocked: u64,
    /// Hosts that calls which ran were to reach.
    pub hosts: BTreeSet<String>,
    /// Files that such calls were to change, and whether `doorward undo` can bring each back.
    pub files: BTreeMap<String, bool>,
}

pub fn run(arguments: &DigestArguments) -> Result<ExitCode> {
    let room = Room::open(Places::find().map_err(anyhow::Error::msg)?)?;
    let index = room.index()?;
    let session = match &arguments.session {
        Some(session) => session.clone(),
        None => last_session(&index)?,
    };
    let digest = of(&room, &index, &session)?;
    if digest.calls == 0 {
        bail!("no session `{session}` is on record; `doorward audit list` shows which are");
    }
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", digest.to_json())?;
    } else {
        digest.print(&mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a session did, as far as the record knows.
pub fn of(room: &Room, index: &Index, session: &str) -> Result<Digest> {
    let filter = Filter { session: Some(session.to_owned()), kind: Some(Kind::Decision), ..Filter::default() };
    let ran: BTreeSet<String> = outcomes(index)?;
    let mut digest = Digest { session: session.into(), ..Digest::default() };
    for row in index.list(&filter)? {
        digest.calls += 1;
        let verdict = row.verdict.as_deref().unwrap_or_default();
        digest.asked += u64::from(verdict == "confirm");
        digest.blocked += u64::from(verdict == "block");
        if verdict == "approve" || row.id.as_ref().is_some_and(|id| ran.contains(id)) {
            digest.take(facts(room, &row));
        }
    }
    digest.look_at_copies(&room.places);
    Ok(digest)
}

/// Calls that were reported to have run.
fn outcomes(index: &Index) -> Result<BTreeSet<String>> {
    let rows = index.list(&Filter { kind: Some(Kind::Outcome), ..Filter::default() })?;
    Ok(rows.into_iter().filter_map(|row| row.decision).collect())
}

fn last_session(index: &Index) -> Result<String> {
    let rows = index.list(&Filter { kind: Some(Kind::Decision), limit: Some(50), ..Filter::default() })?;
    match rows.into_iter().find_map(|row| row.session) {
        Some(session) => Ok(session),
        None => bail!("no session is on record"),
    }
}

fn facts(room: &Room, row: &Row) -> Option<Facts> {
    let record = room.log.record(row.sequence).ok().flatten()?;
    let body: DecisionBody = serde_json::from_slice(&record.body?).ok()?;
    entry::facts(&body)
}

impl Digest {
    fn take(&mut self, facts: Option<Facts>) {
        for effect in facts.into_iter().flat_map(|facts| facts.effects) {
            let changes = matches!(effect.operation, Operation::Write | Operation::Delete | Operation::Mutate);
            match effect.target {
                Target::Host(host) => {
                    self.hosts.insert(host);
                }
                Target::Path(path) if changes => {
                    self.files.insert(path, false);
                }
                Target::Path(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => {}
            }
        }
    }

    /// Only what was copied can be undone here; git may have more, but that is not ours to promise.
    fn look_at_copies(&mut self, places: &Places) {
        if self.files.is_empty() {
            return;
        }
        let copied = snapshots::undoable(places, &self.session);
        for (file, can_be_undone) in &mut self.files {
            *can_be_undone = copied.iter().any(|copy| copy.starts_with(file));
        }
    }

    /// The whole in one line.
    pub fn line(&self) -> String {
        let undone = self.files.values().filter(|can| **can).count();
        format!(
            "doorward: {}, {} asked about, {} blocked; {} changed, `doorward undo` can bring back {undone}; {}",
            counted(self.calls, "call"),
            self.asked,
            self.blocked,
            counted(self.files.len() as u64, "file"),
            counted(self.hosts.len() as u64, "host")
        )
    }

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
