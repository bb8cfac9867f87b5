//! Delivers alerts: a separate process evaluates all of them and delivers each one once.
//!
//! The hook starts that process after answering: when a session ends, when it recorded an alert, and at least every fifty
//! decisions. What could not be delivered is retried at the next check, as long as the alert is open.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use doorward_ledger::{Alert, AlertKind, AlertState};
use serde_json::json;

use super::note;
use super::send::{Channel, Notification};
use super::turn::{NotifierLock, Occasion};
use crate::desk::reconcile;
use crate::machine::clock;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::machine::visible;
use crate::memory::alerts;
use crate::memory::grants::store::GrantStore;
use crate::memory::ledger_view::LedgerView;
use crate::memory::notices::{Delivery, PushedAlerts};
use crate::policy::config::Notify;
use crate::policy::load;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How much of an alert a notification shows.
// Desktop notifications are cut by the desktop anyway, and what is cut by us ends at a word.
const SHOWN: usize = 200;

/// More alerts than anyone reads at once; the rest follows at the next check.
const AT_ONCE: usize = 20;

/// Between sessions, verifying the record takes at most one part in this many of the time.
// Verification time grows with the log; a share keeps the notifier from becoming the machine's main occupation.
const SHARE: u64 = 20;

/// A notifier that failed raises an alert, which another one may deliver.
const ROUNDS: [fn(Occasion) -> Occasion; 2] = [|occasion| occasion, |_| Occasion::Now];

/// Pause before checking an apparently broken record again.
// A reader can meet the log in the middle of an append. Damage is still there after a pause, an append is not.
const AGAIN: Duration = Duration::from_millis(300);

/// Lowest priority: everything else on the machine comes first.
// It runs after every few calls, next to the builds and tests of the same agent.
const NICE: i32 = 10;

/// The alerts that could not be delivered, one sentence per notifier.
pub(crate) fn undelivered(dirs: &Dirs) -> Vec<String> {
    let pushed = GrantStore::open_at(dirs).and_then(|store| store.pushed_alerts()).unwrap_or_default();
    let mut channels: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for (channel, why) in pushed.alerts.values().flat_map(|delivery| &delivery.failed) {
        let (count, last) = channels.entry(channel).or_default();
        (*count, *last) = (*count + 1, why);
    }
    let sentence = |(channel, (count, why)): (&str, (usize, &str))| {
        let alerts = if count == 1 { "1 alert".to_owned() } else { format!("{count} alerts") };
        format!("{alerts} could not be delivered by {channel}: {why}; doorward tries again when the next session ends")
    };
    channels.into_iter().map(sentence).collect()
}

