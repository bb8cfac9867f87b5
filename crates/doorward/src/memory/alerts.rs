//! Alerts: the hook stores those that a call triggers (`raise`), all others are found in the record on demand.

use anyhow::Result;
use doorward_ledger::{Alert, AlertBody, AlertKind, Index};

use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::ledger_view::{LedgerView, verify};

/// Open alerts, as far as the index can tell: everything but a broken record.
pub(crate) fn standing(index: &Index, now_ms: u64) -> Result<Vec<Alert>> {
    Ok(index.standing(index.tripped(now_ms)?)?)
}

/// Stores the alerts that a call triggered. A failure here changes no verdict: the next evaluation finds them again.
pub(crate) fn raise(alerts: Vec<AlertBody>, ledger: &mut dyn Recorder) {
    for alert in alerts {
        let _ = LogEntry::new(&alert).and_then(|entry| ledger.append(entry));
    }
}

/// Stores an alert unless one about the same stands already: what is found again and again must not fill the log.
pub(crate) fn raise_once(dirs: &Dirs, (kind, about): (AlertKind, &str), text: &str) {
    let is_known = |alerts: Vec<Alert>| alerts.iter().any(|alert| alert.kind == kind && alert.about == about);
    let open = LedgerView::open(dirs.clone()).and_then(|view| standing(&view.index()?, clock::now_ms()));
    if !open.is_ok_and(is_known) {
        raise(vec![new_alert(kind, about, &format!("{about}: {text}"))], &mut Ledger::open(dirs));
    }
}

/// The entry of an alert that just fired.
pub(crate) fn new_alert(kind: AlertKind, about: &str, text: &str) -> AlertBody {
    let alert = Alert::new(kind, about, text.to_owned(), 0);
    AlertBody { name: kind.word().to_owned(), text: alert.text, id: Some(alert.id), ..AlertBody::default() }
}

/// Open alerts, including a broken record.
pub(crate) fn everything(view: &LedgerView) -> Result<Vec<Alert>> {
    let mut alerts: Vec<Alert> = broken(&view.dirs).into_iter().collect();
    alerts.extend(standing(&view.index()?, clock::now_ms())?);
    Ok(alerts)
}

/// A broken record can't be resolved by hand: it is listed as long as it is broken.
pub(crate) fn broken(dirs: &Dirs) -> Option<Alert> {
    let text = match verify(dirs) {
        Ok(verified) if verified.report.holds() => return None,
        Ok(verified) => {
            let first = verified.report.findings.first().map(|finding| finding.fault.to_string()).unwrap_or_default();
            format!("{first}; see `doorward audit verify`")
        }
        Err(error) => return Some(unusable(&error)),
    };
    Some(of_record(text))
}

/// The alert about an unreadable record.
pub(crate) fn unusable(error: &anyhow::Error) -> Alert {
    of_record(format!("the record can't be verified: {error:#}"))
}

fn of_record(text: String) -> Alert {
    Alert::new(AlertKind::Chain, "the record", text, clock::now_ms())
}
