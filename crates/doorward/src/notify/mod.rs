//! Tells a person that a call waits: on the desktop, through a command, at a web address. The desktop unless the user switches it off, the others if they are set.
//!
//! The hook only starts `doorward notify` and goes on: whatever becomes of the notification, the answer does not wait for
//! it and does not change. What is told is what `doorward pending` shows, with secrets replaced.

mod send;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::Result;
use doorward_ledger::{AlertKind, State};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::alerts;
use crate::config::Notify;
use crate::grants::{Desk, Pending};
use crate::loading;
use crate::places::Places;
use crate::record::Ledger;
use crate::screen::{time::now_ms, visible};

/// Two notifications are at least so far apart; one tells how many calls wait.
const APART_MS: u64 = 3000;

/// As much of a call as a notification shows.
const SHOWN: usize = 200;

/// When somebody was last told, and who could not be reached since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    told_ms: u64,
    failing: Vec<String>,
}

impl State for Told {
    const NAME: &'static str = "told";
}

/// What a notification says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub id: String,
    /// How many calls wait in all.
    pub waiting: usize,
    pub agent: String,
    pub project: Option<String>,
    pub tool: String,
    /// The start of the call, secrets replaced.
    pub call: String,
    pub verdict: String,
    pub cleared_by: String,
    pub reason: String,
    /// What to do about it.
    pub answer: String,
}

/// Starts the program that tells, and leaves it alone. Nothing is said if it cannot be started: the call waits all the same.
pub fn start(notify: &Notify, id: &str) {
    if !notify.is_wanted() && !send::has_desktop(notify) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(["notify", id]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // An agent that ends the group of its hook does not end this.
    let _ = command.process_group(0).current_dir("/").spawn();
}

/// `doorward notify ID`: tells about one call, in a process of its own.
pub fn run(id: &str) -> Result<ExitCode> {
    let places = Places::find().map_err(anyhow::Error::msg)?;
    let notify = loading::load(&places, None, "").config.notify;
    let Some((pending, waiting)) = due(&places, id)? else { return Ok(ExitCode::SUCCESS) };
    let message = Message::of(&pending, waiting);
    for (name, outcome) in send::all(&notify, &message) {
        // Nobody asked for the desktop unless it is set: a machine without one is no fault.
        if name != send::DESKTOP || notify.desktop == Some(true) {
            note(&places, name, outcome)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The call, unless it was answered meanwhile or somebody was told of it together with another.
fn due(places: &Places, id: &str) -> Result<Option<(Pending, usize)>> {
    let since = now_ms();
    let told_ms = Desk::of(places)?.told()?.told_ms;
    let wait_ms = told_ms.saturating_add(APART_MS).saturating_sub(since).min(APART_MS);
    std::thread::sleep(Duration::from_millis(wait_ms));
    let desk = Desk::of(places)?;
    let open = desk.open();
    let Some(pending) = open.iter().find(|pending| pending.id == id) else { return Ok(None) };
    let is_first = desk.tell(|told| {
        let is_first = told.told_ms < since;
        if is_first {
            told.told_ms = desk.now_ms;
        }
        is_first
    })?;
    Ok(is_first.then(|| (pending.clone(), open.len())))
}

/// Keeps in the record that a notifier fails: once, until it works again.
fn note(places: &Places, name: &'static str, outcome: Result<(), String>) -> Result<()> {
    let is_failing = outcome.is_err();
    let is_news = Desk::of(places)?.tell(|told| {
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
        alerts::raise(vec![alerts::raised(AlertKind::Notifier, name, &text)], &mut Ledger::of(places));
        // Seen only by somebody who runs the command by hand.
        let _ = writeln!(anstream::stderr(), "doorward: {text}");
    }
    Ok(())
}

impl Message {
    fn of(pending: &Pending, waiting: usize) -> Message {
        let start = |text: &str| visible(text).replace('\n', " ⏎ ").chars().take(SHOWN).collect::<String>();
        Message {
            id: pending.id.clone(),
            waiting,
            agent: start(&pending.agent),
            project: pending.project.as_deref().map(start),
            tool: start(&pending.tool),
            call: start(&pending.call),
            verdict: pending.verdict.map_or("confirm", doorward_engine::Verdict::as_str).to_owned(),
            cleared_by: pending.needs().to_string(),
            reason: pending.reasons.first().map(|reason| start(reason)).unwrap_or_default(),
            answer: format!("doorward approve {0} · doorward refuse {0} · doorward review", pending.id),
        }
    }

    /// One line for a title, one for a text.
    fn words(&self) -> (String, String) {
        let others = match self.waiting {
            0 | 1 => String::new(),
            all => format!(" ({all} wait)"),
        };
        let text = format!("{}: {}\n{}\ndoorward review", self.tool, self.call, self.reason);
        (format!("{} waits for you{others}", self.agent), text)
    }

    fn json(&self) -> String {
        json!(self).to_string()
    }
}
