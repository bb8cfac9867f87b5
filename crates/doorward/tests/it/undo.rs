//! The program itself while it copies: cut off, out of room, without leave to write, and what its commands say then.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::terminal::{Terminal, is_there};
use crate::support::{Home, Ran, feed};

/// A home whose agent is trusted, and a project with files that git does not know.
fn home() -> Home {
    let home = Home::new();
    let project = home.project().canonicalize().unwrap();
    home.write(
        ".config/doorward/config.toml",
        &format!("[agents.claude]\nmode = \"auto\"\n[projects]\ntrusted = [{project:?}]\n"),
    );
    for number in 0..4 {
        put(&home, &format!("notes/{number}.txt"), format!("note {number}\n").as_bytes());
    }
    put(&home, "notes/large.bin", &vec![7; 400_000]);
    assert_eq!(home.run(&["setup", "--yes", "--without-hooks", "claude", "--mode", "auto"], b"").code, 0);
    home
}

fn put(home: &Home, name: &str, bytes: &[u8]) {
    let path = home.project().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn payload(home: &Home, id: &str, command: &str) -> Vec<u8> {
    let mut payload = home.payload("Bash", json!({ "command": command }));
    payload["tool_use_id"] = id.into();
    payload["cwd"] = home.project().canonicalize().unwrap().to_str().into();
    payload.to_string().into_bytes()
}

/// The hook, with a fault to come.
fn hook(home: &Home, id: &str, command: &str, fault: Option<&str>) -> Ran {
    let mut program = home.command(&["hook", "claude"]);
    program.current_dir(home.project().canonicalize().unwrap());
    if let Some(fault) = fault {
        program.env("DOORWARD_SNAPSHOT_FAULT", fault);
    }
    feed(&mut program, &payload(home, id, command))
}

fn is_approved(ran: &Ran) -> bool {
    ran.stdout.contains("\"permissionDecision\":\"allow\"")
}

/// The snapshots, once each of their copies was found whole.
fn snapshots(home: &Home) -> Vec<Value> {
    let verified = home.run(&["snapshots", "verify"], b"");
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    home.run(&["snapshots", "list", "--json"], b"").json().as_array().unwrap().clone()
}

fn has(home: &Home, id: &str) -> bool {
    snapshots(home).iter().any(|snapshot| snapshot["decision"] == id)
}

/// An attempt must not find what an earlier one left behind.
fn start_again(home: &Home) {
    let _ = std::fs::remove_dir_all(home.path(".local/state/doorward/snapshots"));
}

#[test]
fn a_copy_that_ends_at_any_step_approves_nothing_and_leaves_nothing_half() {
    let home = home();
    for how in ["full", "kill"] {
        let mut at = 0;
        loop {
            let id = format!("{how}-{at}");
            start_again(&home);
            let ran = hook(&home, &id, "rm -rf notes", Some(&id));
            if is_approved(&ran) {
                assert!(has(&home, &id) && at > 10, "{id}: {}", ran.stdout);
                break;
            }
            if how == "full" {
                assert!(ran.stdout.contains("No space left"), "{id}: {}{}", ran.stdout, ran.stderr);
            } else {
                assert_eq!((ran.code, ran.stdout.as_str()), (-1, ""), "{id}");
            }
            snapshots(&home);
            at += 1;
        }
    }
    let again = hook(&home, "after", "rm -rf notes", None);
    assert!(is_approved(&again) && has(&home, "after"), "{}", again.stdout);
}

#[test]
fn killed_at_any_moment_it_has_approved_only_what_it_has_copied() {
    let home = home();
    for number in 0..400 {
        put(&home, &format!("notes/many/{number}.txt"), format!("{number}\n").as_bytes());
    }
    let mut killed = 0;
    for attempt in 0..30_u64 {
        let id = format!("k{attempt}");
        let mut command = home.command(&["hook", "claude"]);
        command.current_dir(home.project().canonicalize().unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), &payload(&home, &id, "rm -rf notes")).unwrap();
        drop(child.stdin.take());
        std::thread::sleep(Duration::from_millis(attempt * 4));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        if said.contains("\"permissionDecision\":\"allow\"") {
            assert!(has(&home, &id), "{id}");
        } else {
            killed += 1;
            snapshots(&home);
        }
    }
    assert!(killed > 3, "{killed}");
}

#[test]
fn a_store_that_cannot_be_written_asks() {
    let home = home();
    std::fs::create_dir_all(home.path(".local/state/doorward")).unwrap();
    home.write(".local/state/doorward/snapshots", "not a directory");
    let ran = hook(&home, "t", "rm -rf notes", None);
    assert!(!is_approved(&ran) && ran.stdout.contains("could not be made undoable"), "{}", ran.stdout);
}

#[test]
fn the_record_names_the_copy_and_only_a_person_takes_a_call_back() {
    let home = home();
    let ran = hook(&home, "toolu_1", "rm -rf notes", None);
    assert!(is_approved(&ran), "{}", ran.stdout);
    let snapshot = snapshots(&home)[0].clone();
    assert_eq!(snapshot["files"], 5);
    let shown = home.run(&["audit", "show", "toolu_1"], b"");
    let name = snapshot["id"].as_str().unwrap();
    assert!(shown.stdout.contains(name) && shown.stdout.contains("snapshotted"), "{}", shown.stdout);
    let held = home.run(&["snapshots", "show", name], b"");
    assert!(held.stdout.contains("large.bin"), "{}", held.stdout);
    std::fs::remove_dir_all(home.project().join("notes")).unwrap();
    let dry = home.run(&["undo", "--dry-run"], b"");
    assert!(dry.stdout.contains("comes back") && dry.stdout.contains("+ note 1"), "{}{}", dry.stdout, dry.stderr);
    let refused = home.without_terminal(&["undo", "--yes"]);
    assert!(refused.code == 1 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    assert!(!home.project().join("notes").exists());
    let dry = home.run(&["snapshots", "prune", "--dry-run", "--json"], b"").json();
    assert_eq!(dry["snapshots"], json!([]));
}

#[test]
fn at_a_terminal_a_call_is_taken_back_and_the_record_says_so() {
    let home = home();
    assert!(is_approved(&hook(&home, "toolu_1", "rm -rf notes", None)));
    std::fs::remove_dir_all(home.project().join("notes")).unwrap();
    if !is_there("nothing was taken back at one") {
        return;
    }
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward undo");
    let screen = terminal.shows("Restore this?");
    assert!(screen.contains("comes back"), "{screen}");
    terminal.types("n");
    terminal.shows("ended with 1");
    assert!(!home.project().join("notes").exists());
    terminal.run(&home, "doorward undo --last");
    terminal.shows("Restore this?");
    terminal.types("y");
    terminal.shows("paths are as they were");
    terminal.shows("ended with 0");
    assert_eq!(std::fs::read(home.project().join("notes/2.txt")).unwrap(), b"note 2\n");
    let shown = home.run(&["audit", "show", "toolu_1"], b"");
    assert!(shown.stdout.contains("reverted"), "{}", shown.stdout);
    terminal.run(&home, "doorward undo");
    terminal.shows("there is no call left to undo");
}
