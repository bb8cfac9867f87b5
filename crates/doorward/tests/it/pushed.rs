//! Alerts reach a person by themselves: each kind is set off through the real hook, comes to a web address, and comes once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use doorward_ledger::{AnswerBody, By, DecisionBody, Log, Reply};
use doorward_vocabulary::Verdict;
use serde_json::{Value, json};

use crate::support::terminal::{Terminal, is_there};
use crate::support::{Home, transcripts};

const HOUR_MS: u64 = 60 * 60 * 1000;

/// Somebody who listens at a web address.
struct Webhook {
    port: u16,
    heard: Arc<Mutex<Vec<Value>>>,
    is_down: Arc<AtomicBool>,
}

impl Webhook {
    fn new() -> Webhook {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard, is_down) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (all, down) = (Arc::clone(&heard), Arc::clone(&is_down));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let name = line.to_ascii_lowercase();
                    length = name.strip_prefix("content-length:").map_or(length, |rest| rest.trim().parse().unwrap());
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let is_down = down.load(Ordering::SeqCst);
                if !is_down {
                    all.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                }
                let answer = if is_down { "503 Service Unavailable" } else { "200 OK" };
                let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                // Whoever sent it may have gone.
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Webhook { port, heard, is_down }
    }

    fn section(&self) -> String {
        format!("\n[notify]\nwebhook = \"http://127.0.0.1:{}/doorward\"\n", self.port)
    }

    /// The alerts that came, by their kind.
    fn alerts(&self) -> Vec<(String, Value)> {
        let all = self.heard.lock().unwrap();
        let alerts = all.iter().filter(|one| one["event"] == "alert");
        alerts.map(|one| (one["kind"].as_str().unwrap().to_owned(), one.clone())).collect()
    }

    fn count(&self, kind: &str) -> usize {
        self.alerts().iter().filter(|(of, _)| of == kind).count()
    }

    fn hears(&self, kind: &str) -> Value {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(90) {
            if let Some((_, alert)) = self.alerts().into_iter().find(|(of, _)| of == kind) {
                eprintln!("`{kind}` after {:?}", started.elapsed());
                return alert;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no alert `{kind}` came, only {:?}", self.heard.lock().unwrap());
    }
}

/// A home in mode `auto` whose alerts go to an address; `None` if nothing here can send them.
fn told() -> Option<(Home, Webhook)> {
    told_of(|_| {}, "")
}

/// The same with a past, and with more in the configuration.
fn told_of(past: impl Fn(&Home), more: &str) -> Option<(Home, Webhook)> {
    if !["/usr/bin/curl", "/bin/curl", "/usr/local/bin/curl"].iter().any(|path| Path::new(path).exists()) {
        assert!(std::env::var_os("CI").is_none(), "`curl` is missing");
        eprintln!("SKIPPED: `curl` is not installed, so nothing was sent to an address");
        return None;
    }
    let (home, webhook) = (Home::new(), Webhook::new());
    past(&home);
    let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let config = home.read(".config/doorward/config.toml").unwrap();
    home.write(".config/doorward/config.toml", &format!("{config}{}{more}", webhook.section()));
    Some((home, webhook))
}

fn tell(home: &Home, event: &str, (session, id): (&str, &str), command: &str) -> String {
    let mut payload = home.payload("Bash", json!({ "command": command }));
    payload["hook_event_name"] = event.into();
    payload["session_id"] = session.into();
    payload["tool_use_id"] = id.into();
    let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
    if ran.stdout.is_empty() {
        return String::new();
    }
    ran.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

fn ends(home: &Home, session: &str) {
    let _said = tell(home, "SessionEnd", (session, ""), "ls");
}

/// A second session ends, and one more look is waited for to its end: everything has come once.
fn comes_once(home: &Home, webhook: &Webhook, kinds: &[&str]) {
    ends(home, "second");
    let looked = home.run(&["notify", "--look", "ended"], b"");
    assert_eq!(looked.code, 0, "{}", looked.stderr);
    for kind in kinds {
        assert_eq!(webhook.count(kind), 1, "{kind}: {:?}", webhook.alerts());
    }
}

fn blocked(home: &Home, session: &str) {
    for number in 0..5 {
        assert_eq!(tell(home, "PreToolUse", (session, &format!("b{number}")), "rm -rf ~"), "deny");
    }
}

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[test]
fn a_row_of_blocks_is_told_at_once_and_once() {
    let Some((home, webhook)) = told() else { return };
    blocked(&home, "attacked");
    let spike = webhook.hears("spike");
    assert_eq!((&spike["about"], &spike["event"]), (&json!("attacked"), &json!("alert")));
    assert!(spike["text"].as_str().unwrap().contains("within 10 minutes"), "{spike}");
    assert!(spike["answer"].as_str().unwrap().contains("doorward alerts"), "{spike}");
    webhook.hears("breaker");
    assert_eq!(tell(&home, "PreToolUse", ("attacked", "more"), "rm -rf ~"), "deny");
    ends(&home, "attacked");
    comes_once(&home, &webhook, &["spike", "breaker"]);
}

/// Two weeks of approvals and a day of questions in one category; in another, people let run all that was asked about.
fn drifting(home: &Home) {
    let directory = home.path(".local/state/doorward/log");
    std::fs::create_dir_all(directory.parent().unwrap()).unwrap();
    let mut log = Log::create(&directory).unwrap();
    let now = now_ms();
    let mut decision = |number: u64, category: &str, verdict: Verdict, time_ms: u64| {
        let id = format!("{category}-{number}");
        let body = DecisionBody {
            id: id.clone().into(),
            agent: Some("claude".to_owned()),
            session: Some("before".to_owned().into()),
            category: Some(category.to_owned()),
            mode: Some(doorward_vocabulary::Mode::Auto),
            verdict,
            ..DecisionBody::default()
        };
        let _receipt = log.append(&body, time_ms).unwrap();
        if category == "write" {
            let answer = AnswerBody { decision: id.into(), reply: Reply::Approved, by: By::Person, why: None };
            let _receipt = log.append(&answer, time_ms + 1).unwrap();
        }
    };
    (0..120).for_each(|number| decision(number, "network", Verdict::AutoApprove, now - 72 * HOUR_MS + number));
    (0..60).for_each(|number| decision(number, "write", Verdict::Confirm, now - 48 * HOUR_MS + number * 10));
    (120..240).for_each(|number| decision(number, "network", Verdict::Confirm, now - 2 * HOUR_MS + number));
}

#[test]
fn rates_that_leave_their_limits_are_told_when_a_session_ends() {
    let Some((home, webhook)) = told_of(drifting, "") else { return };
    assert_eq!(tell(&home, "PreToolUse", ("s", "one"), "ls"), "allow");
    ends(&home, "s");
    assert_eq!(webhook.hears("drop")["about"], "network");
    assert_eq!(webhook.hears("overrides")["about"], "write");
    comes_once(&home, &webhook, &["drop", "overrides"]);
}

#[test]
fn rates_are_looked_at_after_fifty_decisions_too() {
    let Some((home, webhook)) = told_of(drifting, "") else { return };
    for number in 0..50 {
        assert_eq!(tell(&home, "PreToolUse", ("s", &format!("n{number}")), "pwd"), "allow");
    }
    webhook.hears("drop");
    webhook.hears("overrides");
    comes_once(&home, &webhook, &["drop", "overrides"]);
}

#[test]
fn a_broken_record_is_told() {
    let Some((home, webhook)) = told() else { return };
    assert_eq!(tell(&home, "PreToolUse", ("s", "one"), "ls"), "allow");
    let file = home.path(".local/state/doorward/log/current.log");
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(9).position(|part| part == b"\"verdict\"").unwrap();
    bytes[at + 12] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    ends(&home, "s");
    assert_eq!(webhook.hears("chain")["answer"], "doorward audit verify");
    comes_once(&home, &webhook, &["chain"]);
}

#[test]
fn a_call_without_a_record_is_told_when_the_session_ends() {
    let Some((home, webhook)) = told() else { return };
    assert_eq!(tell(&home, "PreToolUse", ("s", "first"), "ls"), "allow");
    // Transcripts know seconds; what came before the first record is not expected on it.
    std::thread::sleep(Duration::from_millis(1100));
    transcripts::write(&home, "claude", "s", &[("first", "ls"), ("unseen", "echo planted")], &transcripts::now());
    ends(&home, "s");
    assert!(webhook.hears("unguarded")["text"].as_str().unwrap().contains("ran without a record"));
    comes_once(&home, &webhook, &["unguarded"]);
}

#[test]
fn a_script_that_was_exchanged_is_told_and_an_install_and_three_pushes_are_not() {
    let Some((home, webhook)) = told() else { return };
    let write = |name: &str, text: &str| std::fs::write(home.project().join(name), text).unwrap();
    write("package.json", "{\"name\": \"app\"}\n");
    assert_eq!(tell(&home, "PreToolUse", ("s", "install"), "npm install lodash"), "ask");
    write("package.json", "{\"name\": \"app\", \"dependencies\": {\"lodash\": \"4\"}}\n");
    tell(&home, "PostToolUse", ("s", "install"), "npm install lodash");
    for id in ["one", "two", "three"] {
        assert_eq!(tell(&home, "PreToolUse", ("s", id), "git push origin main"), "ask");
        tell(&home, "PostToolUse", ("s", id), "git push origin main");
    }
    ends(&home, "s");
    comes_once(&home, &webhook, &[]);
    assert_eq!(webhook.alerts(), [], "nothing of this is an alert");
    write("run.sh", "echo one\n");
    assert_eq!(tell(&home, "PreToolUse", ("s", "script"), "sh run.sh"), "ask");
    write("run.sh", "echo two\n");
    tell(&home, "PostToolUse", ("s", "script"), "sh run.sh");
    assert!(webhook.hears("exchanged")["about"].as_str().unwrap().ends_with("run.sh"));
    comes_once(&home, &webhook, &["exchanged"]);
}

#[test]
fn what_was_rolled_out_and_went_back_is_told() {
    if !is_there("no rollout was begun by a person") {
        return;
    }
    let Some((home, webhook)) = told() else { return };
    let person = |line: &str, question: &str| Terminal::say_yes(&home, line, question);
    person("doorward rollout start claude", "confirm-all");
    for (share, question) in [("", "`shadow`"), (" --share 50%", "`canary`"), ("", "to `auto`")] {
        person(&format!("doorward rollout promote --anyway --why 'a test'{share}"), question);
    }
    blocked(&home, "late");
    assert!(webhook.hears("rollback")["text"].as_str().unwrap().contains("claude"));
    comes_once(&home, &webhook, &["rollback", "spike"]);
}

#[test]
fn a_way_that_fails_is_told_by_another_and_seen_in_status_and_tried_again() {
    let failing = "command = [\"/bin/false\"]\n";
    let Some((home, webhook)) = told_of(|_| {}, failing) else { return };
    webhook.is_down.store(true, Ordering::SeqCst);
    blocked(&home, "attacked");
    ends(&home, "attacked");
    let looked = home.run(&["notify", "--look", "ended"], b"");
    assert_eq!((looked.code, webhook.alerts().len()), (0, 0), "{}", looked.stderr);
    let status = home.run(&["status"], b"").stdout;
    assert!(status.contains("could not be delivered by webhook") && status.contains("tries again"), "{status}");
    let doctor = home.run(&["doctor"], b"").stdout;
    assert!(doctor.contains("could not be delivered by command"), "{doctor}");
    webhook.is_down.store(false, Ordering::SeqCst);
    ends(&home, "next");
    webhook.hears("spike");
    assert!(webhook.hears("notifier")["text"].as_str().unwrap().starts_with("command: "));
    comes_once(&home, &webhook, &["spike", "breaker", "notifier"]);
    let status = home.run(&["status"], b"").stdout;
    assert!(!status.contains("delivered by webhook") && status.contains("delivered by command"), "{status}");
}
