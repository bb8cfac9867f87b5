//! Runs that wait for a person: a yes commits exactly what was shown, a no discards it.

use anyhow::{Result, bail};
use doorward_cell::{Deed, DeedKind, Deeds, Kind, Run, Stamp};
use doorward_engine::redact;
use doorward_ledger::{Became, OutcomeBody};

use super::cell;
use super::deeds::treatment;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::machine::world::project_root;
use crate::memory::grants::binding::{Binding, GrantSubject};
use crate::memory::grants::pending::{FileEdit, Pending};
use crate::memory::grants::store::GrantStore;
use crate::memory::world::disk::DiskWorld;
use crate::policy::load;

/// Text of one file that is shown.
const SHOWN: usize = 64 << 10;

/// More deeds can't be looked at by a person.
const DEEDS: usize = 2_000;

/// Finishes or takes back commits that were interrupted.
pub(super) fn recover(dirs: &Dirs) -> Result<()> {
    let state = dirs.state().join("runs");
    if !state.exists() {
        return Ok(());
    }
    let recovered = doorward_cell::recover(&state)?;
    match recovered.stuck.first() {
        Some((path, why)) => bail!("an interrupted run can't be finished: `{}`: {why}", path.display()),
        None => Ok(()),
    }
}

/// Adds the run to the queue; `None` if a person could not see all of it.
pub(super) fn hold(
    dirs: &Dirs,
    subject: GrantSubject<'_>,
    (decision, key): (&str, [u8; 16]),
    (run, mut deeds): (Run, Deeds),
) -> Result<Option<String>> {
    let changes = changes(&deeds, &key);
    let pending = Binding::of(subject).and_then(|bound| Pending::new(subject, bound, decision, &key));
    let (Some(pending), true) = (pending, is_shown(&deeds)) else {
        run.discard()?;
        return Ok(None);
    };
    let held = run.hold(&mut deeds)?;
    let (id, _) = GrantStore::open_at(dirs)?.add(Pending { changes, held: Some(held), ..pending })?;
    Ok(Some(id))
}

/// A person can see all of it.
pub(super) fn is_shown(deeds: &Deeds) -> bool {
    let is_short = |deed: &Deed| deed.after.is_none_or(|after| after.size <= SHOWN as u64);
    deeds.list().len() <= DEEDS && deeds.list().iter().all(is_short)
}

/// Every deed, deletions included, with its text before and after.
pub(super) fn changes(deeds: &Deeds, key: &[u8; 16]) -> Vec<FileEdit> {
    let text = |bytes: Option<Vec<u8>>| {
        let text = bytes.map(|bytes| String::from_utf8(bytes).unwrap_or_else(|_| "(not text)".to_owned()));
        redact(&text.unwrap_or_default(), key).into_owned()
    };
    let one = |deed: &Deed| FileEdit {
        path: deed.path.to_string_lossy().into_owned(),
        what: format!("{}{}", what(&deed.kind), runnable(deed)),
        old: text(deeds.content_before(deed, SHOWN)),
        new: text(deeds.content_after(deed, SHOWN)),
    };
    deeds.list().iter().map(one).collect()
}

/// That a file may be run now is not seen in its text.
fn runnable(deed: &Deed) -> &'static str {
    const RUN: u32 = 0o111;
    let may_run = |stamp: Option<Stamp>| stamp.is_some_and(|stamp| stamp.kind == Kind::File && stamp.mode & RUN != 0);
    if may_run(deed.after) && !may_run(deed.before) { " (executable now)" } else { "" }
}

fn what(kind: &DeedKind) -> String {
    match kind {
        DeedKind::Created => "creates".to_owned(),
        DeedKind::Changed => "changes".to_owned(),
        DeedKind::Renamed { from } => format!("renames {} to", from.display()),
        DeedKind::Deleted { .. } => "deletes".to_owned(),
        DeedKind::Mode => "changes the permissions of".to_owned(),
        DeedKind::Attributes => "changes attributes of".to_owned(),
        DeedKind::Symlink { target } => format!("links to {} from", target.display()),
        DeedKind::HardLink { to } => format!("gives {} a second name", to.display()),
        DeedKind::MadeDirectory => "makes the directory".to_owned(),
        DeedKind::ReplacedDirectory => "replaces the directory".to_owned(),
        DeedKind::RemovedDirectory => "removes the directory".to_owned(),
        DeedKind::Special => "makes a special file".to_owned(),
    }
}

/// Puts a held run in place after a person's yes.
pub(crate) fn commit_held(dirs: &Dirs, pending: &Pending, ledger: &mut dyn Recorder) -> Result<usize> {
    let (run, deeds) = find(dirs, pending)?;
    let project = project_root(&pending.cwd);
    let loaded = load::load(dirs, project.as_deref(), "");
    let world = DiskWorld::new(dirs, &pending.cwd, project, &loaded);
    let committed = run.commit(&deeds, &treatment(&deeds, &world));
    let became = if committed.is_ok() { Became::Ran } else { Became::Failed };
    let _receipt = ledger.append(LogEntry::new(&OutcomeBody::new(pending.decision.clone(), became, None))?)?;
    match committed {
        Ok(done) => Ok(done.placed + done.removed),
        Err(refused) => bail!("{refused}; nothing was changed. ask the agent to run it again"),
    }
}

/// Throws a held run away after a person's no.
pub(crate) fn discard_held(dirs: &Dirs, pending: &Pending) -> Result<()> {
    find(dirs, pending)?.0.discard()?;
    Ok(())
}

fn find(dirs: &Dirs, pending: &Pending) -> Result<(Run, Deeds)> {
    let held = pending.held.as_deref().and_then(|held| cell(dirs).held(held));
    held.ok_or_else(|| anyhow::anyhow!("what the run did is not there any more; ask the agent to run it again"))
}
