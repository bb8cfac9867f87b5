//! The reviewer commands of `doorward model`: list, use, test, critique and bench.

mod bench;
mod choose;
mod critique;
mod list;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::Subcommand;
use doorward_engine::{DescribedWorld, Description, Policy, ToolCall};
use serde_json::json;

use crate::hook::reviewer::chosen;
use crate::hook::reviewer::chosen::UsableModel;
use crate::hook::reviewer::client;
use crate::hook::reviewer::client::Exchange;
use crate::hook::reviewer::lists::Lists;
use crate::hook::reviewer::prompt::{Prompt, PromptInput};
use crate::hook::reviewer::provider::ReviewStage;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::memory::evaluation;
use crate::policy::config::reviewer::REASONED_MS;
use crate::policy::config::{DEFAULTS, Reviewer};
use crate::policy::load;
use crate::policy::load::Loaded;

/// What to do with the reviewer's model.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewerCommand {
    /// List the models that can act as reviewer, and whether they are reachable
    List(list::ReviewerListArguments),
    /// Choose a model to review the questions layer 2 leaves open (not for agents)
    Use {
        /// The model as provider/model, or `none`
        model: String,
    },
    /// Ask a model about a harmless call and show its reply
    ///
    /// Exit code: 0 the reply is valid, 1 it is not.
    Test {
        /// The model as provider/model; default: the current one
        model: Option<String>,
    },
    /// Find sentences in the reviewer's lists that allow too much or contradict each other; uses no model
    ///
    /// Exit code: 0 nothing found, 1 problems found.
    Critique,
    /// Compare models on labelled calls: one per line as in `check --jsonl`, with `expect`: approve, confirm or block
    Bench {
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// A model to compare; default: those in the configuration
        #[arg(long, value_name = "PROVIDER/MODEL")]
        model: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs a command.
pub(crate) fn run(task: &ReviewerCommand) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let loaded = load::load(&dirs, None, "pi");
    let mut out = anstream::stdout().lock();
    match task {
        ReviewerCommand::List(wanted) => list::list(&mut out, wanted, &dirs),
        ReviewerCommand::Use { model } => choose::choose(&mut out, model, &dirs),
        ReviewerCommand::Test { model } => test(&mut out, &configured(&loaded), model.as_deref(), &dirs),
        ReviewerCommand::Critique => critique::print(&mut out, &configured(&loaded)),
        ReviewerCommand::Bench { file, model, json } => {
            let found = bench::bench(file, model, &configured(&loaded), &dirs)?;
            bench::print(&mut out, &found, *json)
        }
    }
}

/// The built-in lists, in the form of the configuration file.
pub(crate) fn print_defaults(out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "\n[reviewer]               # `doorward model use PROVIDER/MODEL`; `{DEFAULTS}` stands for these sentences"
    )?;
    for (name, entries) in Lists::built_in().with_names() {
        writeln!(out, "{name} = [")?;
        for entry in entries {
            writeln!(out, "  {},", toml_edit::Value::from(entry.as_str()))?;
        }
        writeln!(out, "]")?;
    }
    Ok(())
}

/// The user's files, accepted or not: you can test a model before it takes effect.
fn configured(loaded: &Loaded) -> Reviewer {
    let own = loaded.own_files().fold(Reviewer::default(), |all, (_, config)| all.over(config.reviewer));
    loaded.config.reviewer.clone().over(own)
}

fn test(out: &mut dyn Write, reviewer: &Reviewer, model: Option<&str>, dirs: &Dirs) -> Result<ExitCode> {
    let name = model.map_or_else(|| chosen::name(reviewer, None), Ok).map_err(|fault| anyhow!("{fault}"))?;
    let chosen = chosen::usable_model(reviewer, name, dirs.home()).map_err(|fault| anyhow!("{fault}"))?;
    let exchange = trial(&chosen, reviewer, dirs)?;
    let usage = exchange.usage;
    writeln!(
        out,
        "{} at {} took {} ms, {} tokens read ({} kept), {} written",
        visible(&chosen.name),
        visible(&chosen.url),
        exchange.took.as_millis(),
        usage.tokens_read,
        usage.tokens_kept,
        usage.tokens_written
    )?;
    match exchange.result {
        Ok(reply) => {
            writeln!(out, "it replied: {}", visible(&serde_json::to_string(&reply)?))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            writeln!(out, "this model can't be used as a reviewer: {}", visible(&fault.to_string()))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A push the user asked for, in a project that does not exist.
fn trial(chosen: &UsableModel, reviewer: &Reviewer, dirs: &Dirs) -> Result<Exchange> {
    let described: Description = serde_json::from_value(json!({
        "home": "/home/someone", "project": "/home/someone/project",
        "git": { "root": "/home/someone/project", "remotes": { "origin": "https://github.com/someone/project" } },
    }))?;
    let world = DescribedWorld::new(described, "/home/someone/project");
    let mut call = ToolCall::bash("git push origin topic", "/home/someone/project");
    call.user_message = Some("please push the branch topic to origin".to_owned());
    let evaluation = evaluation::evaluate(&call, &world, &Policy::built_in());
    let prompt = prompt(&call, &evaluation, reviewer, dirs)?;
    let time = Duration::from_millis(u64::from(REASONED_MS));
    Ok(client::ask(chosen, &prompt, ReviewStage::Reasoned, time, dirs.home()))
}

/// The prompt about a call without a session.
fn prompt(call: &ToolCall, evaluation: &evaluation::Evaluation, reviewer: &Reviewer, dirs: &Dirs) -> Result<Prompt> {
    let key = crate::machine::key::redaction(&dirs.state());
    let matter = PromptInput {
        call,
        facts: &evaluation.facts,
        judgement: &evaluation.judgement,
        instructions: &[],
        transcript: &[],
        key: &key,
    };
    let nonce = crate::hook::reviewer::nonce().ok_or_else(|| anyhow!("can't get a random number"))?;
    Prompt::new(Lists::of(reviewer).policy(), matter, &nonce).map_err(anyhow::Error::msg)
}
