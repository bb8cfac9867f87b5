//! The Claude Code plugin: its files fit the program, and beside the hooks of `setup` each call is judged once.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, Ran, feed, program};

const SETTINGS: &str = ".claude/settings.json";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn file(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join(name)).unwrap()).unwrap()
}

/// The line that Claude Code runs for an event.
fn line(event: &str) -> String {
    let hooks = file("extensions/claude/hooks/hooks.json");
    let line = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
    line.replace("${CLAUDE_PLUGIN_ROOT}", root().join("extensions/claude").to_str().unwrap())
}

/// Runs the plugin's line, with doorward where an installer puts it, or without.
fn hook(home: &Home, event: &str, payload: &Value, is_installed: bool) -> Ran {
    if is_installed {
        let bin = home.path(".local/bin");
        std::fs::create_dir_all(&bin).unwrap();
        let _ = std::os::unix::fs::symlink(program(), bin.join("doorward"));
    }
    let mut command = Command::new("sh");
    command.args(["-c", &at_home(home, &line(event))]).current_dir(home.project()).env("HOME", home.path(""));
    command.env("PATH", "/usr/bin:/bin").env_remove("CLAUDE_CONFIG_DIR");
    feed(&mut command, payload.to_string().as_bytes())
}

/// The line with a launcher that takes the test's home for the one in the password file.
fn at_home(home: &Home, line: &str) -> String {
    let launcher = root().join("extensions/claude/scripts/doorward.sh");
    let text = std::fs::read_to_string(&launcher).unwrap();
    let moved = text.replace("home=$(eval \"printf %s ~$name\")", &format!("home='{}'", home.path("").display()));
    assert_ne!(moved, text);
    let copy = home.path("launcher.sh");
    std::fs::write(&copy, moved.replace("\"/usr/local/bin\" ", "").replace(" \"/usr/bin\"", "")).unwrap();
    line.replace(launcher.to_str().unwrap(), copy.to_str().unwrap())
}

fn enable(home: &Home) {
    let mut settings: Value = serde_json::from_str(&home.read(SETTINGS).unwrap_or("{}".into())).unwrap();
    settings["enabledPlugins"] = json!({ "doorward@doorward": true });
    home.write(SETTINGS, &settings.to_string());
}

#[test]
fn the_plugin_has_the_events_of_setup_and_the_version_of_the_program() {
    let home = Home::trusting();
    let settings: Value = serde_json::from_str(&home.read(SETTINGS).unwrap()).unwrap();
    let events = |hooks: &Value| hooks["hooks"].as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    let plugin = file("extensions/claude/hooks/hooks.json");
    assert_eq!(events(&plugin), events(&settings));
    for event in events(&plugin) {
        let (ours, theirs) = (&plugin["hooks"][&event][0], &settings["hooks"][&event][0]);
        assert_eq!(
            (&ours["matcher"], &ours["hooks"][0]["timeout"]),
            (&theirs["matcher"], &theirs["hooks"][0]["timeout"]),
            "{event}"
        );
    }
    assert_eq!(file("extensions/claude/.claude-plugin/plugin.json")["version"], json!(env!("CARGO_PKG_VERSION")));
    let source = file(".claude-plugin/marketplace.json")["plugins"][0]["source"].clone();
    assert!(root().join(source.as_str().unwrap()).join(".claude-plugin/plugin.json").exists());
}

#[test]
fn without_the_program_every_call_is_blocked_with_the_way_out() {
    let home = Home::new();
    let ran = hook(&home, "PreToolUse", &home.payload("Bash", json!({ "command": "ls" })), false);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("so every call is blocked") && ran.stderr.contains("claude plugin uninstall"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_program_that_the_project_brings_is_not_run() {
    let home = Home::new();
    for place in ["doorward", ".local/bin/doorward"] {
        let planted = home.project().join(place);
        std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
        std::fs::write(&planted, "#!/bin/sh\ntouch ran\necho '{}'\n").unwrap();
        std::fs::set_permissions(&planted, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let payload = home.payload("Bash", json!({ "command": "ls" }));
    let mut command = Command::new("sh");
    // What the settings of a project can do: set variables for the hooks of its sessions.
    command.args(["-c", &line("PreToolUse")]).current_dir(home.project()).env("HOME", home.project());
    command.env("PATH", format!("{}:/usr/bin:/bin", home.project().display()));
    feed(&mut command, payload.to_string().as_bytes());
    assert!(!home.project().join("ran").exists());
}

#[test]
fn setup_leaves_the_hooks_to_the_plugin_and_doctor_is_content() {
    let home = Home::new();
    enable(&home);
    let before = home.read(SETTINGS);
    hook(
        &home,
        "SessionStart",
        &json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/tmp" }),
        true,
    );
    let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto", "--questions", "queue"], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("the hooks are the plugin's"), "{}", ran.stdout);
    assert_eq!(home.read(SETTINGS), before, "no second set of hooks");
    let found = home.run(&["doctor"], b"");
    assert!(!found.stdout.contains("hooks-missing") && !found.stdout.contains("event-missing"), "{}", found.stdout);
    let ran = home.run(&["setup", "claude", "--yes", "--statusline", "--questions", "queue"], b"");
    assert!(home.read(SETTINGS).unwrap().contains("statusline"), "{}", ran.stderr);
}

#[test]
fn beside_setups_hooks_each_call_is_judged_once_and_never_unjudged() {
    let home = Home::trusting();
    enable(&home);
    let mut payload = home.payload("Bash", json!({ "command": "rm -rf ~" }));
    payload["tool_use_id"] = json!("first");
    assert!(home.run(&["hook", "claude"], payload.to_string().as_bytes()).stdout.contains("\"deny\""));
    let ran = hook(&home, "PreToolUse", &payload, true);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "judged already: {}", ran.stderr);
    // Claude Code started without the user's settings: the hook of setup is named there and does not run.
    payload["tool_use_id"] = json!("second");
    assert!(hook(&home, "PreToolUse", &payload, true).stdout.contains("\"deny\""));
    let records = home.run(&["audit", "list", "--json", "--kind", "decision", "--session", "0c1d"], b"").stdout;
    assert_eq!((records.matches("first").count() > 0, records.matches("rm -rf").count()), (true, 2), "{records}");
}
