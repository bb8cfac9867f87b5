//! Qwen Code: the events of the dialect, the tools of Gemini CLI. It refuses on its own what no one answers.

use serde_json::Value;

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::{CallResult, Event, Proof, gemini};
use crate::machine::agent::Agent;

const SPEAKER: Speaker = Speaker {
    agent: Agent::Qwen,
    tool: gemini::tool,
    turn: "prompt_id",
    proof,
    answers_requests: false,
    denied: CallResult::Declined,
};

/// Reads one payload.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    dialect::translate(payload, true, SPEAKER)
}

/// It sends a second, empty prompt for each one, and does not say who wrote it.
fn proof(_payload: Fields<'_>, _attended: bool) -> Result<Option<Proof>, String> {
    Ok(None)
}
