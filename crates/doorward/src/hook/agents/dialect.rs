//! The hook format that Claude Code introduced and others adopted: events with `hook_event_name`, answers with
//! `hookSpecificOutput`.

use doorward_engine::{Tool, ToolCall};
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::{
    AgentQuestion, CallReport, CallResult, Decision, Event, InstructionFile, LentKey, Lifecycle, Proof, ProposedCall,
    Reply, SessionContext, SessionEvent, UserMessage, unknown,
};
use crate::machine::agent::Agent;

/// What differs from one agent to the next.
#[derive(Clone, Copy)]
pub(super) struct Speaker {
    pub agent: Agent,
    /// A tool of the agent: its name, its input and the whole payload.
    pub tool: fn(&str, &Value, Fields<'_>) -> Result<Tool, String>,
    /// The field that names the turn.
    pub turn: &'static str,
    /// Whether a prompt can come from the user, and how that is proved.
    pub proof: fn(Fields<'_>, bool) -> Result<Option<Proof>, String>,
    /// Whether a permission request waits for our answer.
    pub answers_requests: bool,
    /// Who refused a call that the agent reports as denied.
    pub denied: CallResult,
}

/// Reads one payload.
pub(super) fn translate(payload: &Value, attended: bool, speaker: Speaker) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    let event = fields.may("hook_event_name")?.ok_or("the payload names no event")?;
    translate_other(fields, event, attended, speaker)
}

/// Reads the payload of an event with this name.
pub(super) fn translate_other(
    fields: Fields<'_>,
    event: &str,
    attended: bool,
    speaker: Speaker,
) -> Result<Event, String> {
    match event {
        "PreToolUse" => proposed(fields, attended, speaker, AgentQuestion::Call),
        "PermissionRequest" if speaker.answers_requests => {
            proposed(fields, attended, speaker, AgentQuestion::Permission)
        }
        // Answering would answer our own question in the user's place.
        "PermissionRequest" => Ok(Event::Nothing),
        "PostToolUse" => {
            outcome(fields, speaker, if fields.flag("is_error")? { CallResult::Failed } else { CallResult::Ran })
        }
        "PostToolUseFailure" => outcome(fields, speaker, CallResult::Failed),
        "PermissionDenied" => outcome(fields, speaker, speaker.denied),
        "UserPromptSubmit" => user_message(fields, attended, speaker),
        "SessionStart" => session(fields, Lifecycle::Began),
        "SessionEnd" => session(fields, Lifecycle::Ended),
        "PreCompact" => session(fields, Lifecycle::Compacted),
        "SubagentStart" => {
            session(fields, Lifecycle::SubagentBegan(fields.optional_text("agent_id")?.unwrap_or_default()))
        }
        "SubagentStop" => {
            session(fields, Lifecycle::SubagentEnded(fields.optional_text("agent_id")?.unwrap_or_default()))
        }
        quiet if QUIET.contains(&quiet) => Ok(Event::Nothing),
        other => unknown::event(other, &fields.whole()),
    }
}

/// Events that are not about calls and that some client of the dialect is known to send.
// Listed by name: an unknown event may carry a call under a field we don't read, and is refused instead.
const QUIET: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "Notification",
    "PostCompact",
    "PostToolBatch",
    "Setup",
    "Stop",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// The answer to a call that is about to run.
pub(super) fn reply(decision: &Decision) -> Reply {
    let Some((word, reason)) = decision.in_words() else { return Reply::default() };
    output(&json!({
        "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason,
    }))
}

/// The same from an agent that can be told to run another command.
pub(super) fn reply_or_replace(proposed: &ProposedCall, decision: &Decision) -> Reply {
    match (decision, &proposed.input) {
        (Decision::Replace(approval, command), Some(input)) => output(&json!({
            "hookEventName": "PreToolUse", "permissionDecision": "allow",
            "permissionDecisionReason": approval.reason(), "updatedInput": replaced(input, command),
        })),
        _ => reply(decision),
    }
}

/// The whole input, with another command.
pub(super) fn replaced(input: &Value, command: &str) -> Value {
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.insert("command".to_owned(), command.into());
    }
    input
}

/// A text for the model at the start of a session.
pub(super) fn context(text: &str) -> Reply {
    output(&json!({ "hookEventName": "SessionStart", "additionalContext": text }))
}

/// Wraps an answer.
pub(super) fn output(specific: &Value) -> Reply {
    Reply { stdout: format!("{}\n", json!({ "hookSpecificOutput": specific })), ..Reply::default() }
}

/// A tool of a server: `rest` is its full name without the prefix.
pub(super) fn mcp(rest: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let named = match payload.value("mcp_server").map(Fields::of) {
        Some(Ok(server)) => server.may("name")?,
        Some(Err(_)) | None => None,
    };
    // A server's name may contain the separator; the payload says which part is the name.
    let known = named.and_then(|server| Some((server, rest.strip_prefix(server)?.strip_prefix("__")?)));
    let (server, name) = known.or_else(|| rest.split_once("__")).unwrap_or((rest, ""));
    // If the name could end in more than one place, the server is unknown.
    let is_clear = known.is_some() || rest.find("__") == rest.rfind("__");
    let server = if is_clear { server } else { rest };
    Ok(Tool::Mcp {
        server: server.to_owned(),
        name: name.to_owned(),
        args: input.clone(),
        annotations: Map::new(),
        description: String::new(),
        schema: Value::Null,
    })
}

