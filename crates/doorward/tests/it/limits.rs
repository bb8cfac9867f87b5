//! Limits and trusted programs, through the real hook on a real disk: what is beyond a limit stops and says which.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::Home;
use crate::support::terminal::{self, Terminal};

/// An agent in mode `auto`, no copies before a call, and these thresholds.
fn house(thresholds: &str) -> Home {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let before = home.read(".config/doorward/config.toml").unwrap();
    let text = format!("{before}\n[snapshots]\nenabled = false\n\n[thresholds]\n{thresholds}\n");
    home.write(".config/doorward/config.toml", &text);
    home
}

/// Trusts something as a person does: at a terminal.
fn trust(home: &Home, what: &str) {
    let terminal = Terminal::new(home);
    terminal.run(home, &format!("doorward trust {what}"));
    terminal.shows("y/N");
    terminal.types("y");
    terminal.shows("ended with 0");
}

fn answer(home: &Home, tool: &str, input: serde_json::Value) -> (String, String) {
    let answer = home.hook(tool, input).json();
    let text = |key: &str| answer["hookSpecificOutput"][key].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

fn bash(home: &Home, command: &str) -> (String, String) {
    answer(home, "Bash", json!({ "command": command }))
}

fn read(home: &Home, name: &str) -> (String, String) {
    answer(home, "Read", json!({ "file_path": home.project().join(name) }))
}

fn file(home: &Home, name: &str, size: u64) {
    let path = home.project().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(path).unwrap().set_len(size).unwrap();
}

fn program(home: &Home, name: &str, text: &str) -> String {
    home.write(name, text);
    let path = home.path(name);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_read_above_the_limit_asks_and_names_it() {
    let home = house("");
    file(&home, "small.log", 10 << 20);
    file(&home, "large.log", (10 << 20) + 1);
    assert_eq!(read(&home, "small.log").0, "allow");
    for (verdict, why) in [read(&home, "large.log"), bash(&home, "cat large.log")] {
        assert!(verdict == "ask" && why.contains("limit 10 MiB"), "{verdict}: {why}");
    }
    for command in ["tail -n 5 large.log", "wc -l large.log", "grep -c x large.log", "cat large.log | head -n 3"] {
        assert_eq!(bash(&home, command).0, "allow", "{command}");
    }
}

#[test]
fn a_read_limit_of_ones_own_is_lower_and_never_higher() {
    let home = house("read_bytes = 4096");
    file(&home, "page.log", 5000);
    let (verdict, why) = read(&home, "page.log");
    assert!(verdict == "ask" && why.contains("4.8 KiB, limit 4 KiB"), "{verdict}: {why}");
    let home = house("read_bytes = 999999999");
    file(&home, "large.log", 11 << 20);
    let (verdict, why) = read(&home, "large.log");
    assert!(verdict == "ask" && why.contains("limit 10 MiB"), "{verdict}: {why}");
    let shown = home.run(&["config"], b"").stdout;
    assert!(shown.contains("thresholds.read_bytes = 10485760"), "{shown}");
    assert!(shown.contains("is above the built-in limit, which applies instead: 10485760"), "{shown}");
}

#[test]
fn a_project_can_lower_a_limit_and_not_raise_it() {
    let home = house("bulk_files = 10");
    std::fs::write(home.project().join(".doorward.toml"), "[thresholds]\nbulk_files = 15\nread_bytes = 1000\n")
        .unwrap();
    (0..12).for_each(|number| file(&home, &format!("data/{number}"), 1));
    file(&home, "notes.log", 2000);
    let (verdict, why) = bash(&home, "rm -rf data");
    assert!(verdict == "deny" && why.contains("12 files"), "{verdict}: {why}");
    assert!(why.contains("limit 10 files, 20 MiB"), "{why}");
    let (verdict, why) = read(&home, "notes.log");
    assert!(verdict == "ask" && why.contains("limit 1000 bytes"), "{verdict}: {why}");
}

#[test]
fn files_that_are_named_one_by_one_count_together() {
    let home = house("");
    (0..21).for_each(|number| file(&home, &format!("data/{number}"), 1));
    let names = |count: usize| (0..count).map(|number| format!("data/{number}")).collect::<Vec<_>>().join(" ");
    assert_eq!(bash(&home, &format!("rm {}", names(20))).0, "ask");
    let (verdict, why) = bash(&home, &format!("rm {}", names(21)));
    assert!(verdict == "deny" && why.contains("21 files"), "{verdict}: {why}");
    file(&home, "video.bin", (20 << 20) + 1);
    let (verdict, why) = bash(&home, "rm -f video.bin");
    assert!(verdict == "deny" && why.contains("1 file, 20 MiB, limit"), "{verdict}: {why}");
}

#[test]
fn a_shell_that_nobody_names_loses_nothing_twice() {
    let home = house("");
    (0..20).for_each(|number| file(&home, &format!("data/{number}"), 1));
    for shell in [None, Some("/bin/bash"), Some("/bin/zsh"), Some("/usr/bin/fish")] {
        let mut hook = home.command(&["hook", "claude"]);
        hook.env_remove("SHELL").env_remove("CLAUDE_CODE_SHELL").envs(shell.map(|shell| ("SHELL", shell)));
        let payload = home.payload("Bash", json!({ "command": "rm -rf data data" }));
        let answer = crate::support::feed(&mut hook, payload.to_string().as_bytes()).json();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{shell:?}: {answer}");
    }
}

#[test]
fn the_limits_are_printed_with_their_values_and_sources() {
    let home = house("bulk_files = 7\nreads_per_minute = 100000");
    let config = home.run(&["config"], b"").stdout;
    let line = |key: &str| config.lines().filter(|line| line.starts_with(key)).collect::<Vec<_>>().join("\n");
    assert!(line("thresholds.bulk_files = 7").ends_with("# user"), "{config}");
    assert!(line("thresholds.bulk_bytes = 20971520").ends_with("# built in"), "{config}");
    assert!(line("thresholds.reads_per_minute = 300").ends_with("# built in"), "{config}");
    assert!(line("thresholds.reads_per_minute = 100000").ends_with("overruled"), "{config}");
    let defaults = home.run(&["defaults"], b"").stdout;
    for limit in ["reads_per_minute = 300", "read_burst = 60", "bulk_files = 20", "bulk_bytes = 20971520"] {
        assert!(defaults.contains(limit), "{defaults}");
    }
    assert!(defaults.contains("read_bytes = 10485760") && defaults.contains("10 MiB"), "{defaults}");
    let report = home.run(&["report"], b"").stdout;
    for row in [
        "| 7 | blocks (`bulk-deletion`) | `bulk_files` | user |",
        "| 10 MiB | asks (`large-read`) | `read_bytes` | built in |",
    ] {
        assert!(report.contains(row), "{row} in {report}");
    }
}

#[test]
fn the_limit_on_rates_that_was_hit_is_named() {
    let home = house("reads_per_minute = 5");
    file(&home, "a.txt", 1);
    (0..5).for_each(|_| assert_eq!(read(&home, "a.txt").0, "allow"));
    let (verdict, why) = read(&home, "a.txt");
    assert!(verdict == "ask" && why.contains("the limit is 5 a minute") && !why.contains("read_burst"), "{why}");
    let home = house("read_burst = 4");
    file(&home, "a.txt", 1);
    let stopped = (0..60).map(|_| read(&home, "a.txt")).find(|(verdict, _)| verdict == "ask");
    let (_, why) = stopped.unwrap();
    assert!(why.contains("the limit is 4 at once") && !why.contains("reads_per_minute"), "{why}");
}

#[test]
fn a_program_trusted_by_name_whose_bytes_changed_blocks_until_it_is_trusted_again() {
    if !terminal::is_there("trusting programs is not tested") {
        return;
    }
    let home = house("");
    let tool = program(&home, "apps/tool", "#!/bin/sh\necho one\n");
    assert_eq!(bash(&home, &tool).0, "deny", "nobody has trusted it");
    trust(&home, &format!("binary {tool}"));
    assert_ne!(bash(&home, &tool).0, "deny");
    program(&home, "apps/tool", "#!/bin/sh\necho two\n");
    for command in [tool.clone(), format!("{tool} --help"), format!("cd / && {tool} | cat")] {
        let (verdict, why) = bash(&home, &command);
        assert_eq!(verdict, "deny", "{command}: {why}");
        assert!(why.contains("changed since you trusted it") && why.contains("doorward trust binary"), "{why}");
    }
    program(&home, "apps/tool", "#!/bin/sh\necho one\n");
    assert_ne!(bash(&home, &tool).0, "deny", "the same bytes as then");
    program(&home, "apps/tool", "#!/bin/sh\necho three\n");
    assert_eq!(bash(&home, &tool).0, "deny");
    trust(&home, &format!("binary {tool}"));
    assert_ne!(bash(&home, &tool).0, "deny", "the way out");
}

#[test]
fn a_program_that_a_package_manager_updated_asks_and_is_listed_again() {
    if !terminal::is_there("trusting programs is not tested") {
        return;
    }
    let home = house("");
    let tool = program(&home, ".cargo/bin/rg", "#!/bin/sh\necho one\n");
    trust(&home, "tools");
    let listed = bash(&home, &format!("{tool} --version"));
    assert_eq!(listed.0, "allow", "{}", listed.1);
    program(&home, ".cargo/bin/rg", "#!/bin/sh\necho two\n");
    let (verdict, why) = bash(&home, &format!("{tool} --version"));
    assert_eq!(verdict, "ask", "{why}");
    assert!(why.contains("changed or appeared since `doorward trust tools` listed"), "{why}");
    trust(&home, "tools");
    assert_eq!(bash(&home, &format!("{tool} --version")).0, "allow");
    // Trusted by name as well: an update still asks, and listing the tools again is enough.
    trust(&home, &format!("binary {tool}"));
    program(&home, ".cargo/bin/rg", "#!/bin/sh\necho three\n");
    assert_eq!(bash(&home, &format!("{tool} --version")).0, "ask");
    trust(&home, "tools");
    assert_eq!(bash(&home, &format!("{tool} --version")).0, "allow");
}

/// A trusted repository with 25 committed files in `src` and two in `one`, and copies before a call.
fn repository() -> Home {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    (0..25).for_each(|number| file(&home, &format!("src/{number}.py"), 10));
    (0..2).for_each(|number| file(&home, &format!("one/{number}.md"), 10));
    let git = |words: &[&str]| {
        let name = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
        let mut command = std::process::Command::new("git");
        assert!(command.arg("-C").arg(home.project()).args(name).args(words).status().unwrap().success());
    };
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    trust(&home, "project");
    home
}

#[test]
fn tracked_files_count_however_they_are_named() {
    if !terminal::is_there("limits on tracked files are not tested") {
        return;
    }
    let home = repository();
    for command in [
        "git rm -r -- '*'",
        "git rm '*.py'",
        "git rm -rq :/",
        "git rm -r src",
        "git -C src rm '*'",
        "rm -rf src",
        "find . -name '*.py' -delete",
        "find src -size -5 -delete",
        "rm src/*.py",
        "rm **/*.py",
    ] {
        let (verdict, why) = bash(&home, command);
        assert_eq!(verdict, "ask", "{command}: {why}");
    }
    for command in ["git rm --dry-run -r .", "rm **/*.zza", "find . -type f -size +9M -delete", "git rm -r one"] {
        let mut payload = home.payload("Bash", json!({ "command": command }));
        payload["session_id"] = json!(command);
        let answer = home.run(&["hook", "claude"], payload.to_string().as_bytes()).json();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{command}: {answer}");
    }
    // While another call is at work nobody can say what a pattern will match: that is a question and no refusal.
    assert_eq!(bash(&home, "git rm -r one").0, "allow");
    for command in ["rm **/*.zza", "find . -type f -size +9M -delete"] {
        let (verdict, why) = bash(&home, command);
        assert_ne!(verdict, "deny", "{command}: {why}");
    }
}

#[test]
fn a_changed_file_among_many_tracked_ones_does_not_make_them_silent() {
    if !terminal::is_there("limits on tracked files are not tested") {
        return;
    }
    let home = repository();
    file(&home, "src/0.py", 20);
    file(&home, "src/new.txt", 20);
    for command in ["rm -rf src", "find src -type f -delete", "rm -rf src/"] {
        let (verdict, why) = bash(&home, command);
        assert_eq!(verdict, "ask", "{command}: {why}");
    }
    assert_eq!(bash(&home, "git checkout -- .").0, "allow", "one changed file, which is copied");
    (0..25).for_each(|number| file(&home, &format!("src/{number}.py"), 30));
    for command in ["git checkout -- .", "git restore src", "git reset --hard", "git checkout -f"] {
        let (verdict, why) = bash(&home, command);
        assert_eq!(verdict, "ask", "{command}: {why}");
    }
}

/// Rules of the agent's own settings, beside the hooks that stand there.
fn client_rules(home: &Home, deny: &[&str]) {
    let mut settings: serde_json::Value = serde_json::from_str(&home.read(".claude/settings.json").unwrap()).unwrap();
    settings["permissions"] = json!({ "deny": deny });
    home.write(".claude/settings.json", &settings.to_string());
}

#[test]
fn a_rule_of_the_agents_own_holds_however_the_program_is_called() {
    let home = house("");
    client_rules(&home, &["Bash(rm:*)", "Bash(git log:*)", "Bash(touch", "Read(./private/**)"]);
    for name in ["private/notes", "other/notes"] {
        file(&home, name, 10);
    }
    for command in [
        "/bin/rm x",
        "\\rm x",
        "env rm x",
        "command rm x",
        "find . -name x -exec /bin/rm {} +",
        "git -C . log",
        "git --no-pager log",
        "cat pri*/notes",
        "cat */notes",
        "head [p]rivate/notes",
        "grep -n x **/notes",
    ] {
        let (verdict, why) = bash(&home, command);
        assert!(verdict == "deny" && why.contains("permissions.deny"), "{command}: {verdict}: {why}");
    }
    for command in ["cat oth*/notes", "cat */nothing", "git -C . status --short", "touch x"] {
        let (verdict, why) = bash(&home, command);
        assert!(!why.contains("permissions.deny"), "{command}: {verdict}: {why}");
    }
    for command in ["status", "doctor"] {
        let shown = home.run(&[command], b"").stdout;
        assert!(shown.contains("`Bash(touch`") && shown.contains("no closing bracket"), "{command}: {shown}");
    }
}

#[test]
fn settings_that_cannot_be_read_are_told_and_ask() {
    let home = house("");
    assert_eq!(bash(&home, "ls").0, "allow");
    std::fs::create_dir_all(home.project().join(".claude")).unwrap();
    for text in ["{\"permissions\": {\"deny\": [", "{\"hooks\": {"] {
        std::fs::write(home.project().join(".claude/settings.json"), text).unwrap();
        assert_ne!(bash(&home, "ls").0, "allow", "{text}");
        for command in ["status", "doctor"] {
            let shown = home.run(&[command], b"").stdout;
            assert!(shown.contains("can't be read"), "{command}: {shown}");
        }
    }
}

#[test]
fn settings_of_the_directory_that_the_agent_was_started_in_count() {
    let home = house("");
    let started = home.project().join("packages/a");
    std::fs::create_dir_all(started.join(".claude")).unwrap();
    std::fs::write(started.join(".claude/settings.json"), "{\"permissions\": {\"deny\": [\"Bash(ls:*)\"]}}").unwrap();
    assert_eq!(bash(&home, "ls").0, "allow");
    let mut hook = home.command(&["hook", "claude"]);
    hook.env("CLAUDE_PROJECT_DIR", &started);
    let payload = home.payload("Bash", json!({ "command": "ls" }));
    let answer = crate::support::feed(&mut hook, payload.to_string().as_bytes()).json();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}

#[test]
fn what_goes_on_in_the_background_is_not_over_when_its_start_is_reported() {
    let home = house("");
    let call = |event: &str, (session, id): (&str, &str), input: serde_json::Value| {
        let mut payload = home.payload("Bash", input);
        payload["hook_event_name"] = json!(event);
        (payload["session_id"], payload["tool_use_id"]) = (json!(session), json!(id));
        if event == "PostToolUse" {
            payload["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
        }
        home.run(&["hook", "claude"], payload.to_string().as_bytes()).stdout
    };
    for (is_background, id) in [(false, "a"), (true, "b")] {
        let input = json!({ "command": "sleep 1; echo 'ls' >> new.sh", "run_in_background": is_background });
        let said = call("PreToolUse", (id, id), input.clone());
        assert!(said.contains("\"allow\""), "{said}");
        call("PostToolUse", (id, id), input);
        // What a pattern matches is certain only while nothing else is at work.
        let said = call("PreToolUse", (id, "then"), json!({ "command": "rm -f *.zza" }));
        assert_eq!(said.contains("\"allow\""), !is_background, "{said}");
    }
}
