//! `doorward serve` as an agent of one's own sees it, and many calls at once.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, feed};

/// A server that ends with the test.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    fn start(home: &Home) -> Server {
        let ran = home.run(&["setup", "generic", "--yes", "--mode", "auto", "--without-hooks"], b"");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let socket = home.path("run/doorward.sock");
        let mut command = home.command(&["serve", "--socket", socket.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on"), "{line}");
        Server { child, socket }
    }

    fn ask(&self, lines: &[&str]) -> Vec<Value> {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        let mut answer = |line: &str| {
            writeln!(stream, "{line}").unwrap();
            let mut answer = String::new();
            answers.read_line(&mut answer).unwrap();
            serde_json::from_str(&answer).unwrap()
        };
        lines.iter().map(|line| answer(line)).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn call(home: &Home, id: &str, command: &str) -> String {
    json!({"event": "call", "id": id, "session": format!("s{}", id.len()), "cwd": home.project(), "tool": "bash",
        "input": {"command": command}, "attended": true})
    .to_string()
}

#[test]
fn every_line_gets_one_line_and_what_cannot_be_read_blocks() {
    let home = Home::new();
    let server = Server::start(&home);
    let lines = [
        json!({"event": "session", "session": "s", "step": "began"}).to_string(),
        call(&home, "1", "ls -la"),
        call(&home, "2", "git push origin main"),
        call(&home, "3", "rm -rf ~"),
        json!({"event": "outcome", "session": "s", "id": "1", "result": "ran"}).to_string(),
        "garbage".to_owned(),
        json!({"event": "call"}).to_string(),
        json!({"event": "later"}).to_string(),
        call(&home, "4", "pwd"),
    ];
    let answers = server.ask(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let words: Vec<String> =
        answers.iter().map(|answer| answer.get("verdict").unwrap_or(&answer["done"]).to_string()).collect();
    assert_eq!(
        words,
        [
            "true",
            "\"approve\"",
            "\"confirm\"",
            "\"block\"",
            "true",
            "\"block\"",
            "\"block\"",
            "\"block\"",
            "\"approve\""
        ],
        "{answers:?}"
    );
    assert_eq!(answers[3]["id"], "3");
}

#[test]
fn a_socket_that_is_served_or_is_none_or_lies_in_the_open_is_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let refused = |path: &str| {
        let ran = home.run(&["serve", "--socket", path], b"");
        assert_eq!(ran.code, 1);
        ran.stderr
    };
    assert!(refused(server.socket.to_str().unwrap()).contains("already listening"));
    home.write("run/file", "x");
    assert!(refused(home.path("run/file").to_str().unwrap()).contains("is not a socket"));
    let open = home.path("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    assert!(refused(open.join("s").to_str().unwrap()).contains("must belong to you"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&server.socket.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn no_call_ends_the_server_for_the_others() {
    let home = Home::new();
    let server = Server::start(&home);
    let doubled = format!("a=x{}; rm -rf $a", "; a=$a$a".repeat(40));
    let quoted = format!("a=x{}; cat <<< \"$a\"", "; a=\"$a$a\"".repeat(60));
    let nested = format!("{}ls{}", "$(".repeat(5_000), ")".repeat(5_000));
    let parentheses = format!("{} ls {}", "( ".repeat(5_000), ")".repeat(5_000));
    let braces = format!("echo {}", "{a,b}".repeat(400));
    for (at, command) in [doubled, quoted, nested, parentheses, braces].iter().enumerate() {
        let answers = server.ask(&[&call(&home, &format!("hostile-{at}"), command)]);
        assert!(answers[0]["verdict"].is_string(), "{answers:?}");
        let answers = server.ask(&[&call(&home, &format!("after-{at}"), "ls")]);
        assert_eq!(answers[0]["verdict"], "approve", "{answers:?}");
    }
}

#[test]
fn two_hundred_calls_at_once_are_all_answered() {
    let home = Home::new();
    let server = Server::start(&home);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..200)
            .map(|number| {
                let line = call(&home, &"x".repeat(number % 7), "ls -la");
                let server = &server;
                scope.spawn(move || server.ask(&[&line])[0].clone())
            })
            .collect();
        for answer in asked {
            let answer = answer.join().unwrap();
            assert_eq!(answer["verdict"], "approve", "{answer}");
        }
    });
}

#[test]
fn two_hundred_hooks_at_once_are_all_answered_in_time() {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--yes", "--mode", "auto", "--without-hooks"], b"").code, 0);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..200)
            .map(|number| {
                let mut payload = home.payload("Bash", json!({"command": "ls -la"}));
                payload["session_id"] = json!(format!("s{}", number % 7));
                payload["tool_use_id"] = json!(format!("t{number}"));
                let mut command = home.command(&["hook", "claude"]);
                scope.spawn(move || feed(&mut command, payload.to_string().as_bytes()))
            })
            .collect();
        for ran in asked {
            let ran = ran.join().unwrap();
            assert!(ran.code == 0 && ran.stdout.contains("\"allow\""), "{} {}", ran.stdout, ran.stderr);
        }
    });
    let verified = home.run(&["audit", "verify"], b"");
    assert_eq!(verified.code, 0, "{} {}", verified.stdout, verified.stderr);
}
