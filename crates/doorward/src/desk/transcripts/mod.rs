//! The agents' own session transcripts: past calls, read without changing anything.
//!
//! Each agent's format has a file here. Unreadable lines are counted, never guessed at.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use doorward_vocabulary::SessionId;
use serde_json::{Value, json};

use crate::hook::agents::{Event, ProposedCall};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;
use crate::machine::clock;
use crate::machine::paths::Dirs;

/// The agents whose transcripts are read.
pub(crate) const AGENTS: [Agent; 5] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Pi, Agent::Opencode];

/// A line longer than this is not a real call.
// Images and pasted files are stored inline as base64; reading them for a command they don't hold costs seconds.
const LONGEST_LINE: u64 = 16 << 20;

/// Folders deeper than this don't contain sessions.
// The deepest layout is Codex's year/month/day; anything below that was put there by someone else.
const DEPTH: usize = 6;

/// One file of transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TranscriptFile {
    pub agent: Agent,
    pub path: PathBuf,
}

/// One past call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PastCall {
    pub agent: Agent,
    pub session: SessionId,
    pub cwd: String,
    /// Tool and input as the agent's hook would be told.
    pub tool: String,
    pub input: Value,
    /// The agent's own name for the call.
    pub id: Option<String>,
    /// When it was made; zero if unknown.
    pub time_ms: u64,
    /// The transcript shows that it ran.
    pub ran: bool,
    /// Its line or row number.
    pub line: u64,
    /// What the user had typed last, where the transcript says that a person did.
    pub said: Option<String>,
}

/// The content of a file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TranscriptCalls {
    pub calls: Vec<PastCall>,
    /// Lines that don't match the format.
    pub malformed: u64,
}

impl PastCall {
    /// The call as the agent's hook would have proposed it; `None` if it never reaches a hook.
    pub(crate) fn proposed(&self) -> Option<ProposedCall> {
        let event = if self.agent == Agent::Gemini { "BeforeTool" } else { "PreToolUse" };
        let payload = json!({
            "hook_event_name": event, "session_id": self.session, "cwd": self.cwd, "tool_name": self.tool,
            "tool_input": self.input, "tool_use_id": self.id, "has_ui": true,
        });
        match self.agent.translate(&payload, true) {
            Ok(Event::Proposed(proposed)) => Some(*proposed),
            Ok(_) | Err(_) => None,
        }
    }
}

/// The files of all agents that were written since then, in a fixed order.
pub(crate) fn sources(dirs: &Dirs, since_ms: u64) -> Vec<TranscriptFile> {
    let mut found = Vec::new();
    for agent in AGENTS {
        let (folder, ending) = place(agent, dirs.home());
        let mut paths = Vec::new();
        below(&folder, ending, DEPTH, &mut paths);
        paths.retain(|path| written_ms(path) >= since_ms);
        paths.sort();
        found.extend(paths.into_iter().map(|path| TranscriptFile { agent, path }));
    }
    found
}

/// Where each agent keeps its sessions.
pub(crate) fn folders(dirs: &Dirs) -> Vec<(Agent, PathBuf)> {
    AGENTS.into_iter().map(|agent| (agent, place(agent, dirs.home()).0)).collect()
}

/// Reads one file.
pub(crate) fn read(source: &TranscriptFile, since_ms: u64) -> TranscriptCalls {
    let mut found = match source.agent {
        Agent::Opencode => opencode::read(&source.path),
        Agent::Codex => lines(&source.path, codex::CodexTranscript::default()),
        Agent::Gemini => lines(&source.path, gemini::GeminiTranscript::new(&source.path)),
        Agent::Pi => lines(&source.path, pi::PiTranscript::default()),
        Agent::Claude => lines(&source.path, claude::ClaudeTranscript::default()),
        Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => {
            TranscriptCalls::default()
        }
    };
    found.calls.retain(|call| call.time_ms >= since_ms);
    found
}

/// Takes in the lines of one format.
trait TranscriptFormat {
    /// One line; `None` if it does not match the format.
    fn line(&mut self, number: u64, line: &Value) -> Option<()>;

    /// What was found.
    fn calls(self) -> Vec<PastCall>;
}

/// The calls of a transcript that names its session and directory once, ahead of them.
#[derive(Debug, Default)]
struct SessionCalls {
    session: SessionId,
    cwd: String,
    calls: CallList,
}

/// Calls in the order in which they were made, to which results are added as they come.
#[derive(Debug, Default)]
struct CallList {
    calls: Vec<PastCall>,
    by_id: HashMap<String, usize>,
}

impl CallList {
    fn add(&mut self, call: PastCall) {
        if let Some(id) = &call.id {
            // A resumed transcript may repeat earlier lines.
            if self.by_id.contains_key(id) {
                return;
            }
            self.by_id.insert(id.clone(), self.calls.len());
        }
        self.calls.push(call);
    }

    fn ran(&mut self, id: &str) {
        if let Some(call) = self.by_id.get(id).and_then(|at| self.calls.get_mut(*at)) {
            call.ran = true;
        }
    }
}

/// Where an agent keeps its transcripts, and how their names end.
fn place(agent: Agent, home: &str) -> (PathBuf, &'static str) {
    let (folder, home) = (directory_of(agent, home), Path::new(home));
    match agent {
        Agent::Claude => (folder.join("projects"), ".jsonl"),
        Agent::Codex => (folder.join("sessions"), ".jsonl"),
        Agent::Pi => (folder.join("sessions"), ".jsonl"),
        Agent::Gemini => (home.join(".gemini/tmp"), ".jsonl"),
        Agent::Opencode => (home.join(".local/share/opencode"), ".db"),
        Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => {
            (home.join(".none"), ".none")
        }
    }
}

fn below(folder: &Path, ending: &str, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Ok(kind) = entry.file_type() else { continue };
        // Don't follow links: their target is not one of this agent's transcripts.
        if kind.is_dir() && depth > 0 {
            below(&entry.path(), ending, depth - 1, found);
        } else if kind.is_file() && entry.file_name().to_string_lossy().ends_with(ending) {
            found.push(entry.path());
        }
    }
}

fn written_ms(path: &Path) -> u64 {
    let written = path.metadata().and_then(|metadata| metadata.modified()).ok();
    let since = written.and_then(|written| written.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn lines(path: &Path, mut format: impl TranscriptFormat) -> TranscriptCalls {
    let mut malformed = 0;
    let Ok(file) = File::open(path) else { return TranscriptCalls { calls: Vec::new(), malformed: 1 } };
    let mut reader = BufReader::new(file);
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes) {
            Ok(0) => break,
            Ok(_) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(_) => {}
            Err(_) => {
                malformed += 1;
                break;
            }
        }
        let understood = serde_json::from_slice(&bytes).ok().and_then(|line: Value| format.line(number, &line));
        malformed += u64::from(understood.is_none());
    }
    TranscriptCalls { calls: format.calls(), malformed }
}

/// The time given in a field.
fn moment(line: &Value, field: &str) -> u64 {
    let text = line.get(field).and_then(Value::as_str).unwrap_or_default();
    // `2026-11-15T18:32:19.576Z`: the second is enough.
    text.get(..19).and_then(|text| clock::parse(text, 0).ok()).unwrap_or_default()
}

fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
