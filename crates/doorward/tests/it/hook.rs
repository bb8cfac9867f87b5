//! `doorward hook claude` as Claude Code sees it: an answer, or exit code 2 and text; never silence by accident.

use serde_json::{Value, json};

use crate::support::{Home, Ran, feed};

fn decision(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answer = ran.json();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    assert!(!output["permissionDecisionReason"].as_str().unwrap().is_empty());
    output["permissionDecision"].as_str().unwrap().to_owned()
}

#[test]
fn calls_are_allowed_asked_about_or_denied() {
    let home = Home::trusting();
    for (tool, input, expected) in [
        ("Bash", json!({"command": "ls -la", "description": "look"}), "allow"),
        ("Bash", json!({"command": "git push origin main"}), "ask"),
        ("Bash", json!({"command": "rm -rf ~"}), "deny"),
        ("Bash", json!({"command": "rm -rf /", "run_in_background": true}), "deny"),
        ("Bash", json!({"command": 3}), "ask"),
        ("NeverHeardOf", json!({}), "ask"),
    ] {
        assert_eq!(decision(&home.hook(tool, input.clone())), expected, "{tool} {input}");
    }
}

#[test]
fn where_nobody_seems_to_be_there_the_question_says_how_a_person_can_let_it_pass() {
    let home = Home::trusting();
    let payload = home.payload("Bash", json!({"command": "git push origin main"})).to_string();
    let mut command = home.command(&["hook", "claude"]);
    let ran = feed(command.env("CLAUDE_CODE_SESSION_ATTENDED", "0"), payload.as_bytes());
    // The agent refuses by itself what nobody answers; but a program may be there that asks its user.
    assert_eq!(decision(&ran), "ask");
    assert!(ran.stdout.contains("doorward asks because this pushes commits to a remote"), "{}", ran.stdout);
}

#[test]
fn an_agent_that_nobody_has_trusted_is_asked_about_everything() {
    let home = Home::new();
    let first = home.hook("Bash", json!({"command": "ls"}));
    assert_eq!(decision(&first), "ask");
    assert!(!first.stdout.contains("can't be trusted"), "nothing is broken where nothing was set up: {}", first.stdout);
}

#[test]
fn a_project_may_tighten_but_not_loosen() {
    let home = Home::trusting();
    std::fs::write(
        home.project().join(".doorward.toml"),
        "[permissions]\ndeny = [\"bash(ls*)\"]\nallow = [\"bash(git push*)\"]\n",
    )
    .unwrap();
    assert_eq!(decision(&home.hook("Bash", json!({"command": "ls"}))), "deny");
    assert_eq!(decision(&home.hook("Bash", json!({"command": "git push origin main"}))), "ask");
    std::fs::write(home.project().join(".doorward.toml"), "broken = ").unwrap();
    assert_eq!(decision(&home.hook("Bash", json!({"command": "pwd"}))), "ask");
}

#[test]
fn a_home_inside_the_project_brings_no_trust() {
    let home = Home::trusting();
    let fake = home.project().join("fake");
    std::fs::create_dir_all(fake.join(".config/doorward")).unwrap();
    std::fs::write(fake.join(".config/doorward/config.toml"), "[agents.claude]\nmode = \"auto\"\n").unwrap();
    let payload = home.payload("Bash", json!({"command": "ls"})).to_string();
    let ran = feed(home.command(&["hook", "claude"]).env("HOME", &fake), payload.as_bytes());
    assert!(ran.code == 2 || decision(&ran) == "ask", "{}", ran.stdout);
}

#[test]
fn other_events_are_recorded_or_ignored_without_a_word() {
    let home = Home::trusting();
    for event in [
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionDenied",
        "PermissionRequest",
        "SessionEnd",
        "UserPromptSubmit",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "Notification",
    ] {
        let payload =
            json!({"hook_event_name": event, "session_id": "s", "cwd": "/", "tool_use_id": "t", "prompt": "p"});
        let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{event}");
    }
}

