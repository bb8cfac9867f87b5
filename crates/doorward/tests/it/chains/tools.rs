//! The file tools: what they are called with, and what they do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::grammar::Grammar;
use super::world::{HOME, PROJECT};

/// Tool and input of a call: `@Write PATH CONTENT` and the like, or a command for the shell.
pub(super) fn call(text: &str, grammar: &Grammar) -> (&'static str, Value) {
    let mut words = text.strip_prefix('@').unwrap_or_default().split(' ');
    let (tool, path, name) = (words.next().unwrap_or_default(), words.next(), words.next());
    let path = absolute(path.unwrap_or_default());
    let content = || grammar.content(name.unwrap_or_default());
    match tool {
        "Read" => ("Read", json!({ "file_path": path })),
        "Write" => ("Write", json!({ "file_path": path, "content": content() })),
        "Edit" => ("Edit", edit(&path, content())),
        "MultiEdit" => {
            let mut change = edit(&path, content());
            change.as_object_mut().unwrap().remove("file_path");
            ("MultiEdit", json!({ "file_path": path, "edits": [change] }))
        }
        "NotebookEdit" => {
            let input =
                json!({ "notebook_path": path, "cell_id": "a1", "new_source": content(), "edit_mode": "replace" });
            ("NotebookEdit", input)
        }
        _ => ("Bash", json!({ "command": text, "description": "Run a command" })),
    }
}

/// The first line of a file gives way to a text.
fn edit(path: &Path, new: &str) -> Value {
    let text = fs::read_to_string(path).unwrap_or_default();
    let old = text.lines().next().filter(|line| !line.is_empty()).unwrap_or("first line");
    json!({ "file_path": path, "old_string": old, "new_string": new.trim_end(), "replace_all": false })
}

/// Tools want absolute paths; agents write them without `..`.
fn absolute(path: &str) -> PathBuf {
    match path.strip_prefix("../") {
        Some(rest) => Path::new(HOME).join(rest),
        None => Path::new(PROJECT).join(path),
    }
}

/// Does what the tool does, and gives what it answers.
pub(super) fn perform(tool: &str, input: &Value) -> Result<Value, String> {
    let path = input["file_path"].as_str().or(input["notebook_path"].as_str()).unwrap_or_default();
    let before = fs::read_to_string(path);
    let wrong = |error: std::io::Error| error.to_string();
    let after = match tool {
        "Read" => {
            let text = before.map_err(wrong)?;
            let lines = text.lines().count();
            return Ok(
                json!({ "type": "text", "file": { "filePath": path, "content": text, "numLines": lines, "startLine": 1, "totalLines": lines } }),
            );
        }
        "Write" => input["content"].as_str().unwrap_or_default().to_owned(),
        "Edit" => replaced(&before.map_err(wrong)?, input)?,
        "MultiEdit" => replaced(&before.map_err(wrong)?, &input["edits"][0])?,
        _ => notebook(&before.map_err(wrong)?, input)?,
    };
    fs::create_dir_all(Path::new(path).parent().unwrap_or(Path::new("/"))).map_err(wrong)?;
    fs::write(path, after).map_err(wrong)?;
    Ok(json!({ "filePath": path, "structuredPatch": [], "userModified": false }))
}

fn replaced(text: &str, change: &Value) -> Result<String, String> {
    let old = change["old_string"].as_str().unwrap_or_default();
    if !text.contains(old) {
        return Err("String to replace not found in file.".to_owned());
    }
    Ok(text.replacen(old, change["new_string"].as_str().unwrap_or_default(), 1))
}

fn notebook(text: &str, input: &Value) -> Result<String, String> {
    let mut notebook: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(cell) = notebook.get_mut("cells").and_then(|cells| cells.get_mut(0)) else {
        return Err("no such cell".to_owned());
    };
    cell["source"] = json!([input["new_source"]]);
    Ok(notebook.to_string())
}

/// What happened before the chain.
pub(super) fn before(line: &str) {
    match line.split_once(' ') {
        Some(("@Hook", name)) => placed(&Path::new(PROJECT).join(".git/hooks").join(name)),
        Some(("@Program", name)) => placed(&Path::new(HOME).join(".local/bin").join(name)),
        Some(_) | None => dirty(),
    }
}

/// Somebody put a program there since the project was trusted; what it does cannot be read.
fn placed(path: &Path) {
    let name = path.file_name().unwrap_or_default().display();
    let code = format!("import os; getattr(os, 'sys' + 'tem')('echo placed-{name} >> /var/tmp/canary')");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/usr/bin/python3\n{code}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The person has begun to change things, and has staged one of them.
fn dirty() {
    let append = |name: &str, text: &str| {
        let path = Path::new(PROJECT).join(name);
        let old = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, old + text).unwrap();
    };
    append("docs/draft.md", "not committed\n");
    append("src/util.py", "# not committed\n");
    append("src/data.json", "\n");
    let mut git = std::process::Command::new("git");
    git.args(["-C", PROJECT, "add", "src/data.json"]);
    git.status().unwrap();
    append("src/data.json", "\n\n");
}
