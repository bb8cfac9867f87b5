//! Picks the two policies for a recorded decision: they depend on its agent, project and mode.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use doorward_engine::{Mode, Policy};
use doorward_ledger::DecisionBody;

/// Where a decision was made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Setting {
    pub agent: String,
    pub project: Option<String>,
    pub mode: Mode,
}

/// The two policies of a setting.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub old: Policy,
    pub new: Policy,
}

/// What the new policy is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// What the old policy makes of the same facts.
    OldPolicy,
    /// The recorded verdict, if another build made it: its rules are gone.
    Record,
}

type Make<'a> = dyn Fn(&Setting) -> Result<Pair, String> + Sync + 'a;

/// Builds policies as needed, each once.
pub(crate) struct Policies<'a> {
    make: Box<Make<'a>>,
    baseline: Baseline,
    known: Mutex<HashMap<Setting, Arc<Pair>>>,
}

impl std::fmt::Debug for Policies<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Policies").field("known", &self.known).finish_non_exhaustive()
    }
}

impl<'a> Policies<'a> {
    pub(crate) fn new(make: impl Fn(&Setting) -> Result<Pair, String> + Sync + 'a) -> Policies<'a> {
        Policies { make: Box::new(make), baseline: Baseline::OldPolicy, known: Mutex::default() }
    }

    /// Compares the new policy with the record.
    #[must_use]
    pub(crate) fn against_record(self) -> Policies<'a> {
        Policies { baseline: Baseline::Record, ..self }
    }

    pub(crate) fn baseline(&self) -> Baseline {
        self.baseline
    }

    /// The same two everywhere, each in the mode that the decision was made in.
    #[allow(dead_code, reason = "the tests compare plain policies")]
    pub(crate) fn everywhere(old: Policy, new: Policy) -> Policies<'static> {
        Policies::new(move |setting| {
            let in_mode = |policy: &Policy| Policy { mode: setting.mode, ..policy.clone() };
            Ok(Pair { old: in_mode(&old), new: in_mode(&new) })
        })
    }

    /// The two policies for a decision.
    pub(crate) fn for_decision(&self, body: &DecisionBody) -> Result<Arc<Pair>, String> {
        let mode = body.mode.unwrap_or(Mode::Auto);
        let setting = Setting { agent: body.agent.clone().unwrap_or_default(), project: body.project.clone(), mode };
        let broken = |_| "internal error while building a policy".to_owned();
        if let Some(pair) = self.known.lock().map_err(broken)?.get(&setting) {
            return Ok(Arc::clone(pair));
        }
        let made = (self.make)(&setting)?;
        let mut known = self.known.lock().map_err(broken)?;
        // Most projects share the same policies, which are then kept in memory once.
        let is_same = |pair: &&Arc<Pair>| {
            (&pair.old.version, &pair.new.version) == (&made.old.version, &made.new.version)
                && (pair.old.mode, pair.new.mode) == (made.old.mode, made.new.mode)
        };
        let pair = known.values().find(is_same).cloned().unwrap_or_else(|| Arc::new(made));
        known.insert(setting, Arc::clone(&pair));
        Ok(pair)
    }
}
