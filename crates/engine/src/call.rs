//! A tool call as the agent sent it, translated from its JSON.

use doorward_vocabulary::SessionId;
use serde::Serialize;
use serde_json::{Map, Value};

/// What the agent wants to do.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub tool: Tool,
    pub cwd: String,
    /// The user's own latest words, if their origin is known to be a person.
    pub user_message: Option<String>,
    pub agent: String,
    pub session: SessionId,
    /// The subagent of the session that makes the call; empty for the session itself.
    pub subagent: String,
    /// Somebody can answer a question.
    pub attended: bool,
    /// The turn was cancelled before the call ran.
    pub cancelled: bool,
    /// Text was cut before it reached us.
    pub truncated: bool,
    /// Which places of a file are meant, where the shape of the tool does not say: all of them, a cell.
    pub places: String,
}

/// The tools that agents have, in one shape for all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    Bash {
        command: String,
        background: bool,
        /// The client is told to run it outside its own sandbox.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        unsandboxed: bool,
    },
    PowerShell {
        command: String,
    },
    Write {
        path: String,
        content: String,
    },
    Edit {
        changes: Vec<Change>,
    },
    Read {
        path: String,
    },
    Search {
        path: Option<String>,
        pattern: Option<String>,
        /// Only files whose names match this are searched.
        #[serde(skip_serializing_if = "Option::is_none")]
        files: Option<String>,
    },
    Fetch {
        url: String,
        method: Option<String>,
    },
    WebSearch {
        query: String,
    },
    Mcp {
        server: String,
        name: String,
        args: Value,
        annotations: Map<String, Value>,
        description: String,
        /// The shape of the arguments as the server declares it; null if nobody said.
        #[serde(skip_serializing_if = "Value::is_null")]
        schema: Value,
    },
    Task {
        agent: String,
        description: String,
    },
    Python {
        code: String,
    },
    Other {
        name: String,
        input: Value,
    },
    /// The call could not be read; the text says why.
    Malformed {
        name: String,
        problem: String,
    },
}

/// One file of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
    /// What is taken out, as far as the agent says.
    pub old: String,
    /// What is put in.
    pub new: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    Create,
    Update,
    Delete,
    /// The file appears under a new name; the old name is a change of its own.
    Move,
}

impl Tool {
    /// The name used in patterns, rules and records.
    pub fn name(&self) -> &str {
        match self {
            Tool::Bash { .. } => "bash",
            Tool::PowerShell { .. } => "powershell",
            Tool::Write { .. } => "write",
            Tool::Edit { .. } => "edit",
            Tool::Read { .. } => "read",
            Tool::Search { .. } => "search",
            Tool::Fetch { .. } => "fetch",
            Tool::WebSearch { .. } => "websearch",
            Tool::Mcp { .. } => "mcp",
            Tool::Task { .. } => "task",
            Tool::Python { .. } => "python",
            Tool::Other { name, .. } | Tool::Malformed { name, .. } => name,
        }
    }
}

impl ToolCall {
    /// A call with nothing known but the tool and the directory, attended.
    pub fn new(tool: Tool, cwd: impl Into<String>) -> ToolCall {
        ToolCall {
            tool,
            cwd: cwd.into(),
            user_message: None,
            agent: String::new(),
            session: SessionId::default(),
            subagent: String::new(),
            attended: true,
            cancelled: false,
            truncated: false,
            places: String::new(),
        }
    }

    /// A shell command.
    pub fn bash(command: impl Into<String>, cwd: impl Into<String>) -> ToolCall {
        ToolCall::new(Tool::Bash { command: command.into(), background: false, unsandboxed: false }, cwd)
    }
}

/// Reads `tool` and `input` in the shapes that `doorward check --jsonl` documents.
///
/// Whatever does not have that shape becomes [`Tool::Malformed`], which is never approved.
pub fn tool_from_json(tool: &str, input: &Value) -> Tool {
    read_tool(tool, input).unwrap_or_else(|problem| Tool::Malformed { name: tool.to_owned(), problem })
}

