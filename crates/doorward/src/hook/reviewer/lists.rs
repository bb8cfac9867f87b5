//! The sentences the reviewer judges by: built in, or from the user's configuration.

use doorward_engine::{REVIEWER_LISTS, REVIEWER_POLICY};
use serde::Deserialize;

use crate::policy::config::Reviewer;
use crate::policy::config::reviewer::spliced;

/// The four lists of the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lists {
    pub environment: Vec<String>,
    pub allow: Vec<String>,
    pub soft_deny: Vec<String>,
    pub hard_deny: Vec<String>,
}

impl Lists {
    /// The defaults.
    pub(crate) fn built_in() -> Lists {
        // The text is part of the program, and a test reads it.
        toml::from_str(REVIEWER_LISTS).unwrap_or_default()
    }

    /// The lists under a configuration.
    pub(crate) fn of(reviewer: &Reviewer) -> Lists {
        let built_in = Lists::built_in();
        Lists {
            environment: spliced(&reviewer.environment, &built_in.environment),
            allow: spliced(&reviewer.allow, &built_in.allow),
            soft_deny: spliced(&reviewer.soft_deny, &built_in.soft_deny),
            hard_deny: spliced(&reviewer.hard_deny, &built_in.hard_deny),
        }
    }

    /// Each list by its name in the configuration.
    pub(crate) fn with_names(&self) -> [(&'static str, &[String]); 4] {
        [
            ("environment", &self.environment),
            ("allow", &self.allow),
            ("soft_deny", &self.soft_deny),
            ("hard_deny", &self.hard_deny),
        ]
    }

    /// The policy with the lists filled in. The same for every call, so that providers can cache it.
    pub(crate) fn policy(&self) -> String {
        let lines = REVIEWER_POLICY.lines().map(|line| {
            let place = line.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            match self.with_names().iter().find(|(name, _)| Some(*name) == place) {
                Some((_, entries)) => bullets(entries),
                None => line.to_owned(),
            }
        });
        lines.collect::<Vec<String>>().join("\n")
    }
}

fn bullets(entries: &[String]) -> String {
    if entries.is_empty() {
        return "- (none)".to_owned();
    }
    entries.iter().map(|entry| format!("- {}", entry.replace('\n', " "))).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_lists_are_there_and_every_soft_rule_says_what_clears_it() {
        let lists = Lists::built_in();
        for (name, entries) in lists.with_names() {
            assert!(entries.len() >= 6, "{name}");
            assert!(entries.iter().all(|entry| entry.ends_with('.')), "{name}");
        }
        for rule in &lists.soft_deny {
            assert!(rule.contains("the user must name"), "{rule}");
        }
    }

    #[test]
    fn the_policy_holds_every_list_in_its_place() {
        let reviewer = Reviewer { allow: vec!["Only {hard_deny} this.".into()], ..Reviewer::default() };
        let policy = Lists::of(&reviewer).policy();
        assert!(policy.contains("## Allow exceptions\n\n- Only {hard_deny} this.\n\n## Soft deny"), "{policy}");
        for place in ["\n{environment}", "\n{allow}", "\n{soft_deny}", "\n{hard_deny}"] {
            assert!(!policy.contains(place), "{place}");
        }
    }
}
