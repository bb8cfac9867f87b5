//! A contained run: judge, run in a box, judge what it did, then commit, hold or discard.

mod above;
pub(crate) mod alone;
mod deeds;
mod held;
mod plan;
mod rehearse;
pub(crate) mod replace;
mod stop;
mod way;

use std::rc::Rc;

use anyhow::{Context, Result, bail};
use doorward_cell::{Cell, Deeds, Refused, Run, RunError, Spoiled};
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
use crate::memory::contained::{BoxMemory, Ticket};
use crate::memory::evaluation::{self, Decided, Evaluation};
use crate::memory::grants::binding::{self, GrantSubject};
use crate::memory::session::Session;
use crate::memory::snapshots::{Keeper, KeptCopy, Loss};
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::{self, Loaded};
use crate::policy::session_policy;

pub(crate) use held::{commit_held, discard_held};
pub(crate) use rehearse::Rehearsal;
pub(crate) use way::{Way, of as way_of};

/// How a contained run ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// What it did is in place.
    Committed { status: i32, changes: usize, left: usize, undo: Option<String> },
    /// What it did waits for a person.
    Held { status: i32, id: String, because: String, changes: usize },
    /// What it did is gone.
    Discarded { status: i32, because: String },
    /// Whoever started it ended it; what it had done is gone.
    Interrupted,
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
    /// The command line, as it was typed or as a hook had judged it.
    command: String,
    /// The call of an agent that this run takes the place of, and the session that the agent is in.
    replaces: Option<(Ticket, Rc<Session>)>,
    id: String,
    project: Option<String>,
    loaded: Loaded,
    policy: Policy,
    world: DiskWorld,
}

/// Runs a command in a box. Nothing of it counts before it is judged and on record.
pub(crate) fn run(dirs: &Dirs, command: &str, cwd: &str, ledger: &mut dyn Recorder) -> Result<Ended> {
    Situation::typed(dirs, command, cwd)?.run(ledger)
}

/// Runs the call that a token stands for. A token works once, soon, and where the call was made.
pub(crate) fn run_token(dirs: &Dirs, token: &str, cwd: &str, ledger: &mut dyn Recorder) -> Result<Ended> {
    let ticket = match BoxMemory::open(dirs)?.redeem(token, cwd) {
        Ok(ticket) => ticket,
        Err(why) => return Ok(Ended::Refused { because: vec![format!("{why:#}")] }),
    };
    Situation::replacing(dirs, ticket)?.run(ledger)
}

