//! `doorward hook AGENT`: one event in, one answer out. On any failure the call is blocked.

pub(crate) mod agents;
mod attended;
pub(crate) mod concurrent;
pub(crate) mod contained;
mod deadline;
mod delivery;
pub(crate) mod entry;
pub(crate) mod grant_check;
pub(crate) mod notifier;
pub(crate) mod offer_hint;
mod pipeline;
mod plugin;
pub(crate) mod recorded;
pub(crate) mod relay;
pub(crate) mod reviewer;
pub(crate) mod rollback;
pub(crate) mod serve;
mod settle;
pub(crate) mod user_message;
mod waiting;

use std::ffi::OsString;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use doorward_engine::Mode;

use crate::hook::agents::{
    AgentQuestion, CallReport, CallResult, Event, GUIDANCE, Lifecycle, Reply, SessionEvent, SessionSwitch, UserMessage,
};
use crate::hook::pipeline::Request;
use crate::machine::agent::Agent;
use crate::machine::file_digests::FileDigests;
use crate::machine::key;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, Recorder};
use crate::machine::world::project_root;
use crate::memory::alerts;
use crate::memory::digest;
use crate::memory::evaluation;
use crate::memory::grants;
use crate::memory::grants::drift::changed_since;
use crate::memory::grants::store::GrantStore;
use crate::memory::ledger_view::LedgerView;
use crate::memory::session::Session;
use crate::memory::snapshots;
use crate::memory::tally;
use crate::policy::from_history;
use crate::policy::load;

/// The longest payload that is read.
// A write of a large file arrives whole in the payload; one beyond this is refused rather than read in part.
pub(crate) const LIMIT: u64 = 64 << 20;

/// Where a payload comes from.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub agent: Agent,
    pub dirs: Dirs,
    /// A person can answer a question.
    pub attended: bool,
    /// The command of the server whose relay asks.
    pub relayed: Option<Vec<String>>,
}

impl Surroundings {
    /// An attended agent.
    pub(crate) fn new(agent: Agent, dirs: Dirs) -> Surroundings {
        Surroundings { agent, dirs, attended: true, relayed: None }
    }
}

/// Answers the event on standard input.
pub fn hook(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let agent = arguments.next();
    let known = agent.as_ref().and_then(|name| name.to_str()).and_then(Agent::parse);
    // First of all: reading standard input can already block.
    deadline::start(known.is_some_and(Agent::wants_words));
    evaluation::silence_panics();
    let invocation = Invocation::of(arguments);
    // A panic would exit with 101, which clients take for "no opinion" and run the call.
    let outcome = catch_unwind(AssertUnwindSafe(|| answer_input(agent, known, invocation)));
    let reply = match outcome {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => refusal(&format!("{error:#}")),
        Err(_) => refusal("internal error"),
    };
    let code = delivery::send(&reply, known);
    // The answer is out. Nothing from here on may change the exit code, which is part of the answer.
    let _ = catch_unwind(AssertUnwindSafe(|| Dirs::find().map(|dirs| notifier::start_if_due(&dirs))));
    code
}

/// What the installed command line says besides the agent.
#[derive(Clone, Copy, Debug, Default)]
struct Invocation {
    /// How long the agent waits for an answer.
    patience: Option<Duration>,
    /// A plugin of the agent brought the hook.
    from_plugin: bool,
    /// Whoever asks takes silence for a failure.
    is_explicit: bool,
}

/// Said instead of nothing, so that a program that fails silently can't pass for doorward without an opinion.
const NO_OPINION: &str = "{\"doorward\":\"none\"}\n";

impl Invocation {
    fn of(mut arguments: impl Iterator<Item = OsString>) -> Invocation {
        let mut invocation = Invocation::default();
        while let Some(word) = arguments.next() {
            if word == "--timeout" {
                let seconds = arguments.next().and_then(|seconds| seconds.to_str()?.parse().ok());
                invocation.patience = seconds.map(Duration::from_secs);
            } else if word == "--plugin" {
                invocation.from_plugin = true;
            } else if word == "--explicit" {
                invocation.is_explicit = true;
            }
        }
        invocation
    }
}

fn answer_input(name: Option<OsString>, known: Option<Agent>, invocation: Invocation) -> Result<Reply> {
    let all = || Agent::ALL.map(|agent| format!("`{}`", agent.name())).join(", ");
    let Some(name) = name else { bail!("`doorward hook` needs the name of an agent: {}", all()) };
    let Some(agent) = known else { bail!("unknown agent `{}`; use one of {}", name.display(), all()) };
    evaluation::panic_on_demand("answering");
    let mut payload = Vec::new();
    std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut payload).context("can't read standard input")?;
    if payload.len() as u64 > LIMIT {
        bail!("the payload is longer than {LIMIT} bytes");
    }
    let attended = attended::is_attended(agent);
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let reply = answer_within(&payload, &Surroundings { attended, ..Surroundings::new(agent, dirs) }, invocation)?;
    let is_silent = reply.code == 0 && reply.stdout.is_empty();
    Ok(if invocation.is_explicit && is_silent { Reply { stdout: NO_OPINION.to_owned(), ..reply } } else { reply })
}

