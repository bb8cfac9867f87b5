//! The desk as a person uses it: a real terminal, a real browser.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use doorward_ledger::{Disk, Keep, Kind, Log};
use serde_json::json;

use crate::hasty::Hasty;
use crate::replay_million::decided;
use crate::support::terminal::{self, Terminal};
use crate::support::{Home, program, skip};

/// Chromium, and a Node that can talk to it.
fn browser_is_there() -> bool {
    let chromium = std::env::var("DOORWARD_CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    for (name, is_there) in [("chromium", runs(&chromium)), ("node", runs("node"))] {
        if !is_there {
            skip(&format!("`{name}` is not installed, so the desk is not tested in a browser"));
            return false;
        }
    }
    terminal::is_there("the desk is not tested in a browser")
}

/// The checker of accessibility, if it was fetched; `.ci/run` does.
fn axe() -> Option<PathBuf> {
    let path = std::env::var("DOORWARD_AXE")
        .map_or_else(|_| workspace().join("target/axe/node_modules/axe-core/axe.min.js"), PathBuf::from);
    if !path.exists() {
        skip(&format!("axe-core is not at `{}`, so accessibility is not tested", path.display()));
        return None;
    }
    Some(path)
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a script of `tests/desk` and shows what it said if it fails.
fn play(script: &str, about: &serde_json::Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk").join(script);
    let ran = Command::new("node").arg("--experimental-websocket").arg(path).arg(about.to_string()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("all good"), "{said}");
}

#[test]
fn a_person_answers_in_a_browser() {
    if !browser_is_there() {
        return;
    }
    let home = Home::trusting();
    let ran = home.run(&["setup", "codex", "--yes", "--mode", "auto", "--without-hooks"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward serve --pair --port 0");
    let about = json!({
        "program": program(), "home": home.path(""), "project": home.project(), "tmux": home.path("tmux.socket"),
        "pictures": std::env::var("DOORWARD_PICTURES").ok(), "axe": axe(),
    });
    play("end_to_end.mjs", &about);
}

/// Records decisions as the hook does, over the last thirty days; every hundredth session is one long one.
fn fill(home: &Home, count: u64) {
    let bodies = decided(home);
    let mut log = Log::on(Hasty(Disk::open(&home.path(".local/state/doorward/log")).unwrap()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let month = 29 * 24 * 60 * 60 * 1000;
    for number in 0..count {
        let mut body = bodies[number as usize % bodies.len()].clone();
        body["id"] = json!(format!("d{number:x}"));
        let is_long = count <= 10_000 || number.is_multiple_of(100);
        body["session"] = if is_long { json!("long") } else { json!(format!("s{}", number / 250)) };
        let time = now - month + month / count * number;
        let _receipt = log.append_json(Kind::Decision, Keep::Days, serde_json::to_vec(&body).unwrap(), time);
    }
}

/// The desk in a terminal of a person, its origin and the code of its start link.
fn started(home: &Home) -> (Terminal, String, String) {
    let terminal = Terminal::new(home);
    terminal.run(home, "doorward serve --port 0");
    let screen = terminal.shows("The link works once");
    let link = screen.lines().find_map(|line| line.trim().strip_prefix("Open ")).unwrap().to_owned();
    let (origin, code) = link.split_once("/start#").unwrap();
    (terminal, origin.to_owned(), code.to_owned())
}

/// One request; its body, and how long it took.
fn asked(origin: &str, head: &str, body: &str) -> (String, Duration) {
    let host = origin.strip_prefix("http://").unwrap();
    let began = Instant::now();
    let mut stream = TcpStream::connect(host).unwrap();
    let more = format!(
        "Host: {host}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
    stream.write_all(format!("{line} HTTP/1.1\r\n{more}Connection: close\r\n{headers}\r\n{body}").as_bytes()).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 200"), "{head}: {said}");
    (said.split_once("\r\n\r\n").unwrap().1.to_owned(), began.elapsed())
}

#[test]
fn a_session_of_ten_thousand_calls_is_paged() {
    if !browser_is_there() {
        return;
    }
    let home = Home::new();
    fill(&home, 10_000);
    let (_terminal, origin, code) = started(&home);
    // A budget for a test build beside other tests; the figure itself is printed, and `--ignored a_million` holds it to 300 ms.
    let about =
        json!({ "start": format!("{origin}/start#{code}"), "origin": origin, "calls": 10_000, "within": 3_000 });
    play("timeline.mjs", &about);
}

/// `cargo nextest run -p doorward --cargo-profile quick -E 'test(desk::a_million)' --run-ignored all --no-capture`
#[test]
#[ignore = "takes minutes"]
fn a_million_records_are_listed_at_once_in_little_memory() {
    let home = Home::new();
    fill(&home, 1_000_000);
    let (terminal, origin, code) = started(&home);
    let (said, _) = asked(&origin, "POST /api/v1/start", &json!({ "code": code }).to_string());
    let token = serde_json::from_str::<serde_json::Value>(&said).unwrap()["token"].as_str().unwrap().to_owned();
    let pages = [
        "/view/queue",
        "/view/sessions",
        "/view/sessions/long",
        "/view/ledger",
        "/view/ledger?verdict=block",
        "/view/ledger/500000",
        "/view/charts",
        "/view/policy",
        "/view/health",
        "/api/v1/records?limit=1000",
    ];
    let ask = |page: &str| asked(&origin, &format!("GET {page}\nAuthorization: Bearer {token}\r\n"), "");
    // The first visit takes the record into the index, which a machine that was used before has done long ago.
    let (_, first) = ask("/view/charts");
    println!("index and figures made in {first:?}");
    let mut slow = Vec::new();
    for page in pages {
        let mut times: Vec<Duration> = (0..5).map(|_| ask(page).1).collect();
        times.sort();
        println!("{page}: median {:?}, slowest {:?}", times[2], times[4]);
        if times[2] > Duration::from_millis(200) {
            slow.push(page);
        }
    }
    let pid = server(&terminal);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let kib = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    println!("memory {} MiB, at most {} MiB", kib("VmRSS:") / 1024, kib("VmHWM:") / 1024);
    assert!(slow.is_empty(), "{slow:?} take longer than 200 ms");
    assert!(kib("VmHWM:") <= 60 * 1024);
}

/// The process of the desk in a terminal.
fn server(terminal: &Terminal) -> u32 {
    let shell = terminal.tmux(&["list-panes", "-t", "person", "-F", "#{pane_pid}"]);
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", shell.trim())).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}
