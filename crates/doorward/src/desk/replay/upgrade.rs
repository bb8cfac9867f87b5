//! After an upgrade: the new build judges the last thirty days again, and anything laxer waits for the user.
//!
//! The accepted build is stored with its thresholds, which apply until the next one is accepted. The result is cached in a
//! file, so it is computed once.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use doorward_ledger::{PolicyBody, Progress};
use serde::{Deserialize, Serialize};

use super::compare::{Replayed, replay};
use super::{Policies, between};
use crate::desk::person;
use crate::machine::atomic_file;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::ledger_view::LedgerView;
use crate::policy::approved_config::{self, Accepted, BuiltInValues};
use crate::policy::load::Overrides;

/// How far back the record is judged.
// As far back as override rates look; older calls say little about what the new version would do tomorrow.
const SPAN_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// What an upgrade changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingUpgrade {
    /// The build that was accepted, by its version.
    pub from: String,
    /// The build that was compared.
    knowledge: String,
    pub judged: u64,
    pub laxer: u64,
    pub stricter: u64,
}

impl PendingUpgrade {
    pub(crate) fn sentence(&self) -> String {
        format!(
            "doorward was upgraded from version {}: {} of {} recorded decisions would get laxer, {} stricter",
            self.from, self.laxer, self.judged, self.stricter
        )
    }
}

/// What an upgrade changes that is not yet accepted. Computed once; an upgrade that loosens nothing is accepted automatically.
pub(crate) fn waiting(view: &LedgerView, progress: impl FnMut(Progress)) -> Result<Option<PendingUpgrade>> {
    let accepted = Accepted::load(&view.dirs).map_err(anyhow::Error::msg)?;
    let Some(from) = accepted.upgraded_from() else { return Ok(None) };
    let here = BuiltInValues::of_this_build();
    if let Some(found) = pending_upgrade(&view.dirs).filter(|found| found.knowledge == here.knowledge) {
        return Ok(Some(found));
    }
    let replayed = against_record(view, now_ms().saturating_sub(SPAN_MS), progress)?;
    let waiting = PendingUpgrade {
        from: from.program.clone(),
        knowledge: here.knowledge,
        judged: replayed.judged(),
        laxer: replayed.all.laxer,
        stricter: replayed.all.stricter,
    };
    if waiting.laxer == 0 && accepted.keeps_no_thresholds() {
        accept(&view.dirs, &waiting)?;
        return Ok(None);
    }
    atomic_file::replace(&file(&view.dirs), &serde_json::to_string(&waiting)?)?;
    Ok(Some(waiting))
}

/// The record, judged by this build.
pub(crate) fn against_record(view: &LedgerView, since_ms: u64, progress: impl FnMut(Progress)) -> Result<Replayed> {
    let here = Overrides::default();
    let policies: Policies<'_> = between(&view.dirs, &here, &here).against_record();
    replay(&view.log, since_ms, &policies, progress)
}

/// The user accepts the upgrade.
pub(crate) fn agreed(dirs: &Dirs, replayed: &Replayed) -> Result<()> {
    person::required()?;
    let accepted = Accepted::load(dirs).map_err(anyhow::Error::msg)?;
    let Some(from) = accepted.upgraded_from() else { bail!("there is no upgrade to accept") };
    let waiting = PendingUpgrade {
        from: from.program.clone(),
        knowledge: BuiltInValues::of_this_build().knowledge,
        judged: replayed.judged(),
        laxer: replayed.all.laxer,
        stricter: replayed.all.stricter,
    };
    if !person::agrees(&format!("{}. Accept the upgrade?", waiting.sentence()))? {
        bail!("nothing was changed");
    }
    accept(dirs, &waiting)
}

/// INVARIANT: the record is durable before anything is loosened.
fn accept(dirs: &Dirs, waiting: &PendingUpgrade) -> Result<()> {
    let body = PolicyBody {
        what: format!(
            "an upgrade counts: {} laxer, {} stricter of {}",
            waiting.laxer, waiting.stricter, waiting.judged
        ),
        before: Some(waiting.from.clone()),
        after: Some(env!("CARGO_PKG_VERSION").to_owned()),
        user: crate::machine::user(),
        project: None,
    };
    let _receipt =
        Ledger::open(dirs).append(LogEntry::new(&body)?).context("can't record the upgrade, so nothing was changed")?;
    approved_config::accept_build(dirs)?;
    atomic_file::remove(&file(dirs))
}

fn pending_upgrade(dirs: &Dirs) -> Option<PendingUpgrade> {
    let text = crate::machine::checked_read::read(&file(dirs)).ok()??;
    serde_json::from_str(&text).ok()
}

fn file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("upgrade.json")
}
