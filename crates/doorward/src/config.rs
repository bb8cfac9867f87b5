//! What the user configured: modes per agent, permission patterns, hosts and paths.

use std::collections::BTreeMap;

use doorward_engine::{Mode, Pattern, Permissions, Policy, Settings};
use serde::Deserialize;

/// The content of `config.toml`; `check --jsonl` takes the same shape as `config`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Unlisted hosts and unknown servers block, every external read asks.
    pub strict: bool,
    pub agents: BTreeMap<String, Agent>,
    pub permissions: Patterns,
    pub hosts: Hosts,
    pub paths: Paths,
    pub projects: Projects,
    pub programs: Programs,
}

/// Programs outside the system's own directories.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Programs {
    /// Directories of tool chains whose programs are trusted as they were when this file was written.
    pub directories: Vec<String>,
}

/// Whose recipes may run: test, build, lint and scripts of these projects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Projects {
    /// Roots of projects, absolute.
    pub trusted: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// `confirm-all` unless the user chose otherwise.
    pub mode: Option<Mode>,
}

/// Patterns such as `bash(git push --force*)`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Patterns {
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    pub allow: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hosts {
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Paths {
    pub protected: Vec<String>,
    pub denied: Vec<String>,
}

/// Stands for the built-in entries of a list, which count in any case.
const DEFAULTS: &str = "$defaults";

impl Config {
    /// Reads a configuration file's text.
    pub fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', " "))?;
        config.patterns()?;
        Ok(config)
    }

    /// The mode that the user chose for an agent.
    pub fn mode(&self, agent: &str) -> Mode {
        self.agents.get(agent).and_then(|agent| agent.mode).unwrap_or(Mode::ConfirmAll)
    }

    /// The built-in policy under this configuration.
    pub fn policy(&self, mode: Mode) -> Result<Policy, String> {
        let mut policy = Policy::built_in();
        policy.mode = mode;
        policy.strict = self.strict;
        policy.permissions = self.patterns()?;
        Ok(policy)
    }

    pub fn settings(&self) -> Settings {
        Settings {
            allowed_hosts: own(&self.hosts.allowed),
            denied_hosts: own(&self.hosts.denied),
            protected_paths: own(&self.paths.protected),
            denied_paths: own(&self.paths.denied),
            strict: self.strict,
        }
    }

    /// The user trusts exactly this project.
    pub fn trusts(&self, project: &str) -> bool {
        self.projects.trusted.iter().any(|trusted| trusted.trim_end_matches('/') == project)
    }

    /// Adds what an administrator decided, which counts before the user's own choice.
    #[must_use]
    pub fn overruled_by(mut self, managed: Config) -> Config {
        for (agent, choice) in &managed.agents {
            if choice.mode.is_some() {
                self.agents.insert(agent.clone(), choice.clone());
            }
        }
        self.permissions.allow.extend(managed.permissions.allow.iter().cloned());
        self.hosts.allowed.extend(managed.hosts.allowed.iter().cloned());
        self.programs.directories.extend(managed.programs.directories.iter().cloned());
        self.tightened_by(managed)
    }

    /// What this configuration makes stricter: its allow lists and modes are left behind.
    #[must_use]
    pub fn tightening_only(mut self) -> Config {
        self.agents.clear();
        self.permissions.allow.clear();
        self.hosts.allowed.clear();
        self.projects.trusted.clear();
        self.programs.directories.clear();
        self
    }

    /// Adds another configuration that may only tighten this one.
    #[must_use]
    pub fn tightened_by(mut self, other: Config) -> Config {
        let other = other.tightening_only();
        self.strict |= other.strict;
        self.permissions.deny.extend(other.permissions.deny);
        self.permissions.ask.extend(other.permissions.ask);
        self.hosts.denied.extend(other.hosts.denied);
        self.paths.protected.extend(other.paths.protected);
        self.paths.denied.extend(other.paths.denied);
        self
    }

    fn patterns(&self) -> Result<Permissions, String> {
        let read = |list: &[String]| own(list).iter().map(|text| Pattern::parse(text)).collect::<Result<Vec<_>, _>>();
        Ok(Permissions {
            deny: read(&self.permissions.deny)?,
            ask: read(&self.permissions.ask)?,
            allow: read(&self.permissions.allow)?,
        })
    }
}

fn own(list: &[String]) -> Vec<String> {
    list.iter().filter(|entry| *entry != DEFAULTS).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_nobody_has_trusted_is_asked_about_everything() {
        let config = Config::parse("[agents.claude]\nmode = \"auto\"\n").unwrap();
        assert_eq!(config.mode("claude"), Mode::Auto);
        assert_eq!(config.mode("codex"), Mode::ConfirmAll);
    }

    #[test]
    fn what_is_misspelt_is_an_error_and_not_ignored() {
        for text in ["stict = true", "[agents.claude]\nmode = \"atuo\"", "[permissions]\ndeny = [\"bash(\"]", "a = "] {
            assert!(Config::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_repository_can_only_tighten() {
        let user = Config::parse("[permissions]\nallow = [\"bash(make *)\"]").unwrap();
        let project = Config::parse(
            "strict = true\n[agents.claude]\nmode = \"auto\"\n[permissions]\nallow = [\"*\"]\nask = [\"fetch\"]\n[hosts]\nallowed = [\"evil.example\"]",
        )
        .unwrap();
        let both = user.tightened_by(project);
        assert_eq!(both.permissions.allow, ["bash(make *)"]);
        assert_eq!(both.permissions.ask, ["fetch"]);
        assert!(both.strict && both.hosts.allowed.is_empty() && both.mode("claude") == Mode::ConfirmAll);
    }
}
