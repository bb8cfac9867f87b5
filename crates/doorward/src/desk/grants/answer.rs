//! A person's yes or no to a pending call: what it takes, what is recorded, what is stored.

use anyhow::{Context, Result, bail};
use doorward_engine::Clearance;
use doorward_ledger::{AnswerBody, By, GrantBody, GrantStep, Grants, Reply};

use crate::machine::record::{Entry, Recorder};
use crate::machine::user;
use crate::machine::visible;
use crate::memory::grants::operands;
use crate::memory::grants::pending::{Pending, Status};
use crate::memory::grants::repeat;
use crate::memory::grants::repeat::Repeat;
use crate::memory::grants::store::{Desk, Grant, LASTS_MS};

/// So far apart two steps of a dual override are at least.
pub const APART_MS: u64 = 30 * 1000;

/// And so far at most.
const TOGETHER_MS: u64 = 10 * 60 * 1000;

/// So many overrides of what a rule blocks …
pub const HARD: usize = 5;

/// … in so much time; then the next one has to wait.
pub const HARD_MS: u64 = 60 * 60 * 1000;

/// How a person says yes.
#[derive(Clone, Copy, Debug)]
pub enum Yes<'a> {
    /// With one key.
    Key,
    /// By typing what the call acts on.
    Typed(&'a str),
}

/// What a yes led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The call may run once.
    Granted,
    /// The second step can be typed in so many milliseconds.
    FirstOfTwo(u64),
}

/// What has to be typed for a hard or dual override, as it is shown.
pub fn to_type(pending: &Pending) -> String {
    visible(&pending.target).replace('\n', " ")
}

/// Fails unless the call still waits for an answer and nothing that it touches has changed.
pub fn answerable(desk: &Desk, id: &str) -> Result<Pending> {
    let Some(pending) = desk.pending(id).context("the pending call cannot be read")? else {
        bail!("no call has the id `{id}`; `doorward pending` lists those that wait");
    };
    match pending.status {
        Status::Open => {}
        Status::Approved => bail!("`{id}` is approved already: the agent has to make the same call again"),
        Status::Used => bail!("`{id}` was approved and has run; it is good for one call only"),
        Status::Refused => bail!("`{id}` was refused"),
        Status::Answered => bail!("`{id}` was answered in the agent's own prompt"),
    }
    if !pending.is_open(desk.now_ms) {
        bail!("`{id}` has waited for more than a day and is gone: the agent has to propose the call again");
    }
    Ok(pending)
}

/// Takes a yes.
pub fn approve(desk: &Desk, ledger: &mut dyn Recorder, id: &str, yes: Yes<'_>, why: Option<String>) -> Result<Step> {
    let pending = answerable(desk, id)?;
    unchanged(&pending)?;
    typed(&pending, yes)?;
    rested(desk, &pending)?;
    if pending.needs() == Clearance::Dual
        && let Some(step) = first_step(desk, &pending)?
    {
        return Ok(step);
    }
    store(desk, ledger, &pending, why)?;
    Ok(Step::Granted)
}

/// Takes a no.
pub fn refuse(desk: &Desk, ledger: &mut dyn Recorder, id: &str, why: Option<String>) -> Result<()> {
    let Some(pending) = desk.pending(id)? else {
        bail!("no call has the id `{id}`; `doorward pending` lists those that wait");
    };
    match pending.status {
        Status::Open | Status::Approved => {}
        Status::Used => bail!("`{id}` has run already"),
        Status::Refused => bail!("`{id}` was refused already"),
        Status::Answered => bail!("`{id}` was answered in the agent's own prompt"),
    }
    // Taking back a yes comes first: a no that cannot be recorded is still a no.
    if pending.status == Status::Approved
        && let Some(grant) = desk.grants.take::<Grant>(&pending.bound.call).unwrap_or_default()
    {
        let body = body(GrantStep::Withdrawn, &grant, &pending, why.clone());
        let _receipt = ledger.append(Entry::new(&body)?)?;
    }
    desk.change(id, |pending| (pending.status, pending.first_step_ms) = (Status::Refused, None))?;
    let answer = AnswerBody { decision: pending.decision, reply: Reply::Declined, by: By::Person, why };
    ledger.append(Entry::new(&answer)?).map(|_receipt| ())
}

/// Lets calls like this one run for the rest of the session, after a second, typed step.
pub fn approve_session(
    desk: &Desk,
    ledger: &mut dyn Recorder,
    id: &str,
    typed: &str,
    why: Option<String>,
) -> Result<()> {
    let pending = answerable(desk, id)?;
    unchanged(&pending)?;
    let shape = repeatable(&pending)?;
    if typed.trim() != to_type(&pending) {
        bail!("that is not `{}`: nothing was approved", to_type(&pending));
    }
    let repeat = Repeat {
        grant: Grants::draw()?,
        agent: pending.agent.clone(),
        subagent: pending.subagent.clone(),
        session: pending.session.clone(),
        pattern: pending.pattern.clone(),
        shape,
        policy: pending.bound.policy.clone(),
        stored_ms: desk.now_ms,
        uses: 0,
        why: why.clone(),
    };
    let body = GrantBody {
        step: GrantStep::Stored,
        grant: Some(repeat.grant.clone()),
        of: repeat.pattern.clone().into(),
        decision: Some(pending.decision.clone()),
        session: Some(repeat.session.clone()),
        expires_ms: Some(desk.now_ms.saturating_add(repeat::LASTS_MS)),
        user: user(),
        why,
        clears: Some(Clearance::Soft.to_string()),
    };
    // INVARIANT: the record is durable before anything is loosened.
    let _receipt = ledger.append(Entry::new(&body)?).context("the yes cannot be recorded, so it does not count")?;
    desk.store_repeat(&repeat.own_name(), &repeat)?;
    desk.change(id, |pending| pending.status = Status::Approved)
}

