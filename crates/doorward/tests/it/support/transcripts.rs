//! Transcripts as agents write them, made up: one shell command per call.

use std::path::PathBuf;
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::Home;

/// The agents whose transcripts are read.
pub(crate) const AGENTS: [&str; 5] = ["claude", "codex", "gemini", "pi", "opencode"];

/// One call: the agent's name for it, and the command.
pub(crate) type Call<'a> = (&'a str, &'a str);

/// The moment, as transcripts write it.
pub(crate) fn now() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.500Z"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes one session of an agent, in which every call ran; yields the file.
pub(crate) fn write(home: &Home, agent: &str, session: &str, calls: &[Call<'_>], moment: &str) -> PathBuf {
    let cwd = home.project().display().to_string();
    let (name, lines) = match agent {
        "claude" => (format!(".claude/projects/-p/{session}.jsonl"), claude(session, &cwd, calls, moment)),
        "codex" => (format!(".codex/sessions/2026/03/04/rollout-{session}.jsonl"), codex(session, &cwd, calls, moment)),
        "pi" => (format!(".pi/agent/sessions/--p--/1_{session}.jsonl"), pi(session, &cwd, calls, moment)),
        "gemini" => {
            home.write(".gemini/tmp/p/.project_root", &cwd);
            (format!(".gemini/tmp/p/chats/session-{session}.jsonl"), gemini(session, calls, moment))
        }
        "opencode" => return opencode(home, session, calls),
        other => panic!("{other}"),
    };
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(&name, &text);
    home.path(&name)
}

fn claude(session: &str, cwd: &str, calls: &[Call<'_>], moment: &str) -> Vec<Value> {
    let line = |kind: &str, content: Value| {
        let about = json!({ "sessionId": session, "cwd": cwd, "timestamp": moment, "type": kind });
        with(about, json!({ "message": { "role": kind, "content": content } }))
    };
    let mut lines = vec![json!({ "type": "mode", "sessionId": session }), line("user", json!("please do it"))];
    for (id, command) in calls {
        lines.push(line(
            "assistant",
            json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]),
        ));
        lines.push(line("user", json!([{ "type": "tool_result", "tool_use_id": id, "content": "done" }])));
    }
    lines
}

fn codex(session: &str, cwd: &str, calls: &[Call<'_>], moment: &str) -> Vec<Value> {
    let line = |kind: &str, payload: Value| json!({ "timestamp": moment, "type": kind, "payload": payload });
    let mut lines = vec![line("session_meta", json!({ "id": session, "cwd": cwd }))];
    for (id, command) in calls {
        let arguments = json!({ "cmd": command }).to_string();
        let call = json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id });
        let output = json!({ "type": "function_call_output", "call_id": id, "output": "Process exited with code 0" });
        lines.extend([line("response_item", call), line("response_item", output)]);
    }
    lines
}

fn gemini(session: &str, calls: &[Call<'_>], moment: &str) -> Vec<Value> {
    let mut lines = vec![json!({ "sessionId": session, "startTime": moment, "kind": "main" })];
    for (id, command) in calls {
        let call = json!({
            "id": id, "name": "run_shell_command", "args": { "command": command }, "status": "success", "timestamp": moment,
        });
        lines.push(json!({ "id": format!("m-{id}"), "timestamp": moment, "type": "gemini", "content": "", "toolCalls": [call] }));
        lines.push(json!({ "$set": { "lastUpdated": moment } }));
    }
    lines
}

fn pi(session: &str, cwd: &str, calls: &[Call<'_>], moment: &str) -> Vec<Value> {
    let line = |message: Value| json!({ "type": "message", "timestamp": moment, "message": message });
    let mut lines = vec![json!({ "type": "session", "version": 3, "id": session, "timestamp": moment, "cwd": cwd })];
    for (id, command) in calls {
        let call = json!([{ "type": "toolCall", "id": id, "name": "bash", "arguments": { "command": command } }]);
        lines.push(line(json!({ "role": "assistant", "content": call })));
        let content = json!([{ "type": "text", "text": "done" }]);
        lines.push(line(json!({ "role": "toolResult", "toolCallId": id, "content": content, "isError": false })));
    }
    lines
}

fn opencode(home: &Home, session: &str, calls: &[Call<'_>]) -> PathBuf {
    let path = home.path(".local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch(
            "PRAGMA synchronous = OFF;
             CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, directory text NOT NULL);
             CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);",
        )
        .unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let cwd = home.project().display().to_string();
    database.execute("INSERT INTO session VALUES (?1, ?2)", [session, &cwd]).unwrap();
    let text = json!({ "type": "text", "text": "please do it" }).to_string();
    let insert = "INSERT INTO part VALUES (?1, ?2, ?3, ?4)";
    database.execute(insert, (format!("t-{session}"), session, now as i64, text)).unwrap();
    for (id, command) in calls {
        let state =
            json!({ "status": "completed", "input": { "command": command, "description": "d" }, "output": "done" });
        let data = json!({ "type": "tool", "tool": "bash", "callID": id, "state": state }).to_string();
        database.execute(insert, (format!("p-{session}-{id}"), session, now as i64, data)).unwrap();
    }
    path
}

fn with(mut one: Value, other: Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}
