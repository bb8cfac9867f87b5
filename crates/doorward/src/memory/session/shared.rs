//! Whether the hooks of `doorward setup` were seen at work in a session that also has the plugin's, and for which calls.

use doorward_ledger::State;
use serde::{Deserialize, Serialize};

use super::Session;

/// More calls than a session makes while a decision counts as recent.
const SEEN: usize = 1_024;

/// Who answers in this session besides the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SharedSession {
    is_shared: bool,
    /// The calls that the plugin's hook was asked about.
    seen: Vec<String>,
}

impl State for SharedSession {
    const NAME: &'static str = "shared";
}

impl Session {
    /// The hooks of `setup` answer in this session. Unreadable state says no, so that both answer.
    pub(crate) fn is_shared(&self) -> bool {
        let found = self.states.as_ref().ok().and_then(|states| states.load::<SharedSession>(&self.id).ok());
        found.is_some_and(|state| state.is_shared)
    }

    /// Notes that they do.
    pub(crate) fn note_shared(&self) {
        if let (false, Ok(states)) = (self.is_shared(), &self.states) {
            // If this fails, events of the session are recorded twice.
            let _ = states.update(&self.id, |state: &mut SharedSession| state.is_shared = true);
        }
    }

    /// Notes a call that the plugin's hook is asked about; whether it is the first time. What can't be noted is not.
    pub(crate) fn is_first_sight(&self, id: &str) -> bool {
        let note = |state: &mut SharedSession| {
            let is_new = !state.seen.iter().any(|seen| seen == id);
            if is_new {
                let surplus = (state.seen.len() + 1).saturating_sub(SEEN);
                state.seen.drain(..surplus);
                state.seen.push(id.to_owned());
            }
            is_new
        };
        self.states.as_ref().is_ok_and(|states| states.update(&self.id, note).unwrap_or_default())
    }
}
