//! Fingerprints for calls of agents that give them no id: a call is recognized by its session, tool and input.

use doorward_ledger::Hash;
use serde_json::Value;

use super::{CallReport, CallResult, Event, ProposedCall};
use crate::machine::agent::Agent;

/// The same for a call before and after it ran, and for every repetition.
pub(super) fn fingerprint(session: &str, tool: &str, input: &Value) -> String {
    let text = format!("{session}\0{tool}\0{input}");
    Hash::of(text.as_bytes()).to_string().chars().take(32).collect()
}

/// A proposal identified by its fingerprint.
pub(super) fn proposed(mut proposed: ProposedCall, tool: &str, input: &Value) -> Event {
    proposed.id = Some(fingerprint(&proposed.call.session, tool, input));
    Event::Proposed(Box::new(proposed))
}

/// An outcome identified by its fingerprint.
pub(super) fn outcome((session, agent): (&str, Agent), tool: &str, input: &Value, result: CallResult) -> Event {
    let shown = input.get("command").and_then(Value::as_str).map(str::to_owned);
    Event::Outcome(CallReport { id: fingerprint(session, tool, input), session: session.into(), agent, result, shown })
}
