//! The reviewer as a person sees it: `doorward model`, `defaults`, `status`, and a hook whose reviewer does not answer.

#[allow(dead_code, reason = "the server's own tests use the rest")]
#[path = "../../src/hook/reviewer/server.rs"]
mod server;

use std::time::{Duration, Instant};

use serde_json::json;
use server::{Server, ServerBehavior, allows};

use crate::support::Home;
use crate::support::terminal::{Terminal, is_there};

const FILE: &str = ".config/doorward/config.toml";

/// A home whose configuration names a provider on this machine; nobody has accepted it.
fn with_provider(server: &Server, more: &str) -> Home {
    let home = Home::new();
    assert_eq!(home.run(&["setup", "claude", "--without-hooks", "--yes", "--mode", "auto"], b"").code, 0);
    let before = home.read(FILE).unwrap();
    home.write(
        FILE,
        &format!(
            "{before}\n[reviewer]\nmodels = [\"local/m\"]\n{more}\n[reviewer.providers.local]\nkind = \"openai\"\n\
             url = \"http://127.0.0.1:{}\"\n",
            server.port
        ),
    );
    home
}

#[test]
fn the_built_in_lists_are_printed_as_configuration() {
    let home = Home::new();
    let printed = home.run(&["defaults"], b"").stdout;
    let reviewer = &printed[printed.find("[reviewer]").unwrap()..];
    for list in ["environment = [", "allow = [", "soft_deny = [", "hard_deny = [", "the user must name"] {
        assert!(reviewer.contains(list), "{list}: {reviewer}");
    }
    home.write(FILE, reviewer);
    let config = home.run(&["config", "--json"], b"");
    assert_eq!(config.code, 0, "{} {}", config.stdout, config.stderr);
    assert_eq!(home.run(&["model", "critique"], b"").code, 1, "lists that replace the built-in ones are named");
}

#[test]
fn models_are_listed_with_what_keeps_them_from_being_asked() {
    let home = Home::new();
    assert!(home.run(&["model", "list"], b"").stdout.contains("no reviewer"));
    home.write(FILE, "[reviewer]\nmodel = \"anthropic/some-model\"\n");
    let mut command = home.command(&["model", "list"]);
    let listed = crate::support::feed(command.env_remove("ANTHROPIC_API_KEY"), b"").stdout;
    for part in [
        "anthropic/some-model",
        "No classifier model/API key available; auto mode fails closed.",
        "`ANTHROPIC_API_KEY`",
        "`doorward reload`",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
}

#[test]
fn only_a_person_chooses_a_model() {
    let home = Home::new();
    let refused = home.without_terminal(&["model", "use", "anthropic/some-model"]);
    assert!(refused.code == 1 && refused.stderr.contains("agents can't run this command"), "{}", refused.stderr);
    assert_eq!(home.read(FILE), None);
}

#[test]
fn lists_are_criticised_without_a_model() {
    let home = Home::new();
    let fine = home.run(&["model", "critique"], b"");
    assert_eq!((fine.code, fine.stdout.trim()), (0, "no problems found in the lists"));
    home.write(FILE, "[reviewer]\nallow = [\"$defaults\", \"Anything.\"]\n");
    let said = home.run(&["model", "critique"], b"");
    assert!(said.code == 1 && said.stdout.contains("covers everything"), "{}", said.stdout);
}

#[test]
fn a_model_is_tried_before_it_counts() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let home = with_provider(&server, "");
    let tried = home.run(&["model", "test", "local/m"], b"");
    assert!(tried.code == 0 && tried.stdout.contains("it replied: "), "{} {}", tried.stdout, tried.stderr);
    assert!(tried.stdout.contains("1000 tokens read (900 kept), 50 written"), "{}", tried.stdout);
    let broken = with_provider(&Server::new(ServerBehavior::Says("yes".into())), "");
    let tried = broken.run(&["model", "test", "local/m"], b"");
    assert!(tried.code == 1 && tried.stdout.contains("not valid decision JSON"), "{}", tried.stdout);
}

#[test]
fn models_are_compared_on_labelled_calls() {
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let home = with_provider(&server, "");
    let row = |command: &str, expect: &str| {
        let world = json!({ "home": "/home/jo", "project": "/srv/app" });
        json!({ "tool": "bash", "input": { "command": command }, "cwd": "/srv/app", "world": world, "expect": expect })
    };
    let rows = [row("git push origin topic", "approve"), row("npm install left-pad", "confirm"), row("ls", "approve")];
    home.write("calls.jsonl", &rows.map(|row| row.to_string()).join("\n"));
    let file = home.path("calls.jsonl");
    let found = home.run(&["model", "bench", file.to_str().unwrap(), "--json"], b"").json();
    assert_eq!((&found["rows"], &found["not_asked"]), (&json!(3), &json!(1)), "{found}");
    let score = &found["scores"][0];
    assert_eq!((&score["right"], &score["wrongly_allowed"]), (&json!(1), &json!(1)), "{found}");
    let table = home.run(&["model", "bench", file.to_str().unwrap()], b"").stdout;
    assert!(table.contains("wrongly allowed: npm install left-pad"), "{table}");
}

