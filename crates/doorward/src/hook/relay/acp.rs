//! `doorward acp`: stands between an editor and an agent that speak the Agent Client Protocol. What the agent asks the editor
//! for is judged: permissions, files, terminals.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::acp_call;
use super::envelope::{Envelope, Kind, Read, read};
use super::exchange::{Back, Conversation, Held, OWN_IDS, Step};
use super::identity::Identity;
use super::judge::{Judge, Judged, Means, Ruling};
use super::{answers, stdio};
use crate::hook::agents::CallResult;
use crate::machine::paths::Dirs;
use crate::memory::{call_ids, evaluation};

/// The agent behind the relay.
#[derive(Debug, Args)]
pub(crate) struct AcpArguments {
    /// The command that starts the agent
    #[arg(last = true, value_name = "AGENT", required = true)]
    pub command: Vec<String>,
}

/// Relays until the editor or the agent leaves.
pub(crate) fn run(arguments: &AcpArguments) -> Result<ExitCode> {
    evaluation::silence_panics();
    let Some((program, rest)) = arguments.command.split_first() else { bail!("there is no agent to start") };
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let cwd = std::env::current_dir().context("can't tell the current directory")?;
    let Some(cwd) = cwd.to_str().map(str::to_owned) else { bail!("the current directory has a name that is not text") };
    let mut identity = Identity::of_environment();
    arguments.command.iter().filter_map(|word| word.rsplit('/').next()).for_each(|name| identity.introduced(name));
    let editor = Editor { dirs, cwd, command: arguments.command.clone(), identity, state: Arc::default() };
    stdio::run(program, rest, editor)
}

/// How long a person may think.
const ANSWER: Duration = Duration::from_secs(60 * 60);

/// The call, the file that may be written after a yes with its text, and the options that the editor may choose.
type AskedPermission = (Judged, Option<(String, String)>, Vec<(String, bool)>);

#[derive(Debug, Default)]
struct State {
    /// The directories of sessions that are being made, by the id of the request.
    making: BTreeMap<String, String>,
    /// The directories of sessions.
    directories: BTreeMap<String, String>,
    /// Permissions that the editor was asked for, by id: the call, and the file that may be written after a yes.
    asked: BTreeMap<String, AskedPermission>,
    /// Questions of ours.
    questions: BTreeMap<String, Sender<bool>>,
    /// Files that may be written once, after a permission for that edit, with the text that it puts in.
    writable: BTreeMap<(String, String), String>,
    counted: u64,
}

/// One conversation between an editor and an agent.
#[derive(Debug)]
struct Editor {
    dirs: Dirs,
    cwd: String,
    command: Vec<String>,
    identity: Identity,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Conversation for Editor {
    /// The editor speaks: all of it passes, some of it is remembered.
    fn client_sent(&self, line: &[u8]) -> Step {
        let Read::One(envelope) = read(line) else { return Step::Forward };
        match envelope.kind() {
            Kind::Request => {
                self.note_request(&envelope);
                Step::Forward
            }
            Kind::Notification => Step::Forward,
            Kind::Response => self.answered(&envelope),
        }
    }

    /// The agent speaks: what it asks for is judged.
    fn server_sent(&self, line: &[u8]) -> Back {
        match read(line) {
            Read::Nothing => Back::Forward,
            Read::One(envelope) => match envelope.kind() {
                Kind::Request => self.request(&envelope),
                Kind::Response => {
                    self.note_session(&envelope);
                    Back::Forward
                }
                Kind::Notification if acp_call::is_judged(envelope.method()) => Back::Drop("a request without an id"),
                Kind::Notification => Back::Forward,
            },
            // Nothing of the kind exists in this protocol.
            Read::Many(_) => Back::Drop("a batch of the agent"),
            Read::Unreadable(_) if line.first().is_some_and(|byte| !matches!(byte, b'{' | b'[')) => Back::Forward,
            Read::Unreadable(_) => Back::Drop("a message of the agent that can't be read"),
        }
    }

    fn resolve(&self, _held: Held, _tell: &dyn Fn(&str) -> bool) -> Step {
        Step::Drop
    }

    fn server_ended(&self) -> Vec<String> {
        Vec::new()
    }

    fn finish(&self) {}
}

impl Editor {
    fn judge(&self, session: &str) -> (Judge, Identity) {
        let cwd = lock(&self.state).directories.get(session).cloned().unwrap_or_else(|| self.cwd.clone());
        let judge = Judge { dirs: self.dirs.clone(), cwd, server: String::new(), command: self.command.clone() };
        (judge, Identity { session: session.to_owned(), ..self.identity.clone() })
    }

    fn note_request(&self, envelope: &Envelope<'_>) {
        if !matches!(envelope.method(), "session/new" | "session/load" | "session/resume") {
            return;
        }
        let (Some(key), Ok(params)) = (envelope.key(), envelope.params()) else { return };
        let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(cwd) = text("cwd") else { return };
        let mut state = lock(&self.state);
        match text("sessionId") {
            Some(session) => drop(state.directories.insert(session, cwd)),
            None => drop(state.making.insert(key, cwd)),
        }
    }

    fn note_session(&self, envelope: &Envelope<'_>) {
        let Some(key) = envelope.key() else { return };
        let mut state = lock(&self.state);
        let Some(cwd) = state.making.remove(&key) else { return };
        let result: Value = envelope.result.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        if let Some(session) = result.get("sessionId").and_then(Value::as_str) {
            state.directories.insert(session.to_owned(), cwd);
        }
    }

