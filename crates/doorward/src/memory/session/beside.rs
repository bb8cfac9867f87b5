//! What calls of a session do beside one another, and what came into the project from elsewhere.

use anyhow::{Result, anyhow};
use doorward_engine::LeftRun;

use super::Session;
use crate::machine::paths::Places;
use crate::machine::world::{project_root, versions};
use crate::memory::arrivals::{self, Arrivals};
use crate::memory::in_flight::{Course, UnderWay};
use crate::policy::trust::Trust;

impl Session {
    /// What came into a project since it was trusted; `None` if nothing is kept.
    pub fn arrivals(&self, project: &str) -> Result<Option<Arrivals>> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        Ok(states.find(project)?)
    }

    /// Keeps what a call may bring into a project. Comes before the record, like all that a session notes.
    pub fn note_arrivals(&self, of: (&str, u64), places: &[String], before: &[(String, String)]) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        arrivals::note(states, of, places, before)
    }

    /// Keeps what judged edits left in files of a trusted project, unless they had come from elsewhere before.
    pub fn keep_edits(&self, places: &Places, paths: &[String]) -> Result<()> {
        let Some(project) = paths.first().and_then(|path| project_root(path)) else { return Ok(()) };
        let trust = Trust::load(places).map_err(|problem| anyhow!("{problem}"))?;
        let Some(pinned) = trust.projects.get(&project).filter(|pinned| pinned.head.is_some()) else { return Ok(()) };
        let known = self.arrivals(&project)?.unwrap_or_default();
        let own: Vec<String> = paths.iter().filter(|path| known.above(path).is_none()).cloned().collect();
        self.note_arrivals((&project, pinned.at), &[], &versions(&project, places.home(), &own))
    }

    /// Nothing has come into a project yet that a person just trusted.
    pub fn begin_arrivals(&self, project: &str, trusted: u64) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        Ok(states.replace(project, &Arrivals::since(trusted))?)
    }

    /// Lets a call begin beside the others of the session; yields a file in doubt if they come in each other's way.
    pub fn crosses(&self, call: Course) -> Option<String> {
        let states = self.states.as_ref().ok()?;
        let id = &self.id;
        states.update(id, |state: &mut UnderWay| state.begin(call, self.now_ms)).unwrap_or_else(|_| {
            // Nobody knows what is under way; the next call begins anew.
            states.forget::<UnderWay>(id);
            Some("a file of this session".to_owned())
        })
    }

    /// The file in doubt if a call began now; unlike `crosses`, nothing is noted.
    pub fn would_cross(&self, call: Course) -> Option<String> {
        match self.states.as_ref().ok()?.find::<UnderWay>(&self.id) {
            Ok(state) => state.unwrap_or_default().begin(call, self.now_ms),
            Err(_) => Some("a file of this session".to_owned()),
        }
    }

    /// Takes note of a call that may begin once a person has answered.
    pub fn may_begin(&self, call: Course) {
        if let Ok(states) = &self.states {
            // Should it fail, the next call that looks finds the state damaged and asks.
            let _ = states.update(&self.id, |state: &mut UnderWay| state.add(call, self.now_ms));
        }
    }

    /// What may still run that earlier calls left running. A state that cannot be read is dealt with by `crosses`.
    pub fn left(&self) -> Vec<LeftRun> {
        let found = self.states.as_ref().ok().and_then(|states| states.find::<UnderWay>(&self.id).ok().flatten());
        found.map(|state| state.left(self.now_ms)).unwrap_or_default()
    }

    /// Another call of the session may be at work; a state that cannot be read says so.
    pub fn is_busy(&self) -> bool {
        match &self.states {
            Ok(states) => match states.find::<UnderWay>(&self.id) {
                Ok(state) => state.is_some_and(|state| state.is_busy(self.now_ms)),
                Err(_) => true,
            },
            Err(_) => true,
        }
    }

    /// A call that a person was asked about will never run; without a name, none that is still asked about.
    pub fn withdraw(&self, id: Option<&str>) {
        if let Ok(states) = &self.states
            && matches!(states.find::<UnderWay>(&self.id), Ok(Some(_)))
        {
            // A call that stays under way only asks more, for a while.
            let _ = states.update(&self.id, |state: &mut UnderWay| match id {
                Some(id) => state.withdraw(id),
                None => state.withdraw_asked(),
            });
        }
    }

    /// Takes note of the end of a call; yields the files that it was to change, as far as they are watched.
    pub fn ended(&self, id: &str) -> Vec<String> {
        match &self.states {
            Ok(states) if matches!(states.find::<UnderWay>(&self.id), Ok(Some(_))) => {
                // A call that stays under way only asks more, for a while.
                states.update(&self.id, |state: &mut UnderWay| state.end(id)).unwrap_or_default()
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }
}
