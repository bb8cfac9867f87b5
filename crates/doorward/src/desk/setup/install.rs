//! Installing: the questions, the changes, and the two-line status of each agent.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;
use doorward_ledger::{ModeBody, PolicyBody};

use super::{
    AgentFile, FileChange, OWN_AGENT, Wishes, backup, by_person, choice, claude, client, configured, inspect,
    not_understood, offer, prove, show, status_line, write_mode,
};
use crate::desk::person;
use crate::desk::setup::arguments::SetupArguments;
use crate::machine::agent::Agent;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::world::project_root;
use crate::policy::config::{Agent as Choice, Questions};
use crate::policy::load::{self, Loaded};

/// What to set up for one agent.
struct AgentSetup {
    agent: Agent,
    mode: Mode,
    /// Who answers questions; `None` if that needs no choice.
    questions: Option<Questions>,
    status_line: bool,
}

impl AgentSetup {
    const fn wishes(&self) -> Wishes {
        Wishes { questions: self.questions, status_line: self.status_line }
    }
}

pub(super) fn run(dirs: &Dirs, agents: &[Agent], arguments: &SetupArguments) -> Result<ExitCode> {
    let program = super::program()?;
    let usual: Vec<AgentSetup> = agents.iter().map(|agent| usual(dirs, *agent, arguments)).collect();
    // Read and parse everything before asking or writing anything.
    let changes = planned(dirs, &program, &usual)?;
    let mut out = anstream::stdout().lock();
    if arguments.dry_run {
        changes.iter().flatten().try_for_each(|change| show(&mut out, change))?;
        return Ok(ExitCode::SUCCESS);
    }
    let wanted = agents.iter().map(|agent| plan_agent(dirs, *agent, arguments)).collect::<Result<Vec<AgentSetup>>>()?;
    wanted.iter().try_for_each(|wanted| may_begin(dirs, wanted))?;
    let changes = planned(dirs, &program, &wanted)?;
    if arguments.diff {
        changes.iter().flatten().try_for_each(|change| show(&mut out, change))?;
    }
    let here = project_here();
    for (wanted, changes) in wanted.iter().zip(&changes) {
        settle(dirs, wanted, arguments)?;
        changes.iter().try_for_each(add)?;
        let seen = prove::prove(wanted.agent, dirs, &program, wanted.mode)?;
        let is_new = changes.iter().any(|change| change.old != change.new);
        report(&mut out, dirs, wanted, (&seen, is_new, here.as_deref()))?;
    }
    if changes.iter().flatten().any(|change| change.old != change.new) && !arguments.diff {
        writeln!(out, "`doorward setup --uninstall` removes it all; `--dry-run` shows what is in the files")?;
    }
    list_tools(&mut out, dirs)?;
    let trusted: Vec<Agent> = wanted.iter().filter(|of| of.mode == Mode::Auto).map(|of| of.agent).collect();
    if !trusted.is_empty() {
        super::boxed::choose(&mut out, dirs, &program, &trusted)?;
    }
    let bare = super::servers_without_relay(dirs);
    if !bare.is_empty() {
        let count = bare.len();
        writeln!(out, "{count} tool servers of your settings could go behind a relay: `doorward setup --relay`")?;
    }
    drop(out);
    offer::rules(dirs, agents, arguments)?;
    offer::trust(dirs, here.as_deref(), arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// Two lines: that it works, and what the user needs to know.
fn report(
    out: &mut dyn Write,
    dirs: &Dirs,
    wanted: &AgentSetup,
    (seen, is_new, here): (&str, bool, Option<&str>),
) -> Result<()> {
    let AgentSetup { agent, mode, .. } = wanted;
    writeln!(out, "✓ {}: {mode}, {seen}", agent.title())?;
    if *agent == Agent::Generic {
        writeln!(out, "  mode `{mode}`: {}\n{OWN_AGENT}", mode_meaning(*mode))?;
        return Ok(());
    }
    let loaded = load::load(dirs, None, agent.name());
    let questions = match mode {
        Mode::Auto | Mode::ConfirmAll => format!("; {}", client::questions(*agent, dirs, here, &loaded.config)),
        Mode::Shadow | Mode::Off => String::new(),
    };
    // Claude Code asks at its next start whether `auto` should be its own mode; Enter would undo the choice made here.
    let offers_auto = *agent == Agent::Claude && !client::keeps_quiet(*agent, dirs.home(), here);
    let restart = match (is_new, offers_auto) {
        (true, true) => ". Restart it if it is running; if it offers `auto` mode, keep manual mode",
        (true, false) => ". Restart it if it is running",
        (false, _) => "",
    };
    writeln!(out, "  mode `{mode}`: {}{questions}{restart}", mode_meaning(*mode))?;
    Ok(())
}

const fn mode_meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "harmless calls run, doorward asks about or blocks the rest",
        Mode::ConfirmAll => "doorward asks about every call",
        Mode::Shadow => "calls are recorded, never stopped",
        Mode::Off => "doorward judges and records nothing",
    }
}

