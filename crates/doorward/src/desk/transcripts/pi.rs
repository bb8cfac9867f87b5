//! Pi: `~/.pi/agent/sessions/<directory>/<time>_<id>.jsonl`.

use serde_json::Value;

use super::{PastCall, SessionCalls, TranscriptFormat, moment, text};
use crate::machine::agent::Agent;

#[derive(Debug, Default)]
pub(super) struct PiTranscript(SessionCalls);

impl TranscriptFormat for PiTranscript {
    fn line(&mut self, number: u64, line: &Value) -> Option<()> {
        let kind = text(line, "type")?;
        if kind == "session" {
            self.0.session = text(line, "id").unwrap_or_default().into();
            self.0.cwd = text(line, "cwd").unwrap_or("/").to_owned();
        }
        let message = line.get("message").filter(|_| kind == "message");
        match message.and_then(|message| text(message, "role")) {
            Some("assistant") => {
                let blocks = line.pointer("/message/content").and_then(Value::as_array);
                for block in blocks.into_iter().flatten().filter(|block| text(block, "type") == Some("toolCall")) {
                    self.0.calls.add(PastCall {
                        agent: Agent::Pi,
                        session: self.0.session.clone(),
                        cwd: self.0.cwd.clone(),
                        tool: text(block, "name")?.to_owned(),
                        input: block.get("arguments")?.clone(),
                        id: Some(text(block, "id")?.to_owned()),
                        time_ms: moment(line, "timestamp"),
                        ran: false,
                        line: number,
                        said: None,
                    });
                }
            }
            Some("toolResult") => {
                let result = line.get("message")?;
                if has_run(result) {
                    self.0.calls.ran(text(result, "toolCallId")?);
                }
            }
            Some(_) | None => {}
        }
        Some(())
    }

    fn calls(self) -> Vec<PastCall> {
        self.0.calls.calls
    }
}

/// A command that ran and failed is an error as well, and says how it ended.
fn has_run(result: &Value) -> bool {
    let said = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    result.get("isError") != Some(&Value::Bool(true)) || said.contains("Command exited with code ")
}
