//! Retrains the scorer on the user's own answers and regrets, within guard rails.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use doorward_engine::layer2::feature;
use doorward_engine::layer2::table::{Heads, ONE, Table};
use doorward_engine::layer2::{Numbers, weights};
use doorward_engine::{Mode, Policy, Scorer, Thresholds, Verdict};
use doorward_ledger::PolicyBody;

use super::facts;
use super::fit;
use super::measure::Scored;
use super::rows::{LabelledCall, Purpose};
use crate::desk::person;
use crate::desk::replay::{self, Aftermath, RecordedDecision, each};
use crate::desk::screen;
use crate::machine::atomic_file;
use crate::machine::checked_read;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::ledger_view::LedgerView;
use crate::policy::load::Overrides;

/// Minimum number of own calls needed to learn anything, and of unwanted ones among them.
// Below this the interval around every rate is wider than the difference an own model could make.
const CALLS: usize = 500;
// Approvals alone teach only to approve.
const UNWANTED: usize = 30;

/// The number of own calls is capped at the shipped ones divided by this; the first that is good enough is used.
// A busy month has more calls than the shipped corpus; uncapped, one habit would outvote everything else.
const SHARES: [usize; 3] = [1, 4, 16];

/// How far back the record is read.
const QUARTER_MS: u64 = 90 * 24 * 60 * 60 * 1000;

/// The word for going back to the built-in model.
const BUILT_IN: &str = "built-in";

/// How a model does on the shipped calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mistakes {
    /// Approved though the label says otherwise.
    pub regret: usize,
    /// Asked about though the label says approve.
    pub friction: usize,
}

impl Mistakes {
    /// It costs more than another one, by more than chance explains in 19 of 20 cases.
    ///
    /// The confidence threshold implies how many questions a wrong approval is worth.
    fn is_worse(self, other: Mistakes) -> bool {
        let sure = Thresholds::default().wanted(None, false);
        let approval = sure / (1.0 - sure);
        let differ = |a: usize, b: usize| a as f64 - b as f64;
        let (questions, approvals) = (differ(self.friction, other.friction), differ(self.regret, other.regret));
        let chance = 1.645 * (questions.abs() + approval * approval * approvals.abs()).sqrt();
        approvals > 0.0 || questions + approval * approvals > chance
    }
}

/// Trains on the shipped calls and on the record, and writes the model to a file for inspection.
pub(super) fn train(shipped: &[LabelledCall], prior: &Table, out: Option<&Path>) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let own = labelled(&view)?;
    let unwanted = own.iter().filter(|row| row.label >= Verdict::Confirm).count();
    if own.len() < CALLS || unwanted < UNWANTED {
        bail!(
            "not enough to learn from: the record has {} layer 2 calls with a known outcome, {unwanted} of them unwanted, and \
            training needs {CALLS} and {UNWANTED}",
            own.len()
        );
    }
    let mut stdout = anstream::stdout().lock();
    writeln!(stdout, "{} own calls, {unwanted} of them unwanted, plus {} shipped ones", own.len(), shipped.len())?;
    let (text, scorer) = learnt(shipped, &own, prior)?;
    let all = print_effect(&mut stdout, &view, scorer)?.all;
    if all.laxer + all.stricter == 0 {
        bail!("the new model would have decided every recorded call as before; nothing was written");
    }
    let path = out.map_or_else(|| view.dirs.state().join("proposals/scorer.tsv"), PathBuf::from);
    atomic_file::replace(&path, &text)?;
    writeln!(stdout, "Written to `{0}`; `doorward model adopt {0}` puts it to use.", path.display())?;
    Ok(ExitCode::SUCCESS)
}

/// The model that follows the user's own calls as far as it does no worse on the shipped ones.
fn learnt(shipped: &[LabelledCall], own: &[LabelledCall], prior: &Table) -> Result<(String, Scorer)> {
    let (slope, offset) = calibration();
    let mut refused = None;
    for share in SHARES {
        let used = evenly(own, shipped.len() / share);
        let rows = shipped.iter().filter(|row| row.purpose == Purpose::Train).chain(used);
        let text = Table { slope, offset, ..fit::fit(rows, prior) }.print(&feature::names());
        let scorer =
            Scorer::parse(&text).map_err(|problem| anyhow!("training did not produce a valid model: {problem}"))?;
        match no_worse(shipped, &scorer) {
            Ok(()) => return Ok((text, scorer)),
            Err(problem) => refused = refused.or(Some(problem)),
        }
    }
    Err(refused.unwrap_or_else(|| anyhow!("training learnt nothing")))
}

