//! Changes of rules: what may be changed at all, what is recorded, and what counts afterwards.

use std::os::unix::fs::PermissionsExt;

use doorward_engine::{Mode, Policy, Stage};
use doorward_ledger::{Kind, Log, PolicyBody};

use super::arguments::List;
use super::change::RuleEdit;
use super::decide::carry_out;
use crate::desk::replay::Replayed;
use crate::machine::paths::Dirs;
use crate::machine::record::{self, Ledger};
use crate::policy::load;

const OWN: &str = "# mine\nversion = 1\nsince = \"0.1.0\"\naudited = \"2026-11-15\"\nverdict = \"block\"\nclears = \"hard\"\nwhat = \"fetches from the remote\"\nwhy = \"we mirror it\"\ninstead = \"use the mirror\"\nstage = \"shadow\"\nfires = [\"git fetch\"]\nsilent = [\"git status\"]\n[when]\noperation = \"network\"\n";

fn home() -> (tempfile::TempDir, Dirs) {
    let base = tempfile::tempdir().unwrap();
    let dirs = Dirs::at(base.path().to_str().unwrap());
    let rule = dirs.config_directory().join("rules/mirror.toml");
    std::fs::create_dir_all(rule.parent().unwrap()).unwrap();
    std::fs::write(&rule, OWN).unwrap();
    std::fs::set_permissions(&rule, PermissionsExt::from_mode(0o600)).unwrap();
    record::begin(&dirs).unwrap();
    (base, dirs)
}

fn policy(dirs: &Dirs) -> Policy {
    let loaded = load::load(dirs, None, "");
    assert_eq!(loaded.problems, Vec::<String>::new());
    loaded.policy(Mode::Auto).unwrap()
}

fn stage(dirs: &Dirs, id: &str) -> Stage {
    policy(dirs).rules.iter().find(|rule| rule.id == id).unwrap().stage
}

#[test]
fn a_catastrophe_is_always_stopped_and_patterns_that_allow_too_much_are_refused() {
    let rules = Policy::built_in().rules;
    for (id, stage, wanted) in [
        ("delete-root", Stage::Retired, "is always active"),
        ("guard-tampering", Stage::Retired, "is always active"),
        ("push", Stage::Active, "is already active"),
        ("no-such-rule", Stage::Retired, "no rule `"),
    ] {
        let problem = RuleEdit::stage(&rules, id, stage).unwrap_err().to_string();
        assert!(problem.contains(wanted), "{id}: {problem}");
    }
    assert!(RuleEdit::pattern(List::Allow, "bash(*)").is_err());
    assert!(RuleEdit::pattern(List::Deny, "bsh(ls)").is_err());
    assert!(RuleEdit::pattern(List::Deny, "bash(git push*)").is_ok());
}

#[test]
fn what_blocks_no_longer_wants_its_name_typed() {
    let rules = Policy::built_in().rules;
    let word = |id: &str| RuleEdit::stage(&rules, id, Stage::Retired).unwrap().rule_id().map(str::to_owned);
    assert_eq!(word("denied-host").as_deref(), Some("denied-host"));
    assert_eq!(word("push"), None);
}

#[test]
fn a_change_is_recorded_with_its_replay_and_counts() {
    let (_base, dirs) = home();
    let mut ledger = Ledger::open(&dirs);
    let replayed = |laxer, stricter| {
        let mut replayed = Replayed::default();
        (replayed.all.judged, replayed.all.laxer, replayed.all.stricter) = (50, laxer, stricter);
        replayed
    };
    let rules = policy(&dirs).rules;
    let retired = RuleEdit::stage(&rules, "push", Stage::Retired).unwrap();
    assert_eq!(carry_out(&dirs, &retired, &replayed(3, 0), &mut ledger).unwrap(), "2.0.0");
    assert_eq!(stage(&dirs, "push"), Stage::Retired);
    let promoted = RuleEdit::stage(&rules, "own/mirror", Stage::Active).unwrap();
    assert_eq!(carry_out(&dirs, &promoted, &replayed(0, 2), &mut ledger).unwrap(), "2.1.0");
    assert_eq!(stage(&dirs, "own/mirror"), Stage::Active);
    let text = std::fs::read_to_string(dirs.config_directory().join("rules/mirror.toml")).unwrap();
    assert_eq!(text, OWN.replace("\"shadow\"", "\"active\""));
    let allowed = RuleEdit::pattern(List::Allow, "bash(make deploy)").unwrap();
    assert_eq!(carry_out(&dirs, &allowed, &replayed(0, 0), &mut ledger).unwrap(), "2.1.1");
    assert_eq!(policy(&dirs).permissions.allow.len(), 1);
    let back = RuleEdit::stage(&policy(&dirs).rules, "push", Stage::Active).unwrap();
    assert_eq!(carry_out(&dirs, &back, &replayed(0, 3), &mut ledger).unwrap(), "2.2.0");
    assert_eq!(stage(&dirs, "push"), Stage::Active);
    let log = Log::open(&record::directory(&dirs)).unwrap();
    let policies = log.records().unwrap().map(Result::unwrap).filter(|record| record.header.kind == Kind::Policy);
    let bodies: Vec<PolicyBody> =
        policies.map(|record| serde_json::from_slice(&record.body.unwrap()).unwrap()).collect();
    assert_eq!(bodies[0].what, "rule `push` is retired: 3 laxer, 0 stricter of 50 replayed");
    assert_eq!(
        (bodies[0].before.as_deref(), bodies[0].after.as_deref()),
        (Some("ruleset 1.0.0"), Some("ruleset 2.0.0"))
    );
    assert_eq!(bodies.len(), 4);
}

#[test]
fn a_rule_that_the_file_retires_and_nobody_accepted_still_counts() {
    let (_base, dirs) = home();
    let file = dirs.config_file();
    std::fs::write(&file, "[rules]\npush = \"retired\"\nread-plain = \"retired\"\ndelete-root = \"retired\"\n")
        .unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let loaded = load::load(&dirs, None, "");
    assert_eq!(loaded.unaccepted[0].1, ["rules"]);
    assert_eq!((stage(&dirs, "push"), stage(&dirs, "read-plain")), (Stage::Active, Stage::Retired));
    crate::policy::approved_config::accept(&dirs, &loaded, &mut Ledger::open(&dirs)).unwrap();
    assert_eq!((stage(&dirs, "push"), stage(&dirs, "delete-root")), (Stage::Retired, Stage::Active));
}
