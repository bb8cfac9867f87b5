//! What the relay says in its own name: refusals, questions and progress, each one line.

use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The error of JSON-RPC for a message that cannot be read.
const UNREADABLE: i64 = -32700;
/// For one that may not be sent like this.
const INVALID: i64 = -32600;
/// For a call that doorward does not let through.
const REFUSED: i64 = -32001;

/// A refused call as the model reads it: an error result for a tool, an error for everything else.
pub(super) fn refusal(id: &RawValue, method: &str, reason: &str) -> String {
    let reason = crate::machine::visible(reason);
    let body = match method {
        "tools/call" => json!({ "result": {
            "content": [{ "type": "text", "text": reason }], "isError": true, "resultType": "complete" } }),
        _ => json!({ "error": { "code": REFUSED, "message": reason } }),
    };
    with_id(id.get(), body)
}

pub(super) fn invalid(id: Option<&RawValue>, reason: &str) -> String {
    with_id(id.map_or("null", RawValue::get), json!({ "error": { "code": INVALID, "message": reason } }))
}

/// A method that nobody knows.
pub(super) fn unknown(id: &RawValue) -> String {
    with_id(id.get(), json!({ "error": { "code": -32601, "message": "there is no such method" } }))
}

pub(super) fn unreadable(reason: &str) -> String {
    let message = format!("doorward can't read this message, so it was not passed on: {reason}");
    with_id("null", json!({ "error": { "code": UNREADABLE, "message": message } }))
}

/// The id as it stands in the request: a number beyond 64 bits must come back unchanged.
fn with_id(id: &str, body: Value) -> String {
    let text = body.to_string();
    let inner = text.get(1..).unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{inner}\n")
}

/// A question that the client puts to its user.
pub(super) fn question(id: &str, reason: &str) -> String {
    let message = json!({
        "jsonrpc": "2.0", "id": id, "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": crate::machine::visible(reason),
            "requestedSchema": {
                "type": "object",
                "properties": { "allow": { "type": "boolean", "title": "Let this call run once", "default": false } },
                "required": ["allow"],
            },
        },
    });
    format!("{message}\n")
}

/// The user chose to let the call run.
pub(super) fn says_yes(result: Option<&RawValue>) -> bool {
    let said: Value = result.and_then(|result| serde_json::from_str(result.get()).ok()).unwrap_or_default();
    said.get("action").and_then(Value::as_str) == Some("accept")
        && said.pointer("/content/allow") == Some(&Value::Bool(true))
}

/// The call waits; clients that count time start again.
pub(super) fn progress(token: &Value, step: u64) -> String {
    let message = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": token, "progress": step, "message": "waiting for approval: `doorward review`" },
    });
    format!("{message}\n")
}

/// An answer of the server with a result of ours in it.
pub(super) fn result(id: &RawValue, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", id.get())
}
