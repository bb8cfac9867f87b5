//! Whether doorward stands between an agent and the machine right now, seen from outside.

use std::path::Path;

use doorward_engine::Mode;
use serde_json::Value;

use crate::desk::setup;
use crate::machine::agent::Agent;
use crate::machine::checked_read;
use crate::machine::paths::Dirs;
use crate::policy::load::Loaded;

/// A session that is older than this has run its hooks for the start.
// The start of a session fires a hook within a second; a busy machine takes longer.
const SETTLED_MS: u64 = 20_000;

/// How well the agent is guarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Closed,
    /// Calls are judged or refused, but not as intended.
    Weak(String),
    /// Calls run unjudged.
    Open(String),
}

/// What is asked about an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub dirs: &'a Dirs,
    pub loaded: &'a Loaded,
    /// `None`: all that are set up.
    pub agent: Option<Agent>,
    pub project: Option<&'a str>,
    /// No hook has run in the session that asks.
    pub is_unseen: bool,
    /// How long that session has been running.
    pub age_ms: u64,
}

/// The first thing that is wrong, the worst first.
pub(super) fn guard(asked: &Question<'_>) -> Guard {
    let agents: Vec<Agent> = match asked.agent {
        Some(agent) => vec![agent],
        None => asked.loaded.config.agents.keys().filter_map(|name| Agent::parse(name)).collect(),
    };
    if agents.is_empty() {
        return Guard::Open("no agent is set up; run `doorward setup`".to_owned());
    }
    let mut found: Vec<Guard> = agents.into_iter().map(|agent| of_agent(asked, agent)).collect();
    found.sort_by_key(|guard| match guard {
        Guard::Open(_) => 0,
        Guard::Weak(_) => 1,
        Guard::Closed => 2,
    });
    found.into_iter().next().unwrap_or(Guard::Closed)
}

fn of_agent(asked: &Question<'_>, agent: Agent) -> Guard {
    let Question { dirs, loaded, .. } = asked;
    let title = agent.title();
    let is_set_up = loaded.config.agents.contains_key(agent.name());
    // For an own agent nothing is installed that could be looked at.
    if agent != Agent::Generic {
        let Some(program) = setup::program_of(agent, dirs) else {
            return Guard::Open(format!("{title} has no doorward hooks; run `doorward setup`"));
        };
        if let Some(switch) = switched_off(asked, agent) {
            return Guard::Open(format!("`{switch}` switches the hooks off"));
        }
        if !Path::new(&program).exists() {
            return Guard::Weak(format!("every call of {title} is refused: `{program}` is gone; run `doorward setup`"));
        }
    }
    match loaded.mode(agent.name()) {
        Mode::Off if is_set_up => return Guard::Open(format!("{title} is in mode `off`")),
        Mode::Shadow => return Guard::Open("mode `shadow` only records".to_owned()),
        Mode::Off | Mode::Auto | Mode::ConfirmAll => {}
    }
    if asked.is_unseen && asked.age_ms > SETTLED_MS {
        return Guard::Open("no hook has run in this session; restart it".to_owned());
    }
    match loaded.problems.first() {
        Some(problem) => Guard::Weak(format!("asks about everything: {problem}")),
        None => Guard::Closed,
    }
}

/// A setting of the user or of the project that keeps Claude Code from running hooks.
fn switched_off(asked: &Question<'_>, agent: Agent) -> Option<&'static str> {
    if agent != Agent::Claude {
        return None;
    }
    let of_project =
        |root: &'_ str| [".claude/settings.json", ".claude/settings.local.json"].map(|name| Path::new(root).join(name));
    let files = setup::settings_of(agent, asked.dirs).into_iter().chain(asked.project.into_iter().flat_map(of_project));
    files.filter_map(|file| checked_read::start_of(file, 1 << 20)).find_map(|text| {
        let settings: Value = serde_json::from_str(&text).ok()?;
        setup::switched_off(&settings)
    })
}
