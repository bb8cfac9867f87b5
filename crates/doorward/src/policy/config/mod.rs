//! The user's configuration: modes per agent, permission patterns, hosts, paths and thresholds.

mod contained;
mod loosened;
mod notes;
mod numbers;
pub(crate) mod pi;
pub(crate) mod profile;
pub(crate) mod reviewer;
mod rights;
mod show;
pub(crate) mod stages;

use std::collections::BTreeMap;

use doorward_engine::{Mode, Pattern, Permissions, Policy, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use contained::{RunMode, Runs};
pub(crate) use loosened::held_back;
pub(crate) use notes::{Note, notes};
pub(crate) use numbers::{Numbers, stricter};
pub(crate) use profile::Profile;
pub(crate) use reviewer::Reviewer;
pub(crate) use rights::Rights;
pub(crate) use show::{ConfigArguments, built_in_limits, run, source_of_limit};
pub(crate) use stages::Stages;

use crate::policy::snapshot_limits::Snapshots;

/// The content of `config.toml`; `check --jsonl` takes the same format as `config`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Block unlisted hosts and unknown servers, and ask about every external read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Seconds a call waits for your answer if its agent can't ask; default: 45 while `doorward review` is open, otherwise 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u32>,
    /// One table per agent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Agent>,
    pub permissions: Patterns,
    pub hosts: Hosts,
    pub paths: Paths,
    pub projects: Projects,
    pub programs: Programs,
    pub thresholds: Numbers,
    /// Stages of built-in rules: `push = "shadow"`. `doorward rules retire` writes it.
    #[schemars(with = "BTreeMap<String, StageName>")]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: Stages,
    pub notify: Notify,
    pub snapshots: Snapshots,
    pub run: Runs,
    pub reviewer: Reviewer,
    #[serde(skip_serializing_if = "Profile::is_empty")]
    pub profile: Profile,
}

/// How you are notified that a call is waiting or an alert fired. Calls show on the desktop unless that is switched off. A
/// repository can't set this.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Notify {
    /// Notify on the desktop, with `notify-send` or `osascript`. Default: if there is a desktop and the agent can't ask itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desktop: Option<bool>,
    /// A program by absolute path, with arguments; it reads JSON on standard input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// A URL to post JSON to, with `curl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
}

impl Notify {
    pub(crate) fn is_set(&self) -> bool {
        self.desktop.is_some() || !self.command.is_empty() || self.webhook.is_some()
    }

    /// A notifier is configured, even for calls the agent asks about itself.
    pub(crate) fn is_wanted(&self) -> bool {
        self.desktop == Some(true) || !self.command.is_empty() || self.webhook.is_some()
    }

    fn check(&self) -> Result<(), String> {
        if self.command.first().is_some_and(|program| !program.starts_with('/')) {
            return Err("`notify.command` must start with the absolute path of a program".to_owned());
        }
        let is_address = |address: &String| address.starts_with("https://") || address.starts_with("http://");
        if !self.webhook.iter().all(is_address) {
            return Err("`notify.webhook` must start with `https://` or `http://`".to_owned());
        }
        Ok(())
    }
}

/// Programs outside the system directories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Programs {
    /// Toolchain directories whose programs are trusted as they were when this file was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
}

/// Projects whose recipes may run: test, build, lint and scripts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Projects {
    /// Project roots, absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trusted: Vec<String>,
}

/// The settings for one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Agent {
    /// `confirm-all` unless the user chose otherwise.
    #[schemars(with = "Option<ModeName>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// `doorward rollout` decides how far the agent is trusted, instead of the mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub staged: bool,
    /// Who answers questions if the agent's own mode has no prompt; `doorward setup` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Questions>,
}

impl Questions {
    /// The word in the configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Questions::Client => "client",
            Questions::Queue => "queue",
            Questions::Classifier => "classifier",
        }
    }
}

/// Who answers doorward's questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Questions {
    /// The agent asks in its own prompt; setup sets its mode so that it can.
    Client,
    /// The call is refused right away and waits in `doorward pending`.
    Queue,
    /// The agent's own classifier answers soft questions, if its mode has one; all others wait in the queue.
    Classifier,
}

impl Agent {
    /// A mode the user chose.
    pub(crate) fn fixed(mode: Mode) -> Agent {
        Agent { mode: Some(mode), ..Agent::default() }
    }

    /// Rolled out in stages; if anything goes wrong with those, it is trusted with nothing.
    pub(crate) fn rolled_out() -> Agent {
        Agent { mode: Some(Mode::ConfirmAll), staged: true, ..Agent::default() }
    }
}

/// The modes by name, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used")]
enum ModeName {
    Auto,
    Shadow,
    ConfirmAll,
    Off,
}

/// The stages by name, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used")]
enum StageName {
    Shadow,
    Active,
    Retired,
}

/// Patterns such as `bash(git push --force*)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Patterns {
    /// Block calls that match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Ask about calls that match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Clear soft questions about calls in which every command or file matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
}

/// Hosts by name; a name covers its subdomains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hosts {
    /// Hosts that may be fetched from and sent to; without `$defaults` this replaces the built-in list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Hosts that are never contacted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// Paths: absolute, below `~/`, or relative to the project; `*` and `**` as in a shell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Paths {
    /// Paths where no change is approved by layer 1 or an allow pattern.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// Paths that may be neither read nor written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// How long a call waits for an answer by default.
// Below the sixty seconds that setup installs as the client's timeout, with a margin to answer in.
pub(crate) const WAIT_SECONDS: u32 = 45;

/// Stands for the built-in entries of a list.
pub(crate) const DEFAULTS: &str = "$defaults";

