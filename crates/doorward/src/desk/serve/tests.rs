//! Attacks on the desk: over its socket as a stranger would, and with answers as a device might send them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use doorward_engine::{Clearance, Verdict};
use doorward_ledger::{DecisionBody, DeviceStep, Filter, Kind};
use serde_json::{Value, json};

use super::exchange::{Answer, Ask, Refusal};
use super::room::{Room, Turn};
use super::signature::tests::TestDevice;
use super::signature::{DeviceReport, entry};
use super::store::DeskStore;
use super::tokens::Visitor;
use super::{answers, serve, signin};
use crate::machine::clock::pretended;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::test_home::TestHome;
use crate::memory::grants::Pending;
use crate::memory::grants::binding::Binding;
use crate::memory::grants::store::GrantStore;

const ORIGIN: &str = "http://127.0.0.1:3667";

/// A desk with a paired phone and one waiting call.
struct Desk {
    home: TestHome,
    room: Arc<Room>,
    phone: TestDevice,
    id: String,
}

impl Desk {
    fn new() -> Desk {
        Desk::at(ORIGIN.to_owned())
    }

    fn at(origin: String) -> Desk {
        let home = TestHome::begun();
        let room = Arc::new(Room::new(home.dirs(), vec![origin]));
        let phone = TestDevice::new("phone");
        let mut desk = Desk { id: String::new(), home, room, phone };
        desk.pair(&desk.phone);
        desk.id = desk.waits("git push", Clearance::Soft);
        desk
    }

    fn pair(&self, device: &TestDevice) {
        self.record(&entry(DeviceStep::Paired, &device.device));
        DeskStore::open(&self.home.dirs()).unwrap().keep_device(&device.device).unwrap();
    }

    fn record<B: doorward_ledger::Body>(&self, body: &B) {
        let _receipt = Ledger::open(&self.home.dirs()).append(LogEntry::new(body).unwrap()).unwrap();
    }

    fn store(&self) -> GrantStore {
        GrantStore::open_at(&self.home.dirs()).unwrap()
    }

    fn waits(&self, call: &str, needs: Clearance) -> String {
        let pending = Pending {
            decision: format!("decision of {call}").into(),
            agent: "codex".into(),
            session: "s".into(),
            cwd: "/p".into(),
            tool: "bash".into(),
            call: call.into(),
            verdict: Some(Verdict::Confirm),
            needs: Some(needs),
            target: "/p".into(),
            bound: Binding { call: format!("hash of {call}"), policy: "rules".into(), ..Binding::default() },
            ..Pending::default()
        };
        self.store().add(pending).unwrap().0
    }

    fn ask(&self, body: &Value) -> Ask {
        Ask {
            is_post: true,
            path: String::new(),
            query: Default::default(),
            body: body.to_string().into_bytes(),
            origin: ORIGIN.to_owned(),
            is_local: true,
            visitor: Some(Visitor { device: Some(self.phone.device.id.clone()) }),
        }
    }

    fn challenge(&self, id: &str, verdict: &str) -> Result<String, Refusal> {
        let answer = answers::challenge(&self.room, &self.ask(&json!({ "verdict": verdict })), id)?;
        Ok(parsed(&answer)["statement"].as_str().unwrap().to_owned())
    }

    fn send(&self, statement: &str, signature: &str) -> Result<Answer, Refusal> {
        answers::accept(&self.room, &self.ask(&json!({ "statement": statement, "signature": signature })))
    }

    fn answer(&self, id: &str, verdict: &str) -> Result<Answer, Refusal> {
        let statement = self.challenge(id, verdict)?;
        self.send(&statement, &self.phone.sign(&statement))
    }

    fn grants(&self) -> usize {
        self.store().grants.names().len()
    }

    fn answered(&self) -> usize {
        let (_, index) = self.room.record().unwrap();
        let rows = index.list(&Filter { kind: Some(Kind::Device), ..Filter::default() }).unwrap();
        rows.iter().filter(|row| row.step.as_deref() == Some("answered")).count()
    }

    /// Serves it on a port of its own, for requests over the wire.
    fn served() -> (Desk, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let desk = Desk::at(format!("http://127.0.0.1:{port}"));
        let room = Arc::clone(&desk.room);
        std::thread::spawn(move || serve(listener, None, room).unwrap());
        (desk, port)
    }

