//! What a source of configuration may do: change anything, or only tighten.

use std::collections::BTreeSet;

use doorward_engine::Mode;

use super::{Agent, Config, DEFAULTS, Notify, Profile, Questions, Reviewer, Runs, stages};
use crate::policy::snapshot_limits::Snapshots;

/// What a source may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Written by the owner of the machine or the account.
    Full,
    /// Anyone may have written it.
    TightenOnly,
}

impl Config {
    /// Adds the administrator's settings, which take precedence over the user's.
    #[must_use]
    pub(crate) fn overruled_by(mut self, managed: Config) -> Config {
        for (agent, choice) in &managed.agents {
            if choice.mode.is_some() {
                self.agents.insert(agent.clone(), choice.clone());
            }
        }
        self.permissions.allow.extend(managed.permissions.allow.iter().cloned());
        self.hosts.allowed = spliced(&self.hosts.allowed, &managed.hosts.allowed);
        self.programs.directories.extend(managed.programs.directories.iter().cloned());
        self.thresholds = managed.thresholds.or(self.thresholds);
        self.rules.extend(managed.rules.clone());
        self.wait_seconds = managed.wait_seconds.or(self.wait_seconds);
        self.reviewer = managed.reviewer.clone().over(self.reviewer);
        if managed.notify.is_set() {
            self.notify = managed.notify.clone();
        }
        self.snapshots = managed.snapshots.or(self.snapshots);
        self.run = managed.run.or(self.run);
        if !managed.profile.is_empty() {
            self.profile = managed.profile.clone().no_laxer_than(&self.profile);
        }
        self.tightened_by(managed)
    }

    /// What this configuration makes stricter: its allow lists and modes are dropped.
    #[must_use]
    pub(crate) fn tightening_only(mut self) -> Config {
        self.agents.clear();
        self.wait_seconds = None;
        self.permissions.allow.clear();
        self.hosts.allowed.clear();
        self.projects.trusted.clear();
        self.programs.directories.clear();
        self.notify = Notify::default();
        self.snapshots = Snapshots::default();
        self.run = Runs::default();
        // Sentences for a model, from a repository, could say anything.
        self.reviewer = Reviewer::default();
        self.rules = stages::tightening_only(self.rules);
        self.profile = Profile::default();
        self
    }

