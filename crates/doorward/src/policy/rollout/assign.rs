//! What a session gets from all rollouts, and how its decisions record that.

use std::collections::{BTreeMap, BTreeSet};

use doorward_engine::{Mode, Policy, Stage as RuleStage, Thresholds};

use super::stage::RolloutStage;
use super::state::{Rollout, Subject};

/// The keys of a decision's versions that say which side its session was on.
pub(crate) const STAGE: &str = "stage";
pub(crate) const THRESHOLDS: &str = "thresholds";

pub(crate) fn rule_key(id: &str) -> String {
    format!("rule {id}")
}

/// The prefix of the user's own rule names.
pub(crate) const OWN: &str = doorward_engine::OWN_RULES;

/// What one session gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Assigned {
    /// The mode, if the agent is rolled out in stages.
    pub mode: Option<Mode>,
    /// The user's rules that are only in shadow.
    watched: BTreeSet<String>,
    /// Thresholds on trial, and what the version of the policy says about them.
    set: Option<(Thresholds, String)>,
    /// Which side the session is on, for the record.
    pub words: BTreeMap<String, String>,
}

impl Assigned {
    /// What an agent's session gets; `began_ms` is `None` for one that starts now.
    pub(crate) fn for_session(
        rollout: &Rollout,
        (agent, is_staged): (&str, bool),
        session: &str,
        began_ms: Option<u64>,
    ) -> Assigned {
        let mut assigned = Assigned::default();
        if is_staged {
            let placed = rollout.place(&Subject::Agent(agent.to_owned()), session, began_ms);
            // An agent that should be rolled out but is unknown here is trusted with nothing.
            assigned.mode = Some(placed.and_then(|placed| placed.counts.mode()).unwrap_or(Mode::ConfirmAll));
            assigned.words.extend(placed.map(|placed| (STAGE.to_owned(), placed.describe())));
        }
        for id in rollout.rules.keys() {
            if let Some(placed) = rollout.place(&Subject::Rule(id.clone()), session, began_ms) {
                if placed.counts != RolloutStage::Auto {
                    assigned.watched.insert(id.clone());
                }
                assigned.words.insert(rule_key(id), placed.describe());
            }
        }
        let placed = rollout.place(&Subject::Thresholds, session, began_ms);
        if let (Some(placed), Some(trial)) = (placed, &rollout.trial) {
            let name = format!("{}#{}", trial.name, trial.fingerprint());
            let is_on_trial = placed.counts == RolloutStage::Auto;
            if is_on_trial {
                assigned.set = Some((trial.numbers.set(), name.clone()));
            }
            // Before the canary there is only one arm, and nothing to compare.
            if placed.stage >= RolloutStage::Canary {
                let arm = if is_on_trial { format!("b:{name}") } else { "a".to_owned() };
                assigned.words.insert(THRESHOLDS.to_owned(), arm);
            }
        }
        assigned
    }

    /// Changes the policy for the session: shadow rules have no effect, and thresholds on trial replace the current ones.
    pub(crate) fn apply_to(&self, policy: &mut Policy) {
        for rule in &mut policy.rules {
            // INVARIANT: built-in rules are active, whatever the file says.
            let is_own = rule.id.starts_with(OWN);
            if is_own && rule.stage == RuleStage::Active && self.watched.contains(rule.id.as_ref()) {
                rule.stage = RuleStage::Shadow;
                policy.version.push_str(&format!("+watched:{}", rule.id));
            }
        }
        if let Some((set, name)) = &self.set {
            policy.thresholds = *set;
            policy.version.push_str(&format!("+thresholds:{name}"));
        }
    }
}

#[cfg(test)]
#[path = "assign_tests.rs"]
mod tests;
