//! What can be wrong with doorward itself: its configuration, its record, and overdue reviews and alerts.

use std::os::unix::fs::PermissionsExt;

use anyhow::Result;
use doorward_ledger::{AlertKind, Index, Log, LogError};

use super::{Checkup, Defect, exposed};
use crate::desk::notify;
use crate::desk::reconcile;
use crate::desk::replay::upgrade;
use crate::desk::screen;
use crate::desk::status::overdue_tickets;
use crate::machine::clock;
use crate::machine::private_state;
use crate::machine::record;
use crate::memory::alerts;
use crate::memory::ledger_view::{LedgerView, verify};
use crate::policy::client_rules;

/// How far back transcripts are read.
// Long enough to catch a hook that was off over a weekend, short enough for the doctor to stay quick.
const WEEK_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// The key that signs the record can be read by others.
const KEY: &str = "key-exposed";

pub(super) fn defects(patient: &Checkup<'_>) -> Vec<Defect> {
    let mut found = configuration(patient);
    found.extend(state(patient));
    match Log::open(&record::directory(patient.dirs)) {
        // No agent is set up, so nothing is missing.
        Err(LogError::Missing { .. }) if patient.agents().is_empty() => {}
        Err(LogError::Missing { .. }) => found.push(Defect::new(
            "record-missing",
            None,
            "there is no record, so doorward can't approve anything".to_owned(),
            "run `doorward setup` to start one",
        )),
        Err(error) => found.push(unusable(&error.to_string())),
        Ok(_) => match record_defects(patient) {
            Ok(defects) => found.extend(defects),
            // A key that others can read is not used; that is reported separately.
            Err(_) if found.iter().any(|defect| defect.kind == KEY) => {}
            Err(error) => found.push(unusable(&format!("{error:#}"))),
        },
    }
    found
}

fn unusable(problem: &str) -> Defect {
    let what = format!("the record is unusable: {problem}");
    Defect::new("record-unusable", None, what, "run `doorward audit verify` for details")
}

fn configuration(patient: &Checkup<'_>) -> Vec<Defect> {
    let loaded = &patient.loaded;
    let problem = |what: &String| {
        Defect::new(
            "configuration",
            None,
            what.clone(),
            "until you fix it, doorward is strict and asks about every call",
        )
    };
    let waiting = |what: String| {
        let what = format!("the configuration loosens something you have not accepted: {what}");
        Defect::new("configuration-unaccepted", None, what, "accept it with `doorward reload`, or remove it")
    };
    let mut found: Vec<Defect> = loaded.problems.iter().map(problem).collect();
    found.extend(loaded.unaccepted_sentences().into_iter().map(waiting));
    let agents = loaded.config.agents.keys().map(String::as_str);
    let faults = client_rules::faults(agents, patient.dirs.home(), patient.project().as_deref());
    // Unreadable settings are already reported as a problem of the agent.
    let faults = faults.into_iter().filter(|fault| !fault.is_of_settings);
    found.extend(faults.map(|fault| Defect::new("client-rules", None, fault.text, "fix that file")));
    found
}

/// The files of the record and the keys that sign it.
fn state(patient: &Checkup<'_>) -> Vec<Defect> {
    let dirs = patient.dirs;
    let mut found = Vec::new();
    for path in [dirs.state(), record::directory(dirs)] {
        if let Some(problem) = exposed(&path) {
            let what = format!("`{}` {problem}", path.display());
            found.push(Defect::new("state-exposed", None, what, "chmod 700 it"));
        }
    }
    if let (true, Err(problem)) = (found.is_empty(), private_state::check(dirs)) {
        found.push(Defect::new("state-exposed", None, problem.to_string(), "until you fix it, every call is blocked"));
    }
    let key = record::checkpoint_key(dirs);
    let is_read = key.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
    if is_read {
        let what = format!("other users can read `{}` and could sign a forged record", key.display());
        found.push(Defect::new(KEY, None, what, "chmod 600 it"));
    }
    found
}

fn record_defects(patient: &Checkup<'_>) -> Result<Vec<Defect>> {
    let mut found = Vec::new();
    let verified = verify(patient.dirs)?;
    if let Some(first) = verified.report.findings.first() {
        let what = format!("the record is broken: {}", first.fault);
        found.push(Defect::new("record-broken", None, what, "run `doorward audit verify` to see where"));
    }
    let view = LedgerView::open(patient.dirs.clone())?;
    let index = view.index()?;
    found.extend(waiting(patient, &index)?);
    if let Some(waiting) = upgrade::waiting(&view, screen::bar())? {
        let instead = "`doorward replay --upgrade` lists the changes, `--accept` accepts them; until then the old thresholds apply";
        found.push(Defect::new("upgrade-unaccepted", None, waiting.sentence(), instead));
    }
    Ok(found)
}

/// What is waiting for the user.
fn waiting(patient: &Checkup<'_>, index: &Index) -> Result<Vec<Defect>> {
    let mut found = Vec::new();
    for ticket in overdue_tickets(index)? {
        let what = format!("you overrode `{}` {} times in a week", ticket.pattern, ticket.overrides);
        found.push(Defect::new("review-overdue", None, what, "run `doorward tickets`"));
    }
    let now_ms = clock::now_ms();
    for review in crate::desk::tune::overdue(index, now_ms)? {
        let instead = "without reviews the policy drifts; a proposal changes nothing until you accept it";
        found.push(Defect::new("review-overdue", None, review.sentence(), instead));
    }
    for what in notify::undelivered(patient.dirs) {
        found.push(Defect::new("alert-undelivered", None, what, "check `[notify]` in the configuration"));
    }
    let unguarded = reconcile::unguarded(patient.dirs, index, now_ms.saturating_sub(WEEK_MS))?;
    for one in &unguarded {
        let instead = "find out why the hook did not run; `doorward reconcile` records it";
        found.push(Defect::new("unguarded", one.call.agent, one.sentence(), instead));
    }
    for alert in alerts::standing(index, now_ms)? {
        // These two are reported above.
        if alert.kind != AlertKind::Unguarded {
            let what = format!("{}: {}", alert.kind.word(), alert.text);
            found.push(Defect::new("alert", None, what, "run `doorward alerts`"));
        }
    }
    Ok(found)
}