/// The fields that each tool is documented with. What another one would change about the call is not known: a directory, a
/// second path, a body that is sent along.
// Agents add fields with every release. A field that may move the call elsewhere (`workdir`, a second path) must not
// be ignored, so an unknown one makes the call opaque.
const KNOWN: &[(&str, &str)] = &[
    ("bash", "command background unsandboxed description timeout"),
    ("powershell", "command description timeout"),
    ("write", "path content size"),
    ("edit", "path old new creates files patch"),
    ("read", "path offset limit"),
    ("search", "path pattern glob"),
    ("fetch", "url method"),
    ("websearch", "query"),
    ("mcp", "server name args annotations description schema"),
    ("task", "agent description"),
    ("python", "code"),
];

/// The text was cut when it was collected; `check` judges it as if it were complete.
const ABRIDGED: &str = "abridged";

/// Fails if a field is there that nobody has described.
fn only_known(tool: &str, fields: &Map<String, Value>) -> Result<(), String> {
    // What a tool that nobody knows takes, nobody knows either.
    let Some((_, known)) = KNOWN.iter().find(|(name, _)| *name == tool) else { return Ok(()) };
    let is_known = |name: &str| name == ABRIDGED || known.split(' ').any(|known| known == name);
    match fields.keys().find(|name| !is_known(name)) {
        Some(unknown) => Err(format!("doorward doesn't know what `{unknown}` does in the input of `{tool}`")),
        None => Ok(()),
    }
}

fn read_tool(tool: &str, input: &Value) -> Result<Tool, String> {
    let Value::Object(fields) = input else {
        return Err(format!("the input of `{tool}` is not an object"));
    };
    only_known(tool, fields)?;
    Ok(match tool {
        "bash" => Tool::Bash {
            command: text(fields, "command")?,
            background: flag(fields, "background")?,
            unsandboxed: flag(fields, "unsandboxed")?,
        },
        "powershell" => Tool::PowerShell { command: text(fields, "command")? },
        "write" => {
            Tool::Write { path: text(fields, "path")?, content: optional(fields, "content")?.unwrap_or_default() }
        }
        "edit" => Tool::Edit { changes: changes(fields)? },
        "read" => Tool::Read { path: text(fields, "path")? },
        "search" => Tool::Search {
            path: optional(fields, "path")?,
            pattern: optional(fields, "pattern")?,
            files: optional(fields, "glob")?,
        },
        "fetch" => Tool::Fetch { url: text(fields, "url")?, method: optional(fields, "method")? },
        "websearch" => Tool::WebSearch { query: text(fields, "query")? },
        "mcp" => mcp(fields)?,
        "task" => Tool::Task {
            agent: optional(fields, "agent")?.unwrap_or_default(),
            description: optional(fields, "description")?.unwrap_or_default(),
        },
        "python" => Tool::Python { code: text(fields, "code")? },
        "other" => Tool::Other { name: text(fields, "name")?, input: beside_name(fields) },
        unknown => Tool::Other { name: unknown.to_owned(), input: input.clone() },
    })
}

fn mcp(fields: &Map<String, Value>) -> Result<Tool, String> {
    let annotations = match fields.get("annotations") {
        Some(Value::Object(map)) => map.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(_) => return Err("`annotations` is not an object".into()),
    };
    Ok(Tool::Mcp {
        server: optional(fields, "server")?.unwrap_or_default(),
        name: text(fields, "name")?,
        args: fields.get("args").cloned().unwrap_or(Value::Null),
        annotations,
        description: optional(fields, "description")?.unwrap_or_default(),
        schema: fields.get("schema").cloned().unwrap_or(Value::Null),
    })
}

