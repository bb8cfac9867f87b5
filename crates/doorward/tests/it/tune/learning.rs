//! What else is learnt: a threshold that asks for nothing, an allow rule that is regretted, a model of one's own.

use serde_json::json;

use crate::support::terminal::is_there;
use crate::tune::accepting::answered;
use crate::tune::simulated::Drifts;
use crate::tune::templates::{LAX, RAISED};
use crate::tune::{pairs, review, simulated};

/// What a person is asked before a model counts, where it lies, and where it lies then.
const QUESTION: &str = "Use this model? [y/N]";
const MODEL: &str = "mine.tsv";
const IN_USE: &str = ".config/doorward/scorer.tsv";

#[test]
fn a_threshold_that_asks_about_what_everybody_lets_run_is_lowered_to_its_floor_and_no_further() {
    let (home, _) = simulated(40_000, Drifts { careful: true, lax: 0, ..Drifts::NONE });
    home.write(".config/doorward/thresholds.toml", &format!("[by_operation]\n{LAX} = {RAISED}\n"));
    let (found, proposal) = review(&home, "monthly");
    assert_eq!(found, pairs(&[("too-strict", LAX)]));
    let text = std::fs::read_to_string(proposal.unwrap()).unwrap();
    assert!(text.contains("to = 0.85"), "{text}");
    assert_eq!(review(&home, "quarterly"), (Vec::new(), None));
}

#[test]
fn an_allow_rule_whose_approvals_are_regretted_is_proposed_for_retirement() {
    let (home, _) = simulated(20_000, Drifts { plain: 40, ..Drifts::NONE });
    let (found, proposal) = review(&home, "quarterly");
    assert_eq!(found, pairs(&[("too-lax", "read-plain")]));
    let effect = home.run(&["tune", "show", &proposal.unwrap(), "--json"], b"").json();
    assert_eq!(effect["laxer"], json!(0), "{effect}");
}

#[test]
fn a_model_learns_what_its_owner_regrets_and_counts_once_it_is_adopted() {
    if !is_there("nobody has adopted a model") {
        return;
    }
    let (home, written) = simulated(10_000, Drifts { lax: 700, ..Drifts::NONE });
    assert_eq!(review(&home, "monthly").0, pairs(&[("too-lax", LAX)]));
    let file = home.path(MODEL).display().to_string();
    let trained = home.run(&["model", "train", "--ledger", "--out", &file], b"");
    assert_eq!(trained.code, 0, "{} {}", trained.stdout, trained.stderr);
    // Exactly the calls that were planted move, all of them.
    assert!(trained.stdout.contains(&format!("0 get laxer, {} stricter", written["middling"])), "{}", trained.stdout);
    let adopt = format!("doorward model adopt {file}");
    let alone = home.without_terminal(&["model", "adopt", &file]);
    assert!(alone.code == 1 && alone.stderr.contains("agents can't run this command"), "{}", alone.stderr);
    assert!(answered(&home, &adopt, QUESTION, "n").contains("nothing was changed"));
    assert_eq!(home.read(IN_USE), None);
    assert!(answered(&home, &adopt, QUESTION, "y").contains("ended with 0"));
    assert_eq!(home.read(IN_USE), home.read(MODEL));
    assert_eq!(review(&home, "monthly"), (Vec::new(), None), "what was regretted is asked about");
    assert!(answered(&home, "doorward model adopt built-in", QUESTION, "y").contains("ended with 0"));
    assert_eq!((home.read(IN_USE), review(&home, "monthly").0), (None, pairs(&[("too-lax", LAX)])));
    let log = home.run(&["audit", "list", "--kind", "policy", "--json"], b"").stdout;
    assert_eq!(log.matches("was adopted").count(), 2, "{log}");
}

#[test]
fn a_model_that_would_change_nothing_is_not_written() {
    let (home, _) = simulated(10_000, Drifts::NONE);
    let trained = home.run(&["model", "train", "--ledger"], b"");
    assert!(trained.code == 1 && trained.stderr.contains("as before; nothing was written"), "{}", trained.stderr);
    assert!(!home.path(".local/state/doorward/proposals").exists());
}
