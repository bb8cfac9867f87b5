//! Pi: translates what its extension sends to events and calls. Answers use the dialect.

use doorward_engine::{Change, ChangeKind, Tool};
use serde_json::{Value, json};

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::{CallResult, Decision, Event, Proof, ProposedCall, Reply, SessionSwitch};
use crate::machine::agent::Agent;

const SPEAKER: Speaker =
    Speaker { agent: Agent::Pi, tool, turn: "turn_id", proof, answers_requests: false, denied: CallResult::Refused };

/// Reads one payload. The session is attended if the extension can show a dialog.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    let fields = Fields::of(payload)?;
    if fields.may("hook_event_name")? == Some("ModeChange") {
        let session = fields.optional_text("session_id")?.unwrap_or_default();
        return Ok(Event::Switched(SessionSwitch { session: session.into(), is_on: fields.flag("enabled")? }));
    }
    let attended = fields.flag("has_ui").unwrap_or(false);
    dialect::translate(payload, attended, SPEAKER)
}

/// Formats the decision. The extension treats silence as a failure, so leaving a call to Pi is stated explicitly.
pub(super) fn reply(proposed: &ProposedCall, decision: &Decision) -> Reply {
    match decision {
        Decision::Silent => dialect::output(&json!({
            "hookEventName": "PreToolUse", "permissionDecision": "none",
            "permissionDecisionReason": "doorward leaves this to Pi",
        })),
        Decision::Replace(..) => dialect::reply_or_replace(proposed, decision),
        Decision::Allow(_) | Decision::Ask(_) | Decision::Deny(_) => dialect::reply(decision),
    }
}

/// Pi says where a text was typed; text from another extension or a program is not the user's.
fn proof(payload: Fields<'_>, _attended: bool) -> Result<Option<Proof>, String> {
    Ok((payload.may("source")? == Some("interactive")).then_some(Proof::Event))
}

pub(super) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name {
        "bash" => Tool::Bash {
            command: fields.only("command timeout")?.need("command")?,
            background: false,
            unsandboxed: false,
        },
        "read" => Tool::Read { path: fields.only("path offset limit")?.need("path")? },
        "write" => {
            let fields = fields.only("path content")?;
            Tool::Write { path: fields.need("path")?, content: fields.need("content")? }
        }
        "edit" => edit(fields)?,
        "grep" => search(fields.only("pattern path glob ignoreCase literal context limit")?)?,
        "find" => search(fields.only("pattern path limit")?)?,
        "ls" => Tool::Search { path: fields.only("path limit")?.optional_text("path")?, pattern: None, files: None },
        _ => match name.strip_prefix("mcp__") {
            Some(rest) => dialect::mcp(rest, input, payload)?,
            None => Tool::Other { name: name.to_owned(), input: input.clone() },
        },
    })
}

fn search(fields: Fields<'_>) -> Result<Tool, String> {
    Ok(Tool::Search {
        path: fields.optional_text("path")?,
        pattern: fields.optional_text("pattern")?,
        files: fields.optional_text("glob")?,
    })
}

/// One file, one or many places in it. Older versions send a single place without a list.
fn edit(fields: Fields<'_>) -> Result<Tool, String> {
    let fields = fields.only("path edits oldText newText")?;
    let path = fields.need("path")?;
    let places = if fields.has("edits") { fields.objects("edits")? } else { vec![fields] };
    if fields.has("edits") && (fields.has("oldText") || fields.has("newText")) {
        return Err("it has both a list of edits and a single one".into());
    }
    let changes = places
        .into_iter()
        .map(|place| {
            let (old, new) = (place.need("oldText")?, place.need("newText")?);
            Ok(Change { path: path.clone(), kind: ChangeKind::Update, old, new })
        })
        .collect::<Result<_, String>>()?;
    Ok(Tool::Edit { changes })
}
