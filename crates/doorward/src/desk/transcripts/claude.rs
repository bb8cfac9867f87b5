//! Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`.

use serde_json::Value;

use super::{CallList, PastCall, TranscriptFormat, moment, text};
use crate::machine::agent::Agent;

#[derive(Debug, Default)]
pub(super) struct ClaudeTranscript {
    calls: CallList,
    said: Option<String>,
}

impl TranscriptFormat for ClaudeTranscript {
    fn line(&mut self, number: u64, line: &Value) -> Option<()> {
        let kind = text(line, "type")?;
        let content = line.pointer("/message/content");
        match (kind, content.and_then(Value::as_array)) {
            ("assistant", Some(blocks)) => {
                for block in blocks.iter().filter(|block| text(block, "type") == Some("tool_use")) {
                    self.calls.add(PastCall {
                        agent: Agent::Claude,
                        session: text(line, "sessionId").unwrap_or_default().into(),
                        cwd: text(line, "cwd").unwrap_or("/").to_owned(),
                        tool: text(block, "name")?.to_owned(),
                        input: block.get("input")?.clone(),
                        id: Some(text(block, "id")?.to_owned()),
                        time_ms: moment(line, "timestamp"),
                        ran: false,
                        line: number,
                        said: self.said.clone(),
                    });
                }
            }
            ("user", Some(blocks)) => {
                for block in blocks.iter().filter(|block| text(block, "type") == Some("tool_result")) {
                    if has_run(block) {
                        self.calls.ran(text(block, "tool_use_id")?);
                    }
                }
            }
            ("user", None) => {
                let is_typed = line.pointer("/origin/kind").and_then(Value::as_str) == Some("human");
                // What somebody else wrote ends what the user ordered.
                self.said = content.and_then(Value::as_str).filter(|_| is_typed).map(str::to_owned);
            }
            _ => {}
        }
        Some(())
    }

    fn calls(self) -> Vec<PastCall> {
        self.calls.calls
    }
}

/// Refusals and calls of tools that do not exist are errors too; a command that ran and failed says how it ended.
fn has_run(block: &Value) -> bool {
    let is_error = block.get("is_error") == Some(&Value::Bool(true));
    let said = block.get("content").and_then(|content| content.as_str().or_else(|| text(content.get(0)?, "text")));
    !is_error || said.is_some_and(|said| said.starts_with("Exit code "))
}
