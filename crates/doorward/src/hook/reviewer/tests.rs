//! The reviewer from the payload of a call to the answer and the record, with a provider that does as it is told.

use std::time::{Duration, Instant};

use doorward_ledger::{DecisionBody, Log};
use serde_json::{Value, json};

use super::server::{Server, ServerBehavior, allows, declines, ok};
use crate::hook::{Surroundings, answer};
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record::{self, Ledger};

/// A home with a reviewer that a person has accepted, and a project.
pub(super) struct Room(tempfile::TempDir);

impl Room {
    /// With a provider at this address, and these further lines of its table.
    fn new(url: &str, more: &str) -> Room {
        Room::with(&format!(
            "[agents.claude]\nmode = \"auto\"\n[reviewer]\nmodel = \"local/m\"\n{more}\n\
             [reviewer.providers.local]\nkind = \"openai\"\nurl = \"{url}\"\nprice_input = 1.0\nprice_output = 4.0\n"
        ))
    }

    /// With a configuration that a person has accepted.
    pub(super) fn with(config: &str) -> Room {
        let room = Room::bare(config);
        room.accept();
        room
    }

    fn at(server: &Server) -> Room {
        Room::new(&format!("http://127.0.0.1:{}", server.port), "")
    }

    fn bare(config: &str) -> Room {
        let room = Room(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(room.0.path().join("project/.git")).unwrap();
        std::fs::create_dir_all(room.dirs().config_directory()).unwrap();
        room.configure(config);
        record::begin(&room.dirs()).unwrap();
        room
    }

    fn configure(&self, config: &str) {
        let file = self.dirs().config_file();
        std::fs::write(&file, config).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    fn accept(&self) {
        let loaded = crate::policy::load::load(&self.dirs(), None, "pi");
        assert_eq!(loaded.problems, Vec::<String>::new());
        crate::policy::approved_config::accept(&self.dirs(), &loaded, &mut Ledger::open(&self.dirs())).unwrap();
    }

    fn dirs(&self) -> Dirs {
        Dirs::at(self.0.path().join("home").to_str().unwrap())
    }

    fn payload(&self, command: &str) -> Value {
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.0.path().join("project"),
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t",
        })
    }

    /// The decision and its reason.
    pub(super) fn hook(&self, command: &str) -> (String, String) {
        self.say(&self.payload(command))
    }

    fn say(&self, payload: &Value) -> (String, String) {
        let surroundings = Surroundings::new(Agent::Claude, self.dirs());
        let reply = answer(payload.to_string().as_bytes(), &surroundings).unwrap();
        let reply: Value = serde_json::from_str(&reply.stdout).unwrap();
        let output = &reply["hookSpecificOutput"];
        let text = |name: &str| output[name].as_str().unwrap().to_owned();
        (text("permissionDecision"), text("permissionDecisionReason"))
    }

    /// The last decision in the record.
    fn last(&self) -> DecisionBody {
        let log = Log::open(&record::directory(&self.dirs())).unwrap();
        let bodies =
            log.records().unwrap().flatten().filter(|record| record.header.kind == doorward_ledger::Kind::Decision);
        serde_json::from_slice(&bodies.last().unwrap().body.unwrap()).unwrap()
    }

    pub(super) fn review(&self) -> Value {
        serde_json::from_str(self.last().review.unwrap().get()).unwrap()
    }
}

/// A call that is soft on every machine: it reads from a host that nobody listed.
const FETCH: &str = "curl https://some-unlisted-host.com/topic";

#[test]
fn a_good_answer_clears_a_soft_question_and_is_on_the_record() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let room = Room::at(&server);
    let (decision, reason) = room.hook(FETCH);
    assert_eq!(decision, "allow", "{reason}");
    assert!(reason.contains("the reviewer local/m sees no harm: the user asked for it"), "{reason}");
    let review = room.review();
    for (key, value) in [
        ("answer", json!("allow")),
        ("model", json!("local/m")),
        ("tier", json!("explicit_intent")),
        ("stage", json!("fast")),
        ("tokens_read", json!(1000)),
        ("tokens_written", json!(50)),
        ("tokens_kept", json!(900)),
        ("requests", json!(1)),
        ("cost_usd", json!(0.0012)),
    ] {
        assert_eq!(review[key], value, "{key}: {review}");
    }
    let body = room.last();
    assert!(body.latency_us.contains_key("review") && body.reasons[0].contains("sees no harm"));
    // Judging the recorded facts again asks nobody and says the same.
    let facts = crate::memory::decisions::facts(&body).unwrap();
    let again = doorward_engine::judge(&facts, &doorward_engine::Policy::built_in());
    assert_eq!(again.verdict, doorward_engine::Verdict::AutoApprove);
    assert_eq!(server.asked(), 1);
}

