//! Claude Code: its hook payloads into events, our decisions into its answers.

use doorward_engine::{Change, ChangeKind, Tool, ToolCall};
use serde_json::{Map, Value, json};

use super::{Decision, Event, Outcome, Proposed, Reply, Result as Ended, Step};

pub const NAME: &str = "claude";

/// Reads one payload. An error means that nobody knows what the agent wants: the call must not run.
pub fn translate(payload: &Value, attended: bool) -> Result<Event, String> {
    let Value::Object(fields) = payload else { return Err("the payload is not an object".into()) };
    let event = text(fields, "hook_event_name")?.ok_or("the payload names no event")?;
    match event {
        "PreToolUse" => proposed(fields, attended).map(|proposed| Event::Proposed(Box::new(proposed))),
        "PostToolUse" => outcome(fields, Ended::Ran),
        "PostToolUseFailure" => outcome(fields, Ended::Failed),
        "PermissionDenied" => outcome(fields, Ended::Declined),
        "SessionStart" => session(fields, Step::Began),
        "SessionEnd" => session(fields, Step::Ended),
        // Answering a permission request would answer our own question in place of the person.
        "PermissionRequest" => Ok(Event::Nothing),
        unknown if fields.contains_key("tool_name") => Err(format!("`{unknown}` is not a known event of a tool call")),
        _ => Ok(Event::Nothing),
    }
}

/// Says the decision in the agent's words.
pub fn reply(decision: &Decision) -> Reply {
    let (word, reason) = match decision {
        Decision::Allow(reason) => ("allow", reason),
        Decision::Ask(reason) => ("ask", reason),
        Decision::Deny(reason) => ("deny", reason),
        Decision::Silent => return Reply::default(),
    };
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason,
    }});
    Reply { stdout: format!("{answer}\n"), stderr: String::new(), code: 0 }
}

fn proposed(fields: &Map<String, Value>, attended: bool) -> Result<Proposed, String> {
    let cwd = text(fields, "cwd")?.filter(|cwd| cwd.starts_with('/')).ok_or("the payload names no directory")?;
    let name = text(fields, "tool_name")?.ok_or("the payload names no tool")?;
    let input = fields.get("tool_input").ok_or("the payload has no tool input")?;
    let tool = tool(name, input, fields).unwrap_or_else(|problem| Tool::Malformed {
        name: name.to_owned(),
        problem: format!("the input of `{name}`: {problem}"),
    });
    let mut call = ToolCall::new(tool, cwd);
    call.agent = NAME.to_owned();
    call.session = text(fields, "session_id")?.unwrap_or_default().to_owned();
    call.attended = attended;
    let owned = |name| text(fields, name).map(|found| found.map(str::to_owned));
    Ok(Proposed { call, id: owned("tool_use_id")?, turn: owned("prompt_id")? })
}

fn tool(name: &str, input: &Value, payload: &Map<String, Value>) -> Result<Tool, String> {
    let Value::Object(fields) = input else { return Err("it is not an object".into()) };
    let need = |key: &str| text(fields, key)?.map(str::to_owned).ok_or_else(|| format!("`{key}` is missing"));
    let may = |key: &str| text(fields, key).map(|found| found.map(str::to_owned));
    Ok(match name {
        "Bash" => Tool::Bash {
            command: need("command")?,
            background: fields.get("run_in_background") == Some(&Value::Bool(true)),
        },
        // Watches the output of a command that it starts in the background.
        "Monitor" if fields.contains_key("command") => Tool::Bash { command: need("command")?, background: true },
        "PowerShell" => Tool::PowerShell { command: need("command")? },
        "Write" => Tool::Write { path: need("file_path")?, content: need("content")? },
        "Edit" => Tool::Edit { changes: vec![change(fields, need("file_path")?)?] },
        "MultiEdit" => Tool::Edit { changes: multi_edit(fields, &need("file_path")?)? },
        "NotebookEdit" => Tool::Edit { changes: vec![notebook(fields, need("notebook_path")?)?] },
        "Read" => Tool::Read { path: need("file_path")? },
        "NotebookRead" => Tool::Read { path: need("notebook_path")? },
        "LS" => Tool::Search { path: may("path")?, pattern: None },
        "Glob" | "Grep" => Tool::Search { path: may("path")?, pattern: may("pattern")? },
        "WebFetch" => Tool::Fetch { url: need("url")?, method: None },
        "WebSearch" => Tool::WebSearch { query: need("query")? },
        "Agent" | "Task" => {
            Tool::Task { agent: may("subagent_type")?.unwrap_or_default(), description: need("prompt")? }
        }
        _ => match name.strip_prefix("mcp__") {
            Some(rest) => mcp(rest, input, payload)?,
            None => Tool::Other { name: name.to_owned(), input: input.clone() },
        },
    })
}

