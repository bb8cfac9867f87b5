//! What became of decisions: let run by a person, refused, taken back, flagged.

use std::collections::HashSet;

use anyhow::Result;
use doorward_ledger::{AnswerBody, Became, By, Kind, Log, OutcomeBody, Reply};
use doorward_vocabulary::CallId;
use serde::de::DeserializeOwned;

use super::stream;

/// What people and time said about decisions, by their names. What a person said last counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// It ran, and its effect was taken back, or a person said that it should not have run.
    regret: HashSet<CallId>,
    /// A person said that it should not have been asked about or blocked.
    friction: HashSet<CallId>,
    /// A person let it run although it was not approved.
    overridden: HashSet<CallId>,
    /// A person refused it.
    refused: HashSet<CallId>,
    /// Something was said about how it turned out.
    said: HashSet<CallId>,
}

impl Aftermath {
    /// Reads what the record says since a moment.
    pub fn read(log: &Log, since_ms: u64) -> Result<Aftermath> {
        let mut aftermath = Aftermath::default();
        stream::others(log, since_ms, |record| {
            let body = record.body.as_deref().unwrap_or_default();
            match record.header.kind {
                Kind::Answer => aftermath.answered(read(body)),
                Kind::Outcome => aftermath.became(read(body)),
                Kind::Decision
                | Kind::Grant
                | Kind::Policy
                | Kind::Mode
                | Kind::Alert
                | Kind::Gap
                | Kind::Tombstone
                | Kind::Checkpoint
                | Kind::Session => {}
            }
        })?;
        Ok(aftermath)
    }

    pub fn is_regret(&self, decision: &str) -> bool {
        self.regret.contains(decision)
    }

    pub fn is_friction(&self, decision: &str) -> bool {
        self.friction.contains(decision)
    }

    pub fn is_overridden(&self, decision: &str) -> bool {
        self.overridden.contains(decision)
    }

    pub fn is_refused(&self, decision: &str) -> bool {
        self.refused.contains(decision)
    }

    /// The record says already how it turned out.
    pub fn is_said(&self, decision: &str) -> bool {
        self.said.contains(decision)
    }

    fn answered(&mut self, answer: Option<AnswerBody>) {
        let Some(answer) = answer else { return };
        if answer.is_override() {
            self.refused.remove(&answer.decision);
            self.overridden.insert(answer.decision);
        } else if answer.reply == Reply::Declined && matches!(answer.by, By::Person | By::Client) {
            self.overridden.remove(&answer.decision);
            self.refused.insert(answer.decision);
        }
    }

    fn became(&mut self, outcome: Option<OutcomeBody>) {
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
