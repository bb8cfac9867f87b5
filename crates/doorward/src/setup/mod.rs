//! `doorward setup [AGENT…]`: shows the change to the agents' settings, asks, makes it and proves it; or takes it back.

mod canary;
mod choice;
mod claude;
mod codex;
mod edit;
mod files;
mod find;
mod hooks;
mod inspect;
mod opencode;
mod pi;
pub mod write;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;
use doorward_ledger::ModeBody;
use serde_json::Value;

use crate::agents::Agent;
use crate::cli::SetupArguments;
use crate::config::{Agent as Choice, Config};
use crate::places::Places;
use crate::record::{self, Entry, Ledger, Recorder};
use crate::screen;
use crate::trust::person;
use hooks::Hooks;

pub use files::switched_off;
pub use inspect::{Fit, opencode_asks, program_of, settings_of, unhooked};
pub use write::replace;

/// What is left to do for an agent that doorward does not know.
const OWN_AGENT: &str = "\
nothing is installed for an agent of your own; let it ask before each call, and run nothing unless the verdict is `approve`:
  echo '{\"event\":\"call\",\"cwd\":\"/dir\",\"tool\":\"bash\",\"input\":{\"command\":\"ls\"}}' | doorward hook generic
or, without a process per call, one such object per line on the socket of
  doorward serve --socket ~/.local/state/doorward/run/socket";

/// Turns the text of a file into another.
type Rewrite = Box<dyn Fn(&str) -> Result<String, String>>;

/// A file of an agent that doorward changes.
pub struct Part {
    pub file: PathBuf,
    pub with: Rewrite,
    pub without: Rewrite,
    /// What a text says, however it is laid out.
    pub meaning: fn(&str) -> Option<Value>,
}

/// One file before and after; `None` where there is none.
struct Change {
    part: Part,
    old: Option<String>,
    new: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &SetupArguments) -> Result<ExitCode> {
    let places = Places::find().map_err(anyhow::Error::msg)?;
    // Once it stands guard, an agent could take it away again or give itself a laxer mode.
    if !arguments.dry_run && record::directory(&places).exists() {
        person::no_agent()?;
    }
    let agents = chosen(&places, arguments)?;
    if arguments.without_hooks {
        return begin(&places, &agents, arguments);
    }
    let program = program()?;
    // Everything is read and understood before anything is written.
    let mut changes = Vec::new();
    for agent in agents {
        let parts = parts(agent, &places, &program)?;
        let planned: Result<Vec<Change>> =
            parts.into_iter().map(|part| if arguments.uninstall { removal(part) } else { addition(part) }).collect();
        changes.push((agent, planned?));
    }
    if arguments.uninstall { uninstall(&changes, arguments) } else { install(&places, &changes, &program, arguments) }
}

/// The agents that were named, or those that are there.
fn chosen(places: &Places, arguments: &SetupArguments) -> Result<Vec<Agent>> {
    if !arguments.agents.is_empty() {
        let mut agents: Vec<Agent> = Vec::new();
        for agent in arguments.agents.iter().map(|name| name.agent()) {
            if !agents.contains(&agent) {
                agents.push(agent);
            }
        }
        return Ok(agents);
    }
    let found = agents_here(places);
    if found.is_empty() {
        bail!("no agent was found on this machine; name one: `doorward setup claude`");
    }
    let titles: Vec<&str> = found.iter().map(|agent| agent.title()).collect();
    writeln!(anstream::stdout(), "found: {}", titles.join(", "))?;
    Ok(found)
}

/// The agents that are on this machine.
pub fn agents_here(places: &Places) -> Vec<Agent> {
    find::agents(places.home(), &search_path())
}

/// The files of an agent that doorward changes.
pub fn parts(agent: Agent, places: &Places, program: &str) -> Result<Vec<Part>> {
    match agent {
        Agent::Claude => Ok(claude::parts(places.home(), program)),
        Agent::Codex => codex::parts(places.home(), program),
        Agent::Pi => Ok(pi::parts(places.home(), program)),
        Agent::Opencode => Ok(opencode::parts(places.home(), program)),
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf => {
            Ok(files::parts(agent, places.home(), program))
        }
        // Whatever runs `doorward hook generic` is no file that we know.
        Agent::Generic => Ok(Vec::new()),
    }
}

