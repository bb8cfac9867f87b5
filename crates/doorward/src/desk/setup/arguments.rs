//! The arguments of `doorward setup`, with the names of agents and modes as you type them.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use doorward_engine::Mode;

use crate::machine::agent::Agent;
use crate::policy::config::Questions;

/// Which agents to set up, and how.
#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    /// Agents to set up; default: all that are found on this machine
    #[arg(value_enum, value_name = "AGENT")]
    pub agents: Vec<Agent>,
    /// Show the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Show the change to each file
    #[arg(long)]
    pub diff: bool,
    /// Remove the hooks
    #[arg(long)]
    pub uninstall: bool,
    /// With --uninstall: also delete the configuration, the record and all snapshots
    #[arg(long, requires = "uninstall")]
    pub purge: bool,
    /// Only set the mode and start the record; for hooks that come from managed settings or a plugin
    #[arg(long, conflicts_with_all = ["uninstall", "dry_run"])]
    pub without_hooks: bool,
    /// Don't ask anything; a laxer mode and --uninstall still need your own terminal
    #[arg(long)]
    pub yes: bool,
    /// Mode to start in; default with --yes: the current mode, or confirm-all
    #[arg(long, value_enum)]
    pub mode: Option<StartingMode>,
    /// Who answers doorward's questions when the agent's own mode has no prompt
    #[arg(long, value_enum, value_name = "WHO")]
    pub questions: Option<WhoAnswers>,
    /// Show doorward in Claude Code's status line, below a line you already have there
    #[arg(long)]
    pub statusline: bool,
    /// Import the allow rules from the agents' own settings, no broader than they are; needs your own terminal
    #[arg(long)]
    pub import_rules: bool,
    /// Put the tool (MCP) servers of your clients' settings behind doorward's relay; with --uninstall, take them out again
    #[arg(long, conflicts_with_all = ["agents", "purge", "mode", "trust", "import_rules", "without_hooks"])]
    pub relay: bool,
    /// Trust the project in this directory; needs your own terminal
    #[arg(long)]
    pub trust: bool,
}

/// Who answers doorward's questions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WhoAnswers {
    /// You, in the agent's own prompt: Claude Code starts in mode `default`
    Client,
    /// You, later: the call is refused right away and waits in `doorward review`
    Queue,
    /// The agent's classifier, for soft questions; everything else is refused and waits for you
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

impl ValueEnum for Agent {
    fn value_variants<'a>() -> &'a [Agent] {
        &Agent::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Agent::Generic => "Any other agent that calls doorward itself: only the mode is set",
            Agent::Codex => "Codex CLI",
            Agent::Claude
            | Agent::Pi
            | Agent::Gemini
            | Agent::Qwen
            | Agent::Copilot
            | Agent::Opencode
            | Agent::Cursor
            | Agent::Vscode
            | Agent::Windsurf => self.title(),
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

/// The mode an agent starts in.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StartingMode {
    /// doorward asks about every call
    ConfirmAll,
    /// doorward only records what it would have decided
    Shadow,
    /// doorward approves, asks or blocks on its own judgement
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
