//! `doorward pending`, `approve` and `refuse`: what waits for an answer, and a person's answer.

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
use crate::machine::paths::Places;
use crate::machine::record::Ledger;
use crate::memory::grants::pending::Pending;
use crate::memory::grants::queue::{Stand, queue};
use crate::memory::grants::store::Desk;

/// The first of two steps was made; the call does not run yet.
const HALF: u8 = 3;

/// Which of the calls that wait.
#[derive(Debug, Args)]
pub struct PendingArguments {
    /// Show everything about this one
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: Option<String>,
    /// List those of sessions that are over as well
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Which call to let run.
#[derive(Debug, Args)]
pub struct ApproveArguments {
    /// The id that the agent was told, or that `doorward pending` lists
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// Why; the record keeps it
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
    /// Let calls like this run for the rest of the session: 20 times, for an hour at most
    #[arg(long)]
    pub session: bool,
}

/// Which call to refuse.
#[derive(Debug, Args)]
pub struct RefuseArguments {
    /// The id that the agent was told, or that `doorward pending` lists
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// Why; the record keeps it
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Lists what waits, or shows one.
pub fn pending(arguments: &PendingArguments) -> Result<ExitCode> {
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
        true => writeln!(out, "nothing waits for an answer")?,
        false => writeln!(
            out,
            "`doorward review` answers them with a key; `doorward pending ID` shows one, `doorward approve ID` and \
             `doorward refuse ID` answer it"
        )?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets a call run.
pub fn approve(arguments: &ApproveArguments) -> Result<ExitCode> {
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
            if !person::agrees("let exactly this call run, once, within ten minutes?")? {
                bail!("nothing was approved");
            }
            None
        }
        Clearance::Hard | Clearance::Dual => Some(person::types(&format!("type `{target}` to let it run once"))?),
    };
    let why = reason(&pending, arguments)?;
    // Time has passed at the prompt, and something may have changed.
    let desk = self::desk()?;
    let yes = typed.as_deref().map_or(Yes::Key, Yes::Typed);
    let step = answer::approve(&desk, &mut ledger()?, &arguments.id, yes, why)?;
    match step {
        Step::Granted => {
            writeln!(out, "approved: the same call runs once if the agent makes it again within ten minutes")?;
            Ok(ExitCode::SUCCESS)
        }
        Step::FirstOfTwo(wait_ms) => {
            let seconds = wait_ms.div_ceil(1000);
            writeln!(
                out,
                "this was the first of two steps, and nothing runs yet: think it over, \
                 then run `doorward approve {}` again in {seconds} seconds",
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
    writeln!(out, "for the rest of {whose}, 20 times and for an hour at most, without asking:")?;
    for class in shape.classes.iter().chain(&shape.targets) {
        writeln!(out, "  {}", crate::machine::visible(class))?;
    }
    if !person::agrees("let calls like this run?")? {
        bail!("nothing was approved");
    }
    let typed = person::types(&format!("type `{}` to go on", answer::to_type(pending)))?;
    let why = reason(pending, arguments)?;
    answer::approve_session(&desk()?, &mut ledger()?, &arguments.id, &typed, why)?;
    writeln!(out, "approved for this session; the agent has to make the call again")?;
    Ok(ExitCode::SUCCESS)
}

/// Why, which a hard override and one for a session cannot go without.
fn reason(pending: &Pending, arguments: &ApproveArguments) -> Result<Option<String>> {
    let given = arguments.why.clone().filter(|why| !why.trim().is_empty());
    if given.is_some() || (pending.needs() <= Clearance::Firm && !arguments.session) {
        return Ok(given);
    }
    let why = person::types("why (the record keeps it)")?;
    if why.trim().is_empty() {
        bail!("an override like this needs a reason: nothing was approved");
    }
    Ok(Some(why))
}

/// Refuses a call, or takes a yes back.
pub fn refuse(arguments: &RefuseArguments) -> Result<ExitCode> {
    person::required()?;
    answer::refuse(&desk()?, &mut ledger()?, &arguments.id, arguments.why.clone())?;
    writeln!(anstream::stdout(), "refused")?;
    Ok(ExitCode::SUCCESS)
}

fn desk() -> Result<Desk> {
    let places = Places::find().map_err(anyhow::Error::msg)?;
    crate::memory::grants::sweep(&places);
    Desk::of(&places)
}

fn ledger() -> Result<Ledger> {
    Ok(Ledger::of(&Places::find().map_err(anyhow::Error::msg)?))
}

/// One of the list: also where it stands.
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
