//! Gemini CLI: translates its hook payloads to events and calls, and our decisions to its format. Qwen Code has the same tools.

use doorward_engine::{Change, ChangeKind, Tool};
use serde_json::{Map, Value, json};

use super::dialect::{self, Speaker};
use super::fields::Fields;
use super::{CallResult, Decision, Event, Proof, ProposedCall, Reply, fingerprint, unknown};
use crate::machine::agent::Agent;

const SPEAKER: Speaker = Speaker {
    agent: Agent::Gemini,
    tool,
    turn: "turn_id",
    proof,
    answers_requests: false,
    denied: CallResult::Declined,
};

/// The tool that runs commands.
pub(super) const SHELL: &str = "run_shell_command";

/// Reads one payload.
pub(super) fn translate(payload: &Value, attended: bool) -> Result<Event, String> {
    let fields = Fields::of(payload).map_err(|_| "the payload is not an object")?;
    let event = fields.may("hook_event_name")?.ok_or("the payload names no event")?;
    match event {
        // Gemini CLI names no call, so the end is matched by what was called.
        "BeforeTool" => {
            let told = dialect::translate_other(fields, "PreToolUse", attended, SPEAKER)?;
            let Event::Proposed(proposed) = told else { return Ok(told) };
            let (name, input) = tool_call(fields)?;
            Ok(fingerprint::proposed(*proposed, name, input))
        }
        "AfterTool" => {
            let (name, input) = tool_call(fields)?;
            let error = fields.value("tool_response").and_then(|response| response.get("error"));
            let result = if error.is_none_or(Value::is_null) { CallResult::Ran } else { CallResult::Failed };
            Ok(fingerprint::outcome(
                (fields.may("session_id")?.unwrap_or_default(), SPEAKER.agent),
                name,
                input,
                result,
            ))
        }
        "BeforeAgent" => dialect::translate_other(fields, "UserPromptSubmit", attended, SPEAKER),
        "PreCompress" => dialect::translate_other(fields, "PreCompact", attended, SPEAKER),
        "SessionStart" | "SessionEnd" => dialect::translate_other(fields, event, attended, SPEAKER),
        "BeforeModel" | "AfterModel" | "BeforeToolSelection" | "AfterAgent" | "Notification" => Ok(Event::Nothing),
        other => unknown::event(other, payload),
    }
}

/// Formats the decision. The question for the user goes in `systemMessage`: the reason is shown only to the model.
pub(super) fn reply(proposed: &ProposedCall, decision: &Decision) -> Reply {
    let answer = match decision {
        // Its shell refuses `$(` and backticks in a command that a hook has changed; a token has neither.
        Decision::Replace(approval, command) if proposed.input.is_some() => json!({
            "decision": "allow", "reason": approval.reason(),
            "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": { "command": command } },
        }),
        Decision::Replace(..) => {
            return reply(proposed, &Decision::Deny("doorward can't replace this call".to_owned()));
        }
        Decision::Allow(approval) => json!({ "decision": "allow", "reason": approval.reason() }),
        Decision::Ask(reason) => json!({ "decision": "ask", "reason": reason, "systemMessage": reason }),
        // Its screen shows a refusal only if there is also a message for the user.
        Decision::Deny(reason) => json!({ "decision": "deny", "reason": reason, "systemMessage": reason }),
        Decision::Silent => return Reply::default(),
    };
    Reply { stdout: format!("{answer}\n"), ..Reply::default() }
}

/// Nothing in the payload tells the user's words from a program's.
fn proof(_payload: Fields<'_>, _attended: bool) -> Result<Option<Proof>, String> {
    Ok(None)
}

fn tool_call(fields: Fields<'_>) -> Result<(&str, &Value), String> {
    let name = fields.may("tool_name")?.ok_or("the payload names no tool")?;
    Ok((name, fields.value("tool_input").ok_or("the payload has no tool input")?))
}

/// A tool of Gemini CLI or of Qwen Code.
pub(super) fn tool(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = Fields::of(input)?;
    Ok(match name {
        SHELL => shell(fields, payload)?,
        "write_file" => {
            let fields = fields.only("file_path content")?;
            Tool::Write { path: fields.need("file_path")?, content: fields.need("content")? }
        }
        "replace" | "edit" => edit(fields)?,
        "read_file" => {
            let fields = fields.only("file_path absolute_path offset limit start_line end_line")?;
            Tool::Read { path: fields.either("file_path", "absolute_path")?.ok_or("`file_path` is missing")? }
        }
        "list_directory" => {
            let fields = fields.only("dir_path path ignore respect_git_ignore file_filtering_options")?;
            Tool::Search { path: fields.either("dir_path", "path")?, pattern: None, files: None }
        }
        "grep_search" | "search_file_content" | "glob" => search(fields)?,
        "web_fetch" => fetch(name, fields, input)?,
        "google_web_search" | "web_search" => Tool::WebSearch { query: fields.need("query")? },
        "invoke_agent" => Tool::Task {
            agent: fields.need("agent_name")?,
            description: fields.optional_text("prompt")?.unwrap_or_default(),
        },
        "task" | "agent" => Tool::Task {
            agent: fields.optional_text("subagent_type")?.unwrap_or_default(),
            description: fields.need("prompt")?,
        },
        _ => other(name, input, payload)?,
    })
}

