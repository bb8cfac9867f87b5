//! `doorward hook AGENT`: one event in, one answer out. Whatever goes wrong, the call does not run.

mod deadline;
pub mod entry;
mod settle;
mod waiting;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::{Context, Result, anyhow, bail};
use doorward_engine::Mode;

use crate::agents::{Agent, Decision, Ended, Event, GUIDANCE, Outcome, Proposed, Reply, Said, SessionEvent, Step};
use crate::grants::{Desk, Door};
use crate::held;
use crate::judging;
use crate::key;
use crate::loading;
use crate::places::Places;
use crate::record::{Ledger, Recorder};
use crate::session::Session;
use crate::spoken;
use crate::world::{DiskWorld, project_root};
use waiting::Asking;

/// The longest payload that is read.
pub const LIMIT: u64 = 64 << 20;

/// Where a payload comes from.
#[derive(Debug)]
pub struct Surroundings {
    pub agent: Agent,
    pub places: Places,
    /// Somebody can answer a question.
    pub attended: bool,
}

impl Surroundings {
    /// An agent that somebody attends.
    pub fn new(agent: Agent, places: Places) -> Surroundings {
        Surroundings { agent, places, attended: true }
    }
}

/// Answers the event on standard input.
pub fn hook(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let agent = arguments.next();
    let known = agent.as_ref().and_then(|name| name.to_str()).and_then(Agent::named);
    deadline::start(known.is_some_and(Agent::wants_words));
    judging::silence_panics();
    let outcome = catch_unwind(AssertUnwindSafe(|| answer_input(agent, known)));
    let reply = match outcome {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => refusal(&format!("{error:#}")),
        Err(_) => refusal("it met a fault of its own"),
    };
    send(&reply)
}

fn answer_input(name: Option<OsString>, known: Option<Agent>) -> Result<Reply> {
    let all = || Agent::ALL.map(|agent| format!("`{}`", agent.name())).join(", ");
    let Some(name) = name else { bail!("`doorward hook` wants the name of an agent: {}", all()) };
    let Some(agent) = known else { bail!("the agent `{}` is not known; known are {}", name.display(), all()) };
    judging::fault("answering");
    let mut payload = Vec::new();
    std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut payload).context("standard input cannot be read")?;
    if payload.len() as u64 > LIMIT {
        bail!("the payload is longer than {LIMIT} bytes");
    }
    let attended = agent.attendance_variable().and_then(std::env::var_os).is_none_or(|value| value != "0");
    let places = Places::find().map_err(anyhow::Error::msg)?;
    answer(&payload, &Surroundings { agent, places, attended })
}

/// Answers one event.
pub fn answer(payload: &[u8], surroundings: &Surroundings) -> Result<Reply> {
    let payload = crate::json::parse(payload).map_err(|problem| anyhow!("the payload cannot be read: {problem}"))?;
    let event = surroundings.agent.translate(&payload, surroundings.attended).map_err(anyhow::Error::msg)?;
    drop(payload);
    let mut ledger = Ledger::of(&surroundings.places);
    let told = match event {
        Event::Proposed(proposed) => return decide(*proposed, surroundings, &mut ledger),
        Event::Outcome(outcome) => became(outcome, surroundings, &mut ledger),
        Event::Said(said) => heard(&said, surroundings, &mut ledger),
        Event::Session(event) => went_on(event, surroundings, &mut ledger),
        Event::Nothing => Ok(Reply::default()),
    };
    // Refusing here would throw away the user's words or keep a session from ending; there is no call to block.
    told.or_else(|error| Ok(Reply { stderr: format!("doorward: {error:#}\n"), code: 1, ..Reply::default() }))
}

