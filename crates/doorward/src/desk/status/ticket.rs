//! Review tickets: what people keep overriding needs a different rule, or a different habit. doorward learns nothing on its own.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use doorward_ledger::{Filter, Hash, Index, Kind, Override, PolicyBody};
use doorward_vocabulary::PatternId;
use serde::Serialize;
use serde_json::{Value, json};

use super::cover::Cover;
use crate::desk::offers::{self, Offer};
use crate::desk::person;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;

/// This many overrides of one pattern …
// Twice is chance. With the third yes in a week the question costs more than it protects (decision 0025).
const OVERRIDES: usize = 3;

/// … within this time open a ticket.
const WINDOW_MS: u64 = 7 * 24 * 60 * 60 * 1000;

#[derive(Debug, Args)]
pub(crate) struct TicketsArguments {
    #[command(subcommand)]
    pub what: Option<TicketsCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TicketsCommand {
    /// List open tickets (the default)
    List,
    /// Show the overrides behind a ticket, the narrowest rule that would cover them, and what it would have changed
    Show {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
    /// Close a ticket after review (not for agents); three more overrides open it again
    Close {
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
        /// What the review found, kept in the record
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

/// A pattern that was overridden too often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ticket {
    pub id: String,
    pub pattern: PatternId,
    pub overrides: usize,
    pub last_ms: u64,
}

pub(crate) fn tickets(arguments: &TicketsArguments) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let index = view.index()?;
    match &arguments.what {
        None | Some(TicketsCommand::List) => list(&open(&index)?, arguments.json)?,
        Some(TicketsCommand::Show { id }) => show(&view, &index, &find(&index, id)?, arguments.json)?,
        Some(TicketsCommand::Close { id, why }) => {
            person::required()?;
            let ticket = find(&index, id)?;
            if !person::agrees(&format!("Close the ticket for `{}`?", ticket.pattern))? {
                bail!("not closed");
            }
            close(&mut Ledger::open(&view.dirs), &ticket, why)?;
            writeln!(anstream::stdout(), "closed")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// All patterns with enough overrides in the last seven days and since their last review.
pub(crate) fn open(index: &Index) -> Result<Vec<Ticket>> {
    let since_ms = clock::now_ms().saturating_sub(WINDOW_MS);
    let closed = closings(index)?;
    let mut by_pattern: BTreeMap<PatternId, Vec<Override>> = BTreeMap::new();
    for one in index.overrides(since_ms)? {
        let reviewed_ms = closed.get(&id_of(&one.pattern)).copied();
        if reviewed_ms.is_none_or(|reviewed| one.time_ms > reviewed) {
            by_pattern.entry(one.pattern.clone()).or_default().push(one);
        }
    }
    let enough = by_pattern.into_iter().filter(|(_, overrides)| overrides.len() >= OVERRIDES);
    let ticket = |(pattern, overrides): (PatternId, Vec<Override>)| Ticket {
        id: id_of(&pattern),
        overrides: overrides.len(),
        last_ms: overrides.iter().map(|one| one.time_ms).max().unwrap_or_default(),
        pattern,
    };
    Ok(enough.map(ticket).collect())
}

/// The same, but only once the record is as old as the time a ticket looks back on: in the first days every question is
/// new, and nothing is overdue.
pub(crate) fn overdue(index: &Index) -> Result<Vec<Ticket>> {
    let first = Filter { kind: Some(Kind::Decision), oldest_first: true, limit: Some(1), ..Filter::default() };
    let began_ms = index.list(&first)?.first().map(|row| row.time_ms);
    let is_young = began_ms.is_none_or(|began| clock::now_ms().saturating_sub(began) < WINDOW_MS);
    if is_young { Ok(Vec::new()) } else { open(index) }
}

/// When reviews were closed, by ticket; the last one counts.
fn closings(index: &Index) -> Result<BTreeMap<String, u64>> {
    let filter = Filter { kind: Some(Kind::Policy), oldest_first: true, ..Filter::default() };
    let closing = |text: &str| Some(text.strip_prefix("review ticket ")?.strip_suffix(" closed")?.to_owned());
    let rows = index.list(&filter)?;
    Ok(rows.iter().filter_map(|row| Some((closing(row.text.as_deref()?)?, row.time_ms))).collect())
}

fn close(ledger: &mut dyn Recorder, ticket: &Ticket, why: &str) -> Result<()> {
    let body = PolicyBody {
        what: format!("review ticket {} closed", ticket.id),
        before: Some(ticket.pattern.clone().into()),
        after: Some(why.to_owned()),
        user: crate::machine::user(),
        project: None,
    };
    ledger.append(LogEntry::new(&body)?).map(|_receipt| ())
}

fn find(index: &Index, id: &str) -> Result<Ticket> {
    match open(index)?.into_iter().find(|ticket| ticket.id == id) {
        Some(ticket) => Ok(ticket),
        None => bail!("no open ticket has the id `{id}`; `doorward tickets` lists the open ones"),
    }
}

fn id_of(pattern: &str) -> String {
    Hash::of(pattern.as_bytes()).to_string().chars().take(8).collect()
}

fn list(tickets: &[Ticket], json: bool) -> Result<()> {
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(tickets)?)?;
        return Ok(());
    }
    for ticket in tickets {
        writeln!(
            out,
            "{}  {:>3} overrides, last {}  {}",
            ticket.id,
            ticket.overrides,
            clock::moment(ticket.last_ms),
            visible(&ticket.pattern)
        )?;
    }
    if tickets.is_empty() {
        writeln!(out, "no pattern was overridden three times in the last seven days")?;
    }
    Ok(())
}

fn show(view: &LedgerView, index: &Index, ticket: &Ticket, json: bool) -> Result<()> {
    let since_ms = clock::now_ms().saturating_sub(WINDOW_MS);
    let mut overrides = index.overrides(since_ms)?;
    overrides.retain(|one| one.pattern == ticket.pattern);
    let cover = Cover::best(view, &overrides)?;
    let mut offers = offers::open(view, index)?;
    offers.retain(|offer| offer.pattern == ticket.pattern);
    let mut out = anstream::stdout().lock();
    if json {
        let rule = cover.as_ref().map(Cover::to_json);
        let offers: Vec<Value> = offers.iter().map(Offer::to_json).collect();
        let shown = json!({ "pattern": ticket.pattern, "overrides": overrides, "rule": rule, "offers": offers });
        writeln!(out, "{shown:#}")?;
        return Ok(());
    }
    writeln!(out, "{}", visible(&ticket.pattern))?;
    for one in &overrides {
        let why = one.why.as_deref().map(|why| format!("  because: {}", visible(why))).unwrap_or_default();
        writeln!(out, "  {}  {}{why}", clock::moment(one.time_ms), visible(&one.call).replace('\n', " ⏎ "))?;
    }
    for offer in &offers {
        writeln!(out, "offer {}: {}", offer.id, visible(&offer.sentence()))?;
    }
    match cover {
        Some(cover) => cover.sentences().iter().try_for_each(|said| writeln!(out, "{}", visible(said)))?,
        None if offers.is_empty() => writeln!(
            out,
            "no rule can cover these calls: they have too little in common, or the question always needs your own answer"
        )?,
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_ledger::{AnswerBody, By, DecisionBody, Log, Reply};
    use doorward_vocabulary::Verdict;

    #[test]
    fn three_overrides_in_seven_days_want_a_review_and_three_more_another() {
        let room = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(room.path().to_str().unwrap());
        crate::machine::record::begin(&dirs).unwrap();
        let mut log = Log::open(&crate::machine::record::directory(&dirs)).unwrap();
        let mut number = 0;
        let mut overridden = |pattern: &str, ago_ms: u64| {
            number += 1;
            let (id, now) = (format!("d{number}"), clock::now_ms() - ago_ms);
            let body = DecisionBody {
                id: id.clone().into(),
                pattern: Some(pattern.into()),
                verdict: Verdict::Confirm,
                ..DecisionBody::default()
            };
            let _receipt = log.append(&body, now).unwrap();
            let yes = AnswerBody { decision: id.into(), reply: Reply::Approved, by: By::Person, why: None };
            let _receipt = log.append(&yes, now).unwrap();
        };
        let found = || {
            let log = Log::open(&crate::machine::record::directory(&dirs)).unwrap();
            let (index, _) = Index::rebuild(&room.path().join("index"), &log).unwrap();
            open(&index).unwrap()
        };
        overridden("push", 8 * 24 * 60 * 60 * 1000);
        overridden("push", 2000);
        overridden("push", 1000);
        overridden("fetch", 1000);
        assert_eq!(found(), [], "two in seven days are not three");
        overridden("push", 500);
        let ticket = found().pop().unwrap();
        assert_eq!((ticket.pattern.as_str(), ticket.overrides), ("push", 3));
        close(&mut Ledger::open(&dirs), &ticket, "a rule was added").unwrap();
        assert_eq!(found(), []);
        std::thread::sleep(std::time::Duration::from_millis(2));
        (0..3).for_each(|_| overridden("push", 0));
        assert_eq!(found().len(), 1);
    }
}
