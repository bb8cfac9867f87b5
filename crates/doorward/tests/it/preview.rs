//! `doorward preview`: the calls of the past, judged without installing or recording anything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Home;
use crate::support::terminal::{Terminal, is_there};
use crate::support::transcripts::{AGENTS, now, write};

/// Files below a home, but for those of SQLite itself.
fn files(home: &Home) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![home.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path.display().to_string()) }
        }
    }
    found.retain(|name| !name.ends_with("-shm") && !name.ends_with("-wal"));
    found.sort();
    found
}

#[test]
fn every_format_is_read_and_judged_and_nothing_is_left_behind() {
    let home = Home::new();
    let moment = now();
    for agent in AGENTS {
        let calls = [("c1", "ls -la"), ("c2", "rm -rf ~"), ("c3", "git push origin main"), ("c4", "ls -la")];
        write(&home, agent, &format!("session-{agent}"), &calls, &moment);
    }
    let torn = home.read(".claude/projects/-p/session-claude.jsonl").unwrap();
    home.write(".claude/projects/-p/session-claude.jsonl", &format!("{torn}{{\"type\": \"assist\nnot json\n\n"));
    let before = files(&home);
    let seen = home.run(&["preview", "--json"], b"").json();
    assert_eq!((seen["sessions"].as_u64(), seen["malformed"].as_u64()), (Some(5), Some(2)), "{seen:#}");
    assert_eq!((seen["silent"].as_u64(), seen["blocked"].as_u64()), (Some(10), Some(5)), "{seen:#}");
    assert_eq!(seen["asked"].as_u64(), Some(5), "{seen:#}");
    let pushed = seen["groups"].as_array().unwrap().iter().find(|group| group["example"] == "git push origin main");
    let rule = &pushed.unwrap_or_else(|| panic!("{seen:#}"))["rule"];
    assert!(rule.is_null() || rule["silences"].as_u64().is_some_and(|silences| silences > 0), "{seen:#}");
    assert_eq!(files(&home), before);
    let text = home.run(&["preview"], b"").stdout;
    assert!(text.contains("20 calls in 5 sessions") && text.contains("2 lines could not be read"), "{text}");
}

#[test]
fn a_rule_that_is_named_does_what_it_says() {
    let home = Home::new();
    let calls = [
        ("c1", "curl https://api.unlisted.example/v1"),
        ("c2", "git push origin main"),
        ("c3", "git push origin main"),
    ];
    write(&home, "claude", "s", &calls, &now());
    let seen = home.run(&["preview", "--json"], b"").json();
    let mut tried = 0;
    for group in seen["groups"].as_array().unwrap() {
        let Value::Object(rule) = &group["rule"] else { continue };
        let (key, value) = rule["rule"].as_str().unwrap().split_once(" = ").unwrap();
        let (table, key) = key.split_once('.').unwrap();
        let line = json!({ "tool": "bash", "input": { "command": group["example"] }, "cwd": home.project(),
            "config": { table: { key: serde_json::from_str::<Value>(value).unwrap() } } });
        let judged = home.run(&["check", "--jsonl", "-"], format!("{line}\n").as_bytes()).json();
        assert_eq!(judged["verdict"], "approve", "{rule:?} {judged}");
        tried += 1;
    }
    assert!(tried > 0, "{seen:#}");
}

#[test]
fn what_is_older_is_left_out() {
    let home = Home::new();
    write(&home, "codex", "old", &[("c1", "ls")], "2020-01-01T00:00:00.000Z");
    let seen = home.run(&["preview", "--json"], b"").json();
    assert_eq!(seen["silent"].as_u64(), Some(0), "{seen:#}");
    assert_eq!(home.run(&["preview", "--since", "2019-01-01", "--json"], b"").json()["silent"].as_u64(), Some(1));
}

#[test]
fn a_thousand_sessions_take_less_than_half_a_minute_and_show_how_far_they_are() {
    let home = Home::new();
    let moment = now();
    for number in 0..1000 {
        let agent = AGENTS[number % AGENTS.len()];
        let usual = ["ls src", "git push", "cargo test", "rm -rf build", "curl https://unlisted.example/x"];
        let commands: Vec<(String, String)> = (0..10)
            .map(|at| {
                (
                    format!("call-{number}-{at}"),
                    usual.get(at).map_or(format!("cat a-{number}-{at}.txt"), |usual| (*usual).to_owned()),
                )
            })
            .collect();
        let calls: Vec<(&str, &str)> = commands.iter().map(|(id, command)| (id.as_str(), command.as_str())).collect();
        write(&home, agent, &format!("s{number}"), &calls, &moment);
    }
    let started = Instant::now();
    let seen = home.run(&["preview", "--json"], b"").json();
    let took = started.elapsed();
    eprintln!("preview of 1000 sessions, 10000 calls: {:.1} s", took.as_secs_f64());
    assert_eq!(seen["sessions"].as_u64(), Some(1000));
    let calls: u64 = ["silent", "asked", "blocked"].iter().map(|word| seen[word].as_u64().unwrap()).sum();
    assert_eq!(calls, 10_000, "{seen:#}");
    assert!(took < Duration::from_secs(30), "{took:?}");
    if is_there("the progress bar is not tested") {
        let terminal = Terminal::new(&home);
        terminal.run(&home, "doorward preview");
        terminal.shows("transcripts, ");
        terminal.shows("ended with 0");
    }
}