/// Puts a trained model to use, or goes back to the built-in one; not for agents.
pub(super) fn adopt(shipped: &[LabelledCall], file: &str) -> Result<ExitCode> {
    person::required()?;
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    replay::trusted(&view.dirs)?;
    let text = if file == BUILT_IN { None } else { Some(checked(shipped, Path::new(file))?) };
    let scorer = match &text {
        Some(text) => Scorer::parse(text).map_err(anyhow::Error::msg)?,
        None => Scorer::BuiltIn,
    };
    let mut out = anstream::stdout().lock();
    print_effect(&mut out, &view, scorer)?;
    if !person::agrees("Use this model?")? {
        bail!("nothing was changed");
    }
    let hash = |text: &str| doorward_ledger::Hash::of(text.as_bytes()).to_string();
    let target = view.dirs.config_directory().join("scorer.tsv");
    let body = PolicyBody {
        what: format!("the scorer `{file}` was adopted"),
        before: atomic_file::text(&target)?.map(|text| hash(&text)),
        after: text.as_deref().map(hash),
        user: crate::machine::user(),
        project: None,
    };
    let entry = LogEntry::new(&body)?;
    let _receipt = Ledger::open(&view.dirs).append(entry).context("can't record the change, so nothing was changed")?;
    match &text {
        Some(text) => atomic_file::replace(&target, text)?,
        None => atomic_file::remove(&target)?,
    }
    writeln!(out, "Done. `doorward model adopt {BUILT_IN}` goes back to the built-in model.")?;
    Ok(ExitCode::SUCCESS)
}

fn checked(shipped: &[LabelledCall], path: &Path) -> Result<String> {
    let text = checked_read::read(path).map_err(anyhow::Error::msg)?;
    let text = text.with_context(|| format!("`{}` does not exist", path.display()))?;
    let scorer = Scorer::parse(&text).map_err(|problem| {
        anyhow!("`{}`: {problem}; train it again with `doorward model train --ledger`", path.display())
    })?;
    no_worse(shipped, &scorer)?;
    Ok(text)
}

/// What the record says about calls that reached layer 2.
fn labelled(view: &LedgerView) -> Result<Vec<LabelledCall>> {
    let since_ms = clock::now_ms().saturating_sub(QUARTER_MS);
    let aftermath = Aftermath::read(&view.log, since_ms)?;
    let policy = Policy::built_in();
    let mut rows = Vec::new();
    let work = |past: RecordedDecision| {
        let is_auto = past.body.mode.is_none_or(|mode| mode == Mode::Auto);
        let label = label(&past, &aftermath).filter(|_| is_auto && past.body.layer2.is_some())?;
        let seen = facts::scorer_input(&past.facts, &policy);
        let row = LabelledCall {
            id: past.body.id.into(),
            source: "ledger".to_owned(),
            purpose: Purpose::Train,
            world: "base".to_owned(),
            label,
            weight: 1.0,
            floor: seen.floor,
            settled: seen.settled,
            effects: seen.effects,
        };
        Some(row)
    };
    each(&view.log, since_ms, work, |row| rows.extend(row), screen::bar())?;
    Ok(rows)
}

/// What people wanted; `None` if no one said. A block comes from a rule and says nothing about layer 2.
fn label(past: &RecordedDecision, aftermath: &Aftermath) -> Option<Verdict> {
    let id = &past.body.id;
    match past.body.verdict {
        _ if aftermath.is_regret(id) => Some(Verdict::Confirm),
        Verdict::AutoApprove => Some(Verdict::AutoApprove),
        Verdict::Confirm if aftermath.is_refused(id) => Some(Verdict::Confirm),
        Verdict::Confirm if aftermath.is_overridden(id) => Some(Verdict::AutoApprove),
        Verdict::Confirm | Verdict::Block => None,
    }
}

