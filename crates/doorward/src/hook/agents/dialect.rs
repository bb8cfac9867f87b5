//! The hook format that Claude Code introduced and others adopted: events with `hook_event_name`, answers with
//! `hookSpecificOutput`.

use doorward_engine::{Tool, ToolCall};
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::{
    Asked, Decision, Ended, Event, Handed, Outcome, Proof, Proposed, Reply, Said, SessionEvent, Situation, Step,
    unknown,
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
    pub denied: Ended,
}

/// Reads one payload.
pub(super) fn translate(payload: &Value, attended: bool, speaker: Speaker) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    let event = fields.may("hook_event_name")?.ok_or("the payload names no event")?;
    told(fields, event, attended, speaker)
}

/// Reads the payload of an event with this name.
pub(super) fn told(fields: Fields<'_>, event: &str, attended: bool, speaker: Speaker) -> Result<Event, String> {
    match event {
        "PreToolUse" => proposed(fields, attended, speaker, Asked::Call),
        "PermissionRequest" if speaker.answers_requests => proposed(fields, attended, speaker, Asked::Permission),
        // Answering would answer our own question in the user's place.
        "PermissionRequest" => Ok(Event::Nothing),
        "PostToolUse" => outcome(fields, if fields.flag("is_error")? { Ended::Failed } else { Ended::Ran }),
        "PostToolUseFailure" => outcome(fields, Ended::Failed),
        "PermissionDenied" => outcome(fields, speaker.denied),
        "UserPromptSubmit" => said(fields, attended, speaker),
        "SessionStart" => session(fields, Step::Began),
        "SessionEnd" => session(fields, Step::Ended),
        "PreCompact" => session(fields, Step::Compacted),
        "SubagentStart" => session(fields, Step::SubagentBegan(fields.own("agent_id")?.unwrap_or_default())),
        "SubagentStop" => session(fields, Step::SubagentEnded(fields.own("agent_id")?.unwrap_or_default())),
        quiet if QUIET.contains(&quiet) => Ok(Event::Nothing),
        other => unknown::event(other, &fields.whole()),
    }
}

/// Events that are not about calls and that some client of the dialect is known to send.
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
    let (word, reason) = match decision {
        Decision::Allow(approval) => ("allow", approval.reason()),
        Decision::Ask(reason) => ("ask", reason.as_str()),
        Decision::Deny(reason) => ("deny", reason.as_str()),
        Decision::Silent => return Reply::default(),
    };
    output(&json!({
        "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason,
    }))
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
    })
}

/// A machine-written prompt: notifications, reminders and commands come in angle brackets.
pub(super) fn is_machine_made(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    prompt.is_empty() || prompt.starts_with('<')
}

fn proposed(fields: Fields<'_>, attended: bool, speaker: Speaker, asked: Asked) -> Result<Event, String> {
    let cwd = fields.may("cwd")?.filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let name = fields.may("tool_name")?.ok_or("the payload names no tool")?;
    let input = fields.value("tool_input").ok_or("the payload has no tool input")?;
    let tool = (speaker.tool)(name, input, fields).unwrap_or_else(|problem| Tool::Malformed {
        name: name.to_owned(),
        problem: format!("the input of `{name}`: {problem}"),
    });
    let mut call = ToolCall::new(tool, cwd);
    call.agent = speaker.agent.name().to_owned();
    call.session = fields.own("session_id")?.unwrap_or_default().into();
    call.subagent = fields.own("agent_id")?.unwrap_or_default();
    call.attended = attended;
    call.places = places(input);
    call.cancelled = fields.flag("cancelled")?;
    Ok(Event::Proposed(Box::new(Proposed {
        call,
        id: fields.own("tool_use_id")?,
        turn: fields.own(speaker.turn)?,
        asked,
        transcript: fields.own("transcript_path")?,
        // Fields of the wrong type are ignored; they don't make us refuse the call.
        situation: Situation {
            instructions: instructions(fields),
            model: fields.own("session_model").ok().flatten(),
            handed: handed(fields),
        },
    })))
}

/// The instruction files, one by one; older extensions combine them into one text.
fn instructions(fields: Fields<'_>) -> Option<Vec<(String, String)>> {
    match fields.objects("loaded_context") {
        Ok(files) => {
            let named = |file: Fields<'_>| Some((file.own("path").ok()??, file.own("content").ok()??));
            Some(files.into_iter().filter_map(named).collect())
        }
        Err(_) => Some(vec![("as the agent loaded them".to_owned(), fields.own("loaded_context").ok()??)]),
    }
}

/// The agent's own key for the reviewer.
fn handed(fields: Fields<'_>) -> Option<Handed> {
    let lent = Fields::of(fields.value("reviewer_key")?).ok()?;
    let text = |name: &str| lent.own(name).ok().flatten();
    Some(Handed { provider: text("provider")?, url: text("url")?, key: text("key")? })
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

fn outcome(fields: Fields<'_>, result: Ended) -> Result<Event, String> {
    let session = fields.own("session_id")?.unwrap_or_default();
    Ok(match fields.own("tool_use_id")? {
        Some(id) => Event::Outcome(Outcome { id, session: session.into(), result }),
        None => Event::Nothing,
    })
}

fn said(fields: Fields<'_>, attended: bool, speaker: Speaker) -> Result<Event, String> {
    let words = fields.own("prompt")?.unwrap_or_default();
    // A subagent's prompt was written by an agent.
    if fields.has("agent_id") || is_machine_made(&words) {
        return Ok(Event::Nothing);
    }
    Ok(match (speaker.proof)(fields, attended)? {
        Some(proof) => Event::Said(Said {
            session: fields.own("session_id")?.unwrap_or_default().into(),
            words,
            turn: fields.own(speaker.turn)?,
            proof,
        }),
        None => Event::Nothing,
    })
}

fn session(fields: Fields<'_>, step: Step) -> Result<Event, String> {
    let session = fields.own("session_id")?.unwrap_or_default();
    Ok(Event::Session(SessionEvent { session: session.into(), cwd: fields.own("cwd")?, step }))
}
