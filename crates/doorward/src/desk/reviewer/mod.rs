//! `doorward model`, as far as it is about the reviewer: list, use, test, critique and bench.

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
use crate::hook::reviewer::chosen::Chosen;
use crate::hook::reviewer::client;
use crate::hook::reviewer::client::Exchange;
use crate::hook::reviewer::lists::Lists;
use crate::hook::reviewer::prompt::{Matter, Prompt};
use crate::hook::reviewer::provider::Stage;
use crate::machine::paths::Places;
use crate::machine::visible;
use crate::memory::evaluation;
use crate::policy::config::reviewer::REASONED_MS;
use crate::policy::config::{DEFAULTS, Reviewer};
use crate::policy::load;
use crate::policy::load::Loaded;

/// What to do with the reviewer's model.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// List the models that may review what layer 2 leaves open, and whether they can be asked
    List(list::Wanted),
    /// Let a model review what layer 2 leaves open; only a person may
    Use {
        /// The model as provider/model, or `none`
        model: String,
    },
    /// Ask a model about a harmless call and show what comes back
    ///
    /// Exit code: 0 if it answered as it should, 1 if not.
    Test {
        /// The model as provider/model; the one in force if left out
        model: Option<String>,
    },
    /// Point out sentences of the reviewer's lists that allow too much or contradict each other; asks no model
    ///
    /// Exit code: 0 nothing was found, 1 something was.
    Critique,
    /// Compare models on labelled calls: one per line as for `check --jsonl`, with `expect`: approve, confirm or block
    Bench {
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// A model to compare; those of the configuration if left out
        #[arg(long, value_name = "PROVIDER/MODEL")]
        model: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs a command.
pub fn run(task: &Task) -> Result<ExitCode> {
    let places = Places::find().map_err(anyhow::Error::msg)?;
    let loaded = load::load(&places, None, "pi");
    let mut out = anstream::stdout().lock();
    match task {
        Task::List(wanted) => list::list(&mut out, wanted, &places),
        Task::Use { model } => choose::choose(&mut out, model, &places),
        Task::Test { model } => test(&mut out, &written(&loaded), model.as_deref(), &places),
        Task::Critique => critique::print(&mut out, &written(&loaded)),
        Task::Bench { file, model, json } => {
            let found = bench::bench(file, model, &written(&loaded), &places)?;
            bench::print(&mut out, &found, *json)
        }
    }
}

/// The built-in lists, in the form of the configuration file.
pub fn print_defaults(out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "\n[reviewer]               # `doorward model use PROVIDER/MODEL`; `{DEFAULTS}` stands for these sentences"
    )?;
    for (name, entries) in Lists::built_in().named() {
        writeln!(out, "{name} = [")?;
        for entry in entries {
            writeln!(out, "  {},", toml_edit::Value::from(entry.as_str()))?;
        }
        writeln!(out, "]")?;
    }
    Ok(())
}

/// What the user's files say, accepted or not: a person tries it before it counts.
fn written(loaded: &Loaded) -> Reviewer {
    let own = loaded.own_files().fold(Reviewer::default(), |all, (_, config)| all.over(config.reviewer));
    loaded.config.reviewer.clone().over(own)
}

fn test(out: &mut dyn Write, reviewer: &Reviewer, model: Option<&str>, places: &Places) -> Result<ExitCode> {
    let name = model.map_or_else(|| chosen::name(reviewer, None), Ok).map_err(|fault| anyhow!("{fault}"))?;
    let chosen = chosen::chosen(reviewer, name, places.home()).map_err(|fault| anyhow!("{fault}"))?;
    let exchange = trial(&chosen, reviewer, places)?;
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
            writeln!(out, "it answers: {}", visible(&serde_json::to_string(&reply)?))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            writeln!(out, "it is of no use like this: {}", visible(&fault.to_string()))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A push that the user asked for, in a project that does not exist.
fn trial(chosen: &Chosen, reviewer: &Reviewer, places: &Places) -> Result<Exchange> {
    let described: Description = serde_json::from_value(json!({
        "home": "/home/someone", "project": "/home/someone/project",
        "git": { "root": "/home/someone/project", "remotes": { "origin": "https://github.com/someone/project" } },
    }))?;
    let world = DescribedWorld::new(described, "/home/someone/project");
    let mut call = ToolCall::bash("git push origin topic", "/home/someone/project");
    call.user_message = Some("please push the branch topic to origin".to_owned());
    let considered = evaluation::consider(&call, &world, &Policy::built_in());
    let prompt = prompt(&call, &considered, reviewer, places)?;
    let time = Duration::from_millis(u64::from(REASONED_MS));
    Ok(client::ask(chosen, &prompt, Stage::Reasoned, time, places.home()))
}

/// The prompt about a call without a session.
fn prompt(
    call: &ToolCall,
    considered: &evaluation::Evaluation,
    reviewer: &Reviewer,
    places: &Places,
) -> Result<Prompt> {
    let key = crate::machine::key::redaction(&places.state());
    let matter = Matter {
        call,
        facts: &considered.facts,
        judgement: &considered.judgement,
        instructions: &[],
        transcript: &[],
        key: &key,
    };
    let nonce = crate::hook::reviewer::nonce().ok_or_else(|| anyhow!("no random number can be had"))?;
    Prompt::new(Lists::of(reviewer).policy(), matter, &nonce).map_err(anyhow::Error::msg)
}
