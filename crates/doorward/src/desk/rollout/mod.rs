//! `doorward rollout`: agents, rules and thresholds are let go in stages, watched, and taken back.
//!
//! `command.rs` makes the steps, `criteria.rs` says when to go on; `show.rs` and `view.rs` tell how far everything is.

pub mod command;
pub mod criteria;
pub mod show;
pub mod view;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::policy::rollout::{Share, Stage};

#[derive(Debug, Args)]
pub struct RolloutArguments {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Debug, Subcommand)]
pub enum What {
    /// Show how far everything is, what is missing for the next stage, and how a trial stands
    ///
    /// Takes back what has to be, as every session does at its end. Exit code: 0, or 1 if something was taken back.
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print what each stage wants, when a trial ends, and what takes a rollout back
        #[arg(long)]
        explain: bool,
    },
    /// Begin to let an agent, a rule of your own or a set of thresholds go in stages; only a person may
    ///
    /// An agent begins with `confirm-all`, a rule with `shadow`. Thresholds begin a trial: half of the sessions are judged by
    /// the file, half by what is in force. A session keeps its side from its first call to its last.
    Start(StartArguments),
    /// Go on to the next stage if its criteria are met; only a person may
    ///
    /// In a canary, `--share` alone widens the share.
    ///
    /// Exit code: 0 it went on, 1 it did not.
    Promote(PromoteArguments),
    /// Go back to the stage before, at once and in running sessions too; only a person may
    Rollback(RollbackArguments),
}

#[derive(Debug, Args)]
pub struct StartArguments {
    /// The agent; the only one that is set up if left out
    #[arg(conflicts_with_all = ["rule", "thresholds"])]
    pub agent: Option<String>,
    /// A rule file of your own, by its name
    #[arg(long, value_name = "ID", conflicts_with = "thresholds")]
    pub rule: Option<String>,
    /// Thresholds to be tried against those in force
    #[arg(long, value_name = "FILE", conflicts_with = "stage")]
    pub thresholds: Option<PathBuf>,
    /// Where to begin; `canary` and `auto` want `--why`
    #[arg(long, value_enum)]
    pub stage: Option<Stage>,
    /// The share of the sessions that a canary covers; 10% unless set, 50% for thresholds
    #[arg(long, value_name = "PERCENT")]
    pub share: Option<Share>,
    /// Why no earlier stage is needed; the record keeps it
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// What is meant; the only thing that is rolled out if left out.
#[derive(Debug, Args)]
pub struct WhichArguments {
    /// The agent
    #[arg(conflicts_with_all = ["rule", "thresholds"])]
    pub agent: Option<String>,
    /// A rule file of your own, by its name
    #[arg(long, value_name = "ID", conflicts_with = "thresholds")]
    pub rule: Option<String>,
    /// The thresholds on trial
    #[arg(long)]
    pub thresholds: bool,
}

#[derive(Debug, Args)]
pub struct PromoteArguments {
    #[command(flatten)]
    pub which: WhichArguments,
    /// The share of the sessions that a canary covers; 10% unless set
    #[arg(long, value_name = "PERCENT")]
    pub share: Option<Share>,
    /// Go on although criteria are not met
    #[arg(long, requires = "why")]
    pub anyway: bool,
    /// Why; the record keeps it
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

#[derive(Debug, Args)]
pub struct RollbackArguments {
    #[command(flatten)]
    pub which: WhichArguments,
    /// Why; the record keeps it
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

pub fn run(arguments: &RolloutArguments) -> Result<ExitCode> {
    match &arguments.what {
        What::Status { json, explain: true } => show::explain(*json),
        What::Status { json, explain: false } => show::status(*json),
        What::Start(arguments) => command::start(arguments),
        What::Promote(arguments) => command::promote(arguments),
        What::Rollback(arguments) => command::rollback(arguments),
    }
}
