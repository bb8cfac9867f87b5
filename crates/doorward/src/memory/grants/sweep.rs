//! Unused grants: their expiry is recorded too, at the next opportunity.

use doorward_engine::Clearance;
use doorward_ledger::{GrantBody, GrantStep};

use super::repeat;
use crate::machine::paths::Dirs;
use crate::machine::record::{Entry, Ledger, Recorder};
use crate::machine::user;
use crate::memory::grants::store::{Desk, Grant, LASTS_MS};

/// Removes expired grants and records that. A failure here leaves a grant that is invalid anyway.
pub(crate) fn sweep(dirs: &Dirs) {
    if !dirs.state().join("grants").exists() && !dirs.state().join("pending").exists() {
        return;
    }
    if let Ok(desk) = Desk::of(dirs) {
        expire(&desk, &mut Ledger::of(dirs));
    }
}

pub(super) fn expire(desk: &Desk, ledger: &mut dyn Recorder) {
    let is_old = |name: &String| match desk.grants.look::<Grant>(name) {
        Ok(Some(grant)) => !grant.is_current(desk.now_ms),
        Ok(None) | Err(_) => false,
    };
    for name in desk.grants.names().into_iter().filter(is_old) {
        // If two processes sweep at once, only one gets it.
        if let Ok(Some(grant)) = desk.grants.take::<Grant>(&name) {
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
            let _ = Entry::new(&body).and_then(|entry| ledger.append(entry));
        }
    }
    for repeat in desk.repeats().into_iter().filter(|repeat| repeat.is_over(desk.now_ms)) {
        desk.forget_repeat(&repeat.own_name());
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
        let _ = Entry::new(&body).and_then(|entry| ledger.append(entry));
    }
}
