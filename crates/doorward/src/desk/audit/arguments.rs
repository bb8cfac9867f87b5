//! The arguments of `doorward audit`.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use doorward_ledger::Kind;

/// What to do with the record.
#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List records, newest first
    List(ListArguments),
    /// Show everything about one record
    ///
    /// A decision is shown with its effects, its reasons and its outcome. Control and invisible characters are escaped.
    Show(ShowArguments),
    /// Show the last records, oldest first, and optionally new ones as they arrive
    Tail(TailArguments),
    /// Verify that the record was not changed, or name the first bad entry
    ///
    /// Checks the hash chain and compares the log with the saved checkpoints. Entries after the last checkpoint are
    /// *unanchored*: their chain is checked, but if someone rewrote all of them, verification could not tell.
    ///
    /// Exit code: 0 the record is intact, 1 it is broken, 2 it could not be read.
    Verify(VerifyArguments),
    /// Export records for other programs
    ///
    /// jsonl has complete entries with their bodies; csv and parquet have the columns of `list`.
    Export(ExportArguments),
    /// Drop the bodies of old routine records (not for agents)
    ///
    /// Blocks, overrides, policy changes and anything that touched identity, secrets or something irreversible is kept
    /// forever. Headers are kept too, so the record can still be verified. Needs a terminal.
    Retain(RetainArguments),
    /// Count decisions by category, violations and latency
    Stats(StatsArguments),
    /// Delete the index and rebuild it from the log; nothing is lost
    Reindex(ReindexArguments),
    /// Sign the current state of the record
    ///
    /// The checkpoint is saved next to the log. Keep a copy somewhere else too: anyone who can change the log can also change
    /// the files next to it.
    Checkpoint(CheckpointArguments),
}

/// Selects records.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArguments {
    /// Only this verdict
    #[arg(long, value_enum)]
    pub verdict: Option<VerdictWord>,
    /// Only this kind of record
    #[arg(long, value_parser = kinds())]
    pub kind: Option<Kind>,
    /// Only this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Only this session
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// Only this project: a directory
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Only calls that this rule decided or that violated it
    #[arg(long)]
    pub rule: Option<String>,
    /// Only this kind of action: read, write, execute, network, delete, mutate
    #[arg(long)]
    pub category: Option<String>,
    /// From this time on: 2026-11-15, "2026-11-15 09:30" (UTC), or an age such as 30m, 12h or 7d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// Only calls that contain this text, ignoring case
    #[arg(long)]
    pub text: Option<String>,
    /// Only calls that violated a rule
    #[arg(long)]
    pub violations: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub filter: FilterArguments,
    /// Maximum number to list
    #[arg(long, default_value_t = 50, value_name = "COUNT")]
    pub limit: u32,
    /// Only records before this one; use it to get the next page
    #[arg(long, value_name = "SEQUENCE")]
    pub before: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A record number, or the name of a decision
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TailArguments {
    /// Wait for new records
    #[arg(short, long)]
    pub follow: bool,
    #[command(flatten)]
    pub filter: FilterArguments,
    /// How many past records to show first
    #[arg(short = 'n', long, default_value_t = 10, value_name = "COUNT")]
    pub lines: u32,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// Also compare with this checkpoint file, which you kept elsewhere
    #[arg(long, value_name = "CHECKPOINT")]
    pub from: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatWord::Jsonl)]
    pub format: FormatWord,
    /// Output file; default: standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub filter: FilterArguments,
    /// Maximum number of records, oldest first
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<u32>,
    /// With --output: print a JSON summary of what was written
    #[arg(long, requires = "output")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RetainArguments {
    /// Keep bodies for this many days, at least 90; default: `profile.retain_days` from the configuration
    #[arg(long, value_parser = clap::value_parser!(u32).range(90..))]
    pub days: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    #[command(flatten)]
    pub filter: FilterArguments,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReindexArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointArguments {
    /// Append a copy to this file, ideally on another machine
    #[arg(long, value_name = "FILE")]
    pub copy_to: Option<PathBuf>,
    /// Pipe a copy into this command, for example: -- ssh vault 'cat >> checkpoints'
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum VerdictWord {
    Approve,
    Confirm,
    Block,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatWord {
    /// One JSON object per line, bodies included
    Jsonl,
    /// Comma-separated columns
    Csv,
    /// Apache Parquet
    Parquet,
}

/// The kinds of records, by the names the record itself has for them.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    let parse = |word: String| Kind::ALL.into_iter().find(|kind| kind.word() == word).ok_or("no such kind");
    PossibleValuesParser::new(Kind::ALL.map(Kind::word)).try_map(parse)
}
