//! Windsurf, by its documentation: translates its hook payloads to events and calls. It accepts only a refusal by exit code.

use std::path::Path;

use doorward_engine::{Change, ChangeKind, Tool, ToolCall};
use serde_json::{Map, Value};

use super::fields::Fields;
use super::{CallResult, Decision, Event, ProposedCall, Reply, fingerprint, unknown};
use crate::machine::agent::Agent;

/// Reads one payload.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    let action = fields.may("agent_action_name")?.ok_or("the payload names no action")?;
    let session = fields.optional_text("trajectory_id")?.unwrap_or_default();
    // Windsurf names actions `pre_run_command`, `post_run_command` and so on.
    let (when, what) = action.split_once('_').unwrap_or_default();
    let is_call = matches!(what, "run_command" | "write_code" | "read_code" | "mcp_tool_use");
    match (when, is_call) {
        ("pre", true) => {
            let info = fields.value("tool_info").ok_or("the payload has no tool info")?;
            proposed(what, info, session)
        }
        ("post", true) => {
            let info = fields.value("tool_info").ok_or("the payload has no tool info")?;
            Ok(fingerprint::outcome((&session, Agent::Windsurf), what, &asked_for(info), CallResult::Ran))
        }
        ("pre", false) if what == "user_prompt" => Ok(Event::Nothing),
        ("post", false) if AFTERWARDS.contains(&what) => Ok(Event::Nothing),
        ("pre", false) => Err(format!("`{action}` is not a known action")),
        _ => unknown::event(action, payload),
    }
}

/// What Windsurf reports afterwards, besides calls.
// Windsurf fires these after the fact, and an exit code of 2 would show an error for nothing.
const AFTERWARDS: &[&str] = &["cascade_response", "cascade_response_with_transcript", "setup_worktree"];

/// Formats the decision: only a refusal has an answer, with exit code 2 and its reason.
pub(super) fn reply(decision: &Decision) -> Reply {
    match decision {
        // It can only run the call as it is, or not.
        Decision::Replace(..) => reply(&Decision::Deny("doorward can't replace a call of this agent".to_owned())),
        Decision::Allow(_) | Decision::Silent => Reply::default(),
        Decision::Ask(reason) | Decision::Deny(reason) => {
            Reply { stdout: String::new(), stderr: format!("{reason}\n"), code: 2 }
        }
    }
}

fn proposed(what: &str, info: &Value, session: String) -> Result<Event, String> {
    let fields = Fields::of(info)?;
    let tool = tool(what, fields).unwrap_or_else(|problem| Tool::Malformed {
        name: what.to_owned(),
        problem: format!("the info of `{what}`: {problem}"),
    });
    // Only commands say where they run.
    let folder = fields.may("file_path")?.and_then(|path| Path::new(path).parent()).and_then(Path::to_str);
    let named = fields.may("cwd")?.or(folder).unwrap_or("/");
    let cwd = Some(named).filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let mut call = ToolCall::new(tool, cwd);
    call.agent = Agent::Windsurf.name().to_owned();
    call.session = session.into();
    call.attended = true;
    Ok(fingerprint::proposed(ProposedCall::bare(call), what, &asked_for(info)))
}

/// The request, without its result.
fn asked_for(info: &Value) -> Value {
    let fields = info.as_object().into_iter().flatten();
    let is_answer = |name: &str| name == "mcp_result";
    Value::Object(
        fields.filter(|(name, _)| !is_answer(name)).map(|(name, value)| (name.clone(), value.clone())).collect(),
    )
}

fn tool(what: &str, fields: Fields<'_>) -> Result<Tool, String> {
    Ok(match what {
        "run_command" => Tool::Bash {
            command: fields.only("command_line cwd")?.need("command_line")?,
            background: false,
            unsandboxed: false,
        },
        "read_code" => Tool::Read { path: fields.only("file_path")?.need("file_path")? },
        "write_code" => write(fields.only("file_path edits")?)?,
        "mcp_tool_use" => {
            let fields = fields.only("mcp_server_name mcp_tool_name mcp_tool_arguments")?;
            Tool::Mcp {
                server: fields.need("mcp_server_name")?,
                name: fields.need("mcp_tool_name")?,
                args: fields.value("mcp_tool_arguments").cloned().unwrap_or(Value::Null),
                annotations: Map::new(),
                description: String::new(),
                schema: Value::Null,
            }
        }
        other => return Err(format!("`{other}` is unknown")),
    })
}

fn write(fields: Fields<'_>) -> Result<Tool, String> {
    let path = fields.need("file_path")?;
    let change = |edit: Fields<'_>| {
        let edit = edit.only("old_string new_string")?;
        let (old, new) = (edit.optional_text("old_string")?.unwrap_or_default(), edit.need("new_string")?);
        let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
        Ok(Change { path: path.clone(), kind, old, new })
    };
    Ok(Tool::Edit { changes: fields.objects("edits")?.into_iter().map(change).collect::<Result<_, String>>()? })
}
