//! What a new user meets: who answers questions, the agent's own rules, trust where it is needed.

use serde_json::{Value, json};

use crate::support::terminal::{Terminal, is_there};
use crate::support::{Home, Ran};

const SETTINGS: &str = ".claude/settings.json";

/// A question that a reviewer may answer, or a rule.
const SOFT: &str = "curl https://some-unlisted-host.com/x";

fn set_up(home: &Home, more: &[&str]) -> Ran {
    let ran = home.run(&[&["setup", "claude", "--yes", "--mode", "auto"], more].concat(), b"");
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    ran
}

/// The hook of an agent on a shell command: what is decided, and why. No word is silence.
fn hook(home: &Home, agent: &str, command: &str, more: Value) -> (String, String) {
    let mut payload = home.payload("Bash", json!({ "command": command }));
    if agent == "gemini" {
        payload["hook_event_name"] = "BeforeTool".into();
        payload["tool_name"] = "run_shell_command".into();
    }
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let ran = home.run(&["hook", agent], payload.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let specific = &said["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if agent == "gemini" {
        return (text(&said["decision"]), text(&said["reason"]));
    }
    (text(&specific["permissionDecision"]), text(&specific["permissionDecisionReason"]))
}

fn claude(home: &Home, command: &str) -> (String, String) {
    hook(home, "claude", command, json!({}))
}

fn in_auto(home: &Home, command: &str) -> (String, String) {
    hook(home, "claude", command, json!({ "permission_mode": "auto", "tool_use_id": command }))
}

fn said_by(home: &Home, command: &str) -> String {
    let ran = home.run(&[command], b"");
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn setup_lets_claude_code_ask_by_itself_and_says_so_in_two_lines() {
    let home = Home::new();
    let ran = set_up(&home, &[]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "✓ Claude Code: auto, trial rm -rf / denied", "{}", ran.stdout);
    assert!(lines[1].contains("mode `auto`") && lines[1].contains("its own prompt"), "{}", ran.stdout);
    assert!(lines[1].contains("Restart") && !ran.stdout.contains("hook claude"), "{}", ran.stdout);
    let settings: Value = serde_json::from_str(&home.read(SETTINGS).unwrap()).unwrap();
    assert_eq!(settings["permissions"]["defaultMode"], "default");
    let again = home.run(&["setup", "claude", "--yes"], b"");
    assert!(!again.stdout.contains("Restart") && again.stdout.starts_with("✓ Claude Code: auto"), "{}", again.stdout);
    for command in ["doctor", "status"] {
        let said = said_by(&home, command);
        assert!(said.contains("`default`: it asks you in its own prompt"), "{command}: {said}");
    }
    let shown = home.run(&["setup", "claude", "--yes", "--dry-run"], b"");
    assert!(shown.stdout.contains("needs no change"), "{}", shown.stdout);
    assert_eq!(home.run(&["setup", "claude", "--uninstall", "--yes"], b"").code, 0);
    assert_eq!(home.read(SETTINGS), None);
}

#[test]
fn the_mode_that_somebody_chose_comes_back_with_the_uninstall() {
    for before in [
        "{\n  \"permissions\": { \"defaultMode\": \"auto\", \"deny\": [\"Bash(rm:*)\"] }\n}\n",
        "{\"permissions\":{\"defaultMode\":\"plan\"}}",
        "{\"permissions\":{\"defaultMode\":\"default\"}}",
    ] {
        let home = Home::new();
        home.write(SETTINGS, before);
        set_up(&home, &[]);
        let with: Value = serde_json::from_str(&home.read(SETTINGS).unwrap()).unwrap();
        let wanted = if before.contains("plan") { "plan" } else { "default" };
        assert_eq!(with["permissions"]["defaultMode"], wanted, "{before}");
        let edited = home.read(SETTINGS).unwrap().replacen('{', "{\"model\": \"m\",", 1);
        home.write(SETTINGS, &edited);
        assert_eq!(home.run(&["setup", "claude", "--uninstall", "--yes"], b"").code, 0);
        let mut back: Value = serde_json::from_str(&home.read(SETTINGS).unwrap()).unwrap();
        assert_eq!(back.as_object_mut().unwrap().remove("model"), Some(json!("m")));
        assert_eq!(back, serde_json::from_str::<Value>(before).unwrap());
    }
}

#[test]
fn questions_that_nobody_sees_are_refused_at_once_and_are_no_denial() {
    let home = Home::new();
    let ran = set_up(&home, &["--questions", "queue"]);
    assert!(ran.stdout.contains("`auto`: questions are refused right away"), "{}", ran.stdout);
    assert!(!home.read(SETTINGS).unwrap().contains("defaultMode"));
    for number in 0..6 {
        let (decision, why) = in_auto(&home, &format!("git push origin branch{number}"));
        assert!(decision == "deny" && why.contains("doorward approve"), "{decision} {why}");
    }
    let end = json!({ "hook_event_name": "SessionEnd", "session_id": "0c1d", "cwd": home.project() });
    home.run(&["hook", "claude"], end.to_string().as_bytes());
    let records = home.run(&["audit", "list", "--json", "--limit", "100"], b"").stdout;
    assert!(!records.contains("declined") && !records.contains("\"alert\""), "{records}");
    assert_eq!(claude(&home, "ls").0, "allow", "no breaker");
    assert!(said_by(&home, "doctor").contains("refused right away"));
}

#[test]
fn a_classifier_answers_soft_questions_only_and_only_if_a_person_chose_it() {
    let home = Home::new();
    let refused = home.without_terminal(&["setup", "claude", "--yes", "--questions", "classifier"]);
    assert!(refused.code == 1 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    set_up(&home, &["--questions", "classifier"]);
    assert_eq!(in_auto(&home, SOFT).0, "", "left to the classifier");
    let shown = home.run(&["audit", "show", SOFT], b"").stdout;
    assert!(shown.contains("left_to") && shown.contains("classifier"), "{shown}");
    let ran =
        json!({ "hook_event_name": "PostToolUse", "session_id": "0c1d", "tool_use_id": SOFT, "tool_name": "Bash" });
    home.run(&["hook", "claude"], ran.to_string().as_bytes());
    assert_eq!(
        home.run(&["audit", "list", "--json", "--kind", "answer"], b"").stdout,
        "[]\n",
        "its yes is no person's"
    );
    for (command, wanted) in [("rm -rf /", "deny"), ("sh unseen.sh", "deny"), ("cat ~/.ssh/id_ed25519", "deny")] {
        assert_eq!(in_auto(&home, command).0, wanted, "{command}");
    }
    let unknown = json!({ "permission_mode": "brand-new" });
    assert_eq!(hook(&home, "claude", SOFT, unknown).0, "deny");
    assert_eq!(claude(&home, SOFT).0, "ask");
    let rules = home.project().join(".claude");
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(rules.join("settings.json"), "{\"permissions\":{\"allow\":[\"Bash(curl:*)\"]}}").unwrap();
    assert_eq!(in_auto(&home, SOFT).0, "deny", "the repository's rule would answer for the classifier");
}

#[test]
fn what_claude_code_denies_or_asks_about_is_denied_or_asked_about_here() {
    let home = Home::new();
    home.write(
        SETTINGS,
        r#"{"permissions": {"deny": ["Bash(wc:*)", "Read(./secrets/**)"], "ask": ["Bash(ls:*)"], "allow": ["Bash(make all)"]}}"#,
    );
    std::fs::create_dir(home.project().join("secrets")).unwrap();
    std::fs::write(home.project().join("secrets/notes.txt"), "x\n").unwrap();
    std::fs::write(home.project().join("plain.txt"), "x\n").unwrap();
    set_up(&home, &[]);
    for (command, wanted) in [
        ("cat plain.txt", "allow"),
        ("ls", "ask"),
        ("wc -l plain.txt", "deny"),
        ("cat plain.txt | wc", "deny"),
        ("cat secrets/notes.txt", "deny"),
        ("cd secrets && head notes.txt", "deny"),
    ] {
        let (decision, why) = claude(&home, command);
        assert_eq!(decision, wanted, "{command}: {why}");
    }
    let mut read = home.payload("Read", json!({ "file_path": home.project().join("secrets/notes.txt") }));
    read["tool_use_id"] = "r".into();
    assert!(home.run(&["hook", "claude"], read.to_string().as_bytes()).stdout.contains("\"deny\""));
    let shown = home.run(&["config"], b"").stdout;
    assert!(shown.contains("Claude Code, user") && shown.contains("bash(wc *)"), "{shown}");
    let local = home.project().join(".claude");
    std::fs::create_dir(&local).unwrap();
    std::fs::write(local.join("settings.local.json"), "{\"permissions\": ").unwrap();
    let (decision, why) = claude(&home, "cat plain.txt");
    assert!(decision == "ask" && why.contains("settings.local.json"), "{decision} {why}");
}

#[test]
fn rules_of_codex_and_gemini_count_for_them() {
    let home = Home::new();
    for agent in ["codex", "gemini"] {
        let mut command = home.command(&["setup", agent, "--yes", "--mode", "auto"]);
        let ran = crate::support::feed(command.env_remove("CODEX_HOME").env("PATH", "/usr/bin:/bin"), b"");
        assert_eq!(ran.code, 0, "{agent}: {} {}", ran.stdout, ran.stderr);
    }
    assert_eq!(hook(&home, "codex", "ls", json!({})).0, "", "silence lets Codex run it");
    let rule =
        "prefix_rule(pattern=[\"ls\"], decision=\"prompt\")\nprefix_rule(pattern=[\"wc\"], decision=\"forbidden\")\n";
    home.write(".codex/rules/mine.rules", rule);
    assert_eq!(hook(&home, "codex", "ls", json!({})).0, "deny", "asked about, and Codex cannot ask");
    assert_eq!(hook(&home, "codex", "env wc x", json!({})).0, "deny");
    assert_eq!(hook(&home, "codex", "pwd", json!({})).0, "");
    home.write(".codex/rules/broken.rules", "prefix_rule(");
    let said = hook(&home, "codex", "pwd", json!({})).1;
    assert!(said.contains("broken.rules"), "{said}");
    assert_eq!(hook(&home, "gemini", "wc x", json!({})).0, "allow");
    let settings = home.read(".gemini/settings.json").unwrap();
    home.write(
        ".gemini/settings.json",
        &settings.replacen('{', "{\"tools\": {\"exclude\": [\"run_shell_command(wc)\"]},", 1),
    );
    assert_eq!(hook(&home, "gemini", "wc x", json!({})).0, "deny");
}

#[test]
fn allow_rules_are_taken_over_as_narrow_as_they_are_and_only_if_wanted() {
    let home = Home::new();
    home.write(
        SETTINGS,
        r#"{"permissions": {"allow": ["Bash(git push origin:*)", "Bash(rm:*)", "Bash", "Edit(src/**)", "Bash(rm -rf /)"]}}"#,
    );
    set_up(&home, &[]);
    let config = ".config/doorward/config.toml";
    assert!(!home.read(config).unwrap().contains("allow"), "nobody wanted them");
    let ran = set_up(&home, &["--import-rules"]);
    assert!(ran.stdout.contains("bash(git push origin *)") && ran.stdout.contains("not Bash(rm:*)"), "{}", ran.stdout);
    let taken = home.read(config).unwrap();
    assert!(taken.contains("git push origin *") && !taken.contains("\"bash\"") && !taken.contains("rm *"), "{taken}");
    assert_eq!(claude(&home, "rm -rf /").0, "deny", "no rule allows what is blocked");
    assert_eq!(claude(&home, "git push upstream main").0, "ask");
    let again = set_up(&home, &["--import-rules"]);
    assert!(!again.stdout.contains("could allow it too"), "what was taken over is not offered again: {}", again.stdout);
    let refused = home.without_terminal(&["setup", "claude", "--yes", "--import-rules"]);
    assert!(refused.code == 0 && !refused.stdout.contains("taken over"), "{}", refused.stdout);
}

#[test]
fn a_person_is_asked_everything_once_and_enter_is_the_usual_answer() {
    if !is_there("setup was not answered at a terminal") {
        return;
    }
    let home = Home::new();
    std::fs::write(home.project().join("Makefile"), "test:\n\techo ok\n").unwrap();
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward setup claude");
    terminal.shows("[c/s/a]");
    terminal.types("a");
    terminal.shows("[1/2/3]");
    terminal.types("");
    terminal.shows("in its status line? [Y/n]");
    terminal.types("");
    let screen = terminal.shows("Trust this project");
    assert!(screen.contains("[Y/n]"), "{screen}");
    terminal.types("");
    terminal.shows("ended with 0");
    assert!(home.read(".claude/settings.json").unwrap().contains("statusline"));
    assert_eq!(claude(&home, "make test").0, "allow");
    terminal.run(&home, "doorward setup claude");
    let screen = terminal.shows("ended with 0");
    assert!(screen.contains("✓ Claude Code: auto") && !screen.contains("[c/s/a]"), "{screen}");
}

#[test]
fn trust_without_a_word_means_this_project_and_the_reason_says_so() {
    let home = Home::new();
    std::fs::write(home.project().join("Makefile"), "test:\n\techo ok\nclean:\n\trm -rf ~\n").unwrap();
    let ran = set_up(&home, &[]);
    assert!(ran.stdout.contains("`doorward trust`"), "{}", ran.stdout);
    let (decision, why) = claude(&home, "make test");
    assert!(decision == "ask" && why.ends_with("run `doorward trust`."), "{decision} {why}");
    assert!(home.without_terminal(&["trust"]).stdout.contains("nothing is trusted"), "without a person it only lists");
    assert_ne!(home.without_terminal(&["trust", "."]).code, 0);
    if !is_there("nothing was trusted") {
        return;
    }
    let terminal = Terminal::new(&home);
    for (line, answer) in [("doorward trust", "n"), ("doorward trust .", "y")] {
        terminal.run(&home, line);
        let screen = terminal.shows("[y/N]");
        assert!(screen.contains("make clean"), "what harms is named: {screen}");
        terminal.types(answer);
        terminal.shows("ended with");
    }
    assert_eq!(claude(&home, "make test").0, "allow");
    assert_eq!(claude(&home, "make clean").0, "deny");
    assert!(home.run(&["trust", "--list"], b"").stdout.contains("project  "));
}

#[test]
fn small_things_are_as_one_expects() {
    let home = Home::new();
    let status = home.run(&["status"], b"");
    assert!(status.code == 0 && status.stdout.contains("doorward setup"), "{}", status.stdout);
    let help = home.run(&["hook", "--help"], b"");
    assert!(help.code == 0 && help.stdout.contains("Usage"), "{} {}", help.stdout, help.stderr);
    let preview = home.run(&["preview"], b"").stdout;
    assert!(preview.contains("looked in Claude Code ~/.claude/projects (0 read)"), "{preview}");
    set_up(&home, &[]);
    let digest = home.run(&["digest", "--session", "nope"], b"");
    assert!(digest.code == 1 && digest.stderr.contains("no session `nope`"), "{}", digest.stderr);
}