/// The changes for each agent.
fn planned(dirs: &Dirs, program: &str, wanted: &[AgentSetup]) -> Result<Vec<Vec<FileChange>>> {
    let of = |wanted: &AgentSetup| {
        let parts = super::parts(wanted.agent, dirs, program, wanted.wishes())?;
        parts.into_iter().map(addition).collect::<Result<Vec<FileChange>>>()
    };
    wanted.iter().map(of).collect()
}

/// What needs no question.
fn usual(dirs: &Dirs, agent: Agent, arguments: &SetupArguments) -> AgentSetup {
    let loaded = load::load(dirs, None, agent.name());
    let mode = arguments.mode.map_or_else(|| loaded.mode(agent.name()), Mode::from);
    let questions = arguments.questions.map(Questions::from).or_else(|| loaded.config.questions(agent.name()));
    let default = is_open(dirs, agent, mode).then_some(Questions::Client);
    AgentSetup { agent, mode, questions: questions.or(default), status_line: is_line_named(agent, arguments) }
}

/// What the user wants: from before, from the arguments, or by asking.
fn plan_agent(dirs: &Dirs, agent: Agent, arguments: &SetupArguments) -> Result<AgentSetup> {
    let loaded = load::load(dirs, None, agent.name());
    let mode = mode(&loaded, dirs, agent, arguments)?;
    let said = arguments.questions.map(Questions::from).or_else(|| loaded.config.questions(agent.name()));
    let questions = match said {
        None if is_open(dirs, agent, mode) && !arguments.yes && std::io::stdin().is_terminal() => {
            Some(choice::questions(&mut std::io::stdout().lock(), agent)?)
        }
        None => is_open(dirs, agent, mode).then_some(Questions::Client),
        Some(said) => Some(said),
    };
    Ok(AgentSetup { agent, mode, questions, status_line: status_line(dirs, agent, arguments)? })
}

fn is_line_named(agent: Agent, arguments: &SetupArguments) -> bool {
    agent == Agent::Claude && arguments.statusline
}

/// Whether doorward gets a line in Claude Code's status line: as the arguments say, or as the user answers now.
fn status_line(dirs: &Dirs, agent: Agent, arguments: &SetupArguments) -> Result<bool> {
    // Once, while installing: whoever said no then is not asked again.
    let is_new = inspect::program_of(agent, dirs).is_none();
    let is_asked = agent == Agent::Claude && is_new && !arguments.yes && std::io::stdin().is_terminal();
    if arguments.statusline || !is_asked {
        return Ok(is_line_named(agent, arguments));
    }
    let settings = atomic_file::text(&claude::settings_file(dirs.home()))?.unwrap_or_default();
    if status_line::is_ours(&settings) {
        return Ok(true);
    }
    let beside = if status_line::has_any(&settings) { "; your own line stays, above it" } else { "" };
    person::agrees_unless_no(&format!("Show doorward's mode, counts and waiting calls in its status line{beside}?"))
}

/// The agent's own mode hides questions, and doorward will ask some.
fn is_open(dirs: &Dirs, agent: Agent, mode: Mode) -> bool {
    matches!(mode, Mode::Auto | Mode::ConfirmAll) && client::keeps_quiet(agent, dirs.home(), None)
}

/// The requested mode, the current one, or the one the user chooses now.
fn mode(loaded: &Loaded, dirs: &Dirs, agent: Agent, arguments: &SetupArguments) -> Result<Mode> {
    if let Some(mode) = arguments.mode {
        return Ok(mode.into());
    }
    let is_set_up = loaded.config.agents.contains_key(agent.name()) && inspect::program_of(agent, dirs).is_some();
    let now = loaded.mode(agent.name());
    // Naming an agent that is not trusted yet asks this question again.
    let is_settled = now == Mode::Auto || arguments.agents.is_empty() || !std::io::stdin().is_terminal();
    if arguments.yes || (is_set_up && is_settled) {
        return Ok(now);
    }
    if !std::io::stdin().is_terminal() {
        bail!("there is no terminal to ask at: pass `--yes`, and `--mode` unless it should start with `confirm-all`");
    }
    writeln!(anstream::stdout(), "\n{}:", agent.title())?;
    choice::ask(&mut std::io::stdout().lock(), now)
}

