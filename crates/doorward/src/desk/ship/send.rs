//! Sending: from where the hub says it is to the end of the log, once or again and again.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use doorward_ledger::{AlertKind, CheckpointKey, Log};
use doorward_team::{Backoff, Head, Hub, ShipFailure, Shipped, ship};
use serde_json::json;

use super::membership;
use crate::desk::bundle;
use crate::machine::key::random;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::machine::team::Membership;
use crate::machine::visible;
use crate::memory::alerts;

/// The hub can't be reached now: the exit code that `sysexits` gives to failures that may pass.
const TEMPORARY: u8 = 75;

/// The log, its key and the hub.
struct Route {
    log: Log,
    key: CheckpointKey,
    hub: Hub,
}

impl Route {
    fn open(dirs: &Dirs, membership: &Membership) -> Result<Route> {
        let log =
            Log::open(&record::directory(dirs)).context("there is no log to send: `doorward setup` starts one")?;
        let key = CheckpointKey::load_or_create(&record::checkpoint_key(dirs)).context("can't use the log's key")?;
        Ok(Route { log, key, hub: membership.hub(dirs)? })
    }

    fn ship(&self, dirs: &Dirs, told: impl FnMut(Head)) -> Result<Shipped, ShipFailure> {
        let outcome = ship(&self.log, &self.key, &self.hub, told);
        if let Err(ShipFailure::Fork { sequence }) = &outcome {
            alarm(dirs, *sequence);
        }
        outcome
    }
}

/// Two histories are alarming on this side too.
fn alarm(dirs: &Dirs, sequence: u64) {
    let about = (AlertKind::Fork, &*format!("record {sequence}"));
    alerts::raise_once(dirs, about, "the hub holds another history of this log");
}

/// How many records have arrived, and how many there are.
pub(super) fn standing(dirs: &Dirs, membership: &Membership) -> Result<(u64, u64)> {
    let hub = membership.hub(dirs)?;
    let head: Head = serde_json::from_slice(&hub.get("/v1/edge")?)?;
    let log = Log::open(&record::directory(dirs))?;
    let last = log.records_from(head.sequence)?.filter_map(Result::ok).last();
    Ok((head.sequence, last.map_or(head.sequence, |record| record.header.sequence)))
}

pub(super) fn once(dirs: &Dirs, as_json: bool) -> Result<ExitCode> {
    let route = Route::open(dirs, &membership(dirs)?)?;
    let outcome = route.ship(dirs, |_head| {});
    let mut out = anstream::stdout().lock();
    match outcome {
        Ok(Shipped { records, head }) => {
            match as_json {
                true => writeln!(out, "{}", json!({"sent": records, "held": head.sequence}))?,
                false => writeln!(out, "{records} records sent; the hub holds all {}.", head.sequence)?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            let is_passing = failure.is_passing();
            if as_json {
                writeln!(out, "{}", json!({"error": failure.to_string(), "passing": is_passing}))?;
            }
            if is_passing {
                tell(&format!("{failure}; nothing is lost, the next run goes on from there"));
                return Ok(ExitCode::from(TEMPORARY));
            }
            Err(failure.into())
        }
    }
}

/// Sends until something is wrong that waiting does not mend.
pub(super) fn watch(dirs: &Dirs, every: Duration) -> Result<ExitCode> {
    let route = Route::open(dirs, &membership(dirs)?)?;
    let mut backoff = Backoff::default();
    let mut is_away = false;
    tell(&format!("sending the record to {}, every {} seconds", route.hub.url(), every.as_secs()));
    loop {
        bundle::fetch_if_followed(dirs);
        let wait = match route.ship(dirs, |_head| {}) {
            Ok(_) => {
                if std::mem::take(&mut is_away) {
                    tell("the hub is back; everything has arrived");
                }
                backoff.reset();
                every
            }
            Err(failure) if failure.is_passing() => {
                if !std::mem::replace(&mut is_away, true) {
                    tell(&format!("{failure}; nothing is lost, doorward keeps trying"));
                }
                backoff.next(chance())
            }
            Err(failure) => return Err(failure.into()),
        };
        std::thread::sleep(wait);
    }
}

fn chance() -> u64 {
    random().map_or(0, |bytes| u64::from_le_bytes(std::array::from_fn(|at| bytes.get(at).copied().unwrap_or_default())))
}

fn tell(text: &str) {
    // If standard error is gone, there is no one left to tell.
    let _ = writeln!(anstream::stderr(), "doorward: {}", visible(text));
}