impl Config {
    /// Reads a configuration file's text.
    pub(crate) fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string().trim_end().replace('\n', " "))?;
        config.patterns()?;
        config.thresholds.check()?;
        config.notify.check()?;
        config.reviewer.check()?;
        config.profile.check()?;
        Ok(config)
    }

    /// The mode the user chose for an agent.
    pub(crate) fn mode(&self, agent: &str) -> Mode {
        self.agents.get(agent).and_then(|agent| agent.mode).unwrap_or(Mode::ConfirmAll)
    }

    /// Who answers an agent's questions, if the user chose.
    pub(crate) fn questions(&self, agent: &str) -> Option<Questions> {
        self.agents.get(agent).and_then(|agent| agent.questions)
    }

    /// The agent is rolled out in stages.
    pub(crate) fn is_staged(&self, agent: &str) -> bool {
        self.agents.get(agent).is_some_and(|agent| agent.staged)
    }

    /// The built-in policy under this configuration.
    pub(crate) fn policy(&self, mode: Mode) -> Result<Policy, String> {
        let mut policy = Policy::built_in();
        policy.mode = mode;
        policy.strict = self.strict;
        policy.permissions = self.patterns()?;
        policy.thresholds = self.thresholds.over(policy.thresholds);
        stages::apply(&self.rules, &mut policy);
        Ok(policy)
    }

    pub(crate) fn settings(&self) -> Settings {
        let allowed = &self.hosts.allowed;
        Settings {
            allowed_hosts: own(allowed),
            only_allowed_hosts: !allowed.is_empty() && !allowed.iter().any(|host| host == DEFAULTS),
            denied_hosts: own(&self.hosts.denied),
            protected_paths: own(&self.paths.protected),
            denied_paths: own(&self.paths.denied),
            file_patterns: self.file_patterns(),
            strict: self.strict,
            // Not configuration: the desk itself notes where it was.
            desk_ports: Vec::new(),
        }
    }

    /// The patterns that deny or ask about files. Unreadable ones are reported elsewhere.
    fn file_patterns(&self) -> Vec<Pattern> {
        let lists = own(&self.permissions.deny).into_iter().chain(own(&self.permissions.ask));
        lists.filter_map(|text| Pattern::parse(&text).ok()).filter(Pattern::names_files).collect()
    }

    /// The user trusts exactly this project.
    pub(crate) fn trusts(&self, project: &str) -> bool {
        self.projects.trusted.iter().any(|trusted| trusted.trim_end_matches('/') == project)
    }

    /// The JSON schema of the file, for editors and checks.
    pub(crate) fn schema() -> serde_json::Value {
        schemars::schema_for!(Config).to_value()
    }

    /// The patterns; allow patterns that allow too much are left out, which `notes` reports.
    fn patterns(&self) -> Result<Permissions, String> {
        let read = |list: &[String]| own(list).iter().map(|text| Pattern::parse(text)).collect::<Result<Vec<_>, _>>();
        let mut allow = read(&self.permissions.allow)?;
        allow.retain(|pattern| pattern.too_broad().is_none());
        let (deny, ask) = (read(&self.permissions.deny)?, read(&self.permissions.ask)?);
        Ok(Permissions { deny, ask, allow, accepted: Vec::new() })
    }
}

fn own(list: &[String]) -> Vec<String> {
    list.iter().filter(|entry| *entry != DEFAULTS).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use doorward_engine::Thresholds;

    #[test]
    fn an_agent_nobody_has_trusted_is_asked_about_everything() {
        let config = Config::parse("[agents.claude]\nmode = \"auto\"\n").unwrap();
        assert_eq!(config.mode("claude"), Mode::Auto);
        assert_eq!(config.mode("codex"), Mode::ConfirmAll);
    }

    #[test]
    fn what_is_misspelt_is_an_error_and_not_ignored() {
        for text in [
            "stict = true",
            "[agents.claude]\nmode = \"atuo\"",
            "[permissions]\ndeny = [\"bash(\"]",
            "a = ",
            "[thresholds]\nconfidence = 85",
            "[thresholds]\nconfidence = \"0.9\"",
            "[notify]\ncommand = [\"notify\"]",
            "[notify]\nwebhook = \"file:///etc/passwd\"",
            "[notify]\nemail = \"me\"",
            "[reviewer]\nmodel = \"gpt\"",
            "[reviewer.providers.x]\nurl = \"http://example.com\"",
            "[profile]\nagents = [\"gardening\"]",
            "[profile]\nretain_days = 30",
        ] {
            assert!(Config::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn thresholds_never_fall_below_their_floors() {
        let of = |text: &str| Config::parse(text).unwrap().policy(Mode::Auto).unwrap().thresholds;
        let lax = of("[thresholds]\nconfidence = 0.5\nirreversible = 0.6\ndenials = 900\ndenials_in_a_row = 90");
        assert_eq!(lax, Thresholds::default());
        let firm = of("[thresholds]\nconfidence = 0.99\nreads_per_minute = 30\ndenials = 2");
        assert_eq!((firm.confidence, firm.reads_per_minute, firm.denials), (0.99, 30, 2));
    }

    #[test]
    fn a_list_keeps_the_built_in_entries_where_it_says_so() {
        let hosts = |text: &str| Config::parse(text).unwrap().settings();
        assert!(!hosts("").only_allowed_hosts);
        assert!(hosts("[hosts]\nallowed = [\"a.example\"]").only_allowed_hosts);
        let both = hosts("[hosts]\nallowed = [\"$defaults\", \"a.example\"]");
        assert_eq!((both.only_allowed_hosts, both.allowed_hosts), (false, vec!["a.example".to_owned()]));
    }
}
