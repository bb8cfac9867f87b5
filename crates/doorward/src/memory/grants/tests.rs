//! Grants from end to end: asked, approved and used through the same functions as in life.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use doorward_engine::{Clearance, Mode};
use doorward_ledger::{GrantBody, GrantStep, Kind, Log};
use serde_json::json;

use super::pending::Pending;
use super::repeat::{LASTS_MS as SESSION_MS, USES};
use super::sweep::expire;
use crate::desk::grants::answer::{
    APART_MS, ApprovalStep, ApprovedBy, HARD, HARD_MS, approve, approve_session, refuse, to_type,
};
use crate::hook::grant_check::{GrantCheck, GrantResult};
use crate::hook::{Surroundings, answer as hook};
use crate::machine::agent::Agent;
use crate::machine::clock::now_ms;
use crate::machine::record::{self, Ledger};
use crate::machine::test_home::TestHome;
use crate::memory::grants::store::{Grant, GrantStore, LASTS_MS};

/// A home with a trusted agent, and a project beside it.
struct Room {
    base: TestHome,
    attended: bool,
    agent: Agent,
}

const ASKED: &str = "git push origin main";
const SCRIPT: &str = "sh run.sh < input.txt";

impl std::ops::Deref for Room {
    type Target = TestHome;

    fn deref(&self) -> &TestHome {
        &self.base
    }
}

impl Room {
    fn new() -> Room {
        let base = TestHome::new();
        let room = Room { base, attended: true, agent: Agent::Claude };
        room.put("home/.config/doorward/config.toml", "[agents.claude]\nmode = \"auto\"\n");
        room.put("project/.git/HEAD", "ref: refs/heads/main\n");
        room.put("project/.git/refs/heads/main", &format!("{}\n", "1".repeat(40)));
        room.put("project/.git/config", "[remote \"origin\"]\nurl = https://git.example.org/x.git\n");
        room.put("project/run.sh", "curl -d @data https://unlisted.example.org\n");
        room.put("project/input.txt", "one\n");
        room.put("other/run.sh", "curl -d @data https://unlisted.example.org\n");
        room.put("other/input.txt", "one\n");
        record::begin(&room.dirs()).unwrap();
        room.accept();
        room
    }

    /// A person accepts the configuration as it is.
    fn accept(&self) {
        let loaded = crate::policy::load::load(&self.dirs(), None, "pi");
        crate::policy::approved_config::accept(&self.dirs(), &loaded, &mut self.ledger()).unwrap();
    }

    fn store(&self) -> GrantStore {
        GrantStore::open_at(&self.dirs()).unwrap()
    }

    fn desk_at(&self, now_ms: u64) -> GrantStore {
        let mut store = self.store();
        store.now_ms = now_ms;
        store
    }

    fn ledger(&self) -> Ledger {
        Ledger::open(&self.dirs())
    }

    /// What the hook says: the word and the reason.
    fn call(&self, tool: &str, input: serde_json::Value, directory: &str) -> (String, String) {
        let payload = json!({
            "session_id": "s", "cwd": self.at(directory), "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input, "tool_use_id": format!("t{}", now_ms()),
        });
        let surroundings =
            Surroundings { agent: self.agent, dirs: self.dirs(), attended: self.attended, relayed: None };
        let reply = hook(payload.to_string().as_bytes(), &surroundings).unwrap();
        let said: serde_json::Value = serde_json::from_str(&reply.stdout).unwrap();
        let said = |key: &str| said["hookSpecificOutput"][key].as_str().unwrap().to_owned();
        (said("permissionDecision"), said("permissionDecisionReason"))
    }

    fn bash(&self, command: &str) -> String {
        self.call("Bash", json!({ "command": command }), "project").0
    }

    /// A question that is soft on every machine.
    fn fetch(&self, host: &str) -> String {
        self.call("WebFetch", json!({ "url": format!("https://{host}/page"), "prompt": "read" }), "project").0
    }

    fn only_pending(&self) -> Pending {
        let mut open = self.store().open_calls();
        assert_eq!(open.len(), 1, "{open:?}");
        open.remove(0)
    }

