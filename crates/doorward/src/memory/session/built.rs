//! What a session builds: noted before a build runs, and looked at when its end is reported.

use std::fs::Metadata;

use doorward_engine::{Facts, Operation};
use doorward_ledger::States;

use super::Session;
use crate::memory::builds::Builds;

impl Session {
    /// Remembers what a build is to make; any other call that changes something may do so while one runs.
    pub(super) fn note_builds(&self, states: &States, id: &str, facts: &Facts) {
        let changes = facts.effects.iter().any(|effect| effect.operation != Operation::Read);
        let has_any = || states.find::<Builds>(&self.id).ok().flatten().is_some_and(|builds| builds.has_running());
        if facts.built.is_none() && !(changes && has_any()) {
            return;
        }
        let is_alone = !self.is_busy_beside(id);
        let note = |builds: &mut Builds| {
            builds.disturb(id);
            if let Some(built) = &facts.built {
                builds.begin(id, built.clone(), is_alone, self.now_ms);
            }
        };
        if states.update(&self.id, note).is_err() {
            // Forgetting what was built only leads to more questions.
            states.forget::<Builds>(&self.id);
        }
    }

    /// Notes that a call has ended which may have been a build.
    pub(crate) fn end_build(&self, id: &str, went_well: bool) {
        let Ok(states) = &self.states else { return };
        if matches!(states.find::<Builds>(&self.id), Ok(Some(builds)) if builds.has_running()) {
            let end = |builds: &mut Builds| builds.end(id, went_well, self.now_ms, states.key());
            if states.update(&self.id, end).is_err() {
                states.forget::<Builds>(&self.id);
            }
        }
    }

    /// Some build of this session has ended, and what it made may still be there.
    pub(crate) fn has_built(&self) -> bool {
        !self.builds().is_empty()
    }

    /// A build of this session made the file of the project, and it is as that build left it.
    pub(crate) fn built(&self, path: &str, found: &Metadata) -> bool {
        self.states.as_ref().is_ok_and(|states| self.builds().made(path, found, states.key()))
    }

    fn builds(&self) -> &Builds {
        let load = || {
            let found = self.states.as_ref().ok().and_then(|states| states.find::<Builds>(&self.id).ok());
            found.flatten().unwrap_or_default()
        };
        self.builds.get_or_init(load)
    }
}