/// Whether an agent may be set up like this here. A laxer mode or a classifier takes the user at a terminal; a script may
/// start with `confirm-all` or keep the user's earlier choice.
fn may_begin(dirs: &Dirs, wanted: &AgentSetup) -> Result<()> {
    let loaded = load::load(dirs, None, wanted.agent.name());
    let name = wanted.agent.name();
    let is_laxer = match wanted.mode {
        Mode::ConfirmAll => false,
        Mode::Auto | Mode::Shadow | Mode::Off => wanted.mode != loaded.mode(name),
    };
    if is_laxer {
        by_person(&format!("mode `{}` asks less than `confirm-all`", wanted.mode))?;
    }
    let is_left = wanted.questions == Some(Questions::Classifier);
    if is_left && wanted.agent != Agent::Claude {
        bail!("nothing was changed: {} has no classifier to answer questions", wanted.agent.title());
    }
    if is_left && loaded.config.questions(name) != wanted.questions {
        by_person("a classifier would answer questions in your place")?;
    }
    Ok(())
}

fn addition(part: AgentFile) -> Result<FileChange> {
    let old = atomic_file::text(&part.file)?;
    let new =
        (part.with)(old.as_deref().unwrap_or_default()).map_err(|problem| not_understood(&part.file, &problem))?;
    Ok(FileChange { new: Some(new), old, part })
}

fn add(change: &FileChange) -> Result<()> {
    let FileChange { part, old, new: Some(new) } = change else { return Ok(()) };
    if old.as_ref() == Some(new) {
        return Ok(());
    }
    // Uninstalling restores what was there before doorward.
    let is_untouched = |old: &&String| (part.without)(old).is_ok_and(|without| without == **old);
    if let Some(before) = old.as_ref().filter(is_untouched) {
        atomic_file::replace(&backup(&part.file), before)?;
    }
    atomic_file::replace(&part.file, new)
}

/// Starts the record and sets the mode for hooks installed elsewhere: by managed settings or a plugin.
pub(super) fn begin(dirs: &Dirs, agents: &[Agent], arguments: &SetupArguments) -> Result<ExitCode> {
    for agent in agents {
        let loaded = load::load(dirs, None, agent.name());
        let mode = mode(&loaded, dirs, *agent, arguments)?;
        let wanted =
            AgentSetup { agent: *agent, mode, questions: arguments.questions.map(Questions::from), status_line: false };
        may_begin(dirs, &wanted)?;
        settle(dirs, &wanted, arguments)?;
        writeln!(anstream::stdout(), "mode `{mode}` for {}; its settings were not changed", agent.title())?;
    }
    list_tools(&mut anstream::stdout(), dirs)?;
    Ok(ExitCode::SUCCESS)
}

/// Pins the programs of toolchains as they are now.
fn list_tools(out: &mut dyn Write, dirs: &Dirs) -> Result<()> {
    let listed = crate::desk::trust::tools(dirs)?;
    if listed > 0 {
        writeln!(
            out,
            "✓ toolchains: pinned {listed} programs as they are now; run `doorward trust tools` again after an update"
        )?;
    }
    Ok(())
}

/// INVARIANT: anything that loosens is recorded before it takes effect.
fn settle(dirs: &Dirs, wanted: &AgentSetup, arguments: &SetupArguments) -> Result<()> {
    let AgentSetup { agent, mode, questions, .. } = wanted;
    let loaded = load::load(dirs, None, agent.name());
    // Asking for nothing new does not end a rollout.
    let is_kept = loaded.config.is_staged(agent.name()) && arguments.mode.is_none();
    let choice = if is_kept { Choice::rolled_out() } else { Choice::fixed(*mode) };
    let choice = Choice { questions: *questions, ..choice };
    let config = configured(dirs, agent.name(), &choice)?;
    crate::machine::record::begin(dirs)?;
    let (was, user) = (loaded.mode(agent.name()), crate::machine::user());
    if was != *mode || !dirs.config_file().exists() {
        let body =
            ModeBody { mode: mode.to_string(), before: Some(was.to_string()), session: None, user: user.clone() };
        let _receipt = Ledger::open(dirs).append(LogEntry::new(&body)?).context("can't record the mode")?;
    }
    let asked = loaded.config.questions(agent.name());
    if *questions != asked && [*questions, asked].contains(&Some(Questions::Classifier)) {
        let word =
            |who: Option<Questions>| if who == Some(Questions::Classifier) { "its classifier" } else { "a person" };
        let body = PolicyBody {
            what: format!("who answers soft questions of agent `{}`", agent.name()),
            before: Some(word(asked).to_owned()),
            after: Some(word(*questions).to_owned()),
            user,
            project: None,
        };
        let _receipt = Ledger::open(dirs).append(LogEntry::new(&body)?).context("can't record the choice")?;
    }
    write_mode(dirs, agent.name(), &choice, &config)
}

/// The project around the current directory; the home directory is not one.
fn project_here() -> Option<String> {
    let directory = std::env::current_dir().ok()?.into_os_string().into_string().ok()?;
    project_root(&directory)
}
