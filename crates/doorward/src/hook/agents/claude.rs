//! Claude Code: its hook payloads into events and calls.

use doorward_engine::{Change, ChangeKind, Tool};
use serde_json::Value;

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::{AgentQuestion, CallResult, Event, Proof};
use crate::machine::agent::Agent;

const SPEAKER: Speaker = Speaker {
    agent: Agent::Claude,
    tool,
    turn: "prompt_id",
    proof,
    answers_requests: false,
    denied: CallResult::Declined,
};

/// The mode in which a classifier answers questions.
// An `ask` in this mode goes to Claude Code's classifier, so it is not a question to a person.
pub(crate) const AUTO: &str = "auto";

/// The modes in which a question is known to reach the user, or to be refused if there is none. For new modes that is
/// unknown.
pub(crate) const ASKING: &[&str] = &["default", "plan", "acceptEdits", "bypassPermissions", "dontAsk"];

/// Reads one payload.
pub(crate) fn translate(payload: &Value, attended: bool) -> Result<Event, String> {
    let mut event = dialect::translate(payload, attended, SPEAKER)?;
    if let Event::Proposed(proposed) = &mut event
        && let Some(mode) = Fields::of(payload)?.may("permission_mode")?.filter(|mode| !ASKING.contains(mode))
    {
        // A mode this version doesn't know may answer questions by itself, so nothing is asked there.
        proposed.asked = if mode == AUTO { AgentQuestion::Classified } else { AgentQuestion::Unheard };
    }
    Ok(event)
}

/// Prompts also come from background tasks and the agent's own schedules, so the event proves nothing.
fn proof(_payload: Fields<'_>, attended: bool) -> Result<Option<Proof>, String> {
    // `UserPromptSubmit` also fires for task notifications. Only the transcript says `origin.kind: human`.
    Ok(attended.then_some(Proof::Transcript))
}

/// A tool of Claude Code.
pub(crate) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name {
        "Bash" => {
            // An unknown field could change what runs. Refusing it costs a release; ignoring it could cost more.
            let fields = fields.only("command description timeout run_in_background dangerouslyDisableSandbox")?;
            Tool::Bash {
                command: fields.need("command")?,
                background: fields.flag("run_in_background")?,
                unsandboxed: fields.flag("dangerouslyDisableSandbox")?,
            }
        }
        // Watches the output of a command it starts in the background.
        "Monitor" if fields.has("command") => {
            let fields = fields.only("command description timeout timeout_ms persistent")?;
            Tool::Bash { command: fields.need("command")?, background: true, unsandboxed: false }
        }
        // Not Bash: the quoting differs, and reading one as the other would misjudge both.
        "PowerShell" => Tool::PowerShell { command: fields.need("command")? },
        "Write" => {
            let fields = fields.only("file_path content")?;
            Tool::Write { path: fields.need("file_path")?, content: fields.need("content")? }
        }
        "Edit" => {
            let fields = fields.only("file_path old_string new_string replace_all")?;
            Tool::Edit { changes: vec![change(fields, fields.need("file_path")?)?] }
        }
        "MultiEdit" => multi_edit(fields.only("file_path edits")?)?,
        "NotebookEdit" => notebook(fields)?,
        "Read" => Tool::Read { path: fields.only("file_path offset limit pages")?.need("file_path")? },
        "NotebookRead" => Tool::Read { path: fields.need("notebook_path")? },
        "LS" => Tool::Search { path: fields.only("path ignore")?.optional_text("path")?, pattern: None, files: None },
        "Glob" | "Grep" => search(fields)?,
        "WebFetch" => Tool::Fetch { url: fields.only("url prompt")?.need("url")?, method: None },
        "WebSearch" => Tool::WebSearch { query: fields.only("query allowed_domains blocked_domains")?.need("query")? },
        "Agent" | "Task" => {
            // For its other modes it is unknown who answers questions about its calls.
            if let Some(mode) = fields.may("mode")?.filter(|mode| !matches!(*mode, "default" | "plan" | "acceptEdits"))
            {
                return Err(format!("the subagent would run in the mode `{mode}`"));
            }
            Tool::Task {
                agent: fields.optional_text("subagent_type")?.unwrap_or_default(),
                description: fields.need("prompt")?,
            }
        }
        _ => match name.strip_prefix("mcp__") {
            Some(rest) => dialect::mcp(rest, input, payload)?,
            None => Tool::Other { name: name.to_owned(), input: input.clone() },
        },
    })
}

fn change(fields: Fields<'_>, path: String) -> Result<Change, String> {
    let old = fields.optional_text("old_string")?.unwrap_or_default();
    let new = fields.need("new_string")?;
    // Replacing nothing is how a new file is made.
    let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
    Ok(Change { path, kind, old, new })
}

