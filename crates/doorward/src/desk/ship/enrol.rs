//! Enrolling this machine: a person's step, or a script of theirs.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_ledger::{CheckpointKey, PolicyBody, SigningKey};
use doorward_team::{Enrolment, Token, enrol as introduce};

use super::EnrolArguments;
use crate::desk::person;
use crate::machine::paths::Dirs;
use crate::machine::record::{self, Ledger, LogEntry, Recorder};
use crate::machine::team::{self, Membership};
use crate::machine::{user, user_name, visible};

pub(super) fn enrol(dirs: &Dirs, arguments: &EnrolArguments) -> Result<ExitCode> {
    match arguments.yes {
        true => person::no_agent()?,
        false => person::required()?,
    }
    if let Some(membership) = Membership::load(dirs)? {
        bail!("this machine is enrolled with {} already; `doorward ship leave` ends that", membership.url);
    }
    let token: Token = arguments.token.parse().map_err(anyhow::Error::msg)?;
    let transport = team::transport(&arguments.url, arguments.ca.as_deref())?;
    let question = format!(
        "Send the whole record of this machine (calls, projects, verdicts; secrets are replaced) to {}?",
        transport.url()
    );
    if !arguments.yes && !person::agrees(&question)? {
        writeln!(anstream::stdout(), "Nothing changed.")?;
        return Ok(ExitCode::FAILURE);
    }
    let key = SigningKey::load_or_create(&team::key_file(dirs)).context("can't make a key for this machine")?;
    let checkpoint = CheckpointKey::load_or_create(&record::checkpoint_key(dirs)).context("can't use the log's key")?;
    let name = arguments.name.clone().unwrap_or_else(host);
    let names = (name.as_str(), &*user_name().unwrap_or_default(), env!("CARGO_PKG_VERSION"));
    let enrolment = Enrolment::new(&token, (&key, &checkpoint), names).context("the token can't be used")?;
    let welcome = introduce(&transport, &token, &enrolment)?;
    let membership = Membership::new(transport.url(), arguments.ca.clone(), welcome);
    // On record before it counts: whoever reads the log sees since when it travels.
    let what = format!("records are sent to {} from now on", membership.url);
    let body = PolicyBody { what, before: None, after: Some(membership.edge.clone()), user: user(), project: None };
    let _receipt = Ledger::open(dirs).append(LogEntry::new(&body)?)?;
    membership.save(dirs)?;
    let mut out = anstream::stdout().lock();
    let (team, edge) = (visible(&membership.team), visible(&membership.edge));
    writeln!(out, "Enrolled with `{team}` as edge {edge}. Nothing is sent yet:")?;
    writeln!(out, "  doorward ship            sends the record once")?;
    writeln!(out, "  doorward ship --watch    keeps sending what is new")?;
    Ok(ExitCode::SUCCESS)
}

/// The name of this machine.
fn host() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}