/// Where an agent keeps what belongs to the user.
pub fn directory_of(agent: Agent, home: &Path) -> PathBuf {
    let home = home.to_str().unwrap_or_default();
    match agent {
        Agent::Claude => claude::directory(home),
        Agent::Codex => codex::directory(home),
        Agent::Pi => pi::directory(home),
        Agent::Opencode => opencode::directory(home),
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf => {
            files::directory(agent, home)
        }
        Agent::Generic => PathBuf::new(),
    }
}

/// The hooks of an agent, and the file that they stand in.
fn hooks(agent: Agent, places: &Places) -> Option<(Hooks, PathBuf)> {
    match agent {
        Agent::Claude => Some((claude::HOOKS, claude::settings_file(places.home()))),
        Agent::Codex => Some((codex::HOOKS, codex::hooks_file(places.home()))),
        Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf => {
            Some((files::hooks(agent)?, files::settings_file(agent, places.home())))
        }
        Agent::Pi | Agent::Opencode | Agent::Generic => None,
    }
}

fn addition(part: Part) -> Result<Change> {
    let old = write::text(&part.file)?;
    let new =
        (part.with)(old.as_deref().unwrap_or_default()).map_err(|problem| not_understood(&part.file, &problem))?;
    Ok(Change { new: Some(new), old, part })
}

fn removal(part: Part) -> Result<Change> {
    let old = write::text(&part.file)?;
    let Some(current) = old.clone() else { return Ok(Change { part, old, new: None }) };
    let saved = write::text(&backup(&part.file))?;
    let new = restored(&part, &current, saved.as_deref()).map_err(|problem| not_understood(&part.file, &problem))?;
    Ok(Change { part, old, new })
}

fn install(
    places: &Places,
    changes: &[(Agent, Vec<Change>)],
    program: &str,
    arguments: &SetupArguments,
) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    for change in changes.iter().flat_map(|(_, changes)| changes) {
        show(&mut out, change)?;
    }
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let modes = changes.iter().map(|(agent, _)| Ok((*agent, mode(places, *agent, arguments)?)));
    let modes: Vec<(Agent, Mode)> = modes.collect::<Result<_>>()?;
    modes.iter().try_for_each(|(agent, mode)| may_begin(places, *agent, *mode))?;
    for ((agent, mode), (_, changes)) in modes.into_iter().zip(changes) {
        settle(places, agent, mode, arguments)?;
        for change in changes {
            add(change)?;
        }
        let done = if changes.is_empty() { "set" } else { "installed" };
        writeln!(out, "{done} for {} in mode `{mode}`: {}", agent.title(), mode.what())?;
        prove(&mut out, agent, places, program, mode)?;
    }
    list_tools(&mut out, places)?;
    Ok(ExitCode::SUCCESS)
}

fn show(out: &mut dyn Write, change: &Change) -> Result<()> {
    if change.old == change.new {
        writeln!(out, "`{}` stays as it is", change.part.file.display())?;
    } else {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        screen::change(out, &change.part.file, &text(&change.old), &text(&change.new))?;
    }
    Ok(())
}

fn add(change: &Change) -> Result<()> {
    let Change { part, old, new: Some(new) } = change else { return Ok(()) };
    if old.as_ref() == Some(new) {
        return Ok(());
    }
    // What stood there before doorward came is what uninstalling brings back.
    let is_untouched = |old: &&String| (part.without)(old).is_ok_and(|without| without == **old);
    if let Some(before) = old.as_ref().filter(is_untouched) {
        write::replace(&backup(&part.file), before)?;
    }
    write::replace(&part.file, new)
}

