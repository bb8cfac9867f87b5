//! What the hook would answer to a call here and now, worked out without side effects.
//!
//! The stages are those of `hook/decide.rs`, each in a read-only form. The test `check_and_hook` compares the two.

use std::rc::Rc;

use doorward_engine::{Mode, Policy, ToolCall, Verdict};
use serde_json::{Value, json};

use super::request::CheckRequest;
use crate::desk::check::arguments::CheckArguments;
use crate::hook::agents::shells::ThisMachine;
use crate::hook::concurrent;
use crate::hook::grant_check::GrantCheck;
use crate::hook::reviewer;
use crate::hook::user_message;
use crate::machine::agent::Agent;
use crate::machine::key;
use crate::machine::paths::Dirs;
use crate::machine::private_state;
use crate::machine::world::project_root;
use crate::memory::call_ids;
use crate::memory::evaluation::{self, Evaluation};
use crate::memory::session::Session;
use crate::memory::snapshots::Keeper;
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::{self, Loaded};
use crate::policy::session_policy;

/// The circumstances to judge in, besides the call.
#[derive(Clone, Debug, Default)]
pub(super) struct Circumstances {
    agent: Option<Agent>,
    mode: Option<Mode>,
    session: Option<String>,
}

impl Circumstances {
    pub(super) fn new(arguments: &CheckArguments) -> Circumstances {
        Circumstances {
            agent: arguments.agent,
            mode: arguments.mode.map(Mode::from),
            session: arguments.session.clone().filter(|session| !session.is_empty()),
        }
    }
}

/// The answer, and what it depends on.
#[derive(Debug)]
pub(super) struct Forecast {
    pub evaluation: Evaluation,
    /// A person's yes waits for it.
    pub granted: bool,
    agent: Option<Agent>,
    mode: Mode,
    session: Option<String>,
    differences: Vec<Difference>,
    /// What else the hook would do, or could not do.
    notes: Vec<String>,
}

/// Something without which the verdict would differ.
#[derive(Debug)]
struct Difference {
    of: Circumstance,
    without: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Circumstance {
    Mode,
    History,
    Session,
    Snapshots,
    Yes,
}

impl Circumstance {
    const fn name(self) -> &'static str {
        match self {
            Circumstance::Mode => "mode",
            Circumstance::History => "history",
            Circumstance::Session => "session",
            Circumstance::Snapshots => "snapshots",
            Circumstance::Yes => "approval",
        }
    }
}

/// One machine and the circumstances to judge in.
struct CheckContext<'a> {
    dirs: &'a Dirs,
    call: &'a ToolCall,
    project: Option<String>,
    agent: Option<Agent>,
}

impl Forecast {
    /// The final verdict.
    pub(super) fn verdict(&self) -> Verdict {
        if self.granted { Verdict::AutoApprove } else { self.evaluation.judgement.verdict }
    }

    /// What made the difference, one sentence each, and the circumstances it was judged in.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut said: Vec<String> = self.differences.iter().map(|difference| self.sentence(difference)).collect();
        said.extend(self.notes.iter().cloned());
        match (self.agent, self.mode) {
            (_, Mode::Off) => {
                said.push("In mode `off` the hook says nothing and the agent's own rules decide.".to_owned())
            }
            (_, Mode::Shadow) => {
                said.push("In mode `shadow` the hook only records this and the agent's own rules decide.".to_owned());
            }
            (Some(_), Mode::Auto | Mode::ConfirmAll) | (None, _) => {}
        }
        if let Some(agent) = self.agent {
            let session = self.session.as_ref().map_or("a new session".to_owned(), |id| format!("session `{id}`"));
            said.push(format!("judged as for {}, mode `{}`, {session}", agent.title(), self.mode));
        }
        said
    }

    fn sentence(&self, difference: &Difference) -> String {
        let without = difference.without.as_str();
        match difference.of {
            Circumstance::Mode => format!("That is because of mode `{}`: in `auto` it would be {without}.", self.mode),
            Circumstance::History => {
                format!("That is because of your earlier answers: without them it would be {without}.")
            }
            Circumstance::Session => format!("That is because of this session: in a new one it would be {without}."),
            Circumstance::Snapshots => format!(
                "That is because of snapshots: doorward first copies what it deletes or overwrites, and `doorward undo` restores it; \
                 without a copy it would be {without}."
            ),
            Circumstance::Yes => format!("That is because you approved it: without that it would be {without}."),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let made = |difference: &Difference| json!({ "what": difference.of.name(), "without": difference.without });
        json!({
            "agent": self.agent.map(Agent::name), "mode": self.mode, "session": self.session,
            "because_of": self.differences.iter().map(made).collect::<Vec<Value>>(), "notes": self.notes,
        })
    }
}

