//! An agent edits a real file of a real repository through the hook; then something happens to it.

use doorward_ledger::{Became, OutcomeBody};
use serde_json::{Value, json};

use super::reverts;
use crate::desk::audit;
use crate::hook::{Surroundings, answer as hook};
use crate::machine::agent::Agent;
use crate::memory::snapshots::tests::room::Room;

const OLD: &str = "fn a() {}\n";
const NEW: &str = "fn b() {}\n";

fn committed() -> Room {
    let room = Room::new();
    room.put("src/a.rs", OLD);
    // Long ago, for git notes only seconds.
    let commit = "GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git commit -qm first";
    assert!(room.shell(&format!("git add -A && {commit} && git branch other")));
    room
}

/// One edit by the agent, in a turn: asked about, made, and reported.
fn edit(room: &Room, id: &str, turn: &str, old: &str, new: &str) {
    let input = json!({ "file_path": room.at("src/a.rs"), "old_string": old, "new_string": new });
    let tell = |event: &str| {
        let mut payload = room.payload(id, "Edit", input.clone(), event);
        payload["prompt_id"] = turn.into();
        let surroundings = Surroundings::new(Agent::Claude, room.dirs());
        hook(payload.to_string().as_bytes(), &surroundings).unwrap().stdout
    };
    let answer: Value = serde_json::from_str(&tell("PreToolUse")).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow", "{answer}");
    let path = room.at("src/a.rs");
    let text = std::fs::read_to_string(&path).unwrap().replace(old, new);
    std::fs::write(&path, text).unwrap();
    tell("PostToolUse");
}

fn taken_back(room: &Room) -> Vec<OutcomeBody> {
    reverts::find(&audit::LedgerView::open(room.dirs()).unwrap(), 0).unwrap()
}

fn ids(found: &[OutcomeBody]) -> Vec<&str> {
    found.iter().map(|outcome| outcome.decision.as_str()).collect()
}

#[test]
fn what_a_person_puts_back_in_a_terminal_or_editor_is_taken_back() {
    for command in
        ["git restore src/a.rs", "git checkout -- .", "git reset -q --hard", "printf 'fn a() {}\\n' > src/a.rs"]
    {
        let room = committed();
        edit(&room, "e1", "t1", OLD, NEW);
        assert_eq!(ids(&taken_back(&room)), Vec::<&str>::new(), "{command}: before");
        wait();
        assert!(room.shell(command), "{command}");
        let found = taken_back(&room);
        assert_eq!((ids(&found), found[0].became), (vec!["e1"], Became::Reverted), "{command}");
        assert!(found[0].detail.as_ref().unwrap().contains("by hand"), "{:?}", found[0]);
    }
}

#[test]
fn what_is_put_back_between_two_edits_is_found_although_the_file_changed_again() {
    let room = committed();
    edit(&room, "e1", "t1", OLD, NEW);
    wait();
    assert!(room.shell("git restore src/a.rs"));
    edit(&room, "e2", "t1", OLD, "fn c() {}\n");
    assert_eq!(ids(&taken_back(&room)), ["e1"]);
}

#[test]
fn what_is_committed_put_aside_or_left_on_another_branch_is_not_taken_back() {
    for command in [
        "git commit -qam second && git checkout -q other",
        "git stash -q",
        "touch src/a.rs",
        "printf 'fn mine() {}\\n' > src/a.rs",
        "rm src/a.rs",
    ] {
        let room = committed();
        edit(&room, "e1", "t1", OLD, NEW);
        wait();
        assert!(room.shell(command), "{command}");
        assert_eq!(ids(&taken_back(&room)), Vec::<&str>::new(), "{command}");
    }
}

#[test]
fn what_the_agent_takes_back_counts_if_a_person_spoke_in_between() {
    for (turn, expected) in [("t1", &[][..]), ("t2", &["e1"])] {
        let room = committed();
        edit(&room, "e1", "t1", OLD, NEW);
        edit(&room, "e2", turn, NEW, OLD);
        assert_eq!(ids(&taken_back(&room)), expected, "{turn}");
    }
}

/// The record keeps milliseconds, and some file systems count time in jiffies.
fn wait() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}
