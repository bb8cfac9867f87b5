//! What an agent asks its editor for, as the engine reads it.

use doorward_engine::{Change, ChangeKind, Tool, quoted};
use serde_json::{Value, json};

use crate::machine::agent::Agent;

/// The option of our own questions that allows.
pub(super) const ALLOW: &str = "doorward-allow";

/// Requests that do something on this machine.
pub(super) fn is_judged(method: &str) -> bool {
    matches!(method, "session/request_permission" | "fs/write_text_file" | "fs/read_text_file" | "terminal/create")
}

/// The call behind a request.
pub(super) fn tool(method: &str, params: &Value, agent: Agent, cwd: &str) -> Tool {
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match method {
        "fs/read_text_file" => Tool::Read { path: text("path") },
        "fs/write_text_file" => Tool::Write { path: text("path"), content: text("content") },
        "terminal/create" => terminal(params),
        _ => permitted(params.get("toolCall").unwrap_or(&Value::Null), agent, cwd),
    }
}

/// The file that a call writes, as one path, and the text that it puts there.
pub(super) fn written(tool: &Tool, cwd: &str) -> Option<(String, String)> {
    let (path, text) = if let Tool::Write { path, content } = tool {
        (path, content)
    } else if let Tool::Edit { changes } = tool
        && let [one] = changes.as_slice()
    {
        (&one.path, &one.new)
    } else {
        return None;
    };
    Some((if path.starts_with('/') { path.clone() } else { format!("{cwd}/{path}") }, text.clone()))
}

/// The command of a terminal with its arguments, variables and directory.
fn terminal(params: &Value) -> Tool {
    let malformed = |problem: &str| Tool::Malformed { name: "terminal".to_owned(), problem: problem.to_owned() };
    let Some(command) = params.get("command").and_then(Value::as_str) else { return malformed("it has no command") };
    let list = |key: &str| params.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(args) = list("args").iter().map(|arg| arg.as_str().map(quoted)).collect::<Option<Vec<_>>>() else {
        return malformed("an argument is not text");
    };
    let is_name =
        |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let pair = |item: &Value| {
        let name = item.get("name")?.as_str().filter(is_name)?;
        Some(format!("{name}={}", quoted(item.get("value")?.as_str()?)))
    };
    let Some(variables) = list("env").iter().map(pair).collect::<Option<Vec<_>>>() else {
        return malformed("a variable is not one");
    };
    // Clients run a command without arguments through a shell.
    let command = if args.is_empty() { command.to_owned() } else { quoted(command) };
    let words = variables.into_iter().chain([command]).chain(args).collect::<Vec<_>>().join(" ");
    let command = match params.get("cwd").and_then(Value::as_str) {
        Some(directory) => format!("cd {} && {words}", quoted(directory)),
        None => words,
    };
    Tool::Bash { command, background: false, unsandboxed: false }
}

/// The call that an agent wants permission for.
fn permitted(call: &Value, agent: Agent, cwd: &str) -> Tool {
    let input = call.get("rawInput").cloned().unwrap_or(Value::Null);
    let named = call.pointer("/_meta/claudeCode/toolName").or_else(|| call.pointer("/_meta/toolName"));
    let tool = named.and_then(Value::as_str).and_then(|name| agent.tool(name, &input, cwd));
    if let Some(tool) = tool {
        return tool;
    }
    let text = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str()).map(str::to_owned);
    let path = || text(&["file_path", "path", "filePath", "abs_path"]).or_else(|| located(call));
    let kind = call.get("kind").and_then(Value::as_str).unwrap_or("other");
    let name = call.get("title").and_then(Value::as_str).unwrap_or("a tool").to_owned();
    let unknown = || Tool::Other { name: name.clone(), input: input.clone() };
    match kind {
        "execute" => match text(&["command", "cmd"]) {
            Some(command) => Tool::Bash { command, background: false, unsandboxed: false },
            None => unknown(),
        },
        "edit" => match (diffs(call), path(), text(&["content"])) {
            (changes, _, _) if !changes.is_empty() => Tool::Edit { changes },
            (_, Some(path), Some(content)) => Tool::Write { path, content },
            _ => unknown(),
        },
        "delete" => {
            path().map_or_else(unknown, |path| Tool::Edit { changes: vec![change(path, ChangeKind::Delete, "", "")] })
        }
        "read" => path().map_or_else(unknown, |path| Tool::Read { path }),
        "fetch" => text(&["url"]).map_or_else(unknown, |url| Tool::Fetch { url, method: text(&["method"]) }),
        // Moving, searching and thinking have no shape that agents share.
        _ => unknown(),
    }
}

