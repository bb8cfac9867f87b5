//! Reads the sources of configuration one by one, and keeps what they said.

use std::path::PathBuf;

use doorward_engine::Rule;

use super::{AcceptedPart, PI_INLINE, Source, TEAM, THRESHOLDS};
use crate::machine::checked_read;
use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::policy::approved_config::Accepted;
use crate::policy::client_rules::RuleFile;
use crate::policy::config::{Config, Note, Numbers, Rights, held_back, pi};
use crate::policy::rollout::Rollout;
use crate::policy::team_policy::TeamPolicy;
use crate::policy::trust::Trust;

/// What the team's policy says here.
#[derive(Default)]
pub(super) struct TeamSaid {
    pub(super) config: Config,
    pub(super) rules: Vec<Rule>,
    pub(super) version: Option<u64>,
}

/// Reads sources one by one and keeps what they said.
#[derive(Default)]
pub(super) struct SourceReader {
    pub(super) problems: Vec<String>,
    pub(super) sources: Vec<Source>,
    pub(super) accepted: Accepted,
    pub(super) covered: Vec<(&'static str, AcceptedPart)>,
    pub(super) unaccepted: Vec<(String, Vec<&'static str>)>,
}

impl SourceReader {
    pub(super) fn load_accepted(&mut self, dirs: &Dirs) {
        match Accepted::load(dirs) {
            Ok(accepted) => self.accepted = accepted,
            Err(problem) => self.problems.push(problem),
        }
    }

    /// What the last source read may say: nothing laxer than what was accepted.
    pub(super) fn cover(&mut self, said: Config) -> Config {
        let Some(source) = self.sources.last() else { return Config::default() };
        let config = self.accepted.covered(source.name, said.clone());
        let keys = held_back(&said, &config);
        if !keys.is_empty() {
            self.unaccepted.push((source.place.clone(), keys));
        }
        let is_new = source.is_there && self.accepted.lacks(source.name, &config);
        self.covered.push((source.name, AcceptedPart { config: config.clone(), is_new }));
        config
    }

    pub(super) fn toml(&mut self, name: &'static str, path: PathBuf, rights: Rights) -> Config {
        let read = checked_read::read(&path);
        let parse = |text: &str| Config::parse(text).map(|config| (config, Vec::new()));
        self.source(name, path.display().to_string(), rights, read, parse)
    }

    /// The file of thresholds; `None` if there is none and never was.
    pub(super) fn thresholds(&mut self, dirs: &Dirs, rights: Rights) -> Option<Config> {
        let path = dirs.thresholds_file();
        let read = checked_read::read(&path);
        if matches!(read, Ok(None)) && !self.accepted.knows(THRESHOLDS) {
            return None;
        }
        let parse = |text: &str| {
            let thresholds = Numbers::parse(text)?;
            Ok((Config { thresholds, ..Config::default() }, Vec::new()))
        };
        Some(self.source(THRESHOLDS, path.display().to_string(), rights, read, parse))
    }

    pub(super) fn pi(&mut self, name: &'static str, path: PathBuf, rights: Rights) -> Config {
        let read = checked_read::read(&path);
        self.source(name, path.display().to_string(), rights, read, pi::parse)
    }

    pub(super) fn pi_shared(&mut self, path: PathBuf) -> Config {
        let read = checked_read::read(&path);
        self.source("Pi, shared", path.display().to_string(), Rights::TightenOnly, read, pi::parse_shared)
    }

    pub(super) fn pi_inline(&mut self) -> Config {
        let read = Ok(std::env::var(PI_INLINE).ok().filter(|text| !text.is_empty()));
        self.source("Pi, inline", PI_INLINE.to_owned(), Rights::TightenOnly, read, pi::parse)
    }

    /// What an agent's own settings deny or ask about. If they can't be read, what they deny is unknown.
    pub(super) fn rules_of_client(&mut self, file: &RuleFile) -> Config {
        let place = file.path.display().to_string();
        self.source(file.name, place, Rights::TightenOnly, file.read(), |text| file.tightening(text))
    }

    pub(super) fn trust(&mut self, dirs: &Dirs, rights: Rights) -> Trust {
        match (Trust::load(dirs), rights) {
            (Ok(trust), Rights::Full) => trust,
            (Ok(_), Rights::TightenOnly) => Trust::default(),
            (Err(problem), _) => {
                self.problems.push(problem);
                Trust::default()
            }
        }
    }

    /// The team's policy, as far as this machine follows one. What is wrong with it tightens, and is a problem like any other.
    pub(super) fn team(&mut self, dirs: &Dirs, rights: Rights) -> TeamSaid {
        let policy = match TeamPolicy::load(dirs) {
            Ok(Some(policy)) => policy,
            Ok(None) => return TeamSaid::default(),
            Err(problem) => {
                self.problems.push(problem);
                return TeamSaid::default();
            }
        };
        let (contents, problem) = policy.contents(now_ms());
        self.problems.extend(problem);
        let version = policy.in_force.as_ref().map(|in_force| in_force.version);
        let place = format!("version {} from {}", version.unwrap_or_default(), policy.source);
        let said = contents.config;
        self.sources.push(Source { name: TEAM, place, rights, is_there: true, said, noticed: Vec::new() });
        let config = self.sources.last().map(Source::config).unwrap_or_default();
        TeamSaid { config, rules: contents.rules, version }
    }

    pub(super) fn rollout(&mut self, dirs: &Dirs, rights: Rights) -> Option<Rollout> {
        match (Rollout::load(dirs), rights) {
            (Ok(rollout), Rights::Full) => rollout,
            (Ok(_), Rights::TightenOnly) => None,
            (Err(problem), _) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn source(
        &mut self,
        name: &'static str,
        place: String,
        rights: Rights,
        read: Result<Option<String>, String>,
        parse: impl Fn(&str) -> Result<(Config, Vec<Note>), String>,
    ) -> Config {
        let is_there = !matches!(read, Ok(None));
        let parsed = match read {
            Ok(None) => Ok((Config::default(), Vec::new())),
            Ok(Some(text)) => parse(&text).map_err(|problem| {
                format!(
                    "`{place}` is not a valid configuration: {problem}; fix or remove it, `doorward config` shows the rest"
                )
            }),
            Err(problem) => Err(problem),
        };
        let (said, noticed) = parsed.unwrap_or_else(|problem| {
            self.problems.push(problem);
            // Ignoring the file would drop its denials.
            (Config { strict: true, ..Config::default() }, Vec::new())
        });
        let source = Source { name, place, rights, is_there, said, noticed };
        let config = source.config();
        self.sources.push(source);
        config
    }
}
