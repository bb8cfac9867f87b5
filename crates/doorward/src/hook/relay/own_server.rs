//! `doorward mcp-server`: lets an agent ask "may I?" before it tries: check, explain, status, pending, rules. Nothing here
//! approves, and nothing is recorded.

use std::io::{BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answers;
use super::envelope::{Envelope, Kind, Read, read};
use super::lines::{self, Line};

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: &[&str] = &["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Longer output says nothing more to a model.
const OUTPUT: usize = 64 << 10;

/// Answers until the client leaves.
pub(crate) fn run() -> Result<ExitCode> {
    let program = std::env::current_exe().context("can't find doorward's own program")?;
    let server = OwnServer { program };
    let mut input = BufReader::new(std::io::stdin());
    let mut output = std::io::stdout();
    loop {
        let text = match lines::next(&mut input)? {
            Line::Whole(line) => server.answer(&line),
            Line::TooLong => Some(answers::unreadable("it is too long")),
            Line::End => return Ok(ExitCode::SUCCESS),
        };
        if let Some(text) = text {
            output.write_all(text.as_bytes())?;
            output.flush()?;
        }
    }
}

/// Answers each tool with what the command of the same name prints.
struct OwnServer {
    program: std::path::PathBuf,
}

impl OwnServer {
    fn answer(&self, line: &[u8]) -> Option<String> {
        match read(line) {
            Read::Nothing => None,
            Read::Unreadable(problem) => Some(answers::unreadable(&problem)),
            Read::One(envelope) => self.one(&envelope),
            Read::Many(all) => {
                let said = all.iter().filter_map(|(_, envelope)| self.one(envelope));
                let said: Vec<String> = said.map(|text| text.trim_end().to_owned()).collect();
                (!said.is_empty()).then(|| format!("[{}]\n", said.join(",")))
            }
        }
    }

    fn one(&self, envelope: &Envelope<'_>) -> Option<String> {
        let (Kind::Request, Some(id)) = (envelope.kind(), envelope.id) else { return None };
        let params = match envelope.params() {
            Ok(params) => params,
            Err(problem) => return Some(answers::invalid(Some(id), &problem)),
        };
        let result = match envelope.method() {
            "initialize" => introduction(&params),
            "server/discover" => json!({
                "supportedVersions": VERSIONS, "capabilities": { "tools": {} }, "serverInfo": info(), "resultType": "complete" }),
            "ping" => json!({}),
            "tools/list" => json!({ "tools": tools(), "resultType": "complete" }),
            "tools/call" => return Some(self.call(id, &params)),
            _ => return Some(answers::unknown(id)),
        };
        Some(answers::result(id, &result.to_string()))
    }

    fn call(&self, id: &RawValue, params: &Value) -> String {
        let words = match words(params) {
            Ok(words) => words,
            Err(problem) => return answers::invalid(Some(id), &problem),
        };
        let (text, is_error) = match self.said(&words) {
            Ok(text) => (text, false),
            Err(problem) => (format!("doorward can't answer: {problem}"), true),
        };
        let content = json!([{ "type": "text", "text": text }]);
        answers::result(id, &json!({ "content": content, "isError": is_error, "resultType": "complete" }).to_string())
    }

    fn said(&self, words: &[String]) -> Result<String, String> {
        let made = Command::new(&self.program).args(words).stdin(Stdio::null()).output();
        let made = made.map_err(|error| error.to_string())?;
        let mut text = String::from_utf8_lossy(&made.stdout).into_owned();
        // `check` says its verdict by its exit code: 0, 10 or 20.
        if !matches!(made.status.code(), Some(0 | 10 | 20)) {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        if text.len() > OUTPUT {
            let end = (0..=OUTPUT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            text.truncate(end);
            text.push_str("\n… cut here");
        }
        Ok(text)
    }
}

fn info() -> Value {
    json!({ "name": "doorward", "version": env!("CARGO_PKG_VERSION") })
}

fn introduction(params: &Value) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.iter().find(|known| **known == wanted).unwrap_or(&"2025-06-18");
    json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info() })
}

/// What a client lists.
fn tools() -> Value {
    let hints = json!({ "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false });
    let call = json!({
        "type": "object",
        "properties": {
            "command": { "type": "string", "description": "A shell command" },
            "tool": { "type": "string", "description": "Another tool instead: write, edit, read, fetch, mcp and so on" },
            "input": { "type": "object", "description": "The input of that tool" },
            "cwd": { "type": "string", "description": "The directory; default: where this server was started" },
        },
        "additionalProperties": false,
    });
    let nothing = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let tool = |name: &str, what: &str, schema: &Value| json!({ "name": name, "description": what, "inputSchema": schema, "annotations": hints });
    json!([
        tool(
            "check",
            "Whether a call would run, be asked about or be blocked here, with the reasons. Runs nothing.",
            &call
        ),
        tool("explain", "The same with everything that was understood, and what would change the verdict.", &call),
        tool("status", "Which agents are guarded and how, and what happened lately.", &nothing),
        tool(
            "pending",
            "The calls that wait for the user's answer. The user answers them; this server can't.",
            &nothing
        ),
        tool("rules", "The rules that are active.", &nothing),
    ])
}

/// The command line that answers a call. INVARIANT: only commands that agents may run, and that change nothing.
fn words(params: &Value) -> Result<Vec<String>, String> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let empty = json!({});
    let given = params.get("arguments").unwrap_or(&empty);
    let own = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect());
    match name {
        "check" => checked(given, "--json"),
        "explain" => checked(given, "--explain"),
        "status" => own(&["status"]),
        "pending" => own(&["pending"]),
        "rules" => own(&["rules"]),
        _ => Err(format!("`{name}` is no tool of this server")),
    }
}

fn checked(given: &Value, how: &str) -> Result<Vec<String>, String> {
    let text = |key: &str| match given.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` has to be text")),
    };
    let mut words = vec!["check".to_owned(), how.to_owned()];
    if let Some(cwd) = text("cwd")? {
        words.push(format!("--cwd={cwd}"));
    }
    match (text("command")?, text("tool")?) {
        (Some(command), None) => words.extend(["--".to_owned(), command]),
        (None, Some(tool)) => {
            let input = given.get("input").filter(|input| input.is_object()).ok_or("`input` has to be an object")?;
            words.extend([format!("--tool={tool}"), format!("--input={input}")]);
        }
        (Some(_), Some(_)) | (None, None) => return Err("give either `command`, or `tool` and `input`".to_owned()),
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_stays_an_argument() {
        let call = |arguments: Value| words(&json!({ "name": "check", "arguments": arguments }));
        assert_eq!(call(json!({ "command": "--record" })).unwrap(), ["check", "--json", "--", "--record"]);
        assert_eq!(
            call(json!({ "tool": "read", "input": { "path": "a" }, "cwd": "/w" })).unwrap(),
            ["check", "--json", "--cwd=/w", "--tool=read", "--input={\"path\":\"a\"}"]
        );
        assert!(call(json!({})).is_err() && call(json!({ "command": 1 })).is_err());
        assert!(words(&json!({ "name": "approve", "arguments": {} })).is_err());
    }

    #[test]
    fn both_generations_of_clients_are_answered() {
        let server = OwnServer { program: "/nonexistent".into() };
        let said = |line: &str| server.answer(line.as_bytes()).unwrap_or_default();
        assert!(
            said(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#)
                .contains("2025-06-18")
        );
        assert!(said(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#).contains("2026-07-28"));
        assert!(said(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).contains("\"explain\""));
        assert!(said(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check","arguments":{"command":"ls"}}}"#).contains("isError\":true"));
        assert!(said(r#"{"jsonrpc":"2.0","id":1,"method":"other"}"#).contains("-32601"));
        assert_eq!(said(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), "");
    }
}
