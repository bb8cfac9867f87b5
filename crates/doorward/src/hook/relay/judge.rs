//! One call of a tool server through the stages that every hook call takes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::Result;
use doorward_engine::{Tool, ToolCall};
use doorward_ledger::{Became, OutcomeBody};
use serde_json::{Map, Value, json};

use super::identity::Identity;
use crate::hook::agents::{AgentQuestion, CallReport, CallResult, Decision, ProposedCall};
use crate::hook::pipeline::{self, Request};
use crate::hook::{Surroundings, note_outcome, waiting};
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::handed_on;
use crate::memory::session::Session;

/// The server behind the relay, and where doorward keeps its own.
#[derive(Debug)]
pub(super) struct Judge {
    pub dirs: Dirs,
    pub cwd: String,
    /// What the user calls the server.
    pub server: String,
    /// How it is started or where it is.
    pub command: Vec<String>,
}

/// A call on its way, as the record knows it.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub decision: String,
    pub identity: Identity,
    pub tool: Tool,
    /// The hook has judged it before and records its end.
    pub is_handed_on: bool,
}

/// What is to happen with a call.
#[derive(Debug)]
pub(super) enum Ruling {
    Pass,
    /// doorward only watches this agent, or is off for it.
    Silent,
    /// The client's user decides.
    Ask(String),
    /// Somebody at the queue may still decide, within this time.
    Wait(String, Duration),
    Refuse(String),
}

/// How a question can be asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    /// The client shows questions to its user.
    pub elicits: bool,
    /// How long it waits for the answer to a call.
    pub patience: Duration,
}

impl Judge {
    /// The call as the engine reads it; an error says why it cannot be read.
    pub(super) fn tool(&self, method: &str, params: &Value) -> Result<Tool, String> {
        let text = |key: &str| params.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (name, args) = match method {
            "tools/call" => {
                let args = params.get("arguments").cloned().unwrap_or(Value::Null);
                (text("name").ok_or("it names no tool")?, args)
            }
            "resources/read" => {
                let uri = text("uri").ok_or("it names no resource")?;
                let args = match uri.split_once(':') {
                    Some(("file", path)) => json!({ "path": path.trim_start_matches("//") }),
                    Some(("http" | "https", _)) => json!({ "url": uri }),
                    _ => json!({ "id": uri }),
                };
                ("read_resource", args)
            }
            "prompts/get" => {
                text("name").ok_or("it names no prompt")?;
                ("get_prompt", params.get("arguments").cloned().unwrap_or(Value::Null))
            }
            // A server that wants the client's model to work for it.
            _ => ("create_message", params.clone()),
        };
        let misspelt = |key: &&String| {
            ["name", "arguments", "uri"].iter().any(|known| *known != key.as_str() && known.eq_ignore_ascii_case(key))
        };
        if let Some(key) = params.as_object().and_then(|fields| fields.keys().find(misspelt)) {
            return Err(format!("`{key}` is no field of it"));
        }
        Ok(Tool::Mcp {
            server: self.server.clone(),
            name: name.to_owned(),
            args,
            annotations: Map::new(),
            description: String::new(),
            schema: Value::Null,
        })
    }

    /// Judges a call for the first time; `named` is the client's own name for it.
    pub(super) fn judge(
        &self,
        (tool, named): (Tool, Option<&str>),
        identity: &Identity,
        means: Means,
    ) -> (Judged, Ruling) {
        let id = crate::memory::call_ids::own_name();
        let mut judged = Judged { decision: id, identity: identity.clone(), tool, is_handed_on: false };
        if let Some(word) = handed_on::take(&self.dirs, &judged.tool, named) {
            judged.decision = word.decision;
            judged.identity.session = word.session;
            judged.is_handed_on = true;
            return (judged, Ruling::Pass);
        }
        let ruling = self.rule(&judged, means);
        (judged, ruling)
    }

