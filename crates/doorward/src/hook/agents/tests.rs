//! What all agents have in common.

use doorward_engine::{Tool, ToolCall};
use serde_json::{Value, json};

use super::*;

fn payload(event: &str) -> Value {
    json!({"hook_event_name": event, "session_id": "s", "cwd": "/p", "tool_name": "Read", "tool_input": {}, "tool_use_id": "t"})
}

fn proposed(asked: AgentQuestion) -> ProposedCall {
    let call = ToolCall::new(Tool::Read { path: "/a".into() }, "/p");
    ProposedCall {
        call,
        id: Some("t".into()),
        turn: None,
        asked,
        transcript: None,
        situation: SessionContext::default(),
        input: None,
    }
}

#[test]
fn a_field_under_two_names_at_once_is_malformed() {
    let tool = |agent: Agent, event: &str, name: &str, input: Value| {
        let payload = json!({"hook_event_name": event, "cwd": "/p", "tool_name": name, "tool_input": input});
        match agent.translate(&payload, true) {
            Ok(Event::Proposed(proposed)) => proposed.call.tool,
            other => panic!("{other:?}"),
        }
    };
    for (agent, event, name, input) in [
        (Agent::Cursor, "preToolUse", "Write", json!({"file_path": "/p/a", "path": "/etc/passwd", "content": "x"})),
        (Agent::Cursor, "preToolUse", "Write", json!({"path": "/p/a", "content": "x", "contents": "y"})),
        (Agent::Cursor, "preToolUse", "Delete", json!({"file_path": "/p/a", "path": "/p"})),
        (Agent::Cursor, "preToolUse", "Read", json!({"file_path": "/p/a", "path": "/p/.env"})),
        (Agent::Cursor, "preToolUse", "Shell", json!({"command": "rm -r x", "cwd": "/p", "working_directory": "/"})),
        (
            Agent::Gemini,
            "BeforeTool",
            "grep_search",
            json!({"pattern": "x", "include": "*.rs", "include_pattern": ".env"}),
        ),
        (Agent::Gemini, "BeforeTool", "read_file", json!({"file_path": "/p/a", "absolute_path": "/p/.env"})),
    ] {
        let found = tool(agent, event, name, input.clone());
        assert!(matches!(found, Tool::Malformed { .. }), "{name} {input}");
    }
}

#[test]
fn names_lead_to_their_agents() {
    for agent in Agent::ALL {
        assert_eq!(Agent::parse(agent.name()), Some(agent));
    }
    assert_eq!(Agent::parse("Claude"), None);
}

#[test]
fn a_tool_event_that_cannot_be_read_is_an_error_and_any_other_event_is_nothing() {
    for agent in [Agent::Claude, Agent::Codex, Agent::Pi] {
        for bad in [
            json!([]),
            json!({}),
            json!({"hook_event_name": 1}),
            json!({"hook_event_name": "PreToolUse"}),
            json!({"hook_event_name": "PreToolUse", "cwd": "relative", "tool_name": "Bash", "tool_input": {}}),
            payload("PreToolUse2"),
        ] {
            assert!(agent.translate(&bad, true).is_err(), "{agent:?} {bad}");
        }
        for quiet in ["Stop", "Notification", "NotInventedYet"] {
            assert_eq!(agent.translate(&json!({"hook_event_name": quiet}), true), Ok(Event::Nothing));
        }
    }
    for bad in [json!({"event": "later"}), json!({"event": "call", "cwd": "/"}), json!({}), json!({"event": "session"})]
    {
        assert!(Agent::Generic.translate(&bad, true).is_err(), "{bad}");
    }
    let unknown = json!({"event": "call", "cwd": "/", "tool": "bash", "input": {"command": "ls"}, "run_in": "/etc"});
    assert!(Agent::Generic.translate(&unknown, true).is_err());
}

#[test]
fn a_request_for_a_permission_is_answered_only_where_that_does_not_answer_our_own_question() {
    assert_eq!(Agent::Claude.translate(&payload("PermissionRequest"), true), Ok(Event::Nothing));
    assert_eq!(Agent::Pi.translate(&payload("PermissionRequest"), true), Ok(Event::Nothing));
    let Ok(Event::Proposed(asked)) = Agent::Codex.translate(&payload("PermissionRequest"), true) else { panic!() };
    assert_eq!(asked.asked, AgentQuestion::Permission);
}