/// A machine-written prompt: notifications, reminders and commands come in angle brackets.
pub(super) fn is_machine_made(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    prompt.is_empty() || prompt.starts_with('<')
}

fn proposed(fields: Fields<'_>, attended: bool, speaker: Speaker, asked: AgentQuestion) -> Result<Event, String> {
    let cwd = fields.may("cwd")?.filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let name = fields.may("tool_name")?.ok_or("the payload names no tool")?;
    let input = fields.value("tool_input").ok_or("the payload has no tool input")?;
    let tool = (speaker.tool)(name, input, fields).unwrap_or_else(|problem| Tool::Malformed {
        name: name.to_owned(),
        problem: format!("the input of `{name}`: {problem}"),
    });
    let mut call = ToolCall::new(tool, cwd);
    call.agent = speaker.agent.name().to_owned();
    call.session = fields.optional_text("session_id")?.unwrap_or_default().into();
    call.subagent = fields.optional_text("agent_id")?.unwrap_or_default();
    call.attended = attended;
    call.places = places(input);
    call.cancelled = fields.flag("cancelled")?;
    let input = matches!(call.tool, Tool::Bash { .. }).then(|| input.clone());
    Ok(Event::Proposed(Box::new(ProposedCall {
        call,
        id: fields.optional_text("tool_use_id")?,
        turn: fields.optional_text(speaker.turn)?,
        asked,
        transcript: fields.optional_text("transcript_path")?,
        // Fields of the wrong type are ignored; they don't make us refuse the call.
        situation: SessionContext {
            instructions: instructions(fields),
            model: fields.optional_text("session_model").ok().flatten(),
            handed: handed(fields),
            program: fields.optional_text("agent_program").ok().flatten(),
        },
        input,
    })))
}

/// The instruction files, one by one; older extensions combine them into one text.
fn instructions(fields: Fields<'_>) -> Option<Vec<InstructionFile>> {
    match fields.objects("loaded_context") {
        Ok(files) => {
            let read = |file: Fields<'_>| {
                let (path, text) = (file.optional_text("path").ok()??, file.optional_text("content").ok()??);
                Some(InstructionFile { path, text })
            };
            Some(files.into_iter().filter_map(read).collect())
        }
        Err(_) => {
            let text = fields.optional_text("loaded_context").ok()??;
            Some(vec![InstructionFile { path: "as the agent loaded them".to_owned(), text }])
        }
    }
}

/// The agent's own key for the reviewer.
fn handed(fields: Fields<'_>) -> Option<LentKey> {
    let lent = Fields::of(fields.value("reviewer_key")?).ok()?;
    let text = |name: &str| lent.optional_text(name).ok().flatten();
    Some(LentKey { provider: text("provider")?, url: text("url")?, key: text("key")? })
}

/// What decides which places of a file change, besides the removed and added text. Approving one does not approve the
/// others.
fn places(input: &Value) -> String {
    const NAMES: &[&str] = &[
        "replace_all",
        "replaceAll",
        "allow_multiple",
        "expected_replacements",
        "cell_id",
        "cell_number",
        "cell_type",
        "edit_mode",
    ];
    let given = NAMES.iter().filter_map(|name| Some((*name).to_owned()).zip(input.get(name).cloned()));
    let given: Map<String, Value> = given.filter(|(_, value)| *value != Value::Bool(false)).collect();
    if given.is_empty() { String::new() } else { Value::Object(given).to_string() }
}

fn outcome(fields: Fields<'_>, speaker: Speaker, result: CallResult) -> Result<Event, String> {
    let session = fields.optional_text("session_id")?.unwrap_or_default();
    let command = fields.value("tool_input").and_then(|input| input.get("command")).and_then(Value::as_str);
    let shown = command.map(str::to_owned);
    Ok(match fields.optional_text("tool_use_id")? {
        Some(id) => Event::Outcome(CallReport { id, session: session.into(), agent: speaker.agent, result, shown }),
        None => Event::Nothing,
    })
}

fn user_message(fields: Fields<'_>, attended: bool, speaker: Speaker) -> Result<Event, String> {
    let words = fields.optional_text("prompt")?.unwrap_or_default();
    // A subagent's prompt was written by an agent.
    if fields.has("agent_id") || is_machine_made(&words) {
        return Ok(Event::Nothing);
    }
    Ok(match (speaker.proof)(fields, attended)? {
        Some(proof) => Event::Said(UserMessage {
            session: fields.optional_text("session_id")?.unwrap_or_default().into(),
            words,
            turn: fields.optional_text(speaker.turn)?,
            proof,
        }),
        None => Event::Nothing,
    })
}

fn session(fields: Fields<'_>, step: Lifecycle) -> Result<Event, String> {
    let session = fields.optional_text("session_id")?.unwrap_or_default();
    Ok(Event::Session(SessionEvent { session: session.into(), cwd: fields.optional_text("cwd")?, step }))
}
