//! What the hook would answer to a call here and now, worked out without side effects.
//!
//! The stages are those of `hook/decide.rs`, each in a read-only form. The test `check_and_hook` compares the two.

use std::rc::Rc;

use doorward_engine::{Mode, Policy, ToolCall, Verdict};
use serde_json::{Value, json};

use super::request::Request;
use crate::desk::check::arguments::CheckArguments;
use crate::hook::agents::shells::Here;
use crate::hook::beside;
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
pub(super) struct Asked {
    agent: Option<Agent>,
    mode: Option<Mode>,
    session: Option<String>,
}

impl Asked {
    pub(super) fn new(arguments: &CheckArguments) -> Asked {
        Asked {
            agent: arguments.agent.map(crate::desk::setup::AgentName::agent),
            mode: arguments.mode.map(Mode::from),
            session: arguments.session.clone().filter(|session| !session.is_empty()),
        }
    }
}

/// The answer, and what it depends on.
#[derive(Debug)]
pub(super) struct Foreseen {
    pub considered: Evaluation,
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
    of: Matter,
    without: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matter {
    Mode,
    History,
    Session,
    Snapshots,
    Yes,
}

impl Matter {
    const fn name(self) -> &'static str {
        match self {
            Matter::Mode => "mode",
            Matter::History => "history",
            Matter::Session => "session",
            Matter::Snapshots => "snapshots",
            Matter::Yes => "approval",
        }
    }
}

/// One machine and the circumstances to judge in.
struct Scene<'a> {
    dirs: &'a Dirs,
    call: &'a ToolCall,
    project: Option<String>,
    agent: Option<Agent>,
}

impl Foreseen {
    /// The final verdict.
    pub(super) fn verdict(&self) -> Verdict {
        if self.granted { Verdict::AutoApprove } else { self.considered.judgement.verdict }
    }

    /// What made the difference, one sentence each, and the circumstances it was judged in.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut said: Vec<String> = self.differences.iter().map(|difference| self.said(difference)).collect();
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

