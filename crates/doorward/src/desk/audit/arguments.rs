//! What can be asked about the record, as a person types it.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

/// What to do with the record.
#[derive(Debug, Args)]
pub struct AuditArguments {
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List records, newest first
    List(ListArguments),
    /// Show everything about one record
    ///
    /// A decision is shown with its effects and reasons and with what became of it. Characters that a terminal would obey
    /// or hide are written out.
    Show(ShowArguments),
    /// Show the last records, oldest first, and new ones as they come
    Tail(TailArguments),
    /// Prove that the record is what it was, or name the first bad entry
    ///
    /// Compares the log with itself and with the checkpoints that were kept. Behind the last checkpoint it is *unanchored*:
    /// the chain is checked, but a history rewritten as a whole could not be told from the original.
    ///
    /// Exit code: 0 the record holds, 1 it is broken, 2 it could not be read.
    Verify(VerifyArguments),
    /// Write records out for other programs
    ///
    /// jsonl has whole entries with their bodies, csv and parquet the columns that `list` knows.
    Export(ExportArguments),
    /// Drop the bodies of old ordinary records; only a person may
    ///
    /// Blocks, overrides, policy changes and whatever touched identity, secrets or things that cannot be undone stay for good.
    /// Headers stay too, so the record can still be verified. Wants a terminal.
    Retain(RetainArguments),
    /// Count decisions by category, violations and latency
    Stats(StatsArguments),
    /// Throw the index away and make it again from the log; nothing is lost
    Reindex(ReindexArguments),
    /// Sign the record as it stands
    ///
    /// The statement is kept beside the log. A copy that is kept elsewhere proves more: whoever can write the log can
    /// also write beside it.
    Checkpoint(CheckpointArguments),
}

/// Which records.
#[derive(Debug, Default, Args)]
pub struct FilterArguments {
    /// Only this verdict
    #[arg(long, value_enum)]
    pub verdict: Option<VerdictWord>,
    /// Only this kind of record
    #[arg(long, value_enum)]
    pub kind: Option<KindWord>,
    /// Only this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Only this session
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    pub session: Option<String>,
    /// Only this project: a directory
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Only what this rule settled or says was violated
    #[arg(long)]
    pub rule: Option<String>,
    /// Only this kind of action: read, write, execute, network, delete, mutate
    #[arg(long)]
    pub category: Option<String>,
    /// Not before: 2026-11-15, "2026-11-15 09:30" (UTC), or how long ago: 30m, 12h, 7d
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Not after
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
    /// Only with this in the call, upper or lower case
    #[arg(long)]
    pub text: Option<String>,
    /// Only calls that violated a rule
    #[arg(long)]
    pub violations: bool,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    #[command(flatten)]
    pub filter: FilterArguments,
    /// At most so many
    #[arg(long, default_value_t = 50, value_name = "COUNT")]
    pub limit: u32,
    /// Only before this record: the next page
    #[arg(long, value_name = "SEQUENCE")]
    pub before: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The number of a record, or the name of a decision
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TailArguments {
    /// Wait for new records
    #[arg(short, long)]
    pub follow: bool,
    #[command(flatten)]
    pub filter: FilterArguments,
    /// How many to begin with
    #[arg(short = 'n', long, default_value_t = 10, value_name = "COUNT")]
    pub lines: u32,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Compare with this checkpoint too, one that was kept elsewhere
    #[arg(long, value_name = "CHECKPOINT")]
    pub from: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExportArguments {
    /// How they are written
    #[arg(long, value_enum, default_value_t = FormatWord::Jsonl)]
    pub format: FormatWord,
    /// Where to; standard output without it
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub filter: FilterArguments,
    /// At most so many, the oldest
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<u32>,
    /// With --output: print what was written as JSON
    #[arg(long, requires = "output")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RetainArguments {
    /// Keep bodies for so many days, 90 at least; without it, as many as `profile.retain_days` of the configuration says
    #[arg(long, value_parser = clap::value_parser!(u32).range(90..))]
    pub days: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct StatsArguments {
    #[command(flatten)]
    pub filter: FilterArguments,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReindexArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckpointArguments {
    /// Add a copy to this file, best on another machine
    #[arg(long, value_name = "FILE")]
    pub copy_to: Option<PathBuf>,
    /// Hand a copy to this command on its standard input, for example: -- ssh vault 'cat >> checkpoints'
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
pub enum KindWord {
    Decision,
    Answer,
    Outcome,
    Grant,
    Policy,
    Mode,
    Alert,
    Gap,
    Tombstone,
    Checkpoint,
    Session,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FormatWord {
    /// One JSON object per line, bodies included
    Jsonl,
    /// Comma-separated columns
    Csv,
    /// Apache Parquet
    Parquet,
}
