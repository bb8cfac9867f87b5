//! `doorward metrics`: live figures on what was decided, asked and overridden, and how long it took.

mod prometheus;
mod table;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use doorward_ledger::Metrics;

use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::memory::grants::store::GrantStore;
use crate::memory::ledger_view::LedgerView;

/// How often `--watch` refreshes.
// Every refresh feeds the index from the log; more often would show the same numbers.
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct MetricsArguments {
    /// From this time on, to the hour: `2026-11-15`, `12h`, `7d`
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
    /// Print JSON
    #[arg(long, conflicts_with = "prometheus")]
    pub json: bool,
    /// Print Prometheus text format
    #[arg(long)]
    pub prometheus: bool,
    /// Print again every two seconds, until interrupted
    #[arg(long)]
    pub watch: bool,
}

/// The figures, with pending calls and open alerts.
#[derive(Debug)]
struct MetricFigures {
    metrics: Metrics,
    pending: usize,
    /// Open alerts, by kind.
    alerts: Vec<(&'static str, u64)>,
}

pub(crate) fn run(arguments: &MetricsArguments) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    loop {
        let figures = figures(&view, &arguments.since)?;
        let mut out = anstream::stdout().lock();
        if arguments.watch && std::io::stdout().is_terminal() {
            write!(out, "\x1b[H\x1b[2J")?;
        }
        match (arguments.json, arguments.prometheus) {
            (true, _) if arguments.watch => writeln!(out, "{}", as_json(&figures)?)?,
            (true, _) => writeln!(out, "{:#}", as_json(&figures)?)?,
            (false, true) => write!(out, "{}", prometheus::text(&figures))?,
            (false, false) => table::print(&mut out, &figures)?,
        }
        out.flush()?;
        drop(out);
        if !arguments.watch {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(PAUSE);
    }
}

fn figures(view: &LedgerView, since: &str) -> Result<MetricFigures> {
    let now_ms = clock::now_ms();
    let since_ms = clock::parse(since, now_ms).map_err(anyhow::Error::msg)?;
    let index = view.index()?;
    let standing = crate::memory::alerts::standing(&index, now_ms)?;
    let of_kind = |kind: doorward_ledger::AlertKind| {
        (kind.word(), standing.iter().filter(|alert| alert.kind == kind).count() as u64)
    };
    Ok(MetricFigures {
        metrics: index.metrics(since_ms, now_ms)?,
        pending: GrantStore::open_at(&view.dirs).map(|store| store.open_calls().len()).unwrap_or_default(),
        alerts: doorward_ledger::AlertKind::ALL.map(of_kind).to_vec(),
    })
}

fn as_json(figures: &MetricFigures) -> Result<serde_json::Value> {
    let mut value = serde_json::to_value(&figures.metrics)?;
    if let Some(map) = value.as_object_mut() {
        map.insert("pending".to_owned(), figures.pending.into());
        let alerts = figures.alerts.iter().map(|(kind, count)| ((*kind).to_owned(), (*count).into()));
        map.insert("alerts".to_owned(), serde_json::Value::Object(alerts.collect()));
    }
    Ok(value)
}
