//! `doorward report`: a report on this installation, from the live configuration and record.
//!
//! Start at `sections/mod.rs`: the gathered data becomes one document (`document.rs`), rendered as Markdown or HTML.

mod document;
mod gather;
mod html;
mod interview;
mod markdown;
mod matrix;
mod sections;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::memory::ledger_view::{LedgerView, Verified};
use document::{BlockContent, Content, Document};
use gather::{Gathered, RecordFigures};
use matrix::Matrix;

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Output format; default: by the file extension
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Output file, readable only by you; default: standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print the document as JSON
    #[arg(long, conflicts_with_all = ["format", "out"])]
    pub json: bool,
    /// Instead of the report, write the whole decision matrix as CSV to this file (`-` for standard output)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "out", "json"])]
    pub matrix_csv: Option<PathBuf>,
    /// Interview you about your agents, propose a configuration and write it (not for agents)
    #[arg(long, conflicts_with_all = ["format", "out", "json", "matrix_csv"])]
    pub new: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Markdown
    Md,
    /// A single, self-contained HTML file
    Html,
}

pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    if arguments.new {
        return interview::run(&dirs);
    }
    if let Some(path) = &arguments.matrix_csv {
        write(Some(path).filter(|path| *path != Path::new("-")), &Matrix::whole().csv())?;
        return Ok(ExitCode::SUCCESS);
    }
    let document = document(dirs)?;
    if arguments.json {
        writeln!(anstream::stdout(), "{}", serde_json::to_string_pretty(&document)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match format(arguments) {
        Format::Md => markdown::render(&document),
        Format::Html => html::render(&document),
    };
    write(arguments.out.as_ref(), &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the report of a home as HTML.
pub(crate) fn write_html(dirs: &Dirs, path: &Path) -> Result<()> {
    crate::machine::atomic_file::replace(path, &html::render(&document(dirs.clone())?))
}

/// The report's figures and charts, for a page that is asked for often: the record is not proved first.
pub(crate) fn figures(view: &LedgerView) -> Result<Vec<Content>> {
    let unproved = Verified { report: doorward_ledger::Report::default(), checkpoints: 0 };
    let record = RecordFigures::new(view, clock::now_ms(), unproved)?;
    let mut blocks = vec![Content::Tiles(sections::opening::tiles(&record))];
    let shared = |block: document::Block| match block.content {
        BlockContent::Shared(content) => Some(content),
        BlockContent::Matrix { .. } => None,
    };
    blocks.extend(sections::audit::figures(&record).blocks.into_iter().filter_map(shared));
    Ok(blocks)
}

/// The decision matrix as HTML.
pub(crate) fn matrix_html() -> String {
    html::matrix(&Matrix::whole())
}

fn document(dirs: Dirs) -> Result<Document> {
    Ok(sections::document(&Gathered::new(dirs)?))
}

fn format(arguments: &ReportArguments) -> Format {
    let ending = arguments.out.as_ref().and_then(|path| path.extension()).and_then(|ending| ending.to_str());
    let by_name = if matches!(ending, Some("html" | "htm")) { Format::Html } else { Format::Md };
    arguments.format.unwrap_or(by_name)
}

fn write(path: Option<&PathBuf>, text: &str) -> Result<()> {
    match path {
        // Not through `anstream`: the document must not change with the terminal.
        None => Ok(std::io::stdout().lock().write_all(text.as_bytes())?),
        Some(path) => {
            let path = std::path::absolute(path)?;
            crate::machine::atomic_file::replace(&path, text)?;
            Ok(writeln!(anstream::stdout(), "written to `{}`", crate::machine::visible(&path.display().to_string()))?)
        }
    }
}