fn located(call: &Value) -> Option<String> {
    let places = call.get("locations")?.as_array()?;
    match places.as_slice() {
        [one] => one.get("path")?.as_str().map(str::to_owned),
        _ => None,
    }
}

/// The changes that the call shows.
fn diffs(call: &Value) -> Vec<Change> {
    let shown = call.get("content").and_then(Value::as_array).into_iter().flatten();
    shown
        .filter(|item| item.get("type").and_then(Value::as_str) == Some("diff"))
        .map(|item| {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
            let kind =
                if item.get("oldText").is_some_and(Value::is_string) { ChangeKind::Update } else { ChangeKind::Create };
            change(text("path").to_owned(), kind, text("oldText"), text("newText"))
        })
        .collect()
}

fn change(path: String, kind: ChangeKind, old: &str, new: &str) -> Change {
    Change { path, kind, old: old.to_owned(), new: new.to_owned() }
}

/// The answers that a permission may have, with their kinds.
pub(super) fn options(params: &Value) -> Vec<(String, String)> {
    let all = params.get("options").and_then(Value::as_array).into_iter().flatten();
    let text = |option: &Value, key: &str| option.get(key).and_then(Value::as_str).map(str::to_owned);
    all.filter_map(|option| Some((text(option, "optionId")?, text(option, "kind")?))).collect()
}

/// A question of ours in the shape of a permission.
pub(super) fn question(id: &str, session: &str, reason: &str) -> String {
    let message = json!({
        "jsonrpc": "2.0", "id": id, "method": "session/request_permission",
        "params": {
            "sessionId": session,
            "toolCall": { "toolCallId": id, "title": crate::machine::visible(reason), "kind": "other", "status": "pending" },
            "options": [
                { "optionId": ALLOW, "name": "Allow once", "kind": "allow_once" },
                { "optionId": "doorward-reject", "name": "Reject", "kind": "reject_once" },
            ],
        },
    });
    format!("{message}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_calls() {
        let tool = |method: &str, params: Value| tool(method, &params, Agent::Generic, "/w");
        let bash = |command: &str| Tool::Bash { command: command.to_owned(), background: false, unsandboxed: false };
        assert_eq!(tool("terminal/create", json!({ "command": "ls -la" })), bash("ls -la"));
        assert_eq!(
            tool(
                "terminal/create",
                json!({ "command": "rm", "args": ["-rf", "a b"], "cwd": "/x", "env": [{ "name": "A", "value": "1" }] })
            ),
            bash("cd /x && A=1 rm -rf 'a b'")
        );
        assert!(matches!(tool("terminal/create", json!({ "command": "ls", "args": [1] })), Tool::Malformed { .. }));
        let asked = |call: Value| tool("session/request_permission", json!({ "toolCall": call }));
        assert_eq!(asked(json!({ "kind": "execute", "rawInput": { "command": "ls" } })), bash("ls"));
        assert!(matches!(
            asked(
                json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/w/a", "oldText": "x", "newText": "y" }] })
            ),
            Tool::Edit { .. }
        ));
        assert!(matches!(asked(json!({ "kind": "think", "title": "x" })), Tool::Other { .. }));
        assert_eq!(
            asked(json!({ "kind": "read", "locations": [{ "path": "/w/a" }] })),
            Tool::Read { path: "/w/a".into() }
        );
    }
}
