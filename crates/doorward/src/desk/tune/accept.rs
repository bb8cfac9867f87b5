//! Accepting a proposal, or withdrawing it: first shown on recorded decisions, then recorded, and only then made.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::{Mode, Policy, Stage};
use doorward_ledger::PolicyBody;
use rustix::fs::FlockOperation;

use super::proposal::{self, PatternChange, Proposal, RuleChange};
use super::quarterly::QUARTER_MS;
use crate::desk::person;
use crate::desk::replay::{self, Replayed};
use crate::desk::rules::RuleEdit;
use crate::desk::screen;
use crate::machine::atomic_file;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use crate::memory::ledger_view::LedgerView;
use crate::policy::approved_config::{self, Accepted, USER};
use crate::policy::config::Numbers;
use crate::policy::from_history;
use crate::policy::load::{self, Loaded, Overrides, THRESHOLDS};
use crate::policy::user_files::Extensions;

/// How many changed verdicts are listed before asking.
const LISTED: usize = 20;

/// Whether a proposal is applied or withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Apply,
    Revert,
}

impl Direction {
    const fn past_tense(self) -> &'static str {
        match self {
            Direction::Apply => "accepted",
            Direction::Revert => "taken back",
        }
    }
}

/// What a proposal amounts to here and now.
struct AcceptPlan {
    proposal: Proposal,
    loaded: Loaded,
    policy: Policy,
    direction: Direction,
}

