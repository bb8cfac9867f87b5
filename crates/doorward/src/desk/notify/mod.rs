//! Notifies the user that a call is waiting or an alert fired: on the desktop, through a command, or via a webhook. Waiting
//! calls show on the desktop unless switched off; everything else as configured.
//!
//! The hook only starts `doorward notify` and moves on: the answer neither waits for the notification nor depends on it.
//! A notification names the call and the place to answer it, and nothing of what the call does.

mod pushed;
mod send;
mod turn;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use doorward_ledger::AlertKind;
use serde::Serialize;
use serde_json::json;

use crate::desk::serve;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::machine::record::Ledger;
use crate::machine::visible;
use crate::memory::alerts;
use crate::memory::grants::Pending;
use crate::memory::grants::store::GrantStore;
use crate::policy::load;
pub(crate) use pushed::undelivered;
use send::{Channel, Notification};
pub(crate) use turn::Occasion;

/// Minimum time between two notifications; each says how many calls are waiting.
// An agent that tries five variants of a blocked call in a row must not ring five times.
const APART_MS: u64 = 3000;

/// A notification about a call. It says which call and where to answer, never what the call is: it leaves this machine, or stays
/// on a locked screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Message {
    /// Distinguishes it from an alert.
    pub event: &'static str,
    pub id: String,
    /// How many calls are waiting in total.
    pub waiting: usize,
    pub cleared_by: String,
    /// What to do about it.
    pub answer: String,
    /// Its page at the desk, while one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// `doorward notify`: notifies about one call, or checks for alerts, in its own process.
pub(crate) fn run(id: Option<&str>, look: Option<Occasion>) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    match (id, look) {
        (Some(id), _) => of_call(dirs, id),
        (None, look) => pushed::run(&dirs, look.unwrap_or(Occasion::Now)),
    }
}

fn of_call(dirs: Dirs, id: &str) -> Result<ExitCode> {
    let notify = load::load(&dirs, None, "").config.notify;
    let Some((pending, waiting)) = due(&dirs, id)? else { return Ok(ExitCode::SUCCESS) };
    let desk = serve::origin(&dirs);
    let notification = Message::of(&pending, waiting, desk.as_deref()).note();
    for channel in Channel::for_calls(&notify) {
        let outcome = channel.send(&notify, &notification);
        // The desktop is optional unless configured: a machine without one is not an error.
        if channel != Channel::Desktop || notify.desktop == Some(true) {
            note(&dirs, channel, outcome)?;
        }
    }
    // A failing notifier raises an alert itself, which the others may deliver.
    if record::is_look_due() { pushed::run(&dirs, Occasion::Now) } else { Ok(ExitCode::SUCCESS) }
}

/// The call, unless it was answered meanwhile or already announced together with another.
fn due(dirs: &Dirs, id: &str) -> Result<Option<(Pending, usize)>> {
    let since = now_ms();
    let told_ms = GrantStore::open_at(dirs)?.last_notice()?.told_ms;
    let wait_ms = told_ms.saturating_add(APART_MS).saturating_sub(since).min(APART_MS);
    std::thread::sleep(Duration::from_millis(wait_ms));
    let store = GrantStore::open_at(dirs)?;
    let open = store.open_calls();
    let Some(pending) = open.iter().find(|pending| pending.id == id) else { return Ok(None) };
    let is_first = store.update_notice(|told| {
        let is_first = told.told_ms < since;
        if is_first {
            told.told_ms = store.now_ms;
        }
        is_first
    })?;
    Ok(is_first.then(|| (pending.clone(), open.len())))
}

/// Records that a notifier fails: once, until it works again.
fn note(dirs: &Dirs, channel: Channel, outcome: Result<(), String>) -> Result<()> {
    let name = channel.name();
    let is_failing = outcome.is_err();
    let is_news = GrantStore::open_at(dirs)?.update_notice(|told| {
        let was_failing = told.failing.iter().any(|failing| failing == name);
        told.failing.retain(|failing| failing != name);
        if is_failing {
            told.failing.push(name.to_owned());
        }
        is_failing && !was_failing
    })?;
    if let Err(problem) = outcome
        && is_news
    {
        let text = format!("{name}: {}", visible(&problem));
        alerts::raise(vec![alerts::new_alert(AlertKind::Notifier, name, &text)], &mut Ledger::open(dirs));
        // Visible only when the command is run by hand.
        let _ = writeln!(anstream::stderr(), "doorward: {text}");
    }
    Ok(())
}

impl Message {
    fn of(pending: &Pending, waiting: usize, desk: Option<&str>) -> Message {
        Message {
            event: "call",
            id: pending.id.clone(),
            waiting,
            cleared_by: pending.needs().to_string(),
            answer: format!("doorward approve {0} · doorward refuse {0} · doorward review", pending.id),
            link: desk.map(|origin| format!("{origin}/queue/{}", pending.id)),
        }
    }

    /// One line for a title, the rest for a text.
    fn note(&self) -> Notification {
        let others = match self.waiting {
            0 | 1 => String::new(),
            all => format!(" ({all} wait)"),
        };
        let place = self.link.as_deref().unwrap_or("doorward review");
        Notification {
            title: format!("An agent is waiting for you{others}"),
            text: format!("call {}\n{place}", self.id),
            json: json!(self).to_string(),
        }
    }
}