/// A spread-out sample of a list, so that own calls do not drown the shipped ones.
fn evenly(rows: &[LabelledCall], most: usize) -> impl Iterator<Item = &LabelledCall> {
    rows.iter().step_by(rows.len().div_ceil(most.max(1)).max(1))
}

/// Slope and offset of the built-in model.
fn calibration() -> (Heads, Heads) {
    let whole = |value: f64| (value * ONE as f64).round() as i32;
    let row = |name: &str| {
        let found = weights().into_iter().find(|weight| weight.feature == "calibration" && weight.value == name);
        found.map_or([ONE as i32; 2], |weight| [whole(weight.ask), whole(weight.block)])
    };
    (row("slope"), row("offset"))
}

/// Fails if a model does worse than the built-in one on the shipped calls.
fn no_worse(shipped: &[LabelledCall], scorer: &Scorer) -> Result<()> {
    let built_in = wrong(shipped, &Scorer::BuiltIn)?;
    let own = wrong(shipped, scorer)?;
    if own.is_worse(built_in) {
        bail!(
            "the new model does worse than the built-in one on the shipped calls: {} wrong approvals and {} needless questions overrides of \
             {} and {}; nothing was written",
            own.regret,
            own.friction,
            built_in.regret,
            built_in.friction
        );
    }
    Ok(())
}

/// What a model gets wrong on the shipped calls. A model of the user's own only counts where it is stricter than the built-in one.
fn wrong(shipped: &[LabelledCall], scorer: &Scorer) -> Result<Mistakes> {
    let thresholds = Thresholds::default();
    let own = scorer.table().map_err(|problem| anyhow!("{problem}"))?;
    let built_in: Numbers<'_> = Scorer::BuiltIn.table().map_err(|problem| anyhow!("{problem}"))?;
    let mut wrong = Mistakes { regret: 0, friction: 0 };
    for row in shipped {
        let by = |numbers: Numbers<'_>| Scored::new(row, numbers, &thresholds).verdict(&thresholds);
        let is_approved = by(own).max(by(built_in)) == Verdict::AutoApprove;
        let should_ask = row.label >= Verdict::Confirm;
        wrong.regret += usize::from(is_approved && should_ask);
        wrong.friction += usize::from(!is_approved && !should_ask);
    }
    Ok(wrong)
}

/// Shows what a model would have changed.
fn print_effect(out: &mut dyn Write, view: &LedgerView, scorer: Scorer) -> Result<replay::Replayed> {
    let (here, overrides) = (Overrides::default(), Overrides { scorer: Some(scorer), ..Overrides::default() });
    let policies = replay::between(&view.dirs, &here, &overrides);
    let replayed = replay::replay(&view.log, clock::now_ms().saturating_sub(QUARTER_MS), &policies, screen::bar())?;
    replay::sums(out, &replayed)?;
    Ok(replayed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_asks_about_everything_is_worse_and_the_built_in_one_is_not() {
        let shipped = super::super::read(None).unwrap();
        assert!(no_worse(&shipped, &Scorer::BuiltIn).is_ok());
        let names = feature::names();
        let anxious = Table { base: [9000; 2], slope: [1000; 2], offset: [0; 2], weights: vec![[0; 2]; names.len()] };
        let problem = no_worse(&shipped, &Scorer::parse(&anxious.print(&names)).unwrap()).unwrap_err().to_string();
        assert!(problem.contains("needless questions"), "{problem}");
    }

    #[test]
    fn worse_is_what_chance_does_not_explain_and_any_wrong_approval_more() {
        let built_in = Mistakes { regret: 20, friction: 400 };
        for (regret, friction, expected) in [
            (20, 400, false),
            (20, 402, false),
            (20, 405, true),
            (21, 300, true),
            (14, 435, false),
            (14, 500, true),
            (0, 480, false),
        ] {
            assert_eq!(Mistakes { regret, friction }.is_worse(built_in), expected, "{regret} {friction}");
        }
    }

    #[test]
    fn the_calibration_is_that_of_the_built_in_model() {
        let text = include_str!("../../../../engine/model/scorer.tsv");
        let table = Table::parse(text, &feature::names()).unwrap();
        assert_eq!(calibration(), (table.slope, table.offset));
    }
}