    /// Says yes in whatever way the call wants, however long that takes.
    fn approve(&self, pending: &Pending) {
        self.approve_at(pending, now_ms());
    }

    fn approve_at(&self, pending: &Pending, now_ms: u64) {
        let typed = to_type(pending);
        let yes = |at| {
            approve(
                &self.desk_at(at),
                &mut self.ledger(),
                &pending.id,
                ApprovedBy::Typed(&typed),
                Some("needed".into()),
            )
        };
        if pending.needs() == Clearance::Dual {
            assert_eq!(yes(now_ms - APART_MS - 1).unwrap(), ApprovalStep::FirstOfTwo(APART_MS));
        }
        assert_eq!(yes(now_ms).unwrap(), ApprovalStep::Granted);
    }

    /// The steps of all grants in the record, with their reasons.
    fn steps(&self) -> Vec<(GrantStep, Option<String>)> {
        let log = Log::open(&record::directory(&self.dirs())).unwrap();
        let grants = log.records().unwrap().map(Result::unwrap).filter(|record| record.header.kind == Kind::Grant);
        let body =
            |record: doorward_ledger::Record| serde_json::from_slice::<GrantBody>(&record.body.unwrap()).unwrap();
        grants.map(body).map(|body| (body.step, body.why)).collect()
    }

    fn grant_files(&self) -> Vec<PathBuf> {
        let listed = std::fs::read_dir(self.at("home/.local/state/doorward/grants"));
        listed.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
fn a_yes_lets_exactly_this_call_run_once_and_is_recorded() {
    let room = Room::new();
    assert_eq!(room.bash(ASKED), "ask");
    room.approve(&room.only_pending());
    assert_eq!(room.bash("git push origin other"), "ask", "another call");
    let (said, why) = room.call("Bash", json!({ "command": ASKED }), "project");
    assert_eq!(said, "allow", "{why}");
    assert!(why.contains("a person approved exactly this call"), "{why}");
    assert_eq!(room.bash(ASKED), "ask", "used up");
    let why = Some("needed".to_owned());
    assert_eq!(room.steps(), [(GrantStep::Stored, why.clone()), (GrantStep::Used, why)]);
    assert_eq!(room.grant_files(), Vec::<PathBuf>::new());
}

#[test]
fn a_refusal_names_the_way_to_a_yes_where_the_agent_cannot_ask() {
    let room = Room { agent: Agent::Codex, ..Room::new() };
    room.put("home/.config/doorward/config.toml", "[agents.codex]\nmode = \"auto\"\n");
    room.accept();
    let (said, why) = room.call("Bash", json!({ "command": ASKED }), "project");
    let pending = room.only_pending();
    assert_eq!(said, "deny");
    assert!(why.contains(&format!("`doorward approve {}`", pending.id)), "{why}");
}

#[test]
fn a_yes_counts_where_nobody_seems_to_attend_the_session() {
    let room = Room { attended: false, ..Room::new() };
    assert_eq!(room.bash(ASKED), "ask");
    room.approve(&room.only_pending());
    assert_eq!(room.bash(ASKED), "allow");
    assert_eq!(room.bash(ASKED), "ask");
}

#[test]
fn a_yes_does_not_count_for_anything_that_has_changed() {
    let check = |what: &str, spoil: &dyn Fn(&Room), expected: bool| {
        let room = Room::new();
        symlink("input.txt", room.at("project/link")).unwrap();
        let command = format!("{SCRIPT} > out.txt; cat link");
        assert_ne!(room.bash(&command), "allow");
        room.approve(&room.only_pending());
        spoil(&room);
        assert_eq!(room.bash(&command) == "allow", expected, "{what}");
    };
    check("nothing", &|_| {}, true);
    check("another file", &|room| room.put("project/sub/unrelated.txt", "x"), true);
    check("the script", &|room| room.put("project/run.sh", "rm -rf ~\n"), false);
    check("the input", &|room| room.put("project/input.txt", "two\n"), false);
    check("what is overwritten", &|room| room.put("project/out.txt", "precious\n"), false);
    let relink = |room: &Room| {
        room.put("project/sub/input.txt", "one\n");
        std::fs::remove_file(room.at("project/link")).unwrap();
        symlink("sub/input.txt", room.at("project/link")).unwrap();
    };
    check("a link", &relink, false);
    let exchange = |room: &Room| {
        std::fs::rename(room.at("project"), room.at("aside")).unwrap();
        symlink(room.at("aside"), room.at("project")).unwrap();
    };
    check("the directory", &exchange, false);
    let configure = |text: &'static str| {
        move |room: &Room| {
            room.put("home/.config/doorward/config.toml", &format!("[agents.claude]\nmode = \"auto\"\n{text}"));
        }
    };
    check("nothing in the configuration", &configure(""), true);
    check("the configuration", &configure("[permissions]\nask = [\"bash(frob *)\"]\n"), false);
    // What is loosened counts from the next session on, so nothing has changed yet.
    check("what is loosened", &configure("[permissions]\nallow = [\"bash(sh *)\"]\n"), true);
    check("the rules of the project", &|room| room.put("project/.doorward.toml", "strict = true\n"), false);
    check("damaged", &|room| std::fs::write(room.grant_files().pop().unwrap(), "{}").unwrap(), false);
    check("the key", &|room| std::fs::remove_file(room.at("home/.local/state/doorward/grants.key")).unwrap(), false);
}

#[test]
fn a_yes_is_for_one_directory_and_one_input() {
    let room = Room::new();
    assert_ne!(room.bash(SCRIPT), "allow");
    room.approve(&room.only_pending());
    let elsewhere = room.call("Bash", json!({ "command": SCRIPT }), "other").0;
    assert_ne!(elsewhere, "allow", "another directory");
    let changed = room.call("Bash", json!({ "command": SCRIPT, "run_in_background": true }), "project").0;
    assert_ne!(changed, "allow", "other input");
    assert_ne!(room.bash(&format!("{SCRIPT} ")), "allow", "other bytes");
    assert_eq!(room.bash(SCRIPT), "allow");
}

#[test]
fn a_push_is_approved_with_the_commits_that_are_there() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    room.approve(&room.only_pending());
    room.put("project/.git/refs/heads/main", &format!("{}\n", "2".repeat(40)));
    assert_eq!(room.bash(ASKED), "ask");
}

