//! Approving or refusing a pending call: what that takes, what is recorded, what is stored.

use anyhow::{Context, Result, bail};
use doorward_engine::Clearance;
use doorward_ledger::{AnswerBody, By, GrantBody, GrantStep, Grants, Reply};

use crate::hook::contained;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::machine::user;
use crate::machine::visible;
use crate::memory::grants::operands;
use crate::memory::grants::pending::{Pending, Status};
use crate::memory::grants::repeat;
use crate::memory::grants::repeat::SessionGrant;
use crate::memory::grants::store::{Grant, GrantStore, LASTS_MS};

/// Minimum time between the two steps of a dual override.
// Long enough to read again what one is about to let run, and too long for the reflex of pressing twice.
pub(crate) const APART_MS: u64 = 30 * 1000;

/// Maximum time between them.
// As long as a grant lasts: a first step from this morning says nothing about the files of this afternoon.
const TOGETHER_MS: u64 = 10 * 60 * 1000;

/// This many overrides of rule blocks …
// One hard override is an exception. Five in an hour means that the rule is wrong, or that someone clicks through;
// both are better served by a pause and a look at the rule than by a sixth.
pub(crate) const HARD: usize = 5;

/// … are allowed in this much time; then the next one has to wait.
pub(crate) const HARD_MS: u64 = 60 * 60 * 1000;

/// How the user approved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ApprovedBy<'a> {
    /// With one key.
    Key,
    /// By typing what the call acts on.
    Typed(&'a str),
}

/// What an approval led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ApprovalStep {
    /// The call may run once.
    Granted,
    /// What it did in its box is in place: so many changes.
    Committed(usize),
    /// The second step is possible in this many milliseconds.
    FirstOfTwo(u64),
}

/// What has to be typed for a hard or dual override, as it is shown.
pub(crate) fn to_type(pending: &Pending) -> String {
    visible(&pending.target).replace('\n', " ")
}

/// Fails unless the call still waits for an answer and nothing that it touches has changed.
pub(crate) fn answerable(store: &GrantStore, id: &str) -> Result<Pending> {
    let Some(pending) = store.pending(id).context("can't read the pending call")? else {
        bail!("no call has the id `{id}`; `doorward pending` lists the calls waiting for you");
    };
    match pending.status {
        Status::Open => {}
        Status::Approved => bail!("`{id}` is already approved; ask the agent to retry"),
        Status::Used => bail!("`{id}` was approved and has already run; an approval covers one call"),
        Status::Refused => bail!("`{id}` was refused"),
        Status::Answered => bail!("`{id}` was answered in the agent's own prompt"),
    }
    if !pending.is_open(store.now_ms) {
        bail!("`{id}` waited more than a day and has expired; ask the agent to retry");
    }
    Ok(pending)
}

/// Approves a call.
pub(crate) fn approve(
    store: &GrantStore,
    ledger: &mut dyn Recorder,
    id: &str,
    yes: ApprovedBy<'_>,
    why: Option<String>,
) -> Result<ApprovalStep> {
    let pending = answerable(store, id)?;
    check_unchanged(&pending)?;
    check_typed(&pending, yes)?;
    check_pause(store, &pending)?;
    if pending.needs() == Clearance::Dual
        && let Some(step) = first_step(store, &pending)?
    {
        return Ok(step);
    }
    if pending.held.is_some() {
        return commit(store, ledger, &pending, why).map(ApprovalStep::Committed);
    }
    store_grant(store, ledger, &pending, why)?;
    Ok(ApprovalStep::Granted)
}

/// Refuses a call.
pub(crate) fn refuse(store: &GrantStore, ledger: &mut dyn Recorder, id: &str, why: Option<String>) -> Result<()> {
    let Some(pending) = store.pending(id)? else {
        bail!("no call has the id `{id}`; `doorward pending` lists the calls waiting for you");
    };
    match pending.status {
        Status::Open | Status::Approved => {}
        Status::Used => bail!("`{id}` has already run"),
        Status::Refused => bail!("`{id}` was already refused"),
        Status::Answered => bail!("`{id}` was answered in the agent's own prompt"),
    }
    // Withdraw the approval first: a refusal counts even if it can't be recorded.
    if pending.status == Status::Approved
        && let Some(grant) = store.grants.take::<Grant>(&pending.bound.call).unwrap_or_default()
    {
        let body = body(GrantStep::Withdrawn, &grant, &pending, why.clone());
        let _receipt = ledger.append(LogEntry::new(&body)?)?;
    }
    if pending.held.is_some() {
        contained::discard_held(&Dirs::find().map_err(anyhow::Error::msg)?, &pending)?;
    }
    store.change(id, |pending| (pending.status, pending.first_step_ms) = (Status::Refused, None))?;
    let answer = AnswerBody { decision: pending.decision, reply: Reply::Declined, by: By::Person, why };
    ledger.append(LogEntry::new(&answer)?).map(|_receipt| ())
}

