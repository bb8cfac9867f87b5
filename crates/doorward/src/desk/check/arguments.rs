//! The arguments of `doorward check`.

use std::path::PathBuf;

use clap::Args;

use crate::desk::setup::StartingMode;
use crate::machine::agent::Agent;

/// What to check, and where.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A shell command
    pub command: Option<String>,
    /// The tool to call; with `--agent`, the agent's own name for it works too
    #[arg(long, default_value = "bash", requires = "input", value_name = "NAME")]
    pub tool: String,
    /// The tool's input as JSON, in the format of --jsonl
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    pub input: Option<String>,
    /// Judge one call per line of this file (`-` for standard input), one answer per line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "input"])]
    pub jsonl: Option<PathBuf>,
    /// Use this description of a machine instead of the real one
    #[arg(long, value_name = "FILE")]
    pub world: Option<PathBuf>,
    /// The directory the call would run in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// Judge as for this agent; default: the one that is set up here
    #[arg(long, value_enum, value_name = "AGENT", conflicts_with = "jsonl")]
    pub agent: Option<Agent>,
    /// Judge as in this mode; default: the agent's current mode
    #[arg(long, value_enum, conflicts_with = "jsonl")]
    pub mode: Option<StartingMode>,
    /// Judge as in this session of the agent; default: a new one
    #[arg(long, value_name = "ID", conflicts_with_all = ["jsonl", "world", "bare"])]
    pub session: Option<String>,
    /// Judge the call alone, ignoring the agent's mode, history, session and snapshots
    #[arg(long, conflicts_with = "jsonl")]
    pub bare: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Show what doorward understood, every opinion, and what would change the verdict
    #[arg(long, conflicts_with = "jsonl")]
    pub explain: bool,
    /// Record the decision, as the hook does
    #[arg(long)]
    pub record: bool,
    /// With --jsonl: print totals of verdicts, coverage and the most frequent reasons instead of the answers
    #[arg(long, requires = "jsonl")]
    pub stats: bool,
}
