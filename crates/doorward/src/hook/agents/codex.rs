//! Codex: translates its hook payloads to events and calls, and our decisions to the two answers it accepts.

use doorward_engine::Tool;
use serde_json::{Value, json};

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::{AgentQuestion, CallResult, Decision, Event, Proof, ProposedCall, Reply, patch};
use crate::machine::agent::Agent;

const SPEAKER: Speaker =
    Speaker { agent: Agent::Codex, tool, turn: "turn_id", proof, answers_requests: true, denied: CallResult::Declined };

/// The prefix of the tool names for subagents.
const SUBAGENTS: &str = "multi_agent_v1";

/// Reads one payload. Codex does not say whether the session is attended.
pub(super) fn translate(payload: &Value) -> Result<Event, String> {
    // Codex never asks before a call, so whether someone sits there does not change the answer.
    dialect::translate(payload, true, SPEAKER)
}

/// Formats the decision in the only ways that don't let the call run by mistake.
///
/// Before a call Codex accepts only a refusal with a reason; any other answer, or an unknown field, counts as a failure, and
/// the call runs.
pub(super) fn reply(proposed: &ProposedCall, decision: &Decision) -> Reply {
    match (proposed.asked, decision) {
        // Exactly these fields: with any other one, or with a reason, the original command runs.
        (AgentQuestion::Call, Decision::Replace(_, command)) => dialect::output(&json!({
            "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": { "command": command },
        })),
        (_, Decision::Replace(..)) => reply(proposed, &Decision::Deny(String::new())),
        (
            AgentQuestion::Call | AgentQuestion::Classified | AgentQuestion::Unheard,
            Decision::Deny(reason) | Decision::Ask(reason),
        ) => dialect::output(&json!({
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": denial_text(reason),
        })),
        (AgentQuestion::Permission, Decision::Allow(_)) => dialect::output(&json!({
            "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" },
        })),
        (AgentQuestion::Permission, Decision::Deny(reason)) => dialect::output(&json!({
            "hookEventName": "PermissionRequest", "decision": { "behavior": "deny", "message": denial_text(reason) },
        })),
        // Silence lets the call continue, and lets Codex ask the user about a permission.
        (
            AgentQuestion::Call | AgentQuestion::Classified | AgentQuestion::Unheard,
            Decision::Allow(_) | Decision::Silent,
        )
        | (AgentQuestion::Permission, Decision::Ask(_) | Decision::Silent) => Reply::default(),
    }
}

/// A refusal without a reason does not count.
fn denial_text(reason: &str) -> &str {
    // Codex treats a denial with an empty reason as a failed hook and runs the call.
    if reason.trim().is_empty() { "doorward blocks the call" } else { reason }
}

/// Prompts of subagents carry the agent's name; the others come from the user.
fn proof(_payload: Fields<'_>, _attended: bool) -> Result<Option<Proof>, String> {
    Ok(Some(Proof::Event))
}

pub(super) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name.strip_prefix(SUBAGENTS).unwrap_or(name) {
        // Permission requests come with a justification.
        // Codex hides `tty` and `sandbox_permissions` from hooks, so nothing is claimed about either.
        "Bash" => Tool::Bash {
            command: fields.only("command description")?.need("command")?,
            background: false,
            unsandboxed: false,
        },
        "apply_patch" => Tool::Edit { changes: patch::changes(&fields.only("command description")?.need("command")?)? },
        "view_image" => Tool::Read { path: fields.only("path detail")?.need("path")? },
        "spawn_agent" => Tool::Task {
            agent: fields.optional_text("agent_type")?.unwrap_or_default(),
            description: fields.need("message")?,
        },
        "send_input" | "resume_agent" => {
            Tool::Task { agent: String::new(), description: fields.optional_text("message")?.unwrap_or_default() }
        }
        short => match name.strip_prefix("mcp__") {
            Some(rest) => dialect::mcp(rest, input, payload)?,
            None => Tool::Other { name: short.to_owned(), input: input.clone() },
        },
    })
}
