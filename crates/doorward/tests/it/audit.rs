//! `doorward audit` as a person uses it: on a record that the real hook wrote.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Home, Ran};

/// A home in which an agent did three things and one of them ran.
fn recorded() -> Home {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"").code, 0);
    for (id, command) in [("one", "ls -la"), ("two", "git push origin main"), ("three", "rm -rf / # \u{202e}tidy")] {
        let mut payload = home.payload("Bash", json!({ "command": command }));
        payload["tool_use_id"] = json!(id);
        assert_eq!(home.run(&["hook", "claude"], payload.to_string().as_bytes()).code, 0);
    }
    let ran = json!({"hook_event_name": "PostToolUse", "session_id": "0c1d", "tool_use_id": "one", "cwd": "/"});
    assert_eq!(home.run(&["hook", "claude"], ran.to_string().as_bytes()).code, 0);
    home
}

fn audit(home: &Home, arguments: &[&str]) -> Ran {
    let words: Vec<&str> = std::iter::once("audit").chain(arguments.iter().copied()).collect();
    home.run(&words, b"")
}

fn good(home: &Home, arguments: &[&str]) -> String {
    let ran = audit(home, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn current(home: &Home) -> PathBuf {
    home.path(".local/state/doorward/log/current.log")
}

#[test]
fn records_are_listed_by_what_is_asked_for() {
    let home = recorded();
    let project = home.project().display().to_string();
    let calls = |arguments: &[&str]| -> Vec<String> {
        let words: Vec<&str> =
            ["list", "--json", "--kind", "decision", "--session", "0c1d"].iter().chain(arguments).copied().collect();
        let rows: Vec<Value> = serde_json::from_str(&good(&home, &words)).unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    for (arguments, expected) in [
        (&[][..], &["three", "two", "one"][..]),
        (&["--verdict", "block"], &["three"]),
        (&["--verdict", "approve"], &["one"]),
        (&["--violations"], &["three"]),
        (&["--text", "PUSH"], &["two"]),
        (&["--agent", "claude", "--limit", "1"], &["three"]),
        (&["--agent", "nobody"], &[]),
        (&["--project", &project], &["three", "two", "one"]),
        (&["--category", "read"], &["one"]),
        (&["--since", "1h"], &["three", "two", "one"]),
        (&["--until", "1h"], &[]),
        (&["--rule", "no-such-rule"], &[]),
    ] {
        assert_eq!(calls(arguments), expected, "{arguments:?}");
    }
    let shown = good(&home, &["list"]);
    assert!(shown.contains("block") && shown.contains("\\u{202e}tidy") && !shown.contains('\u{202e}'), "{shown}");
    assert!(shown.contains("outcome") && shown.contains("ran"), "{shown}");
    assert_eq!(audit(&home, &["list", "--since", "some day"]).code, 1);
}

#[test]
fn one_record_is_shown_with_everything_about_it() {
    let home = recorded();
    let shown = good(&home, &["show", "three"]);
    for part in ["verdict", "block", "rm -rf /", "\\u{202e}", "delete", "violation", "reasons", "hash", "previous"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = good(&home, &["show", "one"]);
    assert!(shown.contains("what happened next") && shown.contains("ran"), "{shown}");
    let whole: Value = serde_json::from_str(&good(&home, &["show", "one", "--json"])).unwrap();
    assert_eq!(whole["record"]["body"]["call"], "ls -la");
    assert_eq!(whole["later"][0]["step"], "ran");
    let number = whole["record"]["sequence"].to_string();
    assert!(good(&home, &["show", &number]).contains("ls -la"));
    let missing = audit(&home, &["show", "nothing"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("no record `nothing`"), "{}", missing.stderr);
}

#[test]
fn new_records_are_followed() {
    let home = recorded();
    assert_eq!(good(&home, &["tail", "-n", "2", "--json"]).lines().count(), 2);
    let mut child = home.command(&["audit", "tail", "-f", "-n", "1", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("ran"));
    assert_eq!(home.hook("Bash", json!({"command": "git diff"})).code, 0);
    let fresh = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(fresh.contains("git diff"), "{fresh}");
}

#[test]
fn a_record_that_holds_is_told_from_one_that_was_changed() {
    let home = recorded();
    let unanchored = good(&home, &["verify"]);
    assert!(unanchored.contains("the record is intact") && unanchored.contains("unanchored"), "{unanchored}");
    let elsewhere = home.path("elsewhere");
    good(&home, &["checkpoint", "--copy-to", elsewhere.to_str().unwrap()]);
    let piped = home.path("piped").display().to_string();
    good(&home, &["checkpoint", "--", "sh", "-c", &format!("cat >> '{piped}'")]);
    assert_eq!(audit(&home, &["checkpoint", "--", "false"]).code, 1);
    let anchored: Value = serde_json::from_str(&good(&home, &["verify", "--json"])).unwrap();
    assert_eq!((&anchored["holds"], &anchored["unanchored"]), (&json!(true), &json!(0)));
    for kept in [elsewhere.to_str().unwrap(), &piped] {
        assert!(good(&home, &["verify", "--from", kept]).contains("anchored"));
    }
    // The record of the push is changed in place: same length, another branch.
    let mut bytes = std::fs::read(current(&home)).unwrap();
    let at = bytes.windows(11).position(|window| window == b"origin main").unwrap();
    bytes[at + 7..at + 11].copy_from_slice(b"evil");
    std::fs::write(current(&home), &bytes).unwrap();
    let broken = audit(&home, &["verify"]);
    assert_eq!(broken.code, 1);
    assert!(broken.stdout.contains("starting at record 4"), "{}", broken.stdout);
    let told: Value = serde_json::from_str(&audit(&home, &["verify", "--json"]).stdout).unwrap();
    assert_eq!(told["findings"][0]["sequence"], 4);
    assert!(!broken.stderr.contains('█'), "no bar where nobody looks");
}

#[test]
fn a_log_cut_back_is_found_by_a_checkpoint_that_was_kept() {
    let home = recorded();
    let early = std::fs::read(current(&home)).unwrap();
    let kept = home.path("kept").display().to_string();
    good(&home, &["checkpoint", "--copy-to", &kept]);
    std::fs::write(current(&home), early).unwrap();
    std::fs::remove_dir_all(home.path(".local/state/doorward/checkpoints")).unwrap();
    assert_eq!(audit(&home, &["verify"]).code, 0, "alone it looks whole");
    let broken = audit(&home, &["verify", "--from", &kept]);
    assert_eq!(broken.code, 1);
    assert!(broken.stdout.contains("before the checkpoint"), "{}", broken.stdout);
    assert_eq!(audit(&home, &["verify", "--from", "/nowhere"]).code, 2);
}

#[test]
fn records_are_counted_exported_and_indexed_again() {
    let home = recorded();
    let stats: Value = serde_json::from_str(&good(&home, &["stats", "--json"])).unwrap();
    let blocked: u64 = stats["categories"].as_array().unwrap().iter().map(|of| of["blocked"].as_u64().unwrap()).sum();
    assert_eq!((stats["records"].as_u64(), blocked), (Some(6), 2));
    assert!(good(&home, &["stats"]).contains("overridden"));
    let lines = good(&home, &["export", "--kind", "decision", "--session", "0c1d"]);
    let calls: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls[1]["body"]["call"], "git push origin main");
    let csv = good(&home, &["export", "--format", "csv", "--verdict", "approve"]);
    assert!(csv.starts_with("sequence,time_ms,kind,") && csv.contains(",ls -la,"), "{csv}");
    let file = home.path("records.parquet").display().to_string();
    assert!(good(&home, &["export", "--format", "parquet", "--output", &file]).contains("6 records"));
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    std::fs::write(home.path(".local/state/doorward/index.sqlite"), "no database").unwrap();
    let error = audit(&home, &["list"]);
    assert_eq!(error.code, 1);
    assert!(error.stderr.contains("audit reindex"), "{}", error.stderr);
    assert!(good(&home, &["reindex"]).contains("6 records"));
    assert!(good(&home, &["list"]).contains("git push"));
}

#[test]
fn nothing_to_ask_nobody_to_ask_and_no_right_to_ask_are_said() {
    let home = Home::new();
    for command in ["list", "verify", "stats", "tail", "export", "reindex", "checkpoint"] {
        let ran = audit(&home, &[command]);
        assert_eq!(ran.code, if command == "verify" { 2 } else { 1 }, "{command}");
        assert!(ran.stderr.contains("nothing has been recorded yet"), "{command}: {}", ran.stderr);
    }
    let home = recorded();
    let refused = audit(&home, &["retain"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    assert_eq!(audit(&home, &["retain", "--days", "30"]).code, 2);
    let log = home.path(".local/state/doorward/log");
    std::fs::set_permissions(&log, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let open = audit(&home, &["verify"]);
    assert_eq!(open.code, 2);
    assert!(open.stderr.contains("others can write to it"), "{}", open.stderr);
}

/// Needs a Python with pyarrow, named by `PYTHON`.
#[test]
#[ignore = "needs pyarrow: PYTHON=/path/to/python cargo test -p doorward --test it audit -- --ignored"]
fn a_parquet_file_is_read_by_another_implementation() {
    let home = recorded();
    let file = home.path("records.parquet").display().to_string();
    good(&home, &["export", "--format", "parquet", "--output", &file]);
    let rows: Vec<Value> = good(&home, &["export"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let program = "import json, sys, pyarrow.parquet as p\n\
        t = p.read_table(sys.argv[1])\n\
        print(json.dumps(t.to_pylist(), default=lambda v: v.timestamp()))";
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = std::process::Command::new(python).args(["-c", program, &file]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(read.len(), rows.len());
    for (read, row) in read.iter().zip(&rows) {
        assert_eq!(read["sequence"], row["sequence"]);
        assert_eq!(read["kind"], row["kind"]);
        assert_eq!(read["text"].as_str(), row["body"]["call"].as_str());
        assert_eq!(read["verdict"], row["body"]["verdict"]);
    }
    assert_eq!(read[3]["sensitive"], true);
}