#[test]
fn an_old_yes_does_not_count_and_its_end_is_recorded() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    room.approve_at(&room.only_pending(), now_ms() - LASTS_MS - 1000);
    assert_eq!(room.bash(ASKED), "ask");
    assert_eq!(room.bash(ASKED), "ask");
    let steps: Vec<GrantStep> = room.steps().into_iter().map(|(step, _)| step).collect();
    assert_eq!(steps, [GrantStep::Stored, GrantStep::Expired]);
}

#[test]
fn a_yes_that_nobody_used_ends_in_the_record_too() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    room.approve(&room.only_pending());
    let _asked = room.fetch("wiki.unlisted.example.org");
    let pending = room.only_pending();
    approve_session(&room.store(), &mut room.ledger(), &pending.id, &to_type(&pending), None).unwrap();
    let sweep = |at: u64| expire(&room.desk_at(at), &mut room.ledger());
    let ended = || room.steps().into_iter().filter(|(step, _)| *step == GrantStep::Expired).count();
    sweep(now_ms());
    assert_eq!((ended(), room.grant_files().len()), (0, 1), "still good");
    sweep(now_ms() + LASTS_MS + 1000);
    assert_eq!((ended(), room.grant_files().len()), (1, 0));
    sweep(now_ms() + SESSION_MS + 1000);
    sweep(now_ms() + SESSION_MS + 1000);
    assert_eq!(ended(), 2, "once each");
    assert_eq!((room.bash(ASKED), room.fetch("wiki.unlisted.example.org")), ("ask".to_owned(), "ask".to_owned()));
}

#[test]
fn a_yes_from_the_future_does_not_count() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    room.approve_at(&room.only_pending(), now_ms() + 60_000);
    assert_eq!(room.bash(ASKED), "ask");
}

