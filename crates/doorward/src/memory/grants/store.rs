//! The store of pending calls and grants: authenticated files below the state directory.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use doorward_engine::Clearance;
use doorward_ledger::{GrantBody, Grants, Log, StateKey, States, Trail};
use serde::{Deserialize, Serialize};

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::machine::user;
use crate::memory::grants::binding::Binding;
use crate::memory::grants::pending::{EarlierCall, Pending, Status, WAITS_MS};
use crate::memory::grants::repeat::SessionGrant;
use crate::memory::notices::{LastNotice, PushedAlerts};

/// How long a grant is valid.
// The agent retries within seconds. What is approved now must not run tonight, when the files mean something else.
pub(crate) const LASTS_MS: u64 = 10 * 60 * 1000;

/// Clocks are routinely set back by less than this.
// Time daemons step by milliseconds; without slack a fresh grant could be refused as coming from the future.
const CORRECTED_MS: u64 = 2_000;

/// More pending calls than a person and all their agents have in a day; the oldest are dropped.
// Every list reads all of them, and an agent in a loop makes one per attempt. Several agents at work overnight leave hundreds.
const PENDING: usize = 1_000;

/// Letters of an id: no vowels, so no words; no lookalikes.
// People read ids aloud and type them; a word in an id would be funny once and offensive later.
const LETTERS: &[u8; 24] = b"bcdfghjkmnpqrstvwxz34679";

/// The user's approval of one exact call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Grant {
    /// Drawn at random; its name in the record.
    pub grant: String,
    /// The pending call it answers.
    pub pending: String,
    pub bound: Binding,
    /// It clears nothing harder.
    pub clears: Clearance,
    pub stored_ms: u64,
    pub why: Option<String>,
}

impl Grant {
    pub(crate) fn is_current(&self, now_ms: u64) -> bool {
        // Setting the clock back ends it too, but not by the small amounts clocks are routinely corrected.
        now_ms.saturating_add(CORRECTED_MS) >= self.stored_ms && now_ms.saturating_sub(self.stored_ms) <= LASTS_MS
    }
}

/// All calls that are waiting for an answer or have one.
#[derive(Debug)]
pub(crate) struct GrantStore {
    pub grants: Grants,
    states: States,
    key: StateKey,
    log: PathBuf,
    pub now_ms: u64,
}

impl GrantStore {
    pub(crate) fn open_at(dirs: &Dirs) -> Result<GrantStore> {
        let state = dirs.state();
        let key = StateKey::load_or_create(&state.join("grants.key")).context("can't read grants")?;
        Ok(GrantStore {
            grants: Grants::at(&state.join("grants"), key.clone()),
            states: States::at(&state.join("pending"), key.clone()),
            key,
            log: record::directory(dirs),
            now_ms: now_ms(),
        })
    }