#[test]
fn a_session_begins_with_a_word_to_the_model_unless_nothing_is_decided() {
    for (mode, told) in [("auto", true), ("confirm-all", true), ("shadow", false)] {
        let home = Home::new();
        home.run(&["setup", "claude", "--yes", "--mode", mode], b"");
        let payload = json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": home.project()}).to_string();
        let ran = home.run(&["hook", "claude"], payload.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(!ran.stdout.is_empty(), told, "{mode}");
        if told {
            let output = &ran.json()["hookSpecificOutput"];
            assert_eq!(output["hookEventName"], "SessionStart");
            assert!(output["additionalContext"].as_str().unwrap().contains("only the user can"));
        }
    }
}

#[test]
fn an_event_without_a_call_never_stops_the_agent() {
    let home = Home::trusting();
    std::fs::remove_dir_all(home.path(".local/state/doorward")).unwrap();
    std::fs::write(home.path(".local/state/doorward"), "in the way").unwrap();
    for event in ["UserPromptSubmit", "SessionEnd", "PostToolUse"] {
        let payload =
            json!({"hook_event_name": event, "session_id": "s", "cwd": "/", "tool_use_id": "t", "prompt": "p"});
        let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{event}");
        assert!(ran.stderr.starts_with("doorward: "), "{}", ran.stderr);
    }
}

#[test]
fn codex_hears_refusals_only_and_permissions() {
    let home = Home::new();
    let ran = home.run(&["setup", "codex", "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said = |event: &str, command: &str| {
        let mut payload = home.payload("Bash", json!({"command": command}));
        payload["hook_event_name"] = json!(event);
        let ran = home.run(&["hook", "codex"], payload.to_string().as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        ran.stdout
    };
    assert_eq!(said("PreToolUse", "ls -la"), "");
    assert!(said("PermissionRequest", "ls -la").contains("\"behavior\":\"allow\""));
    assert!(said("PreToolUse", "rm -rf ~").contains("\"permissionDecision\":\"deny\""));
    assert!(said("PermissionRequest", "rm -rf ~").contains("\"behavior\":\"deny\""));
    let asked = said("PreToolUse", "git push origin main");
    assert!(
        asked.contains("\"permissionDecision\":\"deny\"") && asked.contains("doorward needs your approval"),
        "{asked}"
    );
    assert_eq!(said("PermissionRequest", "git push origin main"), "");
    // An agent that was trusted does not make another one trusted.
    let ran = home.hook("Bash", json!({"command": "ls"}));
    assert_eq!(decision(&ran), "ask");
}

#[test]
fn whatever_holds_the_hook_up_ends_in_a_refusal() {
    let home = Home::trusting();
    for (agent, says_why) in [("claude", false), ("codex", true)] {
        let mut command = home.command(&["hook", agent]);
        command.env("DOORWARD_FAULT", "waiting").stdin(std::process::Stdio::piped());
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let open = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(open);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{agent}");
        assert_eq!(!output.stderr.is_empty(), says_why, "{agent}");
    }
}

#[test]
fn what_cannot_be_read_blocks() {
    let home = Home::trusting();
    let deep = format!("{{\"hook_event_name\":{}", "[".repeat(100_000));
    let duplicate = br#"{"hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls","command":"rm -rf /"}}"#;
    for payload in [
        &b""[..],
        b"garbage",
        b"[]",
        b"{}",
        b"\xff\xfe",
        deep.as_bytes(),
        duplicate,
        br#"{"hook_event_name":"Later","tool_name":"Bash"}"#,
    ] {
        blocked(&home.run(&["hook", "claude"], payload));
    }
    blocked(&home.run(&["hook", "somebody"], b"{}"));
    blocked(&home.run(&["hook"], b"{}"));
}

#[test]
fn a_payload_beyond_the_limit_blocks() {
    let home = Home::trusting();
    blocked(&home.run(&["hook", "claude"], &vec![b' '; (64 << 20) + 1]));
}

#[test]
fn what_cannot_be_recorded_is_not_approved() {
    let home = Home::trusting();
    std::fs::remove_dir_all(home.path(".local/state/doorward/log")).unwrap();
    blocked(&home.hook("Bash", json!({"command": "ls"})));
    std::fs::write(home.path(".local/state/doorward/log"), "in the way").unwrap();
    blocked(&home.hook("Bash", json!({"command": "ls"})));
}

#[test]
fn a_fault_while_judging_asks_and_a_fault_elsewhere_blocks() {
    let home = Home::trusting();
    let payload = home.payload("Bash", json!({"command": "ls"})).to_string();
    let faulty = |place: &str| {
        let mut command = home.command(&["hook", "claude"]);
        feed(command.env("DOORWARD_FAULT", place), payload.as_bytes())
    };
    let asked = faulty("judging");
    assert_eq!(decision(&asked), "ask");
    assert!(asked.stdout.contains("an internal error"), "{}", asked.stdout);
    blocked(&faulty("answering"));
    assert_eq!(decision(&faulty("nowhere")), "allow");
}

#[test]
fn the_installed_line_blocks_even_without_the_program() {
    let home = Home::trusting();
    let settings: Value = serde_json::from_str(&home.read(".claude/settings.json").unwrap()).unwrap();
    let line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let gone = line.replace(crate::support::program().to_str().unwrap(), "/nowhere/doorward");
    let mut shell = std::process::Command::new("sh");
    let ran = feed(shell.args(["-c", &gone]), b"{}");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("call blocked"));
}

fn blocked(ran: &Ran) {
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("doorward: ") && ran.stderr.ends_with("the call is blocked\n"), "{}", ran.stderr);
}

#[test]
fn a_call_that_waits_for_a_person_outlives_the_usual_deadline_and_is_then_refused_in_words() {
    let home = Home::new();
    let ran = home.run(&["setup", "codex", "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let config = home.read(".config/doorward/config.toml").unwrap();
    home.write(".config/doorward/config.toml", &format!("wait_seconds = 3\n{config}"));
    let payload = home.payload("Bash", json!({"command": "git push origin main"})).to_string();
    let began = std::time::Instant::now();
    // The deadline is one second here, counted anew from the end of the wait.
    let mut command = home.command(&["hook", "codex", "--timeout", "60"]);
    let ran = feed(command.env("DOORWARD_FAULT", "waiting"), payload.as_bytes());
    assert_eq!((ran.code, decision(&ran).as_str()), (0, "deny"), "{}", ran.stderr);
    assert!(ran.stdout.contains("doorward approve ") && began.elapsed().as_secs() >= 3, "{}", ran.stdout);
    home.write(".config/doorward/config.toml", &format!("wait_seconds = 500\n{config}"));
    let began = std::time::Instant::now();
    let ran = feed(&mut home.command(&["hook", "codex"]), payload.as_bytes());
    assert_eq!((ran.code, decision(&ran).as_str()), (0, "deny"), "nobody knows how long the agent waits");
    assert!(began.elapsed().as_secs() < 400, "it did not wait");
}

/// The hook with some of its streams as a shell would hand them over.
fn redirected(home: &Home, agent: &str, streams: &str, payload: &str) -> Ran {
    let mut shell = std::process::Command::new("sh");
    let line = format!("exec \"$0\" hook {agent} {streams}");
    shell
        .args(["-c", &line])
        .arg(crate::support::program())
        .env("HOME", home.path("").to_str().unwrap().trim_end_matches('/'));
    shell.env_remove("CLAUDE_CODE_SESSION_ATTENDED").current_dir(home.project());
    feed(&mut shell, payload.as_bytes())
}

#[test]
fn an_answer_that_nobody_hears_is_a_refusal() {
    let home = Home::trusting();
    for command in ["ls -la", "git push origin main", "rm -rf ~"] {
        let payload = home.payload("Bash", json!({ "command": command })).to_string();
        for streams in [">&-", "> /dev/null", ">&- 0<&0"] {
            blocked(&redirected(&home, "claude", streams, &payload));
        }
        if std::path::Path::new("/dev/full").exists() {
            blocked(&redirected(&home, "claude", "> /dev/full", &payload));
        }
    }
    let home = Home::trusting();
    let payload = home.payload("Bash", json!({ "command": "ls -la" })).to_string();
    blocked(&redirected(&home, "claude", "<&-", &payload));
    let muted = redirected(&home, "claude", "2>&-", &payload);
    assert_eq!(decision(&muted), "allow", "there is nothing to be said on standard error");
    assert_eq!(redirected(&home, "claude", "2>&-", "no payload").code, 2);
    // Codex runs a call that was refused without a word, so it gets the word where it is heard.
    let codex = redirected(&home, "codex", "2>&-", "no payload");
    assert_eq!(decision(&codex), "deny");
    let events = home.payload("Bash", json!({})).to_string().replace("PreToolUse", "Stop");
    assert_eq!(redirected(&home, "claude", "> /dev/null", &events).code, 0, "nothing was to be said");
}

#[test]
fn a_reader_that_went_away_is_no_reader() {
    use std::io::Write;
    let home = Home::trusting();
    let payload = home.payload("Bash", json!({ "command": "ls -la" })).to_string();
    let mut command = home.command(&["hook", "claude"]);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("the call is blocked"));
}

#[test]
fn a_lock_that_another_process_keeps_is_a_refusal_in_words() {
    let home = Home::trusting();
    let log = std::fs::File::open(home.path(".local/state/doorward/log")).unwrap();
    rustix::fs::flock(&log, rustix::fs::FlockOperation::LockExclusive).unwrap();
    for agent in ["claude", "generic"] {
        let began = std::time::Instant::now();
        let payload = match agent {
            "generic" => json!({"event": "call", "cwd": home.project(), "tool": "bash", "input": {"command": "ls"}}),
            _ => home.payload("Bash", json!({ "command": "ls -la" })),
        };
        // The deadline is one second here.
        let mut command = home.command(&["hook", agent]);
        let ran = feed(command.env("DOORWARD_FAULT", "waiting"), payload.to_string().as_bytes());
        // The lock is kept for as long as this test runs: whatever is not endless is soon enough on a busy machine.
        assert!(began.elapsed().as_secs() < 60, "{agent}: {:?}", began.elapsed());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{agent}");
        assert!(ran.stderr.contains("another process keeps its record or state locked"), "{agent}: {}", ran.stderr);
    }
    drop(log);
    assert_eq!(decision(&home.hook("Bash", json!({ "command": "ls -la" }))), "allow");
}

#[test]
fn state_that_others_can_change_blocks_every_call_and_names_the_way_out() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::trusting();
    let list = || home.hook("Bash", json!({ "command": "ls -la" }));
    assert_eq!(decision(&list()), "allow");
    for name in ["", "sessions", "log/current.log"] {
        let path = home.path(".local/state/doorward").join(name);
        let before = path.metadata().unwrap().permissions();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).unwrap();
        let ran = list();
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}");
        assert!(ran.stderr.contains("`chmod go-w /"), "{}", ran.stderr);
        std::fs::set_permissions(&path, before).unwrap();
    }
    let (sessions, moved) = (home.path(".local/state/doorward/sessions"), home.path("moved"));
    std::fs::rename(&sessions, &moved).unwrap();
    symlink(&moved, &sessions).unwrap();
    let ran = list();
    assert!(ran.code == 2 && ran.stderr.contains("not a link"), "{}", ran.stderr);
    std::fs::remove_file(&sessions).unwrap();
    std::fs::rename(&moved, &sessions).unwrap();
    assert_eq!(decision(&list()), "allow");
}

#[test]
fn a_pipe_or_a_socket_in_the_place_of_a_file_is_not_opened() {
    let home = Home::trusting();
    let fifo = home.project().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(home.project().join("socket")).unwrap();
    for name in ["pipe", "socket"] {
        let path = home.project().join(name);
        for (tool, input) in [
            ("Write", json!({ "file_path": path, "content": "x" })),
            ("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
            ("Bash", json!({ "command": format!("sh {name}") })),
            ("Bash", json!({ "command": format!("rm {name}") })),
        ] {
            let ran = home.hook(tool, input.clone());
            // Whoever opens it waits for ever, and is cut off with another code.
            assert_eq!(ran.code, 0, "{tool} {input}: {}", ran.stderr);
            assert_ne!(decision(&ran), "allow", "{tool} {input}");
        }
    }
}
