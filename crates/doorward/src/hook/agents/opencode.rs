//! OpenCode: translates what its plugin sends to events and calls. It gets the same answers as Pi's extension.

use doorward_engine::{Change, ChangeKind, Tool};
use serde_json::Value;

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::gemini::within;
use super::{CallResult, Event, Proof, patch};
use crate::machine::agent::Agent;

const SPEAKER: Speaker = Speaker {
    agent: Agent::Opencode,
    tool,
    turn: "turn_id",
    proof,
    answers_requests: false,
    denied: CallResult::Refused,
};

/// Reads one payload. The user can't be asked before a call.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    dialect::translate(payload, true, SPEAKER)
}

/// A message can also come from a program through the server's API.
fn proof(_payload: Fields<'_>, _attended: bool) -> Result<Option<Proof>, String> {
    Ok(None)
}

pub(super) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name {
        "bash" => {
            let fields = fields.only("command description timeout workdir")?;
            let (command, directory) = (fields.need("command")?, fields.optional_text("workdir")?);
            Tool::Bash {
                command: within(command, directory.as_deref(), payload.may("cwd")?),
                background: false,
                unsandboxed: false,
            }
        }
        "write" => {
            let fields = fields.only("filePath content")?;
            Tool::Write { path: fields.need("filePath")?, content: fields.need("content")? }
        }
        "edit" => edit(fields)?,
        "apply_patch" | "patch" => {
            Tool::Edit { changes: patch::changes(&fields.only("patchText")?.need("patchText")?)? }
        }
        "read" => Tool::Read { path: fields.only("filePath offset limit")?.need("filePath")? },
        "list" => Tool::Search { path: fields.only("path ignore")?.optional_text("path")?, pattern: None, files: None },
        "grep" | "glob" => {
            let fields = fields.only("pattern path include")?;
            Tool::Search {
                path: fields.optional_text("path")?,
                pattern: fields.optional_text("pattern")?,
                files: fields.optional_text("include")?,
            }
        }
        "webfetch" => Tool::Fetch { url: fields.only("url format timeout")?.need("url")?, method: None },
        "websearch" => Tool::WebSearch { query: fields.need("query")? },
        "task" => Tool::Task {
            agent: fields.optional_text("subagent_type")?.unwrap_or_default(),
            description: fields.need("prompt")?,
        },
        // Tools of servers are called `<server>_<tool>`, and nothing tells them from others.
        _ => Tool::Other { name: name.to_owned(), input: input.clone() },
    })
}

fn edit(fields: Fields<'_>) -> Result<Tool, String> {
    let fields = fields.only("filePath oldString newString replaceAll")?;
    let (old, new) = (fields.need("oldString")?, fields.need("newString")?);
    let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
    Ok(Tool::Edit { changes: vec![Change { path: fields.need("filePath")?, kind, old, new }] })
}