fn change(fields: &Map<String, Value>, path: String) -> Result<Change, String> {
    let old = text(fields, "old_string")?.unwrap_or_default().to_owned();
    let new = text(fields, "new_string")?.ok_or("`new_string` is missing")?.to_owned();
    // Replacing nothing is how a new file is made.
    let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
    Ok(Change { path, kind, old, new })
}

fn multi_edit(fields: &Map<String, Value>, path: &str) -> Result<Vec<Change>, String> {
    let Some(Value::Array(edits)) = fields.get("edits") else { return Err("`edits` is not a list".into()) };
    if edits.is_empty() {
        return Err("`edits` is empty".into());
    }
    edits
        .iter()
        .map(|edit| match edit {
            Value::Object(edit) => change(edit, path.to_owned()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err("an entry of `edits` is not an object".into())
            }
        })
        .collect()
}

fn notebook(fields: &Map<String, Value>, path: String) -> Result<Change, String> {
    let new = text(fields, "new_source")?.unwrap_or_default().to_owned();
    Ok(Change { path, kind: ChangeKind::Update, old: String::new(), new })
}

fn mcp(rest: &str, input: &Value, payload: &Map<String, Value>) -> Result<Tool, String> {
    let named = match payload.get("mcp_server") {
        Some(Value::Object(server)) => text(server, "name")?,
        Some(_) | None => None,
    };
    // A server's own name may hold the separator; the payload says which part is the name.
    let known = named.and_then(|server| Some((server, rest.strip_prefix(server)?.strip_prefix("__")?)));
    let (server, name) = known.or_else(|| rest.split_once("__")).unwrap_or((rest, ""));
    Ok(Tool::Mcp {
        server: server.to_owned(),
        name: name.to_owned(),
        args: input.clone(),
        annotations: Map::new(),
        description: String::new(),
    })
}

fn outcome(fields: &Map<String, Value>, result: Ended) -> Result<Event, String> {
    Ok(match text(fields, "tool_use_id")? {
        Some(id) => {
            let session = text(fields, "session_id")?.unwrap_or_default().to_owned();
            Event::Outcome(Outcome { id: id.to_owned(), session, result })
        }
        None => Event::Nothing,
    })
}