/// Answers one event at once.
pub(crate) fn answer(payload: &[u8], surroundings: &Surroundings) -> Result<Reply> {
    answer_within(payload, surroundings, Invocation::default())
}

/// Answers one event, within the time the agent waits if a person has to answer first.
fn answer_within(payload: &[u8], surroundings: &Surroundings, invocation: Invocation) -> Result<Reply> {
    let payload =
        crate::machine::json::parse(payload).map_err(|problem| anyhow!("can't read the payload: {problem}"))?;
    let event = surroundings.agent.translate(&payload, surroundings.attended).map_err(anyhow::Error::msg)?;
    // A large write would otherwise be in memory twice while it is judged.
    drop(payload);
    if invocation.from_plugin && plugin::stands_back(&event, surroundings) {
        return Ok(Reply::default());
    }
    let mut ledger = Ledger::open(&surroundings.dirs);
    let told = match event {
        Event::Proposed(mut proposed) => {
            if let (false, Some(fingerprint)) = (surroundings.agent.names_calls(), &proposed.id) {
                let session = Session::open(&surroundings.dirs, &proposed.call.session);
                proposed.id = Some(session.give_name(fingerprint));
            }
            return pipeline::run(Request::new(*proposed, surroundings, invocation.patience), &mut ledger);
        }
        Event::Outcome(outcome) => match with_id(outcome, surroundings) {
            Some(outcome) => note_outcome(outcome, surroundings, &mut ledger),
            None => Ok(Reply::default()),
        },
        Event::Said(said) => note_message(&said, surroundings, &mut ledger),
        Event::Session(event) => note_session(event, surroundings, &mut ledger),
        // The user waits for this; a failure must not look like success.
        Event::Switched(event) => return note_switch(event, &mut ledger),
        Event::Nothing => Ok(Reply::default()),
    };
    // There is no call to block. An exit code of 2 would discard the user's prompt, or keep the session from ending.
    told.or_else(|error| Ok(Reply { stderr: format!("doorward: {error:#}\n"), code: 1, ..Reply::default() }))
}

/// Stores the user's message for the calls that follow, and any limits in it for the whole session.
fn note_message(said: &UserMessage, surroundings: &Surroundings, ledger: &mut dyn Recorder) -> Result<Reply> {
    let Surroundings { agent, dirs, .. } = surroundings;
    let key = key::redaction(&dirs.state());
    let session = Session::open(dirs, &said.session);
    // Whoever types a new prompt has answered or dismissed every open one.
    session.withdraw_call(None);
    let limits = user_message::limits(said, &key);
    let bound = if limits.is_empty() { Ok(()) } else { session.keep_boundaries(&limits) };
    user_message::keep(&session, said, &key)?;
    for limit in limits {
        let _receipt = ledger.append(entry::boundary(agent.name(), &said.session, limit)?)?;
    }
    bound.map(|()| Reply::default())
}

/// The outcome with the call's id on record; `None` if no such call was judged.
fn with_id(outcome: CallReport, surroundings: &Surroundings) -> Option<CallReport> {
    if surroundings.agent.names_calls() {
        return Some(outcome);
    }
    let id = Session::open(&surroundings.dirs, &outcome.session).take_name(&outcome.id)?;
    Some(CallReport { id, ..outcome })
}