#[test]
fn a_grant_put_back_after_its_use_or_unknown_to_the_record_does_not_count() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    let pending = room.only_pending();
    room.approve(&pending);
    let file = room.grant_files().pop().unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let put_back = || {
        std::fs::write(&file, &bytes).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    };
    assert_eq!(room.bash(ASKED), "allow");
    put_back();
    let (said, why) = room.call("Bash", json!({ "command": ASKED }), "project");
    assert!(said == "ask" && why.contains("it was used before"), "{said} {why}");
    let policy = |bound: &crate::memory::grants::binding::Binding| crate::memory::grants::binding::Binding {
        policy: "0".repeat(64),
        ..bound.clone()
    };
    assert_eq!(
        pending.bound.difference(&policy(&pending.bound)).unwrap(),
        "rules, configuration, trust or mode have changed",
        "another version of the policy"
    );
    let forged = Grant {
        grant: "f".repeat(32),
        pending: pending.id.clone(),
        bound: pending.bound.clone(),
        clears: Clearance::Dual,
        stored_ms: now_ms(),
        why: None,
    };
    room.store().grants.store(&forged.bound.call, &forged).unwrap();
    let (said, why) = room.call("Bash", json!({ "command": ASKED }), "project");
    assert!(said == "ask" && why.contains("it is not on record"), "{said} {why}");
}

#[test]
fn of_a_thousand_calls_that_race_for_a_yes_exactly_one_runs() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    room.approve(&room.only_pending());
    let dirs = room.dirs();
    let cwd = room.at("project").to_str().unwrap().to_owned();
    let mut call = doorward_engine::ToolCall::bash(ASKED, cwd.clone());
    (call.agent, call.session) = ("claude".into(), "s".into());
    let mut loaded = crate::policy::load::load(&dirs, Some(&cwd), "claude");
    crate::policy::session_policy::hold(&dirs, "s", &mut loaded);
    let policy = loaded.policy(Mode::Auto).unwrap();
    // Forty at once are more than any machine runs side by side, and few enough for one that allows few threads.
    let (at_once, ready) = (40, Barrier::new(40));
    let (through, refused) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                let session = std::rc::Rc::new(crate::memory::session::Session::open(&dirs, "s"));
                let world = crate::memory::world::disk::DiskWorld::new(&dirs, &cwd, Some(cwd.clone()), &loaded)
                    .in_session(session);
                let evaluation = crate::memory::evaluation::evaluate(&call, &world, &policy);
                let (mode, key) = (Mode::Auto, [0; 16]);
                let door = GrantCheck {
                    dirs: &dirs,
                    call: &call,
                    mode,
                    loaded: &loaded,
                    project: Some(&cwd),
                    key,
                    rehearsal: None,
                };
                ready.wait();
                for _ in 0..1000 / at_once {
                    match door.redeem(&evaluation, "d") {
                        GrantResult::Cleared(_) => _ = through.fetch_add(1, Ordering::Relaxed),
                        found @ (GrantResult::Nothing(_) | GrantResult::Expired(_)) => {
                            refused.lock().unwrap().insert(format!("{found:?}"));
                        }
                    }
                }
            });
        }
    });
    assert_eq!(through.load(Ordering::Relaxed), 1, "{refused:?}");
}

#[test]
fn what_a_rule_blocks_wants_its_target_typed() {
    let room = Room::new();
    room.put(
        "home/.config/doorward/config.toml",
        "[agents.claude]\nmode = \"auto\"\n[permissions]\ndeny = [\"bash(git push*)\"]\n",
    );
    assert_eq!(room.bash(ASKED), "deny");
    let pending = room.only_pending();
    assert_eq!(pending.needs(), Clearance::Hard);
    let say = |yes| approve(&room.store(), &mut room.ledger(), &pending.id, yes, None);
    assert!(say(ApprovedBy::Key).unwrap_err().to_string().contains("one key can't approve"));
    assert!(say(ApprovedBy::Typed("yes")).unwrap_err().to_string().contains("not approved"));
    assert!(say(ApprovedBy::Typed("")).is_err());
    assert_eq!(room.bash(ASKED), "deny");
    assert_eq!(say(ApprovedBy::Typed(&to_type(&pending))).unwrap(), ApprovalStep::Granted);
    assert_eq!(room.bash(ASKED), "allow");
    assert_eq!(room.bash(ASKED), "deny");
}

