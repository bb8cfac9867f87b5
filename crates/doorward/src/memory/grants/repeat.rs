//! Session grants: one pattern, soft questions only, a limited number of uses, for a limited time.

use std::collections::BTreeSet;

use doorward_engine::{Clearance, Degree, Facts, Judgement, Operation, Target, Verdict};
use doorward_ledger::State;
use doorward_vocabulary::{PatternId, SessionId};
use serde::{Deserialize, Serialize};

use super::pending::{class, needed};

/// How many uses a grant has.
// A session grant is for a loop of like calls. A runaway loop must come back to the person.
pub(crate) const USES: u32 = 20;

/// How long it is valid.
// As long as one stretch of work on the same task.
pub(crate) const LASTS_MS: u64 = 60 * 60 * 1000;

/// What a covered call looks like: every effect of a known class, on the same hosts and resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallShape {
    pub classes: BTreeSet<String>,
    /// Hosts, packages, branches: whatever is not a file.
    pub targets: BTreeSet<String>,
}

impl CallShape {
    /// The shape of a call that may be repeated: a soft question, fully understood, running nothing unseen.
    pub(crate) fn of(facts: &Facts, judgement: &Judgement) -> Option<CallShape> {
        let is_soft = judgement.verdict == Verdict::Confirm && needed(judgement) == Clearance::Soft;
        let is_understood = matches!(facts.coverage.degree, Degree::Full | Degree::Delegated);
        let is_seen = !facts.effects.is_empty()
            && facts
                .effects
                .iter()
                .all(|effect| effect.operation != Operation::Execute && effect.target != Target::Unknown);
        if !(is_soft && is_understood && is_seen) {
            return None;
        }
        let targets = facts.effects.iter().filter_map(|effect| match &effect.target {
            Target::Host(name) | Target::Program(name) | Target::Resource(name) => Some(name.clone()),
            Target::Path(_) | Target::Unknown => None,
        });
        Some(CallShape {
            classes: facts.effects.iter().map(|effect| class(&facts.tool, effect)).collect(),
            targets: targets.collect(),
        })
    }

    pub(crate) fn covers(&self, call: &CallShape) -> bool {
        call.classes.is_subset(&self.classes) && call.targets.is_subset(&self.targets)
    }
}

/// A grant for a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionGrant {
    pub grant: String,
    pub agent: String,
    pub session: SessionId,
    pub subagent: String,
    pub pattern: PatternId,
    pub shape: CallShape,
    pub policy: String,
    pub stored_ms: u64,
    pub uses: u32,
    pub why: Option<String>,
}

impl State for SessionGrant {
    const NAME: &'static str = "repeat";
}

impl SessionGrant {
    /// One agent, one session, one subagent of it or none, one pattern.
    pub(crate) fn name(agent: &str, (session, subagent): (&str, &str), pattern: &str) -> String {
        format!("{agent}\0{session}\0{subagent}\0{pattern}")
    }

    /// The name of this one.
    pub(crate) fn own_name(&self) -> String {
        SessionGrant::name(&self.agent, (&self.session, &self.subagent), &self.pattern)
    }

    /// It has expired, whether or not it was used up.
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.stored_ms) > LASTS_MS
    }

    pub(crate) fn is_current(&self, now_ms: u64) -> bool {
        // A clock set back ends it too.
        now_ms >= self.stored_ms && now_ms - self.stored_ms <= LASTS_MS && self.uses < USES
    }
}
