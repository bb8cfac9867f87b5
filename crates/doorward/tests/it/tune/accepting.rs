//! A person accepts what the reviews propose: it fixes what was planted, and nothing else changes.

use serde_json::Value;

use crate::support::Home;
use crate::support::terminal::{Terminal, is_there};
use crate::tune::simulated::{ABUSER, ATTACKED, Drifts};
use crate::tune::templates::STRICT;
use crate::tune::{pairs, review, simulated};

/// Everything that a proposal could change.
fn policy(home: &Home) -> (Option<String>, Option<String>) {
    (home.read(".config/doorward/config.toml"), home.read(".config/doorward/thresholds.toml"))
}

/// The screen without the ends of its lines, which may stand anywhere in a sentence.
fn unwrapped(screen: &str) -> String {
    screen.replace('\n', "")
}

const QUESTION: &str = "Apply this? [y/N]";

/// A person answers the question of a command.
pub(super) fn answered(home: &Home, line: &str, question: &str, answer: &str) -> String {
    let terminal = Terminal::new(home);
    terminal.run(home, line);
    terminal.shows(question);
    terminal.types(answer);
    unwrapped(&terminal.shows("ended with"))
}

/// What a person types for a proposal.
fn name(proposal: &str) -> &str {
    std::path::Path::new(proposal).file_stem().unwrap().to_str().unwrap()
}

fn effect(home: &Home, proposal: &str) -> Value {
    home.run(&["tune", "show", proposal, "--json"], b"").json()
}

/// The threshold that a proposal wants, which depends on the scorer; it is above the floor.
fn proposed(text: &str) -> String {
    let to = text.lines().find_map(|line| line.strip_prefix("to = ")).unwrap().to_owned();
    assert!((0.865..0.92).contains(&to.parse::<f64>().unwrap()), "{to}");
    to
}

fn numbers(effect: &Value) -> (u64, u64) {
    (effect["laxer"].as_u64().unwrap(), effect["stricter"].as_u64().unwrap())
}

#[test]
fn what_is_accepted_fixes_what_was_planted_and_nothing_else_and_can_be_taken_back() {
    if !is_there("nobody has accepted a proposal") {
        return;
    }
    let (home, written) = simulated(20_000, Drifts::ALL);
    let before = policy(&home);
    let thresholds = review(&home, "monthly").1.unwrap();
    let rules = review(&home, "quarterly").1.unwrap();
    // Exactly the calls that were planted move, all of them.
    assert_eq!(numbers(&effect(&home, &thresholds)), (0, written["middling"]));
    let retired = effect(&home, &rules);
    assert_eq!(numbers(&retired), (written["fussy"], 0));
    assert!(retired["regret"]["added"].as_u64().unwrap() * 20 < written["fussy"], "{}", retired["regret"]);
    let accept = |proposal: &str| format!("doorward tune accept {}", name(proposal));
    assert!(answered(&home, &accept(&thresholds), QUESTION, "n").contains("nothing was changed"));
    assert_eq!(policy(&home), before);
    assert!(answered(&home, &accept(&thresholds), QUESTION, "y").contains("ended with 0"));
    let wanted = format!("execute = {}", proposed(&std::fs::read_to_string(&thresholds).unwrap()));
    assert!(home.read(".config/doorward/thresholds.toml").unwrap().contains(&wanted), "{wanted}");
    assert_eq!(review(&home, "monthly"), (Vec::new(), None), "the threshold is fixed");
    let (found, rules_anew) = review(&home, "quarterly");
    assert_eq!(found, pairs(&[("too-strict", STRICT), ("attack", ATTACKED), ("abuse", ABUSER)]));
    assert!(answered(&home, &accept(&rules_anew.unwrap()), QUESTION, "y").contains("ended with 0"));
    assert_eq!(
        review(&home, "quarterly"),
        (pairs(&[("attack", ATTACKED), ("abuse", ABUSER)]), None),
        "the rule is fixed"
    );
    let stale = answered_by_refusal(&home, &accept(&thresholds));
    assert!(stale.contains("nothing was changed"), "{stale}");
    let log = home.run(&["audit", "list", "--kind", "policy", "--json"], b"").stdout;
    assert_eq!(log.matches("tuning proposal").count(), 2, "{log}");
    assert!(
        answered(&home, &format!("doorward tune revert {}", name(&thresholds)), QUESTION, "y").contains("ended with 0")
    );
    assert!(home.read(".config/doorward/thresholds.toml").unwrap().contains("execute = 0.85"));
}

