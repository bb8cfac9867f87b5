//! Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`.

use doorward_vocabulary::SessionId;
use serde_json::{Value, json};

use super::{CallList, Format, PastCall, moment, text};
use crate::hook::agents::directory_before;
use crate::machine::agent::Agent;

#[derive(Debug, Default)]
pub(super) struct CodexTranscript {
    session: SessionId,
    cwd: String,
    calls: CallList,
}

impl Format for CodexTranscript {
    fn line(&mut self, number: u64, line: &Value) -> Option<()> {
        let (kind, payload) = (text(line, "type")?, line.get("payload")?);
        match (kind, text(payload, "type")) {
            ("session_meta", _) => {
                self.session = text(payload, "id").unwrap_or_default().into();
                self.cwd = text(payload, "cwd").unwrap_or("/").to_owned();
            }
            ("turn_context", _) => {
                if let Some(cwd) = text(payload, "cwd") {
                    self.cwd = cwd.to_owned();
                }
            }
            ("response_item", Some("function_call" | "custom_tool_call")) => {
                let (tool, input) = self.hooked(payload)?;
                self.calls.add(PastCall {
                    agent: Agent::Codex,
                    session: self.session.clone(),
                    cwd: self.cwd.clone(),
                    tool,
                    input,
                    id: Some(text(payload, "call_id")?.to_owned()),
                    time_ms: moment(line, "timestamp"),
                    ran: false,
                    line: number,
                });
            }
            ("response_item", Some("function_call_output" | "custom_tool_call_output")) => {
                let output = payload.get("output")?;
                let said = output.as_str().or_else(|| text(output, "content")).unwrap_or_default();
                if has_run(said) {
                    self.calls.ran(text(payload, "call_id")?);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn calls(self) -> Vec<PastCall> {
        self.calls.calls
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
                ("Bash".to_owned(), json!({ "command": directory_before(command, directory, Some(&self.cwd)) }))
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
