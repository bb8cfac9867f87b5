//! Inspects the settings of agents without changing them.

use std::path::PathBuf;

use serde_json::Value;

use super::hooks::{self, Hooks, InstalledHook};
use super::{AgentFile, json_meaning, opencode, pi, plugin};
use crate::machine::agent::Agent;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;

/// An agent's file, compared with what setup would write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    Same,
    Changed,
    /// It can't be parsed, or switches hooks off.
    Problem(String),
}

impl FileState {
    pub(crate) fn problem(self) -> Option<String> {
        match self {
            FileState::Problem(problem) => Some(problem),
            FileState::Same | FileState::Changed => None,
        }
    }
}

impl AgentFile {
    /// Whether setup would leave the file as it is.
    pub(crate) fn fit(&self) -> FileState {
        let text = match atomic_file::text(&self.file) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return FileState::Problem(format!("{error:#}")),
        };
        match (self.with)(&text) {
            Ok(with) if with == text => FileState::Same,
            Ok(with) if (self.meaning)(&with).is_some() && (self.meaning)(&with) == (self.meaning)(&text) => {
                FileState::Same
            }
            Ok(_) => FileState::Changed,
            Err(problem) => FileState::Problem(problem),
        }
    }
}

/// The program that an agent's hooks or extension run; `None` if doorward is not installed there.
pub(crate) fn program_of(agent: Agent, dirs: &Dirs) -> Option<String> {
    let named = |file: PathBuf| {
        let text = atomic_file::text(&file).ok()??;
        json_meaning(&text)?.get("program")?.as_str().map(str::to_owned)
    };
    if agent == Agent::Pi {
        return named(pi::extension(dirs.home()).with_file_name("program.json"));
    }
    if agent == Agent::Opencode {
        return named(opencode::plugin(dirs.home()).with_file_name("doorward.json"));
    }
    let hooked = installed(agent, dirs).iter().find_map(|placed| program_in(&command(placed), agent));
    hooked.or_else(|| if has_plugin(agent, dirs) { plugin::program(dirs.home()) } else { None })
}

/// A plugin brings the agent's hooks.
pub(crate) fn has_plugin(agent: Agent, dirs: &Dirs) -> bool {
    agent == Agent::Claude && plugin::is_enabled(dirs.home())
}

/// The settings with an agent's hooks, or those that make it ask on its own.
pub(crate) fn settings_of(agent: Agent, dirs: &Dirs) -> Option<PathBuf> {
    if agent == Agent::Opencode {
        return Some(opencode::settings_file(dirs.home()));
    }
    super::hooks(agent, dirs).map(|(_, file)| file)
}

/// An event that should have our hook and does not.
pub(crate) fn unhooked(agent: Agent, dirs: &Dirs) -> Option<&'static str> {
    let (Hooks { deciding, recorded, .. }, _) = super::hooks(agent, dirs)?;
    let placed = installed(agent, dirs);
    if placed.is_empty() && has_plugin(agent, dirs) {
        return None;
    }
    let is_hooked = |event: &str| placed.iter().any(|placed| placed.event == event);
    deciding.iter().chain(recorded).find(|event| !is_hooked(event)).copied()
}

/// OpenCode asks about unjudged calls.
pub(crate) fn opencode_asks(dirs: &Dirs) -> bool {
    let text = atomic_file::text(&opencode::settings_file(dirs.home())).ok().flatten().unwrap_or_default();
    json_meaning(&text).is_some_and(|settings: Value| opencode::asks_by_itself(&settings))
}

fn installed(agent: Agent, dirs: &Dirs) -> Vec<InstalledHook> {
    let Some((hooks, file)) = super::hooks(agent, dirs) else { return Vec::new() };
    let text = atomic_file::text(&file).ok().flatten().unwrap_or_default();
    hooks.find_ours(&text)
}

fn command(placed: &InstalledHook) -> String {
    let handler = placed.content.pointer(&format!("/hooks/{}", placed.handler));
    hooks::command_of(handler.unwrap_or(&placed.content)).to_owned()
}

/// The program at the start of a line that setup wrote.
fn program_in(command: &str, agent: Agent) -> Option<String> {
    let (program, _) = command.split_once(&format!(" hook {}", agent.name()))?;
    let quoted = program.trim().strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    Some(quoted.unwrap_or(program).replace("'\\''", "'"))
}
