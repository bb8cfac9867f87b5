//! Decides about one call: judged, recorded, and only then answered, where needed after a person elsewhere.

use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use doorward_engine::{Mode, Policy, ToolCall, Verdict, World};
use doorward_ledger::AlertKind;

use super::waiting::{self, Asking, Came};
use super::{Surroundings, beside, deadline, entry, settle};
use crate::hook::agents::shells::Here;
use crate::hook::agents::{Asked, Decision, Proposed, Reply};
use crate::hook::grant_check::{Door, Settled, is_soft};
use crate::hook::reviewer::{self, Scene};
use crate::hook::rollback;
use crate::hook::user_message;
use crate::machine::file_digests;
use crate::machine::paths::Places;
use crate::machine::presence;
use crate::machine::private_state;
use crate::machine::record::Recorder;
use crate::machine::world::project_root;
use crate::memory::alerts;
use crate::memory::evaluation::{self, Considered};
use crate::memory::in_flight::Course;
use crate::memory::session::{self, Session};
use crate::memory::snapshots::Keeper;
use crate::memory::world::disk::DiskWorld;
use crate::policy::approved_config;
use crate::policy::client_rules;
use crate::policy::config::Questions;
use crate::policy::load::{self, Loaded};
use crate::policy::session_policy;

/// One look at a call: what the record names it, and how long its agent waits for the answer.
#[derive(Clone, Copy)]
struct Look<'a> {
    id: &'a str,
    patience: Option<Duration>,
}

/// What is to be said about a call.
struct Told {
    decision: Decision,
    /// A person elsewhere may still let the call run, within this time.
    wait: Duration,
    /// What went wrong without changing the answer.
    trouble: String,
}

impl Told {
    fn at_once(decision: Decision) -> Told {
        Told { decision, wait: Duration::ZERO, trouble: String::new() }
    }
}

/// Decides about a call. Where only a person elsewhere can answer, waits; after a yes everything is judged again as it is
/// then, and the grant is used like that of a call that comes back.
pub fn decide(
    mut proposed: Proposed,
    surroundings: &Surroundings,
    ledger: &mut dyn Recorder,
    patience: Option<Duration>,
) -> Result<Reply> {
    let Surroundings { agent, places, .. } = surroundings;
    let id = proposed.id.clone().unwrap_or_else(crate::memory::call_ids::own_name);
    let look = Look { id: &id, patience };
    let mut told = settled(&mut proposed, surroundings, ledger, look)?;
    if !told.wait.is_zero() {
        match waiting::wait(places, &id, told.wait) {
            Came::Yes => {
                Session::of(places, &proposed.call.session).answered(&id);
                told = settled(&mut proposed, surroundings, ledger, look)?;
            }
            Came::No => {
                Session::of(places, &proposed.call.session).withdraw(Some(&id));
                told.decision =
                    Decision::Deny("doorward blocks this because a person refused exactly this call".to_owned())
            }
            Came::Nothing => Session::of(places, &proposed.call.session).withdraw(Some(&id)),
        }
    }
    let mut reply = agent.reply(&proposed, &told.decision);
    reply.stderr.push_str(&told.trouble);
    Ok(reply)
}

