//! What happened after decisions: overridden, refused, reverted, flagged.

use std::collections::HashSet;

use anyhow::Result;
use doorward_ledger::{AnswerBody, Became, By, Kind, Log, OutcomeBody, Reply};
use doorward_vocabulary::CallId;
use serde::de::DeserializeOwned;

use super::stream;

/// The outcomes of decisions, by name. The user's last word counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// It ran and was reverted, or the user said it should not have run.
    regret: HashSet<CallId>,
    /// The user said it should not have been asked about or blocked.
    friction: HashSet<CallId>,
    /// The user overrode the verdict and let it run.
    overridden: HashSet<CallId>,
    /// The user refused it.
    refused: HashSet<CallId>,
    /// Its outcome is known.
    said: HashSet<CallId>,
}

impl Aftermath {
    /// Reads the outcomes recorded since a point in time.
    pub(crate) fn read(log: &Log, since_ms: u64) -> Result<Aftermath> {
        let mut aftermath = Aftermath::default();
        stream::others(log, since_ms, |record| {
            let body = record.body.as_deref().unwrap_or_default();
            if record.header.kind == Kind::Answer {
                aftermath.note_answer(read(body));
            } else if record.header.kind == Kind::Outcome {
                aftermath.note_outcome(read(body));
            }
        })?;
        Ok(aftermath)
    }

    pub(crate) fn is_regret(&self, decision: &str) -> bool {
        self.regret.contains(decision)
    }

    pub(crate) fn is_friction(&self, decision: &str) -> bool {
        self.friction.contains(decision)
    }

    pub(crate) fn is_overridden(&self, decision: &str) -> bool {
        self.overridden.contains(decision)
    }

    pub(crate) fn is_refused(&self, decision: &str) -> bool {
        self.refused.contains(decision)
    }

    /// The record already has its outcome.
    pub(crate) fn is_said(&self, decision: &str) -> bool {
        self.said.contains(decision)
    }

    fn note_answer(&mut self, answer: Option<AnswerBody>) {
        let Some(answer) = answer else { return };
        if answer.is_override() {
            self.refused.remove(&answer.decision);
            self.overridden.insert(answer.decision);
        } else if answer.reply == Reply::Declined && matches!(answer.by, By::Person | By::Client) {
            self.overridden.remove(&answer.decision);
            self.refused.insert(answer.decision);
        }
    }

    fn note_outcome(&mut self, outcome: Option<OutcomeBody>) {
        let Some(OutcomeBody { decision, became, .. }) = outcome else { return };
        if !matches!(became, Became::Ran | Became::Failed) {
            self.said.insert(decision.clone());
        }
        match became {
            Became::Reverted | Became::Flagged => {
                self.friction.remove(&decision);
                self.regret.insert(decision);
            }
            Became::Friction => {
                self.regret.remove(&decision);
                self.friction.insert(decision);
            }
            Became::Fine => {
                self.regret.remove(&decision);
                self.friction.remove(&decision);
            }
            Became::Ran | Became::Failed => {}
        }
    }
}

fn read<B: DeserializeOwned>(body: &[u8]) -> Option<B> {
    serde_json::from_slice(body).ok()
}