#[test]
fn the_gravest_want_two_steps_half_a_minute_apart() {
    let room = Room::new();
    let command = "rm -rf ~/.ssh";
    assert_eq!(room.bash(command), "deny");
    let pending = room.only_pending();
    assert_eq!(pending.needs(), Clearance::Dual);
    let typed = to_type(&pending);
    assert!(typed.ends_with(".ssh"), "{typed}");
    let start = now_ms();
    let say =
        |at: u64| approve(&room.desk_at(at), &mut room.ledger(), &pending.id, ApprovedBy::Typed(&typed), None).unwrap();
    assert_eq!(say(start), ApprovalStep::FirstOfTwo(APART_MS));
    assert_eq!(room.bash(command), "deny", "one step lets nothing run, and asking again forgets nothing");
    assert_eq!(say(start + 1000), ApprovalStep::FirstOfTwo(APART_MS - 1000), "too soon, and no new first step");
    assert_eq!(say(start - 5000), ApprovalStep::FirstOfTwo(APART_MS), "a clock set back begins anew");
    assert_eq!(say(start + 20 * 60_000), ApprovalStep::FirstOfTwo(APART_MS), "too late begins anew");
    assert_eq!(say(start - APART_MS - 1), ApprovalStep::FirstOfTwo(APART_MS));
    assert!(room.grant_files().is_empty());
    assert_eq!(say(start), ApprovalStep::Granted);
    assert_eq!(room.bash(command), "allow");
    assert_eq!(room.bash(command), "deny");
}

#[test]
fn overriding_rules_is_limited_by_the_hour_and_questions_are_not() {
    let room = Room::new();
    let configure = "[agents.claude]\nmode = \"auto\"\n[permissions]\ndeny = [\"bash(git push*)\"]\n";
    room.put("home/.config/doorward/config.toml", configure);
    let wait = |number: usize| {
        let command = format!("git push origin b{number}");
        assert_ne!(room.bash(&command), "allow");
        room.store().open_calls().into_iter().find(|pending| pending.call == command).unwrap()
    };
    let say = |number: usize, at: u64| {
        let pending = wait(number);
        let typed = to_type(&pending);
        approve(&room.desk_at(at), &mut room.ledger(), &pending.id, ApprovedBy::Typed(&typed), Some("x".into()))
    };
    for number in 0..HARD {
        assert_eq!(say(number, now_ms()).unwrap(), ApprovalStep::Granted);
    }
    let refused = say(HARD, now_ms()).unwrap_err().to_string();
    assert!(refused.contains("the limit is 5") && refused.contains("in 60 minutes"), "{refused}");
    assert_eq!(room.grant_files().len(), HARD);
    let _asked = room.fetch("wiki.unlisted.example.org");
    let soft = room.store().open_calls().into_iter().find(|pending| pending.needs() <= Clearance::Firm).unwrap();
    room.approve(&soft);
    assert_eq!(say(HARD, now_ms() + HARD_MS + 1000).unwrap(), ApprovalStep::Granted, "an hour later");
}

#[test]
fn a_no_takes_a_yes_back() {
    let room = Room::new();
    let _asked = room.bash(ASKED);
    let pending = room.only_pending();
    room.approve(&pending);
    refuse(&room.store(), &mut room.ledger(), &pending.id, Some("not now".into())).unwrap();
    assert!(room.grant_files().is_empty());
    assert!(refuse(&room.store(), &mut room.ledger(), &pending.id, None).is_err());
    assert_eq!(room.bash(ASKED), "ask");
    assert_eq!(room.steps().last().unwrap(), &(GrantStep::Withdrawn, Some("not now".to_owned())));
}

