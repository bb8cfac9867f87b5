//! What a session did, summarized from the record.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use doorward_engine::{Facts, Operation, Target};
use doorward_ledger::{DecisionBody, Filter, Index, Kind, Row};
use doorward_vocabulary::SessionId;

use crate::machine::count::counted;
use crate::machine::paths::Dirs;
use crate::memory::decisions;
use crate::memory::ledger_view::LedgerView;
use crate::memory::snapshots;

/// What one session did.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Digest {
    pub session: SessionId,
    pub calls: u64,
    pub asked: u64,
    pub blocked: u64,
    /// Hosts that executed calls would contact.
    pub hosts: BTreeSet<String>,
    /// Files that executed calls would change, and whether `doorward undo` can restore each.
    pub files: BTreeMap<String, bool>,
}

/// What a session did, as far as the record knows.
pub(crate) fn of(view: &LedgerView, index: &Index, session: &str) -> Result<Digest> {
    let filter = Filter { session: Some(session.to_owned()), kind: Some(Kind::Decision), ..Filter::default() };
    let mut digest = Digest { session: session.into(), ..Digest::default() };
    let mut ran = BTreeSet::new();
    for row in index.list(&filter)? {
        digest.calls += 1;
        let verdict = row.verdict.as_deref().unwrap_or_default();
        digest.asked += u64::from(verdict == "confirm");
        digest.blocked += u64::from(verdict == "block");
        if verdict == "approve" || was_run(index, &row)? {
            ran.insert(row.sequence);
        }
    }
    digest.take(view, &ran)?;
    digest.look_at_copies(&view.dirs);
    Ok(digest)
}

/// The call was reported to have run. Asked for each call that was stopped: the record has the outcomes of all sessions.
fn was_run(index: &Index, row: &Row) -> Result<bool> {
    let Some(id) = &row.id else { return Ok(false) };
    let about = Filter { about: Some(id.clone()), kind: Some(Kind::Outcome), limit: Some(1), ..Filter::default() };
    Ok(!index.list(&about)?.is_empty())
}

impl Digest {
    /// What the decisions with these sequences would do, in one pass over the part of the record that holds them.
    fn take(&mut self, view: &LedgerView, sequences: &BTreeSet<u64>) -> Result<()> {
        let (Some(first), Some(last)) = (sequences.first(), sequences.last()) else { return Ok(()) };
        for record in view.log.records_from(*first)? {
            // `audit verify` says what is wrong with a part that can't be read.
            let Ok(record) = record else { continue };
            if record.header.sequence > *last {
                break;
            }
            let body = record.body.filter(|_| sequences.contains(&record.header.sequence));
            let body: Option<DecisionBody> = body.and_then(|body| serde_json::from_slice(&body).ok());
            self.add(body.and_then(|body| decisions::facts(&body)));
        }
        Ok(())
    }

    fn add(&mut self, facts: Option<Facts>) {
        for effect in facts.into_iter().flat_map(|facts| facts.effects) {
            let changes = matches!(effect.operation, Operation::Write | Operation::Delete | Operation::Mutate);
            match effect.target {
                Target::Host(host) => {
                    self.hosts.insert(host);
                }
                Target::Path(path) if changes => {
                    self.files.insert(path, false);
                }
                Target::Path(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => {}
            }
        }
    }

    /// Only snapshotted files count as undoable; git may have more, but that is not ours to promise.
    fn look_at_copies(&mut self, dirs: &Dirs) {
        if self.files.is_empty() {
            return;
        }
        let copied = snapshots::undoable(dirs, &self.session);
        for (file, can_be_undone) in &mut self.files {
            *can_be_undone = copied.iter().any(|copy| copy.starts_with(file));
        }
    }

    /// The summary in one line.
    pub(crate) fn line(&self) -> String {
        let undone = self.files.values().filter(|can| **can).count();
        format!(
            "doorward: {}, {} asked about, {} blocked; {} changed, `doorward undo` can restore {undone}; {}",
            counted(self.calls, "call"),
            self.asked,
            self.blocked,
            counted(self.files.len() as u64, "file"),
            counted(self.hosts.len() as u64, "host")
        )
    }
}
