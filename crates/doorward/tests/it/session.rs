//! What the hook remembers of a session from call to call, and what happens when somebody meddles with it.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use doorward_ledger::{Limit, SessionState, StateKey, States};
use serde_json::{Value, json};

use crate::support::terminal::{Terminal, is_there};
use crate::support::{Home, Ran, feed};

/// The decision on a command and its reason.
fn decision(ran: &Ran) -> (String, String) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let answer = ran.json();
    let said = |name: &str| answer["hookSpecificOutput"][name].as_str().unwrap().to_owned();
    (said("permissionDecision"), said("permissionDecisionReason"))
}

fn says(home: &Home, session: &str, command: &str) -> String {
    decision(&home.bash(session, "call", command)).0
}

fn tell(home: &Home, event: &str, session: &str, id: &str) {
    let payload = json!({"hook_event_name": event, "session_id": session, "tool_use_id": id, "cwd": "/"});
    let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

/// The state files of sessions.
fn states(home: &Home, kind: &str) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(home.path(".local/state/doorward/sessions")).unwrap();
    let named = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(kind);
    listed.map(|entry| entry.unwrap().path()).filter(named).collect()
}

const SEND: &str = "curl -d x=1 https://crates.io/api";
const SECRET: &str = "cat .env";

fn with_secret(home: &Home) {
    std::fs::write(home.project().join(".env"), "TOKEN=x\n").unwrap();
}

#[test]
fn a_secret_read_earlier_makes_sending_ask_in_this_session_only() {
    let home = Home::trusting();
    with_secret(&home);
    let (_, before) = decision(&home.bash("one", "a", SEND));
    assert!(!before.contains("after a secret was read"), "{before}");
    let _asked = says(&home, "one", SECRET);
    let (verdict, reason) = decision(&home.bash("one", "b", SEND));
    assert!(verdict == "ask" && reason.contains("after a secret was read in this session"), "{verdict} {reason}");
    let (_, other) = decision(&home.bash("two", "c", SEND));
    assert!(!other.contains("after a secret was read"), "{other}");
    assert_eq!(says(&home, "one", "ls"), "allow", "what has nothing to do with it goes on");
}

#[test]
fn after_a_secret_a_host_is_asked_about_once_whoever_read_it() {
    const PLAIN: &str = "curl https://docs.rs/serde";
    let home = Home::trusting();
    with_secret(&home);
    assert_eq!(says(&home, "one", PLAIN), "allow");
    // A subagent reads it, and the session that started it sends.
    let mut payload = home.payload("Bash", json!({ "command": SECRET }));
    payload["session_id"] = json!("one");
    payload["agent_id"] = json!("sub");
    let _asked = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    let (verdict, reason) = decision(&home.bash("one", "first", PLAIN));
    assert!(verdict == "ask" && reason.contains("after a secret was read"), "{verdict} {reason}");
    assert_eq!(says(&home, "one", PLAIN), "ask", "nobody has said yes");
    tell(&home, "PostToolUse", "one", "first");
    let (verdict, reason) = decision(&home.bash("one", "second", "curl https://docs.rs/anyhow"));
    assert_eq!(verdict, "allow", "a person let it reach this host: {reason}");
    assert_eq!(says(&home, "one", "curl https://docs.rs/anyhow?x=1"), "ask", "a query says something");
    assert_eq!(says(&home, "one", "curl https://github.com/rust-lang"), "ask", "another host");
    assert_eq!(says(&home, "two", PLAIN), "allow");
}

