//! What `doorward check` is told.

use std::path::PathBuf;

use clap::Args;

use crate::desk::setup::{AgentName, StartingMode};

/// What to check, and where.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// A shell command
    pub command: Option<String>,
    /// The tool that would be called; with `--agent` also by the agent's own name for it
    #[arg(long, default_value = "bash", requires = "input", value_name = "NAME")]
    pub tool: String,
    /// The tool's input as JSON, in the shapes of --jsonl
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    pub input: Option<String>,
    /// Judge one call per line, `-` for standard input, and answer one line each
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "input"])]
    pub jsonl: Option<PathBuf>,
    /// Ask this description of a machine instead of the machine
    #[arg(long, value_name = "FILE")]
    pub world: Option<PathBuf>,
    /// The directory that the call would run in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// As for this agent; without it, the one that is set up here
    #[arg(long, value_enum, value_name = "AGENT", conflicts_with = "jsonl")]
    pub agent: Option<AgentName>,
    /// As in this mode; without it, the agent's own
    #[arg(long, value_enum, conflicts_with = "jsonl")]
    pub mode: Option<StartingMode>,
    /// As in this session of the agent; without it, a new one
    #[arg(long, value_name = "ID", conflicts_with_all = ["jsonl", "world", "bare"])]
    pub session: Option<String>,
    /// The call alone: without the agent's mode, history, session and snapshots
    #[arg(long, conflicts_with = "jsonl")]
    pub bare: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Show what was understood, every opinion, and what would change the verdict
    #[arg(long, conflicts_with = "jsonl")]
    pub explain: bool,
    /// Keep a record of the decision, as the hook does
    #[arg(long)]
    pub record: bool,
    /// With --jsonl: print verdicts, coverage and the most frequent reasons instead of the answers
    #[arg(long, requires = "jsonl")]
    pub stats: bool,
}
