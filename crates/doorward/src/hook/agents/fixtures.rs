//! The payloads in `tests/payloads` become the events and calls that they expect.

use std::path::Path;

use doorward_engine::{ChangeKind, Tool};
use serde_json::{Value, json};

use super::*;

#[test]
fn every_payload_is_read_as_expected() {
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::Generic) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads").join(agent.name());
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap().replace("@PROJ@", "/p").replace("@HOME@", "/home/me");
            let fixture: Value = serde_json::from_str(&text).unwrap();
            let read = agent.translate(&fixture["payload"], true).map_or_else(|_| json!("error"), |event| told(&event));
            let mut read = read;
            if let (false, Some(fields)) = (agent.names_calls(), read.as_object_mut()) {
                fields.remove("id");
            }
            assert_eq!(read, fixture["expect"], "{}", path.display());
        }
    }
}

/// Every payload that is a call in the words of some agent.
fn calls() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let mut calls = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap().replace("@PROJ@", "/p").replace("@HOME@", "/home/me");
        let fixture: Value = serde_json::from_str(&text).unwrap();
        if fixture["expect"]["tool"].is_string() {
            calls.push((path.display().to_string(), fixture["payload"].clone()));
        }
    }
    calls
}

/// The agent hears a verdict or a refusal about it.
fn is_answered(agent: Agent, payload: &Value) -> bool {
    match agent.translate(payload, true) {
        Err(_) | Ok(Event::Proposed(_)) => true,
        Ok(Event::Outcome(_) | Event::Said(_) | Event::Session(_) | Event::Switched(_) | Event::Nothing) => false,
    }
}

#[test]
fn no_call_passes_in_silence_whichever_agent_it_is_told_to_come_from() {
    let calls = calls();
    assert!(calls.len() > 60, "{}", calls.len());
    for agent in Agent::ALL {
        for (path, payload) in &calls {
            // Its client asks a person at that moment, and an answer would be taken for theirs.
            let is_own_question = payload["hook_event_name"] == "PermissionRequest";
            assert!(is_own_question || is_answered(agent, payload), "{agent:?} {path}");
            // An unknown event, in each agent's format.
            for name in ["hook_event_name", "hookEventName", "agent_action_name", "event", "hookName"] {
                let mut unheard = payload.clone();
                if unheard.get(name).is_some() {
                    unheard[name] = json!("runcommand");
                    assert!(is_answered(agent, &unheard), "{agent:?} {path} {name}");
                }
            }
        }
    }
}

#[test]
fn an_unknown_event_passes_only_if_it_carries_no_call() {
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::Generic) {
        let with = |more: Value| {
            let mut payload = json!({"hook_event_name": "beforeShellExecution2", "agent_action_name": "runcommand",
                "sessionId": "s", "cwd": "/p"});
            payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            payload
        };
        assert!(!is_answered(agent, &with(json!({"message": "hello", "reason": "x"}))), "{agent:?}");
        for more in [
            json!({"command": "rm -rf ~"}),
            json!({"commandLine": "rm -rf ~"}),
            json!({"tool_input": {"x": 1}}),
            json!({"toolInput": {"x": 1}}),
            json!({"tool": "bash"}),
            json!({"tool_info": {"command_line": "ls"}}),
            json!({"data": {"call": {"command": "ls"}}}),
            json!({"steps": [{"tool_name": "Bash"}]}),
            json!({"file_path": "/etc/passwd", "content": ""}),
        ] {
            assert!(is_answered(agent, &with(more.clone())), "{agent:?} {more}");
        }
    }
}

/// An event in the words of the fixtures.
fn told(event: &Event) -> Value {
    match event {
        Event::Proposed(proposed) => {
            assert!(proposed.call.cwd == "/p" && !proposed.call.session.is_empty() && !proposed.call.agent.is_empty());
            assert!(proposed.asked == AgentQuestion::Permission || proposed.id.is_some());
            tool(&proposed.call.tool)
        }
        Event::Outcome(outcome) => {
            let result = match outcome.result {
                CallResult::Ran => "ran",
                CallResult::Failed => "failed",
                CallResult::Declined => "declined",
                CallResult::Refused => "refused",
            };
            json!({"outcome": result, "id": outcome.id})
        }
        Event::Said(said) => json!({"said": said.words}),
        Event::Session(event) => json!({"session": match &event.step {
            Lifecycle::Began => "began",
            Lifecycle::Ended => "ended",
            Lifecycle::Compacted => "compacted",
            Lifecycle::SubagentBegan(name) if !name.is_empty() => "subagent-began",
            Lifecycle::SubagentEnded(name) if !name.is_empty() => "subagent-ended",
            Lifecycle::SubagentBegan(_) | Lifecycle::SubagentEnded(_) => "nameless",
        }}),
        Event::Switched(switched) => json!({"switched": if switched.is_on { "on" } else { "off" }}),
        Event::Nothing => json!("nothing"),
    }
}

fn tool(tool: &Tool) -> Value {
    let mut told = match tool {
        Tool::Bash { command, background, unsandboxed } => {
            let mut told = json!({"command": command, "background": background});
            if *unsandboxed {
                told["unsandboxed"] = json!(true);
            }
            told
        }
        Tool::PowerShell { command } => json!({"command": command}),
        Tool::Write { path, content } => json!({"path": path, "content": content}),
        Tool::Edit { changes } => {
            let changes: Vec<Value> = changes
                .iter()
                .map(|change| json!({"path": change.path, "kind": kind(change.kind), "old": change.old, "new": change.new}))
                .collect();
            json!({ "changes": changes })
        }
        Tool::Read { path } => json!({"path": path}),
        Tool::Search { path, pattern, files: _ } => json!({"path": path, "pattern": pattern}),
        Tool::Fetch { url, method } => json!({"url": url, "method": method}),
        Tool::WebSearch { query } => json!({"query": query}),
        Tool::Mcp { server, name, args, .. } => json!({"server": server, "name": name, "args": args}),
        Tool::Task { agent, description } => json!({"agent": agent, "description": description}),
        Tool::Python { code } => json!({"code": code}),
        Tool::Other { .. } => json!({}),
        Tool::Malformed { problem, .. } => json!({"problem": problem}),
    };
    let fields = told.as_object_mut().unwrap();
    fields.retain(|_, value| !value.is_null());
    fields.insert("tool".into(), tool.name().into());
    told
}

const fn kind(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Create => "create",
        ChangeKind::Update => "update",
        ChangeKind::Delete => "delete",
        ChangeKind::Move => "move",
    }
}