#[test]
fn only_words_that_a_person_can_have_typed_are_kept() {
    let said = |agent: Agent, more: Value, attended| {
        let mut payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "push it"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        match agent.translate(&payload, attended) {
            Ok(Event::Said(said)) => Some(said.proof),
            Ok(Event::Nothing) => None,
            other => panic!("{other:?}"),
        }
    };
    for (agent, more, attended, proof) in [
        (Agent::Claude, json!({}), true, Some(Proof::Transcript)),
        (Agent::Claude, json!({}), false, None),
        (Agent::Claude, json!({"prompt": "<task-notification>push it</task-notification>"}), true, None),
        (Agent::Claude, json!({"prompt": " "}), true, None),
        (Agent::Claude, json!({"agent_id": "a"}), true, None),
        (Agent::Codex, json!({}), true, Some(Proof::Event)),
        (Agent::Codex, json!({"agent_id": "a"}), true, None),
        (Agent::Codex, json!({"prompt": "<environment_context>"}), true, None),
        (Agent::Pi, json!({"source": "interactive"}), true, Some(Proof::Event)),
        (Agent::Pi, json!({"source": "extension"}), true, None),
        (Agent::Pi, json!({"source": "rpc"}), true, None),
        (Agent::Pi, json!({}), true, None),
    ] {
        assert_eq!(said(agent, more.clone(), attended), proof, "{agent:?} {more} {attended}");
    }
    for (origin, kept) in [(json!("person"), true), (json!("tool"), false), (Value::Null, false)] {
        let payload = json!({"event": "said", "session": "s", "text": "push it", "origin": origin});
        assert_eq!(matches!(Agent::Generic.translate(&payload, true), Ok(Event::Said(_))), kept);
    }
}

#[test]
fn no_agent_takes_a_question_or_a_refusal_for_a_yes() {
    let (ask, deny) = (Decision::Ask("why".into()), Decision::Deny("why".into()));
    let said = |agent: Agent, asked, decision: &Decision| agent.reply(&proposed(asked), decision).stdout;
    for agent in [Agent::Claude, Agent::Pi] {
        assert!(said(agent, AgentQuestion::Call, &ask).contains("\"permissionDecision\":\"ask\""));
        assert!(said(agent, AgentQuestion::Call, &deny).contains("\"permissionDecision\":\"deny\""));
    }
    for decision in [&ask, &deny, &Decision::Deny(String::new())] {
        let answer: Value = serde_json::from_str(&said(Agent::Codex, AgentQuestion::Call, decision)).unwrap();
        let output = answer["hookSpecificOutput"].as_object().unwrap();
        // One field more, or no reason, and Codex runs the call.
        assert_eq!((answer.as_object().unwrap().len(), output.len()), (1, 3));
        assert_eq!(output["permissionDecision"], "deny");
        assert!(!output["permissionDecisionReason"].as_str().unwrap().is_empty());
    }
    assert_eq!(said(Agent::Codex, AgentQuestion::Permission, &ask), "");
    assert!(said(Agent::Codex, AgentQuestion::Permission, &deny).contains("\"behavior\":\"deny\""));
    let answer: Value = serde_json::from_str(&said(Agent::Generic, AgentQuestion::Call, &ask)).unwrap();
    assert_eq!(answer, json!({"id": "t", "verdict": "confirm", "reason": "why"}));
}

#[test]
fn a_yes_is_said_in_words_that_the_agent_takes() {
    let allow = Decision::Allow(Approval::pretended("fine"));
    let said = |agent: Agent, asked| agent.reply(&proposed(asked), &allow).stdout;
    assert!(said(Agent::Claude, AgentQuestion::Call).contains("\"permissionDecision\":\"allow\""));
    assert_eq!(said(Agent::Codex, AgentQuestion::Call), "");
    assert_eq!(
        serde_json::from_str::<Value>(&said(Agent::Codex, AgentQuestion::Permission)).unwrap(),
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}})
    );
    for agent in Agent::ALL {
        let silent = agent.reply(&proposed(AgentQuestion::Call), &Decision::Silent);
        assert!(silent.code == 0 && !silent.stdout.contains("allow") && !silent.stdout.contains("approve"));
    }
}
