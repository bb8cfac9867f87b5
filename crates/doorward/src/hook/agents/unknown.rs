//! Unknown events: one that carries a call must not pass silently.

use serde_json::Value;

use super::Event;

/// Names of fields that contain a call or part of one, in lowercase and without `_` and `-`.
// A client that renames its event would otherwise get silence for an answer, which lets the call run.
const OF_A_CALL: &[&str] = &[
    "args",
    "arguments",
    "cmd",
    "code",
    "command",
    "commandline",
    "commands",
    "content",
    "edits",
    "filepath",
    "input",
    "mcpservername",
    "mcptoolname",
    "patch",
    "path",
    "rawinput",
    "script",
    "servername",
    "tool",
    "toolargs",
    "toolarguments",
    "toolcall",
    "toolcalls",
    "toolinfo",
    "toolinput",
    "toolname",
    "tooluseid",
    "url",
];

/// Deeper than any payload nests its content.
// Deeper values are content of files and messages, where such names mean nothing.
pub(super) const DEPTH: usize = 4;

/// The meaning of an unknown event: nothing, unless it carries a call. Then the agent may be waiting for an answer and would
/// take silence for a yes.
pub(super) fn event(name: &str, payload: &Value) -> Result<Event, String> {
    match call_field(payload, DEPTH) {
        Some(field) => Err(format!(
            "`{name}` isn't an event doorward knows from this agent, and it carries a call (`{field}`); if the agent is \
             newer than doorward, update doorward"
        )),
        None => Ok(Event::Nothing),
    }
}

/// The first field, at any depth, that contains a call.
pub(super) fn call_field(value: &Value, depth: usize) -> Option<&str> {
    let left = depth.checked_sub(1)?;
    match value {
        Value::Object(fields) => fields
            .keys()
            .find(|name| is_of_call(name))
            .map(String::as_str)
            .or_else(|| fields.values().find_map(|inner| call_field(inner, left))),
        Value::Array(items) => items.iter().find_map(|inner| call_field(inner, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is_of_call(name: &str) -> bool {
    let plain: String = name.chars().filter(|sign| !matches!(sign, '_' | '-')).collect();
    OF_A_CALL.contains(&plain.to_ascii_lowercase().as_str())
}