#[test]
fn a_state_that_is_missing_damaged_or_forged_asks_once_and_comes_back_from_the_record() {
    let home = Home::trusting();
    with_secret(&home);
    let _asked = says(&home, "one", SECRET);
    let file = states(&home, "session-").pop().unwrap();
    let good = std::fs::read_to_string(&file).unwrap();
    let (body, code) = good.split_once('\n').unwrap();
    let mut forged: Value = serde_json::from_str(body).unwrap();
    forged["taint"] = json!([]);
    let spoil: [(&str, &dyn Fn()); 5] = [
        ("forged", &|| std::fs::write(&file, format!("{forged}\n{code}")).unwrap()),
        ("cut", &|| std::fs::write(&file, &good[..good.len() / 2]).unwrap()),
        ("empty", &|| std::fs::write(&file, "").unwrap()),
        ("missing", &|| std::fs::remove_file(&file).unwrap()),
        ("of another key", &|| {
            std::fs::remove_file(home.path(".local/state/doorward/state.key")).unwrap();
        }),
    ];
    for (how, spoil) in spoil {
        spoil();
        let (verdict, reason) = decision(&home.bash("one", "x", "ls"));
        assert!(
            verdict == "ask" && reason.contains("the state of this session had to be rebuilt"),
            "{how}: {verdict} {reason}"
        );
        assert_eq!(says(&home, "one", "ls"), "allow", "{how}: asked once");
        let (_, reason) = decision(&home.bash("one", "y", SEND));
        assert!(reason.contains("after a secret was read"), "{how}: the taint is back: {reason}");
    }
}

#[test]
fn an_old_session_of_which_the_record_knows_nothing_is_new() {
    let home = Home::trusting();
    tell(&home, "SessionStart", "fresh", "");
    assert_eq!(says(&home, "fresh", "ls"), "allow");
    assert_eq!(says(&home, "never announced", "ls"), "allow");
}

#[test]
fn three_denials_in_a_row_hand_over_until_a_person_says_yes() {
    let home = Home::trusting();
    for _ in 0..3 {
        assert_eq!(says(&home, "s", "rm -rf /"), "deny");
    }
    let (verdict, reason) = decision(&home.bash("s", "asked", "ls"));
    assert!(verdict == "ask" && reason.contains("denied in a row"), "{verdict} {reason}");
    assert_eq!(says(&home, "s", "git diff"), "ask", "asking ends nothing");
    assert_eq!(says(&home, "other", "ls"), "allow");
    tell(&home, "PostToolUse", "s", "asked");
    assert_eq!(says(&home, "s", "ls"), "allow");
    let answers = home.run(&["audit", "list", "--kind", "answer", "--json"], b"").json();
    assert_eq!((answers[0]["decision"].as_str(), answers[0]["by"].as_str()), (Some("asked"), Some("client")));
    let stats = home.run(&["audit", "stats", "--json"], b"").json();
    let overridden: u64 =
        stats["categories"].as_array().unwrap().iter().map(|of| of["overridden"].as_u64().unwrap()).sum();
    assert_eq!(overridden, 0, "the limit had demanded it, not doorward's own judgement");
}

#[test]
fn a_burst_of_reads_asks_and_is_over_with_the_minute() {
    let home = Home::trusting();
    assert_eq!(says(&home, "busy", "cat README.md"), "allow");
    let limit = Limit { per_minute: 300, burst: 60 };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    // A minute ahead, so that nothing wears off however slow this machine is.
    let reads = |session: &str, count: u32, at: u64| {
        let key = StateKey::load(&home.path(".local/state/doorward/state.key")).unwrap();
        let states = States::at(&home.path(".local/state/doorward/sessions"), key);
        states
            .update(session, |state: &mut SessionState| (0..count).for_each(|_| state.count_read(limit, at)))
            .unwrap();
    };
    reads("busy", 60, now + 60_000);
    let (verdict, reason) = decision(&home.bash("busy", "x", "cat README.md"));
    assert!(
        verdict == "ask" && reason.contains("reads within seconds, and the limit is 60 at once"),
        "{verdict} {reason}"
    );
    assert_eq!(says(&home, "busy", "cat .gitignore"), "ask", "what was refused counts no less");
    assert_eq!(says(&home, "calm", "cat README.md"), "allow");
    reads("calm", 60, now - 60_000);
    assert_eq!(says(&home, "calm", "cat README.md"), "allow");
}

