//! `doorward statusline`: what it shows, that it is put beside a line that is there, and that it goes without a trace.

use serde_json::{Value, json};

use crate::support::Home;

const SETTINGS: &str = ".claude/settings.json";

/// What Claude Code sends to a status line.
fn session(id: &str, age_ms: u64) -> Vec<u8> {
    json!({ "session_id": id, "cwd": "/tmp", "workspace": { "current_dir": "/tmp" }, "cost": { "total_duration_ms": age_ms } })
        .to_string()
        .into_bytes()
}

fn shown(home: &Home, format: &str) -> String {
    home.run(&["statusline", "--format", format], &session("0c1d", 60_000)).stdout
}

#[test]
fn the_line_counts_what_the_hook_answered_and_says_what_waits() {
    let home = Home::trusting();
    assert_eq!(home.bash("0c1d", "1", "ls").code, 0);
    home.bash("0c1d", "2", "git push");
    home.bash("0c1d", "3", "rm -rf ~");
    let figures: Value = serde_json::from_str(&shown(&home, "json")).unwrap();
    assert_eq!(figures["today"], json!({ "silent": 1, "asked": 1, "blocked": 1 }), "{figures}");
    assert_eq!((&figures["modes"]["claude"], &figures["guarded"]), (&json!("auto"), &json!(true)), "{figures}");
    let waiting = home.run(&["pending", "--json"], b"").json().as_array().map(Vec::len);
    assert_eq!(figures["waiting"].as_u64().map(|count| count as usize), waiting, "{figures}");
    let line = shown(&home, "claude");
    assert!(line.starts_with("doorward auto · today 1 silent, 1 asked, 1 blocked · "), "{line}");
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn an_agent_without_its_guard_is_said_first_and_loudly() {
    let home = Home::new();
    assert!(shown(&home, "plain").starts_with("doorward UNGUARDED: no agent is set up"), "nothing is set up");
    let home = Home::trusting();
    let unguarded = |why: &str| {
        let line = shown(&home, "plain");
        let figures = home.run(&["statusline", "--format", "json", "--agent", "claude"], b"").json();
        assert!(line.contains(why), "{line}");
        assert_eq!(figures["guarded"], json!(false), "{figures}");
    };
    let line = home.run(&["statusline"], &session("another", 60_000)).stdout;
    assert!(line.contains("no hook has run in this session"), "{line}");
    let line = home.run(&["statusline"], &session("another", 1_000)).stdout;
    assert!(!line.contains("UNGUARDED"), "a session that has just begun: {line}");
    let settings = home.read(SETTINGS).unwrap();
    home.write(SETTINGS, &settings.replacen('{', "{\"disableAllHooks\": true,", 1));
    unguarded("`disableAllHooks` switches the hooks off");
    home.write(SETTINGS, "{}");
    unguarded("no doorward hooks");
}

#[test]
fn a_line_that_is_there_stays_and_uninstalling_brings_back_every_byte() {
    for before in [
        None,
        Some("{\"model\":\"opus\"}"),
        Some(
            "{\n  \"statusLine\": { \"type\": \"command\", \"command\": \"printf '%s\\\\n' \\u0074heirs; wc -c\", \"padding\": 0 }\n}\n",
        ),
    ] {
        let home = Home::new();
        if let Some(text) = before {
            home.write(SETTINGS, text);
        }
        let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto", "--statusline"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let with = home.read(SETTINGS).unwrap();
        assert_eq!(home.run(&["setup", "claude", "--yes"], b"").code, 0);
        assert_eq!(home.read(SETTINGS).unwrap(), with, "setting up again keeps the line without being asked for it");
        assert_eq!(home.run(&["doctor"], b"").code, 0, "{}", home.run(&["doctor"], b"").stdout);
        let settings: Value = serde_json::from_str(&with).unwrap();
        let input = session("0c1d", 1);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", settings["statusLine"]["command"].as_str().unwrap()]).env("HOME", home.path(""));
        let ran = crate::support::feed(&mut command, &input);
        let lines: Vec<&str> = ran.stdout.lines().collect();
        assert!(lines.last().unwrap().starts_with("doorward "), "{lines:?}");
        let is_wrapped = before.is_some_and(|text| text.contains("statusLine"));
        if is_wrapped {
            // Theirs comes first, and has read all of the input.
            assert_eq!(lines.get(..2), Some(["theirs", &input.len().to_string()].as_slice()), "{lines:?}");
        }
        assert_eq!(lines.len(), if is_wrapped { 3 } else { 1 }, "{lines:?}");
        assert_eq!(home.run(&["setup", "claude", "--uninstall", "--yes"], b"").code, 0);
        assert_eq!(home.read(SETTINGS).as_deref(), before);
    }
}

#[test]
fn a_line_that_fails_or_reads_nothing_takes_nothing_away() {
    let home = Home::trusting();
    for command in ["exit 3", "true", "kill -9 $$", "cat >/dev/null; exit 1", "/no/such/program"] {
        let ran = home.run(&["statusline", "--then", command], &session("0c1d", 1));
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{command}: {}", ran.stdout);
    }
    for input in [&b""[..], b"{", b"[]", b"{\"session_id\": 3}"] {
        assert!(home.run(&["statusline"], input).stdout.starts_with("doorward auto"), "{input:?}");
    }
}