fn session(fields: &Map<String, Value>, step: Step) -> Result<Event, String> {
    Ok(Event::Session { session: text(fields, "session_id")?.unwrap_or_default().to_owned(), step })
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Err(format!("`{name}` is not text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(name: &str, input: Value) -> Tool {
        let payload = json!({ "hook_event_name": "PreToolUse", "cwd": "/p", "session_id": "s", "tool_name": name, "tool_input": input });
        match translate(&payload, true) {
            Ok(Event::Proposed(proposed)) => proposed.call.tool,
            other => panic!("{other:?}"),
        }
    }

    fn edited(path: &str, kind: ChangeKind, old: &str, new: &str) -> Change {
        Change { path: path.into(), kind, old: old.into(), new: new.into() }
    }

    #[test]
    fn every_tool_finds_its_shape() {
        let text = str::to_owned;
        for (name, input, tool) in [
            (
                "Bash",
                json!({"command": "ls", "run_in_background": true}),
                Tool::Bash { command: text("ls"), background: true },
            ),
            ("Monitor", json!({"command": "tail -f x"}), Tool::Bash { command: text("tail -f x"), background: true }),
            (
                "Write",
                json!({"file_path": "/p/a", "content": "x"}),
                Tool::Write { path: text("/p/a"), content: text("x") },
            ),
            (
                "Edit",
                json!({"file_path": "/p/a", "old_string": "x", "new_string": "y", "replace_all": false}),
                Tool::Edit { changes: vec![edited("/p/a", ChangeKind::Update, "x", "y")] },
            ),
            (
                "MultiEdit",
                json!({"file_path": "/p/a", "edits": [{"old_string": "", "new_string": "y"}, {"old_string": "y", "new_string": "z"}]}),
                Tool::Edit {
                    changes: vec![
                        edited("/p/a", ChangeKind::Create, "", "y"),
                        edited("/p/a", ChangeKind::Update, "y", "z"),
                    ],
                },
            ),
            (
                "NotebookEdit",
                json!({"notebook_path": "/p/n.ipynb", "new_source": "1+1"}),
                Tool::Edit { changes: vec![edited("/p/n.ipynb", ChangeKind::Update, "", "1+1")] },
            ),
            ("Read", json!({"file_path": "/p/a", "limit": 3}), Tool::Read { path: text("/p/a") }),
            ("Grep", json!({"pattern": "x"}), Tool::Search { path: None, pattern: Some(text("x")) }),
            ("LS", json!({"path": "/p"}), Tool::Search { path: Some(text("/p")), pattern: None }),
            (
                "WebFetch",
                json!({"url": "https://e.example/", "prompt": "p"}),
                Tool::Fetch { url: text("https://e.example/"), method: None },
            ),
            ("WebSearch", json!({"query": "q"}), Tool::WebSearch { query: text("q") }),
            (
                "Agent",
                json!({"prompt": "do it", "subagent_type": "g"}),
                Tool::Task { agent: text("g"), description: text("do it") },
            ),
            ("TodoWrite", json!({"todos": []}), Tool::Other { name: text("TodoWrite"), input: json!({"todos": []}) }),
            ("Unheard", json!({}), Tool::Other { name: text("Unheard"), input: json!({}) }),
        ] {
            assert_eq!(translated(name, input), tool, "{name}");
        }
    }

    #[test]
    fn an_input_of_the_wrong_shape_is_malformed_and_never_another_call() {
        for (name, input) in [
            ("Bash", json!({"command": ["ls"]})),
            ("Bash", json!({})),
            ("Bash", json!("ls")),
            ("Write", json!({"file_path": "/a"})),
            ("MultiEdit", json!({"file_path": "/a", "edits": []})),
            ("Agent", json!({"description": "x"})),
        ] {
            assert!(matches!(translated(name, input.clone()), Tool::Malformed { .. }), "{name} {input}");
        }
    }

    #[test]
    fn the_payload_says_where_the_name_of_a_server_ends() {
        let payload = json!({"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "mcp__my__db__drop", "tool_input": {"t": 1},
            "mcp_server": {"name": "my__db"}});
        let Ok(Event::Proposed(proposed)) = translate(&payload, true) else { panic!() };
        assert!(matches!(proposed.call.tool, Tool::Mcp { server, name, .. } if server == "my__db" && name == "drop"));
    }

    #[test]
    fn a_tool_event_that_cannot_be_read_is_an_error_and_any_other_event_is_nothing() {
        for bad in [
            json!([]),
            json!({}),
            json!({"hook_event_name": 1}),
            json!({"hook_event_name": "PreToolUse"}),
            json!({"hook_event_name": "PreToolUse", "cwd": "relative", "tool_name": "Bash", "tool_input": {}}),
            json!({"hook_event_name": "PreToolUse2", "tool_name": "Bash"}),
        ] {
            assert!(translate(&bad, true).is_err(), "{bad}");
        }
        for quiet in ["PermissionRequest", "Stop", "Notification", "UserPromptSubmit", "NotInventedYet"] {
            assert_eq!(translate(&json!({"hook_event_name": quiet}), true), Ok(Event::Nothing));
        }
    }

    #[test]
    fn a_decision_is_said_in_its_words() {
        let answer = reply(&Decision::Ask("why \"so\"".into()));
        assert_eq!(
            serde_json::from_str::<Value>(&answer.stdout).unwrap(),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "why \"so\""}})
        );
        assert_eq!(reply(&Decision::Silent), Reply::default());
    }
}