/// Approves similar calls for the rest of the session, after a second, typed step.
pub(crate) fn approve_session(
    store: &GrantStore,
    ledger: &mut dyn Recorder,
    id: &str,
    typed: &str,
    why: Option<String>,
) -> Result<()> {
    let pending = answerable(store, id)?;
    check_unchanged(&pending)?;
    let shape = repeatable(&pending)?;
    if typed.trim() != to_type(&pending) {
        bail!("that is not `{}`; not approved", to_type(&pending));
    }
    let repeat = SessionGrant {
        grant: Grants::draw()?,
        agent: pending.agent.clone(),
        subagent: pending.subagent.clone(),
        session: pending.session.clone(),
        pattern: pending.pattern.clone(),
        shape,
        policy: pending.bound.policy.clone(),
        stored_ms: store.now_ms,
        uses: 0,
        why: why.clone(),
    };
    let body = GrantBody {
        step: GrantStep::Stored,
        grant: Some(repeat.grant.clone()),
        of: repeat.pattern.clone().into(),
        decision: Some(pending.decision.clone()),
        session: Some(repeat.session.clone()),
        expires_ms: Some(store.now_ms.saturating_add(repeat::LASTS_MS)),
        user: user(),
        why,
        clears: Some(Clearance::Soft.to_string()),
    };
    // INVARIANT: the record is durable before anything is loosened.
    let _receipt = ledger.append(LogEntry::new(&body)?).context("can't record the approval, so it does not count")?;
    store.store_repeat(&repeat.own_name(), &repeat)?;
    store.change(id, |pending| pending.status = Status::Approved)
}

/// The shape of calls that a session grant would cover.
pub(crate) fn repeatable(pending: &Pending) -> Result<repeat::CallShape> {
    pending.shape.clone().with_context(|| {
        format!(
            "`--session` works only for soft questions about calls doorward fully understands; this one needs {}",
            pending.needs().what()
        )
    })
}

fn check_unchanged(pending: &Pending) -> Result<()> {
    let changed = operands::changed(&pending.bound.operands);
    match changed.first() {
        None => Ok(()),
        Some(path) => {
            bail!("`{path}` changed after the call was judged, so it may now do something else; ask the agent to retry")
        }
    }
}

/// Fails unless the approval is of the kind that the call needs.
fn check_typed(pending: &Pending, yes: ApprovedBy<'_>) -> Result<()> {
    let target = to_type(pending);
    match (pending.needs(), yes) {
        (Clearance::Soft | Clearance::Firm, _) => Ok(()),
        (Clearance::Hard | Clearance::Dual, ApprovedBy::Typed(text)) if text.trim() == target => Ok(()),
        (Clearance::Hard | Clearance::Dual, ApprovedBy::Typed(_)) => bail!("that is not `{target}`; not approved"),
        (Clearance::Hard | Clearance::Dual, ApprovedBy::Key) => {
            bail!("one key can't approve this call: it needs {}", pending.needs().what())
        }
    }
}

/// Fails if this user has overridden so much lately that it looks like a habit. The count comes from the record, so it can't be reset.
fn check_pause(store: &GrantStore, pending: &Pending) -> Result<()> {
    if pending.needs() <= Clearance::Firm {
        return Ok(());
    }
    let since = store.now_ms.saturating_sub(HARD_MS);
    let recent = store.hard_overrides(since).context("can't look up earlier overrides in the record")?;
    // All but one of the limit have to be older than an hour.
    let Some(oldest) = recent.len().checked_sub(HARD).and_then(|at| recent.get(at)) else { return Ok(()) };
    let wait_ms = oldest.saturating_add(HARD_MS).saturating_sub(store.now_ms);
    bail!(
        "you overrode {} rule blocks in the last hour, and the limit is {HARD}; you can approve the next one in {} minutes. \
        if these calls are fine, change the rule or the configuration instead",
        recent.len(),
        wait_ms.div_ceil(60_000).max(1)
    )
}

/// The first of two steps, unless it was done before and long enough ago.
fn first_step(store: &GrantStore, pending: &Pending) -> Result<Option<ApprovalStep>> {
    let now_ms = store.now_ms;
    match pending.first_step_ms.map(|first| (first, now_ms.saturating_sub(first))) {
        Some((first, passed)) if first <= now_ms && (APART_MS..=TOGETHER_MS).contains(&passed) => Ok(None),
        Some((first, passed)) if first <= now_ms && passed < APART_MS => {
            Ok(Some(ApprovalStep::FirstOfTwo(APART_MS - passed)))
        }
        Some(_) | None => {
            store.change(&pending.id, |pending| pending.first_step_ms = Some(now_ms))?;
            Ok(Some(ApprovalStep::FirstOfTwo(APART_MS)))
        }
    }
}

/// The call has run already; the yes is on record before what it did is put in place.
fn commit(store: &GrantStore, ledger: &mut dyn Recorder, pending: &Pending, why: Option<String>) -> Result<usize> {
    let answer = AnswerBody { decision: pending.decision.clone(), reply: Reply::Approved, by: By::Person, why };
    let _receipt = ledger.append(LogEntry::new(&answer)?).context("can't record the approval, so it does not count")?;
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let changes = contained::commit_held(&dirs, pending, ledger)?;
    store.change(&pending.id, |pending| pending.status = Status::Used)?;
    Ok(changes)
}

fn store_grant(store: &GrantStore, ledger: &mut dyn Recorder, pending: &Pending, why: Option<String>) -> Result<()> {
    let grant = Grant {
        grant: Grants::draw()?,
        pending: pending.id.clone(),
        bound: pending.bound.clone(),
        clears: pending.needs(),
        stored_ms: store.now_ms,
        why: why.clone(),
    };
    let body = body(GrantStep::Stored, &grant, pending, why);
    // INVARIANT: the record is durable before anything is loosened.
    let _receipt = ledger.append(LogEntry::new(&body)?).context("can't record the approval, so it does not count")?;
    store.grants.store(&grant.bound.call, &grant)?;
    store.change(&pending.id, |pending| (pending.status, pending.first_step_ms) = (Status::Approved, None))
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
