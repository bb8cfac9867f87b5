//! The strict profile, line by line: what it adds to every other configuration.

use serde_json::{Value, json};

use crate::support::Home;

/// The answer on a described machine, with and without the profile.
fn both(tool: &str, input: Value, more: Value) -> (Value, Value) {
    let ask = |config: Value| {
        let mut line = json!({
            "id": 1, "tool": tool, "input": input, "cwd": "/home/dev/project", "config": config,
            "world": { "home": "/home/dev", "project": "/home/dev/project", "git": {
                "root": "/home/dev/project", "remotes": { "origin": "https://github.com/acme/shop.git" } } },
        });
        for (key, value) in more.as_object().unwrap() {
            line[key] = value.clone();
        }
        Home::new().run(&["check", "--jsonl", "-"], line.to_string().as_bytes()).json()
    };
    (ask(json!({})), ask(json!({ "strict": true })))
}

fn verdicts(tool: &str, input: Value, more: Value) -> (String, String) {
    let (usual, strict) = both(tool, input, more);
    (usual["verdict"].as_str().unwrap().to_owned(), strict["verdict"].as_str().unwrap().to_owned())
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

fn pair(usual: &str, strict: &str) -> (String, String) {
    (usual.to_owned(), strict.to_owned())
}

#[test]
fn a_get_from_a_host_on_no_list_blocks() {
    assert_eq!(verdicts("bash", bash("curl -s https://unlisted.example/"), json!({})), pair("confirm", "block"));
    assert_eq!(verdicts("fetch", json!({ "url": "https://unlisted.example/" }), json!({})), pair("confirm", "block"));
}

#[test]
fn a_tool_server_that_nobody_trusted_blocks() {
    let call = json!({ "server": "tracker", "name": "get_issue", "args": { "n": 1 } });
    assert_eq!(verdicts("mcp", call, json!({})).1, "block");
}

#[test]
fn a_read_from_another_machine_asks_even_if_the_host_is_listed() {
    assert_eq!(verdicts("bash", bash("curl -s https://docs.rs/serde"), json!({})), pair("approve", "confirm"));
    assert_eq!(verdicts("bash", bash("gh pr view 1"), json!({})), pair("approve", "confirm"));
    assert_eq!(verdicts("bash", bash("git fetch"), json!({})), pair("approve", "confirm"));
    assert_eq!(verdicts("websearch", json!({ "query": "rust lifetimes" }), json!({})).1, "confirm");
    assert_eq!(verdicts("bash", bash("ls src"), json!({})), pair("approve", "approve"));
}

#[test]
fn words_of_the_user_clear_nothing() {
    let asked = json!({ "user_message": "please run git push to origin now" });
    assert_eq!(verdicts("bash", bash("git push origin feature"), asked).1, "confirm");
}

/// The real machine: every program wants its hash on the list, the system's own too.
#[test]
fn a_program_without_a_hash_on_the_list_blocks() {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let decision = |command: &str| {
        let answer = home.hook("Bash", bash(command)).json();
        let output = &answer["hookSpecificOutput"];
        let text = |key: &str| output[key].as_str().unwrap_or_default().to_owned();
        (text("permissionDecision"), text("permissionDecisionReason"))
    };
    assert_eq!(decision("ls").0, "allow");
    let before = home.read(".config/doorward/config.toml").unwrap();
    home.write(".config/doorward/config.toml", &format!("strict = true\n{before}"));
    let (verdict, why) = decision("ls");
    assert!(verdict == "deny" && why.contains("not on the list"), "{verdict}: {why}");
    assert_eq!(decision("true && cd .").0, "allow", "what the shell does itself is no program");
    home.write(".config/doorward/config.toml", &before);
    let (verdict, why) = decision("ls");
    assert_eq!(verdict, "deny", "taking the profile away wants a person: {why}");
    let shown = home.run(&["config"], b"").stdout;
    assert!(shown.contains("not accepted yet:") && shown.contains("`strict`"), "{shown}");
    let status = home.run(&["status"], b"").stdout;
    assert!(status.contains("not accepted yet:") && status.contains("`doorward reload`"), "{status}");
}
