//! `doorward setup [AGENT…]`: shows the change to the agents' settings, asks, makes it and tests it; or removes it again.

mod arguments;
pub(crate) mod boxed;
mod canary;
mod choice;
mod claude;
mod client;
mod codex;
mod edit;
mod files;
mod find;
mod hooks;
mod inspect;
mod install;
mod offer;
mod opencode;
mod pi;
mod plugin;
mod prove;
mod relays;
mod remove;
mod status_line;
mod trial;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::desk::person;
use crate::desk::screen;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::policy::config::{Agent as Choice, Config, Questions};
use hooks::Hooks;

pub(crate) use arguments::{SetupArguments, StartingMode};
pub(crate) use client::{mode as client_mode, questions as questions_of};
pub(crate) use files::switched_off;
pub(crate) use inspect::{FileState, opencode_asks, program_of, settings_of, unhooked};
pub(crate) use relays::{bare as servers_without_relay, behind as servers_behind_relay};

/// What the user has to do for an agent doorward does not know.
const OWN_AGENT: &str = "\
For your own agent doorward installs nothing. Have the agent ask before each call, and run it only if the verdict is `approve`:
  echo '{\"event\":\"call\",\"cwd\":\"/dir\",\"tool\":\"bash\",\"input\":{\"command\":\"ls\"}}' | doorward hook generic
Or, without a process per call, send one such object per line to the socket of
  doorward serve --socket ~/.local/state/doorward/run/socket";

/// Transforms the text of a file.
type Rewrite = Box<dyn Fn(&str) -> Result<String, String>>;

/// A file of an agent that doorward changes.
pub(crate) struct AgentFile {
    pub file: PathBuf,
    pub with: Rewrite,
    pub without: Rewrite,
    /// The meaning of a text, whatever its layout.
    pub meaning: fn(&str) -> Option<Value>,
}

/// What the user wants in an agent's settings besides the hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Who answers questions; `None` if that needs no choice.
    pub questions: Option<Questions>,
    /// doorward's line in the status line. One that is there stays without being wished for.
    pub status_line: bool,
}

/// One file before and after; `None` if there is none.
struct FileChange {
    part: AgentFile,
    old: Option<String>,
    new: Option<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &SetupArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    // Otherwise an agent could remove the guard or give itself a laxer mode.
    if !arguments.dry_run && record::directory(&dirs).exists() {
        person::no_agent()?;
    }
    if arguments.relay {
        return relays::run(&dirs, arguments);
    }
    if arguments.uninstall {
        return remove::run(&dirs, arguments);
    }
    let agents = chosen_agents(&dirs, arguments)?;
    if arguments.without_hooks {
        install::begin(&dirs, &agents, arguments)
    } else {
        install::run(&dirs, &agents, arguments)
    }
}

/// The named agents, or those that are installed.
fn chosen_agents(dirs: &Dirs, arguments: &SetupArguments) -> Result<Vec<Agent>> {
    if !arguments.agents.is_empty() {
        let mut agents: Vec<Agent> = Vec::new();
        for agent in arguments.agents.iter().copied() {
            if !agents.contains(&agent) {
                agents.push(agent);
            }
        }
        return Ok(agents);
    }
    let found = agents_here(dirs);
    if found.is_empty() {
        bail!("no agents found on this machine; name one, for example `doorward setup claude`");
    }
    let titles: Vec<&str> = found.iter().map(|agent| agent.title()).collect();
    writeln!(anstream::stdout(), "found: {}", titles.join(", "))?;
    Ok(found)
}

/// The agents on this machine.
pub(crate) fn agents_here(dirs: &Dirs) -> Vec<Agent> {
    find::agents(dirs.home(), &search_path())
}