/// Judges a call, makes the record durable, and only then says what the answer is.
fn settled(
    proposed: &mut Proposed,
    surroundings: &Surroundings,
    ledger: &mut dyn Recorder,
    look: Look<'_>,
) -> Result<Told> {
    let (Surroundings { agent, places, .. }, Look { id, patience }) = (surroundings, look);
    let project = project_root(&proposed.call.cwd);
    let mut loaded = load::load(places, project.as_deref(), agent.name());
    if let Err(problem) = approved_config::keep_tightened(places, &loaded) {
        loaded.distrust(problem);
    }
    session_policy::hold(places, &proposed.call.session, &mut loaded);
    let session = Rc::new(Session::of(places, &proposed.call.session));
    loaded.assign(agent.name(), (session.id(), session.began_ms()));
    let mode = loaded.mode(agent.name());
    if mode == Mode::Off {
        return Ok(Told::at_once(Decision::Silent));
    }
    let trouble = trouble(places, mode)?;
    let policy = loaded.policy(mode).map_err(anyhow::Error::msg)?;
    proposed.call.user_message = user_message::words(&session, proposed, &places.state());
    let call = &proposed.call;
    let world = DiskWorld::new(places, &call.cwd, project.clone(), &loaded)
        .with_programs(loaded.own.programs)
        .with_shell(agent.shell(&Here))
        .in_session(Rc::clone(&session));
    let mut considered = evaluation::consider(call, &world, &policy);
    let limits = loaded.config.snapshots.limits();
    let keeper = Keeper { places, world: &world, call, project: project.as_deref(), limits, id };
    let mut note = keeper.make_undoable(&mut considered, &policy);
    if mode == Mode::Auto && considered.judgement.verdict == Verdict::AutoApprove {
        considered = beside_others(considered, &session, &policy, (id, &world, call));
    }
    let door = Door { places, call, mode, loaded: &loaded, project: project.as_deref(), key: world.redaction_key() };
    let grant = door.redeem(&considered, id);
    considered.granted = grant.is_cleared();
    if considered.granted {
        note = keeper.before_grant(&mut considered);
    }
    if mode == Mode::Auto && !considered.granted && reviewer::is_for_it(&considered, &loaded.config.reviewer, &policy) {
        let scene = scene(places, &loaded, (proposed, project.as_deref()), patience);
        considered = reviewer::consult(considered, &scene, &policy, &world);
        if considered.judgement.verdict == Verdict::AutoApprove {
            considered = beside_others(considered, &session, &policy, (id, &world, call));
        }
    }
    if session::may_run(&considered, mode) {
        considered.before = session.seen(&file_digests::changed(&considered.facts, project.as_deref()));
    }
    let asking = asking(proposed, surroundings, &loaded, (&considered, project.as_deref()));
    considered.demanded = evaluation::demanded(&considered, &policy);
    let terms = settle::Terms { mode, asking, problems: &loaded.problems };
    let answer = settled_with(&mut considered, terms);
    note_question(&session, (id, &considered, call), &answer.decision, terms);
    let placed = entry::Placed { mode, project: project.as_deref(), words: &loaded.assigned.words };
    let entry = entry::decision(id, proposed, &considered, placed)?;
    let noted = session.note(id, &considered, mode).and_then(|()| note_arrivals(&world, &session, &considered, mode));
    let recorded = noted.and_then(|()| ledger.append(entry)).and_then(|_receipt| grant.record(ledger));
    raise_alerts(&session, surroundings, ledger);
    match (recorded, mode) {
        (Ok(()), _) => {
            let may_wait = !considered.granted && settle::may_wait(&considered.judgement, terms);
            let is_watched = || presence::is_there(places);
            let wait =
                if may_wait { waiting::time(loaded.config.wait_seconds, patience, is_watched) } else { Duration::ZERO };
            let decision = door.answer(answer, &grant, &considered, (id, note));
            Ok(Told { wait, trouble, ..Told::at_once(decision) })
        }
        // Shadow leaves everything as it was, a full disk included, but says so.
        (Err(error), Mode::Shadow) => {
            Ok(Told { trouble: format!("doorward: {error:#}\n"), ..Told::at_once(answer.decision) })
        }
        (Err(error), Mode::Auto | Mode::ConfirmAll | Mode::Off) => {
            Err(error.context("the decision cannot be recorded"))
        }
    }
}

/// What is the matter with the state's own directories; only shadow goes on, and says so.
fn trouble(places: &Places, mode: Mode) -> Result<String> {
    match (private_state::check(places), mode) {
        (Ok(()), _) => Ok(String::new()),
        // Shadow leaves everything as it was.
        (Err(error), Mode::Shadow) => Ok(format!("doorward: {error:#}\n")),
        (Err(error), Mode::Auto | Mode::ConfirmAll | Mode::Off) => Err(error),
    }
}

