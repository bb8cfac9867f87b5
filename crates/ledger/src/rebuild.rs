//! Makes the state files again from the log.

use doorward_vocabulary::{CallId, PatternId, SessionId, Verdict};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

use crate::error::LogError;
use crate::event::Kind;
use crate::log::Log;
use crate::read::{ReadError, Record, snapshot};
use crate::record::{AnswerBody, Body, DecisionBody, SessionBody, SessionStep};
use crate::segment::{Step, Walk};
use crate::session::{PatternState, SessionState};
use crate::state::{StateError, States};
use crate::storage::Storage;

/// What the log says about sessions and patterns. Rates are not rebuilt: a minute is over before anybody asks.
#[derive(Debug, Default)]
pub struct Rebuilt {
    /// Sessions, ended or not.
    pub sessions: BTreeMap<SessionId, SessionState>,
    /// Patterns that were ever judged.
    pub patterns: BTreeMap<PatternId, PatternState>,
    /// The pattern of each decision that a person might override.
    open: HashMap<CallId, PatternId>,
    last: u64,
}

/// How many of the last segments are searched for a session: far more than one session fills.
// As for grants: state that is older than two segments has run out, and what is missing only asks again.
const SEARCHED: usize = 2;

impl States {
    /// Makes all state files again. Not meant to run beside a hook: what that counts meanwhile may be forgotten.
    pub fn rebuild<S: Storage>(&self, log: &Log<S>) -> Result<Rebuilt, StateError> {
        let mut rebuilt = Rebuilt::default();
        rebuilt.read(log)?;
        for (session, state) in &rebuilt.sessions {
            self.replace(session, state)?;
        }
        for (pattern, state) in &rebuilt.patterns {
            self.replace(pattern, state)?;
        }
        Ok(rebuilt)
    }
}

impl<S: Storage> Log<S> {
    /// What the last segments say about a session; `None` if they do not know it.
    pub fn session(&self, session: &str) -> Result<Option<SessionState>, LogError> {
        let parts = snapshot(self)?;
        let needle = serde_json::to_vec(session).map_err(|_| LogError::Body)?;
        let mut rebuilt = Rebuilt::default();
        for part in parts.iter().skip(parts.len().saturating_sub(SEARCHED)) {
            let bytes = part.load(&self.storage)?;
            // Most of the time the session is new, and nothing need be taken apart to see that.
            if memchr::memmem::find(&bytes, &needle).is_none() {
                continue;
            }
            for step in Walk::new(&bytes) {
                if let Step::Entry(_, frame) = step {
                    rebuilt.note(&Record::from_frame(&frame));
                }
            }
        }
        Ok(rebuilt.sessions.remove(session))
    }
}

impl Rebuilt {
    /// Takes in what it has not seen yet.
    fn read<S: Storage>(&mut self, log: &Log<S>) -> Result<(), LogError> {
        for record in log.records_from(self.last.saturating_add(1))? {
            match record {
                Ok(record) => self.note(&record),
                Err(ReadError::Log(error)) => return Err(error),
                Err(ReadError::Bad { .. }) => {}
            }
        }
        Ok(())
    }

    fn note(&mut self, record: &Record) {
        self.last = record.header.sequence;
        let time_ms = record.header.time_ms;
        match record.header.kind {
            Kind::Decision => {
                if let Some(body) = read(record) {
                    self.decision(body, time_ms);
                }
            }
            Kind::Answer => {
                let answer = read::<AnswerBody>(record).filter(AnswerBody::is_override);
                if let Some(answer) = &answer {
                    self.sessions.values_mut().for_each(|state| drop(state.note_run(&answer.decision)));
                }
                let pattern = answer.and_then(|answer| self.open.remove(&answer.decision));
                if let Some(pattern) = pattern {
                    self.patterns.entry(pattern).or_default().count_override(time_ms);
                }
            }
            Kind::Session => {
                if let Some(body) = read(record) {
                    self.session(body);
                }
            }
            Kind::Outcome
            | Kind::Grant
            | Kind::Policy
            | Kind::Mode
            | Kind::Alert
            | Kind::Gap
            | Kind::Tombstone
            | Kind::Checkpoint
            | Kind::Device => {}
        }
    }

