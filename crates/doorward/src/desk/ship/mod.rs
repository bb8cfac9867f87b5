//! `doorward ship`: sends the record to the team's hub, once or watching, and enrols this machine there.

mod enrol;
mod send;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::machine::paths::Dirs;
use crate::machine::team::{self, Membership};
use crate::machine::{atomic_file, visible};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ShipArguments {
    /// Keep going: send what is new, again and again
    #[arg(long)]
    watch: bool,
    /// How many seconds to wait between two looks with --watch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make this machine known to a hub, with a token for one use (not for agents)
    Enrol(EnrolArguments),
    /// Show where the record is sent, and how much of it has arrived
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop sending; what was sent stays at the hub (not for agents)
    Leave,
}

#[derive(Debug, Args)]
struct EnrolArguments {
    /// Where the hub is: `https://hub.example.com`
    url: String,
    /// What `doorward-hub token` printed
    token: String,
    /// What the team calls this machine; default: its host name
    #[arg(long)]
    name: Option<String>,
    /// A file with the certificates to trust instead of the public ones
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Don't ask, for your own scripts
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(arguments: &ShipArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    match &arguments.action {
        Some(Action::Enrol(arguments)) => enrol::enrol(&dirs, arguments),
        Some(Action::Status { json }) => status(&dirs, *json),
        Some(Action::Leave) => leave(&dirs),
        None if arguments.watch => send::watch(&dirs, Duration::from_secs(arguments.every)),
        None => send::once(&dirs, arguments.json),
    }
}

/// The enrolment of this machine, or how to get one.
fn membership(dirs: &Dirs) -> Result<Membership> {
    let nothing = "this machine is not enrolled with a hub: `doorward ship enrol URL TOKEN`";
    Membership::load(dirs)?.context(nothing)
}

fn status(dirs: &Dirs, as_json: bool) -> Result<ExitCode> {
    let Some(membership) = Membership::load(dirs)? else {
        let mut out = anstream::stdout();
        match as_json {
            true => writeln!(out, "{}", json!({"enrolled": false}))?,
            false => writeln!(out, "Not enrolled: the record stays on this machine. `doorward ship enrol URL TOKEN`")?,
        }
        return Ok(ExitCode::SUCCESS);
    };
    let standing = send::standing(dirs, &membership);
    let mut out = anstream::stdout().lock();
    let (url, edge, team) = (&membership.url, &membership.edge, &membership.team);
    match (as_json, standing) {
        (true, Ok((held, here))) => {
            writeln!(
                out,
                "{}",
                json!({"enrolled": true, "url": url, "edge": edge, "team": team, "held": held, "here": here})
            )?;
        }
        (true, Err(error)) => {
            let error = format!("{error:#}");
            writeln!(out, "{}", json!({"enrolled": true, "url": url, "edge": edge, "team": team, "error": error}))?;
        }
        (false, Ok((held, here))) => {
            writeln!(out, "Enrolled with `{}` at {} as edge {edge}.", visible(team), visible(url))?;
            writeln!(out, "{held} of {here} records have arrived there.")?;
        }
        (false, Err(error)) => {
            writeln!(out, "Enrolled with `{}` at {} as edge {edge}.", visible(team), visible(url))?;
            writeln!(out, "How much has arrived is unknown: {}", visible(&format!("{error:#}")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn leave(dirs: &Dirs) -> Result<ExitCode> {
    crate::desk::person::required()?;
    let membership = membership(dirs)?;
    let question = format!("Stop sending the record to {}?", membership.url);
    if !crate::desk::person::agrees(&question)? {
        writeln!(anstream::stdout(), "Nothing changed.")?;
        return Ok(ExitCode::FAILURE);
    }
    atomic_file::remove(&team::file(dirs))?;
    atomic_file::remove(&team::key_file(dirs))?;
    writeln!(anstream::stdout(), "This machine sends nothing more. What was sent stays at the hub.")?;
    Ok(ExitCode::SUCCESS)
}