/// Records the outcome of a call. If the agent asked the user and the call ran, the answer was yes.
fn note_outcome(outcome: CallReport, surroundings: &Surroundings, ledger: &mut dyn Recorder) -> Result<Reply> {
    let session = Session::open(&surroundings.dirs, &outcome.session);
    let has_run = match outcome.result {
        CallResult::Ran | CallResult::Failed => true,
        CallResult::Declined | CallResult::Refused => false,
    };
    // What is wrong with it must not keep the outcome from the record.
    let replaced = contained::replace::check(&surroundings.dirs, &outcome, has_run, ledger);
    if !has_run {
        // A call that never started leaves nothing running in the background.
        session.withdraw_call(Some(&outcome.id));
    }
    let changed = session.end_call(&outcome.id);
    session.end_build(&outcome.id, outcome.result == CallResult::Ran);
    if has_run {
        snapshots::ran(&surroundings.dirs, &outcome.id);
        // If this fails, the file counts as brought from elsewhere after git restores it, which only asks.
        let _ = session.keep_edits(&surroundings.dirs, &changed);
    }
    if outcome.result == CallResult::Refused {
        session.close_question(&outcome.id);
        if let Ok(store) = GrantStore::open_at(&surroundings.dirs) {
            store.mark_answered(&outcome.id);
        }
    }
    if has_run && session.note_ran(&outcome.id) {
        let _receipt = ledger.append(entry::yes(&outcome.id)?)?;
        alerts::raise(session.take_alerts(), ledger);
        if let Ok(store) = GrantStore::open_at(&surroundings.dirs) {
            // The agent asked in its own prompt, so the yes was not bound to the files. A change since then is flagged.
            if let Some(path) = changed_since(&store, &outcome.id).first() {
                let _receipt = ledger.append(entry::exchanged(&outcome, path)?)?;
            }
            store.mark_answered(&outcome.id);
        }
        // Only overrides can trigger a rollback here. If this fails, the next one triggers it.
        let _ = rollback::watch(&surroundings.dirs);
    }
    let after = if has_run { session.digests(&changed) } else { FileDigests::new() };
    let _receipt = ledger.append(entry::outcome(outcome, after)?)?;
    replaced.map(|()| Reply::default())
}

/// Records a change of a session. When it begins, the model is told what to expect; when it ends, the log is signed.
fn note_session(event: SessionEvent, surroundings: &Surroundings, ledger: &mut Ledger) -> Result<Reply> {
    let Surroundings { agent, dirs, .. } = surroundings;
    let (step, cwd) = (event.step.clone(), event.cwd.clone().unwrap_or_default());
    let session = event.session.clone();
    if step == Lifecycle::Ended {
        notifier::note_session_end();
    }
    if step == Lifecycle::Began {
        // Before the entry: a session on record whose state is missing would count as tampered with.
        Session::open(dirs, &event.session).begin()?;
    }
    let _receipt = ledger.append(entry::session(agent.name(), event)?)?;
    if matches!(step, Lifecycle::Began | Lifecycle::Ended) {
        grants::sweep(dirs);
        tally::shorten(dirs);
        // Expired offers no longer apply either way; if this fails, the next session records that they expired.
        let _ = from_history::sweep(dirs, ledger);
    }
    match step {
        Lifecycle::Began => {
            let mut loaded = load::load(dirs, project_root(&cwd).as_deref(), agent.name());
            let session = Session::open(dirs, &session);
            loaded.assign(agent.name(), (session.id(), session.began_ms()));
            Ok(match loaded.mode(agent.name()) {
                Mode::Auto | Mode::ConfirmAll => agent.context(GUIDANCE),
                Mode::Shadow | Mode::Off => Reply::default(),
            })
        }
        Lifecycle::Ended => {
            // If the agent asks in its own prompt, a call that never ran was refused there.
            let asked = agent.can_ask(AgentQuestion::Call).then(|| Session::open(dirs, &session).close_questions());
            for id in asked.into_iter().flatten() {
                let _receipt = ledger.append(entry::never_ran(id)?)?;
            }
            if let Ok(store) = GrantStore::open_at(dirs) {
                store.close_session(&session);
            }
            // At the end of a session no call waits for the disk.
            snapshots::prune_after_call(dirs, || load::load(dirs, None, agent.name()).config.snapshots.limits());
            // A checkpoint per session bounds how much could be cut off the log unnoticed.
            ledger.sign(dirs)?;
            // If this fails, the next session or `doorward rollout status` finds the same.
            let _ = rollback::watch(dirs);
            Ok(farewell(surroundings, &session).unwrap_or_default())
        }
        Lifecycle::Compacted | Lifecycle::SubagentBegan(_) | Lifecycle::SubagentEnded(_) => Ok(Reply::default()),
    }
}

/// A summary of the session for the user; nothing depends on it.
fn farewell(surroundings: &Surroundings, session: &str) -> Option<Reply> {
    let view = LedgerView::open(surroundings.dirs.clone()).ok()?;
    let digest = digest::of(&view, &view.index().ok()?, session).ok()?;
    (digest.calls > 0).then(|| surroundings.agent.farewell(&digest.line()))
}

fn note_switch(event: SessionSwitch, ledger: &mut dyn Recorder) -> Result<Reply> {
    ledger.append(entry::switched(event)?).map(|_receipt| Reply::default())
}

/// Exit code 2 with text on standard error: the only refusal that every client understands.
fn refusal(reason: &str) -> Reply {
    let text = format!("doorward: {}; the call is blocked\n", crate::machine::visible(reason));
    Reply { stdout: String::new(), stderr: text, code: 2 }
}
