//! `doorward review`: the waiting calls, live on the terminal, answered one by one.
//!
//! `model.rs` decides what a key means and knows no terminal; `draw.rs` paints; this file joins them. Answers go through the
//! same functions as `doorward approve` and `doorward refuse`.

mod draw;
mod keys;
mod model;
pub(crate) mod offer;
mod terminal;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::desk::grants::answer;
use crate::desk::grants::answer::{ApprovalStep, ApprovedBy};
use crate::desk::person;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::presence;
use crate::machine::record::Ledger;
use crate::memory::grants::store::GrantStore;
use crate::memory::grants::{self, QueueRow};
use model::{Action, Model};
use terminal::{Input, Screen};

/// How often the list refreshes while no key is pressed.
// A call that waits has seconds left on its clock; a slower list would show it too late.
const PAUSE: Duration = Duration::from_millis(250);

/// How often unused grants are cleaned up.
// Sweeping writes records, so it does not belong in every refresh.
const SWEEP: Duration = Duration::from_secs(10);

/// Shows the waiting calls and takes answers until the user quits.
pub(crate) fn run() -> Result<ExitCode> {
    person::required()?;
    if !std::io::stdout().is_terminal() {
        bail!("`doorward review` needs a terminal; `doorward pending` lists the waiting calls");
    }
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    // Report problems with the store before taking over the screen.
    let _desk = GrantStore::open_at(&dirs)?;
    // Without the lock, calls are refused at once instead of waiting for this screen; you can still answer them here.
    let _presence = presence::announce(&dirs);
    let mut screen = Screen::open()?;
    let outcome = watch(&mut screen, &dirs);
    drop(screen);
    outcome.map(|()| ExitCode::SUCCESS)
}

fn watch(screen: &mut Screen, dirs: &Dirs) -> Result<()> {
    let started = Instant::now();
    let mut model = Model::default();
    let mut swept: Option<Instant> = None;
    loop {
        if swept.is_none_or(|last| last.elapsed() > SWEEP) {
            grants::sweep(dirs);
            swept = Some(Instant::now());
        }
        model.take(queue_rows(dirs)?, now_ms());
        model.note_visible(screen.draw(&model)?, clock(started));
        let deed = match screen.wait(PAUSE)? {
            Some(Input::Key(key)) => model.press(key, clock(started)),
            Some(Input::Pasted) => model.pasted(),
            Some(Input::Resized) | None => None,
        };
        match deed {
            Some(Action::Leave) => return Ok(()),
            Some(Action::Prepare { id, wish }) => {
                model.set_message("checking what that would change …".to_owned());
                let _sight = screen.draw(&model)?;
                match offer::prepare(dirs, &id, wish) {
                    Ok(offer) => model.offered(offer),
                    Err(error) => model.set_message(format!("{error:#}")),
                }
            }
            Some(deed) => model.set_message(perform(&deed, dirs)),
            None => continue,
        }
        screen.forget_typed()?;
    }
}

/// The waiting calls, and the approved ones that have not run yet.
fn queue_rows(dirs: &Dirs) -> Result<Vec<QueueRow>> {
    let store = GrantStore::open_at(dirs)?;
    Ok(grants::queue(store.open_calls().into_iter().chain(store.approved()).collect(), store.now_ms))
}

/// Carries out the user's decision; returns the message to show.
fn perform(deed: &Action, dirs: &Dirs) -> String {
    let outcome = match deed {
        Action::Approve { id, typed, why } => approve(dirs, id, typed.as_deref(), why.clone()),
        Action::Refuse { ids } => refuse(dirs, ids),
        Action::Accept(offer) => offer::accept(dirs, offer),
        Action::Prepare { .. } | Action::Leave => Ok(String::new()),
    };
    outcome.unwrap_or_else(|error| format!("not done: {error:#}"))
}

fn approve(dirs: &Dirs, id: &str, typed: Option<&str>, why: Option<String>) -> Result<String> {
    let yes = typed.map_or(ApprovedBy::Key, ApprovedBy::Typed);
    match answer::approve(&GrantStore::open_at(dirs)?, &mut Ledger::open(dirs), id, yes, why)? {
        ApprovalStep::Granted => Ok(format!("approved `{id}`: the same call can run once within the next ten minutes")),
        ApprovalStep::Committed(changes) => Ok(format!("approved `{id}`: its changes are in place ({changes})")),
        ApprovalStep::FirstOfTwo(wait_ms) => Ok(format!(
            "that was the first of two steps for `{id}`; nothing runs yet. Think it over, then type it again in {} s",
            wait_ms.div_ceil(1000)
        )),
    }
}

fn refuse(dirs: &Dirs, ids: &[String]) -> Result<String> {
    let (store, mut ledger) = (GrantStore::open_at(dirs)?, Ledger::open(dirs));
    for id in ids {
        answer::refuse(&store, &mut ledger, id, None)?;
    }
    let times = if ids.len() > 1 { format!(" and {} like it", ids.len() - 1) } else { String::new() };
    Ok(format!("refused `{}`{times}", ids.first().map_or("", String::as_str)))
}

/// Milliseconds since the start, by a monotonic clock.
fn clock(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
