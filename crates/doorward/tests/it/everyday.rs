//! What a coding agent runs in its first hour in a fresh project, played through the real hook right after setup.
//!
//! The lists are `tests/everyday/*.txt`; `UPDATE=1` writes `docs/generated/everyday-*.md` anew.

mod list;
mod worlds;

use std::path::Path;

use list::{Call, Expected};
use serde_json::{Value, json};

use crate::support::Home;

/// Of a hundred calls so many are to run without a word.
const SILENT: usize = 85;

/// The whole hour is one session: what happened before counts.
const SESSION: &str = "first-hour";

/// What the hook answered.
struct Answer {
    decision: String,
    why: String,
}

fn hook(home: &Home, call: &Call, number: usize, event: &str) -> Value {
    let mut payload = home.payload(call.tool, call.input(&home.project()));
    payload["hook_event_name"] = event.into();
    payload["session_id"] = SESSION.into();
    payload["tool_use_id"] = format!("toolu_{number}").into();
    if event == "PostToolUse" {
        payload["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
    }
    let mut command = home.command(&["hook", "claude"]);
    let ran = crate::support::feed(worlds::environment(home, &mut command), payload.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}: {} {}", call.text, ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap_or_default()
}

/// Asks about the call; one that runs is reported as done, and one that does not leaves the person to speak next.
fn ask(home: &Home, call: &Call, number: usize) -> Answer {
    let said = hook(home, call, number, "PreToolUse");
    let specific = &said["hookSpecificOutput"];
    let text = |key: &str| specific[key].as_str().unwrap_or_default().to_owned();
    let (decision, why) = (text("permissionDecision"), text("permissionDecisionReason"));
    if decision == "allow" {
        call.perform(&home.project());
        hook(home, call, number, "PostToolUse");
    } else {
        let prompt = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": SESSION, "cwd": home.project(),
            "transcript_path": "/nowhere.jsonl", "permission_mode": "default", "prompt": "go on",
        });
        let mut command = home.command(&["hook", "claude"]);
        crate::support::feed(worlds::environment(home, &mut command), prompt.to_string().as_bytes());
    }
    Answer { decision, why }
}

/// Plays a list in a fresh project; yields the rows of its table and how many calls ran without a word.
fn play(name: &str, calls: &[Call]) -> (Vec<String>, usize) {
    let home = worlds::fresh(name);
    let (mut rows, mut silent, mut wrong) = (Vec::new(), 0, Vec::new());
    let mut section = "";
    for (number, call) in calls.iter().enumerate() {
        if section != call.section {
            section = call.section;
            worlds::begin(&home, section);
        }
        let answer = ask(&home, call, number);
        let is_right = match &call.expected {
            Expected::Silent => answer.decision == "allow",
            Expected::Asks { says, .. } => answer.decision == "ask" && answer.why.contains(*says),
            Expected::Blocks { says, .. } => answer.decision == "deny" && answer.why.contains(*says),
        };
        if !is_right {
            wrong.push(format!("{}\n    {} {}", call.text, answer.decision, answer.why));
        }
        silent += usize::from(answer.decision == "allow");
        rows.push(call.row());
    }
    assert!(wrong.is_empty(), "{name}: {} of {} are not as expected:\n{}", wrong.len(), calls.len(), wrong.join("\n"));
    (rows, silent)
}

fn page(name: &str, calls: &[Call], rows: &[String], silent: usize) -> String {
    let share = silent * 100 / calls.len();
    assert!(calls.len() >= 95 && share >= SILENT, "{name}: {silent} of {}", calls.len());
    format!(
        "## {}\n\n{silent} of {} calls run without a word ({share} %).\n\n| call | answer | why it is right to ask |\n| --- | --- | --- |\n{}",
        worlds::title(name),
        calls.len(),
        rows.concat(),
    )
}

fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/everyday").join(format!("{name}.txt"));
    let text = std::fs::read_to_string(path).unwrap();
    let calls = list::read(&text);
    let (rows, silent) = play(name, &calls);
    let page = format!(
        "<!-- generated: UPDATE=1 cargo test -p doorward --test everyday -->\n\n# Everyday commands in a fresh {name} project\n\n\
         What a coding agent runs in its first hour, played through the real hook right after `doorward setup claude` in mode\n\
         `auto`, with every other question answered by its default. It is one session. Only edits and new files are really made.\n\n{}",
        page(name, &calls, &rows, silent)
    );
    let committed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated").join(format!("everyday-{name}.md"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&committed, &page).unwrap();
    }
    let there = std::fs::read_to_string(&committed).unwrap_or_default();
    assert!(
        there == page,
        "docs/generated/everyday-{name}.md is out of date; UPDATE=1 cargo test -p doorward --test it everyday"
    );
}

#[test]
fn a_fresh_node_project_is_quiet() {
    check("node");
}

#[test]
fn a_fresh_python_project_is_quiet() {
    check("python");
}