fn changes(fields: &Map<String, Value>) -> Result<Vec<Change>, String> {
    let patch = optional(fields, "patch")?.unwrap_or_default();
    if let Some(files) = fields.get("files") {
        if let Some(other) = ["path", "old", "new", "creates"].into_iter().find(|name| fields.contains_key(*name)) {
            return Err(format!("it has both `files` and `{other}`"));
        }
        return with_patched(listed_changes(files, &patch)?, &patch);
    }
    let kind = if flag(fields, "creates")? { ChangeKind::Create } else { ChangeKind::Update };
    let change = Change {
        path: text(fields, "path")?,
        kind,
        old: optional(fields, "old")?.unwrap_or_default(),
        new: optional(fields, "new")?.unwrap_or_default(),
    };
    with_patched(vec![change], &patch)
}

/// What the patch itself changes beside the files that the call lists.
fn with_patched(mut changes: Vec<Change>, patch: &str) -> Result<Vec<Change>, String> {
    for (path, kind) in patched(patch) {
        let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
        if !changes.iter().any(|change| change.path == path) {
            changes.push(Change { path: path.to_owned(), kind, old: String::new(), new: patch.to_owned() });
        }
    }
    Ok(changes)
}

/// The files that the headers of a patch name, in the format of `apply_patch` or as a unified diff.
pub(crate) fn patched(patch: &str) -> Vec<(&str, ChangeKind)> {
    // The headers of Codex's patch format. A line that looks like one inside a file's content starts a new file for
    // Codex too.
    const HEADERS: &[(&str, ChangeKind)] = &[
        ("*** Add File: ", ChangeKind::Create),
        ("*** Update File: ", ChangeKind::Update),
        ("*** Delete File: ", ChangeKind::Delete),
        ("*** Move to: ", ChangeKind::Create),
    ];
    let mut found = Vec::new();
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some((header, kind)) = HEADERS.iter().find(|(header, _)| line.trim_start().starts_with(header)) {
            found.extend(line.trim_start().strip_prefix(header).map(|path| (path.trim(), *kind)));
        }
        // A rename has no lines of its own to change.
        let renamed =
            line.strip_prefix("diff --git ").and_then(|names| names.rfind(" b/").map(|at| names.get(at + 1..)));
        found.extend(renamed.flatten().map(|path| (path.trim_end(), ChangeKind::Update)));
        let next = lines.peek().copied().unwrap_or_default();
        if let (Some(old), Some(new)) = (line.strip_prefix("--- "), next.strip_prefix("+++ ")) {
            let (old, new) = (diff_path(old), diff_path(new));
            match new {
                "/dev/null" => found.push((old, ChangeKind::Delete)),
                new => found.push((new, if old == "/dev/null" { ChangeKind::Create } else { ChangeKind::Update })),
            }
        }
    }
    found
}

/// The path of a `---` or `+++` line, without its time.
fn diff_path(text: &str) -> &str {
    text.split('\t').next().unwrap_or(text).trim().trim_matches('"')
}

/// The fields of one entry of `files`.
// Agents disagree on the name of the new path; a move whose target is overlooked would be judged as an edit.
const LISTED: &[&str] = &["path", "op", "to", "move_to", "new_path", "destination"];

fn listed_changes(files: &Value, patch: &str) -> Result<Vec<Change>, String> {
    let Value::Array(files) = files else { return Err("`files` is not a list".into()) };
    if files.is_empty() {
        return Err("`files` is empty".into());
    }
    files
        .iter()
        .map(|file| {
            let Value::Object(file) = file else { return Err("an entry of `files` is not an object".into()) };
            if let Some(unknown) = file.keys().find(|name| !LISTED.contains(&name.as_str())) {
                return Err(format!("doorward doesn't know what `{unknown}` does in an entry of `files`"));
            }
            let kind = match optional(file, "op")?.as_deref() {
                Some("add" | "create") => ChangeKind::Create,
                Some("update" | "edit" | "modify") | None => ChangeKind::Update,
                Some("delete" | "remove") => ChangeKind::Delete,
                Some("move" | "rename") => ChangeKind::Move,
                Some(other) => return Err(format!("`{other}` is not a known file operation")),
            };
            let change = |path, kind| Change { path, kind, old: String::new(), new: patch.to_owned() };
            let mut changes = vec![change(text(file, "path")?, kind)];
            for key in ["to", "move_to", "new_path", "destination"] {
                changes.extend(optional(file, key)?.map(|path| change(path, ChangeKind::Create)));
            }
            Ok(changes)
        })
        .collect::<Result<Vec<_>, String>>()
        .map(|changes| changes.into_iter().flatten().collect())
}

