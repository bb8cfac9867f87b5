//! `doorward rollout start`, `promote` and `rollback`: not for agents; shown first, then recorded.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;
use doorward_ledger::PolicyBody;

use crate::desk::grants::show::prose;
use crate::desk::person;
use crate::desk::rollout::criteria::Criterion;
use crate::desk::rollout::show::SubjectFigures;
use crate::desk::rollout::{PromoteArguments, RollbackArguments, StartArguments, WhichArguments};
use crate::desk::setup;
use crate::hook::rollback;
use crate::machine::agent::Agent;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use crate::policy::config;
use crate::policy::load;
use crate::policy::rollout::assign::OWN;
use crate::policy::rollout::set;
use crate::policy::rollout::stage::{RolloutStage, Share, StageChange, Track};
use crate::policy::rollout::state::{Rollout, Subject, Trial};
use crate::policy::rollout::trial::Stopping;

/// One change, ready to be confirmed and made.
struct PlannedMove {
    subject: Subject,
    from: Option<RolloutStage>,
    step: StageChange,
    /// Ends any earlier rollout.
    begins: bool,
    /// The threshold set it starts.
    trial: Option<Trial>,
    why: Option<String>,
    /// Unmet criteria that were overridden.
    missing: Vec<String>,
}

/// Begins a rollout.
pub(crate) fn start(arguments: &StartArguments) -> Result<ExitCode> {
    person::required()?;
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let rollout = match Rollout::load(&dirs) {
        Ok(rollout) => rollout.unwrap_or_default(),
        Err(problem) => {
            writeln!(anstream::stdout(), "{}", visible(&problem))?;
            if !person::agrees(
                "Discard it and start over? Everything else being rolled out will then ask about every call",
            )? {
                bail!("nothing was changed");
            }
            Rollout::forget(&dirs).context("can't remove it")?;
            Rollout::default()
        }
    };
    let change = beginning(arguments, &dirs, &rollout)?;
    if change.step.stage >= RolloutStage::Canary && change.trial.is_none() && change.why.is_none() {
        bail!(
            "nothing supports stage `{}` yet: start at an earlier stage, or give a reason with `--why`",
            change.step.stage
        );
    }
    if let Some(trial) = &change.trial {
        for line in prose(&format!("how the trial ends: {}", trial.stopping.sentence()), 100) {
            writeln!(anstream::stdout(), "{line}")?;
        }
    }
    make(&dirs, change)
}

fn beginning(arguments: &StartArguments, dirs: &Dirs, rollout: &Rollout) -> Result<PlannedMove> {
    let (subject, trial) = if let Some(id) = &arguments.rule {
        (Subject::Rule(own_rule(dirs, id)?), None)
    } else if let Some(file) = &arguments.thresholds {
        let in_force = load::load(dirs, None, "").policy(Mode::Auto).map_err(anyhow::Error::msg)?.thresholds;
        let (name, numbers) = set::read(file, &in_force)?;
        if numbers.set() == in_force {
            bail!("`{}` is the same as the current thresholds", file.display());
        }
        let only_asks_more = !numbers.is_laxer_than(&in_force);
        let trial = Trial { name, numbers, track: Track::default(), stopping: Stopping::default(), only_asks_more };
        (Subject::Thresholds, Some(trial))
    } else {
        (Subject::Agent(chosen_agent(dirs, arguments.agent.as_deref())?), None)
    };
    let usual = match &subject {
        Subject::Agent(_) => RolloutStage::ConfirmAll,
        Subject::Rule(_) => RolloutStage::Shadow,
        Subject::Thresholds => RolloutStage::Canary,
    };
    let stage = arguments.stage.unwrap_or(usual);
    if stage < usual {
        bail!("a rule can't start earlier than `{usual}`");
    }
    let from = rollout.track(&subject).map(|track| track.now().stage);
    if from.is_some_and(|from| stage > from && from > RolloutStage::ConfirmAll) {
        bail!(
            "{} is already being rolled out; `doorward rollout promote` moves it to the next stage",
            subject.display()
        );
    }
    let usual = if trial.is_some() { Share::new(50) } else { None };
    let share = arguments.share.or(usual).unwrap_or_default();
    let step = StageChange { stage, share, since_ms: now_ms(), record: 0, is_rollback: false };
    Ok(PlannedMove { subject, from, step, begins: true, trial, why: arguments.why.clone(), missing: Vec::new() })
}