#[test]
fn a_refusal_leaves_the_question_with_its_reason() {
    let server = Server::new(ServerBehavior::Says(declines().to_string()));
    let room = Room::at(&server);
    let (decision, reason) = room.hook(FETCH);
    assert_eq!(decision, "ask");
    assert!(reason.contains("leaves this to you: nobody asked for it"), "{reason}");
    assert_eq!(room.review()["answer"], "block");
}

#[test]
fn an_answer_that_is_not_sure_enough_leaves_the_question() {
    let mut unsure = allows();
    unsure["confidence"] = json!(0.6);
    let room = Room::at(&Server::new(ServerBehavior::Says(unsure.to_string())));
    let (decision, reason) = room.hook(FETCH);
    assert!(decision == "ask" && reason.contains("is not sure enough"), "{decision} {reason}");
}

/// Each way to fail, what is said about it, and whether the provider is reached over TLS.
fn faults() -> Vec<(&'static str, ServerBehavior, &'static str)> {
    let good = allows().to_string();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut reply = allows();
        change(&mut reply);
        ServerBehavior::Says(reply.to_string())
    };
    let status =
        |line: &str| ServerBehavior::Sends(format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n").into_bytes());
    let elsewhere = "307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/v1/chat/completions";
    vec![
        ("timeout", ServerBehavior::Hangs, "did not answer within 1.5 s"),
        ("trickle", ServerBehavior::Trickles, "did not answer within 1.5 s"),
        ("429", status("429 Too Many Requests"), "rate-limited (status 429)"),
        ("500", status("500 Internal Server Error"), "answered with status 500"),
        ("401", status("401 Unauthorized"), "answered with status 401"),
        (
            "redirect",
            status(elsewhere),
            "redirects to `http://127.0.0.1:1/v1/chat/completions`, which doorward does not follow",
        ),
        (
            "redirect after a post",
            status("302 Found\r\nlocation: https://evil.example/"),
            "redirects to `https://evil.example/`",
        ),
        ("no HTTP", ServerBehavior::Sends(b"hello\r\n\r\n".to_vec()), "its response is invalid"),
        ("no JSON", ServerBehavior::Sends(ok("<html>")), "its response is invalid"),
        ("other JSON", ServerBehavior::Sends(ok("{\"ok\":true}")), "`choices` is missing"),
        ("10 MB", ServerBehavior::Sends(ok(&"x".repeat(10 << 20))), "longer than 65536 bytes"),
        ("10 MB of spaces", ServerBehavior::Sends(ok(&" ".repeat(10 << 20))), "longer than 65536 bytes"),
        (
            "cut",
            ServerBehavior::Sends(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{".to_vec()),
            "its response is invalid",
        ),
        ("length", ServerBehavior::Stops("length"), "stopped before it was done (`length`)"),
        ("tool use", ServerBehavior::Stops("tool_calls"), "stopped before it was done (`tool_calls`)"),
        ("filter", ServerBehavior::Stops("content_filter"), "stopped before it was done (`content_filter`)"),
        (
            "invalid",
            ServerBehavior::Says("ALLOW because I said so".into()),
            "not valid decision JSON; auto mode fails closed. there is text before",
        ),
        ("fenced", ServerBehavior::Says(format!("```json\n{good}\n```")), "inside a code fence"),
        ("two objects", ServerBehavior::Says(format!("{}{good}", declines())), "two objects"),
        ("extra prose", ServerBehavior::Says(format!("{good}\nThis is safe.")), "text after the object"),
        ("wrong nonce", with(&|reply| reply["nonce"] = "0123456789abcdef".into()), "another nonce"),
        ("missing field", with(&|reply| drop(reply.as_object_mut().unwrap().remove("tier"))), "missing field `tier`"),
        ("unknown tier", with(&|reply| reply["tier"] = "invented".into()), "unknown variant `invented`"),
        ("contradiction", with(&|reply| reply["tier"] = "hard_deny".into()), "contradicts its tier"),
        ("extra field", with(&|reply| reply["also"] = json!(true)), "unknown field `also`"),
    ]
}

#[test]
fn whatever_goes_wrong_is_said_in_time_and_approves_nothing() {
    for (name, does, said) in faults() {
        let server = Server::new(does);
        let room = Room::at(&server);
        let start = Instant::now();
        let (decision, reason) = room.hook(FETCH);
        let took = start.elapsed();
        assert_eq!(decision, "ask", "{name}: {reason}");
        assert!(reason.contains("the reviewer is unavailable: "), "{name}: {reason}");
        // The prompt has room for the start of a long fault; the record has all of it.
        let recorded = room.last().reasons;
        assert!(recorded.iter().any(|reason| reason.contains(said)), "{name}: {recorded:?}");
        assert!(took < Duration::from_millis(2_500), "{name} took {took:?}");
        assert_eq!(room.review()["answer"], "unavailable", "{name}");
        // Reads go on, and nobody is asked about them.
        let before = server.asked();
        assert_eq!(room.hook("ls -la").0, "allow", "{name}");
        assert_eq!(server.asked(), before, "{name}");
    }
}

#[test]
fn a_refused_connection_is_tried_once_more() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let room = Room::new(&format!("http://127.0.0.1:{closed}"), "");
    let (decision, reason) = room.hook(FETCH);
    assert!(decision == "ask" && reason.contains("it can't be reached: "), "{reason}");
    assert_eq!((room.review()["requests"].clone(), room.review()["fault"].clone()), (json!(2), json!("unreachable")));
}

#[test]
fn a_connection_that_breaks_once_is_made_again() {
    let server = Server::new(ServerBehavior::ClosesOnce(allows().to_string()));
    let room = Room::at(&server);
    let (decision, reason) = room.hook(FETCH);
    assert_eq!((decision.as_str(), server.asked()), ("allow", 2), "{reason}");
}

#[test]
fn a_provider_that_cannot_prove_who_it_is_is_told_nothing() {
    let server = Server::new(ServerBehavior::Sends(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()));
    let room = Room::new(&format!("https://127.0.0.1:{}", server.port), "");
    let (decision, reason) = room.hook(FETCH);
    assert!(decision == "ask" && reason.contains("its connection can't be trusted"), "{reason}");
}

#[test]
fn after_three_failures_nobody_waits_any_more() {
    let server = Server::new(ServerBehavior::Says("no".into()));
    let room = Room::at(&server);
    for _ in 0..3 {
        assert!(room.hook(FETCH).1.contains("not valid decision JSON"));
    }
    let (decision, reason) = room.hook(FETCH);
    assert!(decision == "ask" && reason.contains("failed three times in a row and is paused"), "{reason}");
    assert_eq!(server.asked(), 3);
}

#[test]
fn the_same_request_is_answered_from_what_is_kept() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let room = Room::at(&server);
    assert_eq!(room.hook(FETCH).0, "allow");
    assert_eq!((room.hook(FETCH).0.as_str(), server.asked()), ("allow", 1));
    assert_eq!((room.review()["kept"].clone(), room.review()["requests"].clone()), (json!(true), json!(0)));
    assert_eq!((room.hook("curl https://some-unlisted-host.com/other").0.as_str(), server.asked()), ("allow", 2));
}