    fn said(&self, difference: &Difference) -> String {
        let without = difference.without.as_str();
        match difference.of {
            Matter::Mode => format!("That is because of mode `{}`: in `auto` it would be {without}.", self.mode),
            Matter::History => format!("That is because of your earlier answers: without them it would be {without}."),
            Matter::Session => format!("That is because of this session: in a new one it would be {without}."),
            Matter::Snapshots => format!(
                "That is because of snapshots: doorward first copies what it deletes or overwrites, and `doorward undo` restores it; \
                 without a copy it would be {without}."
            ),
            Matter::Yes => format!("That is because you approved it: without that it would be {without}."),
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
pub(super) fn foresee(request: &Request, asked: &Asked) -> Result<Foreseen, String> {
    let dirs = Dirs::find()?;
    private_state::check(&dirs).map_err(|error| format!("the hook would refuse every call: {error:#}"))?;
    let project = request.root.clone().or_else(|| project_root(&request.call.cwd));
    let agent = asked.agent.or_else(|| set_up(&dirs));
    let call = ToolCall {
        agent: agent.map_or("", Agent::name).to_owned(),
        session: asked.session.clone().unwrap_or_default().into(),
        ..request.call.clone()
    };
    let scene = Scene { dirs: &dirs, call: &call, project, agent };
    let new = call_ids::own_name();
    let id = asked.session.as_deref().unwrap_or(&new);
    let loaded = scene.loaded(id);
    loaded.tell_problems();
    let mode = asked.mode.unwrap_or_else(|| scene.mode(&loaded));
    let mut seen = scene.in_session(loaded, id, mode)?;
    if !seen.granted
        && let Some(without) = scene.without_memory(&seen, mode, &new)?
    {
        seen.differences.insert(0, without);
    }
    if mode == Mode::ConfirmAll {
        let auto = scene.in_session(scene.loaded(id), id, Mode::Auto)?;
        seen.differs(Matter::Mode, auto.verdict());
    }
    Ok(Foreseen {
        considered: seen.considered,
        granted: seen.granted,
        agent,
        mode,
        session: asked.session.clone(),
        differences: seen.differences,
        notes: seen.notes,
    })
}

/// The call as it is seen from one session.
struct Seen {
    considered: Evaluation,
    granted: bool,
    /// Before any snapshot or approval.
    first: Verdict,
    differences: Vec<Difference>,
    notes: Vec<String>,
}

impl Seen {
    fn verdict(&self) -> Verdict {
        if self.granted { Verdict::AutoApprove } else { self.considered.judgement.verdict }
    }

    /// Notes what the verdict would be without something, if that differs.
    fn differs(&mut self, of: Matter, without: Verdict) {
        if self.verdict() != without {
            self.differences.push(Difference { of, without });
        }
    }
}

impl Scene<'_> {
    fn name(&self) -> &'static str {
        self.agent.map_or("", Agent::name)
    }

    fn loaded(&self, session: &str) -> Loaded {
        let mut loaded = load::load(self.dirs, self.project.as_deref(), self.name());
        session_policy::look(self.dirs, session, &mut loaded);
        let session = Session::looked_at(self.dirs, session);
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
        let shell = self.agent.map(|agent| agent.shell(&Here)).unwrap_or_default();
        DiskWorld::new(self.dirs, &self.call.cwd, self.project.clone(), loaded)
            .with_programs(loaded.own.programs)
            .with_shell(shell)
            .with_key(key::kept_or_passing(&self.dirs.state()))
    }

    /// Runs the hook's stages one by one and notes where one changes the verdict.
    fn in_session(&self, loaded: Loaded, id: &str, mode: Mode) -> Result<Seen, String> {
        let session = Rc::new(Session::looked_at(self.dirs, id));
        let policy = loaded.policy(mode)?;
        let call = ToolCall { user_message: user_message::proved(&session), ..self.call.clone() };
        let world = self.world(&loaded).in_session(Rc::clone(&session));
        let considered = evaluation::consider(&call, &world, &policy);
        let first = considered.judgement.verdict;
        let mut seen = Seen { considered, granted: false, first, differences: Vec::new(), notes: Vec::new() };
        let limits = loaded.config.snapshots.limits();
        let project = self.project.as_deref();
        let keeper = Keeper { dirs: self.dirs, world: &world, call: &call, project, limits, id: "" };
        match keeper.foresee(&seen.considered, &policy) {
            Some(Ok(copied)) => {
                seen.considered = copied;
                seen.differs(Matter::Snapshots, first);
            }
            Some(Err(why)) => seen.notes.push(format!("doorward could not make it undoable: {why:#}.")),
            None => {}
        }
        if mode == Mode::Auto && seen.verdict() == Verdict::AutoApprove {
            seen = self.beside_others(seen, &session, &policy, &world);
        }
        let key = key::kept_or_passing(&self.dirs.state());
        let grants = GrantCheck { dirs: self.dirs, call: &call, mode, loaded: &loaded, project, key };
        if grants.has_grant(&seen.considered) {
            let without = seen.verdict();
            seen.granted = true;
            seen.differs(Matter::Yes, without);
        } else if mode == Mode::Auto && reviewer::is_for_it(&seen.considered, &loaded.config.reviewer, &policy) {
            seen.notes.push("The hook would ask the reviewer, which may approve it; `check` does not.".to_owned());
        }
        Ok(seen)
    }

    fn beside_others(&self, seen: Seen, session: &Session, policy: &Policy, world: &DiskWorld) -> Seen {
        let at = ("", self.project.as_deref());
        let doubt = beside::left(&seen.considered, policy, (self.call, world), &session.left())
            .or_else(|| beside::others(&seen.considered, at, |course| session.would_cross(course)));
        let considered = match doubt {
            Some(doubt) => doubt.about(seen.considered, policy),
            None => seen.considered,
        };
        let mut seen = Seen { considered, ..seen };
        seen.differs(Matter::Session, Verdict::AutoApprove);
        seen
    }

    /// Whether memory changed the verdict: this session's, or else answers from earlier ones.
    fn without_memory(&self, seen: &Seen, mode: Mode, new: &str) -> Result<Option<Difference>, String> {
        let loaded = load::load(self.dirs, self.project.as_deref(), self.name());
        let policy = loaded.policy(mode)?;
        let judged = |world: &DiskWorld| evaluation::consider(self.call, world, &policy).judgement.verdict;
        let bare = judged(&self.world(&loaded));
        if bare == seen.first {
            return Ok(None);
        }
        let fresh = judged(&self.world(&loaded).in_session(Rc::new(Session::looked_at(self.dirs, new))));
        let of = if fresh == seen.first { Matter::History } else { Matter::Session };
        Ok(Some(Difference { of, without: bare }))
    }
}

/// The agent that is set up here; if there are several, Claude Code or the first by name.
fn set_up(dirs: &Dirs) -> Option<Agent> {
    let agents = load::load(dirs, None, "").config.agents;
    let known = || agents.keys().filter_map(|name| Agent::named(name));
    known().find(|agent| *agent == Agent::Claude).or_else(|| known().next())
}
