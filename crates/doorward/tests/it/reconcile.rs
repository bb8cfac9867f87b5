//! `doorward reconcile`: a call that ran without a record is found in each agent's transcript, and none that is on record.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::transcripts::{AGENTS, now, write};

/// The hook of an agent is told of a call, as the agent would.
fn guarded(home: &Home, agent: &str, session: &str, id: &str, command: &str) {
    let mut payload = json!({
        "hook_event_name": "PreToolUse", "session_id": session, "cwd": home.project(), "has_ui": true,
        "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id,
    });
    match agent {
        "pi" | "opencode" => payload["tool_name"] = "bash".into(),
        "gemini" => {
            payload["hook_event_name"] = "BeforeTool".into();
            payload["tool_name"] = "run_shell_command".into();
            payload.as_object_mut().unwrap().remove("tool_use_id");
        }
        _ => {}
    }
    if agent == "opencode" {
        payload["tool_input"]["description"] = "d".into();
    }
    let ran = home.run(&["hook", agent], payload.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{agent}: {}", ran.stderr);
}

#[test]
fn an_unguarded_call_is_found_in_every_transcript_and_told_once() {
    for agent in AGENTS {
        let home = Home::new();
        let ran = home.run(&["setup", agent, "--yes", "--mode", "auto", "--without-hooks"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        guarded(&home, agent, "s1", "first", "ls");
        // Transcripts know seconds; what came before the first record is not expected on it.
        std::thread::sleep(Duration::from_millis(1100));
        guarded(&home, agent, "s1", "seen", "ls -la");
        let file = write(&home, agent, "s1", &[("seen", "ls -la"), ("unseen", "echo planted")], &now());
        let ran = home.run(&["reconcile", "--json"], b"");
        let found = ran.json();
        assert_eq!((ran.code, found.as_array().unwrap().len()), (1, 1), "{agent}: {found:#}");
        let one = &found[0];
        assert_eq!((&one["agent"], &one["id"], &one["session"]), (&json!(agent), &json!("unseen"), &json!("s1")));
        assert_eq!(one["file"], json!(file));
        assert!(one["line"].as_u64().unwrap() > 1, "{one}");
        let alerts = || home.run(&["alerts", "--json"], b"").json();
        let told: Vec<Value> =
            alerts().as_array().unwrap().iter().filter(|alert| alert["kind"] == "unguarded").cloned().collect();
        assert_eq!(told.len(), 1, "{agent}: {told:?}");
        assert!(told[0]["text"].as_str().unwrap().contains(file.to_str().unwrap()), "{told:?}");
        let count = || home.run(&["audit", "list", "--kind", "alert", "--json"], b"").json().as_array().unwrap().len();
        let before = count();
        assert_eq!(home.run(&["reconcile"], b"").code, 1);
        assert_eq!(count(), before, "{agent}: it is told once");
    }
}

#[test]
fn nothing_is_expected_of_an_agent_that_was_never_set_up() {
    let home = Home::new();
    let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for agent in AGENTS {
        write(&home, agent, "s1", &[("a", "ls")], &now());
    }
    let ran = home.run(&["reconcile"], b"");
    assert_eq!((ran.code, ran.stdout.trim()), (0, "every call that ran is on record"), "{}", ran.stderr);
}

#[test]
fn a_session_is_summed_up() {
    let home = Home::new();
    home.run(&["setup", "claude", "--yes", "--mode", "auto", "--without-hooks"], b"");
    for (id, tool, input) in [
        ("a", "Bash", json!({ "command": "ls" })),
        ("b", "Write", json!({ "file_path": home.project().join("new.txt"), "content": "x" })),
        ("c", "Bash", json!({ "command": "rm -rf ~" })),
        ("d", "Bash", json!({ "command": "git push origin main" })),
    ] {
        let mut payload = home.payload(tool, input);
        payload["tool_use_id"] = id.into();
        assert_eq!(home.run(&["hook", "claude"], payload.to_string().as_bytes()).code, 0);
    }
    let digest = home.run(&["digest", "--json"], b"").json();
    assert_eq!(
        (&digest["calls"], &digest["asked"], &digest["blocked"]),
        (&json!(4), &json!(1), &json!(1)),
        "{digest:#}"
    );
    assert_eq!(
        digest["files"][0]["path"],
        json!(home.project().join("new.txt").canonicalize().unwrap_or(home.project().join("new.txt")))
    );
    let end = json!({ "hook_event_name": "SessionEnd", "session_id": "0c1d", "cwd": home.project() });
    let told = home.run(&["hook", "claude"], end.to_string().as_bytes()).json();
    assert!(
        told["systemMessage"].as_str().unwrap().starts_with("doorward: 4 calls, 1 asked about, 1 blocked"),
        "{told}"
    );
}