/// `doorward notify --look`: evaluates every alert and delivers the new ones.
pub(super) fn run(dirs: &Dirs, occasion: Occasion) -> Result<ExitCode> {
    let notify = load::load(dirs, None, "").config.notify;
    if !notify.is_set() {
        return Ok(ExitCode::SUCCESS);
    }
    let _ = rustix::process::nice(NICE);
    let Some(_turn) = NotifierLock::take(dirs, occasion)? else { return Ok(ExitCode::SUCCESS) };
    // Retry failures at the next check, not right away: the alert may have arrived after all.
    let mut down = Vec::new();
    for round in ROUNDS {
        let _ = record::is_look_due();
        let standing = standing(dirs, round(occasion))?;
        deliver(dirs, &notify, &standing, &mut down)?;
        if !record::is_look_due() {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// All open alerts. State about closed ones is dropped.
fn standing(dirs: &Dirs, occasion: Occasion) -> Result<Vec<Alert>> {
    let store = GrantStore::open_at(dirs)?;
    let pushed = store.pushed_alerts()?;
    let pause = pushed.verifying_ms.saturating_mul(SHARE);
    let is_verified = occasion == Occasion::Ended || now_ms().abs_diff(pushed.verified_ms) >= pause;
    let started = Instant::now();
    let mut found: Vec<Alert> = Vec::new();
    if is_verified {
        // Unreadable transcripts are no evidence against the record.
        let _ = unguarded(dirs);
        found.extend(broken(dirs));
    }
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    // An unreadable record is reported above; the rest is still evaluated.
    let index = LedgerView::open(dirs.clone()).and_then(|view| view.index());
    if let Ok(standing) = index.and_then(|index| alerts::standing(&index, now_ms())) {
        found.extend(standing);
    }
    store.update_pushed(|pushed| {
        if is_verified {
            (pushed.verified_ms, pushed.verifying_ms) = (now_ms(), took);
        }
        pushed.forget(&found, is_verified);
    })?;
    Ok(found)
}

/// Whether the record is still broken on a second check: someone may have been writing to it.
fn broken(dirs: &Dirs) -> Option<Alert> {
    alerts::broken(dirs)?;
    std::thread::sleep(AGAIN);
    alerts::broken(dirs)
}

/// Compares the last day's transcripts with the record and records what ran without one.
fn unguarded(dirs: &Dirs) -> Result<()> {
    let view = LedgerView::open(dirs.clone())?;
    reconcile::find_unguarded(&view, now_ms().saturating_sub(DAY_MS)).map(|_found| ())
}

/// Delivers what is new and remembers how that went.
fn deliver(dirs: &Dirs, notify: &Notify, standing: &[Alert], down: &mut Vec<(Channel, String)>) -> Result<()> {
    let known = GrantStore::open_at(dirs)?.pushed_alerts()?;
    let due =
        standing.iter().map(|alert| (alert, known.due(alert, notify))).filter(|(_, channels)| !channels.is_empty());
    for (alert, channels) in due.take(AT_ONCE) {
        let notification = worded(alert);
        for channel in channels {
            // Don't wait again for a notifier that just failed.
            let outcome = match down.iter().find(|(failed, _)| *failed == channel) {
                Some((_, why)) => Err(why.clone()),
                None => channel.send(notify, &notification).inspect_err(|why| down.push((channel, why.clone()))),
            };
            GrantStore::open_at(dirs)?.update_pushed(|pushed| pushed.went(alert, channel, &outcome))?;
            note(dirs, channel, outcome)?;
        }
    }
    Ok(())
}

impl PushedAlerts {
    /// The notifiers that still have to deliver an alert: not those that already did, and not the one it is about.
    fn due(&self, alert: &Alert, notify: &Notify) -> Vec<Channel> {
        if alert.state == AlertState::Acknowledged {
            return Vec::new();
        }
        let delivery = self.alerts.get(&alert.id).filter(|delivery| !delivery.is_seen);
        let is_told = |channel: &Channel| {
            delivery.is_some_and(|delivery| delivery.told.iter().any(|told| told == channel.name()))
        };
        let is_about = |channel: &Channel| alert.kind == AlertKind::Notifier && alert.about == channel.name();
        Channel::configured(notify).into_iter().filter(|channel| !is_told(channel) && !is_about(channel)).collect()
    }

    fn went(&mut self, alert: &Alert, channel: Channel, outcome: &Result<(), String>) {
        let delivery = self.alerts.entry(alert.id.clone()).or_default();
        if delivery.is_seen {
            // It fired again after the user had seen it.
            *delivery = Delivery::default();
        }
        delivery.kind = alert.kind.word().to_owned();
        delivery.stood_ms = now_ms();
        match outcome {
            Ok(()) => {
                delivery.failed.remove(channel.name());
                delivery.told.push(channel.name().to_owned());
            }
            Err(why) => {
                delivery.failed.insert(channel.name().to_owned(), visible(why).into_owned());
            }
        }
    }

    /// Forgets closed alerts, so that they are delivered if they fire again. A rate hovering around its limit is one alert, not
    /// many; nothing is known about an unverified record.
    fn forget(&mut self, standing: &[Alert], is_verified: bool) {
        let now_ms = now_ms();
        for alert in standing {
            if let Some(delivery) = self.alerts.get_mut(&alert.id) {
                delivery.stood_ms = now_ms;
                delivery.is_seen |= alert.state == AlertState::Acknowledged;
            }
        }
        self.alerts.retain(|id, delivery| {
            let is_rate = [AlertKind::Drop, AlertKind::Overrides].iter().any(|kind| kind.word() == delivery.kind);
            let is_open = delivery.kind == AlertKind::Chain.word() && !is_verified;
            let is_recent = is_rate && now_ms.saturating_sub(delivery.stood_ms) < DAY_MS;
            is_open || is_recent || standing.iter().any(|alert| alert.id == *id)
        });
    }
}

/// The notification for an alert: what `doorward alerts` shows.
fn worded(alert: &Alert) -> Notification {
    let start = |text: &str| visible(text).replace('\n', " ").chars().take(SHOWN).collect::<String>();
    let (about, text) = (start(&alert.about), start(&alert.text));
    let kind = alert.kind.word();
    let answer = if alert.kind == AlertKind::Chain {
        "doorward audit verify".to_owned()
    } else {
        format!("doorward alerts · doorward alerts resolve {} --why TEXT", alert.id)
    };
    let json = json!({
        "event": "alert", "id": alert.id, "kind": kind, "about": about, "text": text,
        "time": clock::moment(alert.last_ms), "answer": answer,
    });
    Notification {
        title: format!("doorward alert: {kind}"),
        text: format!("{about}\n{text}\ndoorward alerts"),
        json: json.to_string(),
    }
}

#[cfg(test)]
#[path = "pushed_tests.rs"]
mod tests;
