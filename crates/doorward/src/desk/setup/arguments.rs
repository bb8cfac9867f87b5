//! What `doorward setup` is told, and the agents and modes by the names that a person types.

use clap::{Args, ValueEnum};
use doorward_engine::Mode;

use crate::machine::agent::Agent;
use crate::policy::config::Questions;

/// Which agents to set up, and how.
#[derive(Debug, Args)]
pub struct SetupArguments {
    /// The agents; without any, those that are found on this machine
    #[arg(value_enum, value_name = "AGENT")]
    pub agents: Vec<AgentName>,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Show the change to each file as well
    #[arg(long)]
    pub diff: bool,
    /// Take the hooks out
    #[arg(long)]
    pub uninstall: bool,
    /// With --uninstall: delete the configuration, the record and all copies too
    #[arg(long, requires = "uninstall")]
    pub purge: bool,
    /// Only set the mode and begin the record: the hooks come from managed settings or a plugin
    #[arg(long, conflicts_with_all = ["uninstall", "dry_run"])]
    pub without_hooks: bool,
    /// Ask nothing; a laxer mode and --uninstall still need your own terminal
    #[arg(long)]
    pub yes: bool,
    /// How it starts; without it and with --yes: as before, or confirm-all
    #[arg(long, value_enum)]
    pub mode: Option<StartingMode>,
    /// Who answers questions where the agent's own mode would let nobody ask
    #[arg(long, value_enum, value_name = "WHO")]
    pub questions: Option<WhoAnswers>,
    /// Take over the allow rules of the agents' own settings, as narrow as they are; needs your own terminal
    #[arg(long)]
    pub import_rules: bool,
    /// Trust the project in this directory; needs your own terminal
    #[arg(long)]
    pub trust: bool,
}

/// Who answers a question.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum WhoAnswers {
    /// You, in the agent's own prompt: Claude Code starts in mode `default`
    Client,
    /// You, later: the call is refused at once and waits in `doorward review`
    Queue,
    /// The agent's classifier, if the question is soft; everything else is refused and waits
    Classifier,
}

impl From<WhoAnswers> for Questions {
    fn from(who: WhoAnswers) -> Questions {
        match who {
            WhoAnswers::Client => Questions::Client,
            WhoAnswers::Queue => Questions::Queue,
            WhoAnswers::Classifier => Questions::Classifier,
        }
    }
}

/// The agents that can be set up.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AgentName {
    /// Claude Code
    Claude,
    /// Codex CLI
    Codex,
    /// Pi
    Pi,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// Copilot CLI
    Copilot,
    /// OpenCode
    Opencode,
    /// Cursor
    Cursor,
    /// VS Code
    Vscode,
    /// Windsurf
    Windsurf,
    /// Any agent that asks by itself: only the mode is set
    Generic,
}

impl AgentName {
    pub const fn agent(self) -> Agent {
        match self {
            AgentName::Claude => Agent::Claude,
            AgentName::Codex => Agent::Codex,
            AgentName::Pi => Agent::Pi,
            AgentName::Gemini => Agent::Gemini,
            AgentName::Qwen => Agent::Qwen,
            AgentName::Copilot => Agent::Copilot,
            AgentName::Opencode => Agent::Opencode,
            AgentName::Cursor => Agent::Cursor,
            AgentName::Vscode => Agent::Vscode,
            AgentName::Windsurf => Agent::Windsurf,
            AgentName::Generic => Agent::Generic,
        }
    }
}

/// How an agent starts.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StartingMode {
    /// You are asked about every call
    ConfirmAll,
    /// Only record what would have been decided
    Shadow,
    /// Trust doorward's judgement
    Auto,
}

impl From<StartingMode> for Mode {
    fn from(mode: StartingMode) -> Mode {
        match mode {
            StartingMode::ConfirmAll => Mode::ConfirmAll,
            StartingMode::Shadow => Mode::Shadow,
            StartingMode::Auto => Mode::Auto,
        }
    }
}
