//! What happens to past questions if rules are retired together, and what keeps the rest of them.

use std::collections::{BTreeMap, BTreeSet};

use doorward_engine::{Policy, Source};

use super::history::History;
use super::weigh::WithoutRules;

/// The questions one rule is responsible for, were it retired with others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Without {
    passes: u64,
    softens: u64,
    /// Still asked by rules that stay.
    others: BTreeMap<u16, u64>,
    /// Still asked by another stage.
    stages: BTreeMap<Source, u64>,
}

impl Without {
    /// The questions of the rule in this place, if all of these rules are retired.
    pub(super) fn of(history: &History, rule: u16, retired: &BTreeSet<u16>) -> Without {
        let mut without = Without::default();
        let weighed = history.past.iter().filter_map(|past| past.weighed.as_ref());
        for one in weighed.filter(|one| one.blamed.contains(&rule)) {
            let mut staying = one.blamed.iter().filter(|other| !retired.contains(other)).peekable();
            match one.then {
                _ if staying.peek().is_some() => {
                    staying.for_each(|other| *without.others.entry(*other).or_default() += 1);
                }
                WithoutRules::Passes => without.passes += 1,
                WithoutRules::Softens => without.softens += 1,
                WithoutRules::Stays(source) => *without.stages.entry(source).or_default() += 1,
            }
        }
        without
    }

    /// Something gets laxer.
    pub(super) fn is_laxer(&self) -> bool {
        self.passes + self.softens > 0
    }

    /// The effect, or why there is none.
    pub(super) fn words(&self, policy: &Policy) -> String {
        let mut parts = Vec::new();
        if self.passes > 0 {
            parts.push(format!("once everything proposed here is retired, {} of these questions go away", self.passes));
        }
        if self.softens > 0 {
            let who = "an allow rule, your own words or the reviewer can answer them";
            parts.push(format!("{} are still asked, but softly: {who}", self.softens));
        }
        if !self.is_laxer() {
            parts.push(format!("it stays, because retiring it would change no verdict: {}", self.reasons(policy)));
        }
        parts.join("; ")
    }

    fn reasons(&self, policy: &Policy) -> String {
        let name = |rule: u16| policy.rules.get(usize::from(rule)).map(|rule| rule.id.to_string()).unwrap_or_default();
        let others =
            self.others.iter().map(|(rule, count)| format!("`{}` also asks about {count} of them", name(*rule)));
        let stage = |(source, count): (&Source, &u64)| {
            if *source == Source::Matrix {
                return format!(
                    "{count} are in a cell of the decision matrix with a firm question, which no rule removes"
                );
            }
            format!("{} still asks about {count} of them", source.what())
        };
        let stages = self.stages.iter().map(stage);
        others.chain(stages).collect::<Vec<String>>().join(", ")
    }
}