/// Shows what a proposal would change; changes nothing.
pub(super) fn show(dirs: Dirs, path: &Path, json: bool) -> Result<ExitCode> {
    let view = LedgerView::open(dirs)?;
    let plan = AcceptPlan::of(&view, &proposal::resolve(&view.dirs, path), Direction::Apply)?;
    let replayed = plan.effect(&view)?;
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{:#}", replay::to_json(&replayed, 0))?;
    } else {
        plan.print(&mut out)?;
        replay::print(&mut out, &replayed, LISTED)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a new proposal would have changed.
pub(super) fn effect(view: &LedgerView, proposal: &Proposal) -> Result<Replayed> {
    replay::trusted(&view.dirs)?;
    let loaded = load::load(&view.dirs, None, "");
    let policy = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?;
    AcceptPlan { proposal: proposal.clone(), loaded, policy, direction: Direction::Apply }.effect(view)
}

/// Accepts or withdraws a proposal.
pub(super) fn decide(dirs: Dirs, path: &Path, direction: Direction) -> Result<ExitCode> {
    person::required()?;
    let _lock = lock(&dirs)?;
    let view = LedgerView::open(dirs)?;
    let path = &proposal::resolve(&view.dirs, path);
    let plan = AcceptPlan::of(&view, path, direction)?;
    let replayed = plan.effect(&view)?;
    let mut out = anstream::stdout().lock();
    plan.print(&mut out)?;
    replay::print(&mut out, &replayed, LISTED)?;
    if !person::agrees("Apply this?")? {
        bail!("nothing was changed");
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let what = format!("tuning proposal {name} {}", direction.past_tense());
    plan.carry_out(&view.dirs, &what, &replayed, &mut Ledger::open(&view.dirs))?;
    writeln!(out, "Done. What got laxer applies from the next session on, or after `doorward reload`.")?;
    if direction == Direction::Apply {
        writeln!(out, "`doorward tune revert {name}` withdraws it.")?;
    }
    Ok(ExitCode::SUCCESS)
}

impl AcceptPlan {
    /// INVARIANT: a proposal that was edited, or made for another record or policy, gets no further than this.
    fn of(view: &LedgerView, path: &Path, direction: Direction) -> Result<AcceptPlan> {
        replay::trusted(&view.dirs)?;
        let proposal = Proposal::load(&view.dirs, path)?;
        let kept = view.log.record(proposal.sequence)?.map(|record| record.hash.to_string());
        if kept.as_deref() != Some(proposal.ledger.as_str()) {
            bail!("`{}` was made from another record; nothing was changed", path.display());
        }
        let loaded = load::load(&view.dirs, None, "");
        let policy = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?;
        let proposal = match direction {
            Direction::Apply => proposal,
            Direction::Revert => proposal.reversed(&policy),
        };
        let again = || {
            let review = proposal.review.as_str();
            format!("can't use `{}`; nothing was changed. run `doorward tune {review}` for a new one", path.display())
        };
        proposal.applied_to(&policy).with_context(again)?;
        for RuleChange { id, to, .. } in &proposal.rule {
            RuleEdit::stage(&policy.rules, id, *to).with_context(again)?;
        }
        Ok(AcceptPlan { proposal, loaded, policy, direction })
    }

    fn print(&self, out: &mut dyn Write) -> Result<()> {
        for one in &self.proposal.threshold {
            writeln!(out, "threshold of {}: {:.2} → {:.2}", visible(&one.category), one.from, one.to)?;
            writeln!(out, "    {}", visible(&one.why))?;
        }
        for one in &self.proposal.rule {
            writeln!(out, "rule {}: {} → {}", visible(&one.id), one.from, one.to)?;
            writeln!(out, "    {}", visible(&one.why))?;
        }
        for one in &self.proposal.kept {
            writeln!(out, "rule {} stays", visible(&one.id))?;
            writeln!(out, "    {}", visible(&one.why))?;
        }
        for one in &self.proposal.pattern {
            writeln!(
                out,
                "history of `{}` in {}: {}",
                visible(&one.pattern),
                visible(&one.project),
                self.direction.past_tense()
            )?;
            writeln!(out, "    {}", visible(&one.why))?;
        }
        Ok(())
    }

    /// What it would have done to the quarter's decisions.
    fn effect(&self, view: &LedgerView) -> Result<Replayed> {
        let (here, overrides) = (Overrides::default(), self.overrides()?);
        let policies = replay::between(&view.dirs, &here, &overrides);
        replay::replay(&view.log, clock::now_ms().saturating_sub(QUARTER_MS), &policies, screen::bar())
    }

    fn overrides(&self) -> Result<Overrides> {
        let covered = |source: &str| self.loaded.covered().find(|(name, _)| *name == source);
        let mut config = covered(USER).map(|(_, covered)| covered.config.clone()).unwrap_or_default();
        let stages = |id: &str| self.proposal.rule.iter().find(|one| one.id == id).map(|one| one.to);
        for one in self.proposal.rule.iter().filter(|one| !is_own(one)) {
            config.rules.insert(one.id.clone(), one.to);
        }
        let mut rules = self.loaded.own.rules.clone();
        for rule in &mut rules {
            rule.stage = stages(&rule.id).unwrap_or(rule.stage);
        }
        Ok(Overrides {
            config: Some(config),
            thresholds: Some(self.numbers()?),
            own: Some(Extensions { rules, ..Extensions::default() }),
            scorer: None,
            history: None,
        })
    }

    /// The thresholds file as it would be.
    fn numbers(&self) -> Result<Numbers> {
        let covered = self.loaded.covered().find(|(name, _)| *name == THRESHOLDS);
        let mut numbers = covered.map(|(_, covered)| covered.config.thresholds).unwrap_or_default();
        for one in &self.proposal.threshold {
            numbers.by_operation.set(one.operation()?, Some(one.to));
        }
        Ok(numbers)
    }

    /// INVARIANT: the record, with what the replay found, is durable before anything is changed.
    fn carry_out(&self, dirs: &Dirs, what: &str, replayed: &Replayed, ledger: &mut dyn Recorder) -> Result<()> {
        let shown = |[major, minor, patch]: [u32; 3]| format!("ruleset {major}.{minor}.{patch}");
        let before = Accepted::load(dirs).map_err(anyhow::Error::msg)?.ruleset();
        let after = replayed.bump().after(before);
        let sums = &replayed.all;
        let body = PolicyBody {
            what: format!("{what}: {} laxer, {} stricter of {} replayed", sums.laxer, sums.stricter, sums.judged),
            before: Some(shown(before)),
            after: Some(format!("{}: {}", shown(after), self.sentence())),
            user: crate::machine::user(),
            project: None,
        };
        let entry = LogEntry::new(&body)?;
        let _receipt = ledger.append(entry).context("can't record the change, so nothing was changed")?;
        if !self.proposal.threshold.is_empty() {
            let numbers = self.numbers()?;
            atomic_file::replace(&dirs.thresholds_file(), &numbers.print())?;
            approved_config::accept_in(dirs, THRESHOLDS, |config| config.thresholds = numbers)?;
        }
        for RuleChange { id, to, .. } in &self.proposal.rule {
            RuleEdit::stage(&self.policy.rules, id, *to)?.apply(dirs)?;
        }
        for item in self.proposal.pattern.iter().map(PatternChange::accepted) {
            match self.direction {
                Direction::Apply => from_history::accept(dirs, item, ledger)?,
                // What expired, or ended with a regret, is already gone.
                Direction::Revert => drop(from_history::withdraw(dirs, &item.id, ledger)),
            }
        }
        approved_config::set_ruleset(dirs, after)
    }

    fn sentence(&self) -> String {
        let thresholds = self.proposal.threshold.iter();
        let thresholds = thresholds.map(|one| format!("{} from {:.2} to {:.2}", one.category, one.from, one.to));
        let stage = |stage: Stage| stage.as_str();
        let rules =
            self.proposal.rule.iter().map(|one| format!("{} from {} to {}", one.id, stage(one.from), stage(one.to)));
        let patterns = self.proposal.pattern.iter().map(|one| format!("the past of {}", one.pattern));
        thresholds.chain(rules).chain(patterns).collect::<Vec<String>>().join(", ")
    }
}

fn is_own(change: &RuleChange) -> bool {
    change.id.starts_with("own/")
}

/// Two users or terminals can't change the policy at the same time.
fn lock(dirs: &Dirs) -> Result<File> {
    let directory = proposal::directory(dirs);
    DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
    let file = OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(directory.join("lock"))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(_) => bail!("another `doorward tune accept` is running; nothing was changed"),
    }
}