    /// Adds a call to be answered; returns its id, and whether it is new. The same call again keeps its id and what was typed
    /// about it.
    pub(crate) fn add(&self, mut pending: Pending) -> Result<(String, bool)> {
        let seed = self.key.code("pending id", &serde_json::to_vec(&(&pending.bound, &pending.session))?);
        let (mut id, mut is_new) = (String::new(), true);
        // Six letters are easy to type; longer ids only if two calls happen to share them.
        for length in [6, 10, 20] {
            id = seed.iter().take(length).map(|byte| letter(*byte)).collect();
            match self.states.find::<EarlierCall>(&id) {
                Ok(Some(known)) if known.bound == pending.bound => {
                    // An agent that repeats the call must not reset the first of two steps.
                    pending.first_step_ms = known.first_step_ms;
                    is_new = !known.is_open(self.now_ms);
                    pending.times = if is_new { 0 } else { known.times };
                    break;
                }
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        pending.id.clone_from(&id);
        pending.asked_ms = self.now_ms;
        pending.times = pending.times.saturating_add(1);
        self.states.replace(&id, &pending)?;
        if is_new {
            self.forget_old();
        }
        Ok((id, is_new))
    }

    /// The call with this id.
    pub(crate) fn pending(&self, id: &str) -> Result<Option<Pending>> {
        Ok(self.states.find(id)?)
    }

    /// All answerable calls whose session is not over, latest first.
    pub(crate) fn open_calls(&self) -> Vec<Pending> {
        self.select(|pending| pending.is_open(self.now_ms) && !pending.is_left)
    }

    /// The same, including those of sessions that are over.
    pub(crate) fn open_calls_with_ended(&self) -> Vec<Pending> {
        self.select(|pending| pending.is_open(self.now_ms))
    }

    /// Approved calls that the agent has not retried yet.
    pub(crate) fn approved(&self) -> Vec<Pending> {
        let is_good = |pending: &Pending| {
            let grant = self.grants.look::<Grant>(&pending.bound.call).ok().flatten();
            grant.is_some_and(|grant| grant.pending == pending.id && grant.is_current(self.now_ms))
        };
        self.select(|pending| pending.status == Status::Approved && !pending.is_left && is_good(pending))
    }

    fn select(&self, is_wanted: impl Fn(&Pending) -> bool) -> Vec<Pending> {
        let mut all = self.states.all::<Pending>();
        all.retain(is_wanted);
        all.sort_by(|a, b| (b.asked_ms, &b.id).cmp(&(a.asked_ms, &a.id)));
        all
    }

    /// A session is over: its calls are no longer listed.
    pub(crate) fn close_session(&self, session: &str) {
        for pending in self.select(|pending| pending.session == session && !pending.is_left) {
            // Anything still listed expires after a day.
            let _ = self.change(&pending.id, |pending| pending.is_left = true);
        }
    }

    /// Changes a pending call.
    pub(crate) fn change<R>(&self, id: &str, change: impl FnOnce(&mut Pending) -> R) -> Result<R> {
        Ok(self.states.update(id, change)?)
    }

    /// A call was answered in the agent's own prompt, or ran.
    pub(crate) fn mark_answered(&self, decision: &str) {
        for pending in self.states.all::<Pending>() {
            if pending.decision == decision && pending.status == Status::Open {
                // Anything still open expires after a day.
                let _ = self.change(&pending.id, |pending| pending.status = Status::Answered);
            }
        }
    }

    /// The grant of a session for a pattern.
    pub(crate) fn repeat(&self, name: &str) -> Option<SessionGrant> {
        self.states.find(name).ok().flatten()
    }

    pub(crate) fn repeats(&self) -> Vec<SessionGrant> {
        self.states.all()
    }

    pub(crate) fn forget_repeat(&self, name: &str) {
        self.states.forget::<SessionGrant>(name);
    }

    pub(crate) fn store_repeat(&self, name: &str, repeat: &SessionGrant) -> Result<()> {
        Ok(self.states.replace(name, repeat)?)
    }

    /// Counts one use of a session grant; `None` if it has none left, or was replaced.
    pub(crate) fn use_repeat(&self, name: &str, grant: &str) -> Option<SessionGrant> {
        let now_ms = self.now_ms;
        let used = self.states.update(name, |repeat: &mut SessionGrant| {
            let is_good = repeat.grant == grant && repeat.is_current(now_ms);
            // Counted under the state's lock, so two processes can't both take the last use.
            is_good.then(|| {
                repeat.uses += 1;
                repeat.clone()
            })
        });
        used.ok().flatten()
    }

    /// When the user was last notified of waiting calls.
    pub(crate) fn last_notice(&self) -> Result<LastNotice> {
        Ok(self.states.find("told").or_else(|_| self.reset_notice())?.unwrap_or_default())
    }

    /// Changes the notification state; damaged state starts over.
    pub(crate) fn update_notice<R>(&self, change: impl FnOnce(&mut LastNotice) -> R) -> Result<R> {
        if self.states.find::<LastNotice>("told").is_err() {
            self.states.forget::<LastNotice>("told");
        }
        Ok(self.states.update("told", change)?)
    }

    /// Which alerts were delivered; damaged state starts over, so that an alert is delivered twice rather than never.
    pub(crate) fn pushed_alerts(&self) -> Result<PushedAlerts> {
        if self.states.find::<PushedAlerts>("pushed").is_err() {
            self.states.forget::<PushedAlerts>("pushed");
        }
        Ok(self.states.find("pushed")?.unwrap_or_default())
    }

    /// Changes that state.
    pub(crate) fn update_pushed<R>(&self, change: impl FnOnce(&mut PushedAlerts) -> R) -> Result<R> {
        Ok(self.states.update("pushed", change)?)
    }

    fn reset_notice(&self) -> Result<Option<LastNotice>> {
        self.states.forget::<LastNotice>("told");
        Ok(None)
    }

    /// When this user overrode rule blocks since a point in time.
    pub(crate) fn hard_overrides(&self, since_ms: u64) -> Result<Vec<u64>> {
        let stored = Log::open(&self.log)?.grants_stored(since_ms)?;
        // Counted from the log: state files can be deleted, which would reset the limit.
        let is_hard = |body: &GrantBody| matches!(body.clears.as_deref(), Some("hard" | "dual"));
        let own = user();
        Ok(stored.into_iter().filter(|(_, body)| is_hard(body) && body.user == own).map(|(at, _)| at).collect())
    }

    /// What the record says about a grant.
    pub(crate) fn trail(&self, grant: &str) -> Result<Trail> {
        Ok(Log::open(&self.log)?.trail(grant)?)
    }

    fn forget_old(&self) {
        self.states.forget_old::<Pending>(PENDING, Duration::from_millis(WAITS_MS));
    }
}

fn letter(byte: u8) -> char {
    LETTERS.get(usize::from(byte) % LETTERS.len()).map_or('b', |letter| char::from(*letter))
}
