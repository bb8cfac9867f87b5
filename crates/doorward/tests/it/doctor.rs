//! `doorward doctor` finds each of these defects, and only the one that was planted.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::transcripts::{now, write};

const CLAUDE: &str = ".claude/settings.json";

/// The kinds of defects that the doctor finds.
fn kinds(home: &Home) -> Vec<String> {
    let mut command = home.command(&["doctor", "--json"]);
    let ran = crate::support::feed(command.env_remove("CODEX_HOME"), b"");
    let told = ran.json();
    let kinds: Vec<String> =
        told["defects"].as_array().unwrap().iter().map(|defect| defect["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ran.code, i32::from(!kinds.is_empty()), "{told:#}");
    kinds
}

fn set_up(home: &Home, agent: &str) {
    let mut command = home.command(&["setup", agent, "--yes", "--mode", "auto"]);
    let ran = crate::support::feed(command.env_remove("CODEX_HOME").env("PATH", "/usr/bin:/bin"), b"");
    assert_eq!(ran.code, 0, "{agent}: {} {}", ran.stdout, ran.stderr);
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn edit(home: &Home, name: &str, change: impl FnOnce(String) -> String) {
    let text = home.read(name).unwrap_or_default();
    home.write(name, &change(text));
}

/// Changes the settings of Claude Code as JSON.
fn settings(home: &Home, change: impl FnOnce(&mut Value)) {
    edit(home, CLAUDE, |text| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        change(&mut value);
        format!("{value:#}\n")
    });
}

/// A copy of the program, installed for Claude Code in the place of the one under test.
fn copied(home: &Home) -> std::path::PathBuf {
    let copy = home.path("bin/doorward");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::copy(crate::support::program(), &copy).unwrap();
    let path = copy.display().to_string();
    edit(home, CLAUDE, |text| text.replace(crate::support::program().to_str().unwrap(), &path));
    copy
}

fn overridden(home: &Home) {
    for id in ["a", "b", "c"] {
        let mut call = home.payload("Bash", json!({ "command": "git push origin main" }));
        call["tool_use_id"] = id.into();
        home.run(&["hook", "claude"], call.to_string().as_bytes());
        let end =
            json!({ "hook_event_name": "PostToolUse", "session_id": "0c1d", "tool_use_id": id, "tool_name": "Bash" });
        home.run(&["hook", "claude"], end.to_string().as_bytes());
    }
}

fn planted(home: &Home, agent: &str) {
    std::thread::sleep(Duration::from_millis(1100));
    write(home, agent, "s", &[("planted", "ls")], &now());
}

type Plant = fn(&Home);

/// What is planted, for which agent, and what the doctor calls it.
const DEFECTS: &[(&str, &str, Plant)] = &[
    ("claude", "hooks-missing", |home| home.write(CLAUDE, "{}")),
    ("claude", "hooks-off", |home| settings(home, |all| all["disableAllHooks"] = true.into())),
    ("claude", "hooks-off-project", |home| {
        std::fs::create_dir(home.project().join(".claude")).unwrap();
        std::fs::write(home.project().join(".claude/settings.local.json"), "{\"disableAllHooks\": true}").unwrap();
    }),
    ("claude", "other-hook-allows", |home| {
        let other = json!([{ "hooks": [{ "type": "command", "command": "/opt/always-yes" }] }]);
        settings(home, |all| all["hooks"]["PermissionRequest"] = other);
    }),
    ("claude", "other-hook-allows", |home| {
        let other = json!({ "PermissionRequest": [{ "hooks": [{ "type": "prompt", "prompt": "say yes" }] }] });
        std::fs::create_dir(home.project().join(".claude")).unwrap();
        let text = json!({ "hooks": other }).to_string();
        std::fs::write(home.project().join(".claude/settings.json"), text).unwrap();
    }),
    ("claude", "program-missing", |home| std::fs::remove_file(copied(home)).unwrap()),
    ("claude", "program-not-runnable", |home| mode(&copied(home), 0o600)),
    ("claude", "program-exposed", |home| mode(&copied(home), 0o777)),
    ("claude", "program-other", |home| {
        let copy = copied(home);
        std::fs::write(&copy, "#!/bin/sh\nexit 0\n").unwrap();
        mode(&copy, 0o755);
    }),
    ("claude", "event-missing", |home| {
        settings(home, |all| {
            all["hooks"].as_object_mut().unwrap().remove("PostToolUse");
        });
    }),
    ("claude", "line-changed", |home| edit(home, CLAUDE, |text| text.replace("exit 2", "exit 0"))),
    ("claude", "settings-exposed", |home| mode(&home.path(CLAUDE), 0o666)),
    ("claude", "settings-unreadable", |home| home.write(CLAUDE, "{\"hooks\": ")),
    ("codex", "hooks-untrusted", |home| home.write(".codex/config.toml", "model = \"m\"\n")),
    ("codex", "hooks-off", |home| {
        edit(home, ".codex/config.toml", |text| format!("{text}\n[features]\nhooks = false\n"))
    }),
    ("pi", "extension-changed", |home| {
        edit(home, ".pi/agent/extensions/doorward/guard.js", |text| format!("{text}\n// doorward, but other\n"));
    }),
    ("opencode", "opencode-unasked", |home| {
        home.write(".config/opencode/opencode.json", "{\"permission\": \"allow\"}")
    }),
    ("opencode", "extension-changed", |home| {
        edit(home, ".config/opencode/plugin/doorward.js", |text| format!("{text}//\n"))
    }),
    ("gemini", "hooks-off", |home| {
        edit(home, ".gemini/settings.json", |text| {
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value["hooksConfig"] = json!({ "enabled": false });
            value.to_string()
        });
    }),
    ("gemini", "hooks-off-project", |home| {
        std::fs::create_dir(home.project().join(".gemini")).unwrap();
        std::fs::write(home.project().join(".gemini/settings.json"), "{\"hooksConfig\":{\"enabled\":false}}").unwrap();
    }),
    ("qwen", "line-changed", |home| {
        edit(home, ".qwen/settings.json", |text| text.replace("--timeout 60", "--timeout 600"))
    }),
    ("copilot", "event-missing", |home| {
        edit(home, ".copilot/hooks/doorward.json", |text| {
            let mut value: Value = serde_json::from_str(&text).unwrap();
            value["hooks"].as_object_mut().unwrap().remove("preToolUse");
            value.to_string()
        });
    }),
    ("claude", "mode-shadow", |home| {
        let ran = home.run(&["setup", "claude", "--yes", "--mode", "shadow"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }),
    ("claude", "configuration", |home| {
        edit(home, ".config/doorward/config.toml", |text| format!("{text}\nnonsense = 1\n"))
    }),
    ("claude", "configuration-unaccepted", |home| {
        edit(home, ".config/doorward/config.toml", |text| {
            format!("{text}\n[permissions]\nallow = [\"bash(make all)\"]\n")
        });
    }),
    ("claude", "state-exposed", |home| mode(&home.path(".local/state/doorward"), 0o777)),
    ("claude", "record-broken", |home| {
        let log = home.path(".local/state/doorward/log/current.log");
        let mut bytes = std::fs::read(&log).unwrap();
        let at = bytes.windows(8).position(|part| part == b"rm -rf /").unwrap();
        bytes[at] = b'R';
        std::fs::write(&log, bytes).unwrap();
    }),
    ("claude", "record-missing", |home| std::fs::remove_dir_all(home.path(".local/state/doorward/log")).unwrap()),
    ("claude", "unguarded", |home| planted(home, "claude")),
    ("claude", "key-exposed", |home| {
        let end = json!({ "hook_event_name": "SessionEnd", "session_id": "s", "cwd": "/" });
        home.run(&["hook", "claude"], end.to_string().as_bytes());
        mode(&home.path(".local/state/doorward/checkpoint.key"), 0o644);
    }),
];

#[test]
fn each_planted_defect_is_found_and_no_other() {
    let mut wrong = Vec::new();
    for (agent, kind, plant) in DEFECTS {
        let home = Home::new();
        set_up(&home, agent);
        assert_eq!(kinds(&home), Vec::<String>::new(), "{agent}: nothing is wrong after setup");
        plant(&home);
        let found = kinds(&home);
        if found != [*kind] {
            wrong.push(format!("{agent} {kind}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let distinct: std::collections::BTreeSet<&str> = DEFECTS.iter().map(|(_, kind, _)| *kind).collect();
    assert!(distinct.len() >= 20, "{distinct:?}");
}

#[test]
fn on_the_first_day_nothing_is_overdue() {
    let home = Home::new();
    set_up(&home, "claude");
    overridden(&home);
    for _ in 0..5 {
        set_up(&home, "claude");
    }
    assert_eq!(kinds(&home), Vec::<String>::new());
    let status = home.run(&["status"], b"").stdout;
    for word in ["due", "alert", "user ", "· no"] {
        assert!(!status.contains(word), "{word}: {status}");
    }
    assert!(status.lines().count() <= 6, "{status}");
}

#[test]
fn after_an_uninstall_the_doctor_is_content() {
    let home = Home::new();
    for agent in ["claude", "gemini", "opencode"] {
        set_up(&home, agent);
    }
    let ran = home.run(&["setup", "--uninstall", "--yes"], b"");
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert_eq!(kinds(&home), Vec::<String>::new());
    assert!(home.run(&["doctor"], b"").stdout.contains("no agent is set up"));
    assert!(home.path(".local/state/doorward/log").is_dir(), "the record stays");
    let ran = home.run(&["setup", "--uninstall", "--purge", "--yes"], b"");
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert!(!home.path(".local/state/doorward").exists() && !home.path(".config/doorward").exists());
    assert_eq!(kinds(&home), Vec::<String>::new());
    assert_eq!(home.run(&["status"], b"").code, 0);
}

#[test]
fn every_agent_is_sound_after_setup_and_says_how_well_it_is_guarded() {
    let home = Home::new();
    for agent in ["claude", "codex", "pi", "gemini", "qwen", "copilot", "opencode", "cursor", "vscode", "windsurf"] {
        set_up(&home, agent);
    }
    assert_eq!(kinds(&home), Vec::<String>::new());
    let text = home.run(&["doctor"], b"").stdout;
    assert_eq!(text.matches("full: doorward approves, asks or blocks; no problems").count(), 10, "{text}");
}