/// What the hook would answer.
pub(super) fn foresee(request: &CheckRequest, asked: &Circumstances) -> Result<Forecast, String> {
    let dirs = Dirs::find()?;
    private_state::check(&dirs).map_err(|error| format!("the hook would refuse every call: {error:#}"))?;
    let project = request.root.clone().or_else(|| project_root(&request.call.cwd));
    let agent = asked.agent.or_else(|| set_up(&dirs));
    let call = ToolCall {
        agent: agent.map_or("", Agent::name).to_owned(),
        session: asked.session.clone().unwrap_or_default().into(),
        ..request.call.clone()
    };
    let context = CheckContext { dirs: &dirs, call: &call, project, agent };
    let new = call_ids::own_name();
    let id = asked.session.as_deref().unwrap_or(&new);
    let loaded = context.loaded(id);
    loaded.tell_problems();
    let mode = asked.mode.unwrap_or_else(|| context.mode(&loaded));
    let mut seen = context.in_session(loaded, id, mode)?;
    if !seen.granted
        && let Some(without) = context.without_memory(&seen, mode, &new)?
    {
        seen.differences.insert(0, without);
    }
    if mode == Mode::ConfirmAll {
        let auto = context.in_session(context.loaded(id), id, Mode::Auto)?;
        seen.differs(Circumstance::Mode, auto.verdict());
    }
    Ok(Forecast {
        evaluation: seen.evaluation,
        granted: seen.granted,
        agent,
        mode,
        session: asked.session.clone(),
        differences: seen.differences,
        notes: seen.notes,
    })
}

/// The call as it is seen from one session.
struct SessionForecast {
    evaluation: Evaluation,
    granted: bool,
    /// Before any snapshot or approval.
    first: Verdict,
    differences: Vec<Difference>,
    notes: Vec<String>,
}

impl SessionForecast {
    fn verdict(&self) -> Verdict {
        if self.granted { Verdict::AutoApprove } else { self.evaluation.judgement.verdict }
    }

    /// Notes what the verdict would be without something, if that differs.
    fn differs(&mut self, of: Circumstance, without: Verdict) {
        if self.verdict() != without {
            self.differences.push(Difference { of, without });
        }
    }
}

