//! `doorward setup`: the change is shown, made, made only once, and taken back byte for byte.

use crate::support::Home;

const SETTINGS: &str = ".claude/settings.json";

#[test]
fn uninstalling_brings_back_every_byte() {
    for before in [
        None,
        Some("{}"),
        Some("{\"model\":\"opus\"}"),
        Some("{\n    \"permissions\": {\"allow\": [\"Bash(ls)\"]},\n\n    \"hooks\": {}\n}\n"),
        Some(
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"theirs\" } ] }\n    ]\n  }\n}",
        ),
    ] {
        let home = Home::new();
        if let Some(text) = before {
            home.write(SETTINGS, text);
        }
        let ran = home.run(&["setup", "claude", "--yes"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let with = home.read(SETTINGS).unwrap();
        assert!(
            with.contains("hook claude")
                && before.is_none_or(|text| !text.contains("theirs") || with.contains("theirs"))
        );
        assert_eq!(home.run(&["setup", "claude", "--yes"], b"").code, 0);
        assert_eq!(home.read(SETTINGS).unwrap(), with, "setting up twice changes nothing");
        assert_eq!(home.run(&["setup", "claude", "--uninstall", "--yes"], b"").code, 0);
        assert_eq!(home.read(SETTINGS).as_deref(), before);
        assert!(home.read(".claude/settings.json.before-doorward").is_none());
    }
}

#[test]
fn changes_made_in_between_survive() {
    let home = Home::new();
    home.write(SETTINGS, "{\n  \"model\": \"a\"\n}\n");
    home.run(&["setup", "claude", "--yes"], b"");
    let edited = home.read(SETTINGS).unwrap().replace("\"a\"", "\"b\"");
    home.write(SETTINGS, &edited);
    home.run(&["setup", "claude", "--uninstall", "--yes"], b"");
    assert_eq!(home.read(SETTINGS).unwrap(), "{\n  \"model\": \"b\"\n}\n");
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let home = Home::new();
    let ran = home.run(&["setup", "claude", "--dry-run"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("+ ") && ran.stdout.contains("hook claude --timeout 60 || {"));
    assert!(home.read(SETTINGS).is_none() && home.read(".config/doorward/config.toml").is_none());
}

#[test]
fn broken_settings_are_left_alone() {
    let home = Home::new();
    home.write(SETTINGS, "{\"hooks\": ");
    let ran = home.run(&["setup", "claude", "--yes"], b"");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert_eq!(home.read(SETTINGS).unwrap(), "{\"hooks\": ");
    assert!(home.read(".config/doorward/config.toml").is_none());
}

#[test]
fn nobody_is_trusted_without_being_asked() {
    let home = Home::new();
    let ran = home.run(&["setup", "claude"], b"a\n");
    assert_eq!(ran.code, 1);
    assert!(home.read(SETTINGS).is_none());
    home.run(&["setup", "claude", "--yes"], b"");
    assert!(home.read(".config/doorward/config.toml").unwrap().contains("mode = \"confirm-all\""));
    home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
    assert!(home.read(".config/doorward/config.toml").unwrap().contains("mode = \"auto\""));
    home.run(&["setup", "claude", "--yes"], b"");
    assert!(
        home.read(".config/doorward/config.toml").unwrap().contains("mode = \"auto\""),
        "a choice that was made stays"
    );
}

/// Setup of Codex with no `codex` to be found, so that nothing is started.
fn codex(home: &Home, arguments: &[&str]) -> crate::support::Ran {
    let mut command = home.command(&[&["setup", "codex", "--yes"], arguments].concat());
    crate::support::feed(command.env_remove("CODEX_HOME").env("PATH", "/usr/bin:/bin"), b"")
}

#[test]
fn codex_is_told_to_trust_the_hooks_and_forgets_it_byte_for_byte() {
    for (hooks, config) in [
        (None, None),
        (
            Some("{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"theirs\"}]}]}}"),
            Some("model = \"m\" # mine\n"),
        ),
        (None, Some("[hooks.state.\"/other/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n\n[tui]\nx = 1\n")),
    ] {
        let home = Home::new();
        let files = [(".codex/hooks.json", hooks), (".codex/config.toml", config)];
        for (file, text) in files {
            if let Some(text) = text {
                home.write(file, text);
            }
        }
        let ran = codex(&home, &["--mode", "auto"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("trial rm -rf / denied"), "{}", ran.stdout);
        let (with, trust) = (home.read(".codex/hooks.json").unwrap(), home.read(".codex/config.toml").unwrap());
        let place = usize::from(hooks.is_some());
        let key = format!("{}:pre_tool_use:{place}:0", home.path(".codex/hooks.json").display());
        assert!(trust.contains(&key) && trust.matches("sha256:").count() >= 9, "{trust}");
        assert!(with.contains("hook codex --timeout 60 || {") && hooks.is_none_or(|_| with.contains("theirs")));
        assert_eq!(codex(&home, &[]).code, 0);
        assert_eq!((home.read(".codex/hooks.json").unwrap(), home.read(".codex/config.toml").unwrap()), (with, trust));
        assert_eq!(codex(&home, &["--uninstall"]).code, 0);
        for (file, text) in files {
            assert_eq!(home.read(file).as_deref(), text, "{file}");
            assert!(home.read(&format!("{file}.before-doorward")).is_none());
        }
    }
}

#[test]
fn whatever_is_broken_or_switched_off_is_left_alone() {
    for (file, text) in [
        (".codex/hooks.json", "{\"hooks\": "),
        (".codex/config.toml", "model = "),
        (".codex/config.toml", "[features]\nhooks = false\n"),
    ] {
        let home = Home::new();
        home.write(file, text);
        let ran = codex(&home, &[]);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
        assert_eq!(home.read(file).unwrap(), text);
        assert!(home.read(".config/doorward/config.toml").is_none());
        assert_eq!(home.path(".codex").read_dir().unwrap().count(), 1);
    }
    let home = Home::new();
    home.write(SETTINGS, "{\"disableAllHooks\": true}");
    let ran = home.run(&["setup", "claude", "--yes"], b"");
    assert!(ran.code == 1 && ran.stderr.contains("disableAllHooks"), "{}", ran.stderr);
}

#[test]
fn without_a_name_the_agents_that_are_there_are_set_up_or_none() {
    let home = Home::new();
    let setup = |home: &Home| {
        let mut command = home.command(&["setup", "--yes"]);
        crate::support::feed(command.env_remove("CODEX_HOME").env("PATH", "/usr/bin:/bin"), b"")
    };
    let ran = setup(&home);
    assert!(ran.code == 1 && ran.stderr.contains("no agents found"), "{}", ran.stderr);
    std::fs::create_dir(home.path(".codex")).unwrap();
    home.write(SETTINGS, "{ broken");
    assert_eq!(setup(&home).code, 1);
    assert!(home.read(".codex/hooks.json").is_none(), "one that is broken stops all");
    home.write(SETTINGS, "{}");
    let ran = setup(&home);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("found: Claude Code, Codex") && home.read(".codex/hooks.json").is_some());
}

fn verdict_on(home: &Home, program: &std::path::Path) -> String {
    let ran = home.hook("Bash", serde_json::json!({ "command": format!("{} -c x notes.md", program.display()) }));
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn programs_of_tool_chains_are_listed_and_a_change_of_one_asks() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let put = |name: &str, text: &str| {
        home.write(name, text);
        let path = home.path(name).canonicalize().unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    };
    let listed = put(".cargo/bin/rg", "#!/bin/sh\n");
    let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
    assert!(ran.code == 0 && ran.stdout.contains("pinned 1 programs"), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(verdict_on(&home, &listed), "allow");
    let new = put(".cargo/bin/grep", "#!/bin/sh\n");
    assert_eq!(verdict_on(&home, &new), "ask", "nobody listed this one");
    put(".cargo/bin/rg", "#!/bin/sh\necho other\n");
    assert_eq!(verdict_on(&home, &listed), "ask", "its bytes changed");
    let again = home.run(&["setup", "claude", "--yes"], b"");
    assert!(again.code == 0 && !again.stdout.contains("listed"), "setting up again hides no change: {}", again.stdout);
    assert_eq!(verdict_on(&home, &listed), "ask");
    put(".cargo/bin/rg", "#!/bin/sh\n");
    assert_eq!(verdict_on(&home, &listed), "allow", "the old bytes are back");
    let elsewhere = put("Downloads/rg", "#!/bin/sh\n");
    assert_eq!(verdict_on(&home, &elsewhere), "deny", "a program elsewhere is on no list");
}

/// Where each agent keeps its hooks, what may stand there already, and what setup writes.
const AGENTS: &[(&str, &str, &str, &str)] = &[
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"ui\": {\"theme\": \"x\"},\n  \"hooks\": {\"BeforeTool\": [{\"hooks\": []}]}\n}\n",
        "\"timeout\": 60000",
    ),
    ("qwen", ".qwen/settings.json", "{\"model\":{\"name\":\"m\"}}", "hook qwen --timeout 60 ||"),
    ("copilot", ".copilot/hooks/doorward.json", "{\"version\": 1}", "\"timeoutSec\": 60"),
    (
        "cursor",
        ".cursor/hooks.json",
        "{\n  \"version\": 1,\n  \"hooks\": {\"preToolUse\": [{\"command\": \"theirs\"}]}\n}\n",
        "\"failClosed\": true",
    ),
    ("vscode", ".copilot/hooks/doorward-vscode.json", "{}", "hook vscode --timeout 60 ||"),
    (
        "windsurf",
        ".codeium/windsurf/hooks.json",
        "{\"hooks\":{\"pre_run_command\":[{\"command\":\"theirs\"}]}}",
        "hook windsurf ||",
    ),
    ("opencode", ".config/opencode/opencode.json", "{\n  \"model\": \"m\"\n}\n", "\"ask\""),
];

#[test]
fn every_agent_is_set_up_proved_and_taken_out_byte_for_byte() {
    for (agent, file, theirs, written) in AGENTS {
        for before in [None, Some(*theirs)] {
            let home = Home::new();
            if let Some(text) = before {
                home.write(file, text);
            }
            let ran = home.run(&["setup", agent, "--yes", "--mode", "auto"], b"");
            assert_eq!(ran.code, 0, "{agent}: {} {}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("trial rm -rf / denied"), "{agent}: {}", ran.stdout);
            let with = home.read(file).unwrap();
            let spaced = with.replace("\":", "\": ").replace("  ", " ");
            assert!(with.contains(written) || spaced.contains(written), "{agent}: {with}");
            assert!(before.is_none_or(|text| !text.contains("theirs") || with.contains("theirs")), "{agent}: {with}");
            assert_eq!(home.run(&["setup", agent, "--yes"], b"").code, 0);
            assert_eq!(home.read(file).unwrap(), with, "{agent}: setting up twice changes nothing");
            let ran = home.run(&["setup", agent, "--uninstall", "--yes"], b"");
            assert_eq!(ran.code, 0, "{agent}: {}", ran.stderr);
            assert_eq!(home.read(file).as_deref(), before, "{agent}");
            assert!(home.read(&format!("{file}.before-doorward")).is_none());
        }
    }
}

#[test]
fn what_switches_the_hooks_of_an_agent_off_is_named() {
    for (agent, file, text) in [
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}"),
        ("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"doorward\"]}}"),
        ("qwen", ".qwen/settings.json", "{\"disableAllHooks\": true}"),
        ("cursor", ".cursor/hooks.json", "{\"hooks\": "),
        ("opencode", ".config/opencode/opencode.json", "// mine\n{}"),
    ] {
        let home = Home::new();
        home.write(file, text);
        let ran = home.run(&["setup", agent, "--yes"], b"");
        assert!(ran.code == 1 && ran.stderr.contains("nothing was changed"), "{agent}: {}", ran.stderr);
        assert_eq!(home.read(file).unwrap(), text);
    }
}

#[test]
fn the_plugin_of_opencode_lies_where_opencode_looks_and_goes_again() {
    let home = Home::new();
    home.write(".config/opencode/opencode.json", "{\"permission\": {\"bash\": \"ask\"}}");
    let ran = home.run(&["setup", "opencode", "--yes", "--mode", "auto"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        home.read(".config/opencode/opencode.json").unwrap(),
        "{\"permission\": {\"bash\": \"ask\"}}",
        "a choice stays"
    );
    assert!(home.read(".config/opencode/plugin/doorward.js").unwrap().contains("tool.execute.before"));
    assert_eq!(home.run(&["setup", "opencode", "--uninstall", "--yes"], b"").code, 0);
    assert!(home.read(".config/opencode/plugin/doorward.js").is_none());
    home.write(".config/opencode/plugin/doorward.js", "export const Mine = async () => ({});");
    assert_eq!(home.run(&["setup", "opencode", "--yes"], b"").code, 1, "a file of somebody else's is left alone");
}

#[test]
fn once_it_is_set_up_an_agent_can_neither_loosen_it_nor_take_it_out() {
    let home = Home::new();
    let as_agent = |arguments: &[&str]| crate::support::feed(home.command(arguments).env("CLAUDECODE", "1"), b"");
    assert_eq!(as_agent(&["setup", "claude", "--yes", "--mode", "confirm-all"]).code, 0);
    for arguments in [
        &["setup", "claude", "--yes", "--mode", "auto"][..],
        &["setup", "claude", "--yes", "--mode", "shadow", "--without-hooks"],
        &["setup", "claude", "--yes", "--uninstall"],
    ] {
        let ran = as_agent(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(ran.stderr.contains("agents can't run this command"), "{}", ran.stderr);
    }
    assert!(home.read(".claude/settings.json").unwrap().contains("doorward"));
    assert_eq!(as_agent(&["setup", "claude", "--dry-run"]).code, 0);
}

#[test]
fn without_a_terminal_setup_may_begin_but_neither_loosen_nor_uninstall() {
    let home = Home::new();
    let first = home.without_terminal(&["setup", "claude", "--yes"]);
    assert!(first.code == 0 && first.stdout.contains("`confirm-all`"), "{} {}", first.stdout, first.stderr);
    let before = (home.read(SETTINGS), home.read(".config/doorward/config.toml"));
    for arguments in [
        &["setup", "claude", "--yes", "--mode", "auto"][..],
        &["setup", "claude", "--yes", "--mode", "shadow"],
        &["setup", "claude", "--mode", "auto", "--without-hooks"],
        &["setup", "codex", "--yes", "--mode", "auto", "--without-hooks"],
        &["setup", "claude", "--uninstall", "--yes"],
        &["setup", "--uninstall", "--yes"],
    ] {
        let ran = home.without_terminal(arguments);
        assert!(ran.code == 1 && ran.stderr.contains("agents can't run this command"), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing was changed") && ran.stderr.contains("terminal"), "{}", ran.stderr);
        assert_eq!((home.read(SETTINGS), home.read(".config/doorward/config.toml")), before, "{arguments:?}");
    }
    // A person's choice is kept by a script, and may be taken back by one.
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let mode = || home.read(".config/doorward/config.toml").unwrap();
    assert_eq!(home.without_terminal(&["setup", "claude", "--yes"]).code, 0);
    assert!(mode().contains("mode = \"auto\""));
    assert_eq!(home.without_terminal(&["setup", "claude", "--yes", "--mode", "confirm-all"]).code, 0);
    assert!(mode().contains("mode = \"confirm-all\""));
    assert_eq!(home.run(&["setup", "claude", "--uninstall", "--yes"], b"").code, 0);
    assert!(home.read(SETTINGS).is_none());
}