    /// The keys of this configuration that a tighten-only source can't set.
    pub(crate) fn loosening_keys(&self) -> Vec<&'static str> {
        let lists = [
            ("agents", self.agents.is_empty()),
            ("wait_seconds", self.wait_seconds.is_none()),
            ("permissions.allow", self.permissions.allow.is_empty()),
            ("hosts.allowed", self.hosts.allowed.is_empty()),
            ("projects.trusted", self.projects.trusted.is_empty()),
            ("programs.directories", self.programs.directories.is_empty()),
            ("notify", !self.notify.is_set()),
            ("snapshots", self.snapshots == Snapshots::default()),
            ("run", self.run == Runs::default()),
            ("reviewer", !self.reviewer.is_set()),
            ("rules", !stages::loosens(&self.rules)),
            ("profile", self.profile.is_empty()),
        ];
        lists.iter().filter(|(_, is_empty)| !is_empty).map(|(key, _)| *key).collect()
    }

    /// Adds another configuration that may only tighten this one.
    #[must_use]
    pub(crate) fn tightened_by(mut self, other: Config) -> Config {
        let other = other.tightening_only();
        self.strict |= other.strict;
        self.permissions.deny.extend(other.permissions.deny);
        self.permissions.ask.extend(other.permissions.ask);
        self.hosts.denied.extend(other.hosts.denied);
        self.paths.protected.extend(other.paths.protected);
        self.paths.denied.extend(other.paths.denied);
        self.thresholds = self.thresholds.tightened_by(other.thresholds);
        self.rules = stages::stricter(self.rules, &other.rules);
        self
    }

    /// This configuration without anything laxer than the other.
    #[must_use]
    pub(crate) fn no_laxer_than(mut self, held: &Config) -> Config {
        let names: BTreeSet<String> = self.agents.keys().chain(held.agents.keys()).cloned().collect();
        let both = |agent: &String| Agent {
            mode: Some(stricter(self.mode(agent), held.mode(agent))),
            staged: self.is_staged(agent) && held.is_staged(agent),
            // A classifier may answer only if the user chose that in both.
            questions: self.questions(agent).filter(|wanted| {
                *wanted != Questions::Classifier || held.questions(agent) == Some(Questions::Classifier)
            }),
        };
        self.agents = names.iter().map(|agent| (agent.clone(), both(agent))).collect();
        self.permissions.allow.retain(|pattern| held.permissions.allow.contains(pattern));
        self.projects.trusted.retain(|root| held.projects.trusted.contains(root));
        self.programs.directories.retain(|directory| held.programs.directories.contains(directory));
        self.hosts.allowed = common(&self.hosts.allowed, &held.hosts.allowed);
        self.snapshots = self.snapshots.no_laxer_than(held.snapshots);
        self.run = self.run.no_laxer_than(held.run);
        self.rules = stages::no_laxer_than(self.rules, &held.rules);
        self.profile = self.profile.no_laxer_than(&held.profile);
        // There is no telling which of two reviewers is stricter, so a change leaves none.
        if self.reviewer != held.reviewer {
            self.reviewer = Reviewer::default();
        }
        let mut both = self.tightened_by(held.clone());
        both.thresholds = both.thresholds.tightened_by(held.thresholds.with_usual());
        let permissions = [&mut both.permissions.deny, &mut both.permissions.ask];
        let lists = [&mut both.hosts.denied, &mut both.paths.protected, &mut both.paths.denied];
        permissions.into_iter().chain(lists).for_each(once);
        both
    }

    /// Adds the choices of another file of the same user.
    #[must_use]
    pub(crate) fn joined_with(mut self, other: Config) -> Config {
        self.permissions.allow.extend(other.permissions.allow.iter().cloned());
        self.hosts.allowed = spliced(&self.hosts.allowed, &other.hosts.allowed);
        self.projects.trusted.extend(other.projects.trusted.iter().cloned());
        self.thresholds = self.thresholds.or(other.thresholds);
        self.snapshots = self.snapshots.or(other.snapshots);
        self.run = self.run.or(other.run);
        self.reviewer = self.reviewer.over(other.reviewer.clone());
        self.tightened_by(other)
    }
}

fn once(list: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    list.retain(|entry| seen.insert(entry.clone()));
}

fn stricter(one: Mode, other: Mode) -> Mode {
    let rank = |mode: Mode| match mode {
        Mode::Off => 0,
        Mode::Shadow => 1,
        Mode::Auto => 2,
        Mode::ConfirmAll => 3,
    };
    if rank(one) >= rank(other) { one } else { other }
}

/// The hosts that both lists allow; an empty list means the built-in entries.
fn common(one: &[String], other: &[String]) -> Vec<String> {
    let keeps = |list: &[String]| list.is_empty() || list.iter().any(|entry| entry == DEFAULTS);
    let mut both: Vec<String> = Vec::new();
    if keeps(one) && keeps(other) {
        both.push(DEFAULTS.to_owned());
    }
    both.extend(one.iter().filter(|entry| *entry != DEFAULTS && other.contains(entry)).cloned());
    if both.is_empty() {
        // A list that is empty would bring the built-in entries back.
        both.push("none.invalid".to_owned());
    }
    both
}

