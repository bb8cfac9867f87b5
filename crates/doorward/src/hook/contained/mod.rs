//! A contained run: judge, run in a box, judge what it did, then commit, hold or discard.

mod deeds;
mod held;
mod plan;

use anyhow::{Context, Result};
use doorward_cell::{Cell, Deeds, Refused, Run, RunError};
use doorward_engine::{
    Configured, Contained, Mode, Obstacle, Policy, ToolCall, Verdict, observe_deeds, obstacles, unpromised,
};
use doorward_ledger::{Became, OutcomeBody, Receipt};

use crate::hook::agents::{ProposedCall, shells::ThisMachine};
use crate::hook::entry;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::machine::world::project_root;
use crate::memory::call_ids;
use crate::memory::evaluation::{self, Decided, Evaluation};
use crate::memory::grants::binding::GrantSubject;
use crate::memory::snapshots::{Keeper, KeptCopy, Loss};
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::{self, Loaded};

pub(crate) use held::{commit_held, discard_held};

/// How a contained run ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// What it did is in place.
    Committed { status: i32, changes: usize, left: usize, undo: Option<String> },
    /// What it did waits for a person.
    Held { status: i32, id: String, because: String, changes: usize },
    /// What it did is gone.
    Discarded { status: i32, because: String },
    /// It never ran.
    Refused { because: Vec<String> },
}

/// The directory of runs.
pub(crate) fn cell(dirs: &Dirs) -> Cell {
    Cell::at(dirs.state().join("runs"))
}

/// Everything that a run is judged by.
struct Situation<'a> {
    dirs: &'a Dirs,
    call: ToolCall,
    id: String,
    project: Option<String>,
    loaded: Loaded,
    policy: Policy,
    world: DiskWorld,
}

/// Runs a command in a box. Nothing of it counts before it is judged and on record.
pub(crate) fn run(dirs: &Dirs, command: &str, cwd: &str, ledger: &mut dyn Recorder) -> Result<Ended> {
    let cell = cell(dirs);
    held::recover(dirs)?;
    let situation = Situation::of(dirs, command, cwd)?;
    let said = evaluation::evaluate(&situation.call, &situation.world, &situation.policy);
    if let Some(because) = situation.against(&said) {
        return Ok(Ended::Refused { because });
    }
    let run = match cell.run(plan::plan(dirs, &situation.world, command, cwd)?) {
        Ok(run) => run,
        Err(RunError::Missing(missing)) => return Ok(Ended::Refused { because: vec![missing.sentence()] }),
        Err(RunError::Plan(error)) => return Ok(Ended::Refused { because: vec![error.to_string()] }),
        Err(error @ (RunError::Lost | RunError::State(_))) => return Err(error.into()),
    };
    situation.settle(&said, run, ledger)
}

impl<'a> Situation<'a> {
    fn of(dirs: &'a Dirs, command: &str, cwd: &str) -> Result<Situation<'a>> {
        let project = project_root(cwd);
        let loaded = load::load(dirs, project.as_deref(), "");
        // The hook has judged the call under the agent's own mode; here only the deeds are in question.
        let policy = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?;
        let world = DiskWorld::new(dirs, cwd, project.clone(), &loaded)
            .with_programs(loaded.own.programs)
            .with_shell(Agent::Generic.shell(&ThisMachine));
        let call = ToolCall::bash(command, cwd);
        Ok(Situation { dirs, call, id: call_ids::own_name(), project, loaded, policy, world })
    }

    /// Why the command may not be tried, if so.
    fn against(&self, said: &Evaluation) -> Option<Vec<String>> {
        let mut found = obstacles(&said.facts, &said.judgement, &self.policy);
        // What is approved may be tried as well, if all that it does happens in a box.
        found.retain(|obstacle| *obstacle != Obstacle::NotAsked);
        if found.is_empty() {
            return None;
        }
        if said.is_approved() {
            return Some(vec![format!(
                "doorward approves it as it is, outside a box, where it belongs: {}",
                found.first().map_or("", |obstacle| obstacle.what())
            )]);
        }
        let words = |obstacle: &Obstacle| {
            let is_blocked = *obstacle == Obstacle::Blocked;
            let why = || crate::memory::wording::explain(&said.judgement, &said.facts).reason;
            if is_blocked { why() } else { obstacle.what().to_owned() }
        };
        Some(found.iter().map(words).collect())
    }

    /// Judges what was done and does what the judgement says.
    fn settle(self, said: &Evaluation, run: Run, ledger: &mut dyn Recorder) -> Result<Ended> {
        let deeds = run.deeds().context("can't read what the run did")?;
        let outcome = Contained {
            exit: run.status(),
            took_ms: u64::try_from(run.usage().duration.as_millis()).unwrap_or(u64::MAX),
            wanted_network: plan::wanted_network(run.usage()),
            cut_off: run.spoiled().map(|spoiled| spoiled.sentence().to_owned()),
        };
        let noted = deeds::noted(&deeds, &self.world);
        let facts = observe_deeds(&self.call, &said.facts, (&noted, outcome), &self.world);
        self.note_broken_promise(said, &facts, ledger)?;
        let evaluation = evaluation::of_facts(facts, &self.policy);
        match evaluation.judgement.verdict {
            Verdict::AutoApprove => self.commit(evaluation, None, (run, deeds), ledger),
            Verdict::Confirm => match Loss::of(&evaluation, &self.policy) {
                Loss::Coverable(copied) => match self.keeper().keep_lost(&evaluation) {
                    Ok(kept) => self.commit(*copied, Some(kept), (run, deeds), ledger),
                    Err(_) => self.hold(evaluation, run, deeds, ledger),
                },
                Loss::None | Loss::AskedAnyway => self.hold(evaluation, run, deeds, ledger),
            },
            Verdict::Block => self.discard(evaluation, run, ledger),
        }
    }

    fn keeper(&self) -> Keeper<'_> {
        Keeper {
            dirs: self.dirs,
            world: &self.world,
            call: &self.call,
            project: self.project.as_deref(),
            limits: self.loaded.config.snapshots.limits(),
            id: &self.id,
        }
    }

