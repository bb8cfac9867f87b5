//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-….jsonl`. The directory is in a file next to it, if at all.

use std::path::Path;

use doorward_vocabulary::SessionId;
use serde_json::Value;

use super::{CallList, PastCall, TranscriptFormat, moment, text};
use crate::machine::agent::Agent;

#[derive(Debug)]
pub(super) struct GeminiTranscript {
    session: SessionId,
    cwd: String,
    calls: CallList,
}

impl GeminiTranscript {
    pub(super) fn new(path: &Path) -> GeminiTranscript {
        let folder = path.parent().and_then(Path::parent);
        let named =
            folder.and_then(|folder| crate::machine::checked_read::start_of(folder.join(".project_root"), 1 << 12));
        let cwd = named.map(|text| text.trim().to_owned()).filter(|cwd| cwd.starts_with('/'));
        GeminiTranscript {
            session: SessionId::default(),
            cwd: cwd.unwrap_or_else(|| "/".to_owned()),
            calls: CallList::default(),
        }
    }
}

impl TranscriptFormat for GeminiTranscript {
    fn line(&mut self, number: u64, line: &Value) -> Option<()> {
        if !line.is_object() {
            return None;
        }
        if let Some(session) = text(line, "sessionId") {
            self.session = session.into();
        }
        for call in line.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
            let id = text(call, "id")?;
            self.calls.add(PastCall {
                agent: Agent::Gemini,
                session: self.session.clone(),
                cwd: self.cwd.clone(),
                tool: text(call, "name")?.to_owned(),
                input: call.get("args")?.clone(),
                id: Some(id.to_owned()),
                time_ms: moment(call, "timestamp").max(moment(line, "timestamp")),
                ran: false,
                line: number,
                said: None,
            });
            if text(call, "status") == Some("success") {
                self.calls.ran(id);
            }
        }
        Some(())
    }

    fn calls(self) -> Vec<PastCall> {
        self.calls.calls
    }
}