/// Combines two lists of hosts: the built-in entries stay if neither replaces them.
fn spliced(one: &[String], other: &[String]) -> Vec<String> {
    let replaces = |list: &[String]| !list.is_empty() && !list.iter().any(|entry| entry == DEFAULTS);
    let all = one.iter().chain(other).cloned();
    if replaces(one) || replaces(other) { all.filter(|entry| entry != DEFAULTS).collect() } else { all.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse(text).unwrap()
    }

    #[test]
    fn a_repository_can_only_tighten() {
        let user = config("[permissions]\nallow = [\"bash(make test)\"]\n[thresholds]\nreads_per_minute = 100");
        let project = config(
            "strict = true\n[agents.claude]\nmode = \"auto\"\n[permissions]\nallow = [\"*\"]\nask = [\"fetch\"]\n\
             [hosts]\nallowed = [\"evil.example\"]\n[projects]\ntrusted = [\"/\"]\n[notify]\ncommand = [\"/bin/sh\"]\n\
             [reviewer]\nmodel = \"evil/yes\"\n\
             [thresholds]\nreads_per_minute = 100000\nconfidence = 0.1\ndenials = 1000",
        );
        assert_eq!(
            project.loosening_keys(),
            ["agents", "permissions.allow", "hosts.allowed", "projects.trusted", "notify", "reviewer"]
        );
        let both = user.tightened_by(project);
        assert_eq!(both.permissions.allow, ["bash(make test)"]);
        assert_eq!(both.permissions.ask, ["fetch"]);
        assert!(both.strict && both.hosts.allowed.is_empty() && both.mode("claude") == Mode::ConfirmAll);
        assert!(both.projects.trusted.is_empty() && !both.notify.is_set() && !both.reviewer.is_on());
        let thresholds = both.policy(Mode::Auto).unwrap().thresholds;
        assert_eq!((thresholds.reads_per_minute, thresholds.confidence, thresholds.denials), (100, 0.85, 20));
    }

    #[test]
    fn an_administrator_counts_before_the_user() {
        let user = config("[agents.claude]\nmode = \"auto\"\n[thresholds]\nconfidence = 0.9");
        let managed = config("[agents.claude]\nmode = \"confirm-all\"\n[thresholds]\nconfidence = 0.97");
        let both = user.overruled_by(managed);
        assert_eq!((both.mode("claude"), both.thresholds.confidence), (Mode::ConfirmAll, Some(0.97)));
    }

    #[test]
    fn within_a_session_things_only_get_stricter() {
        let began = config(
            "[agents.claude]\nmode = \"confirm-all\"\n[permissions]\ndeny = [\"bash(a)\"]\nallow = [\"bash(b)\"]\n\
             [hosts]\nallowed = [\"one.example\"]\n[thresholds]\nconfidence = 0.95",
        );
        let now = config(
            "[agents.claude]\nmode = \"off\"\n[permissions]\ndeny = [\"bash(c)\"]\nallow = [\"bash(b)\", \"bash(d)\"]\n\
             [projects]\ntrusted = [\"/srv/x\"]",
        );
        let held = now.no_laxer_than(&began);
        assert_eq!(held.mode("claude"), Mode::ConfirmAll);
        assert_eq!(held.permissions.deny, ["bash(c)", "bash(a)"]);
        assert_eq!(held.permissions.allow, ["bash(b)"]);
        assert!(held.projects.trusted.is_empty() && held.settings().only_allowed_hosts);
        assert_eq!(held.thresholds.confidence, Some(0.95));
        assert_eq!(held.clone().no_laxer_than(&held), held);
        let reviewed = config("[reviewer]\nmodel = \"a/one\"");
        assert_eq!(reviewed.clone().no_laxer_than(&reviewed).reviewer, reviewed.reviewer);
        assert!(!reviewed.clone().no_laxer_than(&Config::default()).reviewer.is_on());
        let other = config("[reviewer]\nmodel = \"a/one\"\nallow = [\"anything\"]");
        assert!(!other.no_laxer_than(&reviewed).reviewer.is_on());
        let plain = Config::default().no_laxer_than(&Config::default());
        assert!(!plain.settings().only_allowed_hosts);
    }
}
