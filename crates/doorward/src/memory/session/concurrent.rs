//! Concurrent calls of a session, and what came into the project from elsewhere.

use anyhow::{Result, anyhow};
use doorward_engine::LeftRun;

use super::Session;
use crate::machine::paths::Dirs;
use crate::machine::world::{FileVersion, project_root, versions};
use crate::memory::arrivals::{self, Arrivals};
use crate::memory::in_flight::{Footprint, InFlight};
use crate::policy::trust::Trust;

impl Session {
    /// What came into a project since it was trusted; `None` if nothing is stored.
    pub(crate) fn arrivals(&self, project: &str) -> Result<Option<Arrivals>> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        Ok(states.find(project)?)
    }

    /// Stores what a call may bring into a project. This comes before the record, like everything a session notes.
    pub(crate) fn note_arrivals(&self, of: (&str, u64), places: &[String], before: &[FileVersion]) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        arrivals::note(states, of, places, before)
    }

    /// Stores the content that judged edits left in files of a trusted project, unless those came from elsewhere.
    pub(crate) fn keep_edits(&self, dirs: &Dirs, paths: &[String]) -> Result<()> {
        let Some(project) = paths.first().and_then(|path| project_root(path)) else { return Ok(()) };
        let trust = Trust::load(dirs).map_err(|problem| anyhow!("{problem}"))?;
        let Some(pinned) = trust.projects.get(&project).filter(|pinned| pinned.head.is_some()) else { return Ok(()) };
        let known = self.arrivals(&project)?.unwrap_or_default();
        let own: Vec<String> = paths.iter().filter(|path| known.above(path).is_none()).cloned().collect();
        self.note_arrivals((&project, pinned.at), &[], &versions(&project, dirs.home(), &own))
    }

    /// Notes that nothing has come into a project that was just trusted.
    pub(crate) fn begin_arrivals(&self, project: &str, trusted: u64) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        Ok(states.replace(project, &Arrivals::since(trusted))?)
    }

    /// Starts a call alongside the others of the session; returns the file in doubt if they conflict.
    pub(crate) fn start_call(&self, call: Footprint) -> Option<String> {
        let states = self.states.as_ref().ok()?;
        let id = &self.id;
        states.update(id, |state: &mut InFlight| state.begin(call, self.now_ms)).unwrap_or_else(|_| {
            // It is unknown what is in flight; the next call starts over.
            states.forget::<InFlight>(id);
            // Without the state any file may be in use, so the call asks once.
            Some("a file of this session".to_owned())
        })
    }

    /// The file in doubt if a call started now; unlike `start_call`, this notes nothing.
    pub(crate) fn would_conflict(&self, call: Footprint) -> Option<String> {
        match self.states.as_ref().ok()?.find::<InFlight>(&self.id) {
            Ok(state) => state.unwrap_or_default().begin(call, self.now_ms),
            Err(_) => Some("a file of this session".to_owned()),
        }
    }

    /// Notes a call that may start once the user has answered.
    pub(crate) fn add_asked(&self, call: Footprint) {
        if let Ok(states) = &self.states {
            // If this fails, the next call finds the state damaged and asks.
            let _ = states.update(&self.id, |state: &mut InFlight| state.add(call, self.now_ms));
        }
    }

    /// Background processes of earlier calls that may still run. `start_call` handles unreadable state.
    pub(crate) fn background_runs(&self) -> Vec<LeftRun> {
        let found = self.states.as_ref().ok().and_then(|states| states.find::<InFlight>(&self.id).ok().flatten());
        found.map(|state| state.background_runs(self.now_ms)).unwrap_or_default()
    }

    /// Another call of the session may be running; unreadable state counts as yes.
    pub(crate) fn is_busy(&self) -> bool {
        match &self.states {
            Ok(states) => match states.find::<InFlight>(&self.id) {
                Ok(state) => state.is_some_and(|state| state.is_busy(self.now_ms)),
                Err(_) => true,
            },
            Err(_) => true,
        }
    }

    /// The same beside this call.
    pub(super) fn is_busy_beside(&self, id: &str) -> bool {
        let found = self.states.as_ref().ok().map(|states| states.find::<InFlight>(&self.id));
        match found {
            Some(Ok(state)) => state.is_some_and(|state| state.is_busy_beside(id, self.now_ms)),
            Some(Err(_)) | None => true,
        }
    }

    /// Notes that a call the user was asked about will never run; without an id, that none of the open ones will.
    pub(crate) fn withdraw_call(&self, id: Option<&str>) {
        if let Ok(states) = &self.states
            && matches!(states.find::<InFlight>(&self.id), Ok(Some(_)))
        {
            // A call that stays in flight only causes more questions, for a while.
            let _ = states.update(&self.id, |state: &mut InFlight| match id {
                Some(id) => state.withdraw(id),
                None => state.withdraw_asked(),
            });
        }
    }

    /// Notes the end of a call; returns the watched files it was to change.
    pub(crate) fn end_call(&self, id: &str) -> Vec<String> {
        match &self.states {
            Ok(states) if matches!(states.find::<InFlight>(&self.id), Ok(Some(_))) => {
                // A call that stays in flight only causes more questions, for a while.
                states.update(&self.id, |state: &mut InFlight| state.end(id)).unwrap_or_default()
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }
}
