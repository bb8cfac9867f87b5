//! One call answered. Each stage is a type that consumes the last, and only a decision on record can approve.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use doorward_engine::{Configured, Mode, Policy, ToolCall};

use super::recorded::Recorded;
use super::waiting::{self, WaitResult};
use super::{Surroundings, concurrent, deadline};
use crate::hook::agents::shells::ThisMachine;
use crate::hook::agents::{Decision, ProposedCall, Reply};
use crate::hook::grant_check::{GrantCheck, GrantResult};
use crate::hook::reviewer::{self, ReviewContext};
use crate::hook::user_message;
use crate::machine::paths::Dirs;
use crate::machine::private_state;
use crate::machine::record::Recorder;
use crate::machine::world::project_root;
use crate::memory::call_ids;
use crate::memory::evaluation::{self, Evaluation, RecordedReview};
use crate::memory::handed_on;
use crate::memory::session::Session;
use crate::memory::snapshots::{Keeper, KeptCopy, Loss, UndoNote};
use crate::memory::world::disk::DiskWorld;
use crate::policy::approved_config;
use crate::policy::load::{self, Loaded};
use crate::policy::session_policy;

/// A call that an agent proposes, with its id on record and how long the agent waits for an answer.
pub(crate) struct Request<'a> {
    pub proposed: ProposedCall,
    pub id: String,
    pub surroundings: &'a Surroundings,
    pub patience: Option<Duration>,
}

/// Everything the call is judged by, read once. The mode is fixed from here on.
pub(crate) struct Situation<'r> {
    pub request: &'r Request<'r>,
    pub project: Option<String>,
    pub loaded: Loaded,
    pub session: Rc<Session>,
    pub mode: Mode,
    pub policy: Policy,
    pub world: DiskWorld,
    /// A problem that does not change the answer.
    pub trouble: String,
}

/// The engine has judged the call.
#[must_use]
struct Evaluated<'r> {
    situation: Situation<'r>,
    evaluation: Evaluation,
}

/// The call does not conflict with others of its session, and what it would lose is copied if the approval needs that.
#[must_use]
struct Undoable<'r> {
    situation: Situation<'r>,
    evaluation: Evaluation,
    kept: KeptCopy,
}

/// A grant was used or a reviewer asked, if the call was still open.
#[must_use]
pub(crate) struct Cleared<'r> {
    pub situation: Situation<'r>,
    pub evaluation: Evaluation,
    pub kept: KeptCopy,
    pub grant: GrantResult,
    pub review: Option<RecordedReview>,
}

/// The decision about a call, and how long someone elsewhere may still change it.
#[must_use]
pub(crate) struct Outcome {
    pub decision: Decision,
    pub wait: Duration,
    pub trouble: String,
}

/// Answers a call. If only someone elsewhere can approve it, waits. After a yes everything is judged again, because files
/// may have changed meanwhile, and the grant is used as if the agent had retried.
pub(super) fn run(mut request: Request<'_>, ledger: &mut dyn Recorder) -> Result<Reply> {
    let mut outcome = decide(&mut request, ledger)?;
    if !outcome.wait.is_zero() {
        let answer = waiting::wait(&request.surroundings.dirs, &request.id, outcome.wait);
        let session = Session::open(&request.surroundings.dirs, &request.proposed.call.session);
        match answer {
            WaitResult::Yes => {
                session.close_question(&request.id);
                // A second pass, not the first decision again: minutes have passed, and the grant binds to the files as
                // they are now.
                outcome = decide(&mut request, ledger)?;
            }
            WaitResult::No => {
                session.withdraw_call(Some(&request.id));
                outcome.decision = Decision::refused_by_person();
            }
            WaitResult::Nothing => session.withdraw_call(Some(&request.id)),
        }
    }
    let Request { proposed, surroundings, id, .. } = &request;
    if matches!(outcome.decision, Decision::Allow(_) | Decision::Ask(_)) {
        let about = (surroundings.agent.name(), proposed.call.session.as_str(), id.as_str());
        let is_asked = matches!(outcome.decision, Decision::Ask(_));
        handed_on::leave(&surroundings.dirs, &proposed.call.tool, is_asked, about);
    }
    let mut reply = surroundings.agent.reply(proposed, &outcome.decision);
    reply.stderr.push_str(&outcome.trouble);
    Ok(reply)
}

