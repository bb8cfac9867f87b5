//! Which agents are on this machine.

use std::path::{Path, PathBuf};

use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

/// The agents that are installed: their program is on the search path, or their settings exist.
pub(super) fn agents(home: &str, path: &str) -> Vec<Agent> {
    Agent::ALL.into_iter().filter(|agent| is_there(*agent, home, path)).collect()
}

fn is_there(agent: Agent, home: &str, path: &str) -> bool {
    match agent {
        Agent::Claude | Agent::Codex | Agent::Pi | Agent::Opencode | Agent::Gemini | Agent::Qwen | Agent::Copilot => {
            directory_of(agent, home).is_dir() || program(agent.name(), path).is_some()
        }
        // Known only from their documentation: set up only if named.
        Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => false,
    }
}

/// The first program of this name on the search path.
pub(super) fn program(name: &str, path: &str) -> Option<PathBuf> {
    let absolute = path.split(':').filter(|directory| directory.starts_with('/'));
    absolute.map(|directory| Path::new(directory).join(name)).find(|candidate| candidate.is_file())
}