#[test]
fn a_reviewer_that_a_person_chose_and_that_hangs_keeps_nobody_waiting() {
    if !is_there("no person chose a model") {
        return;
    }
    let server = Server::new(ServerBehavior::Hangs);
    let home = with_provider(&server, "reasoned = \"always\"");
    let terminal = Terminal::new(&home);
    terminal.run(&home, "doorward model use local/m");
    terminal.shows("clear soft questions");
    terminal.types("y");
    terminal.shows("ended with 0");
    assert!(home.read(FILE).unwrap().contains("model = \"local/m\""));
    let payload = home.payload("Bash", json!({ "command": "curl https://some-unlisted-host.com/x" })).to_string();
    let start = Instant::now();
    let ran = home.run(&["hook", "claude", "--timeout", "60"], payload.as_bytes());
    let took = start.elapsed();
    let answer = ran.json();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "ask", "{answer}");
    assert!(output["permissionDecisionReason"].as_str().unwrap().contains("did not answer within 10.0 s"), "{answer}");
    assert!(took > Duration::from_secs(11) && took < Duration::from_secs(58), "{took:?}");
    assert_eq!(server.asked(), 2);
    // An agent that waits no longer than usual gets its answer within that time.
    let start = Instant::now();
    let ran = home.run(&["hook", "claude"], payload.as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{}", ran.stdout);
    assert!(start.elapsed() < Duration::from_secs(58), "{:?}", start.elapsed());
    let status = home.run(&["status", "--json"], b"").json();
    assert_eq!(status["reviewer"]["unavailable"], 2, "{status}");
    assert_eq!((&status["reviewer"]["model"], &status["blockedActions"]), (&json!("local/m"), &json!(0)));
    assert!(home.run(&["status"], b"").stdout.contains("it was unavailable 2 times, which doesn't count as a denial"));
}

/// A home in which a person chose the model at a terminal; `model list` says so.
fn chosen_at_a_terminal(home: &Home) {
    let terminal = Terminal::new(home);
    terminal.run(home, "doorward model use local/m");
    terminal.shows("clear soft questions");
    terminal.types("y");
    terminal.shows("ended with 0");
    let listed = home.run(&["model", "list", "--json"], b"").json();
    assert_eq!((&listed["in_force"], &listed["missing"]), (&json!("local/m"), &json!([])), "{listed}");
}

#[test]
fn the_key_that_pi_lends_reaches_its_provider_and_nothing_else() {
    if !is_there("no person chose a model") {
        return;
    }
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let home = with_provider(&server, "");
    assert_eq!(home.run(&["setup", "pi", "--without-hooks", "--yes", "--mode", "auto"], b"").code, 0);
    chosen_at_a_terminal(&home);
    let call = |port: u16, number: u32| {
        let mut payload =
            home.payload("bash", json!({ "command": format!("curl https://some-unlisted-host.com/{number}") }));
        payload["tool_use_id"] = json!(format!("call-{number}"));
        payload["has_ui"] = json!(true);
        payload["loaded_context"] =
            json!([{ "path": "AGENTS.md", "content": format!("begin{}end", "x".repeat(9000)) }]);
        payload["reviewer_key"] =
            json!({ "provider": "local", "url": format!("http://127.0.0.1:{port}"), "key": "sk-lent-by-pi" });
        home.run(&["hook", "pi", "--timeout", "60"], payload.to_string().as_bytes())
    };
    let ran = call(server.port, 1);
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "allow", "{} {}", ran.stdout, ran.stderr);
    let sent = server.last();
    assert_eq!(sent["authorization"], "bearer sk-lent-by-pi");
    let message = sent["messages"][1]["content"].to_string();
    assert!(message.contains("# AGENTS.md") && message.contains("begin") && message.contains("end"), "{message}");
    assert_eq!(message.matches("left out").count(), 1, "{message}");
    call(1, 2);
    assert_eq!(server.last()["authorization"], serde_json::Value::Null, "the key is for another address");
    let kept =
        std::process::Command::new("grep").args(["-r", "-l", "sk-lent-by-pi"]).arg(home.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "", "a key that was lent is kept nowhere");
}

#[test]
fn what_keeps_a_model_from_reviewing_is_said_with_the_way_out() {
    if !is_there("no person chose a model") {
        return;
    }
    let server = Server::new(ServerBehavior::Says(allows().to_string()));
    let home = with_provider(&server, "");
    let missing =
        |wanted: &str| home.run(&["model", "list", "--json", "--wanted", wanted], b"").json()["missing"].clone();
    let said = missing("local/m");
    assert!(said[0]["sentence"].as_str().unwrap().contains("`doorward model use local/m` in a terminal"), "{said}");
    chosen_at_a_terminal(&home);
    // Pi's own choice among the models that the user configured counts at once.
    home.write(".pi/agent/automode.json", r#"{"autoMode":{"classifierModel":"local/m"}}"#);
    assert_eq!(missing("local/m"), json!([]));
    let said = missing("frob/x");
    assert_eq!((&said[0]["what"], &said[1]["what"]), (&json!("choice"), &json!("provider")), "{said}");
    assert!(said[0]["sentence"].as_str().unwrap().contains("`local/m` reviews"), "{said}");
}
