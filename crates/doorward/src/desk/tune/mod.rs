//! `doorward tune`: reviews the record for drift and writes proposals for you to accept. doorward learns nothing on its own.

mod accept;
mod due;
mod finding;
mod history;
mod monthly;
mod proposal;
mod quarterly;
mod rate;
mod weekly;
mod weigh;
mod without;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use doorward_engine::{Mode, Policy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::desk::offers;
use crate::desk::outcomes;
use crate::desk::person;
use crate::desk::replay;
use crate::desk::screen;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;
use crate::policy::load;

pub(crate) use due::{Overdue, overdue};
use finding::Finding;
use history::History;
use proposal::Proposal;

/// The names of proposals, newest last.
pub(crate) fn waiting(dirs: &Dirs) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    proposal::all(dirs).into_iter().filter_map(name).collect()
}

#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    #[command(subcommand)]
    task: TuneCommand,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum TuneCommand {
    /// Show regret and friction rates by category, with 95 % intervals and trend, and overrides by user
    ///
    /// Regret: approved and later reverted or flagged (the specification's false positives). Friction: asked and then allowed to
    /// run (its false negatives).
    Weekly,
    /// Check the layer 2 thresholds against regretted calls, and propose new ones where needed
    Monthly,
    /// Check the layer 1 rules against overridden and regretted calls, and propose which to retire
    Quarterly,
    /// List proposals
    List,
    /// Show what a proposal would have changed in the last ninety days; changes nothing
    Show {
        /// The proposal file, or just its name
        file: PathBuf,
    },
    /// Accept a proposal after seeing its effect on recorded decisions (not for agents)
    Accept {
        /// The proposal file, or just its name
        file: PathBuf,
    },
    /// Withdraw an accepted proposal (not for agents)
    Revert {
        /// The proposal file, or just its name
        file: PathBuf,
    },
}

/// One of the three reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Review {
    Weekly,
    Monthly,
    Quarterly,
}

impl Review {
    const ALL: [Review; 3] = [Review::Weekly, Review::Monthly, Review::Quarterly];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Review::Weekly => "weekly",
            Review::Monthly => "monthly",
            Review::Quarterly => "quarterly",
        }
    }

    const fn period_ms(self) -> u64 {
        match self {
            Review::Weekly => weekly::WEEK_MS,
            Review::Monthly => monthly::MONTH_MS,
            Review::Quarterly => quarterly::QUARTER_MS,
        }
    }

    /// How far back it reads.
    const fn reach_ms(self) -> u64 {
        match self {
            Review::Weekly => weekly::WEEK_MS * (1 + weekly::BEFORE),
            Review::Monthly | Review::Quarterly => self.period_ms(),
        }
    }
}

/// What a review says.
enum ReviewReport {
    Weekly(weekly::Weekly),
    Monthly(monthly::Monthly),
    Quarterly(quarterly::Quarterly),
}

pub(crate) fn run(arguments: &TuneArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    match &arguments.task {
        TuneCommand::Weekly => make(dirs, Review::Weekly, arguments.json),
        TuneCommand::Monthly => make(dirs, Review::Monthly, arguments.json),
        TuneCommand::Quarterly => make(dirs, Review::Quarterly, arguments.json),
        TuneCommand::List => list(&dirs, arguments.json),
        TuneCommand::Show { file } => accept::show(dirs, file, arguments.json),
        TuneCommand::Accept { file } => accept::decide(dirs, file, accept::Direction::Apply),
        TuneCommand::Revert { file } => accept::decide(dirs, file, accept::Direction::Revert),
    }
}

