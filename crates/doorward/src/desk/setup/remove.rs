//! `doorward setup --uninstall`: removes what setup added, and with `--purge` everything doorward keeps.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_ledger::PolicyBody;
use toml_edit::DocumentMut;

use super::{AgentFile, FileChange, Wishes, backup, by_person, inspect, not_understood, pi, plugin, program, show};
use crate::desk::person;
use crate::desk::setup::arguments::SetupArguments;
use crate::machine::agent::Agent;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;
use crate::machine::record::{self, Ledger, LogEntry, Recorder};
use crate::policy::approved_config::{self, USER};
use crate::policy::load;

/// Removes doorward from the settings of the named agents, or of all that have it.
pub(super) fn run(dirs: &Dirs, arguments: &SetupArguments) -> Result<ExitCode> {
    let agents = chosen_agents(dirs, arguments);
    let mut out = anstream::stdout().lock();
    let changes = planned(dirs, &agents)?;
    let changed: Vec<&FileChange> =
        changes.iter().flat_map(|(_, changes)| changes).filter(|change| change.old != change.new).collect();
    if changed.is_empty() && !arguments.purge {
        let titles: Vec<&str> = agents.iter().map(|agent| agent.title()).collect();
        let whose = if titles.is_empty() { "any agent".to_owned() } else { titles.join(", ") };
        writeln!(out, "doorward is not in the settings of {whose}")?;
        if !arguments.dry_run && person::required().is_ok() {
            agents.iter().try_for_each(|agent| forget(dirs, *agent))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.diff || arguments.dry_run {
        changed.iter().try_for_each(|change| show(&mut out, change))?;
    }
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    by_person("uninstalling leaves the agent unguarded")?;
    if arguments.purge {
        may_purge(dirs, &agents)?;
    }
    let titles: Vec<&str> = agents.iter().map(|agent| agent.title()).collect();
    if !arguments.yes
        && !changed.is_empty()
        && !person::agrees(&format!("Remove doorward from {}?", titles.join(", ")))?
    {
        bail!("nothing was changed");
    }
    for (agent, changes) in &changes {
        take_out(dirs, *agent, changes)?;
        writeln!(out, "✓ {}: hooks removed; restart it if it is running", agent.title())?;
    }
    if agents.contains(&Agent::Claude) && plugin::is_enabled(dirs.home()) {
        writeln!(out, "Claude Code still has the plugin, which brings its own hooks: `{}`", plugin::UNINSTALL)?;
    }
    if arguments.purge {
        return purge(&mut out, dirs, arguments);
    }
    writeln!(
        out,
        "the configuration and the record stay in `{}` and `{}`; `--purge` deletes them too",
        dirs.config_directory().display(),
        dirs.state().display()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The named agents, or those with doorward in their settings.
fn chosen_agents(dirs: &Dirs, arguments: &SetupArguments) -> Vec<Agent> {
    let named = arguments.agents.iter().copied();
    let mut agents: Vec<Agent> = Vec::new();
    for agent in named {
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    if arguments.agents.is_empty() {
        let loaded = load::load(dirs, None, "");
        let is_ours = |agent: &Agent| {
            inspect::program_of(*agent, dirs).is_some() || loaded.config.agents.contains_key(agent.name())
        };
        agents.extend(Agent::ALL.into_iter().filter(is_ours));
    }
    agents
}

/// Reads and parses everything before writing anything.
fn planned(dirs: &Dirs, agents: &[Agent]) -> Result<Vec<(Agent, Vec<FileChange>)>> {
    let (program, loaded) = (program()?, load::load(dirs, None, ""));
    let mut changes = Vec::new();
    for agent in agents {
        let parts = super::parts(*agent, dirs, &program, wishes(&loaded, *agent))?;
        changes.push((*agent, parts.into_iter().map(removal).collect::<Result<Vec<FileChange>>>()?));
    }
    Ok(changes)
}

/// What an installation had; the line in the status line is found by itself.
fn wishes(loaded: &load::Loaded, agent: Agent) -> Wishes {
    Wishes { questions: loaded.config.questions(agent.name()), status_line: false }
}

fn take_out(dirs: &Dirs, agent: Agent, changes: &[FileChange]) -> Result<()> {
    for FileChange { part, new, .. } in changes.iter().filter(|change| change.old != change.new) {
        match new {
            Some(new) => atomic_file::replace(&part.file, new)?,
            None => atomic_file::remove(&part.file)?,
        }
        atomic_file::remove(&backup(&part.file))?;
        pi::leave(&part.file);
    }
    forget(dirs, agent)
}

/// Removes the agent's mode from the configuration: without hooks it is not set up. The record still knows that it was.
fn forget(dirs: &Dirs, agent: Agent) -> Result<()> {
    if !record::directory(dirs).exists() {
        return Ok(());
    }
    let file = dirs.config_file();
    let text = atomic_file::text(&file)?.unwrap_or_default();
    let mut document: DocumentMut = text.parse().with_context(|| format!("`{}` is not TOML", file.display()))?;
    let agents = document.get_mut("agents").and_then(toml_edit::Item::as_table_like_mut);
    if agents.and_then(|agents| agents.remove(agent.name())).is_none() {
        return Ok(());
    }
    let body = PolicyBody {
        what: format!("agent `{}` is no longer set up", agent.name()),
        before: None,
        after: None,
        user: crate::machine::user(),
        project: None,
    };
    let _receipt = Ledger::open(dirs).append(LogEntry::new(&body)?).context("can't record the change")?;
    atomic_file::replace(&file, &document.to_string())?;
    approved_config::accept_in(dirs, USER, |config| {
        config.agents.remove(agent.name());
    })
}

/// Hooks without a record block every call, so the last agent must be uninstalled first.
fn may_purge(dirs: &Dirs, agents: &[Agent]) -> Result<()> {
    let is_left = |agent: &&Agent| !agents.contains(agent) && inspect::program_of(**agent, dirs).is_some();
    let left: Vec<&str> = Agent::ALL.iter().filter(is_left).map(|agent| agent.title()).collect();
    if left.is_empty() {
        return Ok(());
    }
    bail!(
        "nothing was changed: without the record every call of {} would be blocked; `doorward setup --uninstall --purge` removes all agents",
        left.join(", ")
    )
}

fn purge(out: &mut dyn Write, dirs: &Dirs, arguments: &SetupArguments) -> Result<ExitCode> {
    let folders = [dirs.config_directory(), dirs.state()];
    let named = folders.iter().map(|folder| format!("`{}`", folder.display())).collect::<Vec<String>>().join(" and ");
    let question =
        format!("Delete {named}: your rules, the record of every decision and all snapshots for `doorward undo`?");
    if !arguments.yes && !person::agrees(&question)? {
        bail!("the hooks are removed; {named} stay");
    }
    for folder in &folders {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("can't remove `{}`", folder.display()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    writeln!(out, "✓ deleted {named}")?;
    Ok(ExitCode::SUCCESS)
}

fn removal(part: AgentFile) -> Result<FileChange> {
    let old = atomic_file::text(&part.file)?;
    let Some(current) = old.clone() else { return Ok(FileChange { part, old, new: None }) };
    let saved = atomic_file::text(&backup(&part.file))?;
    let new = restored(&part, &current, saved.as_deref()).map_err(|problem| not_understood(&part.file, &problem))?;
    Ok(FileChange { part, old, new })
}

/// The earlier content of a file; `None` if there was none.
fn restored(part: &AgentFile, current: &str, saved: Option<&str>) -> Result<Option<String>, String> {
    let without = (part.without)(current)?;
    if without == current {
        return Ok(Some(without));
    }
    // Removing hooks also removes what becomes empty, so normalize the saved text the same way before comparing.
    let round_trip = |saved: &str| (part.with)(saved).and_then(|with| (part.without)(&with)).ok();
    match saved {
        // Nothing else changed: restore exactly the saved bytes.
        Some(saved) if round_trip(saved).and_then(|text| (part.meaning)(&text)) == (part.meaning)(&without) => {
            Ok(Some(saved.to_owned()))
        }
        None if matches!(without.trim(), "" | "{}") => Ok(None),
        Some(_) | None => Ok(Some(without)),
    }
}
