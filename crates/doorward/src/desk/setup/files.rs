//! Changes for agents that keep their hooks in one of the user's JSON files.

use std::path::PathBuf;

use serde_json::Value;

use super::AgentFile;
use super::hooks::{HookFormat, Hooks};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

const GEMINI: Hooks = Hooks {
    agent: Agent::Gemini,
    deciding: &["BeforeTool"],
    recorded: &["AfterTool", "SessionStart", "SessionEnd", "PreCompress"],
    shape: HookFormat::Milliseconds,
};

const QWEN: Hooks = Hooks {
    agent: Agent::Qwen,
    deciding: &["PreToolUse"],
    recorded: &["PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd", "PreCompact"],
    shape: HookFormat::Milliseconds,
};

const COPILOT: Hooks = Hooks {
    agent: Agent::Copilot,
    deciding: &["preToolUse"],
    recorded: &["postToolUse", "sessionStart", "sessionEnd"],
    shape: HookFormat::Copilot,
};

const CURSOR: Hooks = Hooks {
    agent: Agent::Cursor,
    deciding: &["preToolUse"],
    recorded: &["postToolUse", "postToolUseFailure", "sessionStart", "sessionEnd"],
    shape: HookFormat::Cursor,
};

const VSCODE: Hooks = Hooks {
    agent: Agent::Vscode,
    deciding: &["PreToolUse"],
    recorded: &["PostToolUse", "SessionStart"],
    shape: HookFormat::Vscode,
};

const WINDSURF: Hooks = Hooks {
    agent: Agent::Windsurf,
    deciding: &["pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"],
    recorded: &["post_run_command", "post_write_code", "post_read_code", "post_mcp_tool_use"],
    shape: HookFormat::Windsurf,
};

/// The hooks of an agent that is set up here.
pub(super) fn hooks(agent: Agent) -> Option<Hooks> {
    match agent {
        Agent::Gemini => Some(GEMINI),
        Agent::Qwen => Some(QWEN),
        Agent::Copilot => Some(COPILOT),
        Agent::Cursor => Some(CURSOR),
        Agent::Vscode => Some(VSCODE),
        Agent::Windsurf => Some(WINDSURF),
        Agent::Claude | Agent::Codex | Agent::Pi | Agent::Opencode | Agent::Generic => None,
    }
}

/// The path of an agent's hooks.
pub(super) fn settings_file(agent: Agent, home: &str) -> PathBuf {
    directory_of(agent, home).join(match agent {
        Agent::Copilot => "hooks/doorward.json",
        Agent::Vscode => "hooks/doorward-vscode.json",
        Agent::Cursor | Agent::Windsurf => "hooks.json",
        Agent::Gemini | Agent::Qwen => "settings.json",
        Agent::Claude | Agent::Codex | Agent::Pi | Agent::Opencode | Agent::Generic => "",
    })
}

pub(super) fn parts(agent: Agent, home: &str, program: &str) -> Vec<AgentFile> {
    let Some(hooks) = hooks(agent) else { return Vec::new() };
    let program = program.to_owned();
    vec![AgentFile {
        file: settings_file(agent, home),
        with: Box::new(move |settings| match super::json_meaning(settings).as_ref().and_then(switched_off) {
            Some(switch) => Err(format!("`{switch}` switches the hooks off; remove it first")),
            None => hooks.with_ours(settings, &program),
        }),
        without: Box::new(move |settings| hooks.without_ours(settings)),
        meaning: super::json_meaning,
    }]
}

/// The setting that keeps the agent from running hooks, or ours in particular.
pub(crate) fn switched_off(settings: &Value) -> Option<&'static str> {
    let is = |path: &str, wanted: bool| settings.pointer(path) == Some(&Value::Bool(wanted));
    let disabled = settings.pointer("/hooksConfig/disabled").and_then(Value::as_array);
    if is("/hooksConfig/enabled", false) {
        Some("hooksConfig.enabled")
    } else if disabled.is_some_and(|names| names.iter().any(|name| name == "doorward" || name == "*")) {
        Some("hooksConfig.disabled")
    } else if is("/disableAllHooks", true) {
        Some("disableAllHooks")
    } else {
        None
    }
}
