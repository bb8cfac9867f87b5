//! What a machine does with bundles: which one counts, and that nothing gets laxer when one stops to.

use doorward_engine::{Mode, Verdict};
use doorward_ledger::SigningKey;
use doorward_team::Manifest;

use super::*;
use crate::machine::clock::now_ms;
use crate::machine::test_home::TestHome;
use crate::policy::load::load;

const DAY: u64 = 24 * 60 * 60 * 1000;
const RULE: &str = "version = 1\nsince = \"0.1.0\"\naudited = \"2026-11-15\"\nverdict = \"block\"\nclears = \"hard\"\nwhat = \"fetches from the remote\"\nwhy = \"we mirror it\"\ninstead = \"use the mirror\"\nfires = [\"git fetch\"]\nsilent = [\"git status\"]\n[when]\noperation = \"network\"\n";
const AUTO: &str =
    "[agents.claude]\nmode = \"auto\"\n[permissions]\nallow = [\"bash(make deploy)\"]\ndeny = [\"bash(curl *)\"]\n";

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&format!("{number:02x}").repeat(32)).unwrap()
}

fn root() -> Root {
    Root { threshold: 2, signers: [1, 2, 3].map(|number| key(number).public_key()).to_vec() }
}

fn bundle(previous: Option<&Bundle>, files: &[(&str, &str)], change: impl Fn(&mut Manifest)) -> Bundle {
    let about = previous.map_or((1, None), |previous| (previous.manifest.version + 1, Some(previous.digest())));
    let mut manifest = Manifest::new("ada", about, (now_ms() - DAY, now_ms() + 30 * DAY), root());
    change(&mut manifest);
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    let mut bundle = Bundle::build(manifest, files).unwrap();
    bundle.sign(&key(1));
    bundle.sign(&key(2));
    bundle
}

fn followed(home: &TestHome, bundle: &Bundle, (at_ms, drawn): (u64, u64)) -> Followed {
    let dirs = home.dirs();
    let mut policy = TeamPolicy::load(&dirs).unwrap().unwrap_or_else(|| TeamPolicy::new(root(), "hub"));
    let followed = policy.follow(bundle, (at_ms, drawn)).unwrap();
    policy.save(&dirs).unwrap();
    followed
}

#[test]
fn a_bundle_is_managed_configuration_and_rules_that_a_user_cannot_take_back() {
    let home = TestHome::begun();
    assert!(load(&home.dirs(), None, "claude").problems.is_empty());
    let first = bundle(None, &[("config.toml", AUTO), ("rules/mirror.toml", RULE)], |_manifest| {});
    assert_eq!(followed(&home, &first, (now_ms(), 0)), Followed::InForce(1));
    let loaded = load(&home.dirs(), None, "claude");
    assert_eq!((loaded.problems.as_slice(), loaded.mode("claude")), ([].as_slice(), Mode::Auto));
    assert_eq!((loaded.config.permissions.allow.len(), loaded.config.permissions.deny.len()), (1, 1));
    let policy = loaded.policy(Mode::Auto).unwrap();
    let rule = policy.rules.iter().find(|rule| rule.id == "team/mirror").unwrap();
    assert_eq!(rule.stage, doorward_engine::Stage::Active);
    assert!(policy.version.contains("+team1"), "{}", policy.version);
    let judged = |command: &str| {
        let world = doorward_engine::example::world();
        let call = doorward_engine::ToolCall::bash(command, doorward_engine::example::CWD);
        doorward_engine::judge(&doorward_engine::observe(&call, &world), &policy).verdict
    };
    assert_eq!((judged("git fetch"), judged("git status")), (Verdict::Block, Verdict::AutoApprove));
}

