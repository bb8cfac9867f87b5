//! Whether the hooks of `doorward setup` were seen at work in a session that also has the plugin's.

use doorward_ledger::State;
use serde::{Deserialize, Serialize};

use super::Session;

/// Who answers in this session besides the plugin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SharedSession {
    is_shared: bool,
}

impl State for SharedSession {
    const NAME: &'static str = "shared";
}

impl Session {
    /// The hooks of `setup` answer in this session. Unreadable state says no, so that both answer.
    pub(crate) fn is_shared(&self) -> bool {
        self.states
            .as_ref()
            .ok()
            .and_then(|states| states.load::<SharedSession>(&self.id).ok())
            .unwrap_or_default()
            .is_shared
    }

    /// Notes that they do.
    pub(crate) fn note_shared(&self) {
        if let (false, Ok(states)) = (self.is_shared(), &self.states) {
            // If this fails, events of the session are recorded twice.
            let _ = states.replace(&self.id, &SharedSession { is_shared: true });
        }
    }
}
