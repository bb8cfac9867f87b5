//! How decisions turned out: reported with `doorward flag`, or inferred from what happened later.
//!
//! *Regret*: it ran and was undone or flagged. *Friction*: the question or block was unnecessary. *Fine*: the decision was right.

mod by_hand;
mod reverts;
#[cfg(test)]
mod tests;
mod undone;
#[cfg(test)]
mod undone_tests;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use doorward_ledger::{Became, DecisionBody, Filter, Kind, OutcomeBody, Row};
use doorward_vocabulary::Verdict;

use crate::desk::person;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;
use crate::policy::approved_config::Accepted;
use crate::policy::from_history;

/// Which decision, and how it turned out.
#[derive(Debug, Args)]
pub(crate) struct FlagArguments {
    /// The decision, by name or record number
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// It should not have run; the default for approved calls
    #[arg(long, group = "how")]
    pub regret: bool,
    /// It should not have been asked about or blocked; the default for other calls
    #[arg(long, group = "how")]
    pub friction: bool,
    /// The decision was right; replaces an earlier flag
    #[arg(long, group = "how")]
    pub fine: bool,
    /// Your comment, kept in the record
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Records the user's opinion of a decision. Agents can't: they could train their own guard.
pub(crate) fn flag(arguments: &FlagArguments) -> Result<ExitCode> {
    person::required()?;
    let room = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let (row, has_run) = find(&room, &arguments.id)?;
    let sequence = row.sequence;
    let record = room.log.record(sequence)?.with_context(|| format!("the log has no record {sequence}"))?;
    let body = record.body.with_context(|| format!("the body of record {sequence} was dropped by retention"))?;
    let decision: DecisionBody = serde_json::from_slice(&body).context("the record is not a decision")?;
    let became = meant(arguments, decision.verdict, has_run)?;
    let outcome = OutcomeBody::new(decision.id, became, arguments.why.clone());
    let _receipt = Ledger::open(&room.dirs).append(LogEntry::new(&outcome)?)?;
    if became == Became::Flagged {
        let (pattern, project) = (decision.pattern.as_deref().unwrap_or_default(), decision.project.as_deref());
        from_history::regretted(&room.dirs, pattern, project, &mut Ledger::open(&room.dirs))?;
    }
    let _taken_back = crate::hook::rollback::watch(&room.dirs)?;
    let word = match became {
        Became::Flagged => "regretted",
        Became::Friction => "a nuisance",
        Became::Fine | Became::Ran | Became::Failed | Became::Reverted => "fine",
    };
    writeln!(anstream::stdout(), "Recorded as {word}: {}", visible(&decision.call))?;
    Ok(ExitCode::SUCCESS)
}

/// Records what the record and the transcripts show by now: calls that were undone, and blocked ones that the user then ran
/// by hand. Returns how many of each.
pub(crate) fn record_new(room: &LedgerView, since_ms: u64) -> Result<(usize, usize)> {
    let mut found = reverts::find(room, since_ms)?;
    let reverted = found.len();
    found.extend(by_hand::find(room, since_ms)?);
    let mut ledger = Ledger::open(&room.dirs);
    for outcome in &found {
        let _receipt = ledger.append(LogEntry::new(outcome)?)?;
        if outcome.became == Became::Reverted {
            void_after(room, &outcome.decision, &mut ledger)?;
        }
    }
    let _taken_back = crate::hook::rollback::watch(&room.dirs)?;
    Ok((reverted, found.len() - reverted))
}

/// Voids accepted offers for calls like one that was undone.
pub(crate) fn void_after(room: &LedgerView, decision: &str, ledger: &mut dyn Recorder) -> Result<()> {
    let history = Accepted::load(&room.dirs).map_err(anyhow::Error::msg)?.history;
    // Finding the call means scanning the whole index, and most people have accepted nothing.
    if history.items().is_empty() {
        return Ok(());
    }
    let (row, _) = find(room, decision)?;
    let pattern = row.pattern.as_deref().unwrap_or_default();
    from_history::regretted(&room.dirs, pattern, row.project.as_deref(), ledger)
}

/// The newest decision with this name or number, and whether it ran.
fn find(room: &LedgerView, id: &str) -> Result<(Row, bool)> {
    let index = room.index()?;
    let about = |name: &str| Filter { about: Some(name.to_owned()), oldest_first: true, ..Filter::default() };
    let mut rows = index.list(&about(id))?;
    if let (true, Ok(sequence)) = (rows.is_empty(), id.parse::<u64>()) {
        let just = Filter { after: sequence.checked_sub(1), before: sequence.checked_add(1), ..Filter::default() };
        let name = index.list(&just)?.pop().and_then(|row| row.id);
        rows = name.map(|name| index.list(&about(&name))).transpose()?.unwrap_or_default();
    }
    let decision = rows.iter().rfind(|row| row.kind == Kind::Decision.word());
    let Some(decision) = decision.cloned() else {
        bail!("no decision `{id}`; `doorward audit list` shows the numbers, with `--json` the names too");
    };
    let has_run = rows.iter().any(|row| matches!(row.step.as_deref(), Some("ran" | "failed")));
    Ok((decision, has_run))
}

/// What the user means, if it applies to such a decision.
fn meant(arguments: &FlagArguments, verdict: Verdict, has_run: bool) -> Result<Became> {
    let is_approved = verdict == Verdict::AutoApprove;
    match (arguments.regret, arguments.friction, arguments.fine) {
        (_, _, true) => Ok(Became::Fine),
        (true, _, _) if !is_approved && !has_run => {
            bail!("this call was not approved and did not run, so there is nothing to regret")
        }
        (_, true, _) if is_approved => {
            bail!("this call was approved without a question, so it can't have been a nuisance")
        }
        (true, _, _) => Ok(Became::Flagged),
        (_, true, _) => Ok(Became::Friction),
        (false, false, false) if is_approved => Ok(Became::Flagged),
        (false, false, false) => Ok(Became::Friction),
    }
}