/// Begins the record and sets the mode for hooks that somebody else installs: managed settings, a plugin.
fn begin(places: &Places, agents: &[Agent], arguments: &SetupArguments) -> Result<ExitCode> {
    for agent in agents {
        let mode = mode(places, *agent, arguments)?;
        may_begin(places, *agent, mode)?;
        settle(places, *agent, mode, arguments)?;
        writeln!(anstream::stdout(), "mode `{mode}` for {}; its settings are as they were", agent.title())?;
    }
    list_tools(&mut anstream::stdout(), places)?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the programs of tool chains as they are now.
fn list_tools(out: &mut dyn Write, places: &Places) -> Result<()> {
    let listed = crate::trust::tools(places)?;
    if listed > 0 {
        writeln!(
            out,
            "listed {listed} programs of tool chains; `doorward trust tools` lists them again after an update"
        )?;
    }
    Ok(())
}

fn settle(places: &Places, agent: Agent, mode: Mode, arguments: &SetupArguments) -> Result<()> {
    let loaded = crate::loading::load(places, None, agent.name());
    // Who asks for nothing new does not end a rollout.
    let is_kept = loaded.config.is_staged(agent.name()) && arguments.yes && arguments.mode.is_none();
    let choice = if is_kept { Choice::rolled_out() } else { Choice::fixed(mode) };
    let config = configured(places, agent.name(), &choice)?;
    crate::record::begin(places)?;
    let was = loaded.mode(agent.name());
    if was != mode || !places.config_file().exists() {
        let user = Some(rustix::process::geteuid().as_raw().to_string());
        let body = ModeBody { mode: mode.to_string(), before: Some(was.to_string()), session: None, user };
        let _receipt = Ledger::of(places).append(Entry::new(&body)?).context("the mode cannot be recorded")?;
    }
    write_mode(places, agent.name(), &choice, &config)
}

/// Writes the configuration and accepts the mode in it, which is on the record by now.
fn write_mode(places: &Places, agent: &str, choice: &Choice, config: &str) -> Result<()> {
    let directories = |text: &str| Config::parse(text).map(|config| config.programs.directories);
    let old = write::text(&places.config_file())?;
    let had = directories(old.as_deref().unwrap_or_default()).map_err(anyhow::Error::msg)?;
    // Directories that stood in the file before were somebody else's choice.
    let added = if had.is_empty() { directories(config).map_err(anyhow::Error::msg)? } else { Vec::new() };
    crate::accepted::accept_mode(places, agent, choice, &added)?;
    if old.as_deref() != Some(config) {
        write::replace(&places.config_file(), config)?;
    }
    Ok(())
}

/// Whether an agent may be given this mode here. One that approves or looks away takes a person at a terminal; to begin
/// with `confirm-all`, or to stay in the mode that a person chose before, a script will do.
fn may_begin(places: &Places, agent: Agent, mode: Mode) -> Result<()> {
    let is_laxer = match mode {
        Mode::ConfirmAll => false,
        Mode::Auto | Mode::Shadow | Mode::Off => {
            mode != crate::loading::load(places, None, agent.name()).mode(agent.name())
        }
    };
    if is_laxer { by_person(&format!("mode `{mode}` asks less than `confirm-all`")) } else { Ok(()) }
}

/// Fails unless a person at a terminal typed the command; `--yes` answers questions, it does not stand in for the person.
fn by_person(why: &str) -> Result<()> {
    person::required().map_err(|reason| anyhow::anyhow!("nothing was changed: {why}, and {reason}"))
}

/// The mode that was asked for, or chosen by a person, or in force already.
fn mode(places: &Places, agent: Agent, arguments: &SetupArguments) -> Result<Mode> {
    if let Some(mode) = arguments.mode {
        return Ok(mode.into());
    }
    if arguments.yes {
        return Ok(crate::loading::load(places, None, agent.name()).mode(agent.name()));
    }
    if !std::io::stdin().is_terminal() {
        bail!("nobody can be asked here: say `--yes`, and `--mode` if it should not start with `confirm-all`");
    }
    writeln!(anstream::stdout(), "\n{}:", agent.title())?;
    choice::ask(&mut std::io::stdout().lock())
}

fn configured(places: &Places, agent: &str, choice: &Choice) -> Result<String> {
    let file = places.config_file();
    let old = crate::trusted::read(&file).map_err(anyhow::Error::msg)?.unwrap_or_default();
    choice::configured(&old, agent, choice, &choice::tool_chains(&search_path(), places.home()))
        .with_context(|| format!("`{}`", file.display()))
}

/// Writes the mode of an agent into the user's configuration, or that it is rolled out in stages.
pub fn set_mode(places: &Places, agent: &str, choice: &Choice) -> Result<()> {
    let new = configured(places, agent, choice)?;
    write_mode(places, agent, choice, &new)
}

/// Proves that the agent is stopped, and says what was seen.
fn prove(out: &mut dyn Write, agent: Agent, places: &Places, program: &str, mode: Mode) -> Result<()> {
    let judges = matches!(mode, Mode::Auto | Mode::ConfirmAll);
    let Some((hooks, file)) = hooks(agent, places) else { return prove_other(out, agent, places, judges) };
    let written = write::text(&file)?.unwrap_or_default();
    let placed = hooks.placed(&written);
    let line = hooks.deciding_command(program);
    let command = |placed: &hooks::Placed| {
        let handler = placed.content.pointer(&format!("/hooks/{}", placed.handler));
        hooks::command_of(handler.unwrap_or(&placed.content)) == line
    };
    let stands = placed.iter().any(command);
    if !stands {
        bail!("`{}` does not hold the hooks that were written to it", file.display());
    }
    if judges {
        let seen = canary::trial(agent, &line)?;
        writeln!(out, "a trial call through that line (`rm -rf /`, not run) was {seen}")?;
    }
    match (agent, find::program("codex", &search_path())) {
        (Agent::Codex, Some(codex)) => {
            canary::codex_sees(&codex, &file.display().to_string(), placed.len())?;
            writeln!(out, "Codex says that it trusts all {} hooks", placed.len())?;
        }
        (Agent::Codex, None) => {
            writeln!(out, "`codex` is not on the search path, so nobody has asked it whether it trusts the hooks")?;
        }
        (Agent::Cursor | Agent::Vscode | Agent::Windsurf, _) => {
            writeln!(out, "{} was not tried: its hooks are known from its documentation alone", agent.title())?;
        }
        (Agent::Claude | Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Copilot, _) => {}
        (Agent::Opencode | Agent::Generic, _) => {}
    }
    Ok(())
}

/// Proves an agent that is not guarded by a line in its settings.
fn prove_other(out: &mut dyn Write, agent: Agent, places: &Places, judges: bool) -> Result<()> {
    match (agent, find::program("node", &search_path())) {
        (Agent::Pi, Some(node)) if judges => {
            let seen = canary::through_extension(&node, &pi::extension(places.home()))?;
            writeln!(out, "a trial call through the extension (`rm -rf /`, not run) was {seen}")?;
        }
        (Agent::Opencode, Some(node)) if judges => {
            let seen = canary::through_plugin(&node, &opencode::plugin(places.home()))?;
            writeln!(out, "a trial call through the plugin (`rm -rf /`, not run) was {seen}")?;
        }
        (Agent::Pi | Agent::Opencode, None) => {
            writeln!(out, "`node` is not on the search path, so the extension was not tried")?;
        }
        (Agent::Generic, _) => writeln!(out, "{OWN_AGENT}")?,
        (Agent::Pi | Agent::Opencode | Agent::Claude | Agent::Codex, _) => {}
        (Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf, _) => {}
    }
    Ok(())
}

fn uninstall(changes: &[(Agent, Vec<Change>)], arguments: &SetupArguments) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    let changed: Vec<&Change> =
        changes.iter().flat_map(|(_, changes)| changes).filter(|change| change.old != change.new).collect();
    if changed.is_empty() {
        let titles: Vec<&str> = changes.iter().map(|(agent, _)| agent.title()).collect();
        writeln!(out, "the settings of {} have nothing of doorward", titles.join(", "))?;
        return Ok(ExitCode::SUCCESS);
    }
    for change in &changed {
        show(&mut out, change)?;
    }
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    by_person("uninstalling lets the agent work unguarded")?;
    if !arguments.yes && !person::agrees("remove the hooks?")? {
        bail!("nothing was changed");
    }
    for Change { part, new, .. } in changed {
        match new {
            Some(new) => write::replace(&part.file, new)?,
            None => write::remove(&part.file)?,
        }
        write::remove(&backup(&part.file))?;
        pi::leave(&part.file);
    }
    writeln!(out, "removed; the configuration and the record stay where they are")?;
    Ok(ExitCode::SUCCESS)
}

/// What a file was before; `None` if there was none.
fn restored(part: &Part, current: &str, saved: Option<&str>) -> Result<Option<String>, String> {
    let without = (part.without)(current)?;
    if without == current {
        return Ok(Some(without));
    }
    // Taking hooks out also takes out what they leave empty, so the saved text goes the same way before it is compared.
    let round_trip = |saved: &str| (part.with)(saved).and_then(|with| (part.without)(&with)).ok();
    match saved {
        // Nothing else changed since: the saved bytes are exactly what was there.
        Some(saved) if round_trip(saved).and_then(|text| (part.meaning)(&text)) == (part.meaning)(&without) => {
            Ok(Some(saved.to_owned()))
        }
        None if matches!(without.trim(), "" | "{}") => Ok(None),
        Some(_) | None => Ok(Some(without)),
    }
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

fn program() -> Result<String> {
    let path = std::env::current_exe().context("the place of this program is not known")?;
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow::anyhow!("the place of this program is not UTF-8: `{}`", path.display()))
}

fn not_understood(settings: &Path, problem: &str) -> anyhow::Error {
    anyhow::anyhow!("`{}` is not understood, so nothing was changed: {problem}", settings.display())
}
