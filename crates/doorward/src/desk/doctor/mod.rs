//! `doorward doctor`: checks that every agent goes through doorward, and what weakens it. Changes nothing.

mod agents;
mod boxed;
mod foreign;
mod own;
mod project;
mod relay;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::{Result, bail};
use clap::Args;
use doorward_engine::Mode;
use serde_json::{Value, json};

use crate::desk::person;
use crate::desk::setup;
use crate::hook::contained;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::machine::world::project_root;
use crate::policy::config::RunMode;
use crate::policy::load::{self, Loaded};

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// First start each agent with a scripted model, to see whether it runs what doorward puts in place of a call
    #[arg(long, conflicts_with = "json")]
    pub test_box: bool,
}

/// A problem.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Defect {
    /// The kind of defect, in a word.
    pub kind: &'static str,
    /// The agent it concerns; `None` if it concerns all.
    pub agent: Option<Agent>,
    pub what: String,
    /// What a person can do about it.
    pub instead: String,
}

impl Defect {
    fn new(kind: &'static str, agent: impl Into<Option<Agent>>, what: String, instead: &str) -> Defect {
        Defect { kind, agent: agent.into(), what, instead: instead.to_owned() }
    }
}

/// What the doctor looks at.
struct Checkup<'p> {
    dirs: &'p Dirs,
    loaded: Loaded,
    /// The current directory: a repository can switch hooks off.
    here: Option<String>,
}

/// Exit code: problems found.
const WRONG: u8 = 1;

pub(crate) fn run(arguments: &DoctorArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let here = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let patient = Checkup { dirs: &dirs, loaded: load::load(&dirs, None, ""), here };
    let agents = patient.agents();
    if arguments.test_box {
        test_box(&dirs, &agents)?;
    }
    let mut defects = own::defects(&patient);
    for agent in &agents {
        defects.extend(agents::defects(&patient, *agent));
    }
    defects.extend(relay::defects(&patient));
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", patient.to_json(&agents, &defects))?;
    } else {
        patient.print(&mut out, &agents, &defects)?;
    }
    Ok(if defects.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(WRONG) })
}

