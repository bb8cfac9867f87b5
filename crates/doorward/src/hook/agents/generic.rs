//! Any other agent: uses the format of `doorward check --jsonl`, one object per event.

use doorward_engine::{ToolCall, tool_from_json};
use serde_json::{Value, json};

use super::fields::Fields;
use super::{
    AgentQuestion, CallReport, CallResult, Decision, Event, Lifecycle, Proof, ProposedCall, Reply, SessionContext,
    SessionEvent, UserMessage,
};
use crate::machine::agent::Agent;

/// Reads one event: `call`, `outcome`, `said` or `session`.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    match fields.may("event")?.ok_or("the payload names no event")? {
        "call" => proposed(fields),
        "outcome" => outcome(fields),
        "said" => user_message(fields),
        "session" => session(fields),
        unknown => Err(format!("`{unknown}` is not a known event")),
    }
}

/// Formats the verdict. In modes that leave the decision to the agent the verdict is `none`.
pub(super) fn reply(id: Option<&str>, decision: &Decision) -> Reply {
    let (verdict, reason) = match decision {
        Decision::Replace(..) => ("block", "doorward can't replace a call of this agent"),
        Decision::Allow(approval) => ("approve", approval.reason()),
        Decision::Ask(reason) => ("confirm", reason.as_str()),
        Decision::Deny(reason) => ("block", reason.as_str()),
        Decision::Silent => ("none", "doorward leaves this to the agent"),
    };
    let mut answer = json!({ "verdict": verdict, "reason": reason });
    if let (Some(id), Value::Object(fields)) = (id, &mut answer) {
        fields.insert("id".to_owned(), Value::from(id));
    }
    Reply { stdout: format!("{answer}\n"), ..Reply::default() }
}

fn proposed(fields: Fields<'_>) -> Result<Event, String> {
    let fields = fields.only("event tool input cwd session subagent id turn attended cancelled truncated")?;
    let cwd = fields.may("cwd")?.filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let tool = fields.may("tool")?.ok_or("the payload names no tool")?;
    let input = fields.value("input").ok_or("the payload has no input")?;
    let mut call = ToolCall::new(tool_from_json(tool, input), cwd);
    call.agent = Agent::Generic.name().to_owned();
    call.session = fields.optional_text("session")?.unwrap_or_default().into();
    call.subagent = fields.optional_text("subagent")?.unwrap_or_default();
    call.attended = fields.flag("attended")?;
    call.cancelled = fields.flag("cancelled")?;
    call.truncated = fields.flag("truncated")?;
    let (id, turn) = (fields.optional_text("id")?, fields.optional_text("turn")?);
    Ok(Event::Proposed(Box::new(ProposedCall {
        call,
        id,
        turn,
        asked: AgentQuestion::Call,
        transcript: None,
        situation: SessionContext::default(),
        input: None,
    })))
}

fn outcome(fields: Fields<'_>) -> Result<Event, String> {
    let result = match fields.may("result")? {
        Some("ran") => CallResult::Ran,
        Some("failed") => CallResult::Failed,
        Some("declined") => CallResult::Declined,
        Some(other) => return Err(format!("`{other}` is not a known result")),
        None => return Err("the payload names no result".into()),
    };
    Ok(Event::Outcome(CallReport {
        id: fields.need("id")?,
        session: fields.optional_text("session")?.unwrap_or_default().into(),
        agent: Agent::Generic,
        result,
        shown: None,
    }))
}

fn user_message(fields: Fields<'_>) -> Result<Event, String> {
    if fields.may("origin")? != Some("person") {
        return Ok(Event::Nothing);
    }
    Ok(Event::Said(UserMessage {
        session: fields.optional_text("session")?.unwrap_or_default().into(),
        words: fields.need("text")?,
        turn: fields.optional_text("turn")?,
        proof: Proof::Event,
    }))
}

fn session(fields: Fields<'_>) -> Result<Event, String> {
    let step = match fields.may("step")? {
        Some("began") => Lifecycle::Began,
        Some("ended") => Lifecycle::Ended,
        Some("compacted") => Lifecycle::Compacted,
        Some("subagent-began") => Lifecycle::SubagentBegan(fields.optional_text("id")?.unwrap_or_default()),
        Some("subagent-ended") => Lifecycle::SubagentEnded(fields.optional_text("id")?.unwrap_or_default()),
        Some(other) => return Err(format!("`{other}` is not a known step of a session")),
        None => return Err("the payload names no step".into()),
    };
    let session = fields.optional_text("session")?.unwrap_or_default();
    Ok(Event::Session(SessionEvent { session: session.into(), cwd: fields.optional_text("cwd")?, step }))
}
