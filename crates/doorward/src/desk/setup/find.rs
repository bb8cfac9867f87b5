//! Which agents are on this machine.

use std::path::{Path, PathBuf};

use super::{claude, codex, files, opencode, pi};
use crate::machine::agent::Agent;

/// The agents that can be set up and are there: their program is on the search path, or their settings are.
pub fn agents(home: &str, path: &str) -> Vec<Agent> {
    Agent::ALL.into_iter().filter(|agent| is_there(*agent, home, path)).collect()
}

fn is_there(agent: Agent, home: &str, path: &str) -> bool {
    let directory = match agent {
        Agent::Claude => claude::directory(home),
        Agent::Codex => codex::directory(home),
        Agent::Pi => pi::directory(home),
        Agent::Opencode => opencode::directory(home),
        Agent::Gemini | Agent::Qwen | Agent::Copilot => files::directory(agent, home),
        // Known from their documentation alone: they are set up if somebody names them.
        Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => return false,
    };
    directory.is_dir() || program(agent.name(), path).is_some()
}

/// The first program of this name on the search path.
pub fn program(name: &str, path: &str) -> Option<PathBuf> {
    let absolute = path.split(':').filter(|directory| directory.starts_with('/'));
    absolute.map(|directory| Path::new(directory).join(name)).find(|candidate| candidate.is_file())
}
