//! Proves the relay by a conversation: a harmless message passes, a call that must not run is refused.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Checkup, Defect};
use crate::desk::setup;
use crate::memory::session::TRIAL;

/// How long the conversation may take.
const TIME: Duration = Duration::from_secs(15);

/// What is wrong with tool servers and the relay before them.
pub(super) fn defects(patient: &Checkup<'_>) -> Vec<Defect> {
    let mut found = Vec::new();
    if setup::servers_behind_relay(patient.dirs).is_empty() {
        return found;
    }
    for server in setup::servers_without_relay(patient.dirs) {
        let what = format!("calls to the tool server {server} are seen only as far as the client sends them to a hook");
        found.push(Defect::new("relay-missing", None, what, "run `doorward setup --relay`"));
    }
    if let Err(problem) = prove() {
        let what = format!("the relay before tool servers does not work: {problem}");
        found.push(Defect::new(
            "relay-broken",
            None,
            what,
            "run `doorward setup --relay --uninstall` until it is mended",
        ));
    }
    found
}

/// One conversation through a relay with doorward's own server behind it.
fn prove() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(&program)
        .args(["mcp", "--name", TRIAL, "--"])
        .arg(&program)
        .arg("mcp-server")
        // The session of a trial: nobody is asked about it.
        .env("CLAUDE_CODE_SESSION_ID", TRIAL)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let call = json!({ "name": "delete_files", "arguments": { "path": "/", "recursive": true } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ];
    let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let sent = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()).map(|()| input));
    let output = child.stdout.take().ok_or("it has no output")?;
    let (send, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
    });
    let answers: Vec<Value> = std::iter::from_fn(|| lines.recv_timeout(TIME).ok())
        .take(messages.len())
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect();
    drop(sent);
    let _ = child.kill();
    let _ = child.wait();
    let answer = |id: u64| answers.iter().find(|answer| answer.get("id") == Some(&Value::from(id)));
    if answer(1).is_none_or(|answer| answer.get("result").is_none()) {
        return Err("a message did not come back".to_owned());
    }
    let said = answer(2).and_then(|answer| answer.pointer("/result/content/0/text")).and_then(Value::as_str);
    match said {
        Some(said) if said.contains("doorward") && !said.contains("no tool of this server") => Ok(()),
        Some(_) | None => Err("a call that must be refused was not".to_owned()),
    }
}