#[test]
fn where_nobody_attends_the_slower_stage_has_its_time_too() {
    let server = Server::new(ServerBehavior::Says(declines().to_string()));
    let room = Room::at(&server);
    let surroundings = Surroundings { attended: false, ..Surroundings::new(Agent::Claude, room.dirs()) };
    answer(room.payload(FETCH).to_string().as_bytes(), &surroundings).unwrap();
    assert_eq!((server.asked(), room.review()["stage"].clone()), (2, json!("reasoned")));
    assert_eq!(server.last()["max_tokens"], 700);
    assert_eq!(room.review()["tokens_read"], 2000);
}

#[test]
fn a_slow_reviewer_stays_within_the_time_of_the_hook() {
    let server = Server::new(ServerBehavior::Hangs);
    let room = Room::new(&format!("http://127.0.0.1:{}", server.port), "reasoned = \"always\"");
    let start = Instant::now();
    let (decision, reason) = room.hook(FETCH);
    assert!(decision == "ask" && reason.contains("did not answer within"), "{reason}");
    // Where nobody says how long the agent waits, all of it ends within our own ten seconds.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(server.asked(), 2);
}

#[test]
fn what_is_not_soft_or_not_unsure_is_no_business_of_a_model() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let room = Room::at(&server);
    for (command, decision) in [
        ("ls", "allow"),
        ("rm -rf ~", "deny"),
        ("git push --force origin main", "ask"),
        ("eval \"$(cat x)\"", "ask"),
        ("cat ~/.ssh/id_rsa", "ask"),
    ] {
        assert_eq!(room.hook(command).0, decision, "{command}");
    }
    assert_eq!(server.asked(), 0);
}

