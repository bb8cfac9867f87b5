//! Decisions made through the real hook come out the same when they are judged again, and change exactly as a policy does.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use doorward_engine::{Clearance, Pattern, Policy, Shift, Verdict};
use doorward_ledger::{AnswerBody, Became, Body, By, DecisionBody, Log, OutcomeBody, Reply};
use serde_json::{Value, json};

use super::compare::Verdicts;
use super::*;
use crate::desk::grants::answer::approve as say_yes;
use crate::desk::grants::answer::{ApprovalStep, ApprovedBy, to_type};
use crate::hook::{Surroundings, answer as hook};
use crate::machine::agent::Agent;
use crate::machine::clock::now_ms;
use crate::machine::record::{self, Ledger};
use crate::machine::test_home::TestHome;
use crate::memory::grants::store::GrantStore;
use crate::policy::config::Config;

/// A home with agents in three modes, and a project beside it.
struct House {
    base: TestHome,
}

const CONFIG: &str = "[agents.claude]\nmode = \"auto\"\n[agents.codex]\nmode = \"shadow\"\n";

impl std::ops::Deref for House {
    type Target = TestHome;

    fn deref(&self) -> &TestHome {
        &self.base
    }
}

impl House {
    fn new(config: &str) -> House {
        let house = House { base: TestHome::new() };
        house.put("home/.config/doorward/config.toml", config);
        house.put("project/.git/HEAD", "ref: refs/heads/main\n");
        house.put("project/.git/refs/heads/main", &format!("{}\n", "1".repeat(40)));
        house.put("project/.git/config", "[remote \"origin\"]\nurl = https://git.example.org/x.git\n");
        house.put("project/notes.txt", "one\n");
        record::begin(&house.dirs()).unwrap();
        let loaded = load::load(&house.dirs(), None, "pi");
        crate::policy::approved_config::accept(&house.dirs(), &loaded, &mut Ledger::open(&house.dirs())).unwrap();
        house
    }

    fn send(&self, agent: Agent, mut payload: Value) {
        payload["cwd"] = json!(self.at("project"));
        let surroundings = Surroundings { agent, dirs: self.dirs(), attended: true, relayed: None };
        hook(payload.to_string().as_bytes(), &surroundings).unwrap();
    }

    fn call(&self, agent: Agent, id: &str, (tool, input): (&str, Value)) {
        self.send(
            agent,
            json!({ "session_id": format!("s-{}", id.len()), "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": input, "tool_use_id": id }),
        );
    }

    fn bash(&self, agent: Agent, id: &str, command: &str) {
        self.call(agent, id, ("Bash", json!({ "command": command })));
    }

    fn log(&self) -> Log {
        Log::open(&record::directory(&self.dirs())).unwrap()
    }

    fn append(&self, body: &impl Body) {
        let _receipt = self.log().append(body, now_ms()).unwrap();
    }

    fn replay(&self, new: &Overrides) -> Replayed {
        let here = Overrides::default();
        replay(&self.log(), 0, &between(&self.dirs(), &here, new), |_| {}).unwrap()
    }

    /// The policy in force, and the same with a change.
    fn with(&self, change: impl Fn(&mut Policy)) -> Replayed {
        let old = Policy::built_in();
        let mut new = old.clone();
        change(&mut new);
        replay(&self.log(), 0, &Policies::everywhere(old, new), |_| {}).unwrap()
    }
}

fn deny(policy: &mut Policy) {
    policy.permissions.deny.extend(Pattern::parse("bash(ls*)"));
}

/// Rows of the corpus as Claude Code would send them; nothing of them runs.
fn rows() -> Vec<(&'static str, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let lines = texts.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let call = |row: Value| {
        let input = |name: &str| row["input"][name].clone();
        Some(match row["tool"].as_str()? {
            "bash" => ("Bash", json!({ "command": input("command") })),
            "read" => ("Read", json!({ "file_path": input("path") })),
            "write" => ("Write", json!({ "file_path": input("path"), "content": input("content") })),
            "fetch" => ("WebFetch", json!({ "url": input("url"), "prompt": "read" })),
            _ => return None,
        })
    };
    lines.filter_map(call).collect()
}