/// Records what the call has set off; a spike of blocks takes a rollout back.
fn raise_alerts(session: &Session, surroundings: &Surroundings, ledger: &mut dyn Recorder) {
    let alerts = session.alerts();
    let is_spike = alerts.iter().any(|alert| alert.name == AlertKind::Spike.word());
    alerts::raise(alerts, ledger);
    if is_spike {
        rollback::on_spike(&surroundings.places, surroundings.agent.name(), ledger);
    }
}

/// A person may say yes while others are under way: what the call writes, none of them must run as it was before. A call that
/// is refused at once is over.
fn note_question(
    session: &Session,
    (id, considered, call): (&str, &Considered, &ToolCall),
    decision: &Decision,
    terms: settle::Terms<'_>,
) {
    let is_open = considered.granted
        || matches!(decision, Decision::Ask(_))
        || terms.asking == Asking::Classifier
        || settle::may_wait(&considered.judgement, terms);
    if terms.mode == Mode::Auto && considered.judgement.verdict == Verdict::Confirm && is_open {
        Course::asked(id, &considered.facts, considered.granted)
            .into_iter()
            .for_each(|course| session.may_begin(course.started_apart(beside::is_background(call))));
    }
}

/// Keeps in mind what the call may bring into the project.
fn note_arrivals(world: &DiskWorld, session: &Session, considered: &Considered, mode: Mode) -> Result<()> {
    match world.arrivals_of() {
        Some(of) if session::may_run(considered, mode) => {
            session.note_arrivals(of, &considered.facts.arrivals, &world.replaced())
        }
        Some(_) | None => Ok(()),
    }
}

/// What a reviewer needs to know. Whatever time it may take is allowed for.
fn scene<'a>(
    places: &'a Places,
    loaded: &'a Loaded,
    (proposed, project): (&'a Proposed, Option<&'a str>),
    patience: Option<Duration>,
) -> Scene<'a> {
    let room = deadline::room_for_review(patience).min(reviewer::LONGEST_TIME);
    if room > deadline::room_for_review(None) {
        deadline::prolong(room);
    }
    Scene { places, reviewer: &loaded.config.reviewer, proposed, project, room }
}

/// An approved call beside those of its session that have not ended: what one writes, another must not run.
fn beside_others(
    considered: Considered,
    session: &Session,
    policy: &Policy,
    (id, world, call): (&str, &DiskWorld, &ToolCall),
) -> Considered {
    let considered = beside::left(considered, policy, (call, world), &session.left());
    if considered.judgement.verdict > Verdict::AutoApprove {
        return considered;
    }
    let is_apart = beside::is_background(call);
    beside::others(considered, policy, (id, world.project()), |course| session.crosses(course.started_apart(is_apart)))
}

/// What the agent is told, and a note of who answers a question that it does not put to anybody.
fn settled_with(considered: &mut Considered, terms: settle::Terms<'_>) -> Settled {
    let settled = settle::settle(&considered.judgement, &considered.facts, terms);
    let is_question = considered.judgement.verdict <= Verdict::Confirm && !considered.granted;
    considered.left_to = match (&settled.decision, terms.mode) {
        (Decision::Silent, Mode::Auto) => Some("classifier"),
        (Decision::Deny(_), Mode::Auto | Mode::ConfirmAll) if is_question => Some("queue"),
        _ => None,
    };
    settled
}

/// Who can answer a question about a call.
fn asking(
    proposed: &Proposed,
    surroundings: &Surroundings,
    loaded: &Loaded,
    (considered, project): (&Considered, Option<&str>),
) -> Asking {
    let Surroundings { agent, places, .. } = surroundings;
    let is_chosen = loaded.config.questions(agent.name()) == Some(Questions::Classifier);
    let is_left = is_chosen
        && proposed.asked == Asked::Classified
        && loaded.problems.is_empty()
        && !considered.granted
        && is_soft(&considered.judgement)
        && !client_rules::project_allows(agent.name(), places.home(), project, &considered.facts);
    if is_left {
        return Asking::Classifier;
    }
    match (proposed.call.attended, agent.can_ask(proposed.asked)) {
        (false, true) if agent.refuses_what_nobody_answers() => Asking::Perhaps,
        (false, _) => Asking::Nobody,
        (true, false) => Asking::Elsewhere,
        (true, true) => Asking::Here,
    }
}
