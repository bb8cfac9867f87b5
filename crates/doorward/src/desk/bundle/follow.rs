//! Following a team's policy: whom to trust is a person's word, everything after it is signatures.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_ledger::{AlertKind, PolicyBody};

use super::read;
use super::source::{Stopped, next};
use crate::desk::person;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::{user, visible};
use crate::memory::alerts;
use crate::policy::team_policy::{self, Followed, NotFollowed, TeamPolicy};

/// The source can't be reached now: the exit code that `sysexits` gives to failures that may pass.
const TEMPORARY: u8 = 75;
/// More versions than a machine can have missed; a source that always has one more must end too.
const STEPS: usize = 1000;

pub(super) fn trust(dirs: &Dirs, bundle: &Path, (from, yes): (&str, bool)) -> Result<ExitCode> {
    match yes {
        true => person::no_agent()?,
        false => person::required()?,
    }
    let root = read(bundle)?.manifest.root;
    if from != "hub" && !from.starts_with('/') && !from.starts_with("https://") {
        bail!("`{from}` is no place for bundles: `hub`, an absolute directory, or an `https://` address");
    }
    let mut out = anstream::stdout();
    writeln!(
        out,
        "Bundles of this team count if {} of these {} keys signed them:",
        root.threshold,
        root.signers.len()
    )?;
    for signer in &root.signers {
        writeln!(out, "  {signer}")?;
    }
    let question = "Let them decide the policy of this machine? Compare the keys with what your colleagues told you";
    if !yes && !person::agrees(question)? {
        writeln!(out, "Nothing changed.")?;
        return Ok(ExitCode::FAILURE);
    }
    note(dirs, &format!("the policy of a team is followed, from {from}"), None)?;
    TeamPolicy::new(root, from).save(dirs).map_err(anyhow::Error::msg)?;
    fetch(dirs)
}

pub(super) fn leave(dirs: &Dirs) -> Result<ExitCode> {
    person::required()?;
    if !person::agrees("Stop following the team's policy? Your own configuration counts from then on.")? {
        writeln!(anstream::stdout(), "Nothing changed.")?;
        return Ok(ExitCode::FAILURE);
    }
    note(dirs, "the team's policy is not followed any more", None)?;
    team_policy::forget(dirs)?;
    writeln!(anstream::stdout(), "Your own configuration counts from now on.")?;
    Ok(ExitCode::SUCCESS)
}

/// On record before it counts.
fn note(dirs: &Dirs, what: &str, after: Option<String>) -> Result<()> {
    let body = PolicyBody { what: what.to_owned(), before: None, after, user: user(), project: None };
    Ledger::open(dirs).append(LogEntry::new(&body)?).map(|_receipt| ())
}

pub(super) fn fetch(dirs: &Dirs) -> Result<ExitCode> {
    let policy = TeamPolicy::load(dirs).map_err(anyhow::Error::msg)?;
    let mut policy = policy.context("this machine follows no team's policy: `doorward bundle trust FILE`")?;
    let mut out = anstream::stdout();
    let outcome = update(dirs, &mut policy, |line| {
        // If standard output is gone, the policy counts all the same.
        let _ = writeln!(anstream::stdout(), "{line}");
    })?;
    match outcome {
        Ok(()) => {
            match policy.in_force.as_ref().map(|in_force| in_force.version) {
                Some(version) => writeln!(out, "Version {version} counts.")?,
                None => writeln!(out, "No bundle has arrived yet: doorward stays strict until one does.")?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Stopped::Away(why)) => {
            writeln!(anstream::stderr(), "doorward: {}; the last good policy stays", visible(&why))?;
            Ok(ExitCode::from(TEMPORARY))
        }
        Err(Stopped::Refused(why)) => bail!("{why}; the last good policy stays"),
    }
}

/// What a watching edge does in passing. Refusals are alerts, so nobody has to read along.
pub(crate) fn fetch_if_followed(dirs: &Dirs) {
    if let Ok(Some(mut policy)) = TeamPolicy::load(dirs) {
        let _outcome = update(dirs, &mut policy, |_line| {});
    }
}

/// Walks the chain of bundles to its end, and keeps what is good of it.
fn update(dirs: &Dirs, policy: &mut TeamPolicy, mut told: impl FnMut(String)) -> Result<Result<(), Stopped>> {
    let drawn = team_policy::drawn(dirs).map_err(anyhow::Error::msg)?;
    let mut outcome = Ok(());
    for _ in 0..STEPS {
        match step(dirs, policy, drawn)? {
            Ok(Some(line)) => told(line),
            Ok(None) => break,
            Err(stopped) => {
                outcome = Err(stopped);
                break;
            }
        }
    }
    // A clock that is set back later makes nothing valid again.
    policy.known.seen_ms = policy.known.seen_ms.max(now_ms());
    policy.save(dirs).map_err(anyhow::Error::msg)?;
    let refused = match &outcome {
        Err(Stopped::Refused(why)) => Some(why.clone()),
        Err(Stopped::Away(_)) | Ok(()) => None,
    };
    if let Some(why) = refused.or_else(|| policy.contents(now_ms()).1) {
        alerts::raise_once(dirs, (AlertKind::Bundle, "the team's policy"), &why);
    }
    Ok(outcome)
}

/// Follows the next bundle, if there is one; what became of it.
fn step(dirs: &Dirs, policy: &mut TeamPolicy, drawn: u64) -> Result<Result<Option<String>, Stopped>> {
    let bundle = match next(dirs, policy) {
        Ok(Some(bundle)) => bundle,
        Ok(None) => return Ok(Ok(None)),
        Err(stopped) => return Ok(Err(stopped)),
    };
    let (version, share) = (bundle.manifest.version, bundle.manifest.share);
    let mut candidate = policy.clone();
    let line = match candidate.follow(&bundle, (now_ms(), drawn)) {
        Ok(Followed::Known) => return Ok(Ok(None)),
        Ok(Followed::InForce(version)) => {
            note(dirs, &format!("version {version} of the team's policy"), Some(bundle.digest().to_string()))?;
            format!("Version {version} has arrived.")
        }
        Ok(Followed::OutsideShare(version)) => {
            format!("Version {version} is for {share} % of machines, and this is none of them.")
        }
        Err(NotFollowed::Refused(refused)) => return Ok(Err(Stopped::Refused(refused.to_string()))),
        Err(NotFollowed::Unreadable(problem)) => {
            let why = format!("version {version} is signed, but this doorward can't read it: {problem}");
            return Ok(Err(Stopped::Refused(why)));
        }
    };
    candidate.save(dirs).map_err(anyhow::Error::msg)?;
    *policy = candidate;
    Ok(Ok(Some(line)))
}