#[test]
fn expired_revoked_and_missing_policy_tightens() {
    let first = bundle(None, &[("config.toml", AUTO), ("rules/mirror.toml", RULE)], |_manifest| {});
    let revocation = bundle(Some(&first), &[], |manifest| manifest.revokes = true);
    let strict = |home: &TestHome, want: &str| {
        let loaded = load(&home.dirs(), None, "claude");
        assert!(loaded.problems.iter().any(|problem| problem.contains(want)), "{want}: {:?}", loaded.problems);
        assert_eq!((loaded.mode("claude"), loaded.config.strict), (Mode::ConfirmAll, true), "{want}");
        assert!(loaded.config.permissions.allow.is_empty(), "{want}");
        loaded
    };
    let home = TestHome::begun();
    followed(&home, &first, (now_ms(), 0));
    // Its time passes without the server saying anything new.
    let mut policy = TeamPolicy::load(&home.dirs()).unwrap().unwrap();
    policy.known.seen_ms = now_ms() + 31 * DAY;
    policy.save(&home.dirs()).unwrap();
    let loaded = strict(&home, "version 1 of the team's policy has expired");
    assert_eq!((loaded.config.permissions.deny.len(), loaded.team_rules().len()), (1, 1), "it still tightens");

    let home = TestHome::begun();
    followed(&home, &first, (now_ms(), 0));
    assert_eq!(followed(&home, &revocation, (now_ms(), u64::MAX)), Followed::InForce(2));
    let loaded = strict(&home, "revoked by version 2");
    assert_eq!(
        (loaded.config.permissions.deny.len(), loaded.team_rules().len()),
        (1, 1),
        "what was denied stays denied"
    );

    let home = TestHome::begun();
    TeamPolicy::new(root(), "hub").save(&home.dirs()).unwrap();
    strict(&home, "no bundle of the team's policy has arrived");

    for tamper in ["policy", "team.key"] {
        let home = TestHome::begun();
        followed(&home, &first, (now_ms(), 0));
        let path = match tamper {
            "policy" => home.dirs().state().join("team/policy"),
            other => home.dirs().state().join(other),
        };
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(char::is_alphabetic, "a")).unwrap();
        strict(&home, "can't be used");
        std::fs::remove_file(&path).unwrap();
        strict(&home, "can't be used");
    }
}

#[test]
fn a_share_widens_and_the_machines_outside_keep_what_they_had() {
    let first = bundle(None, &[("config.toml", AUTO)], |_manifest| {});
    let second = bundle(Some(&first), &[("config.toml", "")], |manifest| manifest.share = 10);
    let third = bundle(Some(&second), &[("config.toml", "")], |manifest| manifest.share = 50);
    let mut counts = [0; 2];
    for machine in 0..200_u64 {
        let drawn = machine.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut policy = TeamPolicy::new(root(), "hub");
        policy.follow(&first, (now_ms(), drawn)).unwrap();
        let versions = [&second, &third].map(|bundle| {
            policy.follow(bundle, (now_ms(), drawn)).unwrap();
            policy.in_force.as_ref().unwrap().version
        });
        assert!(versions != [2, 2] && versions != [2, 1], "who is in the narrow share is in the wide one");
        counts[0] += u32::from(versions[0] == 2);
        counts[1] += u32::from(versions[1] == 3);
    }
    assert!((10..30).contains(&counts[0]) && (80..120).contains(&counts[1]), "{counts:?}");
}

#[test]
fn what_cannot_be_read_leaves_the_last_good_one_in_force() {
    let first = bundle(None, &[("config.toml", AUTO)], |_manifest| {});
    for (name, text) in [("config.toml", "nonsense = 1"), ("rules/x.toml", "what"), ("programs/x.toml", "")] {
        let mut policy = TeamPolicy::new(root(), "hub");
        policy.follow(&first, (now_ms(), 0)).unwrap();
        let before = policy.clone();
        let bad = bundle(Some(&first), &[(name, text)], |_manifest| {});
        assert!(matches!(policy.follow(&bad, (now_ms(), 0)), Err(NotFollowed::Unreadable(_))), "{name}");
        assert_eq!(policy, before);
    }
}