/// The files of an agent that doorward changes.
pub(crate) fn parts(agent: Agent, dirs: &Dirs, program: &str, wishes: Wishes) -> Result<Vec<AgentFile>> {
    match agent {
        Agent::Claude => Ok(claude::parts(dirs.home(), program, wishes)),
        Agent::Codex => codex::parts(dirs.home(), program),
        Agent::Pi => Ok(pi::parts(dirs.home(), program)),
        Agent::Opencode => Ok(opencode::parts(dirs.home(), program)),
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf => {
            Ok(files::parts(agent, dirs.home(), program))
        }
        // We know no file for whatever runs `doorward hook generic`.
        Agent::Generic => Ok(Vec::new()),
    }
}

/// The hooks of an agent, and the file they are in.
fn hooks(agent: Agent, dirs: &Dirs) -> Option<(Hooks, PathBuf)> {
    match agent {
        Agent::Claude => Some((claude::HOOKS, claude::settings_file(dirs.home()))),
        Agent::Codex => Some((codex::HOOKS, codex::hooks_file(dirs.home()))),
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf => {
            Some((files::hooks(agent)?, files::settings_file(agent, dirs.home())))
        }
        Agent::Pi | Agent::Opencode | Agent::Generic => None,
    }
}

fn show(out: &mut dyn Write, change: &FileChange) -> Result<()> {
    if change.old == change.new {
        writeln!(out, "`{}` needs no change", change.part.file.display())?;
    } else {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        screen::change(out, &change.part.file, &text(&change.old), &text(&change.new))?;
    }
    Ok(())
}

/// Writes the configuration and accepts the mode in it, which is already recorded.
fn write_mode(dirs: &Dirs, agent: &str, choice: &Choice, config: &str) -> Result<()> {
    let directories = |text: &str| Config::parse(text).map(|config| config.programs.directories);
    let old = crate::machine::atomic_file::text(&dirs.config_file())?;
    let had = directories(old.as_deref().unwrap_or_default()).map_err(anyhow::Error::msg)?;
    // Directories that were already in the file were not chosen here.
    let added = if had.is_empty() { directories(config).map_err(anyhow::Error::msg)? } else { Vec::new() };
    crate::policy::approved_config::accept_mode(dirs, agent, choice, &added)?;
    if old.as_deref() != Some(config) {
        crate::machine::atomic_file::replace(&dirs.config_file(), config)?;
    }
    Ok(())
}

/// Fails unless the user typed the command at a terminal; `--yes` answers questions, it does not replace the user.
fn by_person(why: &str) -> Result<()> {
    person::required().map_err(|reason| anyhow::anyhow!("nothing was changed: {why}, and {reason}"))
}

fn configured(dirs: &Dirs, agent: &str, choice: &Choice) -> Result<String> {
    let file = dirs.config_file();
    let old = crate::machine::checked_read::read(&file).map_err(anyhow::Error::msg)?.unwrap_or_default();
    choice::configured(&old, agent, choice, &choice::tool_chains(&search_path(), dirs.home()))
        .with_context(|| format!("`{}`", file.display()))
}

/// Writes an agent's mode to the user's configuration, or that it is rolled out in stages.
pub(crate) fn set_mode(dirs: &Dirs, agent: &str, choice: &Choice) -> Result<()> {
    let new = configured(dirs, agent, choice)?;
    write_mode(dirs, agent, choice, &new)
}

fn backup(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".before-doorward");
    file.with_file_name(name)
}

fn json_meaning(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

pub(crate) fn program() -> Result<String> {
    let path = std::env::current_exe().context("can't find doorward's own executable")?;
    // The hook lines, and the commands that agents may not run, are recognized by this name.
    let name = path.file_name().unwrap_or_default();
    if name != "doorward" {
        let name = name.display();
        bail!(
            "this program is called `{name}`, but hooks are recognized by the name `doorward`; rename the file to `doorward` and run setup again"
        );
    }
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow::anyhow!("the path of this program is not UTF-8: `{}`", path.display()))
}

fn not_understood(settings: &Path, problem: &str) -> anyhow::Error {
    anyhow::anyhow!("can't parse `{}`, so nothing was changed: {problem}", settings.display())
}
