//! Which way history points: a person's yes never makes doorward ask more, and is evidence for what it is about.

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::terminal::{Terminal, is_there};

/// A home with a trusted project of a few files, in a mode; `None` if nobody can trust it here.
fn working(mode: &str) -> Option<Home> {
    if !is_there("no project was trusted") {
        return None;
    }
    let home = Home::new();
    for (name, text) in [("src/app.py", "print(1)\n"), ("README.md", "# app\n"), ("notes.txt", "one\n")] {
        let path = home.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"];
        let status = std::process::Command::new("git").current_dir(home.project()).args(identity).args(words).status();
        assert!(status.unwrap().success());
    };
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "files"]);
    choose(&home, mode);
    let terminal = Terminal::new(&home);
    terminal.run(&home, &format!("doorward trust project {}", home.project().display()));
    terminal.shows("y/N");
    terminal.types("y");
    terminal.shows("ended with 0");
    drop(terminal);
    Some(home)
}

fn choose(home: &Home, mode: &str) {
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", mode], b"").code, 0);
}

fn tell(home: &Home, event: &str, (session, id): (&str, &str), (tool, input): &(&str, Value)) -> String {
    let mut payload = home.payload(tool, input.clone());
    payload["hook_event_name"] = event.into();
    payload["session_id"] = session.into();
    payload["tool_use_id"] = id.into();
    let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    if ran.stdout.is_empty() {
        return String::new();
    }
    ran.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

/// Sixteen calls of a usual session.
fn usual(home: &Home) -> Vec<(&'static str, Value)> {
    let file = |name: &str| home.project().join(name).display().to_string();
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let edit = |name: &str, old: &str, new: &str| {
        ("Edit", json!({ "file_path": file(name), "old_string": old, "new_string": new }))
    };
    vec![
        bash("ls"),
        bash("git status"),
        bash("git diff"),
        bash("git log --oneline -5"),
        bash("cat README.md"),
        bash("grep -rn print src"),
        ("Read", json!({ "file_path": file("src/app.py") })),
        edit("src/app.py", "print(1)", "print(2)"),
        edit("README.md", "# app", "# the app"),
        edit("notes.txt", "one", "two"),
        ("Write", json!({ "file_path": file("src/new.py"), "content": "print(3)\n" })),
        ("Write", json!({ "file_path": file("notes.txt"), "content": "three\n" })),
        bash("mkdir -p build"),
        bash("git add src/app.py"),
        bash("git commit -m 'a change'"),
        bash("git push origin main"),
    ]
}

/// What the hook says to each of the usual calls in a session of its own; a yes follows each that asks, if wanted.
fn day(home: &Home, session: &str, says_yes: bool) -> Vec<String> {
    let mut said = Vec::new();
    for (number, call) in usual(home).iter().enumerate() {
        let id = format!("{session}-{number}");
        said.push(tell(home, "PreToolUse", (session, &id), call));
        if says_yes {
            tell(home, "PostToolUse", (session, &id), call);
        }
    }
    said
}

/// The newest decision as it is on record.
fn newest(home: &Home) -> Value {
    let rows = home.run(&["audit", "list", "--kind", "decision", "--json", "--limit", "1"], b"").json();
    let sequence = rows[0]["sequence"].to_string();
    home.run(&["audit", "show", &sequence, "--json"], b"").json()["record"]["body"].clone()
}

fn overridden(home: &Home) -> u64 {
    let stats = home.run(&["audit", "stats", "--json"], b"").json();
    stats["categories"].as_array().unwrap().iter().map(|of| of["overridden"].as_u64().unwrap()).sum()
}

#[test]
fn a_session_in_confirm_all_answered_with_yes_leaves_auto_as_silent_as_a_fresh_one() {
    let (Some(fresh), Some(answered)) = (working("auto"), working("confirm-all")) else { return };
    let before = day(&fresh, "fresh", false);
    let silent = before.iter().filter(|said| *said == "allow").count();
    assert!(silent >= 12, "{before:?}");
    assert!(day(&answered, "first", true).iter().all(|said| said == "ask"));
    choose(&answered, "auto");
    assert_eq!(day(&answered, "second", false), before);
    assert_eq!(day(&answered, "third", true), before);
    assert_eq!(day(&answered, "fourth", false), before, "after yes answers in `auto`");
    assert_eq!(overridden(&answered), before.iter().filter(|said| *said == "ask").count() as u64, "in `auto` only");
    let alerts = answered.run(&["alerts", "--json"], b"").json();
    assert_eq!(alerts, json!([]), "a usual day sets nothing off");
}

#[test]
fn a_yes_in_auto_changes_nothing_for_later_calls_in_any_session() {
    let Some(home) = working("auto") else { return };
    let before = day(&home, "before", false);
    let push = ("Bash", json!({ "command": "git push origin main" }));
    for number in 0..20 {
        let (session, id) = (if number % 2 == 0 { "one" } else { "two" }, format!("p{number}"));
        assert_eq!(tell(&home, "PreToolUse", (session, &id), &push), "ask", "after {number}");
        if number == 0 || number == 19 {
            let counts = newest(&home)["facts"]["counts"].clone();
            let rate = counts["observed_overrides"].as_f64();
            // One decision of the same kind had no answer, and this one has none yet.
            assert_eq!(rate, (number == 19).then_some(0.95), "{counts}");
            assert!(counts["override_rate"].is_null(), "{counts}");
        }
        tell(&home, "PostToolUse", (session, &id), &push);
    }
    assert_eq!(day(&home, "one", false), before);
    assert_eq!(day(&home, "other", false), before);
    assert_eq!(overridden(&home), 20);
}

#[test]
fn what_a_person_demanded_is_no_override_when_a_person_lets_it_run() {
    let Some(home) = working("auto") else { return };
    let before = day(&home, "before", false);
    home.write(".config/doorward/config.toml", &{
        let config = home.read(".config/doorward/config.toml").unwrap();
        format!("{config}\n[permissions]\nask = [\"bash(ls*)\"]\n")
    });
    let list = ("Bash", json!({ "command": "ls" }));
    assert_eq!(tell(&home, "PreToolUse", ("one", "asked"), &list), "ask");
    assert_eq!(newest(&home)["demanded"], "permission");
    tell(&home, "PostToolUse", ("one", "asked"), &list);
    let said = json!({"hook_event_name": "UserPromptSubmit", "session_id": "two", "cwd": home.project(),
        "prompt": "fix the typo, but don't commit"});
    assert_eq!(home.run(&["hook", "claude"], said.to_string().as_bytes()).code, 0);
    let commit = ("Bash", json!({ "command": "git commit -m x" }));
    assert_eq!(tell(&home, "PreToolUse", ("two", "bound"), &commit), "ask");
    assert_eq!(newest(&home)["demanded"], "boundary");
    tell(&home, "PostToolUse", ("two", "bound"), &commit);
    assert_eq!(overridden(&home), 0);
    assert_eq!(day(&home, "after", false)[1..], before[1..]);
}

#[test]
fn a_damaged_count_of_answers_means_that_nothing_is_known() {
    let Some(home) = working("auto") else { return };
    let before = day(&home, "before", true);
    let sessions = home.path(".local/state/doorward/sessions");
    let mut damaged = 0;
    for entry in std::fs::read_dir(sessions).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("pattern-") {
            std::fs::write(path, "nothing\n").unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 3, "{damaged}");
    assert_eq!(day(&home, "after", false), before);
}

#[test]
fn a_first_day_of_answers_is_enough_to_promote_and_one_no_is_not() {
    let Some(home) = working("auto") else { return };
    let person = |line: &str, question: &str| Terminal::say_yes(&home, line, question);
    person("doorward rollout start claude", "confirm-all");
    let criteria = || home.run(&["rollout", "status", "--json"], b"").json()["rollouts"][0]["criteria"].clone();
    let found = |what: &str| {
        let all = criteria();
        let one = all.as_array().unwrap().iter().find(|of| of["what"].as_str().unwrap().starts_with(what)).cloned();
        one.unwrap()["found"].as_str().unwrap().parse::<usize>().unwrap()
    };
    for session in ["morning", "noon", "evening"] {
        assert!(day(&home, session, true).iter().all(|said| said == "ask"));
    }
    let (agreements, patterns, friction) = (found("agreements"), found("patterns"), found("friction"));
    assert!(agreements >= 36 && patterns >= 5 && agreements + friction == 48, "{agreements} {patterns} {friction}");
    assert!(criteria().as_array().unwrap().iter().all(|of| of["met"] == true), "{:#}", criteria());
    assert_eq!(overridden(&home), 0);
    assert_eq!(home.run(&["tickets", "--json"], b"").json(), json!([]));
    assert_eq!(home.run(&["alerts", "--json"], b"").json(), json!([]));
    let list = ("Bash", json!({ "command": "ls" }));
    tell(&home, "PreToolUse", ("late", "refused"), &list);
    tell(&home, "SessionEnd", ("late", ""), &list);
    assert_eq!(found("disagreements"), 1);
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward rollout promote");
    terminal.shows("ended with 1");
    drop(terminal);
    person("doorward rollout start claude", "confirm-all");
    day(&home, "next", true);
    day(&home, "next but one", true);
    person("doorward rollout promote", "take agent `claude` to `shadow`");
}

#[test]
fn an_install_that_a_person_let_run_is_no_exchange_and_three_pushes_are_a_ticket() {
    let Some(home) = working("auto") else { return };
    let manifest = home.project().join("package.json");
    std::fs::write(&manifest, "{\"name\": \"app\"}\n").unwrap();
    let install = ("Bash", json!({ "command": "npm install lodash" }));
    let exchanged = |id: &str, change: &dyn Fn()| {
        assert_eq!(tell(&home, "PreToolUse", ("s", id), &install), "ask");
        change();
        tell(&home, "PostToolUse", ("s", id), &install);
        let alerts = home.run(&["alerts", "--json"], b"").json();
        alerts.as_array().unwrap().iter().filter(|alert| alert["kind"] == "exchanged").count()
    };
    let by_npm = || {
        std::fs::write(&manifest, "{\"name\": \"app\", \"dependencies\": {\"lodash\": \"4\"}}\n").unwrap();
        std::fs::write(home.project().join("package-lock.json"), "{}\n").unwrap();
    };
    assert_eq!(exchanged("plain", &by_npm), 0);
    let script = || std::fs::write(home.project().join("README.md"), "# changed\n").unwrap();
    assert_eq!(exchanged("other", &script), 1, "what npm does not keep is still watched");
    let push = ("Bash", json!({ "command": "git push origin main" }));
    for id in ["one", "two", "three"] {
        assert_eq!(tell(&home, "PreToolUse", ("s", id), &push), "ask");
        tell(&home, "PostToolUse", ("s", id), &push);
    }
    let tickets = home.run(&["tickets", "--json"], b"").json();
    assert_eq!(tickets.as_array().unwrap().len(), 1, "{tickets}");
    let alerts = home.run(&["alerts", "--json"], b"").json();
    assert_eq!(alerts.as_array().unwrap().len(), 1, "only the exchange: {alerts}");
}

#[test]
fn a_third_yes_is_offered_as_a_rule_and_counts_only_after_a_typed_step() {
    let Some(home) = working("auto") else { return };
    let manifest = home.project().join("package.json");
    std::fs::write(&manifest, "{\"version\": \"1\"}\n").unwrap();
    for words in [&["add", "."][..], &["-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-qm", "m"]] {
        assert!(std::process::Command::new("git").current_dir(home.project()).args(words).status().unwrap().success());
    }
    let edit = ("Edit", json!({ "file_path": manifest, "old_string": "\"1\"", "new_string": "\"2\"" }));
    let person = |line: &str, question: &str, answer: &str, ends: &str| {
        let terminal = Terminal::new(&home);
        terminal.run(&home, line);
        terminal.shows(question);
        if !answer.is_empty() {
            terminal.types(answer);
        }
        terminal.shows(ends);
    };
    person(&format!("doorward trust project {}", home.project().display()), "y/N", "y", "ended with 0");
    assert_eq!(home.run(&["rules", "offered", "--json"], b"").json(), json!([]));
    for id in ["a", "b", "c"] {
        assert_eq!(tell(&home, "PreToolUse", ("s", id), &edit), "ask");
        tell(&home, "PostToolUse", ("s", id), &edit);
    }
    let offers = home.run(&["rules", "offered", "--json"], b"").json();
    assert_eq!(
        (&offers[0]["way"], &offers[0]["calls"]["texts"]),
        (&json!("rule"), &json!(["package.json"])),
        "{offers:#}"
    );
    assert_eq!(offers[0]["effect"], json!({ "of": 3, "letRun": 3, "refused": 0 }));
    assert_eq!(home.run(&["status", "--json"], b"").json()["offers"], offers);
    let id = offers[0]["id"].as_str().unwrap();
    for words in [["rules", "accept", id], ["rules", "decline", id], ["rules", "withdraw", id]] {
        assert_ne!(home.without_terminal(&words).code, 0, "{words:?} wants a person");
    }
    person(&format!("doorward rules accept {id}"), "Type `accept`", "y", "ended with 1");
    assert_eq!(tell(&home, "PreToolUse", ("s", "d"), &edit), "ask");
    person(&format!("doorward rules accept {id}"), "Type `accept`", "accept", "ended with 0");
    assert_eq!(tell(&home, "PreToolUse", ("s", "e"), &edit), "allow");
    assert_eq!(home.run(&["rules", "offered", "--json"], b"").json(), json!([]));
    assert_eq!(home.run(&["rules", "accepted", "--json"], b"").json()[0]["id"], id);
    let again = home.run(&["replay", "--json"], b"");
    assert_eq!(again.code, 0, "{}", again.stderr);
    person(&format!("doorward rules withdraw {id}"), "Withdrawn:", "", "ended with 0");
    assert_eq!(tell(&home, "PreToolUse", ("s", "f"), &edit), "ask");
}

#[test]
fn the_record_says_what_each_layer_made_of_a_call() {
    let home = Home::new();
    choose(&home, "auto");
    let said = |command: &str| {
        tell(&home, "PreToolUse", ("s", command), &("Bash", json!({ "command": command })));
        let body = newest(&home);
        let score: Vec<f64> = body["layer2"]["score"]
            .as_array()
            .map(|all| all.iter().map(|part| part.as_f64().unwrap()).collect())
            .unwrap_or_default();
        let layer1 = (body["layer1"]["outcome"].as_str().unwrap().to_owned(), body["layer1"]["rule"].is_string());
        (layer1, score, body["layer2"]["confidence"].as_f64())
    };
    let (layer1, score, sure) = said("ls");
    assert_eq!((layer1, score.len(), sure), (("pass".into(), true), 0, None));
    for (command, want) in [
        ("npm install lodash", ("confirm", true)),
        ("rm -rf ~", ("block", true)),
        ("touch made.txt", ("unsettled", false)),
    ] {
        let (layer1, score, sure) = said(command);
        assert_eq!((layer1.0.as_str(), layer1.1), want, "{command}");
        assert_eq!(score.len(), 3, "{command}");
        assert!((score.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{command}: {score:?}");
        let most = score.iter().copied().fold(0.0, f64::max);
        assert!((most - sure.unwrap()).abs() < 1e-12, "{command}: {score:?} {sure:?}");
    }
    let again = home.run(&["replay", "--json"], b"");
    assert_eq!(again.code, 0, "{}", again.stderr);
}