    /// Sends the call through all stages once. Whatever fails refuses.
    pub(super) fn rule(&self, judged: &Judged, means: Means) -> Ruling {
        let decided = catch_unwind(AssertUnwindSafe(|| self.decide(judged, means)));
        match decided {
            Ok(Ok((Decision::Allow(_), _))) => Ruling::Pass,
            Ok(Ok((Decision::Silent, _))) => Ruling::Silent,
            Ok(Ok((Decision::Ask(reason), _))) => Ruling::Ask(reason),
            Ok(Ok((Decision::Deny(reason), wait))) if !wait.is_zero() => Ruling::Wait(reason, wait),
            Ok(Ok((Decision::Deny(reason), _))) => Ruling::Refuse(reason),
            // Only shell calls are replaced, and only by hooks.
            Ok(Ok((Decision::Replace(..), _))) => {
                Ruling::Refuse("doorward can't replace a call of this agent".to_owned())
            }
            Ok(Err(error)) => Ruling::Refuse(format!("doorward: {error:#}; the call is blocked")),
            Err(_) => Ruling::Refuse("doorward: internal error; the call is blocked".to_owned()),
        }
    }

    fn decide(&self, judged: &Judged, means: Means) -> Result<(Decision, Duration)> {
        let surroundings = self.surroundings(&judged.identity);
        let mut call = ToolCall::new(judged.tool.clone(), &self.cwd);
        call.agent = surroundings.agent.name().to_owned();
        call.session = judged.identity.session.as_str().into();
        let asked = if means.elicits { AgentQuestion::Permission } else { AgentQuestion::Unheard };
        let proposed = ProposedCall { asked, id: Some(judged.decision.clone()), ..ProposedCall::bare(call) };
        let mut request = Request::new(proposed, &surroundings, Some(means.patience));
        let outcome = pipeline::decide(&mut request, &mut Ledger::open(&self.dirs))?;
        Ok((outcome.decision, outcome.wait))
    }

    fn surroundings(&self, identity: &Identity) -> Surroundings {
        let relayed = Some(self.command.clone());
        Surroundings { relayed, ..Surroundings::new(identity.agent, self.dirs.clone()) }
    }

    /// Waits for somebody at the queue while the client still wants the answer; the ruling then.
    pub(super) fn wait(
        &self,
        judged: &Judged,
        (reason, time): (String, Duration),
        is_wanted: impl FnMut() -> bool,
    ) -> Ruling {
        let session = Session::open(&self.dirs, &judged.identity.session);
        match waiting::wait_while(&self.dirs, &judged.decision, time, is_wanted) {
            waiting::WaitResult::Yes => {
                session.close_question(&judged.decision);
                // The grant counts for this attempt only; whatever changed meanwhile is judged again.
                self.rule(judged, Means { elicits: false, patience: Duration::ZERO })
            }
            waiting::WaitResult::No => {
                session.withdraw_call(Some(&judged.decision));
                Ruling::Refuse("doorward blocks this because a person refused exactly this call".to_owned())
            }
            waiting::WaitResult::Nothing => {
                session.withdraw_call(Some(&judged.decision));
                Ruling::Refuse(reason)
            }
        }
    }

    /// Records how a call ended. Its answer is out already, so a failure here changes nothing for the client.
    pub(super) fn ended(&self, judged: &Judged, result: CallResult, detail: Option<&str>) {
        let surroundings = self.surroundings(&judged.identity);
        let mut ledger = Ledger::open(&self.dirs);
        if !judged.is_handed_on {
            let session = judged.identity.session.as_str().into();
            let (id, agent) = (judged.decision.clone(), surroundings.agent);
            let _ = note_outcome(CallReport { id, session, agent, result, shown: None }, &surroundings, &mut ledger);
        }
        if let Some(detail) = detail {
            let became = if result == CallResult::Ran { Became::Ran } else { Became::Failed };
            let body = OutcomeBody::new(judged.decision.as_str().into(), became, Some(detail.to_owned()));
            let _ = LogEntry::new(&body).and_then(|entry| ledger.append(entry));
        }
    }

    /// From now on the session counts as one that has seen a secret.
    pub(super) fn saw_secret(&self, identity: &Identity) {
        // If this fails, the next call finds the state unreadable and asks.
        let _ = Session::open(&self.dirs, &identity.session).saw_secret();
    }
}
