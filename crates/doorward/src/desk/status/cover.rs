//! The narrowest rule that would cover a ticket, and what it would have done to recorded decisions.

use anyhow::Result;
use doorward_engine::Pattern;
use doorward_ledger::Override;
use doorward_vocabulary::PatternId;
use serde_json::{Value, json};

use crate::desk::preview::common_start;
use crate::desk::replay::{self, Replayed};
use crate::desk::rules::{List, RuleEdit};
use crate::desk::screen;
use crate::machine::clock;
use crate::memory::ledger_view::LedgerView;
use crate::policy::load::{self, Overrides};

/// How far back a rule is tested.
const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// A rule, and what it would have done.
pub(super) struct Cover {
    pub pattern: PatternId,
    replayed: Replayed,
}

impl Cover {
    /// The first rule, from narrow to wide, that would have silenced anything; `None` if no rule may.
    pub(super) fn best(view: &LedgerView, overrides: &[Override]) -> Result<Option<Cover>> {
        replay::trusted(&view.dirs)?;
        let loaded = load::load(&view.dirs, None, "");
        for pattern in candidates(overrides) {
            let Ok(change) = RuleEdit::pattern(List::Allow, &pattern) else { continue };
            let (here, overrides) = (Overrides::default(), change.overrides(&loaded));
            let policies = replay::between(&view.dirs, &here, &overrides);
            let since_ms = clock::now_ms().saturating_sub(MONTH_MS);
            let replayed = replay::replay(&view.log, since_ms, &policies, screen::bar())?;
            if replayed.all.laxer > 0 {
                return Ok(Some(Cover { pattern: pattern.into(), replayed }));
            }
        }
        Ok(None)
    }

    pub(super) fn sentences(&self) -> [String; 2] {
        let Replayed { all, worth, .. } = &self.replayed;
        [
            format!("narrowest rule: doorward rules add allow '{}'", self.pattern),
            format!(
                "of {} decisions in 30 days it would have silenced {}: {} that you approved, {} that you refused or regretted",
                all.judged, all.laxer, worth.friction_avoided, worth.regret_added
            ),
        ]
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "allow": self.pattern, "effect": replay::to_json(&self.replayed, 1) })
    }
}

/// Exactly the call, or calls that start the same.
fn candidates(overrides: &[Override]) -> Vec<String> {
    let Some(first) = overrides.first() else { return Vec::new() };
    let tool = first.pattern.split(" · ").next().unwrap_or_default();
    let calls: Vec<&str> = overrides.iter().map(|one| one.call.as_str()).collect();
    let exact = calls.iter().all(|call| *call == first.call).then(|| format!("{tool}({})", first.call));
    let start = common_start(&calls).map(|start| format!("{tool}({start} *)"));
    let is_pattern = |text: &String| Pattern::parse(text).is_ok();
    exact.into_iter().chain(start).filter(is_pattern).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_rule_comes_first() {
        let found = |calls: &[&str]| {
            let one = |call: &&str| Override {
                time_ms: 0,
                decision: String::new().into(),
                sequence: 0,
                pattern: "bash · network · git push · external".into(),
                call: (*call).to_owned(),
                user: None,
                project: None,
                why: None,
            };
            candidates(&calls.iter().map(one).collect::<Vec<_>>())
        };
        assert_eq!(found(&["git push", "git push"]), ["bash(git push)", "bash(git push *)"]);
        assert_eq!(found(&["git push a", "git push b"]), ["bash(git push *)"]);
        assert!(found(&["git push", "npm publish"]).is_empty());
    }
}
