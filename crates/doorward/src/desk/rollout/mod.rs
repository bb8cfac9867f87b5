//! `doorward rollout`: rolls out agents, rules and thresholds in stages, watches them, and rolls them back.
//!
//! `command.rs` takes the steps, `criteria.rs` says when to promote, `show.rs` and `view.rs` print the progress.

pub(crate) mod command;
pub(crate) mod criteria;
pub(crate) mod show;
pub(crate) mod view;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::policy::rollout::{RolloutStage, Share};

#[derive(Debug, Args)]
pub(crate) struct RolloutArguments {
    #[command(subcommand)]
    pub what: RolloutCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RolloutCommand {
    /// Show the stage of every rollout, what is missing for the next one, and how a trial is doing
    ///
    /// Rolls back whatever has to be, as the end of every session does. Exit code: 0, or 1 if something was rolled back.
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Explain what each stage requires, when a trial ends, and what triggers a rollback
        #[arg(long)]
        explain: bool,
    },
    /// Start rolling out an agent, one of your rules or a set of thresholds in stages (not for agents)
    ///
    /// An agent starts with `confirm-all`, a rule with `shadow`. Thresholds start a trial: half of the sessions use the new
    /// file, half the current thresholds. A session stays on its side from its first call to its last.
    Start(StartArguments),
    /// Promote to the next stage if its criteria are met (not for agents)
    ///
    /// In a canary, `--share` only widens the share.
    ///
    /// Exit code: 0 promoted, 1 not promoted.
    Promote(PromoteArguments),
    /// Roll back to the previous stage, immediately and in running sessions too (not for agents)
    Rollback(RollbackArguments),
}

#[derive(Debug, Args)]
pub(crate) struct StartArguments {
    /// The agent; can be left out if only one is set up
    #[arg(conflicts_with_all = ["rule", "thresholds"])]
    pub agent: Option<String>,
    /// One of your rule files, by name
    #[arg(long, value_name = "ID", conflicts_with = "thresholds")]
    pub rule: Option<String>,
    /// Thresholds to try against the current ones
    #[arg(long, value_name = "FILE", conflicts_with = "stage")]
    pub thresholds: Option<PathBuf>,
    /// Stage to start at; `canary` and `auto` need `--why`
    #[arg(long, value_enum)]
    pub stage: Option<RolloutStage>,
    /// Share of sessions in the canary; default: 10%, or 50% for thresholds
    #[arg(long, value_name = "PERCENT")]
    pub share: Option<Share>,
    /// Why no earlier stage is needed, kept in the record
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Which rollout is meant; can be left out if there is only one.
#[derive(Debug, Args)]
pub(crate) struct WhichArguments {
    /// The agent
    #[arg(conflicts_with_all = ["rule", "thresholds"])]
    pub agent: Option<String>,
    /// One of your rule files, by name
    #[arg(long, value_name = "ID", conflicts_with = "thresholds")]
    pub rule: Option<String>,
    /// The thresholds on trial
    #[arg(long)]
    pub thresholds: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PromoteArguments {
    #[command(flatten)]
    pub which: WhichArguments,
    /// Share of sessions in the canary; default: 10%
    #[arg(long, value_name = "PERCENT")]
    pub share: Option<Share>,
    /// Promote even if criteria are not met
    #[arg(long, requires = "why")]
    pub anyway: bool,
    /// Your reason, kept in the record
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArguments {
    #[command(flatten)]
    pub which: WhichArguments,
    /// Your reason, kept in the record
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

pub(crate) fn run(arguments: &RolloutArguments) -> Result<ExitCode> {
    match &arguments.what {
        RolloutCommand::Status { json, explain: true } => show::explain(*json),
        RolloutCommand::Status { json, explain: false } => show::status(*json),
        RolloutCommand::Start(arguments) => command::start(arguments),
        RolloutCommand::Promote(arguments) => command::promote(arguments),
        RolloutCommand::Rollback(arguments) => command::rollback(arguments),
    }
}
