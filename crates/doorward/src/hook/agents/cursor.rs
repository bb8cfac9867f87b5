//! Cursor, by its documentation: translates its hook payloads to events and calls, and our decisions to its format.

use doorward_engine::{Change, ChangeKind, Tool, ToolCall};
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::{
    AgentQuestion, CallReport, CallResult, Decision, Event, Lifecycle, ProposedCall, Reply, SessionContext,
    SessionEvent, unknown,
};
use crate::machine::agent::Agent;

/// Reads one payload.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    let session = fields.optional_text("conversation_id")?.unwrap_or_default();
    let directory = fields.optional_text("cwd")?;
    let step =
        |step| Ok(Event::Session(SessionEvent { session: session.clone().into(), cwd: directory.clone(), step }));
    match fields.may("hook_event_name")?.ok_or("the payload names no event")? {
        "preToolUse" => before(fields),
        // Cursor documents `ask` as an answer to this event, unlike to `preToolUse`.
        "beforeShellExecution" => {
            let command = fields.need("command")?;
            proposed(fields, Tool::Bash { command, background: false, unsandboxed: false }, AgentQuestion::Permission)
        }
        "beforeMCPExecution" => {
            let (server, name) = (fields.optional_text("server_name")?.unwrap_or_default(), fields.need("tool_name")?);
            proposed(fields, mcp(server, name, arguments(fields)?), AgentQuestion::Permission)
        }
        "beforeReadFile" => proposed(fields, Tool::Read { path: fields.need("file_path")? }, AgentQuestion::Permission),
        "postToolUse" => outcome(fields, CallResult::Ran),
        "postToolUseFailure" => outcome(fields, CallResult::Failed),
        "sessionStart" => step(Lifecycle::Began),
        "sessionEnd" => step(Lifecycle::Ended),
        "preCompact" => step(Lifecycle::Compacted),
        "beforeSubmitPrompt"
        | "stop"
        | "subagentStart"
        | "subagentStop"
        | "afterAgentResponse"
        | "afterAgentThought"
        | "afterShellExecution"
        | "afterMCPExecution"
        | "afterFileEdit"
        | "afterTabFileEdit" => Ok(Event::Nothing),
        other => unknown::event(other, payload),
    }
}

/// Formats the decision. Whether Cursor respects a question before a tool is untested, so there it becomes a refusal.
pub(super) fn reply(asked: AgentQuestion, decision: &Decision) -> Reply {
    let (word, reason) = match (decision, asked) {
        (Decision::Replace(..), _) => ("deny", "doorward can't replace a call of this agent"),
        (Decision::Allow(approval), _) => ("allow", approval.reason()),
        (Decision::Ask(reason), AgentQuestion::Permission) => ("ask", reason.as_str()),
        (Decision::Ask(reason), AgentQuestion::Call | AgentQuestion::Classified | AgentQuestion::Unheard)
        | (Decision::Deny(reason), _) => ("deny", reason.as_str()),
        (Decision::Silent, _) => return Reply::default(),
    };
    let answer = json!({ "permission": word, "user_message": reason, "agent_message": reason });
    Reply { stdout: format!("{answer}\n"), ..Reply::default() }
}

fn before(fields: Fields<'_>) -> Result<Event, String> {
    let name = fields.may("tool_name")?.ok_or("the payload names no tool")?;
    let input = arguments(fields)?;
    let tool = tool(name, &input).unwrap_or_else(|problem| Tool::Malformed {
        name: name.to_owned(),
        problem: format!("the input of `{name}`: {problem}"),
    });
    proposed(fields, tool, AgentQuestion::Call)
}

/// The input of the tool; for servers it comes as JSON in a string.
fn arguments(fields: Fields<'_>) -> Result<Value, String> {
    match fields.value("tool_input") {
        Some(Value::String(text)) => crate::machine::json::parse(text.as_bytes())
            .map_err(|problem| format!("the tool input can't be read: {problem}")),
        Some(input) => Ok(input.clone()),
        None => Err("the payload has no tool input".into()),
    }
}

fn proposed(fields: Fields<'_>, tool: Tool, asked: AgentQuestion) -> Result<Event, String> {
    let roots = fields.value("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
    let named = fields.may("cwd")?.filter(|cwd| !cwd.is_empty()).or(roots);
    let cwd = named.filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let mut call = ToolCall::new(tool, cwd);
    call.agent = Agent::Cursor.name().to_owned();
    call.session = fields.optional_text("conversation_id")?.unwrap_or_default().into();
    call.attended = true;
    let (id, turn) = (fields.optional_text("tool_use_id")?, fields.optional_text("generation_id")?);
    let transcript = fields.optional_text("transcript_path")?;
    Ok(Event::Proposed(Box::new(ProposedCall {
        call,
        id,
        turn,
        asked,
        transcript,
        situation: SessionContext::default(),
        input: None,
    })))
}

fn outcome(fields: Fields<'_>, result: CallResult) -> Result<Event, String> {
    let session = fields.optional_text("conversation_id")?.unwrap_or_default();
    Ok(fields.optional_text("tool_use_id")?.map_or(Event::Nothing, |id| {
        Event::Outcome(CallReport { id, session: session.into(), agent: Agent::Cursor, result, shown: None })
    }))
}

pub(super) fn tool(name: &str, input: &Value) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name {
        "Shell" => {
            let fields =
                fields.only("command working_directory cwd timeout description is_background block_until_ms")?;
            let directory = fields.either("working_directory", "cwd")?;
            let command = super::gemini::within(fields.need("command")?, directory.as_deref(), None);
            Tool::Bash { command, background: fields.flag("is_background")?, unsandboxed: false }
        }
        "Write" => {
            let fields = fields.only("file_path path content contents")?;
            let path = fields.either("file_path", "path")?.ok_or("`file_path` is missing")?;
            let content = fields.either("content", "contents")?.ok_or("`content` is missing")?;
            Tool::Write { path, content }
        }
        "Delete" => {
            let fields = fields.only("file_path path")?;
            let path = fields.either("file_path", "path")?.ok_or("`file_path` is missing")?;
            let change = Change { path, kind: ChangeKind::Delete, old: String::new(), new: String::new() };
            Tool::Edit { changes: vec![change] }
        }
        "Read" => {
            let fields = fields.only("file_path path offset limit")?;
            Tool::Read { path: fields.either("file_path", "path")?.ok_or("`file_path` is missing")? }
        }
        "Task" => Tool::Task {
            agent: fields.optional_text("subagent_type")?.unwrap_or_default(),
            description: fields.need("prompt")?,
        },
        _ => match name.strip_prefix("MCP:") {
            Some(tool) => mcp(String::new(), tool.to_owned(), input.clone()),
            None => Tool::Other { name: name.to_owned(), input: input.clone() },
        },
    })
}

fn mcp(server: String, name: String, args: Value) -> Tool {
    Tool::Mcp { server, name, args, annotations: Map::new(), description: String::new(), schema: Value::Null }
}
