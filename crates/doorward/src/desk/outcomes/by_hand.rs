//! Blocked or refused commands that the user then ran by hand inside the agent, as shown by its transcript.
//!
//! Claude Code logs what the user types after `!`. The other agents don't say who ran what, and commands typed in another
//! terminal are none of our business.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::Result;
use doorward_ledger::{Became, OutcomeBody};
use doorward_vocabulary::{CallId, SessionId, Verdict};
use serde_json::Value;

use crate::desk::replay::{self, Aftermath, RecordedDecision};
use crate::desk::transcripts;
use crate::machine::agent::Agent;
use crate::memory::ledger_view::LedgerView;

/// Longer lines can't be commands that someone typed.
// History files also hold pasted data; parsing it costs time and cannot match a recorded call.
const LONGEST_LINE: u64 = 1 << 16;

/// A command of a session, as the record has it.
type Typed = (SessionId, String);

/// Decisions run by hand that the record does not know about yet.
pub(super) fn find(view: &LedgerView, since_ms: u64) -> Result<Vec<OutcomeBody>> {
    let mut typed: HashSet<Typed> = HashSet::new();
    for source in transcripts::sources(&view.dirs, since_ms) {
        if source.agent == Agent::Claude {
            typed.extend(commands(&source.path));
        }
    }
    if typed.is_empty() {
        return Ok(Vec::new());
    }
    let aftermath = Aftermath::read(&view.log, since_ms)?;
    let mut found = Vec::new();
    let is_typed = |past: RecordedDecision| {
        let command = (past.body.session.clone().unwrap_or_default(), past.body.call.clone());
        let is_stopped = past.body.verdict != Verdict::AutoApprove;
        (is_stopped && past.body.tool == "bash" && typed.contains(&command)).then_some(past.body.id)
    };
    let fold = |decision: Option<CallId>| {
        let Some(decision) = decision else { return };
        if !aftermath.is_said(&decision) && !aftermath.is_overridden(&decision) {
            let detail = Some("a person ran it by hand".to_owned());
            found.push(OutcomeBody::new(decision, Became::Friction, detail));
        }
    };
    let _passed = replay::each(&view.log, since_ms, is_typed, fold, |_| {})?;
    Ok(found)
}

/// What the user typed after `!`, by session.
fn commands(path: &Path) -> Vec<Typed> {
    let Ok(file) = crate::machine::checked_read::open(path) else { return Vec::new() };
    let mut reader = BufReader::new(file);
    let (mut found, mut bytes) = (Vec::new(), Vec::new());
    loop {
        bytes.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return found,
            Ok(_) => found.extend(serde_json::from_slice(&bytes).ok().and_then(|line: Value| command(&line))),
        }
    }
}

fn command(line: &Value) -> Option<Typed> {
    // Prompts to subagents and an agent's own wake-ups appear in transcripts as user messages too.
    let origin = line.pointer("/origin/kind");
    if line.get("isSidechain") == Some(&true.into())
        || line.get("agentId").is_some()
        || origin.is_some_and(|kind| kind != "human")
    {
        return None;
    }
    let session = line.get("sessionId")?.as_str()?.to_owned();
    let said = line.pointer("/message/content")?.as_str().filter(|_| line.get("type") == Some(&"user".into()))?;
    let typed = said.trim().strip_prefix("<bash-input>")?.split("</bash-input>").next()?;
    Some((session.into(), typed.trim().to_owned()))
}