    fn decision(&mut self, body: DecisionBody, time_ms: u64) {
        let may_be_overridden = body.may_be_overridden();
        if let Some(session) = body.session {
            let state = self.sessions.entry(session).or_default();
            if state.began_ms == 0 {
                state.began_ms = time_ms;
            }
            match body.verdict {
                Verdict::AutoApprove => state.note_approval(),
                Verdict::Confirm if body.left_to.is_some() => state.note_deferral(),
                Verdict::Confirm => {
                    let pattern = body.pattern.as_deref().filter(|_| may_be_overridden);
                    state.note_question(&body.id, pattern.unwrap_or_default());
                }
                Verdict::Block => state.note_denial(),
            }
            body.leaves.iter().for_each(|taint| state.taint(taint));
        }
        if let Some(pattern) = body.pattern {
            self.patterns.entry(pattern.clone()).or_default().count_decision(time_ms);
            if may_be_overridden {
                self.open.insert(body.id, pattern);
            }
        }
    }

    fn session(&mut self, body: SessionBody) {
        let SessionBody { session, step, .. } = body;
        match step {
            // A session that ended may be taken up again.
            SessionStep::Began
            | SessionStep::Ended
            | SessionStep::Compacted
            | SessionStep::SubagentBegan(_)
            | SessionStep::SubagentEnded(_) => {}
            SessionStep::Taint(what) => self.sessions.entry(session).or_default().taint(&what),
            SessionStep::Boundary(what) => self.sessions.entry(session).or_default().add_boundary(&what),
            SessionStep::Reset => self.sessions.entry(session).or_default().reset(),
        }
    }
}

fn read<B: Body + DeserializeOwned>(record: &Record) -> Option<B> {
    record.body.as_deref().and_then(|body| serde_json::from_slice(body).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{By, Reply, StateKey};

    fn decision(number: u32, verdict: Verdict) -> DecisionBody {
        DecisionBody {
            id: format!("d{number}").into(),
            session: Some("s".into()),
            pattern: Some("p".into()),
            verdict,
            ..DecisionBody::default()
        }
    }

    #[test]
    fn lost_state_comes_back_from_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::create(&dir.path().join("log")).unwrap();
        for number in 0..3 {
            let _receipt = log.append(&decision(number, Verdict::Block), 1).unwrap();
        }
        let tainting = DecisionBody { leaves: vec!["secret-read".into()], ..decision(3, Verdict::AutoApprove) };
        let _receipt = log.append(&tainting, 1).unwrap();
        let _receipt = log.append(&decision(4, Verdict::Block), 1).unwrap();
        let (decision, why) = ("d1".to_owned(), None);
        let answer = AnswerBody { decision: decision.into(), reply: Reply::Approved, by: By::Person, why };
        let _receipt = log.append(&answer, 1).unwrap();
        for step in [SessionStep::Taint("web".into()), SessionStep::Boundary("don't push".into())] {
            let body = SessionBody { session: "s".into(), agent: None, step };
            let _receipt = log.append(&body, 1).unwrap();
        }
        let ended = SessionBody { session: "e".into(), agent: None, step: SessionStep::Ended };
        let _receipt = log.append(&ended, 1).unwrap();
        let key = StateKey::load_or_create(&dir.path().join("key")).unwrap();
        let states = States::at(&dir.path().join("state"), key);
        let rebuilt = states.rebuild(&log).unwrap();
        assert_eq!((rebuilt.sessions.len(), rebuilt.patterns.len()), (1, 1));
        let session: SessionState = states.load("s").unwrap();
        assert_eq!((session.denials(), session.denials_in_a_row()), (4, 1));
        assert!(session.is_tainted("web") && session.is_tainted("secret-read"));
        assert_eq!(log.session("s").unwrap(), Some(session.clone()));
        assert_eq!(log.session("nobody").unwrap(), None);
        assert_eq!(session.boundaries().collect::<Vec<_>>(), ["don't push"]);
        assert_eq!(states.load::<PatternState>("p").unwrap().month(1), (1, 5));
    }
}