    /// The record is durable before anything is put in place.
    fn commit(
        &self,
        evaluation: Evaluation,
        kept: Option<KeptCopy>,
        (run, deeds): (Run, Deeds),
        ledger: &mut dyn Recorder,
    ) -> Result<Ended> {
        let kept = kept.unwrap_or_else(|| self.keeper().keep_edits(&evaluation));
        let mut decided = Decided::bare(evaluation, Mode::Auto);
        let undo = kept.snapshot.as_ref().map(|_| self.id.clone());
        decided.snapshot = kept.snapshot;
        let _receipt = self.record(&decided, ledger)?;
        let status = run.status();
        let committed = run.commit(&deeds, &deeds::treatment(&deeds, &self.world));
        let became = if committed.is_ok() { Became::Ran } else { Became::Failed };
        let _receipt = ledger.append(LogEntry::new(&OutcomeBody::new(self.id.as_str().into(), became, None))?)?;
        match committed {
            Ok(done) => {
                crate::memory::snapshots::ran(self.dirs, &self.id);
                Ok(Ended::Committed { status, changes: done.placed + done.removed, left: done.left, undo })
            }
            Err(refused) => {
                // INVARIANT: an interrupted commit keeps its journal, from which the next run finishes it. In all other cases
                // nothing is in place, and what is left of the run is of no use any more.
                if !matches!(refused, Refused::Interrupted { .. }) {
                    let _ = run.discard();
                }
                Ok(Ended::Discarded { status, because: refused.to_string() })
            }
        }
    }

    fn hold(self, evaluation: Evaluation, run: Run, deeds: Deeds, ledger: &mut dyn Recorder) -> Result<Ended> {
        // There is nothing to show and nothing to keep.
        if deeds.is_empty() {
            return self.discard(evaluation, run, ledger);
        }
        let status = run.status();
        let because = crate::memory::wording::explain(&evaluation.judgement, &evaluation.facts).reason;
        let changes = deeds.list().len();
        let mut decided = Decided::bare(evaluation, Mode::Auto);
        decided.left_to = Some("queue");
        let _receipt = self.record(&decided, ledger)?;
        let subject = GrantSubject {
            call: &self.call,
            evaluation: &decided.evaluation,
            mode: Mode::Auto,
            loaded: &self.loaded,
            project: self.project.as_deref(),
            home: self.dirs.home(),
        };
        let key = self.world.redaction_key();
        match held::hold(self.dirs, subject, (&self.id, key), (run, deeds))? {
            Some(id) => Ok(Ended::Held { status, id, because, changes }),
            None => Ok(Ended::Discarded { status, because: "it changed too much to be shown in full".to_owned() }),
        }
    }

    fn discard(&self, evaluation: Evaluation, run: Run, ledger: &mut dyn Recorder) -> Result<Ended> {
        let status = run.status();
        let because = crate::memory::wording::explain(&evaluation.judgement, &evaluation.facts).reason;
        let _receipt = self.record(&Decided::bare(evaluation, Mode::Auto), ledger)?;
        run.discard().context("can't remove the run")?;
        Ok(Ended::Discarded { status, because })
    }

    fn record(&self, decided: &Decided, ledger: &mut dyn Recorder) -> Result<Receipt> {
        let proposed = ProposedCall::bare(self.call.clone());
        let placed = entry::DecisionContext { project: self.project.as_deref(), words: &self.loaded.assigned.words };
        ledger.append(entry::decision(&self.id, &proposed, decided, placed)?)
    }

    /// doorward said that the call would do less than it did: a mistake of its own understanding.
    fn note_broken_promise(
        &self,
        said: &Evaluation,
        facts: &doorward_engine::Facts,
        ledger: &mut dyn Recorder,
    ) -> Result<()> {
        let broken = unpromised(&said.facts, facts);
        let Some(first) = broken.first() else { return Ok(()) };
        let more = broken.len().saturating_sub(1);
        let text = format!("{}: did more than it said: {} ({more} more)", said.facts.subject, first.target.shown());
        let alert = crate::memory::alerts::new_alert(doorward_ledger::AlertKind::Promise, &self.id, &text);
        let _receipt = ledger.append(LogEntry::new(&alert)?)?;
        Ok(())
    }
}