#[test]
fn what_was_decided_is_decided_again_bit_for_bit() {
    let own =
        format!("strict = true\n{CONFIG}[permissions]\nask = [\"fetch\"]\nallow = [\"bash(git push origin x)\"]\n");
    for config in [CONFIG.to_owned(), own] {
        let house = House::new(&config);
        for (number, call) in rows().into_iter().enumerate().filter(|(number, _)| number % 4 == 0) {
            let agent = [Agent::Claude, Agent::Claude, Agent::Codex, Agent::Gemini][number / 4 % 4];
            if agent == Agent::Gemini {
                house.bash(Agent::Qwen, &"q".repeat(1 + number % 40), "git push");
            } else {
                house.call(agent, &format!("{number}-{}", "x".repeat(number / 10)), call);
            }
        }
        // Sessions of their own, so that no row of the corpus decides whether anything is approved.
        (300..303).for_each(|length| house.bash(Agent::Claude, &"y".repeat(length), "pwd"));
        // The user's own words clear a soft question, and a grant lets a call run without changing the judgement.
        let said = json!({ "session_id": "s-5", "hook_event_name": "UserPromptSubmit", "prompt": "push main" });
        house.send(Agent::Claude, said);
        house.bash(Agent::Claude, "words", "git push origin main");
        house.bash(Agent::Claude, "asked", "git push origin other");
        house.bash(Agent::Claude, "copied", "rm notes.txt");
        let desk = GrantStore::open_at(&house.dirs()).unwrap();
        let pending = desk.open_calls().into_iter().find(|pending| pending.needs() <= Clearance::Firm).unwrap();
        let yes =
            say_yes(&desk, &mut Ledger::open(&house.dirs()), &pending.id, ApprovedBy::Typed(&to_type(&pending)), None);
        assert_eq!(yes.unwrap(), ApprovalStep::Granted);
        let replayed = house.replay(&Overrides::default());
        assert!(replayed.judged() > 150, "{}", replayed.judged());
        assert_eq!(replayed.recorded.first, Vec::<String>::new());
        assert_eq!((replayed.recorded.same_policy, replayed.recorded.differing), (replayed.judged(), 0));
        assert_eq!((replayed.all.laxer, replayed.all.stricter), (0, 0));
        assert_eq!((replayed.passed.dropped, replayed.passed.unreadable, replayed.passed.bad), (0, 0, 0));
        let Verdicts { approve, confirm, block } = replayed.all.before;
        let enough = if config.starts_with("strict") { 1 } else { 20 };
        assert!(approve > enough && confirm > 20 && block > 20, "{approve} {confirm} {block}");
    }
}

#[test]
fn a_change_shows_with_everything_about_it() {
    let house = House::new(CONFIG);
    house.bash(Agent::Claude, "one", "git push origin main");
    house.bash(Agent::Claude, "two", "ls");
    house.bash(Agent::Claude, "three", "rm -rf ~");
    let replayed = house.with(deny);
    assert_eq!((replayed.all.laxer, replayed.all.stricter, replayed.judged()), (0, 1, 3));
    let change = &replayed.stricter[0];
    assert_eq!((change.id.as_str(), change.shift, change.call.as_str()), ("two", Shift::Stricter, "ls"));
    assert_eq!((change.before.verdict, change.category.as_str()), (Verdict::AutoApprove, "read"));
    assert_eq!(replayed.categories["read"].stricter, 1);
    let lax = house.with(|policy| policy.rules.clear());
    assert!(lax.laxer.iter().any(|change| change.id == "three" && change.before.verdict == Verdict::Block));
    assert_eq!(lax.bump().as_str(), "major");
}

