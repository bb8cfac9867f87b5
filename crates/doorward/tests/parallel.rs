//! Many calls at once: each gets its own answer in time, and each is on record.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::{Home, feed};

/// Agents wait for sixty seconds. The hook refuses by itself after ten, which a machine that is busy with other things may reach.
const IN_TIME: Duration = Duration::from_secs(20);

/// A refusal by exit code.
const REFUSED: &str = "refused";

#[test]
fn two_hundred_calls_at_once_are_all_answered_in_time_and_recorded() {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let answers: Vec<(usize, String, Duration)> = std::thread::scope(|scope| {
        let one = |number: usize| {
            let home = &home;
            scope.spawn(move || {
                let command = if number.is_multiple_of(4) { "rm -rf /" } else { "ls -la" };
                let mut payload = home.payload("Bash", json!({ "command": command }));
                payload["tool_use_id"] = format!("toolu_{number}").into();
                payload["session_id"] = format!("session-{}", number % 5).into();
                let began = Instant::now();
                let ran = feed(&mut home.command(&["hook", "claude"]), payload.to_string().as_bytes());
                if ran.code == 2 && ran.stdout.is_empty() {
                    return (number, REFUSED.to_owned(), began.elapsed());
                }
                assert_eq!(ran.code, 0, "{}", ran.stderr);
                let said = ran.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned();
                (number, said, began.elapsed())
            })
        };
        let threads: Vec<_> = (0..200).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, said, took) in &answers {
        // After three denials in a row a session is put to a person.
        let is_fitting = match said.as_str() {
            "deny" => number.is_multiple_of(4),
            "allow" | "ask" => !number.is_multiple_of(4),
            other => other == REFUSED,
        };
        assert!(is_fitting, "call {number}: {said}");
        assert!(*took < IN_TIME, "call {number} took {took:?}");
    }
    let listed = home.run(&["audit", "list", "--json", "--limit", "1000"], b"");
    let answered: Vec<usize> =
        answers.iter().filter(|(_, said, _)| said != REFUSED).map(|(number, ..)| *number).collect();
    assert!(answered.len() >= 100, "only {} calls were judged in time", answered.len());
    for number in answered {
        assert!(listed.stdout.contains(&format!("\"toolu_{number}\"")), "call {number} is not on record");
    }
    assert_eq!(home.run(&["audit", "verify"], b"").code, 0);
}

#[test]
fn what_a_call_that_was_asked_about_may_write_is_not_run_unasked_beside_it() {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    let said = |id: &str, tool: &str, input: serde_json::Value| {
        let mut payload = home.payload(tool, input);
        payload["tool_use_id"] = id.into();
        let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
        ran.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    };
    let script = std::path::Path::new(&home.project()).join("look.sh");
    std::fs::write(&script, "ls\n").unwrap();
    let run = || json!({ "command": "sh look.sh" });
    assert_eq!(said("run-1", "Bash", run()), "allow");
    assert_eq!(said("write", "Bash", json!({ "command": "frobnicate > look.sh" })), "ask");
    assert_eq!(said("run-2", "Bash", run()), "ask");
}