/// How far each agent is covered, and all problems.
pub(crate) fn findings(dirs: &Dirs) -> (Vec<(Agent, &'static str)>, Vec<Defect>) {
    let patient = Checkup { dirs, loaded: load::load(dirs, None, ""), here: None };
    let agents = patient.agents();
    let mut defects = own::defects(&patient);
    defects.extend(agents.iter().flat_map(|agent| agents::defects(&patient, *agent)));
    let levels = agents.into_iter().map(|agent| (agent, patient.level(agent, &defects))).collect();
    (levels, defects)
}

/// Like `setup`: a test that fails takes an earlier one back, and one that passes ends an alarm, so a person starts it.
fn test_box(dirs: &Dirs, agents: &[Agent]) -> Result<()> {
    person::required()?;
    if let Err(missing) = contained::cell(dirs).probe() {
        bail!("no box here: {missing}");
    }
    setup::boxed::test(&mut anstream::stdout().lock(), dirs, &setup::program()?, agents).map(drop)
}

impl Checkup<'_> {
    /// The agents that are set up: they have a mode, or our hooks in their settings.
    fn agents(&self) -> Vec<Agent> {
        let is_ours = |agent: &Agent| {
            let is_named = self.loaded.config.agents.contains_key(agent.name());
            *agent != Agent::Generic && (is_named || setup::program_of(*agent, self.dirs).is_some())
        };
        Agent::ALL.into_iter().filter(is_ours).collect()
    }

    /// The project around the current directory.
    fn project(&self) -> Option<String> {
        project_root(self.here.as_deref()?)
    }

    /// What happens to questions for this agent.
    fn questions(&self, agent: Agent) -> String {
        setup::questions_of(agent, self.dirs, self.project().as_deref(), &self.loaded.config)
    }

    fn client_mode(&self, agent: Agent) -> Option<String> {
        setup::client_mode(agent, self.dirs.home(), self.project().as_deref()).map(|mode| mode.name)
    }

    fn mode(&self, agent: Agent) -> Mode {
        self.loaded.mode(agent.name())
    }

    /// Whether there is a box, what leads there, and whose calls are replaced.
    fn contained(&self, agents: &[Agent]) -> String {
        let mode = self.loaded.config.run.mode();
        match contained::cell(self.dirs).probe() {
            Err(missing) => format!("none: {missing}; calls are asked about as if there were no box"),
            Ok(_) => {
                let way = |agent: &Agent| Some(format!("{}: {}", agent.title(), boxed::way(self.dirs, *agent)?));
                let ways: Vec<String> = agents.iter().filter(|_| mode == RunMode::Rewrite).filter_map(way).collect();
                let ways = if ways.is_empty() { String::new() } else { format!("; {}", ways.join("; ")) };
                format!("mode `{}`: {}{ways}", mode.as_str(), mode.what())
            }
        }
    }

    fn level(&self, agent: Agent, defects: &[Defect]) -> &'static str {
        let is_open = |defect: &Defect| {
            let is_about = defect.agent == Some(agent);
            is_about && matches!(defect.kind, "hooks-missing" | "hooks-off" | "hooks-off-project" | "program-missing")
        };
        match self.mode(agent) {
            _ if defects.iter().any(is_open) => "none: calls run unchecked, or not at all",
            Mode::Off => "none: doorward is off for this agent",
            Mode::Shadow => "watch only: calls are recorded, never stopped",
            Mode::ConfirmAll => "full: doorward asks about every call",
            Mode::Auto => "full: doorward approves, asks or blocks",
        }
    }

    fn print(&self, out: &mut dyn Write, agents: &[Agent], defects: &[Defect]) -> Result<()> {
        for agent in agents {
            let wrong = defects.iter().filter(|defect| defect.agent == Some(*agent)).count();
            let told = if wrong == 0 { "no problems".to_owned() } else { format!("{wrong} problems") };
            writeln!(out, "{:<12} {}; {told}", agent.title(), self.level(*agent, defects))?;
            if self.mode(*agent).stops() {
                writeln!(out, "{:<12} {}", "", visible(&self.questions(*agent)))?;
            }
        }
        if !agents.is_empty() {
            writeln!(out, "{:<12} {}", "box", visible(&self.contained(agents)))?;
        }
        if agents.is_empty() {
            writeln!(out, "no agent is set up; run `doorward setup`")?;
        }
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        for defect in defects {
            let whose = defect.agent.map(|agent| format!("{}: ", agent.title())).unwrap_or_default();
            writeln!(out, "{style}{}{style:#} {whose}{}", defect.kind, visible(&defect.what))?;
            writeln!(out, "    {}", visible(&defect.instead))?;
        }
        Ok(())
    }

    fn to_json(&self, agents: &[Agent], defects: &[Defect]) -> Value {
        let told: Vec<Value> = agents
            .iter()
            .map(|agent| {
                json!({
                    "agent": agent.name(), "mode": self.mode(*agent).as_str(), "level": self.level(*agent, defects),
                    "client_mode": self.client_mode(*agent), "questions": self.questions(*agent),
                })
            })
            .collect();
        let found: Vec<Value> = defects
            .iter()
            .map(|defect| {
                let agent = defect.agent.map(Agent::name);
                json!({ "kind": defect.kind, "agent": agent, "what": defect.what, "instead": defect.instead })
            })
            .collect();
        let probed = contained::cell(self.dirs).probe();
        let way = |of: &Agent| Some((of.name().to_owned(), Value::from(boxed::way(self.dirs, *of)?)));
        let ways: Value = agents.iter().filter_map(way).collect();
        let run = json!({ "mode": self.loaded.config.run.mode().as_str(), "box": probed.is_ok(),
            "missing": probed.err().map(|missing| missing.sentence()), "agents": ways });
        json!({ "agents": told, "run": run, "defects": found })
    }
}

/// What is wrong with a file's owner or write permissions, if anything; a missing file is fine.
fn exposed(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let metadata = path.metadata().ok()?;
    let me = rustix::process::geteuid().as_raw();
    match (metadata.uid(), metadata.mode() & 0o022) {
        (owner, _) if owner != me && owner != 0 => Some("belongs to another user"),
        (_, 0) => None,
        (_, _) => Some("can be changed by others"),
    }
}