#[test]
fn ids_that_are_unknown_used_or_outdated_say_so() {
    let room = Room::new();
    let say = |id: &str| approve(&room.store(), &mut room.ledger(), id, ApprovedBy::Key, None).unwrap_err().to_string();
    assert!(say("zzz").contains("no call has the id"));
    let _asked = room.bash(ASKED);
    let pending = room.only_pending();
    room.put("project/.git/refs/heads/main", "new\n");
    assert!(say(&pending.id).contains("changed after the call was judged"));
    room.put("project/.git/refs/heads/main", &format!("{}\n", "1".repeat(40)));
    room.approve(&pending);
    assert!(say(&pending.id).contains("already approved"));
    assert_eq!(room.bash(ASKED), "allow");
    assert!(say(&pending.id).contains("has already run"));
}

#[test]
fn a_yes_for_the_session_covers_calls_like_it_and_no_others() {
    let room = Room::new();
    assert_eq!(room.fetch("wiki.unlisted.example.org"), "ask");
    let pending = room.only_pending();
    assert_eq!(pending.needs(), Clearance::Soft, "{:?}", pending.reasons);
    let say = |typed: &str| approve_session(&room.store(), &mut room.ledger(), &pending.id, typed, Some("many".into()));
    assert!(say("y").is_err());
    say(&to_type(&pending)).unwrap();
    assert_eq!(room.fetch("other.unlisted.example.org"), "ask", "another host");
    for use_ in 0..USES {
        assert_eq!(room.fetch("wiki.unlisted.example.org"), "allow", "{use_}");
    }
    assert_eq!(room.fetch("wiki.unlisted.example.org"), "ask", "twenty uses and no more");
    assert_eq!(room.steps().len(), 1 + USES as usize);
}

#[test]
fn a_yes_for_the_session_ends_with_time_policy_and_session() {
    let with = |stored_ms: u64, spoil: &dyn Fn(&Room)| {
        let room = Room::new();
        let _asked = room.fetch("wiki.unlisted.example.org");
        let pending = room.only_pending();
        let typed = to_type(&pending);
        approve_session(&room.desk_at(stored_ms), &mut room.ledger(), &pending.id, &typed, None).unwrap();
        spoil(&room);
        room.fetch("wiki.unlisted.example.org")
    };
    assert_eq!(with(now_ms(), &|_| {}), "allow");
    assert_eq!(with(now_ms() - SESSION_MS - 1000, &|_| {}), "ask");
    assert_ne!(with(now_ms(), &|room| room.put("project/.doorward.toml", "strict = true\n")), "allow");
    assert_eq!(
        with(now_ms(), &|room| room.put("project/.doorward.toml", "[hosts]\ndenied = [\"x.example\"]\n")),
        "ask"
    );
}

#[test]
fn a_hard_or_unclear_question_has_no_yes_for_the_session() {
    let room = Room::new();
    for command in ["rm -rf ~/.ssh", "sh run.sh", "frobnicate --all", "git push --force origin main"] {
        assert_ne!(room.bash(command), "allow");
    }
    for pending in room.store().open_calls() {
        let typed = to_type(&pending);
        assert!(approve_session(&room.store(), &mut room.ledger(), &pending.id, &typed, None).is_err(), "{pending:?}");
    }
}