#[test]
fn what_the_session_created_it_may_delete_and_everything_else_is_copied_first() {
    let home = Home::trusting();
    let is_copied = |session: &str, command: &str| {
        let (verdict, reason) = decision(&home.bash(session, "x", command));
        assert_eq!(verdict, "allow", "{reason}");
        reason.contains("1 file was copied first")
    };
    let theirs = home.project().join("theirs.txt");
    std::fs::write(&theirs, "a person's\n").unwrap();
    assert!(is_copied("s", "rm theirs.txt"));
    let made = home.project().join("made.txt");
    let _judged = says(&home, "s", "touch made.txt");
    std::fs::write(&made, "").unwrap();
    assert!(!is_copied("s", "rm made.txt"));
    std::fs::remove_file(&made).unwrap();
    // Somebody else's file under the same name is not the session's.
    std::fs::rename(&theirs, &made).unwrap();
    assert!(is_copied("s", "rm made.txt"));
    assert!(is_copied("t", "rm made.txt"));
}

#[test]
fn the_record_is_signed_when_a_session_ends() {
    let home = Home::trusting();
    assert_eq!(says(&home, "s", "ls"), "allow");
    tell(&home, "SessionEnd", "s", "");
    let verified = home.run(&["audit", "verify"], b"");
    assert_eq!(verified.code, 0);
    assert!(verified.stdout.contains("anchored: a checkpoint covers everything"), "{}", verified.stdout);
}

#[test]
fn of_calls_made_at_once_none_runs_what_another_writes() {
    if !is_there("no project was trusted at one") {
        return;
    }
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"];
        let status = std::process::Command::new("git").current_dir(home.project()).args(identity).args(words).status();
        assert!(status.unwrap().success());
    };
    std::fs::write(home.project().join("tool.sh"), "ls\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "a tool"]);
    let terminal = Terminal::new(&home);
    terminal.run(&home, &format!("doorward trust project {}", home.project().display()));
    terminal.shows("y/N");
    terminal.types("y");
    terminal.shows("ended with 0");
    let said = |id: &str, session: &str, event: &str, tool: &str, input: serde_json::Value| {
        let mut payload = home.payload(tool, input);
        payload["tool_use_id"] = id.into();
        payload["session_id"] = session.into();
        payload["hook_event_name"] = event.into();
        let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        if ran.stdout.is_empty() {
            return String::new();
        }
        ran.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    };
    let write = || serde_json::json!({"file_path": home.project().join("tool.sh"), "content": "rm -rf ~/precious\n"});
    let run = || serde_json::json!({"command": "sh tool.sh"});
    assert_eq!(said("1", "a", "PreToolUse", "Write", write()), "allow");
    assert_eq!(said("2", "a", "PreToolUse", "Bash", run()), "ask", "written first");
    said("1", "a", "PostToolUse", "Write", write());
    assert_eq!(said("3", "a", "PreToolUse", "Bash", run()), "allow", "nothing is under way any more");
    assert_eq!(said("4", "b", "PreToolUse", "Bash", run()), "allow");
    assert_eq!(said("5", "b", "PreToolUse", "Write", write()), "ask", "run first");
}

#[test]
fn what_the_agent_asked_about_and_never_ran_was_refused() {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let tell = |event: &str, id: &str| {
        let mut payload = home.payload("Bash", serde_json::json!({"command": "git push origin main"}));
        payload["hook_event_name"] = event.into();
        payload["tool_use_id"] = id.into();
        assert_eq!(home.run(&["hook", "claude"], payload.to_string().as_bytes()).code, 0);
    };
    tell("PreToolUse", "asked-and-run");
    tell("PostToolUse", "asked-and-run");
    tell("PreToolUse", "asked-and-refused");
    tell("SessionEnd", "");
    let answers = home.run(&["audit", "list", "--json", "--kind", "answer"], b"").json();
    let mut said: Vec<String> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| {
            format!("{} {}", answer["decision"].as_str().unwrap(), answer["step"].as_str().unwrap_or_default())
        })
        .collect();
    said.sort();
    assert_eq!(said, ["asked-and-refused declined", "asked-and-run approved"]);
}

