//! Repository settings that switch hooks off: agents obey them, some even in folders you have not trusted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Checkup, Defect};
use crate::desk::setup;
use crate::machine::agent::Agent;
use crate::machine::world::project_root;

pub(super) fn defects(patient: &Checkup<'_>, agent: Agent) -> Vec<Defect> {
    let switch = |file: PathBuf| {
        let text = crate::machine::checked_read::start_of(&file, 1 << 20)?;
        let switch = switched_off(agent, file.to_str()?, &text)?;
        let what = format!("`{}` says `{switch}`, so hooks do not run in this project", file.display());
        Some(Defect::new(
            "hooks-off-project",
            agent,
            what,
            "remove that setting from the file before you start the agent here",
        ))
    };
    files(patient, agent).into_iter().filter_map(switch).collect()
}

/// The project's files that an agent obeys.
pub(super) fn files(patient: &Checkup<'_>, agent: Agent) -> Vec<PathBuf> {
    let Some(here) = &patient.here else { return Vec::new() };
    let root = PathBuf::from(project_root(here).unwrap_or_else(|| here.clone()));
    // The home directory's own settings are the user's.
    if root == Path::new(patient.dirs.home()) {
        return Vec::new();
    }
    names(agent).iter().map(|name| root.join(name)).collect()
}

const fn names(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &[".claude/settings.json", ".claude/settings.local.json"],
        Agent::Codex => &[".codex/config.toml"],
        Agent::Gemini => &[".gemini/settings.json"],
        Agent::Qwen => &[".qwen/settings.json"],
        Agent::Opencode => &["opencode.json", ".opencode/opencode.json"],
        Agent::Pi | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => &[],
    }
}

fn switched_off(agent: Agent, name: &str, text: &str) -> Option<String> {
    if name.ends_with(".toml") {
        let config: toml_edit::DocumentMut = text.parse().ok()?;
        let is_off = config.get("features")?.get("hooks")?.as_bool() == Some(false);
        return is_off.then(|| "features.hooks = false".to_owned());
    }
    let settings: Value = serde_json::from_str(text).ok()?;
    if agent == Agent::Opencode {
        let permission = settings.get("permission")?;
        let allows = |value: &Value| value == "allow";
        let is_open = allows(permission) || permission.as_object().is_some_and(|all| all.values().any(allows));
        return is_open.then(|| format!("permission: {permission}"));
    }
    setup::switched_off(&settings).map(str::to_owned)
}
