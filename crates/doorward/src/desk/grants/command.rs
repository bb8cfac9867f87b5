//! `doorward pending`, `approve` and `refuse`: the calls waiting for an answer, and the answers.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use doorward_engine::Clearance;
use serde_json::{Value, json};

use crate::desk::grants::answer;
use crate::desk::grants::answer::{Step, Yes};
use crate::desk::grants::show;
use crate::desk::person;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::memory::grants::pending::Pending;
use crate::memory::grants::queue::{Stand, queue};
use crate::memory::grants::store::Desk;

/// Exit code: first of two steps done; the call does not run yet.
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
    let desk = desk()?;
    let mut out = anstream::stdout().lock();
    if let Some(id) = &arguments.id {
        let pending = answer::answerable(&desk, id)?;
        if arguments.json {
            writeln!(out, "{:#}", as_json(&pending))?;
        } else {
            show::full(&mut out, &pending)?;
            writeln!(out, "{}", show::way(&pending))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let open = if arguments.all { desk.open_and_left() } else { desk.open() };
    if arguments.json {
        let listed = open.iter().map(|pending| listed(pending, desk.now_ms)).collect();
        writeln!(out, "{:#}", Value::Array(listed))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = queue(open.into_iter().chain(desk.approved()).collect(), desk.now_ms);
    show::list(&mut out, &rows, desk.now_ms)?;
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
    let desk = desk()?;
    let pending = answer::answerable(&desk, &arguments.id)?;
    let mut out = anstream::stdout().lock();
    show::full(&mut out, &pending)?;
    if arguments.session {
        return approve_session(&pending, arguments);
    }
    let target = answer::to_type(&pending);
    let typed = match pending.needs() {
        Clearance::Soft | Clearance::Firm => {
            if !person::agrees("Let exactly this call run once, within the next ten minutes?")? {
                bail!("not approved");
            }
            None
        }
        Clearance::Hard | Clearance::Dual => Some(person::types(&format!("Type `{target}` to let it run once"))?),
    };
    let why = reason(&pending, arguments)?;
    // Things may have changed while the prompt was open.
    let desk = self::desk()?;
    let yes = typed.as_deref().map_or(Yes::Key, Yes::Typed);
    let step = answer::approve(&desk, &mut ledger()?, &arguments.id, yes, why)?;
    match step {
        Step::Granted => {
            writeln!(out, "Approved. Ask the agent to retry: the same call runs once within the next ten minutes.")?;
            Ok(ExitCode::SUCCESS)
        }
        Step::FirstOfTwo(wait_ms) => {
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
    answer::approve_session(&desk()?, &mut ledger()?, &arguments.id, &typed, why)?;
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
    answer::refuse(&desk()?, &mut ledger()?, &arguments.id, arguments.why.clone())?;
    writeln!(anstream::stdout(), "refused")?;
    Ok(ExitCode::SUCCESS)
}

fn desk() -> Result<Desk> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    crate::memory::grants::sweep(&dirs);
    Desk::of(&dirs)
}

fn ledger() -> Result<Ledger> {
    Ok(Ledger::of(&Dirs::find().map_err(anyhow::Error::msg)?))
}

/// One entry of the list, with its state.
fn listed(pending: &Pending, now_ms: u64) -> Value {
    let stand = Stand::of(pending, now_ms);
    let left = match stand {
        Stand::Waits(seconds) => Some(seconds),
        Stand::Prompt | Stand::Refused | Stand::Approved => None,
    };
    let mut all = as_json(pending);
    if let Value::Object(fields) = &mut all {
        fields.insert("stand".into(), stand.word().into());
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
