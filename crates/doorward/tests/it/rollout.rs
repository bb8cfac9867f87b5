//! A rollout through the real hook and a person's terminal: stages, canary, trial, the way back, and what breaks.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::terminal::{Terminal, is_there};

/// What the hook says, and why; in shadow it says nothing.
fn says(home: &Home, session: &str, command: &str) -> (String, String) {
    let ran = home.bash(session, "call", command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    if ran.stdout.is_empty() {
        return ("silent".to_owned(), String::new());
    }
    let answer = ran.json();
    let said = |name: &str| answer["hookSpecificOutput"][name].as_str().unwrap().to_owned();
    (said("permissionDecision"), said("permissionDecisionReason"))
}

fn tell(home: &Home, event: &str, session: &str, id: &str) {
    let payload = json!({"hook_event_name": event, "session_id": session, "tool_use_id": id, "cwd": "/"});
    let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

/// A person runs a command and says yes.
fn person(home: &Home, line: &str, question: &str) -> String {
    let terminal = Terminal::new(home);
    terminal.run(home, line);
    terminal.shows(question);
    terminal.types("y");
    terminal.shows("ended with 0")
}

fn status(home: &Home) -> Value {
    home.run(&["rollout", "status", "--json"], b"").json()["rollouts"][0].clone()
}

/// The words of the newest decision's record.
fn versions(home: &Home) -> Value {
    let rows = home.run(&["audit", "list", "--kind", "decision", "--json", "--limit", "1"], b"").json();
    let sequence = rows[0]["sequence"].to_string();
    let shown = home.run(&["audit", "show", &sequence, "--json"], b"").json();
    shown["record"]["body"]["versions"].clone()
}

fn state_file(home: &Home) -> PathBuf {
    let folder = home.path(".local/state/doorward/rollout");
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_file()).unwrap()
}

#[test]
fn an_agent_goes_through_the_stages_and_falls_back_at_once() {
    if !is_there("no rollout was begun by a person") {
        return;
    }
    let home = Home::trusting();
    assert_eq!(says(&home, "old", "ls").0, "allow");
    let refused = home.without_terminal(&["rollout", "start", "claude"]);
    assert!(refused.code == 2 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    person(&home, "doorward rollout start claude", "take agent `claude` to `confirm-all`?");
    assert_eq!((says(&home, "old", "ls").0, says(&home, "one", "ls").0), ("ask".into(), "ask".into()));
    assert_eq!(versions(&home)["stage"], "confirm-all");

    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward rollout promote");
    let screen = terminal.shows("ended with 1");
    for part in [
        "still at `confirm-all`",
        "missing for `shadow`",
        "agreements: yes to what `auto` approves: 0 (needs: at least 20)",
        "--anyway",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    drop(terminal);
    person(&home, "doorward rollout promote --anyway --why 'a test'", "although missing");
    assert_eq!((says(&home, "one", "ls").0, says(&home, "two", "ls").0), ("ask".into(), "silent".into()));
    person(&home, "doorward rollout promote --anyway --why 'a test' --share 50%", "`canary` (50 % of sessions)");
    let places: Vec<(String, Value)> =
        (0..12).map(|number| (says(&home, &format!("c{number}"), "ls").0, versions(&home)["stage"].clone())).collect();
    for (said, stage) in &places {
        let wanted = if said == "allow" { "canary:in" } else { "canary:out:shadow" };
        assert_eq!(stage, wanted, "{said}");
    }
    let inside = places.iter().filter(|(said, _)| said == "allow").count();
    assert!((1..12).contains(&inside), "{places:?}");
    let again: Vec<String> = (0..12).map(|number| says(&home, &format!("c{number}"), "pwd").0).collect();
    assert_eq!(again, places.into_iter().map(|(said, _)| said).collect::<Vec<String>>());

    person(&home, "doorward rollout promote --anyway --why 'a test'", "to `auto`");
    assert_eq!(says(&home, "late", "ls").0, "allow");
    for _ in 0..5 {
        assert_eq!(says(&home, "late", "rm -rf ~").0, "deny");
    }
    assert_eq!((says(&home, "late", "ls").0, says(&home, "new", "ls").0), ("ask".into(), "ask".into()));
    let back = status(&home);
    assert_eq!((back["stage"].as_str(), back["taken_back"].as_bool()), (Some("confirm-all"), Some(true)));
    let alerts = home.run(&["alerts"], b"").stdout;
    assert!(alerts.contains("rollback") && alerts.contains("back from `auto` to `confirm-all`"), "{alerts}");
    let policy = home.run(&["audit", "list", "--kind", "policy", "--json"], b"").stdout;
    for part in ["was taken back by itself: 5 calls of one session", "because: a test", "although missing: agreements"]
    {
        assert!(policy.contains(part), "{part}\n{policy}");
    }
}

#[test]
fn answers_of_a_person_are_evidence_and_regret_takes_it_back() {
    if !is_there("no rollout was begun by a person") {
        return;
    }
    let home = Home::trusting();
    person(&home, "doorward rollout start claude", "confirm-all");
    for number in 0..4 {
        let (session, id) = (format!("s{number}"), format!("toolu_{number}"));
        assert_eq!(home.bash(&session, &id, "ls").code, 0);
        tell(&home, "PostToolUse", &session, &id);
    }
    let found = |home: &Home, what: &str| {
        let all = status(home)["criteria"].clone();
        let one = all.as_array().unwrap().iter().find(|of| of["what"] == what).cloned();
        one.unwrap()["found"].as_str().unwrap().to_owned()
    };
    let agreements = "agreements: yes to what `auto` approves";
    assert_eq!(found(&home, agreements), "4", "what auto would have said is judged again");
    assert_eq!(found(&home, "patterns of calls among them"), "1");
    person(&home, "doorward rollout start claude --stage auto --why 'a test'", "to `auto`");
    std::fs::write(home.project().join("a.txt"), "mine\n").unwrap();
    for number in 0..2 {
        let file = format!("b{number}.txt");
        std::fs::write(home.project().join(&file), "mine\n").unwrap();
        let id = format!("toolu_r{number}");
        let ran = home.bash("regret", &id, &format!("rm {file}"));
        assert!(ran.stdout.contains("allow"), "{}", ran.stdout);
        std::fs::remove_file(home.project().join(&file)).unwrap();
        tell(&home, "PostToolUse", "regret", &id);
        person(&home, &format!("doorward undo {id}"), "Restore this?");
    }
    assert_eq!(says(&home, "regret", "ls").0, "ask", "for the next decision, in a session that runs");
    assert!(home.run(&["alerts"], b"").stdout.contains("2 approved calls were regretted"));
}

#[test]
fn a_trial_records_its_sides_and_states_its_end_beforehand() {
    if !is_there("no trial was begun by a person") {
        return;
    }
    let home = Home::trusting();
    home.write("strict.toml", "confidence = 0.99\n[by_operation]\nwrite = 0.999\n");
    home.write("low.toml", "confidence = 0.5\n");
    let low = Terminal::new(&home);
    low.run(&home, &format!("doorward rollout start --thresholds {}", home.path("low.toml").display()));
    low.shows("ended with 2");
    assert!(low.screen().contains("0.85"), "{}", low.screen());
    drop(low);
    let line = format!("doorward rollout start --thresholds {}", home.path("strict.toml").display());
    let screen = person(&home, &line, "take the thresholds on trial");
    let screen = screen.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(screen.contains("false alarm at most 0.05"), "{screen}");
    let mut sides = std::collections::BTreeSet::new();
    for number in 0..10 {
        assert_eq!(says(&home, &format!("t{number}"), "ls").0, "allow");
        let side = versions(&home)["thresholds"].as_str().unwrap().to_owned();
        assert!(side == "a" || side.starts_with("b:strict#"), "{side}");
        sides.insert(side);
    }
    assert_eq!(sides.len(), 2, "{sides:?}");
    let trial = status(&home)["trial"].clone();
    assert_eq!((trial["verdict"].as_str(), trial["stopping"]["alpha"].as_f64()), (Some("open"), Some(0.05)));
    person(&home, "doorward rollout rollback --thresholds --why 'enough'", "the previous thresholds");
    assert_eq!(says(&home, "t11", "ls").0, "allow");
    assert!(versions(&home)["thresholds"].is_null());
}

#[test]
fn a_rule_of_ones_own_is_watched_first() {
    if !is_there("no rule was rolled out by a person") {
        return;
    }
    let home = Home::trusting();
    home.write(
        ".config/doorward/rules/mine.toml",
        "version = 1\nsince = \"0.1.0\"\naudited = \"2026-11-15\"\nverdict = \"block\"\nclears = \"hard\"\nwhat = \"lists\"\n\
         why = \"it is a test\"\ninstead = \"ask\"\nfires = [\"ls\"]\nsilent = [\"pwd\"]\n[when]\noperation = \"read\"\n",
    );
    assert_eq!(says(&home, "one", "ls").0, "deny");
    person(&home, "doorward rollout start --rule mine", "take rule `own/mine` to `shadow`?");
    assert_eq!(says(&home, "two", "ls").0, "allow");
    assert_eq!(versions(&home)["rule own/mine"], "shadow");
    let spoke = status(&home)["criteria"][1].clone();
    assert_eq!((spoke["what"].as_str(), spoke["found"].as_str()), (Some("calls it has an opinion on"), Some("1")));
    person(&home, "doorward rollout promote --anyway --why 'a test' --share 99%", "canary");
    assert_eq!(says(&home, "two", "ls").0, "allow", "a session keeps what it began with");
    person(&home, "doorward rollout promote --anyway --why 'a test'", "to `auto`");
    assert_eq!(says(&home, "three", "ls").0, "deny");
}

#[test]
fn a_state_that_was_tampered_with_trusts_nobody_and_says_why() {
    if !is_there("no rollout was begun by a person") {
        return;
    }
    let home = Home::trusting();
    person(&home, "doorward rollout start claude --stage auto --why 'a test'", "to `auto`");
    assert_eq!(says(&home, "one", "ls").0, "allow");
    let file = state_file(&home);
    let good = std::fs::read(&file).unwrap();
    let check = |change: &dyn Fn(), part: &str| {
        change();
        let (said, why) = says(&home, "one", "ls");
        assert!(said == "ask" && why.contains("rollout` can't be trusted"), "{said}: {why}");
        // The prompt has room for what is wrong; the command says why.
        let shown = home.run(&["rollout", "status"], b"");
        let says_why = shown.stderr.contains(part) && shown.stderr.contains("doorward rollout start");
        assert!(shown.code == 2 && says_why, "{}", shown.stderr);
        std::fs::write(&file, &good).unwrap();
        assert_eq!(says(&home, "one", "ls").0, "allow");
    };
    let forged = String::from_utf8(good.clone()).unwrap().replace("\"share\":10", "\"share\":99");
    check(&|| std::fs::write(&file, &forged).unwrap(), "it was not written with this key");
    check(&|| std::fs::write(&file, b"").unwrap(), "it has no authentication code");
    check(&|| std::fs::write(&file, &good[..good.len() / 2]).unwrap(), "can't be trusted");
    let key = home.path(".local/state/doorward/rollout.key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::write(&key, "0".repeat(64)).unwrap();
    assert_eq!(says(&home, "one", "ls").0, "ask");
    std::fs::write(&key, kept).unwrap();
    std::fs::remove_dir_all(home.path(".local/state/doorward/rollout")).unwrap();
    let (said, why) = says(&home, "one", "ls");
    assert!(said == "ask" && why.contains("is configured for a rollout that has not started"), "{said}: {why}");
    person(&home, "doorward rollout start claude", "take agent `claude`");
    assert!(!says(&home, "two", "ls").1.contains("can't be trusted"));
}

#[test]
fn a_mode_chosen_by_hand_ends_a_rollout_and_a_hand_edit_begins_none() {
    if !is_there("no rollout was begun by a person") {
        return;
    }
    let home = Home::trusting();
    person(&home, "doorward rollout start claude --stage auto --why 'a test'", "to `auto`");
    let config = home.read(".config/doorward/config.toml").unwrap();
    assert!(config.contains("staged = true") && config.contains("mode = \"confirm-all\""), "{config}");
    assert_eq!(home.run(&["setup", "claude", "--yes"], b"").code, 0);
    assert_eq!(says(&home, "one", "ls").0, "allow", "setting up again changes nothing");
    // Taking it out by hand tightens at once, and putting it in again wants a person.
    home.write(".config/doorward/config.toml", &config.replace("staged = true\n", ""));
    assert_eq!(says(&home, "two", "ls").0, "ask");
    home.write(".config/doorward/config.toml", &config);
    assert_eq!(says(&home, "three", "ls").0, "ask");
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "shadow"], b"").code, 0);
    assert_eq!(says(&home, "four", "ls").0, "silent");
    assert!(!home.read(".config/doorward/config.toml").unwrap().contains("staged"));
}