/// Sends the call through all stages once.
pub(super) fn decide(request: &mut Request<'_>, ledger: &mut dyn Recorder) -> Result<Outcome> {
    let Some(situation) = Situation::of(request)? else { return Ok(Outcome::silent()) };
    let evaluated = situation.evaluate();
    let undoable = evaluated.make_undoable();
    let cleared = undoable.clear();
    match Recorded::of(cleared, ledger) {
        Ok(recorded) => Ok(recorded.outcome()),
        Err(unrecorded) => unrecorded.outcome(),
    }
}

impl<'a> Request<'a> {
    pub(crate) fn new(
        proposed: ProposedCall,
        surroundings: &'a Surroundings,
        patience: Option<Duration>,
    ) -> Request<'a> {
        let id = proposed.id.clone().unwrap_or_else(call_ids::own_name);
        Request { proposed, id, surroundings, patience }
    }
}

impl Outcome {
    /// doorward says nothing, and the client does what it would do without us.
    pub(crate) fn silent() -> Outcome {
        Outcome { decision: Decision::Silent, wait: Duration::ZERO, trouble: String::new() }
    }
}

impl<'r> Situation<'r> {
    /// Reads configuration, session and the user's words; `None` if doorward is off for this agent.
    fn of(request: &'r mut Request<'_>) -> Result<Option<Situation<'r>>> {
        let Surroundings { agent, dirs, .. } = request.surroundings;
        let call = &request.proposed.call;
        let project = project_root(&call.cwd);
        let mut loaded = load::load(dirs, project.as_deref(), agent.name());
        // Before anything else uses it: what a file tightens must survive its removal.
        if let Err(problem) = approved_config::keep_tightened(dirs, &loaded) {
            loaded.distrust(problem);
        }
        // After the acceptance check, so that a session can't freeze something unaccepted.
        session_policy::hold(dirs, &call.session, &mut loaded);
        let session = Rc::new(Session::open(dirs, &call.session));
        loaded.assign(agent.name(), (session.id(), session.began_ms()));
        let mode = loaded.mode(agent.name());
        if mode == Mode::Off {
            return Ok(None);
        }
        // Only now is the mode known, and only in shadow may the problem be ignored.
        let trouble = trouble(dirs, mode)?;
        let policy = loaded.policy(mode).map_err(anyhow::Error::msg)?;
        // Not from the payload: anything the agent can write there would be taken for the user's words.
        request.proposed.call.user_message = user_message::words(&session, &request.proposed, &dirs.state());
        let world = DiskWorld::new(dirs, &request.proposed.call.cwd, project.clone(), &loaded)
            .with_programs(loaded.own.programs)
            .with_shell(agent.shell(&ThisMachine))
            .relaying(request.surroundings.relayed.clone())
            .in_session(Rc::clone(&session));
        Ok(Some(Situation { request, project, loaded, session, mode, policy, world, trouble }))
    }

    fn evaluate(self) -> Evaluated<'r> {
        let evaluation = evaluation::evaluate(self.call(), &self.world, &self.policy);
        Evaluated { situation: self, evaluation }
    }

    pub(crate) fn dirs(&self) -> &'r Dirs {
        &self.request.surroundings.dirs
    }

    pub(crate) fn call(&self) -> &'r ToolCall {
        &self.request.proposed.call
    }

    pub(crate) fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn keeper(&self) -> Keeper<'_> {
        Keeper {
            dirs: self.dirs(),
            world: &self.world,
            call: self.call(),
            project: self.project(),
            limits: self.loaded.config.snapshots.limits(),
            id: &self.request.id,
        }
    }

    pub(crate) fn grants(&self) -> GrantCheck<'_> {
        GrantCheck {
            dirs: self.dirs(),
            call: self.call(),
            mode: self.mode,
            loaded: &self.loaded,
            project: self.project(),
            key: self.world.redaction_key(),
            rehearsal: None,
        }
    }

    /// Why the call conflicts with others of its session. If it does not, it counts as started.
    fn doubt(&self, evaluation: &Evaluation) -> Option<concurrent::ConcurrencyDoubt> {
        let (call, session) = (self.call(), &self.session);
        concurrent::with_background(evaluation, &self.policy, (call, &self.world), &session.background_runs()).or_else(
            || {
                let is_apart = concurrent::is_background(call);
                let crosses = |footprint: crate::memory::in_flight::Footprint| {
                    session.start_call(footprint.started_apart(is_apart))
                };
                concurrent::with_others(evaluation, (&self.request.id, self.world.project()), crosses)
            },
        )
    }

    /// What a reviewer needs to know; extends the deadline by the time it may take.
    fn review_context(&self) -> ReviewContext<'_> {
        let patience = self.request.patience;
        let room = deadline::room_for_review(patience).min(reviewer::LONGEST_TIME);
        if room > deadline::room_for_review(None) {
            deadline::prolong(room);
        }
        ReviewContext {
            dirs: self.dirs(),
            reviewer: &self.loaded.config.reviewer,
            proposed: &self.request.proposed,
            project: self.project(),
            time_left: room,
        }
    }
}