fn chosen_agent(dirs: &Dirs, named: Option<&str>) -> Result<String> {
    if let Some(name) = named {
        let Some(agent) = Agent::parse(name) else {
            let all = Agent::ALL.map(|agent| format!("`{}`", agent.name())).join(", ");
            bail!("unknown agent `{name}`; the known agents are {all}");
        };
        return Ok(agent.name().to_owned());
    }
    let loaded = load::load(dirs, None, "");
    let mut agents = loaded.config.agents.keys();
    match (agents.next(), agents.next()) {
        (Some(only), None) => Ok(only.clone()),
        (None, _) => bail!("no agent is set up; run `doorward setup` first"),
        (Some(_), Some(_)) => bail!("more than one agent is set up; name the one you mean"),
    }
}

fn own_rule(dirs: &Dirs, id: &str) -> Result<String> {
    let id = format!("{OWN}{}", id.strip_prefix(OWN).unwrap_or(id));
    let loaded = load::load(dirs, None, "");
    if !loaded.own.rules.iter().any(|rule| rule.id == id) {
        let folder = dirs.config_directory().join("rules");
        bail!("no file in `{}` has the rule `{id}`; built-in rules are not rolled out", folder.display());
    }
    Ok(id)
}

/// The rollout that is meant.
fn chosen_subject(which: &WhichArguments, rollout: &Rollout) -> Result<Subject> {
    let named = match which {
        WhichArguments { agent: Some(name), .. } => Some(Subject::Agent(name.clone())),
        WhichArguments { rule: Some(id), .. } => {
            Some(Subject::Rule(format!("{OWN}{}", id.strip_prefix(OWN).unwrap_or(id))))
        }
        WhichArguments { thresholds: true, .. } => Some(Subject::Thresholds),
        WhichArguments { .. } => None,
    };
    let all = rollout.subjects();
    match (named, all.as_slice()) {
        (_, []) => bail!("nothing is being rolled out; `doorward rollout start` starts a rollout"),
        (Some(subject), _) if all.contains(&subject) => Ok(subject),
        (Some(subject), _) => {
            bail!("{} is not being rolled out; `doorward rollout start` starts a rollout", subject.display())
        }
        (None, [only]) => Ok(only.clone()),
        (None, _) => bail!("more than one rollout is under way: name an agent, or pass `--rule ID` or `--thresholds`"),
    }
}

/// Promotes to the next stage.
pub(crate) fn promote(arguments: &PromoteArguments) -> Result<ExitCode> {
    person::required()?;
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    // Due rollbacks come first.
    let taken_back = rollback::watch(&dirs)?;
    let rollout = Rollout::load(&dirs).map_err(anyhow::Error::msg)?.unwrap_or_default();
    let subject = chosen_subject(&arguments.which, &rollout)?;
    if let Some((_, why)) = taken_back.iter().find(|(other, _)| *other == subject) {
        bail!("{} has just been rolled back: {why}", subject.display());
    }
    let now = rollout.track(&subject).map(Track::now).unwrap_or_default();
    let (stage, share) = next(&now, arguments.share, &subject)?;
    let figures = SubjectFigures::of(&dirs, &rollout, &subject)?;
    let missing: Vec<String> = figures.criteria.iter().filter(|of| !of.met).map(Criterion::missing).collect();
    if !missing.is_empty() && !arguments.anyway {
        let mut out = anstream::stdout().lock();
        writeln!(out, "{}: still at `{}`; missing for `{stage}`:", visible(&subject.display()), now.stage)?;
        missing.iter().try_for_each(|line| writeln!(out, "  {}", visible(line)))?;
        writeln!(out, "`--anyway --why TEXT` promotes it anyway, and the record says so")?;
        return Ok(ExitCode::from(1));
    }
    let step = StageChange { stage, share, since_ms: now_ms(), record: 0, is_rollback: false };
    let why = arguments.why.clone();
    make(&dirs, PlannedMove { subject, from: Some(now.stage), step, begins: false, trial: None, why, missing })
}

fn next(now: &StageChange, share: Option<Share>, subject: &Subject) -> Result<(RolloutStage, Share)> {
    if *subject == Subject::Thresholds && share.is_some() {
        bail!("the shares of a trial are fixed when it starts");
    }
    if let (RolloutStage::Canary, Some(share)) = (now.stage, share) {
        if share <= now.share {
            bail!("the canary already covers {} of sessions", now.share);
        }
        return Ok((RolloutStage::Canary, share));
    }
    match (subject, now.stage.next()) {
        (Subject::Thresholds, _) if now.stage < RolloutStage::Canary => {
            bail!("the trial is over; `doorward rollout start --thresholds FILE` starts another one")
        }
        (_, Some(stage)) => Ok((stage, share.unwrap_or_default())),
        (_, None) => bail!("{} is at its last stage", subject.display()),
    }
}

