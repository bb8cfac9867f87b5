//! `doorward replay`, `rules` and `flag` as a person meets them: what moves is shown, nothing loosens unasked, nothing by an agent.

use serde_json::{Value, json};

use crate::support::terminal::{self, Terminal};
use crate::support::{Home, Ran};

const ALLOWING: &str =
    "[agents.claude]\nmode = \"auto\"\n[permissions]\nallow = [\"fetch(https://unlisted.example.org/page)\"]\n";

/// A home in which one call was approved, one asked about and one blocked.
fn used() -> Home {
    let home = Home::new();
    let ran = home.run(&["setup", "claude", "--yes", "--mode", "auto"], b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let fetch = ("WebFetch", json!({ "url": "https://unlisted.example.org/page", "prompt": "read" }));
    for (id, (tool, input)) in [
        ("read-1", bash("ls")),
        ("push-1", bash("git push origin main")),
        ("fetch-1", fetch),
        ("rm-1", bash("rm -rf ~")),
    ] {
        let mut payload = home.payload(tool, input);
        payload["tool_use_id"] = json!(id);
        let ran = home.run(&["hook", "claude"], payload.to_string().as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    home
}

fn replay(home: &Home, more: &[&str]) -> Ran {
    let arguments: Vec<&str> = ["replay", "--json"].iter().chain(more).copied().collect();
    home.run(&arguments, b"")
}

#[test]
fn without_a_record_or_with_an_empty_one_there_is_nothing_to_judge() {
    let home = Home::new();
    let ran = home.run(&["replay"], b"");
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("nothing has been recorded yet"), "{}", ran.stderr);
    assert_eq!(home.run(&["setup", "generic", "--yes"], b"").code, 0);
    let ran = replay(&home, &["--since", "1s"]);
    assert_eq!((ran.code, ran.json()["judged"].as_u64()), (0, Some(0)), "{}", ran.stdout);
    let words = home.run(&["replay", "--since", "1s"], b"");
    assert!(words.stdout.contains("no decisions to judge again"), "{}", words.stdout);
}

#[test]
fn the_policy_in_force_gives_what_is_on_record() {
    let home = used();
    let ran = replay(&home, &[]);
    let found = ran.json();
    assert_eq!(
        (ran.code, found["laxer"].as_u64(), found["stricter"].as_u64()),
        (0, Some(0), Some(0)),
        "{}",
        ran.stdout
    );
    assert!(found["judged"].as_u64() >= Some(3), "{}", ran.stdout);
    assert_eq!(
        (found["recorded"]["same_policy"].clone(), found["recorded"]["differing"].clone()),
        (found["judged"].clone(), json!(0))
    );
    assert_eq!(found["bump"], json!("patch"));
}

#[test]
fn what_gets_laxer_is_listed_first_and_wants_to_be_accepted() {
    let home = used();
    home.write("lax.toml", ALLOWING);
    let lax = home.path("lax.toml");
    let ran = replay(&home, &["--config", lax.to_str().unwrap()]);
    let found = ran.json();
    assert_eq!(
        (ran.code, found["laxer"].as_u64(), found["bump"].clone()),
        (1, Some(1), json!("major")),
        "{}",
        ran.stdout
    );
    let change = &found["changes"]["laxer"][0];
    assert_eq!((change["id"].clone(), change["before"]["verdict"].clone()), (json!("fetch-1"), json!("confirm")));
    assert_eq!((change["after"]["verdict"].clone(), change["category"].clone()), (json!("approve"), json!("network")));
    assert_eq!(replay(&home, &["--config", lax.to_str().unwrap(), "--accept"]).code, 0);
    let words = home.run(&["replay", "--config", lax.to_str().unwrap()], b"").stdout;
    assert!(words.contains("laxer    confirm"), "{words}");
    assert!(words.contains("questions per day: "), "{words}");
    home.write("strict.toml", "strict = true\n[permissions]\ndeny = [\"bash(ls*)\"]\n");
    let ran = replay(&home, &["--config", home.path("strict.toml").to_str().unwrap()]);
    assert_eq!((ran.code, ran.json()["stricter"].as_u64() >= Some(1)), (0, true), "{}", ran.stdout);
}

#[test]
fn a_broken_candidate_is_named_and_nothing_changes() {
    let home = used();
    home.write("thresholds.toml", "confidence = 0.2\n");
    home.write("config.toml", "permisions = 1\n");
    home.write("model.tsv", "no model\n");
    home.write("rules/r.toml", "version = 1\n");
    let before = home.run(&["audit", "stats", "--json"], b"").stdout;
    for (flag, name, wanted) in [
        ("--thresholds", "thresholds.toml", "must be between 0.85 and 1"),
        ("--config", "config.toml", "is not a valid configuration"),
        ("--model", "model.tsv", "is not a valid model"),
        ("--rules", "rules", "r.toml"),
        ("--rules", "none", "is not a folder of rules"),
        ("--thresholds", "none", "can't read"),
    ] {
        let ran = home.run(&["replay", flag, home.path(name).to_str().unwrap()], b"");
        assert_eq!(ran.code, 2, "{name}: {}", ran.stdout);
        assert!(ran.stderr.contains(wanted), "{name}: {}", ran.stderr);
    }
    assert_eq!(home.run(&["audit", "stats", "--json"], b"").stdout, before);
}

#[test]
fn what_only_a_person_may_is_refused_without_a_terminal() {
    let home = used();
    for arguments in [
        &["flag", "read-1"] as &[&str],
        &["flag", "read-1", "--fine"],
        &["rules", "retire", "push"],
        &["rules", "promote", "push"],
        &["rules", "add", "allow", "bash(make x)"],
        &["replay", "--upgrade", "--accept"],
    ] {
        let ran = home.without_terminal(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(ran.stderr.contains("agents can't run this command"), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(home.run(&["rules", "test", "push"], b"").code, 0);
}

fn kinds(home: &Home, kind: &str) -> Vec<Value> {
    home.run(&["audit", "list", "--kind", kind, "--json"], b"").json().as_array().unwrap().clone()
}

#[test]
fn a_person_retires_a_rule_after_seeing_its_effect_and_says_how_decisions_turned_out() {
    if !terminal::is_there("nobody retired a rule") {
        return;
    }
    let (home, before) = {
        let home = used();
        let before = kinds(&home, "policy").len();
        (home, before)
    };
    let person = Terminal::new(&home);
    person.run(&home, "doorward rules retire push");
    person.shows("Change this, so that");
    person.types("y");
    person.shows("Done. The ruleset is now");
    assert!(home.read(".config/doorward/config.toml").unwrap().contains("push = \"retired\""));
    let policies = kinds(&home, "policy");
    assert_eq!(policies.len(), before + 1, "{policies:?}");
    person.run(&home, "doorward rules retire denied-host");
    person.shows("Type `denied-host`");
    person.types("y");
    person.shows("nothing was changed");
    person.run(&home, "doorward flag read-1 --why 'it should not have'");
    person.shows("Recorded as regretted");
    person.run(&home, "doorward flag push-1");
    person.shows("Recorded as a nuisance");
    let steps: Vec<Value> = kinds(&home, "outcome").iter().map(|row| row["step"].clone()).collect();
    assert!(steps.contains(&json!("flagged")) && steps.contains(&json!("friction")), "{steps:?}");
}
