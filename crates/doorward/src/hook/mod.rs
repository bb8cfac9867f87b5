//! `doorward hook AGENT`: one event in, one answer out. Whatever goes wrong, the call does not run.

mod deadline;
pub mod entry;
mod settle;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use doorward_engine::Mode;

use crate::agents::{Decision, Event, Outcome, Proposed, Reply, Result as Ended, Step, claude};
use crate::grants::{Desk, Door};
use crate::held;
use crate::judging;
use crate::loading;
use crate::places::Places;
use crate::record::{Ledger, Recorder};
use crate::session::Session;
use crate::world::{DiskWorld, project_root};

/// The longest payload that is read.
const LIMIT: u64 = 64 << 20;

/// Where a payload comes from.
#[derive(Debug)]
pub struct Surroundings {
    pub places: Places,
    /// Somebody can answer a question.
    pub attended: bool,
}

/// Answers the event on standard input.
pub fn hook(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    deadline::start();
    judging::silence_panics();
    let agent = arguments.next();
    let outcome = catch_unwind(AssertUnwindSafe(|| answer_input(agent)));
    let reply = match outcome {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => refusal(&format!("{error:#}")),
        Err(_) => refusal("it met a fault of its own"),
    };
    send(&reply)
}

fn answer_input(agent: Option<OsString>) -> Result<Reply> {
    match agent.as_ref().and_then(|agent| agent.to_str()) {
        Some(claude::NAME) => {}
        Some(other) => bail!("the agent `{other}` is not known; known is `claude`"),
        None => bail!("`doorward hook` wants the name of an agent: `claude`"),
    }
    judging::fault("answering");
    let mut payload = Vec::new();
    std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut payload).context("standard input cannot be read")?;
    if payload.len() as u64 > LIMIT {
        bail!("the payload is longer than {LIMIT} bytes");
    }
    let attended = std::env::var_os("CLAUDE_CODE_SESSION_ATTENDED").is_none_or(|value| value != "0");
    let places = Places::find().map_err(anyhow::Error::msg)?;
    answer(&payload, &Surroundings { places, attended })
}

/// Answers one event.
pub fn answer(payload: &[u8], surroundings: &Surroundings) -> Result<Reply> {
    let payload = crate::json::parse(payload).map_err(|problem| anyhow!("the payload cannot be read: {problem}"))?;
    let event = claude::translate(&payload, surroundings.attended).map_err(anyhow::Error::msg)?;
    drop(payload);
    let mut ledger = Ledger::of(&surroundings.places);
    match event {
        Event::Proposed(proposed) => decide(&proposed, surroundings, &mut ledger),
        Event::Outcome(outcome) => became(outcome, surroundings, &mut ledger),
        Event::Session { session, step } => went_on(session, step, surroundings, &mut ledger),
        Event::Nothing => Ok(Reply::default()),
    }
}

/// Records what became of a call. Where the agent asked a person and the call ran, the answer was yes.
fn became(outcome: Outcome, surroundings: &Surroundings, ledger: &mut dyn Recorder) -> Result<Reply> {
    let has_run = match outcome.result {
        Ended::Ran | Ended::Failed => true,
        Ended::Declined => false,
    };
    if has_run && Session::of(&surroundings.places, &outcome.session).ran(&outcome.id) {
        let _receipt = ledger.append(entry::yes(&outcome.id)?)?;
        if let Ok(desk) = Desk::of(&surroundings.places) {
            desk.answered(&outcome.id);
        }
    }
    ledger.append(entry::outcome(outcome)?).map(|_receipt| Reply::default())
}

/// Records that a session began or ended. At its end the record is signed as it stands.
fn went_on(session: String, step: Step, surroundings: &Surroundings, ledger: &mut Ledger) -> Result<Reply> {
    match step {
        Step::Began => Session::of(&surroundings.places, &session).begin()?,
        Step::Ended => {}
    }
    let _receipt = ledger.append(entry::session(claude::NAME, session, step)?)?;
    match step {
        Step::Began => {}
        Step::Ended => ledger.sign(&surroundings.places)?,
    }
    Ok(Reply::default())
}

/// Judges a call, makes the record durable, and only then answers.
fn decide(proposed: &Proposed, surroundings: &Surroundings, ledger: &mut dyn Recorder) -> Result<Reply> {
    let call = &proposed.call;
    let project = project_root(&call.cwd);
    let mut loaded = loading::load(&surroundings.places, project.as_deref(), &call.agent);
    held::hold(&surroundings.places, &call.session, &mut loaded);
    let mode = loaded.mode(&call.agent);
    if mode == Mode::Off {
        return Ok(claude::reply(&Decision::Silent));
    }
    let policy = loaded.policy(mode).map_err(anyhow::Error::msg)?;
    let session = Rc::new(Session::of(&surroundings.places, &call.session));
    let world = DiskWorld::new(&surroundings.places, &call.cwd, project.clone(), &loaded)
        .with_programs(loaded.own.programs)
        .in_session(Rc::clone(&session));
    let mut considered = judging::consider(call, &world, &policy);
    let id = proposed.id.clone().unwrap_or_else(entry::own_name);
    let door = Door { places: &surroundings.places, call, mode, loaded: &loaded, project: project.as_deref() };
    let grant = door.redeem(&considered, &id);
    considered.granted = grant.is_cleared();
    let terms = settle::Terms { mode, attended: call.attended, problems: &loaded.problems };
    let decision = settle::settle(&considered.judgement, terms);
    let entry = entry::decision(&id, proposed, &considered, mode, project.as_deref())?;
    let noted = session.note(&id, &considered, mode);
    let recorded = noted.and_then(|()| ledger.append(entry)).and_then(|_receipt| grant.record(ledger));
    match (recorded, mode) {
        (Ok(()), _) => Ok(claude::reply(&door.answer(decision, &grant, &considered, &id))),
        // Shadow leaves everything as it was, a full disk included, but says so.
        (Err(error), Mode::Shadow) => {
            Ok(Reply { stderr: format!("doorward: {error:#}\n"), ..claude::reply(&decision) })
        }
        (Err(error), Mode::Auto | Mode::ConfirmAll | Mode::Off) => {
            Err(error.context("the decision cannot be recorded"))
        }
    }
}

/// The sturdiest refusal there is: exit code 2 and text on standard error.
fn refusal(reason: &str) -> Reply {
    let text = format!("doorward: {}; the call is blocked\n", crate::screen::visible(reason));
    Reply { stdout: String::new(), stderr: text, code: 2 }
}

fn send(reply: &Reply) -> ExitCode {
    // INVARIANT: an answer that does not get out is a refusal.
    let mut stdout = std::io::stdout().lock();
    let sent = stdout.write_all(reply.stdout.as_bytes()).and_then(|()| stdout.flush());
    let _ = std::io::stderr().write_all(reply.stderr.as_bytes());
    match sent {
        Ok(()) => ExitCode::from(reply.code),
        Err(_) => ExitCode::from(2),
    }
}
