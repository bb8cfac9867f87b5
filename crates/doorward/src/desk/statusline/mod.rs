//! `doorward statusline`: one line that shows all day what doorward does, for Claude Code, tmux and starship.

mod guarded;
mod line;
mod local_day;
mod wrapped;

use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::machine::agent::Agent;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::world::project_root;
use crate::memory::grants::store::GrantStore;
use crate::memory::session::Session;
use crate::memory::tally::{self, Tally};
use crate::policy::load;
use guarded::Guard;

/// The longest JSON that is read.
// Claude Code sends about two kilobytes.
const LIMIT: u64 = 1 << 20;

/// What to show, and for whom.
#[derive(Debug, Args)]
pub(crate) struct StatuslineArguments {
    /// The program that shows the line
    #[arg(long, value_enum, default_value_t = Format::Claude)]
    format: Format,
    /// The agent whose mode and hooks are shown; default: Claude Code with `--format claude`, otherwise all
    #[arg(long, value_enum, value_name = "AGENT")]
    agent: Option<Agent>,
    /// Run this command first, with the same input, and show its lines above
    #[arg(long, value_name = "COMMAND")]
    then: Option<String>,
}

/// How the line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Claude Code: JSON about the session on standard input, colors in the output
    Claude,
    /// tmux: `set -g status-right '#(doorward statusline --format tmux)'`
    Tmux,
    /// No colors: for starship and other prompts
    Plain,
    /// The figures, for a program
    Json,
}

/// Everything the line shows.
#[derive(Debug)]
pub(super) struct Figures {
    /// The mode of each agent in question.
    modes: Vec<(String, String)>,
    today: Tally,
    waiting: usize,
    guard: Guard,
}

/// What Claude Code says about its session.
#[derive(Debug, Default)]
struct ClientSession {
    id: String,
    cwd: Option<String>,
    /// How long it has been running.
    age_ms: u64,
}

/// Prints the line.
pub(crate) fn run(arguments: &StatuslineArguments) -> Result<ExitCode> {
    let input = input(arguments.format)?;
    // A slow command of the user's runs while our own line is made.
    let theirs = arguments.then.as_deref().map(|command| wrapped::start(command, &input));
    let line = figures(arguments, &ClientSession::of(&input)).map(|figures| line::of(&figures, arguments.format));
    let mut out = std::io::stdout().lock();
    if let Some(theirs) = theirs {
        out.write_all(&wrapped::lines(theirs))?;
    }
    writeln!(out, "{}", line.unwrap_or_else(|problem| format!("doorward: {problem:#}").replace(['\n', '\x1b'], " ")))?;
    Ok(ExitCode::SUCCESS)
}

/// What the client sends; other programs send nothing.
fn input(format: Format) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin();
    if format == Format::Claude && !stdin.is_terminal() {
        stdin.lock().take(LIMIT).read_to_end(&mut bytes).context("can't read standard input")?;
    }
    Ok(bytes)
}

impl ClientSession {
    fn of(input: &[u8]) -> ClientSession {
        let said: Value = serde_json::from_slice(input).unwrap_or_default();
        let text = |pointer: &str| said.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        ClientSession {
            id: text("/session_id").unwrap_or_default(),
            cwd: text("/workspace/current_dir").or_else(|| text("/cwd")),
            age_ms: said.pointer("/cost/total_duration_ms").and_then(Value::as_u64).unwrap_or_default(),
        }
    }
}

fn figures(arguments: &StatuslineArguments, client: &ClientSession) -> Result<Figures> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let here = || std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let project = client.cwd.clone().or_else(here).as_deref().and_then(project_root);
    let agent = arguments.agent.or((arguments.format == Format::Claude).then_some(Agent::Claude));
    let mut loaded = load::load(&dirs, project.as_deref(), agent.map_or("", Agent::name));
    let session = Session::read_only(&dirs, &client.id);
    let is_known = !client.id.is_empty() && session.is_known();
    if let (Some(agent), true) = (agent, is_known) {
        loaded.assign(agent.name(), (session.id(), session.began_ms()));
    }
    let named = loaded.config.agents.keys().filter(|name| agent.is_none_or(|agent| agent.name() == name.as_str()));
    let modes: Vec<(String, String)> = named.map(|name| (name.clone(), loaded.mode(name).to_string())).collect();
    let guard = guarded::guard(&guarded::Question {
        dirs: &dirs,
        loaded: &loaded,
        agent,
        project: project.as_deref(),
        is_unseen: !client.id.is_empty() && !is_known,
        age_ms: client.age_ms,
    });
    let has_queue = dirs.state().join("pending").is_dir();
    let waiting = if has_queue { GrantStore::open_at(&dirs)?.open_calls().len() } else { 0 };
    let now_ms = clock::now_ms();
    Ok(Figures { modes, today: tally::since(&dirs, local_day::began_ms(now_ms)), waiting, guard })
}

impl Figures {
    fn to_json(&self) -> Value {
        let modes: Value = self.modes.iter().map(|(name, mode)| (name.clone(), Value::from(mode.as_str()))).collect();
        let Tally { silent, asked, blocked } = self.today;
        let (problem, is_guarded) = match &self.guard {
            Guard::Closed => (None, true),
            Guard::Weak(problem) => (Some(problem), true),
            Guard::Open(problem) => (Some(problem), false),
        };
        json!({ "modes": modes, "today": { "silent": silent, "asked": asked, "blocked": blocked },
            "waiting": self.waiting, "guarded": is_guarded, "problem": problem })
    }
}