/// What calls must be like to be covered by a grant for the session.
pub fn repeatable(pending: &Pending) -> Result<repeat::Shape> {
    pending.shape.clone().with_context(|| {
        format!(
            "a yes for the session is for soft questions about fully understood calls; this one needs {}",
            pending.needs().what()
        )
    })
}

fn unchanged(pending: &Pending) -> Result<()> {
    let changed = operands::changed(&pending.bound.operands);
    match changed.first() {
        None => Ok(()),
        Some(path) => bail!(
            "`{path}` has changed since the call was judged: nobody knows what it would do now, \
             the agent has to propose it again"
        ),
    }
}

/// Fails unless the yes is of the kind that the call wants.
fn typed(pending: &Pending, yes: Yes<'_>) -> Result<()> {
    let target = to_type(pending);
    match (pending.needs(), yes) {
        (Clearance::Soft | Clearance::Firm, _) => Ok(()),
        (Clearance::Hard | Clearance::Dual, Yes::Typed(text)) if text.trim() == target => Ok(()),
        (Clearance::Hard | Clearance::Dual, Yes::Typed(_)) => bail!("that is not `{target}`: nothing was approved"),
        (Clearance::Hard | Clearance::Dual, Yes::Key) => {
            bail!("one key is not enough for this call: it needs {}", pending.needs().what())
        }
    }
}

/// Fails if this user has overridden so much lately that it has become a habit. The record counts, so nothing forgets it.
fn rested(desk: &Desk, pending: &Pending) -> Result<()> {
    if pending.needs() <= Clearance::Firm {
        return Ok(());
    }
    let since = desk.now_ms.saturating_sub(HARD_MS);
    let recent = desk.hard_overrides(since).context("the record cannot be asked for earlier overrides")?;
    // As many as the limit have to be older than an hour but one.
    let Some(oldest) = recent.len().checked_sub(HARD).and_then(|at| recent.get(at)) else { return Ok(()) };
    let wait_ms = oldest.saturating_add(HARD_MS).saturating_sub(desk.now_ms);
    bail!(
        "you have let run {} calls in the last hour that a rule blocks, and {HARD} are the limit: the next one can be \
         approved in {} minutes. if calls like these are right, change the rule or the configuration",
        recent.len(),
        wait_ms.div_ceil(60_000).max(1)
    )
}

/// The first of two steps, unless it was made before and long enough ago.
fn first_step(desk: &Desk, pending: &Pending) -> Result<Option<Step>> {
    let now_ms = desk.now_ms;
    match pending.first_step_ms.map(|first| (first, now_ms.saturating_sub(first))) {
        Some((first, passed)) if first <= now_ms && (APART_MS..=TOGETHER_MS).contains(&passed) => Ok(None),
        Some((first, passed)) if first <= now_ms && passed < APART_MS => Ok(Some(Step::FirstOfTwo(APART_MS - passed))),
        Some(_) | None => {
            desk.change(&pending.id, |pending| pending.first_step_ms = Some(now_ms))?;
            Ok(Some(Step::FirstOfTwo(APART_MS)))
        }
    }
}

fn store(desk: &Desk, ledger: &mut dyn Recorder, pending: &Pending, why: Option<String>) -> Result<()> {
    let grant = Grant {
        grant: Grants::draw()?,
        pending: pending.id.clone(),
        bound: pending.bound.clone(),
        clears: pending.needs(),
        stored_ms: desk.now_ms,
        why: why.clone(),
    };
    let body = body(GrantStep::Stored, &grant, pending, why);
    // INVARIANT: the record is durable before anything is loosened.
    let _receipt = ledger.append(Entry::new(&body)?).context("the yes cannot be recorded, so it does not count")?;
    desk.grants.store(&grant.bound.call, &grant)?;
    desk.change(&pending.id, |pending| (pending.status, pending.first_step_ms) = (Status::Approved, None))
}

fn body(step: GrantStep, grant: &Grant, pending: &Pending, why: Option<String>) -> GrantBody {
    GrantBody {
        step,
        grant: Some(grant.grant.clone()),
        of: grant.bound.call.clone(),
        decision: Some(pending.decision.clone()),
        session: Some(pending.session.clone()),
        expires_ms: Some(grant.stored_ms.saturating_add(LASTS_MS)),
        user: user(),
        why,
        clears: Some(grant.clears.to_string()),
    }
}