impl<'a> Situation<'a> {
    fn typed(dirs: &'a Dirs, command: &str, cwd: &str) -> Result<Situation<'a>> {
        let project = project_root(cwd);
        let loaded = load::load(dirs, project.as_deref(), "");
        // The hook has judged the call under the agent's own mode; here only the deeds are in question.
        let policy = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?;
        let world = DiskWorld::new(dirs, cwd, project.clone(), &loaded)
            .with_programs(loaded.own.programs)
            .with_shell(Agent::Generic.shell(&ThisMachine));
        let (call, id, command) = (ToolCall::bash(command, cwd), call_ids::own_name(), command.to_owned());
        Ok(Situation { dirs, call, command, replaces: None, id, project, loaded, policy, world })
    }

    /// The same as the hook knew it: the agent, its session with all that happened there, and its rules.
    fn replacing(dirs: &'a Dirs, ticket: Ticket) -> Result<Situation<'a>> {
        let Some(agent) = Agent::parse(&ticket.agent) else { bail!("the token is for an unknown agent") };
        let project = project_root(&ticket.cwd);
        let mut loaded = load::load(dirs, project.as_deref(), agent.name());
        session_policy::hold(dirs, &ticket.session, &mut loaded);
        let session = Rc::new(Session::open(dirs, &ticket.session));
        loaded.assign(agent.name(), (session.id(), session.began_ms()));
        let policy = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?;
        let world = DiskWorld::new(dirs, &ticket.cwd, project.clone(), &loaded)
            .with_programs(loaded.own.programs)
            .with_shell(agent.shell(&ThisMachine))
            .in_session(Rc::clone(&session));
        let mut call = ToolCall::bash(&ticket.command, &ticket.cwd);
        (call.agent, call.session) = (ticket.agent.clone(), ticket.session.clone().into());
        call.subagent.clone_from(&ticket.subagent);
        let (id, command) = (call_ids::own_name(), ticket.command.clone());
        let replaces = Some((ticket, session));
        Ok(Situation { dirs, call, command, replaces, id, project, loaded, policy, world })
    }

    fn run(self, ledger: &mut dyn Recorder) -> Result<Ended> {
        held::recover(self.dirs)?;
        let said = evaluation::evaluate(&self.call, &self.world, &self.policy);
        if let Some(because) = self.changed_since(&said).or_else(|| self.against(&said)) {
            return Ok(Ended::Refused { because });
        }
        let streams = plan::Streams::own()?;
        let mut plan = plan::plan(self.dirs, &self.world, (&self.command, &self.call.cwd), streams)?;
        plan.stop = Some(stop::on_signals()?);
        let run = match cell(self.dirs).run(plan) {
            Ok(run) => run,
            Err(RunError::Missing(missing)) => return Ok(Ended::Refused { because: vec![missing.sentence()] }),
            Err(RunError::Plan(error)) => return Ok(Ended::Refused { because: vec![error.to_string()] }),
            Err(error @ (RunError::Lost | RunError::State(_))) => return Err(error.into()),
        };
        if run.spoiled() == Some(Spoiled::Stopped) {
            run.discard().context("can't remove the run")?;
            return Ok(Ended::Interrupted);
        }
        self.settle(&said, run, ledger)
    }

    /// Why a token counts no longer: rules, mode or the project's trust are not those that the hook judged by.
    fn changed_since(&self, said: &Evaluation) -> Option<Vec<String>> {
        let (ticket, _) = self.replaces.as_ref()?;
        let is_same = self.loaded.mode(&ticket.agent) == Mode::Auto
            && binding::policy(self.subject(said)).as_ref() == Some(&ticket.policy);
        (!is_same)
            .then(|| vec!["rules, configuration, trust or mode have changed since the call was judged".to_owned()])
    }

    fn subject<'s>(&'s self, evaluation: &'s Evaluation) -> GrantSubject<'s> {
        GrantSubject {
            call: &self.call,
            evaluation,
            mode: Mode::Auto,
            loaded: &self.loaded,
            project: self.project.as_deref(),
            home: self.dirs.home(),
        }
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
            peak_kib: run.usage().peak_kib,
            calls: run.usage().calls.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect(),
            deeds: Some(deeds::fingerprint(&deeds)),
            call: self.replaces.as_ref().map(|(ticket, _)| ticket.call.clone()),
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
        self.note_arrivals(&decided)?;
        let status = run.status();
        let committed = run.commit(&deeds, &deeds::treatment(&deeds, &self.world));
        let became = if committed.is_ok() { Became::Ran } else { Became::Failed };
        let _receipt = ledger.append(LogEntry::new(&OutcomeBody::new(self.id.as_str().into(), became, None))?)?;
        match committed {
            Ok(done) => {
                crate::memory::snapshots::ran(self.dirs, &self.id);
                if let Ok(memory) = BoxMemory::open(self.dirs) {
                    memory.ran_contained(&self.call.cwd, &self.command);
                }
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
        let (subject, key) = (self.subject(&decided.evaluation), self.world.redaction_key());
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

    /// What nobody has read came from elsewhere, as far as later calls are concerned. Noted before anything is in place.
    fn note_arrivals(&self, decided: &Decided) -> Result<()> {
        let arrivals = &decided.evaluation.facts.arrivals;
        if let Some(of) = self.world.arrivals_of()
            && !arrivals.is_empty()
        {
            let own = || Rc::new(Session::open(self.dirs, &self.id));
            let session = self.replaces.as_ref().map_or_else(own, |(_, session)| Rc::clone(session));
            session.note_arrivals(of, arrivals, &self.world.take_replaced())?;
        }
        Ok(())
    }

    fn record(&self, decided: &Decided, ledger: &mut dyn Recorder) -> Result<Receipt> {
        let proposed = ProposedCall::bare(self.call.clone());
        let placed = entry::DecisionContext { project: self.project.as_deref(), words: &self.loaded.assigned.words };
        ledger.append(entry::decision(&self.id, &proposed, decided, placed)?)
    }

    /// The call as a case that doorward has to learn: what it took for understood, it must at least ask about.
    fn corpus_row(&self, said: &Evaluation) -> serde_json::Value {
        serde_json::json!({ "id": format!("promise-{}", self.id), "tool": "bash", "input": { "command": said.facts.subject },
            "cwd": self.call.cwd, "expect": { "min": "confirm" } })
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
        let text = format!(
            "{}: did more than it said: {} ({more} more); as a row for the corpus: {}",
            said.facts.subject,
            first.target.shown(),
            self.corpus_row(said)
        );
        let alert = crate::memory::alerts::new_alert(doorward_ledger::AlertKind::Promise, &self.id, &text);
        let _receipt = ledger.append(LogEntry::new(&alert)?)?;
        Ok(())
    }
}
