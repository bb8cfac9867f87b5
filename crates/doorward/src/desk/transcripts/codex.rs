//! Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`.

use serde_json::{Value, json};

use super::{PastCall, SessionCalls, TranscriptFormat, moment, text};
use crate::hook::agents::directory_before;
use crate::machine::agent::Agent;

#[derive(Debug, Default)]
pub(super) struct CodexTranscript(SessionCalls);

impl TranscriptFormat for CodexTranscript {
    fn line(&mut self, number: u64, line: &Value) -> Option<()> {
        let (kind, payload) = (text(line, "type")?, line.get("payload")?);
        match (kind, text(payload, "type")) {
            ("session_meta", _) => {
                self.0.session = text(payload, "id").unwrap_or_default().into();
                self.0.cwd = text(payload, "cwd").unwrap_or("/").to_owned();
            }
            ("turn_context", _) => {
                if let Some(cwd) = text(payload, "cwd") {
                    self.0.cwd = cwd.to_owned();
                }
            }
            ("response_item", Some("function_call" | "custom_tool_call")) => {
                let (tool, input) = self.hooked(payload)?;
                self.0.calls.add(PastCall {
                    agent: Agent::Codex,
                    session: self.0.session.clone(),
                    cwd: self.0.cwd.clone(),
                    tool,
                    input,
                    id: Some(text(payload, "call_id")?.to_owned()),
                    time_ms: moment(line, "timestamp"),
                    ran: false,
                    line: number,
                    said: None,
                });
            }
            ("response_item", Some("function_call_output" | "custom_tool_call_output")) => {
                let output = payload.get("output")?;
                let said = output.as_str().or_else(|| text(output, "content")).unwrap_or_default();
                if has_run(said) {
                    self.0.calls.ran(text(payload, "call_id")?);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn calls(self) -> Vec<PastCall> {
        self.0.calls.calls
    }
}

impl CodexTranscript {
    /// The call as hooks see it: every shell is `Bash`, a patch is the command of `apply_patch`.
    fn hooked(&self, payload: &Value) -> Option<(String, Value)> {
        let name = text(payload, "name")?;
        let arguments = match text(payload, "arguments") {
            Some(arguments) => serde_json::from_str(arguments).ok()?,
            None => payload.get("input")?.clone(),
        };
        Some(match name {
            "exec_command" | "shell_command" | "shell" => {
                let command = arguments.get("cmd").or_else(|| arguments.get("command"))?;
                let words: Option<Vec<&str>> =
                    command.as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
                let command = match words.as_deref() {
                    Some(["bash" | "sh" | "/bin/bash" | "/bin/sh", "-c" | "-lc", script]) => (*script).to_owned(),
                    Some(words) => words.join(" "),
                    None => command.as_str()?.to_owned(),
                };
                let directory = text(&arguments, "workdir");
                ("Bash".to_owned(), json!({ "command": directory_before(command, directory, Some(&self.0.cwd)) }))
            }
            "apply_patch" => {
                let patch = arguments.as_str().or_else(|| text(&arguments, "input"))?;
                ("apply_patch".to_owned(), json!({ "command": patch }))
            }
            other => (other.to_owned(), arguments),
        })
    }
}

/// What Codex itself answers in place of a tool that did not run.
fn has_run(said: &str) -> bool {
    // Codex reports these as ordinary tool output, without a flag that says the tool never ran.
    const NOT_RUN: [&str; 6] =
        ["unsupported call", "rejected", "exec_command failed", "Command blocked", "Tool call blocked", "aborted"];
    !NOT_RUN.iter().any(|start| said.starts_with(start)) && !said.contains("blocked by PreToolUse hook")
}
