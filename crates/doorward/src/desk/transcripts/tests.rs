//! What one line of each format says, and what none says.

use serde_json::json;

use super::*;

fn read_all(format: impl TranscriptFormat, lines: &[Value]) -> (Vec<PastCall>, u64) {
    let mut format = format;
    let mut malformed = 0;
    for (line, number) in lines.iter().zip(1..) {
        malformed += u64::from(format.line(number, line).is_none());
    }
    (format.calls(), malformed)
}

#[test]
fn a_refused_call_has_not_run_and_a_failed_one_has() {
    let call = |id: &str| {
        json!({ "type": "assistant", "sessionId": "s", "cwd": "/p", "timestamp": "2026-03-04T05:06:07.000Z",
        "message": { "content": [{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "x" } }] } })
    };
    let result = |id: &str, text: &str| {
        json!({ "type": "user", "message": { "content": [
        { "type": "tool_result", "tool_use_id": id, "is_error": true, "content": text }] } })
    };
    let lines = [
        call("a"),
        call("b"),
        result("a", "PreToolUse:Bash hook error: no"),
        result("b", "Exit code 3"),
        json!({}),
        json!([]),
    ];
    let (calls, malformed) = read_all(claude::ClaudeTranscript::default(), &lines);
    let ran: Vec<(Option<&str>, bool, u64)> =
        calls.iter().map(|call| (call.id.as_deref(), call.ran, call.line)).collect();
    assert_eq!(ran, [(Some("a"), false, 1), (Some("b"), true, 2)]);
    assert_eq!(malformed, 2);
    assert_eq!(calls[0].time_ms, 1_772_600_767_000);
}

#[test]
fn codex_shells_are_what_its_hooks_call_them() {
    let line = |payload: Value| json!({ "type": "response_item", "timestamp": "", "payload": payload });
    let call = |name: &str, arguments: Value| {
        line(json!({ "type": "function_call", "name": name, "call_id": name, "arguments": arguments.to_string() }))
    };
    let lines = [
        json!({ "type": "session_meta", "payload": { "id": "s", "cwd": "/p" } }),
        call("exec_command", json!({ "cmd": "ls", "workdir": "/p" })),
        call("shell", json!({ "command": ["bash", "-lc", "ls | wc"], "workdir": "/q" })),
        line(json!({ "type": "custom_tool_call", "name": "apply_patch", "call_id": "p", "input": "*** Begin Patch" })),
        line(json!({ "type": "function_call_output", "call_id": "shell", "output": "unsupported call: shell" })),
        line(json!({ "type": "custom_tool_call_output", "call_id": "p", "output": "Exit code: 0" })),
    ];
    let (calls, malformed) = read_all(codex::CodexTranscript::default(), &lines);
    let told: Vec<(&str, &str, bool)> =
        calls.iter().map(|call| (call.tool.as_str(), text(&call.input, "command").unwrap(), call.ran)).collect();
    assert_eq!(
        told,
        [
            ("Bash", "ls", false),
            ("Bash", "cd -- '/q' || exit\nls | wc", false),
            ("apply_patch", "*** Begin Patch", true)
        ]
    );
    assert_eq!(malformed, 0);
}
