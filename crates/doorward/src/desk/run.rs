//! `doorward run`: tries a command in a box, judges what it did, then commits it, holds it for you or discards it.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::hook::contained::{self, Ended};
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::machine::visible;
use crate::memory::evaluation;

/// What the run did waits for a person.
const HELD: u8 = 75;

/// What a shell says of a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// The command did not run, or nothing of what it did is left.
const REFUSED: u8 = 126;

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Print how it ended as JSON on standard error
    #[arg(long)]
    pub json: bool,
    /// Say whether this machine can run commands in a box, and run nothing
    #[arg(long, conflicts_with_all = ["command", "token"])]
    pub probe: bool,
    /// Stands for a call that a hook handed to the box; hooks make it, and it works once
    #[arg(value_name = "TOKEN", conflicts_with = "command")]
    pub token: Option<String>,
    /// The command: one argument is a shell command line, several are the words of one command
    #[arg(last = true, value_name = "COMMAND", required_unless_present_any = ["probe", "token"])]
    pub command: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &RunArguments) -> Result<ExitCode> {
    evaluation::silence_panics();
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    if arguments.probe {
        return probe(&dirs, arguments.json);
    }
    let cwd = std::env::current_dir().context("can't tell the current directory")?;
    let Some(cwd) = cwd.to_str() else { bail!("the current directory has a name that is not text") };
    let mut ledger = Ledger::open(&dirs);
    let ended = match &arguments.token {
        Some(token) => contained::run_token(&dirs, token, cwd, &mut ledger)?,
        None => {
            let command = doorward_engine::command_text(&arguments.command).context("there is no command to run")?;
            contained::run(&dirs, &command, cwd, &mut ledger)?
        }
    };
    let code = code(&ended);
    let mut out = anstream::stderr().lock();
    if arguments.json {
        writeln!(out, "{}", to_json(&ended))?;
    } else if let Some(said) = said(&ended) {
        writeln!(out, "doorward: {}", visible(&said))?;
    }
    Ok(ExitCode::from(code))
}

fn probe(dirs: &Dirs, json: bool) -> Result<ExitCode> {
    let found = contained::cell(dirs).probe();
    let (is_there, said) = match &found {
        Ok(abilities) => (true, abilities.sentence()),
        Err(missing) => (false, missing.sentence()),
    };
    let mut out = anstream::stdout().lock();
    if json {
        writeln!(out, "{}", json!({ "box": is_there, "because": said }))?;
    } else {
        writeln!(out, "{}: {said}", if is_there { "commands can run in a box here" } else { "no box here" })?;
    }
    Ok(ExitCode::from(u8::from(!is_there)))
}

/// A command that ran and counts keeps its own exit code.
fn code(ended: &Ended) -> u8 {
    match ended {
        Ended::Committed { status, .. } => u8::try_from(*status).unwrap_or(u8::MAX),
        Ended::Held { .. } => HELD,
        Ended::Interrupted => INTERRUPTED,
        Ended::Discarded { .. } | Ended::Refused { .. } => REFUSED,
    }
}

/// What to tell whoever ran it; nothing where nothing is different from running it plainly.
fn said(ended: &Ended) -> Option<String> {
    match ended {
        Ended::Committed { changes: 0, .. } => None,
        Ended::Committed { changes, undo: Some(id), .. } => {
            Some(format!("{} kept; `doorward undo {id}` takes back what it replaced", counted(*changes)))
        }
        Ended::Committed { .. } => None,
        Ended::Held { id, because, changes, .. } => Some(format!(
            "it ran in a box, and what it changed is not in place yet ({}), because {because}. A person can look at it with \
            `doorward pending {id}` and keep it with `doorward approve {id}`",
            counted(*changes)
        )),
        Ended::Interrupted => Some("it was interrupted, and nothing of what it did was kept".to_owned()),
        Ended::Discarded { because, .. } => {
            Some(format!("it ran in a box, and nothing of what it did was kept, because {because}"))
        }
        Ended::Refused { because } => Some(format!("not run: {}", because.join("; "))),
    }
}

fn counted(changes: usize) -> String {
    if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") }
}

fn to_json(ended: &Ended) -> Value {
    match ended {
        Ended::Committed { status, changes, left, undo } => {
            json!({ "ended": "committed", "exit": status, "changes": changes, "left": left, "undo": undo })
        }
        Ended::Held { status, id, because, changes } => {
            json!({ "ended": "held", "exit": status, "id": id, "because": because, "changes": changes })
        }
        Ended::Interrupted => json!({ "ended": "interrupted" }),
        Ended::Discarded { status, because } => json!({ "ended": "discarded", "exit": status, "because": because }),
        Ended::Refused { because } => json!({ "ended": "refused", "because": because }),
    }
}