/// Runs a review: reads the record, prints what it found, and writes the proposal if there is one.
fn make(dirs: Dirs, review: Review, json: bool) -> Result<ExitCode> {
    let policy = in_force(&dirs)?;
    let view = LedgerView::open(dirs)?;
    let now_ms = clock::now_ms();
    let _found = outcomes::record_new(&view, now_ms.saturating_sub(review.reach_ms()))?;
    let judging = (review != Review::Weekly).then_some(&policy);
    let history = History::read(&view, now_ms.saturating_sub(review.reach_ms()), judging, screen::bar())?;
    let reviewed = match review {
        Review::Weekly => ReviewReport::Weekly(weekly::review(&history, now_ms)),
        Review::Monthly => {
            let patterns = offers::monthly(&view, &view.index()?)?;
            ReviewReport::Monthly(monthly::review(&history, &policy).with_patterns(patterns))
        }
        Review::Quarterly => ReviewReport::Quarterly(quarterly::review(&history, &policy)),
    };
    let made = Proposal::new(review, clock::moment(now_ms), &policy, history.head.clone());
    let mut proposal = reviewed.proposal(made);
    let effect = match (&mut proposal, review) {
        (Some(proposal), Review::Quarterly) => {
            let effect = accept::effect(&view, proposal)?;
            proposal.say_what_stays(&policy, &effect);
            Some(effect)
        }
        (Some(_) | None, _) => None,
    };
    let path = proposal.map(|proposal| proposal.save(&view.dirs)).transpose()?;
    let is_counted = person::required().is_ok();
    if is_counted {
        due::done(&mut Ledger::open(&view.dirs), review, reviewed.findings().len())?;
    }
    let mut out = anstream::stdout().lock();
    if json {
        let shown = json!({ "review": review, "until": clock::moment(now_ms), "report": reviewed.to_json()?, "leftOut": history.left_out(), "proposal": path, "effect": effect.as_ref().map(|effect| replay::to_json(effect, 0)) });
        writeln!(out, "{shown:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    reviewed.print(&mut out, &history)?;
    if let Some(path) = path {
        writeln!(out, "proposal: {}", path.display())?;
        if let Some(effect) = &effect {
            let sums = &effect.all;
            writeln!(
                out,
                "  of {} decisions, {} would get laxer and {} stricter",
                sums.judged, sums.laxer, sums.stricter
            )?;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        writeln!(out, "  `doorward tune accept {name}` shows what it would change and asks you")?;
    }
    if !is_counted {
        writeln!(out, "this does not count as the {} review, because it was not run at a terminal", review.as_str())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The current policy outside any project.
fn in_force(dirs: &Dirs) -> Result<Policy> {
    let loaded = load::load(dirs, None, "");
    loaded.tell_problems();
    loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)
}

impl ReviewReport {
    fn findings(&self) -> &[Finding] {
        match self {
            ReviewReport::Weekly(weekly) => &weekly.findings,
            ReviewReport::Monthly(monthly) => &monthly.findings,
            ReviewReport::Quarterly(quarterly) => &quarterly.findings,
        }
    }

    /// What the review would change, if it would change anything.
    fn proposal(&self, mut empty: Proposal) -> Option<Proposal> {
        match self {
            ReviewReport::Weekly(_) => {}
            ReviewReport::Monthly(monthly) => {
                empty.threshold.clone_from(&monthly.changes);
                empty.pattern.clone_from(&monthly.patterns);
            }
            ReviewReport::Quarterly(quarterly) => {
                empty.rule.clone_from(&quarterly.changes);
                empty.kept.clone_from(&quarterly.kept);
            }
        }
        Some(empty).filter(|proposal| !proposal.is_empty())
    }

    fn to_json(&self) -> Result<Value> {
        Ok(match self {
            ReviewReport::Weekly(weekly) => serde_json::to_value(weekly)?,
            ReviewReport::Monthly(monthly) => serde_json::to_value(monthly)?,
            ReviewReport::Quarterly(quarterly) => serde_json::to_value(quarterly)?,
        })
    }

    fn print(&self, out: &mut dyn Write, history: &History) -> Result<()> {
        for sentence in history.left_out() {
            writeln!(out, "{sentence}")?;
        }
        if history.past.is_empty() {
            writeln!(out, "no decisions were made in mode `auto` in this period, so there is nothing to review")?;
            return Ok(());
        }
        match self {
            ReviewReport::Weekly(weekly) => weekly.print(out)?,
            ReviewReport::Monthly(monthly) => monthly.print(out)?,
            ReviewReport::Quarterly(quarterly) => quarterly.print(out)?,
        }
        if self.findings().is_empty() {
            writeln!(out, "nothing found")?;
        }
        for finding in self.findings() {
            writeln!(out, "found: {} {}: {}", finding.drift.as_str(), visible(&finding.about), visible(&finding.text))?;
        }
        Ok(())
    }
}

fn list(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    let all: Vec<PathBuf> = proposal::all(dirs);
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{:#}", json!(all))?;
    } else if all.is_empty() {
        writeln!(out, "no proposals yet")?;
    } else {
        all.iter().try_for_each(|path| writeln!(out, "{}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