#[test]
fn regret_and_friction_are_what_became_of_the_decisions_that_move() {
    let house = House::new(CONFIG);
    for id in ["kept", "regretted", "fine-after-all"] {
        house.bash(Agent::Claude, id, "ls");
    }
    let outcome = |decision: &str, became| OutcomeBody::new(decision.into(), became, None);
    house.append(&outcome("regretted", Became::Flagged));
    house.append(&outcome("fine-after-all", Became::Reverted));
    house.append(&outcome("fine-after-all", Became::Fine));
    let worth = house.with(deny).worth;
    assert_eq!((worth.regret_avoided, worth.friction_added, worth.regret_added), (1, 2, 0));
    for id in ["yes", "no", "silent", "yes-and-regretted"] {
        let input = json!({ "url": "https://unlisted.example.org/page", "prompt": "read" });
        house.call(Agent::Claude, id, ("WebFetch", input));
    }
    let answer = |decision: &str, reply| AnswerBody { decision: decision.into(), reply, by: By::Person, why: None };
    house.append(&answer("yes", Reply::Approved));
    house.append(&answer("no", Reply::Declined));
    house.append(&answer("yes-and-regretted", Reply::Approved));
    house.append(&outcome("yes-and-regretted", Became::Reverted));
    let allowing =
        Config::parse(&format!("{CONFIG}[permissions]\nallow = [\"fetch(https://unlisted.example.org/page)\"]\n"))
            .unwrap();
    let replayed = house.replay(&Overrides { config: Some(allowing), ..Overrides::default() });
    assert_eq!(replayed.all.laxer, 4, "{:?}", replayed.laxer);
    assert_eq!((replayed.worth.friction_avoided, replayed.worth.regret_added), (1, 2));
}

#[test]
fn what_cannot_be_judged_again_is_counted() {
    let house = House::new(CONFIG);
    house.bash(Agent::Claude, "one", "ls");
    house.append(&DecisionBody { id: "older".into(), ..DecisionBody::default() });
    let odd = serde_json::value::RawValue::from_string(r#"{"effects":7}"#.into()).unwrap();
    house.append(&DecisionBody { id: "odd".into(), facts: Some(odd), ..DecisionBody::default() });
    let replayed = house.replay(&Overrides::default());
    assert_eq!((replayed.judged(), replayed.passed.unreadable, replayed.passed.bad), (1, 2, 0));
    let folder = record::directory(&house.dirs());
    let current = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| {
        let is_log = |bytes: Vec<u8>| bytes.windows(5).any(|window| window == b"older");
        path.is_file() && std::fs::read(path).is_ok_and(is_log)
    });
    let current = current.unwrap();
    let mut bytes = std::fs::read(&current).unwrap();
    let at = bytes.windows(5).position(|window| window == b"older").unwrap();
    bytes[at] = b'X';
    std::fs::write(&current, bytes).unwrap();
    let replayed = house.replay(&Overrides::default());
    assert_eq!((replayed.judged(), replayed.passed.unreadable, replayed.passed.bad), (1, 1, 1));
}

#[test]
fn a_record_of_the_oldest_format_and_an_empty_one_are_read() {
    let base = tempfile::tempdir().unwrap();
    let empty = Log::create(&base.path().join("empty")).unwrap();
    let policies = || Policies::everywhere(Policy::built_in(), Policy::built_in());
    let replayed = replay(&empty, 0, &policies(), |_| {}).unwrap();
    assert_eq!((replayed.judged(), replayed.confirms_per_day()), (0, (0.0, 0.0)));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger/tests/golden/v1");
    let copy = base.path().join("golden");
    std::fs::create_dir(&copy).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o700)).unwrap();
    let files = ["log", "."].map(|name| golden.join(name)).into_iter().find(|path| path.is_dir()).unwrap();
    for entry in std::fs::read_dir(files).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let replayed = replay(&Log::open(&copy).unwrap(), 0, &policies(), |_| {}).unwrap();
    let passed = replayed.passed;
    assert!(passed.decisions + passed.dropped + passed.unreadable > 0 && passed.bad == 0, "{passed:?}");
    assert_eq!((replayed.all.laxer, replayed.all.stricter), (0, 0));
}

