//! The conversation that passes through a relay: what is under way, what may pass, and what doorward says in its place.
//!
//! Messages go through unchanged, or not at all. What is under way is noted before a message is passed on, so that an answer
//! belongs to a question that was let through.

mod from_server;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;

use super::answers;
use super::ends::Ends;
use super::envelope::{Envelope, Kind, Read, read};
use super::identity::Identity;
use super::judge::{Judge, Judged, Means, Ruling};
use crate::hook::agents::CallResult;

/// How long a client waits for an answer if it says nothing: the default of the usual libraries.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a client's user may think about a question.
const ANSWER: Duration = Duration::from_secs(10 * 60);

/// The capability of clients that put questions to their user.
const ELICITATION: &str = "elicitation";

/// A stateless client says with every request who it is and what it can do.
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_ABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Requests of the client that are judged.
const JUDGED: &[&str] = &["tools/call", "resources/read", "prompts/get"];

/// Requests of the server that are judged.
const ASKED: &[&str] = &["sampling/createMessage", "elicitation/create"];

/// How the ids of our own questions begin. Nobody else may use one: its answer would count as the answer to ours.
pub(super) const OWN_IDS: &str = "doorward-";

/// What happens with a message of the client.
#[derive(Debug)]
pub(super) enum Step {
    /// It is passed on as it came.
    Forward,
    /// The client gets this instead.
    Answer(String),
    Drop,
    /// Somebody has to decide first.
    Hold(Box<Held>),
}

/// Decides later what happens with a message; it may write to the client meanwhile.
pub(super) type Later = Box<dyn FnOnce(&dyn Fn(&str) -> bool) -> Back + Send>;

/// What happens with a message of the server.
pub(super) enum Back {
    Forward,
    /// The client gets this instead.
    Replace(String),
    Drop(&'static str),
    /// The server gets this, the client nothing.
    Return(String),
    /// A person has to decide first.
    Later(Later),
}

/// A call that waits for a person.
#[derive(Debug)]
pub(super) struct Held {
    pub key: String,
    id: Box<RawValue>,
    method: String,
    judged: Judged,
    ruling: Ruling,
    token: Option<Value>,
    started: Instant,
}

/// One request that the server has and has not answered.
#[derive(Debug)]
struct UnderWay {
    id: Box<RawValue>,
    method: String,
    judged: Option<Judged>,
    is_cancelled: bool,
}

#[derive(Debug, Default)]
struct State {
    /// By id; what waits for a person has no entry of the server yet.
    under_way: BTreeMap<String, Option<UnderWay>>,
    /// Questions of ours to the client's user, and who waits for the answer.
    questions: BTreeMap<String, Sender<bool>>,
    elicits: bool,
    passed: u64,
}

/// A conversation that threads on both sides carry on.
pub(super) trait Conversation: Send + Sync + 'static {
    /// What happens with a message of the client.
    fn client_sent(&self, line: &[u8]) -> Step;
    /// What happens with a message of the server.
    fn server_sent(&self, line: &[u8]) -> Back;
    /// Waits for a person. `tell` writes to the client; the call passes only if this says so.
    fn resolve(&self, held: Held, tell: &dyn Fn(&str) -> bool) -> Step;
    /// The server is gone: what it had not answered has an end that nobody knows.
    fn server_ended(&self) -> Vec<String>;
    /// Nothing more comes: what ended is recorded.
    fn finish(&self);
}