fn multi_edit(fields: Fields<'_>) -> Result<Tool, String> {
    let path = fields.need("file_path")?;
    let edits = fields.objects("edits")?;
    let changes = edits
        .into_iter()
        .map(|edit| change(edit.only("old_string new_string replace_all")?, path.clone()))
        .collect::<Result<_, _>>()?;
    Ok(Tool::Edit { changes })
}

fn notebook(fields: Fields<'_>) -> Result<Tool, String> {
    let fields = fields.only("notebook_path new_source cell_id cell_number cell_type edit_mode")?;
    let new = fields.optional_text("new_source")?.unwrap_or_default();
    let change = Change { path: fields.need("notebook_path")?, kind: ChangeKind::Update, old: String::new(), new };
    Ok(Tool::Edit { changes: vec![change] })
}

fn search(fields: Fields<'_>) -> Result<Tool, String> {
    let fields =
        fields.only("pattern path glob output_mode type head_limit offset multiline context -A -B -C -n -i -o")?;
    Ok(Tool::Search {
        path: fields.optional_text("path")?,
        pattern: fields.optional_text("pattern")?,
        files: fields.optional_text("glob")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
                Tool::Bash { command: text("ls"), background: true, unsandboxed: false },
            ),
            (
                "Monitor",
                json!({"command": "tail -f x"}),
                Tool::Bash { command: text("tail -f x"), background: true, unsandboxed: false },
            ),
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
            ("Grep", json!({"pattern": "x"}), Tool::Search { path: None, pattern: Some(text("x")), files: None }),
            ("LS", json!({"path": "/p"}), Tool::Search { path: Some(text("/p")), pattern: None, files: None }),
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
            ("Bash", json!({"command": "ls", "run_in_background": "yes"})),
            ("Bash", json!({"command": "ls", "in_directory": "/etc"})),
            ("Edit", json!({"file_path": "/a", "old_string": "x", "new_string": "y", "also": "/etc/passwd"})),
            ("Write", json!({"file_path": "/a"})),
            ("MultiEdit", json!({"file_path": "/a", "edits": []})),
            ("Agent", json!({"description": "x"})),
            ("Agent", json!({"prompt": "x", "mode": "bypassPermissions"})),
        ] {
            assert!(matches!(translated(name, input.clone()), Tool::Malformed { .. }), "{name} {input}");
        }
    }

    #[test]
    fn which_places_are_meant_is_part_of_the_call() {
        let places = |name: &str, input: Value| {
            let payload = json!({"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": name, "tool_input": input});
            let Ok(Event::Proposed(proposed)) = translate(&payload, true) else { panic!("{name}") };
            proposed.call.places
        };
        let edit = |all: Value| json!({"file_path": "/p/a", "old_string": "x", "new_string": "y", "replace_all": all});
        let cell =
            |id: &str, mode: &str| json!({"notebook_path": "/p/n", "new_source": "", "cell_id": id, "edit_mode": mode});
        assert_eq!(places("Edit", edit(json!(false))), "");
        assert_ne!(places("Edit", edit(json!(true))), "");
        assert_ne!(places("NotebookEdit", cell("1", "delete")), places("NotebookEdit", cell("2", "delete")));
        assert_ne!(places("NotebookEdit", cell("1", "delete")), places("NotebookEdit", cell("1", "replace")));
    }

    #[test]
    fn in_a_mode_that_answers_questions_itself_nobody_is_asked() {
        for (mode, asked) in [
            (json!("default"), AgentQuestion::Call),
            (json!("bypassPermissions"), AgentQuestion::Call),
            (json!(null), AgentQuestion::Call),
            (json!("auto"), AgentQuestion::Classified),
            (json!("unheard-of"), AgentQuestion::Unheard),
        ] {
            let payload = json!({"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Bash",
                "tool_input": {"command": "ls"}, "permission_mode": mode});
            let Ok(Event::Proposed(proposed)) = translate(&payload, true) else { panic!("{mode}") };
            assert_eq!(proposed.asked, asked, "{mode}");
            assert_eq!(Agent::Claude.can_ask(proposed.asked), asked == AgentQuestion::Call);
        }
    }

    #[test]
    fn the_payload_says_where_the_name_of_a_server_ends() {
        let payload = json!({"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "mcp__my__db__drop", "tool_input": {"t": 1},
            "mcp_server": {"name": "my__db"}});
        let Ok(Event::Proposed(proposed)) = translate(&payload, true) else { panic!() };
        assert!(matches!(proposed.call.tool, Tool::Mcp { server, name, .. } if server == "my__db" && name == "drop"));
        for (called, expected) in
            [("mcp__db__drop", "db"), ("mcp__db__drop__all", "db__drop__all"), ("mcp__db___drop", "db___drop")]
        {
            let Tool::Mcp { server, .. } = translated(called, json!({})) else { panic!("{called}") };
            assert_eq!(server, expected, "{called}");
        }
    }
}