    fn request(&self, envelope: &Envelope<'_>) -> Back {
        let (Some(id), method) = (envelope.id, envelope.method()) else { return Back::Drop("a request without an id") };
        let is_free = |key: &String| !key.trim_start_matches('"').starts_with(OWN_IDS);
        let (Some(key), Ok(params)) = (envelope.key().filter(is_free), envelope.params()) else {
            return Back::Return(answers::invalid(Some(id), "doorward can't read this request"));
        };
        if !acp_call::is_judged(method) {
            return Back::Forward;
        }
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (judge, identity) = self.judge(&session);
        let tool = acp_call::tool(method, &params, identity.agent, &judge.cwd);
        let file = acp_call::written(&tool, &judge.cwd);
        let judged = Judged { decision: call_ids::own_name(), identity, tool, is_handed_on: false };
        let ruling = judge.rule(&judged, Means { elicits: true, patience: Duration::ZERO });
        if method == "session/request_permission" {
            return self.permission((id, key), &params, ruling, (judged, file));
        }
        match ruling {
            Ruling::Pass | Ruling::Silent => Back::Forward,
            Ruling::Refuse(reason) | Ruling::Wait(reason, _) => Back::Return(answers::refusal(id, method, &reason)),
            Ruling::Ask(_) if file.is_some_and(|(file, text)| self.may_write((session.clone(), file), &text)) => {
                judge.ended(&judged, CallResult::Ran, None);
                Back::Forward
            }
            Ruling::Ask(reason) => self.question((id.to_owned(), method.to_owned()), &session, reason, (judge, judged)),
        }
    }

    /// The agent asks for permission: answered here if doorward is sure, else by the person in the editor.
    fn permission(
        &self,
        (id, key): (&RawValue, String),
        params: &Value,
        ruling: Ruling,
        (judged, file): (Judged, Option<(String, String)>),
    ) -> Back {
        let options = acp_call::options(params);
        let option = |kind: &str| options.iter().find(|(_, known)| known == kind).map(|(option, _)| option.clone());
        let chosen = match &ruling {
            Ruling::Pass => option("allow_once"),
            Ruling::Refuse(_) | Ruling::Wait(..) => option("reject_once").or_else(|| option("reject_always")),
            Ruling::Silent | Ruling::Ask(_) => None,
        };
        let mut state = lock(&self.state);
        match (chosen, ruling) {
            (Some(option), ruling) => {
                if let (Ruling::Pass, Some((file, text))) = (ruling, file) {
                    state.writable.insert((judged.identity.session, file), text);
                }
                Back::Return(answers::result(
                    id,
                    &json!({ "outcome": { "outcome": "selected", "optionId": option } }).to_string(),
                ))
            }
            // A block that cannot be said by an option ends the turn.
            (None, Ruling::Refuse(_) | Ruling::Wait(..)) => {
                Back::Return(answers::result(id, &json!({ "outcome": { "outcome": "cancelled" } }).to_string()))
            }
            (None, Ruling::Pass | Ruling::Silent | Ruling::Ask(_)) => {
                let allowing = options.into_iter().map(|(option, kind)| (option, kind.starts_with("allow"))).collect();
                state.asked.insert(key, (judged, file, allowing));
                Back::Forward
            }
        }
    }

    /// The user permitted an edit of this file that puts in some of this text; it counts once.
    fn may_write(&self, file: (String, String), text: &str) -> bool {
        lock(&self.state).writable.remove(&file).is_some_and(|shown| !shown.is_empty() && text.contains(&shown))
    }

    /// The editor answers a permission, or a question of ours.
    fn answered(&self, envelope: &Envelope<'_>) -> Step {
        let Some(key) = envelope.key() else { return Step::Forward };
        let result: Value = envelope.result.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let option = result.pointer("/outcome/optionId").and_then(Value::as_str).unwrap_or_default();
        let mut state = lock(&self.state);
        if let Some(waits) = state.questions.remove(&key) {
            let _ = waits.send(option == acp_call::ALLOW);
            return Step::Drop;
        }
        if let Some((judged, file, options)) = state.asked.remove(&key) {
            let is_yes = options.iter().any(|(known, allows)| *allows && known == option);
            if let (true, Some((file, text))) = (is_yes, file) {
                state.writable.insert((judged.identity.session.clone(), file), text);
            }
            drop(state);
            let (judge, _) = self.judge(&judged.identity.session);
            judge.ended(&judged, if is_yes { CallResult::Ran } else { CallResult::Refused }, None);
        }
        Step::Forward
    }

    /// Asks the person in the editor about a file or a terminal.
    fn question(
        &self,
        (id, method): (Box<RawValue>, String),
        session: &str,
        reason: String,
        (judge, judged): (Judge, Judged),
    ) -> Back {
        let (send, answer) = channel();
        let question = {
            let mut state = lock(&self.state);
            state.counted += 1;
            let own = format!("{OWN_IDS}{}", state.counted);
            state.questions.insert(Value::from(own.as_str()).to_string(), send);
            acp_call::question(&own, session, &reason)
        };
        Back::Later(Box::new(move |tell| {
            if tell(&question) && answer.recv_timeout(ANSWER) == Ok(true) {
                judge.ended(&judged, CallResult::Ran, None);
                return Back::Forward;
            }
            judge.ended(&judged, CallResult::Refused, None);
            Back::Return(answers::refusal(&id, &method, "doorward asked, and the user did not allow this"))
        }))
    }
}
