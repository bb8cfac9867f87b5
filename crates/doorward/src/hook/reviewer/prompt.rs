//! The reviewer's prompt: the policy, the same for every call, and one message about this call.

use doorward_engine::{Facts, Judgement, Tool, ToolCall, redact};
use serde_json::{Value, json};

use super::fence::{self, SEPARATOR};
use super::transcript;
use crate::hook::agents::InstructionFile;
use crate::machine::visible;

/// Characters of one instruction file.
// Instruction files are written by the project; a long one must not crowd the policy out of the model's attention.
const INSTRUCTIONS: usize = 4_000;

/// Characters of all of them.
const ALL_INSTRUCTIONS: usize = 24_000;

/// Characters of an action. A longer one is not truncated; it is not sent at all.
// A part of an action can be harmless while the whole is not, so there is nothing in between.
const ACTION: usize = 60_000;

/// The two texts of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub system: String,
    pub message: String,
    pub nonce: String,
}

/// The parts of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptInput<'a> {
    pub call: &'a ToolCall,
    pub facts: &'a Facts,
    pub judgement: &'a Judgement,
    /// Instruction files by path, or one text that the agent's extension put together.
    pub instructions: &'a [InstructionFile],
    pub transcript: &'a [transcript::TranscriptEntry],
    /// The key for hashing secrets.
    pub key: &'a [u8; 16],
}

impl Prompt {
    /// The request about a call. The error says why there can be none.
    pub(crate) fn new(system: String, matter: PromptInput<'_>, nonce: &str) -> Result<Prompt, String> {
        let action = action(matter)?;
        let none = |text: String| if text.is_empty() { "(none)".to_owned() } else { text };
        let transcript = transcript::written(matter.transcript, matter.call.user_message.as_deref(), matter.key);
        let message = [
            fence::block("facts", nonce, &facts(matter)),
            fence::block("loaded-project-instructions", nonce, &none(instructions(matter))),
            fence::block("transcript", nonce, &none(transcript)),
            format!("{SEPARATOR}\n{}", fence::block("action", nonce, &action)),
            format!("The nonce of this request is {nonce}."),
        ];
        Ok(Prompt { system, message: message.join("\n\n"), nonce: nonce.to_owned() })
    }
}

/// The facts as recorded, without secrets.
fn facts(matter: PromptInput<'_>) -> String {
    let PromptInput { facts, judgement, .. } = matter;
    let mut lines = vec![
        json!({ "directory": matter.call.cwd, "project": facts.project, "project_trusted": facts.project_trusted }),
        json!({ "understood": facts.coverage }),
    ];
    lines.extend(facts.effects.iter().map(|effect| json!({ "effect": effect })));
    lines.extend(facts.flows.iter().map(|flow| json!({ "flow": flow })));
    if !facts.taint.is_empty() {
        lines.push(json!({ "happened_before_in_this_session": facts.taint }));
    }
    lines.extend(judgement.reasons().map(|opinion| json!({ "question": opinion.because })));
    let line = |value: &Value| fence::json(&visible(&redacted(value, matter.key).to_string()));
    lines.iter().map(line).collect::<Vec<String>>().join("\n")
}

fn instructions(matter: PromptInput<'_>) -> String {
    let file = |InstructionFile { path, text }: &InstructionFile| {
        let text = redact(text, matter.key);
        let title = fence::text(path).replace('\n', " ");
        format!("# {title}\n{}", fence::quoted(&fence::shortened(&text, INSTRUCTIONS)))
    };
    let mut left = ALL_INSTRUCTIONS;
    let mut files = Vec::new();
    for file in matter.instructions.iter().map(file) {
        let Some(rest) = left.checked_sub(file.chars().count()) else { break };
        left = rest;
        files.push(file);
    }
    files.join("\n\n")
}

/// The exact action. INVARIANT: never truncated; only secrets are replaced.
fn action(matter: PromptInput<'_>) -> Result<String, String> {
    let tool = &matter.call.tool;
    if let Tool::Malformed { problem, .. } = tool {
        return Err(format!("the call can't be read: {problem}"));
    }
    let input = if let Tool::Other { input, .. } = tool { input.clone() } else { fields(tool) };
    let input = serde_json::to_string_pretty(&redacted(&input, matter.key)).map_err(|error| error.to_string())?;
    let name = redact(tool.name(), matter.key).replace(char::is_whitespace, "_");
    let text = format!("{} {}", fence::json(&visible(&name)), fence::json(&visible(&input)));
    match text.chars().count() {
        count if count > ACTION => {
            Err(format!("the action has {count} characters, and doorward sends at most {ACTION}"))
        }
        _ => Ok(text),
    }
}

/// The input of a tool, without its name around it.
fn fields(tool: &Tool) -> Value {
    match serde_json::to_value(tool) {
        Ok(Value::Object(named)) => named.into_iter().next().map(|(_, fields)| fields).unwrap_or_default(),
        Ok(other) => other,
        Err(_) => Value::Null,
    }
}

/// The same with every secret replaced.
fn redacted(value: &Value, key: &[u8; 16]) -> Value {
    match value {
        Value::String(text) => redact(text, key).into_owned().into(),
        Value::Array(items) => items.iter().map(|item| redacted(item, key)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (redact(name, key).into_owned(), redacted(value, key))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