/// What a tool was given: `input`, or whatever stands beside its name.
fn beside_name(fields: &serde_json::Map<String, Value>) -> Value {
    if let Some(input) = fields.get("input") {
        return input.clone();
    }
    Value::Object(
        fields.iter().filter(|(key, _)| *key != "name").map(|(key, value)| (key.clone(), value.clone())).collect(),
    )
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<String, String> {
    optional(fields, name)?.ok_or_else(|| format!("`{name}` is missing"))
}

fn optional(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{name}` is not text")),
    }
}

fn flag(fields: &Map<String, Value>, name: &str) -> Result<bool, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(format!("`{name}` is neither true nor false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_nobody_has_described_makes_the_call_malformed() {
        for (tool, input) in [
            ("bash", json!({"command": "rm -rf build", "workdir": "/home/me"})),
            ("bash", json!({"command": "ls", "cwd": "/"})),
            ("bash", json!({"command": "ls", "env": {"PATH": "."}})),
            ("bash", json!({"command": "ls", "stdin": "rm -rf ~"})),
            ("powershell", json!({"command": "ls", "runAs": "root"})),
            ("write", json!({"path": "a", "content": "x", "file_path": "/home/me/.bashrc"})),
            ("write", json!({"path": "a", "content": "x", "mode": "0777"})),
            ("edit", json!({"path": "a", "old": "x", "new": "y", "file": "/etc/passwd"})),
            ("edit", json!({"files": [{"path": "a", "op": "update", "target": "/etc/passwd"}]})),
            ("edit", json!({"files": [{"path": "a"}], "path": "/etc/passwd"})),
            ("read", json!({"path": "a", "paths": ["/home/me/.ssh/id_rsa"]})),
            ("search", json!({"pattern": "x", "paths": ["/"]})),
            ("fetch", json!({"url": "https://docs.rs/", "body": "secret"})),
            ("fetch", json!({"url": "https://docs.rs/", "headers": {"Authorization": "x"}})),
            ("websearch", json!({"query": "x", "site": "evil.example"})),
            ("mcp", json!({"server": "s", "name": "n", "args": {}, "arguments": {"path": "/"}})),
            ("task", json!({"agent": "a", "description": "look", "prompt": "delete everything"})),
            ("python", json!({"code": "1", "file": "/tmp/x.py"})),
        ] {
            assert!(matches!(tool_from_json(tool, &input), Tool::Malformed { .. }), "{tool} {input}");
        }
    }

    #[test]
    fn the_documented_fields_are_read() {
        for (tool, input) in [
            (
                "bash",
                json!({"command": "ls", "background": true, "description": "look", "timeout": 5, "abridged": true}),
            ),
            ("bash", json!({"command": "ls", "unsandboxed": true})),
            ("write", json!({"path": "a", "content": "x", "size": 7, "abridged": true})),
            ("edit", json!({"path": "a", "old": "", "new": "y", "creates": true})),
            ("edit", json!({"files": [{"path": "a", "op": "move", "move_to": "b"}], "patch": ""})),
            ("search", json!({"path": "a", "pattern": "x", "glob": "*.rs"})),
            ("fetch", json!({"url": "https://docs.rs/", "method": "HEAD"})),
            ("mcp", json!({"server": "s", "name": "n", "args": {}, "annotations": {}, "description": "d"})),
            ("other", json!({"name": "x", "anything": 1})),
            ("of my own", json!({"anything": 1})),
        ] {
            assert!(!matches!(tool_from_json(tool, &input), Tool::Malformed { .. }), "{tool} {input}");
        }
    }
}
