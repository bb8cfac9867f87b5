//! What a session keeps of the user's words: the latest message, boundaries, the orders that end them, addresses.

use anyhow::{Result, anyhow};
use doorward_engine::{Verdict, addresses, orders_of, released};
use doorward_ledger::{SessionState, SpokenState, StateKey, States};

use super::{Session, StateSource};
use crate::machine::paths::Dirs;
use crate::memory::evaluation::{Decided, Evaluation};

impl Session {
    /// The user's latest message, if stored.
    pub(crate) fn last_message(&self) -> Option<SpokenState> {
        self.states.as_ref().ok()?.find(&self.id).ok().flatten()
    }

    /// Stores the user's latest message. If that fails, older ones must not stay in its place.
    pub(crate) fn store_message(&self, spoken: &SpokenState) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        states.replace(&self.id, spoken).map_err(|error| {
            states.forget::<SpokenState>(&self.id);
            error.into()
        })
    }

    /// Changes what is stored of the latest message, unless another one came in between.
    pub(crate) fn change_message(&self, latest: &SpokenState, change: impl FnOnce(&mut SpokenState)) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        Ok(states.update(&self.id, |spoken: &mut SpokenState| {
            if spoken.words == latest.words && spoken.turn == latest.turn {
                change(spoken);
            }
        })?)
    }

    /// Keeps what a message of the user orders and names: the orders that end boundaries, and addresses.
    pub(crate) fn hear(&self, words: &str) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        let limits: Vec<String> = self.known().state.boundaries().map(str::to_owned).collect();
        let (ended, named) = (released(words, &limits), addresses(words));
        // Doubtful state is left for the next call to find, which loses what would loosen.
        if (ended.is_empty() && named.is_empty()) || matches!(self.known().found, StateSource::Rebuilt(_)) {
            return Ok(());
        }
        Ok(states.update(&self.id, |state: &mut SessionState| {
            ended.iter().for_each(|(said, order)| state.release(said, order));
            named.iter().for_each(|address| state.add_address(address));
        })?)
    }

    /// Something in this session may give the agent prompts that nobody types.
    pub(crate) fn may_prompt_itself(&self) -> bool {
        self.known().state.prompts()
    }

    /// Counts the orders that let a call run.
    pub(super) fn note_consent(&self, states: &States, decided: &Decided) -> Result<()> {
        let Evaluation { facts, judgement, .. } = &decided.evaluation;
        let Some(consent) = facts.intent.consent.as_deref().filter(|_| judgement.verdict == Verdict::AutoApprove)
        else {
            return Ok(());
        };
        Ok(states.update(&self.id, |spoken: &mut SpokenState| {
            orders_of(consent).for_each(|order| spoken.count_consent(order));
        })?)
    }

    /// Stores boundaries the user stated, for the rest of the session.
    pub(crate) fn keep_boundaries(&self, limits: &[String]) -> Result<()> {
        let states = self.states.as_ref().map_err(|problem| anyhow!("{problem}"))?;
        match self.known().found {
            StateSource::Kept | StateSource::New => {
                let bind = |state: &mut SessionState| limits.iter().for_each(|limit| state.add_boundary(limit));
                Ok(states.update(&self.id, bind)?)
            }
            // Doubtful state is left for the next call to find; the log, which it is rebuilt from, has the boundaries.
            StateSource::Rebuilt(_) => Ok(()),
        }
    }
}

/// What the user ruled out in the sessions of this machine: when each began, what was said, and the orders that ended it.
pub(crate) fn bound(dirs: &Dirs) -> Vec<(u64, String, Vec<String>)> {
    let Ok(key) = StateKey::load(&dirs.state().join("state.key")) else { return Vec::new() };
    let sessions: Vec<SessionState> = States::at(&dirs.state().join("sessions"), key).all();
    let mut bound = Vec::new();
    for session in &sessions {
        for said in session.boundaries() {
            let ended = session.released().filter(|(limit, _)| *limit == said).map(|(_, order)| order.to_owned());
            bound.push((session.began_ms, said.to_owned(), ended.collect()));
        }
    }
    bound.sort_by_key(|(began, ..)| std::cmp::Reverse(*began));
    bound
}
