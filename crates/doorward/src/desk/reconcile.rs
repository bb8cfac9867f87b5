//! `doorward reconcile`: compares transcripts with the record. A call that ran unrecorded proves that the guard was bypassed.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use doorward_engine::Mode;
use doorward_ledger::{Alert, AlertKind, Filter, Index, Kind};
use doorward_vocabulary::SessionId;
use serde_json::{Value, json};

use crate::desk::outcomes;
use crate::desk::transcripts::{self, PastCall};
use crate::machine::agent::Agent;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use crate::memory::alerts;
use crate::memory::call_ids::FINGERPRINT;
use crate::memory::ledger_view::LedgerView;
use crate::policy::load;

#[derive(Debug, Args)]
pub(crate) struct ReconcileArguments {
    /// From this time on: 2026-11-15, "2026-11-15 09:30" (UTC), or an age such as 12h or 30d
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How long before it shows in a transcript a call may have been decided.
// A person may take a day to answer; what is older than the period is not looked for.
const EARLIER_MS: u64 = 24 * 3600 * 1000;

/// A call that ran without going through doorward.
#[derive(Debug)]
pub(crate) struct Unguarded {
    pub call: PastCall,
    pub file: PathBuf,
}

pub(crate) fn run(arguments: &ReconcileArguments) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let since = clock::parse(&arguments.since, clock::now_ms()).map_err(anyhow::Error::msg)?;
    let found = find_unguarded(&view, since)?;
    let (reverted, by_hand) = outcomes::record_new(&view, since)?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", found.iter().map(Unguarded::to_json).collect::<Value>())?;
    } else {
        if reverted + by_hand > 0 {
            writeln!(out, "newly recorded: {reverted} calls were undone, {by_hand} blocked ones were run by hand")?;
        }
        for one in &found {
            writeln!(out, "{}", visible(&one.sentence()))?;
        }
        match found.len() {
            0 => writeln!(out, "every call that ran is on record")?,
            count => writeln!(out, "{count} calls ran without a record; run `doorward doctor` to find out why")?,
        }
    }
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The calls since then that ran without a record, each with an alert on it.
pub(crate) fn find_unguarded(view: &LedgerView, since_ms: u64) -> Result<Vec<Unguarded>> {
    let index = view.index()?;
    let found = unguarded(&view.dirs, &index, since_ms)?;
    raise(&found, &index, &mut Ledger::open(&view.dirs))?;
    Ok(found)
}

/// The calls since then that ran without a record. Nothing is expected of an agent before its first record.
pub(crate) fn unguarded(dirs: &Dirs, index: &Index, since_ms: u64) -> Result<Vec<Unguarded>> {
    let known = RecordedCalls::since(index, since_ms)?;
    let mut found = Vec::new();
    let mut counted: HashMap<String, u64> = HashMap::new();
    for source in transcripts::sources(dirs, since_ms) {
        let Some(first) = known.first.get(source.agent.name()) else { continue };
        if load::load(dirs, None, source.agent.name()).mode(source.agent.name()) == Mode::Off {
            continue;
        }
        for call in transcripts::read(&source, since_ms.max(*first)).calls {
            let is_expected = call.ran && !known.switched_off.contains(&call.session);
            if is_expected && !known.has(&call, &mut counted) {
                found.push(Unguarded { call, file: source.path.clone() });
            }
        }
    }
    Ok(found)
}

/// What the record knows of calls.
#[derive(Default)]
struct RecordedCalls {
    /// When an agent was first recorded.
    first: HashMap<String, u64>,
    ids: HashSet<String>,
    /// How many identical calls are on record, for agents that don't give calls an id.
    fingerprints: HashMap<String, u64>,
    /// Sessions in which the user switched doorward off.
    switched_off: HashSet<SessionId>,
}

impl RecordedCalls {
    /// What was recorded from a moment on.
    fn since(index: &Index, since_ms: u64) -> Result<RecordedCalls> {
        let mut known =
            RecordedCalls { first: index.first_by_agent()?.into_iter().collect(), ..RecordedCalls::default() };
        let since_ms = Some(since_ms.saturating_sub(EARLIER_MS));
        index.each(&Filter { kind: Some(Kind::Decision), since_ms, ..Filter::default() }, |row| {
            let id = row.id.unwrap_or_default();
            if let Some(fingerprint) = id.get(..FINGERPRINT) {
                *known.fingerprints.entry(fingerprint.to_owned()).or_default() += 1;
            }
            known.ids.insert(id);
        })?;
        for row in index.list(&Filter { kind: Some(Kind::Mode), ..Filter::default() })? {
            known.switched_off.extend(row.session.map(SessionId::from));
        }
        Ok(known)
    }

    fn has(&self, call: &PastCall, counted: &mut HashMap<String, u64>) -> bool {
        // Calls that never reach a hook can't be on record.
        let Some(proposed) = call.proposed() else { return true };
        if call.agent.names_calls() {
            return call.id.as_ref().is_some_and(|id| self.ids.contains(id));
        }
        let fingerprint = proposed.id.unwrap_or_default().get(..FINGERPRINT).unwrap_or_default().to_owned();
        let recorded = self.fingerprints.get(&fingerprint).copied().unwrap_or_default();
        let seen = counted.entry(fingerprint).or_default();
        *seen += 1;
        *seen <= recorded
    }
}

/// Raises one alert for each.
fn raise(found: &[Unguarded], index: &Index, ledger: &mut dyn Recorder) -> Result<()> {
    let rows = index.list(&Filter { kind: Some(Kind::Alert), ..Filter::default() })?;
    let told: HashSet<String> = rows.into_iter().filter_map(|row| row.id).collect();
    for one in found {
        let alert = Alert::new(AlertKind::Unguarded, &one.name(), one.sentence(), 0);
        if !told.contains(&alert.id) {
            let body = alerts::new_alert(AlertKind::Unguarded, &one.name(), &one.sentence());
            let _receipt = ledger.append(LogEntry::new(&body)?)?;
        }
    }
    Ok(())
}

impl Unguarded {
    /// What the alert is about; without a colon, because the record cuts the text there.
    fn name(&self) -> String {
        let name = self.call.id.clone().unwrap_or_else(|| format!("{} {}", self.call.session, self.call.line));
        format!("{} {}", self.call.agent.name(), name.replace(':', " "))
    }

    pub(crate) fn sentence(&self) -> String {
        let PastCall { agent, tool, line, .. } = &self.call;
        let where_ = if *agent == Agent::Opencode { "row" } else { "line" };
        let place = format!("`{}`, {where_} {line}", self.file.display());
        format!("{}: `{tool}` ran without a record: {place}", self.name())
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "agent": self.call.agent.name(), "session": self.call.session, "id": self.call.id, "tool": self.call.tool,
            "time": clock::moment(self.call.time_ms), "file": self.file, "line": self.call.line,
        })
    }
}