fn shell(fields: Fields<'_>, payload: Fields<'_>) -> Result<Tool, String> {
    let fields = fields.only("command description dir_path directory is_background timeout")?;
    let directory = fields.either("dir_path", "directory")?;
    let command = within(fields.need("command")?, directory.as_deref(), payload.may("cwd")?);
    Ok(Tool::Bash { command, background: fields.flag("is_background")?, unsandboxed: false })
}

/// A command that runs in another directory than the session.
pub(crate) fn within(command: String, directory: Option<&str>, cwd: Option<&str>) -> String {
    let plain = |path: &str| path.trim_end_matches('/').to_owned();
    match directory {
        None | Some("" | "." | "./") => command,
        Some(directory) if Some(plain(directory)) == cwd.map(plain) => command,
        // Judging `dir_path` apart from the command would miss what relative paths in it mean.
        Some(directory) => format!("cd -- '{}' || exit\n{command}", directory.replace('\'', "'\\''")),
    }
}

fn edit(fields: Fields<'_>) -> Result<Tool, String> {
    let fields =
        fields.only("file_path old_string new_string instruction replace_all allow_multiple expected_replacements")?;
    let (old, new) = (fields.need("old_string")?, fields.need("new_string")?);
    let kind = if old.is_empty() { ChangeKind::Create } else { ChangeKind::Update };
    Ok(Tool::Edit { changes: vec![Change { path: fields.need("file_path")?, kind, old, new }] })
}

fn search(fields: Fields<'_>) -> Result<Tool, String> {
    let known = "pattern dir_path path include include_pattern exclude_pattern glob limit offset case_sensitive respect_git_ignore \
                 respect_gemini_ignore names_only max_matches_per_file total_max_matches fixed_strings context before after no_ignore";
    let fields = fields.only(known)?;
    let named = ["include", "include_pattern", "glob"].into_iter().filter(|name| fields.has(name));
    // Which one wins differs between versions.
    if named.count() > 1 {
        return Err("it picks files in more than one way".into());
    }
    let files =
        fields.optional_text("include")?.or(fields.optional_text("include_pattern")?).or(fields.optional_text("glob")?);
    Ok(Tool::Search { path: fields.either("dir_path", "path")?, pattern: fields.optional_text("pattern")?, files })
}

/// URLs are in the text of the prompt; only if there is exactly one do we know what is fetched.
fn fetch(name: &str, fields: Fields<'_>, input: &Value) -> Result<Tool, String> {
    if let Some(url) = fields.only("prompt url")?.optional_text("url")? {
        return Ok(Tool::Fetch { url, method: None });
    }
    let prompt = fields.need("prompt")?;
    let is_address = |word: &&str| word.contains("://");
    let mut addresses = prompt.split_whitespace().filter(is_address);
    match (addresses.next(), addresses.next()) {
        (Some(url), None) if url.starts_with("http://") || url.starts_with("https://") => {
            Ok(Tool::Fetch { url: url.to_owned(), method: None })
        }
        _ => Ok(Tool::Other { name: name.to_owned(), input: input.clone() }),
    }
}

/// A tool of a server, or an unknown one.
fn other(name: &str, input: &Value, payload: Fields<'_>) -> Result<Tool, String> {
    if let Some(context) = payload.value("mcp_context") {
        let context = Fields::of(context)?;
        let (server, tool) = (context.need("server_name")?, context.need("tool_name")?);
        return Ok(Tool::Mcp {
            server,
            name: tool,
            args: input.clone(),
            annotations: Map::new(),
            description: String::new(),
            schema: Value::Null,
        });
    }
    match (name.strip_prefix("mcp__"), name.strip_prefix("mcp_")) {
        (Some(rest), _) => dialect::mcp(rest, input, payload),
        // `mcp_<server>_<tool>` is ambiguous if the server has an underscore; `mcp_context` above settles that.
        (None, Some(rest)) => dialect::mcp(&rest.replacen('_', "__", 1), input, payload),
        (None, None) => Ok(Tool::Other { name: name.to_owned(), input: input.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_runs_where_its_directory_says() {
        for (directory, expected) in [
            (None, "ls"),
            (Some("."), "ls"),
            (Some("/p/"), "ls"),
            (Some("/etc"), "cd -- '/etc' || exit\nls"),
            (Some("sub'; rm x; '"), "cd -- 'sub'\\''; rm x; '\\''' || exit\nls"),
        ] {
            assert_eq!(within("ls".into(), directory, Some("/p")), expected, "{directory:?}");
        }
    }

    #[test]
    fn what_is_fetched_is_known_or_it_is_no_fetch() {
        let told = |prompt: &str| {
            let input = json!({ "prompt": prompt });
            fetch("web_fetch", Fields::of(&input).unwrap(), &input).unwrap()
        };
        assert_eq!(
            told("read https://e.example/a please"),
            Tool::Fetch { url: "https://e.example/a".into(), method: None }
        );
        for prompt in ["nothing", "https://a.example https://b.example", "file:///etc/passwd", "(https://a.example)"] {
            assert!(matches!(told(prompt), Tool::Other { .. }), "{prompt}");
        }
    }
}
