//! Where each agent keeps the user's settings, sessions and rules.

use std::path::{Path, PathBuf};

use crate::machine::agent::Agent;

/// The directory in which an agent keeps the user's files.
pub(crate) fn directory_of(agent: Agent, home: &str) -> PathBuf {
    match agent {
        Agent::Claude => claude(home),
        Agent::Codex => codex(home),
        Agent::Pi => pi(home),
        Agent::Opencode => opencode(home),
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf => {
            others(agent, home)
        }
        Agent::Generic => PathBuf::new(),
    }
}

fn claude(home: &str) -> PathBuf {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| Path::new(home).join(".claude"))
}

fn codex(home: &str) -> PathBuf {
    let named = std::env::var_os("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| Path::new(home).join(".codex"))
}

fn pi(home: &str) -> PathBuf {
    let named = std::env::var_os("PI_CODING_AGENT_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| Path::new(home).join(".pi/agent"))
}

fn opencode(home: &str) -> PathBuf {
    let named = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| Path::new(home).join(".config")).join("opencode")
}

fn others(agent: Agent, home: &str) -> PathBuf {
    let name = match agent {
        Agent::Qwen => ".qwen",
        Agent::Copilot | Agent::Vscode => ".copilot",
        Agent::Cursor => ".cursor",
        Agent::Windsurf => ".codeium/windsurf",
        Agent::Gemini => ".gemini",
        Agent::Claude | Agent::Codex | Agent::Pi | Agent::Opencode | Agent::Generic => "",
    };
    Path::new(home).join(name)
}