/// A command that refuses before it asks.
fn answered_by_refusal(home: &Home, line: &str) -> String {
    let terminal = Terminal::new(home);
    terminal.run(home, line);
    unwrapped(&terminal.shows("ended with 1"))
}

#[test]
fn a_proposal_that_is_damaged_foreign_or_stale_changes_nothing() {
    if !is_there("nobody has refused a proposal") {
        return;
    }
    let (home, _) = simulated(20_000, Drifts::ALL);
    let before = policy(&home);
    let proposal = review(&home, "monthly").1.unwrap();
    let text = std::fs::read_to_string(&proposal).unwrap();
    let ran = home.without_terminal(&["tune", "accept", &proposal]);
    assert!(ran.code == 1 && ran.stderr.contains("agents can't run this command"), "{}", ran.stderr);
    for (damaged, wanted) in [
        (text.replace(&proposed(&text), "0.86"), "checksum"),
        (text[..text.len() / 2].to_owned(), "checksum"),
        (String::new(), "checksum"),
    ] {
        std::fs::write(&proposal, damaged).unwrap();
        let screen = answered_by_refusal(&home, &format!("doorward tune accept {}", name(&proposal)));
        assert!(screen.contains(wanted) && screen.contains("nothing was changed"), "{screen}");
    }
    let missing = answered_by_refusal(&home, "doorward tune accept nowhere");
    assert!(missing.contains("nowhere.toml"), "{missing}");
    std::fs::write(&proposal, &text).unwrap();
    let held = std::fs::File::create(home.path(".local/state/doorward/proposals/lock")).unwrap();
    held.lock().unwrap();
    let busy = answered_by_refusal(&home, &format!("doorward tune accept {}", name(&proposal)));
    assert!(busy.contains("another `doorward tune accept` is running"), "{busy}");
    drop(held);
    let elsewhere = Home::new();
    let plan = crate::tune::Plan { seed: 3, ..crate::tune::plan(2_000, Drifts::NONE) };
    crate::tune::simulated::write(&elsewhere.path(".local/state/doorward/log"), plan);
    let foreign = elsewhere.run(&["tune", "show", &proposal], b"");
    assert!(foreign.code == 1 && foreign.stderr.contains("checksum"), "{}", foreign.stderr);
    // Where even the key is the same, the record is not.
    let key = ".local/state/doorward/proposals.key";
    std::fs::copy(home.path(key), elsewhere.path(key)).unwrap();
    let foreign = elsewhere.run(&["tune", "show", &proposal], b"");
    assert!(foreign.code == 1 && foreign.stderr.contains("another record"), "{}", foreign.stderr);
    assert_eq!(policy(&home), before);
}

#[test]
fn an_empty_record_and_one_of_another_version_are_reviewed_without_a_proposal() {
    let home = Home::new();
    for which in ["weekly", "monthly", "quarterly"] {
        let ran = home.run(&["tune", which], b"");
        assert!(ran.code == 1 && ran.stderr.contains("nothing has been recorded yet"), "{}", ran.stderr);
    }
    let log = home.path(".local/state/doorward/log");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let mut log = doorward_ledger::Log::create(&log).unwrap();
    let said = |which: &str| home.run(&["tune", which], b"").stdout;
    for which in ["weekly", "monthly", "quarterly"] {
        assert!(said(which).contains("there is nothing to review"), "{}", said(which));
    }
    let facts = serde_json::value::RawValue::from_string(r#"{"effects":[{"operation":"transmute"}]}"#.to_owned()).ok();
    let old = doorward_ledger::DecisionBody { id: "d".into(), facts, ..Default::default() };
    let _receipt = log.append(&old, crate::tune::now_ms()).unwrap();
    for which in ["weekly", "monthly", "quarterly"] {
        let text = said(which);
        assert!(
            text.contains("1 decisions are left out: another version") && text.contains("nothing to review"),
            "{text}"
        );
    }
    assert!(!home.path(".local/state/doorward/proposals").exists());
}
