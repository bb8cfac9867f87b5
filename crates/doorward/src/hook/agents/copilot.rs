//! Copilot CLI: translates its hook payloads, which name no event, to events and calls, and our decisions to its format.

use doorward_engine::{Change, ChangeKind, Tool, ToolCall};
use serde_json::{Value, json};

use super::dialect;
use super::fields::Fields;
use super::{CallResult, Decision, Event, Lifecycle, ProposedCall, Reply, SessionEvent, fingerprint, patch, unknown};
use crate::machine::agent::Agent;

/// Reads one payload. Its fields show what happened; anything with a tool and without a result is a call.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    let session = fields.optional_text("sessionId")?.unwrap_or_default();
    match fields.may("hookName")? {
        // Answering would answer our own question in the user's place.
        Some("permissionRequest") => return Ok(Event::Nothing),
        Some(other) if fields.has("toolName") => return Err(format!("`{other}` is not a known event of a tool call")),
        Some(_) | None => {}
    }
    if let Some(name) = fields.may("toolName")? {
        let input = input(fields)?;
        // INVARIANT: anything without a result is a call waiting for our answer.
        return match fields.value("toolResult").filter(|result| result.is_object()) {
            Some(result) => Ok(fingerprint::outcome((&session, Agent::Copilot), name, &input, result_of(result))),
            None => proposed(fields, name, &input, session),
        };
    }
    // VS Code reads hooks from the same folder; its payloads look different, and it would not understand our answer.
    if let Some(field) = unknown::call_field(&fields.whole(), unknown::DEPTH) {
        return Err(format!("the payload carries a call (`{field}`) that is not in Copilot CLI's format"));
    }
    // Copilot CLI sends no event name; these fields are what tells its events apart.
    let step = match (fields.has("source"), fields.has("reason") && !fields.has("stopReason")) {
        (true, _) => Lifecycle::Began,
        (false, true) => Lifecycle::Ended,
        (false, false) if fields.has("toolArgs") => return Err("the payload names no tool".into()),
        // A prompt, or the end of a turn: nothing shows whether the user wrote it.
        (false, false) if fields.has("sessionId") => return Ok(Event::Nothing),
        (false, false) => return Err("the payload is not from Copilot".into()),
    };
    Ok(Event::Session(SessionEvent { session: session.into(), cwd: fields.optional_text("cwd")?, step }))
}

/// Formats the decision.
pub(super) fn reply(decision: &Decision) -> Reply {
    let Some((word, reason)) = decision.in_words() else { return Reply::default() };
    let answer = json!({ "permissionDecision": word, "permissionDecisionReason": reason });
    Reply { stdout: format!("{answer}\n"), ..Reply::default() }
}

/// The input of the tool; some versions send it as JSON in a string.
fn input(fields: Fields<'_>) -> Result<Value, String> {
    match fields.value("toolArgs") {
        Some(Value::String(text)) => crate::machine::json::parse(text.as_bytes())
            .map_err(|problem| format!("the tool input can't be read: {problem}")),
        Some(input) => Ok(input.clone()),
        None => Err("the payload has no tool input".into()),
    }
}

fn result_of(result: &Value) -> CallResult {
    match result.get("resultType").and_then(Value::as_str) {
        Some("success") => CallResult::Ran,
        Some("denied" | "rejected") => CallResult::Refused,
        Some(_) | None => CallResult::Failed,
    }
}

fn proposed(fields: Fields<'_>, name: &str, input: &Value, session: String) -> Result<Event, String> {
    let cwd = fields.may("cwd")?.filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let tool = tool(name, input, fields).unwrap_or_else(|problem| Tool::Malformed {
        name: name.to_owned(),
        problem: format!("the input of `{name}`: {problem}"),
    });
    let mut call = ToolCall::new(tool, cwd);
    call.agent = Agent::Copilot.name().to_owned();
    call.session = session.into();
    // It does not say; if no one can answer, it refuses on its own.
    // Claiming otherwise would turn its own prompt into a refusal.
    call.attended = true;
    Ok(fingerprint::proposed(ProposedCall::bare(call), name, input))
}

pub(super) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    if let ("apply_patch", Some(text)) = (name, input.as_str()) {
        return Ok(Tool::Edit { changes: patch::changes(text)? });
    }
    let fields = Fields::of(input)?;
    Ok(match name {
        "bash" => {
            let fields = fields.only("command description mode sessionId shellId initial_wait timeout detach")?;
            let background = matches!(fields.may("mode")?, Some("async" | "detached")) || fields.flag("detach")?;
            Tool::Bash { command: fields.need("command")?, background, unsandboxed: false }
        }
        "create" => {
            let fields = fields.only("path file_text")?;
            Tool::Write { path: fields.need("path")?, content: fields.optional_text("file_text")?.unwrap_or_default() }
        }
        "edit" => {
            let fields = fields.only("path old_str new_str")?;
            let (old, new) = (fields.need("old_str")?, fields.optional_text("new_str")?.unwrap_or_default());
            let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
            Tool::Edit { changes: vec![Change { path: fields.need("path")?, kind, old, new }] }
        }
        "apply_patch" => Tool::Edit { changes: patch::changes(&fields.only("input patch")?.need("input")?)? },
        "view" => Tool::Read { path: fields.only("path view_range forceReadLargeFiles")?.need("path")? },
        "grep" | "rg" | "glob" => search(fields)?,
        "web_fetch" => Tool::Fetch { url: fields.only("url max_length start_index raw")?.need("url")?, method: None },
        "web_search" => Tool::WebSearch { query: fields.need("query")? },
        "task" => Tool::Task {
            agent: fields.optional_text("agent_type")?.unwrap_or_default(),
            description: fields.need("prompt")?,
        },
        _ => match name.strip_prefix("mcp__") {
            Some(rest) => dialect::mcp(rest, input, payload)?,
            None => Tool::Other { name: name.to_owned(), input: input.clone() },
        },
    })
}

fn search(fields: Fields<'_>) -> Result<Tool, String> {
    let known = "pattern path paths glob type output_mode head_limit multiline -A -B -C -n -i";
    let fields = fields.only(known)?;
    // A search tool has one path here; judging the first would ignore the rest.
    if fields.has("paths") {
        return Err("it names several places".into());
    }
    Ok(Tool::Search {
        path: fields.optional_text("path")?,
        pattern: fields.optional_text("pattern")?,
        files: fields.optional_text("glob")?,
    })
}
