//! Unused grants: their expiry is recorded too, at the next opportunity.

use doorward_engine::Clearance;
use doorward_ledger::{GrantBody, GrantStep};

use super::repeat;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::user;
use crate::memory::grants::store::{Grant, GrantStore, LASTS_MS};

/// Removes expired grants and records that. A failure here leaves a grant that is invalid anyway.
pub(crate) fn sweep(dirs: &Dirs) {
    if !dirs.state().join("grants").exists() && !dirs.state().join("pending").exists() {
        return;
    }
    if let Ok(store) = GrantStore::open_at(dirs) {
        expire(&store, &mut Ledger::open(dirs));
    }
}

pub(super) fn expire(store: &GrantStore, ledger: &mut dyn Recorder) {
    let is_old = |name: &String| match store.grants.look::<Grant>(name) {
        Ok(Some(grant)) => !grant.is_current(store.now_ms),
        Ok(None) | Err(_) => false,
    };
    for name in store.grants.names().into_iter().filter(is_old) {
        // If two processes sweep at once, only one gets it.
        if let Ok(Some(grant)) = store.grants.take::<Grant>(&name) {
            let body = GrantBody {
                step: GrantStep::Expired,
                grant: Some(grant.grant),
                of: grant.bound.call,
                decision: None,
                session: None,
                expires_ms: Some(grant.stored_ms.saturating_add(LASTS_MS)),
                user: user(),
                why: grant.why,
                clears: Some(grant.clears.to_string()),
            };
            let _ = LogEntry::new(&body).and_then(|entry| ledger.append(entry));
        }
    }
    for repeat in store.repeats().into_iter().filter(|repeat| repeat.is_over(store.now_ms)) {
        store.forget_repeat(&repeat.own_name());
        let body = GrantBody {
            step: GrantStep::Expired,
            grant: Some(repeat.grant),
            of: repeat.pattern.into(),
            decision: None,
            session: Some(repeat.session),
            expires_ms: Some(repeat.stored_ms.saturating_add(repeat::LASTS_MS)),
            user: user(),
            why: repeat.why,
            clears: Some(Clearance::Soft.to_string()),
        };
        let _ = LogEntry::new(&body).and_then(|entry| ledger.append(entry));
    }
}
