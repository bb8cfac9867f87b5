//! What happened later is found in the record and in transcripts, once.

use doorward_engine::{Coverage, Effect, Mark, Operation, Part, Reach, Reversibility, Scope, Sensitivity, Target};
use doorward_ledger::{Became, DecisionBody, OutcomeBody};
use doorward_vocabulary::Verdict;
use serde_json::json;

use super::*;
use crate::machine::clock::now_ms;
use crate::machine::record;

struct Desk {
    base: tempfile::TempDir,
}

impl Desk {
    fn new() -> Desk {
        let desk = Desk { base: tempfile::tempdir().unwrap() };
        record::begin(&desk.dirs()).unwrap();
        desk
    }

    fn dirs(&self) -> Dirs {
        Dirs::at(self.base.path().to_str().unwrap())
    }

    fn room(&self) -> LedgerView {
        LedgerView::open(self.dirs()).unwrap()
    }

    fn append(&self, body: &impl doorward_ledger::Body) {
        let mut room = self.room();
        let _receipt = room.log.append(body, now_ms()).unwrap();
    }

    /// A decision about one effect on a file; it ran if it was approved.
    fn decided(&self, id: &str, verdict: Verdict, effect: Effect) {
        let facts = json!({ "effects": [effect], "coverage": Coverage::full() });
        let facts = serde_json::value::to_raw_value(&facts).unwrap();
        let decision = DecisionBody {
            id: id.into(),
            session: Some("s".into()),
            tool: "bash".into(),
            call: format!("command {id}"),
            facts: Some(facts),
            verdict,
            ..DecisionBody::default()
        };
        self.append(&decision);
        if verdict == Verdict::AutoApprove {
            self.append(&OutcomeBody::new(id.into(), Became::Ran, None));
        }
    }
}

fn effect(by: &str, path: &str, marks: &[Mark]) -> Effect {
    Effect {
        operation: Operation::Write,
        target: Target::Path(path.to_owned()),
        scope: Scope::File,
        reversibility: Reversibility::Tracked,
        reach: Reach::Workspace,
        sensitivity: Sensitivity::None,
        marks: marks.iter().copied().collect(),
        by: by.to_owned(),
        part: Part::default(),
        amount: None,
        dependents: None,
        restorable: 0,
    }
}

#[test]
fn what_a_later_call_put_back_is_on_record_as_taken_back_once() {
    let desk = Desk::new();
    desk.decided("edit", Verdict::AutoApprove, effect("", "/p/src/a.rs", &[]));
    desk.decided("other", Verdict::AutoApprove, effect("", "/p/src/b.rs", &[]));
    desk.decided("asked", Verdict::Confirm, effect("", "/p/src/a.rs", &[]));
    desk.decided("restore", Verdict::AutoApprove, effect("git restore", "/p/src/a.rs", &[Mark::DiscardsWork]));
    desk.decided("later", Verdict::AutoApprove, effect("", "/p/src/a.rs", &[]));
    let found = reverts::find(&desk.room(), 0).unwrap();
    let ids: Vec<&str> = found.iter().map(|outcome| outcome.decision.as_str()).collect();
    assert_eq!((ids, found[0].became), (vec!["edit"], Became::Reverted));
    assert_eq!(record_new(&desk.room(), 0).unwrap(), (1, 0));
    assert_eq!(record_new(&desk.room(), 0).unwrap(), (0, 0));
}

#[test]
fn what_a_person_typed_after_it_was_blocked_is_friction_once() {
    let desk = Desk::new();
    desk.decided("blocked", Verdict::Block, effect("", "/p/a", &[]));
    desk.decided("blocked-too", Verdict::Block, effect("", "/p/a", &[]));
    let line = |said: &str| json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "content": said } });
    let path = desk.base.path().join(".claude/projects/p/s.jsonl");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines = [line("<bash-input>command blocked</bash-input>"), line("command blocked-too")];
    std::fs::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
    assert_eq!(record_new(&desk.room(), 0).unwrap(), (0, 1));
    assert_eq!(record_new(&desk.room(), 0).unwrap(), (0, 0));
}

#[test]
fn what_an_agent_wrote_into_a_transcript_was_typed_by_nobody() {
    let desk = Desk::new();
    desk.decided("blocked", Verdict::Block, effect("", "/p/a", &[]));
    let path = desk.base.path().join(".claude/projects/p/s.jsonl");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (key, value) in [
        ("isSidechain", json!(true)),
        ("agentId", json!("a1")),
        ("origin", json!({ "kind": "task-notification" })),
        ("type", json!("assistant")),
        (
            "message",
            json!({ "role": "user", "content": [{ "type": "tool_result", "content": "<bash-input>command blocked</bash-input>" }] }),
        ),
    ] {
        let mut line = json!({ "type": "user", "sessionId": "s",
            "message": { "role": "user", "content": "<bash-input>command blocked</bash-input>" } });
        line[key] = value;
        std::fs::write(&path, line.to_string()).unwrap();
        assert_eq!(record_new(&desk.room(), 0).unwrap(), (0, 0), "{line}");
    }
}

#[test]
fn only_what_can_be_said_of_a_decision_is_recorded() {
    let said = |regret, friction, fine, verdict, has_run| {
        let arguments = FlagArguments { id: String::new(), regret, friction, fine, why: None };
        meant(&arguments, verdict, has_run).ok()
    };
    for (regret, friction, fine, verdict, has_run, wanted) in [
        (false, false, false, Verdict::AutoApprove, true, Some(Became::Flagged)),
        (false, false, false, Verdict::Confirm, false, Some(Became::Friction)),
        (false, false, false, Verdict::Block, false, Some(Became::Friction)),
        (true, false, false, Verdict::Confirm, true, Some(Became::Flagged)),
        (true, false, false, Verdict::Block, false, None),
        (false, true, false, Verdict::AutoApprove, true, None),
        (false, false, true, Verdict::AutoApprove, true, Some(Became::Fine)),
    ] {
        assert_eq!(said(regret, friction, fine, verdict, has_run), wanted, "{verdict:?} {regret} {friction} {fine}");
    }
}