#[test]
fn thresholds_of_the_user_count_once_a_person_accepted_what_they_loosen() {
    let house = House::new(CONFIG);
    let wanted = || load::load(&house.dirs(), None, "claude").policy(doorward_engine::Mode::Auto).unwrap();
    let plain = wanted();
    house.put(
        "home/.config/doorward/thresholds.toml",
        "reads_per_minute = 9000\nread_bytes = 99999999\n[by_operation]\ndelete = 0.97\n",
    );
    let policy = wanted();
    let delete = doorward_engine::Operation::Delete;
    assert_eq!(policy.thresholds.wanted(Some(delete), false), 0.97);
    assert_eq!(policy.thresholds.reads_per_minute, plain.thresholds.reads_per_minute);
    assert_ne!(policy.version, plain.version);
    let accept = |loaded| {
        crate::policy::approved_config::accept(&house.dirs(), loaded, &mut Ledger::open(&house.dirs())).unwrap()
    };
    let loaded = load::load(&house.dirs(), None, "pi");
    assert_eq!(loaded.unaccepted_sentences(), Vec::<String>::new(), "a limit that nobody can raise loosens nothing");
    accept(&loaded);
    assert_eq!(wanted().thresholds.reads_per_minute, plain.thresholds.reads_per_minute);
    // Taking it back is loosening.
    house.put("home/.config/doorward/thresholds.toml", "");
    assert_eq!(wanted().thresholds.wanted(Some(delete), false), 0.97);
    let loaded = load::load(&house.dirs(), None, "pi");
    assert!(loaded.unaccepted_sentences().concat().contains("thresholds.toml"), "{:?}", loaded.unaccepted);
    accept(&loaded);
    assert_eq!(wanted().thresholds.wanted(Some(delete), false), 0.85);
    house.put("home/.config/doorward/thresholds.toml", "confidence = 0.5\n");
    let loaded = load::load(&house.dirs(), None, "claude");
    assert!(
        loaded.config.strict && loaded.problems[0].contains("but must be between 0.85 and 1"),
        "{:?}",
        loaded.problems
    );
}

#[test]
fn an_upgrade_is_held_against_the_record_and_keeps_the_old_thresholds_until_it_is_accepted() {
    let house = House::new(CONFIG);
    house.bash(Agent::Claude, "one", "ls");
    let room = || LedgerView::open(house.dirs()).unwrap();
    assert_eq!(upgrade::waiting(&room(), |_| {}).unwrap(), None);
    let older = |verdict| {
        let record = house.log().records().unwrap().map(Result::unwrap).find_map(|record| {
            let body: DecisionBody = serde_json::from_slice(record.body.as_deref()?).ok()?;
            (body.id == "one").then_some(body)
        });
        let mut body = record.unwrap();
        (body.id, body.verdict) = ("older".into(), verdict);
        body.versions.insert("knowledge".to_owned(), "another".to_owned());
        body
    };
    house.append(&older(doorward_vocabulary::Verdict::AutoApprove));
    crate::policy::approved_config::pretend_build(&house.dirs(), "0.0.9", 0.85);
    assert_eq!(upgrade::waiting(&room(), |_| {}).unwrap(), None, "nothing gets laxer, so nobody is asked");
    house.append(&older(doorward_vocabulary::Verdict::Confirm));
    crate::policy::approved_config::pretend_build(&house.dirs(), "0.0.9", 0.93);
    let waiting = upgrade::waiting(&room(), |_| {}).unwrap().unwrap();
    assert_eq!((waiting.laxer, waiting.stricter, waiting.from.as_str()), (1, 0, "0.0.9"));
    assert!(waiting.sentence().contains("1 of 3 recorded decisions would get laxer"), "{}", waiting.sentence());
    let confidence = || {
        let policy = load::load(&house.dirs(), None, "claude").policy(doorward_engine::Mode::Auto).unwrap();
        policy.thresholds.confidence
    };
    assert_eq!(confidence(), 0.93);
    crate::policy::approved_config::accept_build(&house.dirs()).unwrap();
    assert_eq!((confidence(), upgrade::waiting(&room(), |_| {}).unwrap()), (0.85, None));
}