impl<'r> Evaluated<'r> {
    /// Copies what the call would lose, but only if it then runs: nothing is copied for a question.
    fn make_undoable(self) -> Undoable<'r> {
        let Evaluated { situation, evaluation } = self;
        // In the other modes nothing is approved, so there is nothing to make undoable.
        if situation.mode != Mode::Auto {
            return Undoable { situation, evaluation, kept: KeptCopy::nothing() };
        }
        if evaluation.is_approved() {
            return match situation.doubt(&evaluation) {
                Some(doubt) => {
                    let evaluation = doubt.apply(evaluation, &situation.policy);
                    Undoable { situation, evaluation, kept: KeptCopy::nothing() }
                }
                None => {
                    let kept = situation.keeper().keep_edits(&evaluation);
                    Undoable { situation, evaluation, kept }
                }
            };
        }
        match Loss::of(&evaluation, &situation.policy) {
            Loss::None => Undoable { situation, evaluation, kept: KeptCopy::nothing() },
            Loss::AskedAnyway => Undoable { situation, evaluation, kept: KeptCopy::with_note(UndoNote::Loses) },
            Loss::Coverable(copied) => cover(situation, evaluation, *copied),
        }
    }
}

/// A call that is approved once its losses are copied. The laxer evaluation counts only after the copy.
fn cover(situation: Situation<'_>, evaluation: Evaluation, copied: Evaluation) -> Undoable<'_> {
    if let Some(doubt) = situation.doubt(&copied) {
        let evaluation = doubt.apply(evaluation, &situation.policy);
        return Undoable { situation, evaluation, kept: KeptCopy::with_note(UndoNote::Loses) };
    }
    match situation.keeper().keep_lost(&evaluation) {
        Ok(kept) => Undoable { situation, evaluation: copied, kept },
        Err(why) => {
            // `doubt` counted the call as started; it will not run now.
            situation.session.withdraw_call(Some(&situation.request.id));
            let note = UndoNote::Says(format!("it could not be made undoable: {why:#}"));
            Undoable { situation, evaluation, kept: KeptCopy::with_note(note) }
        }
    }
}

impl<'r> Undoable<'r> {
    /// Uses a grant if there is one, and otherwise asks the reviewer if it may answer.
    fn clear(self) -> Cleared<'r> {
        let Undoable { situation, evaluation, kept } = self;
        let grant = situation.grants().redeem(&evaluation, &situation.request.id);
        if grant.is_cleared() {
            // The user saw the call, not its losses; copying them costs little and can save the day.
            let kept = situation.keeper().before_grant(&evaluation);
            return Cleared { situation, evaluation, kept, grant, review: None };
        }
        let reviewer = &situation.loaded.config.reviewer;
        if situation.mode != Mode::Auto || !reviewer::is_for_it(&evaluation, reviewer, &situation.policy) {
            return Cleared { situation, evaluation, kept, grant, review: None };
        }
        let (mut evaluation, review) =
            reviewer::consult(evaluation, &situation.review_context(), &situation.policy, &situation.world);
        // The reviewer took seconds, in which another call of the session may have started.
        if evaluation.is_approved()
            && let Some(doubt) = situation.doubt(&evaluation)
        {
            evaluation = doubt.apply(evaluation, &situation.policy);
        }
        Cleared { situation, evaluation, kept, grant, review: Some(review) }
    }
}

/// The problem with doorward's own directories, if any. Only shadow mode continues, with a message.
fn trouble(dirs: &Dirs, mode: Mode) -> Result<String> {
    match (private_state::check(dirs), mode) {
        (Ok(()), _) => Ok(String::new()),
        // Shadow mode must never get in the way of a call.
        (Err(error), Mode::Shadow) => Ok(format!("doorward: {error:#}\n")),
        (Err(error), Mode::Auto | Mode::ConfirmAll | Mode::Off) => Err(error),
    }
}