/// One conversation with a tool server.
#[derive(Debug)]
pub(super) struct Exchange {
    judge: Arc<Judge>,
    ends: Ends,
    identity: Mutex<Identity>,
    state: Mutex<State>,
    questions: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere left whole entries: every change is one insertion or removal.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Exchange {
    pub(super) fn new(judge: Judge, identity: Identity) -> Exchange {
        let judge = Arc::new(judge);
        let ends = Ends::start(Arc::clone(&judge));
        let (identity, state) = (Mutex::new(identity), Mutex::default());
        Exchange { judge, ends, identity, state, questions: AtomicU64::new(0) }
    }

    fn one(&self, envelope: &Envelope<'_>) -> Step {
        match envelope.kind() {
            Kind::Request => self.request(envelope),
            Kind::Notification => self.notification(envelope),
            Kind::Response => self.response(envelope),
        }
    }

    /// All of a batch passes, or none of it: it cannot be taken apart without writing it anew.
    fn batch(&self, all: &[(&RawValue, Envelope<'_>)]) -> Step {
        let steps: Vec<(&Envelope<'_>, Step)> =
            all.iter().map(|(_, envelope)| (envelope, self.one(envelope))).collect();
        if steps.iter().all(|(_, step)| matches!(step, Step::Forward)) {
            return Step::Forward;
        }
        let answers = steps.into_iter().filter_map(|(envelope, step)| match step {
            Step::Answer(text) => Some(text.trim_end().to_owned()),
            Step::Hold(held) => {
                drop(self.forget(&held.key));
                Some(answers::refusal(
                    &held.id,
                    &held.method,
                    "doorward asks about a call of this batch; send it alone",
                ))
            }
            Step::Forward => {
                let id = envelope.id?;
                if let Some(key) = envelope.key() {
                    drop(self.forget(&key));
                }
                Some(answers::refusal(id, envelope.method(), "not sent: another message of the batch was refused"))
            }
            Step::Drop => None,
        });
        let answers: Vec<String> = answers.map(|text| text.trim_end().to_owned()).collect();
        Step::Answer(format!("[{}]\n", answers.join(",")))
    }

    fn request(&self, envelope: &Envelope<'_>) -> Step {
        let (Some(id), method) = (envelope.id, envelope.method()) else { return Step::Drop };
        let Some(key) = envelope.key() else {
            return Step::Answer(answers::invalid(Some(id), "an id is a text or a number"));
        };
        {
            let mut state = lock(&self.state);
            let is_taken =
                state.under_way.get(&key).is_some_and(|entry| entry.as_ref().is_none_or(|one| !one.is_cancelled));
            if is_taken {
                return Step::Answer(answers::invalid(Some(id), "a request with this id has no answer yet"));
            }
            state.under_way.insert(key.clone(), None);
        }
        let step = match method {
            _ if JUDGED.contains(&method) => self.call((id, &key, method), envelope),
            "initialize" | "server/discover" => {
                self.introduced(envelope);
                Step::Forward
            }
            _ => Step::Forward,
        };
        match step {
            Step::Forward => self.begin(
                &key,
                UnderWay { id: id.to_owned(), method: method.to_owned(), judged: None, is_cancelled: false },
            ),
            Step::Answer(_) | Step::Drop => drop(self.forget(&key)),
            Step::Hold(_) => {}
        }
        step
    }

    /// A call: judged, and noted as under way if it passes.
    fn call(&self, (id, key, method): (&RawValue, &str, &str), envelope: &Envelope<'_>) -> Step {
        let params = match envelope.params() {
            Ok(params) => params,
            Err(problem) => {
                return Step::Answer(answers::invalid(Some(id), &format!("doorward can't read this call: {problem}")));
            }
        };
        self.meta(&params);
        let tool = match self.judge.tool(method, &params) {
            Ok(tool) => tool,
            Err(problem) => {
                return Step::Answer(answers::invalid(Some(id), &format!("doorward can't read this call: {problem}")));
            }
        };
        let identity = lock(&self.identity).clone();
        let token = params.pointer("/_meta/progressToken").filter(|token| !token.is_null()).cloned();
        let named = params.pointer("/_meta/claudecode~1toolUseId").and_then(Value::as_str);
        self.ends.settle();
        let (judged, ruling) = self.judge.judge((tool, named), &identity, self.means());
        if judged.identity != identity {
            lock(&self.identity).clone_from(&judged.identity);
        }
        match ruling {
            Ruling::Pass | Ruling::Silent => {
                self.begin(
                    key,
                    UnderWay {
                        id: id.to_owned(),
                        method: method.to_owned(),
                        judged: Some(judged),
                        is_cancelled: false,
                    },
                );
                Step::Forward
            }
            Ruling::Refuse(reason) => Step::Answer(answers::refusal(id, method, &reason)),
            Ruling::Ask(_) | Ruling::Wait(..) => Step::Hold(Box::new(Held {
                key: key.to_owned(),
                id: id.to_owned(),
                method: method.to_owned(),
                judged,
                ruling,
                token,
                started: Instant::now(),
            })),
        }
    }

    fn means(&self) -> Means {
        Means { elicits: lock(&self.state).elicits, patience: PATIENCE }
    }

    /// Notes a request that is passed on, unless the call did so already.
    fn begin(&self, key: &str, one: UnderWay) {
        let mut state = lock(&self.state);
        state.passed += 1;
        let entry = state.under_way.entry(key.to_owned()).or_default();
        if entry.is_none() {
            *entry = Some(one);
        }
    }

    fn forget(&self, key: &str) -> Option<UnderWay> {
        lock(&self.state).under_way.remove(key).flatten()
    }

    fn notification(&self, envelope: &Envelope<'_>) -> Step {
        if JUDGED.contains(&envelope.method()) {
            // A server may run it all the same, and nobody would get an answer.
            return Step::Answer(answers::invalid(None, "a call needs an id"));
        }
        if envelope.method() == "notifications/cancelled" {
            let Ok(params) = envelope.params() else { return Step::Drop };
            let key = params.get("requestId").map(Value::to_string).unwrap_or_default();
            let mut state = lock(&self.state);
            match state.under_way.get_mut(&key) {
                // It waits for a person: nothing has left yet, and nothing will.
                Some(None) => {
                    state.under_way.remove(&key);
                    return Step::Drop;
                }
                Some(Some(one)) => one.is_cancelled = true,
                None => {}
            }
        }
        Step::Forward
    }

    /// An answer of the client: to a question of ours, or to one of the server.
    fn response(&self, envelope: &Envelope<'_>) -> Step {
        let key = envelope.key().unwrap_or_default();
        let asked = lock(&self.state).questions.remove(&key);
        match asked {
            Some(waits) => {
                // Whoever asked may have stopped waiting.
                let _ = waits.send(answers::says_yes(envelope.result));
                Step::Drop
            }
            None => Step::Forward,
        }
    }

    fn introduced(&self, envelope: &Envelope<'_>) {
        let Ok(params) = envelope.params() else { return };
        self.meta(&params);
        if let Some(name) = params.pointer("/clientInfo/name").and_then(Value::as_str) {
            lock(&self.identity).introduced(name);
        }
        if params.pointer("/capabilities").is_some_and(|all| all.get(ELICITATION).is_some()) {
            lock(&self.state).elicits = true;
        }
    }

    /// What a stateless client says with every request. It cannot be asked by a request of ours, so its user is not.
    fn meta(&self, params: &Value) {
        let Some(meta) = params.get("_meta") else { return };
        if let Some(name) = meta.get(META_CLIENT).and_then(|client| client.get("name")).and_then(Value::as_str) {
            lock(&self.identity).introduced(name);
        }
        if meta.get(META_ABILITIES).is_some() {
            lock(&self.state).elicits = false;
        }
    }

    /// Puts a question to the client's user; `None` if the call was cancelled meanwhile.
    fn ask(&self, reason: &str, tell: impl Fn(&str) -> bool, is_wanted: impl Fn() -> bool) -> Option<bool> {
        let id = format!("{OWN_IDS}{}", self.questions.fetch_add(1, Ordering::Relaxed));
        let key = Value::from(id.as_str()).to_string();
        let (send, answer): (Sender<bool>, Receiver<bool>) = channel();
        lock(&self.state).questions.insert(key.clone(), send);
        if !tell(&answers::question(&id, reason)) {
            return Some(false);
        }
        let end = Instant::now() + ANSWER;
        while Instant::now() < end {
            match answer.recv_timeout(Duration::from_millis(100)) {
                Ok(said) => return Some(said),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) if !is_wanted() => {
                    lock(&self.state).questions.remove(&key);
                    return None;
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            }
        }
        lock(&self.state).questions.remove(&key);
        Some(false)
    }
}

impl Conversation for Exchange {
    fn client_sent(&self, line: &[u8]) -> Step {
        match read(line) {
            Read::Nothing => Step::Forward,
            Read::Unreadable(problem) => Step::Answer(answers::unreadable(&problem)),
            Read::One(envelope) => self.one(&envelope),
            Read::Many(all) => self.batch(&all),
        }
    }

    fn resolve(&self, held: Held, tell: &dyn Fn(&str) -> bool) -> Step {
        let Held { key, id, method, judged, ruling, token, started } = held;
        let is_wanted = || lock(&self.state).under_way.contains_key(&key);
        let decided = match ruling {
            Ruling::Ask(reason) => match self.ask(&reason, tell, is_wanted) {
                Some(true) => Ruling::Pass,
                Some(false) => {
                    self.end(judged.clone(), CallResult::Refused, None);
                    Ruling::Refuse("doorward asked, and the user did not let this call run".to_owned())
                }
                None => {
                    self.end(judged, CallResult::Refused, Some("cancelled before an answer"));
                    return Step::Drop;
                }
            },
            Ruling::Wait(reason, time) => {
                let mut next = Duration::ZERO;
                let mut step = 0;
                let keep = || {
                    if let Some(token) = token.as_ref().filter(|_| started.elapsed() >= next) {
                        step += 1;
                        next = started.elapsed() + Duration::from_secs(5);
                        let _ = tell(&answers::progress(token, step));
                    }
                    is_wanted()
                };
                self.judge.wait(&judged, (reason, time), keep)
            }
            done @ (Ruling::Pass | Ruling::Silent | Ruling::Refuse(_)) => done,
        };
        let mut state = lock(&self.state);
        // Cancelled while a person thought about it.
        if state.under_way.remove(&key).is_none() {
            return Step::Drop;
        }
        match decided {
            Ruling::Pass | Ruling::Silent => {
                state.passed += 1;
                state.under_way.insert(key, Some(UnderWay { id, method, judged: Some(judged), is_cancelled: false }));
                Step::Forward
            }
            Ruling::Refuse(reason) | Ruling::Ask(reason) | Ruling::Wait(reason, _) => {
                Step::Answer(answers::refusal(&id, &method, &reason))
            }
        }
    }

    fn server_sent(&self, line: &[u8]) -> Back {
        match read(line) {
            Read::Nothing => Back::Forward,
            // A line of a log on standard output; no client takes it for a message.
            Read::Unreadable(_) if !looks_like_message(line) => Back::Forward,
            Read::Unreadable(_) => Back::Drop("a message that can't be read"),
            Read::One(envelope) => self.one_back(&envelope),
            Read::Many(all) => self.batch_back(&all),
        }
    }

    fn server_ended(&self) -> Vec<String> {
        let left = std::mem::take(&mut lock(&self.state).under_way);
        left.into_values().flatten().filter_map(|one| self.unanswered(one)).collect()
    }

    fn finish(&self) {
        self.ends.finish();
    }
}

/// Something that a client may take for a message.
fn looks_like_message(line: &[u8]) -> bool {
    let start = line.iter().find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0xef | 0xbb | 0xbf));
    matches!(start, Some(b'{' | b'['))
}