#[test]
fn nothing_is_put_down_in_shadow_and_secrets_are_not_kept() {
    let room = Room::new();
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let _asked =
        room.call("Write", json!({ "file_path": room.at("home/x"), "content": format!("t={secret}\n") }), "project");
    let pending = room.only_pending();
    assert_eq!(pending.changes.len(), 1);
    assert!(!format!("{pending:?}").contains(secret), "{pending:?}");
    let room = Room::new();
    room.put("home/.config/doorward/config.toml", "[agents.claude]\nmode = \"shadow\"\n");
    room.accept();
    let payload = json!({
        "session_id": "s", "cwd": room.at("project"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": ASKED }, "tool_use_id": "t",
    });
    let surroundings =
        Surroundings { agent: crate::machine::agent::Agent::Claude, dirs: room.dirs(), attended: true, relayed: None };
    assert_eq!(hook(payload.to_string().as_bytes(), &surroundings).unwrap().stdout, "");
    assert!(room.store().open_calls().is_empty());
}

/// What the hook says to a call of one session, and of one of its subagents if that is named.
fn said_to(room: &Room, session: &str, subagent: &str, input: serde_json::Value) -> String {
    let mut payload = json!({
        "session_id": session, "cwd": room.at("project"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": input, "tool_use_id": format!("t{}", now_ms()),
    });
    if !subagent.is_empty() {
        payload["agent_id"] = json!(subagent);
    }
    let surroundings = Surroundings { agent: room.agent, dirs: room.dirs(), attended: room.attended, relayed: None };
    let reply = hook(payload.to_string().as_bytes(), &surroundings).unwrap();
    let said: serde_json::Value = serde_json::from_str(&reply.stdout).unwrap();
    said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

#[test]
fn a_yes_is_to_the_session_and_the_subagent_that_asked() {
    let push = || json!({ "command": ASKED });
    let others = [("s", ""), ("s", "a"), ("s", "b"), ("t", ""), ("t", "a")];
    for (session, subagent) in [("s", ""), ("s", "a")] {
        let room = Room::new();
        assert_ne!(said_to(&room, session, subagent, push()), "allow");
        let pending = room.only_pending();
        assert_eq!((pending.session.as_str(), pending.subagent.as_str()), (session, subagent));
        room.approve(&pending);
        for (other, another) in others.into_iter().filter(|one| *one != (session, subagent)) {
            assert_ne!(said_to(&room, other, another, push()), "allow", "{session} {subagent}: {other} {another}");
        }
        assert_eq!(said_to(&room, session, subagent, push()), "allow");
        assert_ne!(said_to(&room, session, subagent, push()), "allow", "it was for once");
    }
}

#[test]
fn a_yes_for_a_session_is_none_for_its_subagents() {
    let room = Room::new();
    let fetch = |subagent: &str| {
        let mut payload = json!({
            "session_id": "s", "cwd": room.at("project"), "hook_event_name": "PreToolUse", "tool_name": "WebFetch",
            "tool_input": { "url": "https://wiki.example.org/page", "prompt": "read" }, "tool_use_id": format!("t{}", now_ms()),
        });
        if !subagent.is_empty() {
            payload["agent_id"] = json!(subagent);
        }
        let surroundings =
            Surroundings { agent: room.agent, dirs: room.dirs(), attended: room.attended, relayed: None };
        let reply = hook(payload.to_string().as_bytes(), &surroundings).unwrap();
        reply.stdout.contains("\"allow\"")
    };
    assert!(!fetch(""));
    let pending = room.only_pending();
    approve_session(&room.store(), &mut room.ledger(), &pending.id, &to_type(&pending), Some("needed".into())).unwrap();
    assert!(!fetch("a"));
    assert!(fetch("") && fetch(""));
}

#[test]
fn a_yes_inside_the_sandbox_is_none_outside_it() {
    let room = Room::new();
    let inside = || json!({ "command": ASKED });
    let outside = || json!({ "command": ASKED, "dangerouslyDisableSandbox": true });
    assert_ne!(said_to(&room, "s", "", inside()), "allow");
    room.approve(&room.only_pending());
    assert_ne!(said_to(&room, "s", "", outside()), "allow");
    let shown =
        room.store().open_calls().into_iter().find(|pending| pending.reasons.iter().any(|why| why.contains("sandbox")));
    let shown = shown.unwrap();
    let page: Vec<String> = crate::desk::grants::show::lines(&shown, 90, crate::desk::grants::show::Detail::Usual)
        .into_iter()
        .map(|line| line.text)
        .collect();
    assert!(page.iter().any(|line| line.contains("the agent's sandbox")), "{page:?}");
    assert_eq!(said_to(&room, "s", "", inside()), "allow", "the yes is still there");
    room.approve(&shown);
    assert_ne!(said_to(&room, "s", "", inside()), "allow");
    assert_eq!(said_to(&room, "s", "", outside()), "allow");
}

#[test]
fn a_harmless_command_outside_the_sandbox_asks() {
    let room = Room::new();
    assert_eq!(said_to(&room, "s", "", json!({ "command": "ls" })), "allow");
    assert_eq!(said_to(&room, "s", "", json!({ "command": "ls", "dangerouslyDisableSandbox": false })), "allow");
    assert_eq!(said_to(&room, "s", "", json!({ "command": "ls", "dangerouslyDisableSandbox": true })), "ask");
}