#[test]
fn a_model_that_nobody_accepted_is_never_asked() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let room = Room::bare("[agents.claude]\nmode = \"auto\"\n");
    room.accept();
    room.configure(&format!(
        "[agents.claude]\nmode = \"auto\"\n[reviewer]\nmodel = \"local/m\"\n[reviewer.providers.local]\nkind = \"openai\"\n\
         url = \"http://127.0.0.1:{}\"\n",
        server.port
    ));
    assert_eq!((room.hook(FETCH).0.as_str(), server.asked()), ("ask", 0));
    room.accept();
    crate::policy::session_policy::forget(&room.dirs()).unwrap();
    assert_eq!((room.hook(FETCH).0.as_str(), server.asked()), ("allow", 1));
    let evil = Server::new(ServerBehavior::Says(allows().to_string()));
    let project = room.0.path().join("project/.doorward.toml");
    std::fs::write(
        &project,
        format!(
            "[reviewer]\nmodel = \"e/m\"\n[reviewer.providers.e]\nkind = \"openai\"\nurl = \"http://127.0.0.1:{}\"\n",
            evil.port
        ),
    )
    .unwrap();
    std::fs::set_permissions(&project, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let _ = room.hook("curl https://some-unlisted-host.com/third");
    assert_eq!(evil.asked(), 0, "a repository brings no model along");
}

#[test]
fn without_a_reviewer_nothing_of_it_exists() {
    let room = Room::bare("[agents.claude]\nmode = \"auto\"\n");
    room.accept();
    assert_eq!(room.hook(FETCH).0, "ask");
    assert!(room.last().review.is_none());
    let state = room.dirs().state();
    assert!(!state.join("reviewer").exists() && !state.join("reviewer.key").exists());
}

#[test]
fn no_model_and_no_key_are_said_in_the_words_that_people_know() {
    for (config, why) in [
        ("model = \"frob/x\"", "the provider `frob` is unknown"),
        ("models = [\"local/m\"]", "no model is chosen"),
        (
            "model = \"local/m\"\n[reviewer.providers.local]\nkind = \"anthropic\"\nurl = \"https://x.invalid\"\nkey_env = \"DOORWARD_NO_SUCH_KEY\"",
            "`DOORWARD_NO_SUCH_KEY`",
        ),
    ] {
        let room = Room::bare(&format!("[agents.claude]\nmode = \"auto\"\n[reviewer]\n{config}\n"));
        room.accept();
        let (decision, reason) = room.hook(FETCH);
        assert_eq!(decision, "ask");
        assert!(reason.contains("No classifier model/API key available; auto mode fails closed."), "{reason}");
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn a_target_that_a_rule_would_not_approve_takes_the_answer_back() {
    let mut named = allows();
    named["targets"] = json!([{ "operation": "write", "target": "/etc/passwd" }]);
    let room = Room::at(&Server::new(ServerBehavior::Says(named.to_string())));
    let (decision, reason) = room.hook(FETCH);
    assert!(decision == "ask" && reason.contains("would touch `/etc/passwd`"), "{reason}");
}

#[test]
fn an_action_is_sent_whole_or_not_at_all_and_without_secrets() {
    let server = Server::new(ServerBehavior::Says(declines().to_string()));
    let room = Room::at(&server);
    let long = format!("curl https://some-unlisted-host.com/topic # {}", "x".repeat(40_000));
    assert_eq!(room.hook(&long).0, "ask");
    assert!(server.last()["messages"][1]["content"].as_str().unwrap().contains(&"x".repeat(40_000)));
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let _ = room.hook(&format!("curl https://some-unlisted-host.com/topic # {secret}"));
    assert!(!server.last().to_string().contains(&secret));
    let asked = server.asked();
    let (decision, reason) = room.hook(&format!("curl https://some-unlisted-host.com/topic # {}", "x".repeat(70_000)));
    assert!(decision == "ask" && reason.contains("sends at most"), "{reason}");
    assert_eq!(server.asked(), asked);
}

#[test]
fn a_model_that_allows_everything_clears_less_than_in_pi_automode() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let room = Room::at(&server);
    let write = |path: &str| {
        let mut payload = room.payload("");
        payload["tool_name"] = "Write".into();
        payload["tool_input"] = json!({ "file_path": path, "content": "x" });
        room.say(&payload).0
    };
    let project = room.0.path().join("project").display().to_string();
    for path in [format!("{project}/.git/hooks/pre-commit"), format!("{project}/.git/config"), "/srv/other/file".into()]
    {
        assert_ne!(write(&path), "allow", "{path}");
    }
    assert_eq!(write(&format!("{project}/.claude/settings.json")), "deny");
    // What a rule refuses or a person must see never reached the model.
    assert_eq!(server.asked(), 0);
}