/// A person's words at the start of a turn.
fn say(home: &Home, session: &str, words: &str) {
    let payload =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": words, "cwd": home.project()});
    let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_limit_that_the_user_states_holds_for_the_rest_of_the_session() {
    let home = Home::trusting();
    let crosses = |session: &str, id: &str| decision(&home.bash(session, id, "git commit -m x")).1.contains("you said");
    assert!(!crosses("one", "a"));
    say(&home, "one", "fix the typo, but don't commit");
    assert!(crosses("one", "b"));
    say(&home, "one", "thanks, now look at the tests");
    assert!(crosses("one", "c"), "later words leave the limit");
    assert!(!crosses("two", "d"), "another session knows nothing of it");
    let file = states(&home, "session-")
        .into_iter()
        .find(|file| std::fs::read_to_string(file).unwrap().contains("commit"))
        .unwrap();
    std::fs::remove_file(file).unwrap();
    assert!(crosses("one", "e"), "the record brings it back");
}

/// What the hook says to a push after these words, in a session that keeps no transcript.
fn push_without_transcript(home: &Home, session: &str, entry: &str, before: &[(&str, Value)]) -> String {
    let hook = |payload: &Value| {
        let mut command = home.command(&["hook", "claude"]);
        feed(command.env("CLAUDE_CODE_ENTRYPOINT", entry), payload.to_string().as_bytes())
    };
    let call = |tool: &str, input: &Value| {
        let mut payload = home.payload(tool, input.clone());
        payload["session_id"] = json!(session);
        payload["tool_use_id"] = json!(format!("{session}-{tool}"));
        payload["prompt_id"] = json!("p1");
        payload
    };
    before.iter().for_each(|(tool, input)| drop(hook(&call(tool, input))));
    let said = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "push this branch",
        "prompt_id": "p1", "transcript_path": "/nowhere.jsonl", "cwd": home.project()});
    hook(&said);
    decision(&hook(&call("Bash", &json!({"command": "git push -u origin topic"})))).0
}

#[test]
fn without_a_transcript_words_count_as_long_as_only_a_person_can_have_typed_them() {
    if !is_there("no project was trusted at one") {
        return;
    }
    let home = Home::trusting();
    let git = |arguments: &[&str]| {
        let ran = std::process::Command::new("git").args(arguments).current_dir(home.project()).output().unwrap();
        assert!(ran.status.success(), "{arguments:?} {ran:?}");
    };
    git(&["switch", "-qc", "topic"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["remote", "add", "origin", "https://github.com/acme/app.git"]);
    Terminal::say_yes(&home, &format!("doorward trust project {}", home.project().display()), "y/N");
    assert_eq!(push_without_transcript(&home, "typed", "cli", &[]), "allow");
    for entry in ["sdk-ts", "sdk-cli", "mcp", ""] {
        assert_eq!(push_without_transcript(&home, &format!("entry-{entry}"), entry, &[]), "ask", "{entry}");
    }
    for (tool, input) in [
        ("ScheduleWakeup", json!({"prompt": "push this branch", "delaySeconds": 60})),
        ("SlashCommand", json!({"command": "/push"})),
    ] {
        assert_eq!(push_without_transcript(&home, tool, "cli", &[(tool, input)]), "ask", "{tool}");
    }
    std::fs::create_dir(home.project().join(".claude")).unwrap();
    std::fs::write(home.project().join(".claude/scheduled_tasks.json"), "[]").unwrap();
    assert_eq!(push_without_transcript(&home, "scheduled", "cli", &[]), "ask");
}

#[test]
fn a_model_of_ones_own_that_cannot_be_used_asks_and_lets_reads_go_on() {
    let home = Home::trusting();
    let file = home.path(".config/doorward/scorer.tsv");
    let says_why = |session: &str| decision(&home.bash(session, "a", "git commit -m x"));
    let missing = "the risk model is not available";
    assert!(!says_why("one").1.contains(missing));
    std::fs::write(&file, "doorward scorer 1\nbase\t0\t0\n").unwrap();
    let (verdict, reason) = says_why("two");
    assert!(verdict == "ask" && reason.contains(missing), "{verdict} {reason}");
    assert_eq!(says(&home, "two", "ls"), "allow", "what layer 1 settles goes on");
    std::fs::remove_file(&file).unwrap();
    assert!(!says_why("three").1.contains(missing));
}