/// Keeps a person's words for the calls that follow, and the limits they state for the whole session.
fn heard(said: &Said, surroundings: &Surroundings, ledger: &mut dyn Recorder) -> Result<Reply> {
    let Surroundings { agent, places, .. } = surroundings;
    let key = key::redaction(&places.state());
    let session = Session::of(places, &said.session);
    let limits = spoken::limits(said, &key);
    let bound = if limits.is_empty() { Ok(()) } else { session.bind(&limits) };
    spoken::keep(&session, said, &key)?;
    for limit in limits {
        let _receipt = ledger.append(entry::boundary(agent.name(), &said.session, limit)?)?;
    }
    bound.map(|()| Reply::default())
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

/// Records how a session went on. At its beginning the agent's model is told what to expect; at its end the record is
/// signed as it stands.
fn went_on(event: SessionEvent, surroundings: &Surroundings, ledger: &mut Ledger) -> Result<Reply> {
    let Surroundings { agent, places, .. } = surroundings;
    let (step, cwd) = (event.step.clone(), event.cwd.clone().unwrap_or_default());
    if step == Step::Began {
        Session::of(places, &event.session).begin()?;
    }
    let _receipt = ledger.append(entry::session(agent.name(), event)?)?;
    match step {
        Step::Began => {
            let mode = loading::load(places, project_root(&cwd).as_deref(), agent.name()).mode(agent.name());
            Ok(match mode {
                Mode::Auto | Mode::ConfirmAll => agent.context(GUIDANCE),
                Mode::Shadow | Mode::Off => Reply::default(),
            })
        }
        Step::Ended => ledger.sign(places).map(|()| Reply::default()),
        Step::Compacted | Step::SubagentBegan(_) | Step::SubagentEnded(_) => Ok(Reply::default()),
    }
}

/// Judges a call, makes the record durable, and only then answers.
fn decide(mut proposed: Proposed, surroundings: &Surroundings, ledger: &mut dyn Recorder) -> Result<Reply> {
    let Surroundings { agent, places, .. } = surroundings;
    let project = project_root(&proposed.call.cwd);
    let mut loaded = loading::load(places, project.as_deref(), agent.name());
    held::hold(places, &proposed.call.session, &mut loaded);
    let mode = loaded.mode(agent.name());
    if mode == Mode::Off {
        return Ok(agent.reply(&proposed, &Decision::Silent));
    }
    let policy = loaded.policy(mode).map_err(anyhow::Error::msg)?;
    let session = Rc::new(Session::of(places, &proposed.call.session));
    proposed.call.user_message = spoken::words(&session, &proposed, &places.state());
    let call = &proposed.call;
    let world = DiskWorld::new(places, &call.cwd, project.clone(), &loaded)
        .with_programs(loaded.own.programs)
        .in_session(Rc::clone(&session));
    let mut considered = judging::consider(call, &world, &policy);
    let id = proposed.id.clone().unwrap_or_else(entry::own_name);
    let door = Door { places, call, mode, loaded: &loaded, project: project.as_deref() };
    let grant = door.redeem(&considered, &id);
    considered.granted = grant.is_cleared();
    let terms = settle::Terms { mode, asking: asking(&proposed, *agent), problems: &loaded.problems };
    let decision = settle::settle(&considered.judgement, terms);
    let entry = entry::decision(&id, &proposed, &considered, mode, project.as_deref())?;
    let noted = session.note(&id, &considered, mode);
    let recorded = noted.and_then(|()| ledger.append(entry)).and_then(|_receipt| grant.record(ledger));
    match (recorded, mode) {
        (Ok(()), _) => Ok(agent.reply(&proposed, &door.answer(decision, &grant, &considered, &id))),
        // Shadow leaves everything as it was, a full disk included, but says so.
        (Err(error), Mode::Shadow) => {
            Ok(Reply { stderr: format!("doorward: {error:#}\n"), ..agent.reply(&proposed, &decision) })
        }
        (Err(error), Mode::Auto | Mode::ConfirmAll | Mode::Off) => {
            Err(error.context("the decision cannot be recorded"))
        }
    }
}

/// Who can answer a question about a call.
fn asking(proposed: &Proposed, agent: Agent) -> Asking {
    match (proposed.call.attended, agent.can_ask(proposed.asked)) {
        (false, _) if agent.refuses_what_nobody_answers() => Asking::Perhaps,
        (false, _) => Asking::Nobody,
        (true, false) => Asking::Elsewhere,
        (true, true) => Asking::Here,
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