impl CheckContext<'_> {
    fn name(&self) -> &'static str {
        self.agent.map_or("", Agent::name)
    }

    fn loaded(&self, session: &str) -> Loaded {
        let mut loaded = load::load(self.dirs, self.project.as_deref(), self.name());
        session_policy::apply_frozen(self.dirs, session, &mut loaded);
        let session = Session::read_only(self.dirs, session);
        loaded.assign(self.name(), (session.id(), session.began_ms()));
        loaded
    }

    /// If no agent is set up there is no mode to go by, so doorward's own judgement is shown.
    fn mode(&self, loaded: &Loaded) -> Mode {
        match self.agent {
            Some(agent) => loaded.mode(agent.name()),
            None if loaded.problems.is_empty() => Mode::Auto,
            None => Mode::ConfirmAll,
        }
    }

    fn world(&self, loaded: &Loaded) -> DiskWorld {
        let shell = self.agent.map(|agent| agent.shell(&ThisMachine)).unwrap_or_default();
        DiskWorld::new(self.dirs, &self.call.cwd, self.project.clone(), loaded)
            .with_programs(loaded.own.programs)
            .with_shell(shell)
            .with_key(key::kept_or_passing(&self.dirs.state()))
    }

    /// Runs the hook's stages one by one and notes where one changes the verdict.
    fn in_session(&self, loaded: Loaded, id: &str, mode: Mode) -> Result<SessionForecast, String> {
        let session = Rc::new(Session::read_only(self.dirs, id));
        let policy = loaded.policy(mode)?;
        let call = ToolCall { user_message: user_message::proved(&session), ..self.call.clone() };
        let world = self.world(&loaded).in_session(Rc::clone(&session));
        let evaluation = evaluation::evaluate(&call, &world, &policy);
        let first = evaluation.judgement.verdict;
        let mut seen =
            SessionForecast { evaluation, granted: false, first, differences: Vec::new(), notes: Vec::new() };
        let limits = loaded.config.snapshots.limits();
        let project = self.project.as_deref();
        let keeper = Keeper { dirs: self.dirs, world: &world, call: &call, project, limits, id: "" };
        match keeper.foresee(&seen.evaluation, &policy) {
            Some(Ok(copied)) => {
                seen.evaluation = copied;
                seen.differs(Circumstance::Snapshots, first);
            }
            Some(Err(why)) => seen.notes.push(format!("doorward could not make it undoable: {why:#}.")),
            None => {}
        }
        if mode == Mode::Auto && seen.verdict() == Verdict::AutoApprove {
            seen = self.beside_others(seen, &session, &policy, &world);
        }
        let key = key::kept_or_passing(&self.dirs.state());
        let grants = GrantCheck { dirs: self.dirs, call: &call, mode, loaded: &loaded, project, key, rehearsal: None };
        if grants.has_grant(&seen.evaluation) {
            let without = seen.verdict();
            seen.granted = true;
            seen.differs(Circumstance::Yes, without);
        } else if mode == Mode::Auto && reviewer::is_for_it(&seen.evaluation, &loaded.config.reviewer, &policy) {
            seen.notes.push("The hook would ask the reviewer, which may approve it; `check` does not.".to_owned());
        }
        Ok(seen)
    }

    fn beside_others(
        &self,
        seen: SessionForecast,
        session: &Session,
        policy: &Policy,
        world: &DiskWorld,
    ) -> SessionForecast {
        let at = ("", self.project.as_deref());
        let doubt =
            concurrent::with_background(&seen.evaluation, policy, (self.call, world), &session.background_runs())
                .or_else(|| {
                    concurrent::with_others(&seen.evaluation, at, |footprint| session.would_conflict(footprint))
                });
        let evaluation = match doubt {
            Some(doubt) => doubt.apply(seen.evaluation, policy),
            None => seen.evaluation,
        };
        let mut seen = SessionForecast { evaluation, ..seen };
        seen.differs(Circumstance::Session, Verdict::AutoApprove);
        seen
    }

    /// Whether memory changed the verdict: this session's, or else answers from earlier ones.
    fn without_memory(&self, seen: &SessionForecast, mode: Mode, new: &str) -> Result<Option<Difference>, String> {
        let loaded = load::load(self.dirs, self.project.as_deref(), self.name());
        let policy = loaded.policy(mode)?;
        let judged = |world: &DiskWorld| evaluation::evaluate(self.call, world, &policy).judgement.verdict;
        let bare = judged(&self.world(&loaded));
        if bare == seen.first {
            return Ok(None);
        }
        let fresh = judged(&self.world(&loaded).in_session(Rc::new(Session::read_only(self.dirs, new))));
        let of = if fresh == seen.first { Circumstance::History } else { Circumstance::Session };
        Ok(Some(Difference { of, without: bare }))
    }
}

/// The agent that is set up here; if there are several, Claude Code or the first by name.
fn set_up(dirs: &Dirs) -> Option<Agent> {
    let agents = load::load(dirs, None, "").config.agents;
    let known = || agents.keys().filter_map(|name| Agent::parse(name));
    known().find(|agent| *agent == Agent::Claude).or_else(|| known().next())
}
