//! `doorward pending`, `approve` and `refuse`: the calls waiting for an answer, and the answers.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use doorward_engine::Clearance;
use serde_json::{Value, json};

use crate::desk::grants::answer;
use crate::desk::grants::answer::{ApprovalStep, ApprovedBy};
use crate::desk::grants::show;
use crate::desk::person;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::memory::grants::pending::Pending;
use crate::memory::grants::queue::{CallState, queue};
use crate::memory::grants::store::GrantStore;

/// Exit code: first of two steps done; the call does not run yet.
// Not 0, or a script would take the first of two steps for an approval.
const HALF: u8 = 3;

/// Selects pending calls.
#[derive(Debug, Args)]
pub(crate) struct PendingArguments {
    /// Show everything about this one
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: Option<String>,
    /// Include calls from sessions that have ended
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Selects the call to approve.
#[derive(Debug, Args)]
pub(crate) struct ApproveArguments {
    /// The id from the agent's message or from `doorward pending`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// Your reason, kept in the record
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
    /// Also approve similar calls for the rest of the session: up to 20, for at most an hour
    #[arg(long)]
    pub session: bool,
}

/// Selects the call to refuse.
#[derive(Debug, Args)]
pub(crate) struct RefuseArguments {
    /// The id from the agent's message or from `doorward pending`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// Your reason, kept in the record
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Lists pending calls, or shows one.
pub(crate) fn pending(arguments: &PendingArguments) -> Result<ExitCode> {
    let store = open_store()?;
    let mut out = anstream::stdout().lock();
    if let Some(id) = &arguments.id {
        let pending = answer::answerable(&store, id)?;
        if arguments.json {
            writeln!(out, "{:#}", as_json(&pending))?;
        } else {
            show::full(&mut out, &pending)?;
            writeln!(out, "{}", show::way(&pending))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let open = if arguments.all { store.open_calls_with_ended() } else { store.open_calls() };
    if arguments.json {
        let listed = open.iter().map(|pending| to_json(pending, store.now_ms)).collect();
        writeln!(out, "{:#}", Value::Array(listed))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = queue(open.into_iter().chain(store.approved()).collect(), store.now_ms);
    show::list(&mut out, &rows, store.now_ms)?;
    match rows.is_empty() {
        true => writeln!(out, "no calls are waiting for you")?,
        false => writeln!(
            out,
            "`doorward pending ID` shows one, `doorward approve ID` and `doorward refuse ID` answer it; \
            `doorward review` lets you answer with one key"
        )?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets a call run.
pub(crate) fn approve(arguments: &ApproveArguments) -> Result<ExitCode> {
    person::required()?;
    let store = open_store()?;
    let pending = answer::answerable(&store, &arguments.id)?;
    let mut out = anstream::stdout().lock();
    show::full(&mut out, &pending)?;
    if arguments.session {
        return approve_session(&pending, arguments);
    }
    let target = answer::to_type(&pending);
    let typed = match pending.needs() {
        Clearance::Soft | Clearance::Firm => {
            let question = match pending.held {
                Some(_) => "It ran in a box. Put exactly these changes in place?",
                None => "Let exactly this call run once, within the next ten minutes?",
            };
            if !person::agrees(question)? {
                bail!("not approved");
            }
            None
        }
        Clearance::Hard | Clearance::Dual => Some(person::types(&format!("Type `{target}` to let it run once"))?),
    };
    let why = reason(&pending, arguments)?;
    // Things may have changed while the prompt was open.
    let store = self::open_store()?;
    let yes = typed.as_deref().map_or(ApprovedBy::Key, ApprovedBy::Typed);
    let step = answer::approve(&store, &mut ledger()?, &arguments.id, yes, why)?;
    match step {
        ApprovalStep::Granted => {
            writeln!(out, "Approved. Ask the agent to retry: the same call runs once within the next ten minutes.")?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalStep::Committed(changes) => {
            writeln!(out, "Approved. Its changes are in place ({changes}); nothing runs again.")?;
            Ok(ExitCode::SUCCESS)
        }
        ApprovalStep::FirstOfTwo(wait_ms) => {
            let seconds = wait_ms.div_ceil(1000);
            writeln!(
                out,
                "That was the first of two steps; nothing runs yet. Think it over, \
                then run `doorward approve {}` again in {seconds} seconds.",
                arguments.id
            )?;
            Ok(ExitCode::from(HALF))
        }
    }
}

fn approve_session(pending: &Pending, arguments: &ApproveArguments) -> Result<ExitCode> {
    let shape = answer::repeatable(pending)?;
    let mut out = anstream::stdout().lock();
    let whose = if pending.subagent.is_empty() { "this session" } else { "this subagent's work" };
    writeln!(out, "For the rest of {whose}, up to 20 times and for at most an hour, doorward will not ask about:")?;
    for class in shape.classes.iter().chain(&shape.targets) {
        writeln!(out, "  {}", crate::machine::visible(class))?;
    }
    if !person::agrees("Let calls like this run?")? {
        bail!("not approved");
    }
    let typed = person::types(&format!("Type `{}` to confirm", answer::to_type(pending)))?;
    let why = reason(pending, arguments)?;
    answer::approve_session(&open_store()?, &mut ledger()?, &arguments.id, &typed, why)?;
    writeln!(out, "Approved for this session. Ask the agent to retry.")?;
    Ok(ExitCode::SUCCESS)
}

/// The reason, which hard and session overrides require.
fn reason(pending: &Pending, arguments: &ApproveArguments) -> Result<Option<String>> {
    let given = arguments.why.clone().filter(|why| !why.trim().is_empty());
    if given.is_some() || (pending.needs() <= Clearance::Firm && !arguments.session) {
        return Ok(given);
    }
    let why = person::types("Why? (kept in the record)")?;
    if why.trim().is_empty() {
        bail!("this kind of override needs a reason; not approved");
    }
    Ok(Some(why))
}

/// Refuses a call, or withdraws an approval.
pub(crate) fn refuse(arguments: &RefuseArguments) -> Result<ExitCode> {
    person::required()?;
    answer::refuse(&open_store()?, &mut ledger()?, &arguments.id, arguments.why.clone())?;
    writeln!(anstream::stdout(), "refused")?;
    Ok(ExitCode::SUCCESS)
}

fn open_store() -> Result<GrantStore> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    crate::memory::grants::sweep(&dirs);
    GrantStore::open_at(&dirs)
}

fn ledger() -> Result<Ledger> {
    Ok(Ledger::open(&Dirs::find().map_err(anyhow::Error::msg)?))
}

/// One entry of the list, with its state.
fn to_json(pending: &Pending, now_ms: u64) -> Value {
    let stand = CallState::of(pending, now_ms);
    let left = match stand {
        CallState::Waits(seconds) => Some(seconds),
        CallState::Prompt | CallState::Refused | CallState::Approved => None,
    };
    let mut all = as_json(pending);
    if let Value::Object(fields) = &mut all {
        fields.insert("stand".into(), stand.as_str().into());
        fields.insert("seconds_left".into(), json!(left));
        fields.insert("times".into(), pending.times.max(1).into());
        fields.insert("session_over".into(), pending.is_left.into());
    }
    all
}

fn as_json(pending: &Pending) -> Value {
    json!({
        "id": pending.id, "verdict": pending.verdict, "cleared_by": pending.needs, "tool": pending.tool,
        "call": pending.call, "input": pending.input, "changes": pending.changes, "cwd": pending.cwd,
        "agent": pending.agent, "session": pending.session, "subagent": pending.subagent, "project": pending.project,
        "reasons": pending.reasons, "effects": pending.effects, "not_understood": pending.not_understood,
        "target": answer::to_type(pending), "pattern": pending.pattern, "asked_ms": pending.asked_ms,
        "decision": pending.decision, "first_step_ms": pending.first_step_ms, "for_session": pending.shape.is_some(),
    })
}