    fn token(&self) -> String {
        let visitor = Visitor { device: Some(self.phone.device.id.clone()) };
        super::room::locked(&self.room.tokens).issue(visitor).unwrap()
    }
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// Sends bytes and reads the answer: its status and everything.
fn wire(port: u16, bytes: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // A server that refuses early may close while we still write.
    let _ = stream.write_all(bytes);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said).into_owned();
    (said.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default(), said)
}

fn get(port: u16, path: &str, headers: &str) -> (u16, String) {
    wire(
        port,
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}\r\n").as_bytes(),
    )
}

fn post(port: u16, path: &str, headers: &str, body: &str) -> (u16, String) {
    let head = format!("POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}");
    wire(port, format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
}

#[test]
fn a_signed_answer_makes_one_grant_and_is_on_record() {
    let desk = Desk::new();
    let said = desk.answer(&desk.id, "approve").unwrap();
    assert!(parsed(&said)["message"].as_str().unwrap().starts_with("Approved"));
    assert_eq!((desk.grants(), desk.answered()), (1, 1));
    let (view, _) = desk.room.record().unwrap();
    let verified = crate::memory::ledger_view::compare(&view, &[], |_| {}).unwrap();
    let report = DeviceReport::of(&verified.report.devices);
    assert!(report.wrong.is_empty() && report.answers[0].0 == "phone", "{report:?}");
    assert_eq!(desk.answer(&desk.id, "approve").unwrap_err().status, 409, "it was answered");
    assert!(desk.answer(&desk.id, "refuse").is_ok(), "an approval can be taken back");
    assert_eq!(desk.grants(), 0);
}

#[test]
fn an_answer_counts_once_and_only_as_it_was_signed() {
    let desk = Desk::new();
    let statement = desk.challenge(&desk.id, "refuse").unwrap();
    let signature = desk.phone.sign(&statement);
    let approve = statement.replace("\"refuse\"", "\"approve\"");
    assert_eq!(desk.send(&approve, &signature).unwrap_err().status, 403, "another verdict");
    assert_eq!(desk.send(&statement, &TestDevice::new("other").sign(&statement)).unwrap_err().status, 403);
    // Signed by the right key, but not what the server asked: fields of another call, origin, device or time.
    let fields: Value = serde_json::from_str(&statement).unwrap();
    for (name, value) in [
        ("call", json!("hash of something else")),
        ("cwd", json!("/other")),
        ("operands", json!("")),
        ("effects", json!("x")),
        ("policy", json!("older rules")),
        ("decision", json!("another")),
        ("origin", json!("http://evil.example")),
        ("device", json!("other")),
        ("doorward", json!("login 1")),
        ("expires_ms", json!(1)),
        ("expires_ms", json!(u64::MAX)),
        ("nonce", json!("made up")),
        ("id", json!("zzzzzz")),
    ] {
        let mut changed: Value = serde_json::from_str(&desk.challenge(&desk.id, "approve").unwrap()).unwrap();
        changed[name] = value;
        let text = changed.to_string();
        let refusal = desk.send(&text, &desk.phone.sign(&text)).unwrap_err();
        assert!(matches!(refusal.status, 400 | 404 | 409), "{name}: {refusal:?}");
    }
    assert_eq!((desk.grants(), desk.answered()), (0, 0));
    assert!(desk.send(&statement, &signature).is_ok(), "{fields}");
    assert_eq!(desk.send(&statement, &signature).unwrap_err().status, 409, "replayed");
    assert_eq!(desk.answered(), 1);
}

#[test]
fn a_call_that_changed_since_it_was_shown_is_not_answered() {
    let desk = Desk::new();
    let statement = desk.challenge(&desk.id, "approve").unwrap();
    desk.store().change(&desk.id, |pending| pending.bound.policy = "newer".to_owned()).unwrap();
    let refusal = desk.send(&statement, &desk.phone.sign(&statement)).unwrap_err();
    assert!(refusal.text.contains("changed since it was shown"), "{refusal:?}");
    assert_eq!((desk.grants(), desk.answered()), (0, 0));
}

#[test]
fn hard_and_dual_calls_are_not_approved_here_whatever_is_signed() {
    let desk = Desk::new();
    for needs in [Clearance::Hard, Clearance::Dual] {
        let id = desk.waits(&format!("rm {needs}"), needs);
        assert_eq!(desk.answer(&id, "approve").unwrap_err().status, 409);
        let mut made: Value = serde_json::from_str(&desk.challenge(&id, "refuse").unwrap()).unwrap();
        made["verdict"] = json!("approve");
        let text = made.to_string();
        assert_eq!(desk.send(&text, &desk.phone.sign(&text)).unwrap_err().status, 409);
        assert!(desk.answer(&id, "refuse").is_ok());
    }
    assert_eq!(desk.grants(), 0);
}

#[test]
fn a_start_link_a_revoked_device_and_a_stranger_cannot_answer() {
    let desk = Desk::new();
    let looks = Ask { visitor: Some(Visitor { device: None }), ..desk.ask(&json!({ "verdict": "approve" })) };
    assert_eq!(answers::challenge(&desk.room, &looks, &desk.id).unwrap_err().status, 403);
    let statement = desk.challenge(&desk.id, "approve").unwrap();
    let token = desk.token();
    assert!(desk.room.visitor(&token).is_some());
    let revoked = super::store::Device { revoked_ms: Some(1), ..desk.phone.device.clone() };
    DeskStore::open(&desk.home.dirs()).unwrap().keep_device(&revoked).unwrap();
    assert_eq!(desk.send(&statement, &desk.phone.sign(&statement)).unwrap_err().status, 403);
    assert!(desk.room.visitor(&token).is_none(), "its sign-ins end with it");
    assert_eq!(desk.grants(), 0);
}

#[test]
fn a_clock_that_is_set_by_an_hour_ends_what_was_asked_to_be_signed() {
    for change in [60 * 60 * 1000, -(60 * 60 * 1000)] {
        let desk = Desk::new();
        let statement = desk.challenge(&desk.id, "approve").unwrap();
        pretended::set(crate::machine::clock::now_ms().saturating_add_signed(change));
        assert_eq!(desk.send(&statement, &desk.phone.sign(&statement)).unwrap_err().status, 409);
        assert_eq!((desk.grants(), desk.answered()), (0, 0));
    }
}

#[test]
fn a_server_that_ends_between_answer_and_grant_leaves_no_grant() {
    let desk = Desk::new();
    // What follows the record can't be written: as if the server had ended there.
    std::fs::write(desk.home.dirs().state().join("grants"), "").unwrap();
    assert_eq!(desk.answer(&desk.id, "approve").unwrap_err().status, 409);
    assert_eq!(desk.answered(), 1, "the answer is on record");
    std::fs::remove_file(desk.home.dirs().state().join("grants")).unwrap();
    assert_eq!(desk.grants(), 0);
    assert!(desk.answer(&desk.id, "approve").is_ok(), "and can be given again");
}

#[test]
fn an_agent_that_uses_a_browser_answers_nothing() {
    let desk = Desk::new();
    let click = |call: &str, tool: &str| DecisionBody {
        id: format!("id of {call}").into(),
        tool: tool.to_owned(),
        call: call.to_owned(),
        verdict: Verdict::AutoApprove,
        ..DecisionBody::default()
    };
    desk.record(&click("notes/search", "mcp"));
    let statement = desk.challenge(&desk.id, "approve").unwrap();
    desk.record(&click("playwright/browser_click", "mcp"));
    let refusal = desk.send(&statement, &desk.phone.sign(&statement)).unwrap_err();
    assert!(refusal.text.contains("an agent is using a browser"), "{refusal:?}");
    assert_eq!(desk.grants(), 0);
    let elsewhere = desk.challenge(&desk.id, "approve").unwrap();
    let body = json!({ "statement": elsewhere, "signature": desk.phone.sign(&elsewhere) });
    let phone = Ask { is_local: false, ..desk.ask(&body) };
    assert!(answers::accept(&desk.room, &phone).is_ok(), "a phone is not in the agent's hands");
}

#[test]
fn an_agent_cannot_pair_itself() {
    let desk = Desk::new();
    let store = DeskStore::open(&desk.home.dirs()).unwrap();
    let own = TestDevice::new("agent");
    let claim = |code: &str, origin: &str| {
        let device = &own.device;
        let statement = json!({ "doorward": "pair 1", "origin": origin, "key": device.key, "algorithm": "ed25519", "name": "Pixel" });
        let text = statement.to_string();
        desk.ask(&json!({ "code": code, "statement": text, "signature": own.sign(&text) }))
    };
    assert_eq!(
        signin::pair(&desk.room, &claim("bcdfghjkmnpq", ORIGIN)).unwrap_err().status,
        403,
        "no pairing is under way"
    );
    let code = store.begin_pairing().unwrap();
    assert_eq!(signin::pair(&desk.room, &claim("bcdfghjkmnpq", ORIGIN)).unwrap_err().status, 403, "a guess");
    assert_eq!(signin::pair(&desk.room, &claim(&code, "http://evil.example")).unwrap_err().status, 403);
    // Even with the code it only becomes a question at the terminal, with words that are not on the person's phone.
    let claimed = parsed(&signin::pair(&desk.room, &claim(&code, ORIGIN)).unwrap());
    let id = claimed["device"].as_str().unwrap();
    assert!(store.good_device(id).is_none());
    let login = desk.ask(&json!({ "device": id }));
    let statement =
        parsed(&signin::login_challenge(&desk.room, &login).unwrap())["statement"].as_str().unwrap().to_owned();
    let login = desk.ask(&json!({ "statement": statement, "signature": own.sign(&statement) }));
    assert_eq!(signin::login(&desk.room, &login).unwrap_err().status, 403);
}

#[test]
fn a_device_that_is_only_a_file_answers_nothing() {
    let desk = Desk::new();
    let forged = TestDevice::new("forged");
    DeskStore::open(&desk.home.dirs()).unwrap().keep_device(&forged.device).unwrap();
    let own =
        |body: &Value| Ask { visitor: Some(Visitor { device: Some(forged.device.id.clone()) }), ..desk.ask(body) };
    let answer = answers::challenge(&desk.room, &own(&json!({ "verdict": "approve" })), &desk.id).unwrap();
    let statement = parsed(&answer)["statement"].as_str().unwrap().to_owned();
    let body = json!({ "statement": statement, "signature": forged.sign(&statement) });
    assert!(answers::accept(&desk.room, &own(&body)).unwrap_err().text.contains("not on record"));
    assert_eq!((desk.grants(), desk.answered()), (0, 0));
}

#[test]
fn two_desks_do_not_share_one_home() {
    let home = TestHome::begun();
    let turn = Turn::take(&home.dirs()).unwrap();
    assert!(Turn::is_held(&home.dirs()));
    assert!(Turn::take(&home.dirs()).unwrap_err().to_string().contains("already running"));
    drop(turn);
    assert!(!Turn::is_held(&home.dirs()));
}

#[test]
fn nothing_is_readable_without_a_sign_in() {
    let (desk, port) = Desk::served();
    let bearer = format!("Authorization: Bearer {}\r\n", desk.token());
    let paths = [
        "/view/queue",
        "/view/queue/x",
        "/view/sessions",
        "/view/sessions/s",
        "/view/ledger",
        "/view/ledger/1",
        "/view/charts",
        "/view/policy",
        "/view/health",
        "/events",
        "/api/v1/queue",
        "/api/v1/sessions",
        "/api/v1/records",
        "/api/v1/charts",
        "/api/v1/policy",
        "/api/v1/health",
        "/api/v1/records/1",
        "/api/v1/nothing",
        "/view/",
        "/api/v1/",
    ];
    for path in paths {
        assert_eq!(get(port, path, "").0, 401, "{path}");
        assert_eq!(get(port, path, "Authorization: Bearer x\r\nCookie: token=x\r\n").0, 401, "{path}");
    }
    let (status, said) = get(port, "/view/queue", &bearer);
    assert!(status == 200 && said.contains("git push"), "{said}");
    for path in ["/", "/queue/x", "/sessions/s", "/ledger/1", "/health", "/api", "/start", "/pair", "/assets/desk.js"] {
        let (status, said) = get(port, path, &bearer);
        assert!(
            status == 200 && !said.contains("git push") && said.contains("content-security-policy: default-src 'none'"),
            "{path} {said}"
        );
    }
    for path in [
        "/../view/queue",
        "/%2e%2e/view/queue",
        "/assets/../view/queue",
        "//view/queue",
        "/view//queue",
        "/assets/desk.js%00",
        "/VIEW/queue",
        "/view/queue/..%2f..",
        "/assets/%2e%2e%2fqueue",
        "/view%2fqueue",
        "/.%2e/etc/passwd",
        "/nothing",
    ] {
        let (status, said) = get(port, path, "");
        assert!(matches!(status, 401 | 404) && !said.contains("git push"), "{path}: {said}");
    }
}

#[test]
fn other_sites_and_other_names_are_sent_away() {
    let (desk, port) = Desk::served();
    let bearer = format!("Authorization: Bearer {}\r\n", desk.token());
    let rebound = format!("GET /view/queue HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n{bearer}\r\n");
    assert_eq!(wire(port, rebound.as_bytes()).0, 421);
    let two = format!(
        "GET /view/queue HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\nConnection: close\r\n{bearer}\r\n"
    );
    assert!(matches!(wire(port, two.as_bytes()).0, 400 | 421));
    assert_eq!(get(port, "/view/queue", &format!("{bearer}Origin: http://evil.example\r\n")).0, 403);
    assert_eq!(get(port, "/view/queue", &format!("{bearer}Sec-Fetch-Site: cross-site\r\n")).0, 403);
    let path = format!("/api/v1/queue/{}/challenge", desk.id);
    let body = "{\"verdict\":\"approve\"}";
    let own = format!("Origin: http://127.0.0.1:{port}\r\n");
    let json = "Content-Type: application/json\r\n";
    for (headers, status) in [
        (format!("{bearer}{json}"), 403),
        (format!("{bearer}{json}Origin: null\r\n"), 403),
        (format!("{bearer}{own}Content-Type: text/plain\r\n"), 403),
        (format!("{bearer}{own}Content-Type: application/x-www-form-urlencoded\r\n"), 403),
        (format!("{own}{json}"), 401),
        (format!("{bearer}{own}{json}"), 200),
    ] {
        assert_eq!(post(port, &path, &headers, body).0, status, "{headers}");
    }
    let (status, said) =
        wire(port, format!("OPTIONS / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").as_bytes());
    assert!(status == 405 && !said.to_lowercase().contains("access-control"), "{said}");
}

#[test]
fn large_slow_and_many_requests_leave_room_for_others() {
    let (desk, port) = Desk::served();
    let headers = format!(
        "Authorization: Bearer {0}\r\nOrigin: http://127.0.0.1:{port}\r\nContent-Type: application/json\r\n",
        desk.token()
    );
    let large = format!("{{\"statement\":\"{}\",\"signature\":\"\"}}", "x".repeat(10 << 20));
    assert!(matches!(post(port, "/api/v1/answers", &headers, &large).0, 413 | 0), "refused, or cut off while sending");
    assert!(matches!(get(port, "/", &format!("X: {}\r\n", "y".repeat(10 << 20))).0, 431 | 400 | 0));
    assert!(matches!(get(port, &format!("/{}", "z".repeat(1 << 20)), "").0, 414 | 431 | 400 | 0));
    for broken in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9\r\n\r\n",
        "\0\0\0\0",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nzz",
    ] {
        assert_ne!(wire(port, broken.as_bytes()).0, 200);
    }
    // Connections that say nothing, or half of something.
    let silent: Vec<TcpStream> = (0..1_000)
        .map_while(|number| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
            if number % 2 == 0 {
                let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: 127");
            }
            Some(stream)
        })
        .collect();
    assert!(silent.len() > 900, "{} connections", silent.len());
    let began = Instant::now();
    assert_eq!(get(port, "/api/v1/queue", &headers).0, 200);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn a_log_that_goes_away_is_an_answer_and_not_a_crash() {
    let (desk, port) = Desk::served();
    let bearer = format!("Authorization: Bearer {}\r\n", desk.token());
    assert_eq!(get(port, "/api/v1/records", &bearer).0, 200);
    let log = desk.home.dirs().state().join("log");
    std::fs::rename(&log, log.with_extension("away")).unwrap();
    let (status, said) = get(port, "/api/v1/records", &bearer);
    assert!(status == 503 && said.contains("\"error\""), "{said}");
    assert!(desk.answer(&desk.id, "approve").is_err());
    assert_eq!(desk.grants(), 0, "no record, no grant");
    std::fs::rename(log.with_extension("away"), &log).unwrap();
    assert_eq!(get(port, "/api/v1/records", &bearer).0, 200);
}
