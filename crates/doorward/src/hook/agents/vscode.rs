//! VS Code's own agent, by its documentation: the dialect with other field names and tools.

use doorward_engine::{Change, ChangeKind, Tool};
use serde_json::{Map, Value};

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::{CallResult, Event, Proof, claude};
use crate::machine::agent::Agent;

const SPEAKER: Speaker = Speaker {
    agent: Agent::Vscode,
    tool,
    turn: "turn_id",
    proof,
    answers_requests: false,
    denied: CallResult::Declined,
};

/// Reads one payload; the event and the session have other names here.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    let Value::Object(given) = payload else { return Err("the payload is not an object".into()) };
    let mut renamed = Map::new();
    for (name, value) in given {
        let name = match name.as_str() {
            "hookEventName" => "hook_event_name",
            "sessionId" => "session_id",
            other => other,
        };
        if renamed.insert(name.to_owned(), value.clone()).is_some() {
            return Err(format!("the payload has `{name}` twice"));
        }
    }
    dialect::translate(&Value::Object(renamed), true, SPEAKER)
}

/// Nothing shows who wrote a prompt.
fn proof(_payload: Fields<'_>, _attended: bool) -> Result<Option<Proof>, String> {
    Ok(None)
}

pub(super) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name {
        "run_in_terminal" | "runInTerminal" | "runTerminalCommand" => {
            let fields = fields.only("command explanation goal isBackground timeout")?;
            Tool::Bash {
                command: fields.need("command")?,
                background: fields.flag("isBackground")?,
                unsandboxed: false,
            }
        }
        "create_file" | "createFile" => {
            let fields = fields.only("filePath content")?;
            Tool::Write {
                path: fields.need("filePath")?,
                content: fields.optional_text("content")?.unwrap_or_default(),
            }
        }
        "replace_string_in_file" => {
            let fields = fields.only("filePath oldString newString explanation")?;
            let (old, new) = (fields.need("oldString")?, fields.need("newString")?);
            let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
            Tool::Edit { changes: vec![Change { path: fields.need("filePath")?, kind, old, new }] }
        }
        "read_file" | "readFile" => {
            let fields = fields.only("filePath offset limit startLine endLine")?;
            Tool::Read { path: fields.need("filePath")? }
        }
        // Copilot CLI reads the same folder, and names its tools like Claude Code in hooks of this format.
        "Bash" | "Write" | "Edit" | "Read" | "Grep" | "Glob" | "WebFetch" => claude::tool(name, input, payload)?,
        // `editFiles` says which files, but not how they change.
        _ => match name.strip_prefix("mcp_") {
            Some(rest) => dialect::mcp(&rest.replacen('_', "__", 1), input, payload)?,
            None => Tool::Other { name: name.to_owned(), input: input.clone() },
        },
    })
}
