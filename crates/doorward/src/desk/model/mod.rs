//! `doorward model`: trains the layer 2 scorer, tests it on sources it never saw, and describes it.

mod card;
mod evaluate;
mod facts;
mod fit;
mod measure;
mod own;
mod rows;
mod weights;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::{Args, Subcommand};
use doorward_engine::layer2::feature;
use doorward_engine::layer2::table::Table;

pub(crate) use measure::{lower, upper};
use rows::{LabelledCall, Purpose};

/// The labelled calls that the built-in model is trained and tested on, as features.
const FACTS: &str = include_str!("../../../model/facts.tsv");

/// Weights set by hand; training starts from them and stays close to them.
const PRIOR: &str = include_str!("../../../model/prior.tsv");

/// What to do with the model.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    #[command(subcommand)]
    task: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// Train the scorer; without --facts this reproduces the built-in one, byte for byte
    ///
    /// With --ledger it also learns from your own record: from what you approved, refused and regretted. Such a model can only ask
    /// more often than the built-in one. It is not written if there is too little data or if it does worse on the test calls of
    /// the built-in one, and it takes effect only once you adopt it.
    Train {
        /// Labelled calls as features
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
        /// Learn from the record
        #[arg(long, conflicts_with = "facts")]
        ledger: bool,
        /// Where to write the model; default: standard output, or next to the record with --ledger
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Use a model trained on your record, or go back with `built-in` (not for agents)
    Adopt {
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Test the scorer on sources it was not trained on
    Eval {
        /// Labelled calls as features
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
        /// List the misjudged calls
        #[arg(long)]
        wrong: bool,
    },
    /// Show what the built-in scorer was trained and tested on, and how well it does
    Card,
    /// Print the current weights: the built-in ones or those of `scorer.tsv`
    Weights {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Turn labelled calls with machine descriptions into features
    #[command(hide = true)]
    Facts {
        #[arg(value_name = "FILE")]
        calls: PathBuf,
    },
    #[command(flatten)]
    Reviewer(crate::desk::reviewer::ReviewerCommand),
}

/// Runs the command.
pub(crate) fn run(arguments: &ModelArguments) -> Result<ExitCode> {
    let mut out = anstream::stdout();
    match &arguments.task {
        ModelCommand::Reviewer(task) => return crate::desk::reviewer::run(task),
        ModelCommand::Train { ledger: true, out: file, .. } => {
            return own::train(&read(None)?, &prior()?, file.as_deref());
        }
        ModelCommand::Adopt { file } => return own::adopt(&read(None)?, file),
        ModelCommand::Train { facts, out: file, .. } => {
            let rows = read(facts.as_deref())?;
            let text = train(&rows, &mut |line| drop(writeln!(anstream::stderr(), "{line}")))?.print(&feature::names());
            match file {
                Some(path) => {
                    std::fs::write(path, text).with_context(|| format!("can't write `{}`", path.display()))?
                }
                None => out.write_all(text.as_bytes())?,
            }
        }
        ModelCommand::Eval { facts, wrong } => {
            let rows = read(facts.as_deref())?;
            let tested = evaluate::held_out(&rows, &prior()?, &mut |line| drop(writeln!(anstream::stderr(), "{line}")));
            out.write_all(evaluate::report(&tested).as_bytes())?;
            if *wrong {
                out.write_all(evaluate::wrong(&tested).as_bytes())?;
            }
        }
        ModelCommand::Card => out.write_all(card::card(&read(None)?, &prior()?).as_bytes())?,
        ModelCommand::Weights { json } => weights::print(&mut out, *json)?,
        ModelCommand::Facts { calls } => out.write_all(rows::print(&facts::collect(calls)?).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: Option<&Path>) -> Result<Vec<LabelledCall>> {
    match path {
        None => rows::read(FACTS).context("can't read the built-in facts"),
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("can't read `{}`", path.display()))?;
            rows::read(&text).with_context(|| format!("`{}`", path.display()))
        }
    }
}

fn prior() -> Result<Table> {
    Table::parse(PRIOR, &feature::names()).map_err(|problem| anyhow!("the prior: {problem}"))
}

/// Fits the weights on all training sources and calibrates them on predictions for sources left out.
fn train(rows: &[LabelledCall], progress: &mut dyn FnMut(&str)) -> Result<Table> {
    let prior = prior()?;
    let mut table = fit::fit(rows.iter().filter(|row| row.purpose == Purpose::Train), &prior);
    progress("weights: fitted on all sources that may be trained on");
    (table.slope, table.offset) = evaluate::calibration_of(&evaluate::left_out(rows, &prior, progress), None);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "trains a dozen models, which takes minutes without optimisation; `doorward model train` shows the same"]
    fn training_makes_the_built_in_model_again() {
        let rows = read(None).unwrap();
        let made = train(&rows, &mut |_| ()).unwrap().print(&feature::names());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/model/scorer.tsv");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        assert_eq!(made, std::fs::read_to_string(path).unwrap(), "UPDATE=1 rewrites it");
    }

    #[test]
    fn what_is_stored_holds_no_text_and_no_source_that_may_not_be_used() {
        let rows = read(None).unwrap();
        assert!(rows.len() >= 1_500);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/model/facts.tsv");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, rows::print(&rows)).unwrap();
        }
        let stored = std::fs::read_to_string(path).unwrap();
        assert_eq!(
            rows::print(&rows),
            stored,
            "features by number, labels and ids, and nothing else; UPDATE=1 writes it"
        );
        let kept_back = ["traffic-context-evaluator", "guard-cc-safety-net", "atomic-red-team", "agentdojo"];
        for row in &rows {
            assert_eq!(row.purpose == Purpose::Test, kept_back.contains(&row.source.as_str()), "{}", row.id);
        }
    }
}