/// Rolls back to the previous stage.
pub(crate) fn rollback(arguments: &RollbackArguments) -> Result<ExitCode> {
    person::required()?;
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let rollout = Rollout::load(&dirs).map_err(anyhow::Error::msg)?.unwrap_or_default();
    let subject = chosen_subject(&arguments.which, &rollout)?;
    let track = rollout.track(&subject).cloned().unwrap_or_default();
    let from = track.now().stage;
    let stage = match subject {
        Subject::Agent(_) => track.before(),
        Subject::Rule(_) => track.before().max(RolloutStage::Shadow),
        Subject::Thresholds => RolloutStage::ConfirmAll,
    };
    if stage >= from {
        bail!("nothing to roll back: {} is at its first stage", subject.display());
    }
    let share = track.steps().iter().rev().find(|step| step.stage == stage).map(|step| step.share).unwrap_or_default();
    let step = StageChange { stage, share, since_ms: now_ms(), record: 0, is_rollback: true };
    let why = arguments.why.clone();
    make(&dirs, PlannedMove { subject, from: Some(from), step, begins: false, trial: None, why, missing: Vec::new() })
}

/// Asks, records, changes. INVARIANT: the record is durable before anything is loosened.
fn make(dirs: &Dirs, change: PlannedMove) -> Result<ExitCode> {
    if !person::agrees(&change.question())? {
        bail!("nothing was changed");
    }
    let receipt = Ledger::open(dirs)
        .append(LogEntry::new(&change.body())?)
        .context("can't record the change, so nothing was changed")?;
    let step = StageChange { record: receipt.sequence, ..change.step.clone() };
    let subject = change.subject.clone();
    let enter = |rollout: &mut Rollout| rollout.enter(&subject, step, change.trial, change.begins);
    Rollout::update(dirs, enter).map_err(anyhow::Error::msg)?;
    if let Subject::Agent(name) = &subject {
        setup::set_mode(dirs, name, &config::Agent::rolled_out())?;
    }
    let is_at_once = change.step.is_rollback || change.step.stage == RolloutStage::ConfirmAll;
    let when = if is_at_once { "immediately" } else { "to sessions that start from now on" };
    writeln!(anstream::stdout(), "Done. It applies {when}; `doorward rollout status` shows how it is going.")?;
    Ok(ExitCode::SUCCESS)
}

impl PlannedMove {
    /// The stage as a person reads it.
    fn describe(&self) -> String {
        match self.step.stage {
            RolloutStage::Canary => format!("`canary` ({} of sessions)", self.step.share),
            RolloutStage::ConfirmAll if self.subject == Subject::Thresholds => "the previous thresholds".to_owned(),
            stage @ (RolloutStage::ConfirmAll | RolloutStage::Shadow | RolloutStage::Auto) => format!("`{stage}`"),
        }
    }

    fn question(&self) -> String {
        let missing = match self.missing.as_slice() {
            [] => String::new(),
            missing => format!(", although missing: {}", missing.join(", ")),
        };
        let way = if self.step.is_rollback { "back to" } else { "to" };
        format!("take {} {way} {}{missing}?", self.subject.display(), self.describe())
    }

    fn body(&self) -> PolicyBody {
        let verb = if self.step.is_rollback { "was taken back to" } else { "goes to" };
        let mut what = format!("the rollout of {} {verb} {}", self.subject.display(), self.describe());
        if let Some(why) = &self.why {
            what.push_str(&format!(", because: {why}"));
        }
        if !self.missing.is_empty() {
            what.push_str(&format!(", although missing: {}", self.missing.join(", ")));
        }
        if let Some(trial) = &self.trial {
            what.push_str(&format!("; set `{}#{}`; {}", trial.name, trial.fingerprint(), trial.stopping.sentence()));
        }
        PolicyBody {
            what,
            before: self.from.map(|stage| stage.to_string()),
            after: Some(self.step.stage.to_string()),
            user: crate::machine::user(),
            project: None,
        }
    }
}

impl Rollout {
    fn enter(&mut self, subject: &Subject, step: StageChange, trial: Option<Trial>, begins: bool) {
        if let Some(trial) = trial {
            self.trial = Some(Trial { track: Track::starting(step), ..trial });
            return;
        }
        match (subject, begins) {
            (Subject::Agent(name), true) => drop(self.agents.insert(name.clone(), Track::starting(step))),
            (Subject::Rule(id), true) => drop(self.rules.insert(id.clone(), Track::starting(step))),
            (Subject::Agent(_) | Subject::Rule(_) | Subject::Thresholds, _) => {
                if let Some(track) = self.track_mut(subject) {
                    track.push(step);
                }
            }
        }
    }
}
