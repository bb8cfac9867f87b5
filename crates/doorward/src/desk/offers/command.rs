//! The commands for offers: `doorward rules offered`, `accept`, `decline`, `accepted` and `withdraw`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{Offer, open};
use crate::desk::person;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;
use crate::policy::approved_config::Accepted;
use crate::policy::from_history::{self, AcceptedOffer};

/// The word to type to accept.
const WORD: &str = "accept";

/// Lists the offers.
pub(crate) fn offered(json: bool) -> Result<ExitCode> {
    let view = room()?;
    let offers = open(&view, &view.index()?)?;
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{:#}", Value::Array(offers.iter().map(Offer::to_json).collect()))?;
    } else if offers.is_empty() {
        writeln!(out, "no offers: you have not approved the same kind of call three times in seven days")?;
    }
    for offer in offers.iter().filter(|_| !json) {
        writeln!(out, "{}  {}", offer.id, visible(&offer.sentence()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Accepts an offer, after a typed confirmation.
pub(crate) fn accept(id: &str) -> Result<ExitCode> {
    person::required()?;
    let view = room()?;
    let offer = find(&view, id)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", visible(&offer.sentence()))?;
    let Some(item) = offer.item() else { bail!("this offer has nothing to accept; nothing was changed") };
    match &item.calls {
        Some(calls) => writeln!(
            out,
            "For 90 days doorward won't ask about them, unless it has a reason other than {}.",
            calls.questions.join(", ")
        )?,
        None => writeln!(out, "For 90 days the score of such calls takes into account how often you approved them.")?,
    }
    if person::types(&format!("Type `{WORD}` to accept"))?.trim() != WORD {
        bail!("nothing was changed; `doorward rules decline {id}` keeps it from being offered for 30 days");
    }
    from_history::accept(&view.dirs, item.clone(), &mut Ledger::open(&view.dirs))?;
    writeln!(out, "Done. It applies from the next call on; `doorward rules withdraw {id}` withdraws it.")?;
    Ok(ExitCode::SUCCESS)
}

/// Suppresses an offer for 30 days.
pub(crate) fn decline(id: &str) -> Result<ExitCode> {
    person::required()?;
    let view = room()?;
    let offer = find(&view, id)?;
    let Offer { id, pattern, project, .. } = offer;
    let item = AcceptedOffer { id, pattern, project: Some(project), ..AcceptedOffer::default() };
    from_history::decline(&view.dirs, &item, &mut Ledger::open(&view.dirs))?;
    writeln!(anstream::stdout(), "Declined. doorward won't offer it again for 30 days.")?;
    Ok(ExitCode::SUCCESS)
}

/// Lists what was accepted.
pub(crate) fn accepted(json: bool) -> Result<ExitCode> {
    let kept = Accepted::load(&dirs()?).map_err(anyhow::Error::msg)?;
    let now_ms = clock::now_ms();
    let items: Vec<&AcceptedOffer> = kept.history.items().iter().filter(|item| item.is_current(now_ms)).collect();
    let until = |item: &AcceptedOffer| clock::moment(item.at_ms.saturating_add(from_history::LASTS_MS));
    let mut out = anstream::stdout().lock();
    if json {
        let shown = |item: &&AcceptedOffer| {
            json!({ "id": item.id, "pattern": item.pattern, "project": item.project,
            "calls": item.calls, "acceptedOn": clock::moment(item.at_ms), "until": until(item), "record": item.record })
        };
        writeln!(out, "{:#}", Value::Array(items.iter().map(shown).collect()))?;
    } else if items.is_empty() {
        writeln!(out, "no accepted offers")?;
    }
    for item in items.iter().filter(|_| !json) {
        writeln!(out, "{}  {}, until {}", item.id, visible(&item.describe()), until(item))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Withdraws an accepted offer.
pub(crate) fn withdraw(id: &str) -> Result<ExitCode> {
    person::required()?;
    let dirs = dirs()?;
    for item in from_history::withdraw(&dirs, id, &mut Ledger::open(&dirs))? {
        writeln!(anstream::stdout(), "Withdrawn: {}", visible(&item.describe()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn dirs() -> Result<Dirs> {
    Dirs::find().map_err(anyhow::Error::msg)
}

fn room() -> Result<LedgerView> {
    let view = LedgerView::open(dirs()?)?;
    crate::desk::replay::trusted(&view.dirs)?;
    Ok(view)
}

fn find(view: &LedgerView, id: &str) -> Result<Offer> {
    match open(view, &view.index()?)?.into_iter().find(|offer| offer.id == id) {
        Some(offer) => Ok(offer),
        None => bail!("no offer has the id `{id}`; `doorward rules offered` lists them"),
    }
}
