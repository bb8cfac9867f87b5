//! Assembles the configuration: managed over user, and sources that anyone may have written can only tighten.

mod source_reader;

use std::io::Write;
use std::path::Path;

use doorward_engine::{Mode, Permissions, Policy, Rule, Scorer, Thresholds};

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::policy::approved_config::{Accepted, USER};
use crate::policy::client_rules;
use crate::policy::config::{Config, Note, Numbers, Rights, notes};
use crate::policy::from_history::FromHistory;
use crate::policy::rollout::{Assigned, Rollout, RolloutStage};
use crate::policy::trust::Trust;
use crate::policy::user_files::{self, Extensions};
use source_reader::SourceReader;

/// The administrator's settings for the whole machine.
pub(crate) const MANAGED: &str = "/etc/doorward/config.toml";

/// The configuration file a repository may contain.
const PROJECT: &str = ".doorward.toml";

/// The name of the accepted thresholds among the sources.
pub(crate) const THRESHOLDS: &str = "thresholds";

/// The name of Pi's settings for all projects among the sources.
const PI_GLOBAL: &str = "Pi, global";

/// The name of Pi's settings for this project and this machine among the sources.
const PI_LOCAL: &str = "Pi, local";

/// The name of the team's policy among the sources.
const TEAM: &str = "team";

/// Pi's settings in the environment.
const PI_INLINE: &str = "PI_AUTOMODE_SETTINGS_JSON";

/// One source of configuration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub name: &'static str,
    /// The file, or the variable.
    pub place: String,
    pub rights: Rights,
    /// It exists, readable or not.
    pub is_there: bool,
    /// What it says.
    said: Config,
    /// What was noticed while it was read.
    noticed: Vec<Note>,
}

impl Source {
    /// What it may say, given its rights.
    pub(crate) fn config(&self) -> Config {
        match self.rights {
            Rights::Full => self.said.clone(),
            Rights::TightenOnly => self.said.clone().tightening_only(),
        }
    }

    /// Notes for the user.
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.noticed.iter().cloned().chain(notes(&self.said, self.rights)).collect()
    }
}

/// One of the user's files, limited to what was accepted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AcceptedPart {
    /// The effective part of it.
    pub config: Config,
    /// It is stricter than the stored copy.
    pub is_new: bool,
}

/// The effective configuration, and its problems.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Loaded {
    pub config: Config,
    pub trust: Trust,
    /// What the files of the user and the administrator say.
    files: Config,
    /// What only tightens.
    tightening: Config,
    /// Program and rule files of the user.
    pub own: Extensions,
    /// Rules of the team's policy, and its version.
    team: (Vec<Rule>, Option<u64>),
    /// The rollouts, if any.
    pub rollout: Option<Rollout>,
    /// What the current session gets from them.
    pub assigned: Assigned,
    /// The program files as they are, accepted or not.
    written_programs: &'static [u8],
    /// What the user's files loosen without effect, because it is not accepted: the file and the keys.
    pub unaccepted: Vec<(String, Vec<&'static str>)>,
    covered: Vec<(&'static str, AcceptedPart)>,
    /// What the user accepted, and where the record says so.
    pub accepted: Accepted,
    /// The accepted offers that apply here.
    pub history: FromHistory,
    project: Option<String>,
    /// Each one makes the configuration strict and the mode `confirm-all`.
    pub problems: Vec<String>,
    pub sources: Vec<Source>,
}

/// What is read instead of the user's own files, to see what it would change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overrides {
    pub config: Option<Config>,
    pub thresholds: Option<Numbers>,
    pub own: Option<Extensions>,
    pub scorer: Option<Scorer>,
    pub history: Option<FromHistory>,
}

impl Loaded {
    /// The mode of an agent; if anything is unreadable, no agent is trusted.
    pub(crate) fn mode(&self, agent: &str) -> Mode {
        if !self.problems.is_empty() {
            // The file that can't be read may be the one that says to be strict.
            return Mode::ConfirmAll;
        }
        match (self.assigned.mode, self.config.is_staged(agent)) {
            (Some(mode), true) => mode,
            // An unknown session is outside every share.
            (None, true) => self.assigned_to(agent, "", None).mode.unwrap_or(Mode::ConfirmAll),
            (_, false) => self.config.mode(agent),
        }
    }

    /// The rollout stage of an agent, in words.
    pub(crate) fn stage(&self, agent: &str) -> Option<String> {
        let step = self.rollout.as_ref()?.agents.get(agent).filter(|_| self.config.is_staged(agent))?.now();
        Some(match step.stage {
            RolloutStage::Canary => format!("rollout: {} of sessions in `auto`", step.share),
            stage @ (RolloutStage::ConfirmAll | RolloutStage::Shadow | RolloutStage::Auto) => {
                format!("rollout: stage `{stage}`")
            }
        })
    }

    /// Gives a session its part of the rollouts.
    pub(crate) fn assign(&mut self, agent: &str, (session, began_ms): (&str, Option<u64>)) {
        if self.rollout.is_some() {
            self.assigned = self.assigned_to(agent, session, began_ms);
        }
    }

    fn assigned_to(&self, agent: &str, session: &str, began_ms: Option<u64>) -> Assigned {
        let nothing = Rollout::default();
        let rollout = self.rollout.as_ref().unwrap_or(&nothing);
        Assigned::for_session(rollout, (agent, self.config.is_staged(agent)), session, began_ms)
    }

    /// Prints the problems to standard error, for commands typed by the user.
    pub(crate) fn tell_problems(&self) {
        let mut out = anstream::stderr().lock();
        for problem in &self.problems {
            let problem = crate::machine::visible(problem);
            // If this fails, there is no one left to tell.
            let _ = writeln!(out, "doorward: {problem}; until then, doorward is strict and asks about every call");
        }
    }

    /// The policy that follows from the configuration and the user's own rules.
    pub(crate) fn policy(&self, mode: Mode) -> Result<Policy, String> {
        let mut policy = self.config.policy(mode)?;
        policy.thresholds = self.config.thresholds.over(self.accepted.thresholds());
        if !self.own.rules.is_empty() {
            policy.version = format!("{}+own{}", policy.version, self.own.rules.len());
            policy.rules.extend(self.own.rules.iter().cloned());
        }
        policy.rules.extend(self.team.0.iter().cloned());
        if let Some(version) = self.team.1 {
            policy.version.push_str(&format!("+team{version}"));
        }
        policy.permissions.accepted = self.history.rules_in(self.project.as_deref(), now_ms());
        policy.scorer = self.own.scorer.clone();
        if policy.scorer != Scorer::BuiltIn {
            policy.version.push_str("+scorer");
        }
        if let Some(name) = self.name_of_what_is_set(&policy) {
            policy.version = format!("{}+{name}", policy.version);
        }
        self.assigned.apply_to(&mut policy);
        Ok(policy)
    }
}

impl Loaded {
    /// A name for what makes the policy differ from the built-in one; `None` if nothing does.
    fn name_of_what_is_set(&self, policy: &Policy) -> Option<String> {
        let Policy { permissions, thresholds, strict, scorer, .. } = policy;
        let set = (permissions, thresholds, strict, scorer, &self.own.rules, &self.config.rules, &self.team.0);
        let is_unset = *permissions == Permissions::default()
            && *thresholds == Thresholds::default()
            && !strict
            && *scorer == Scorer::BuiltIn
            && self.own.rules.is_empty()
            && self.config.rules.is_empty()
            && self.team.0.is_empty();
        if is_unset {
            return None;
        }
        // Two settings with one version would make replay compare decisions of different policies.
        let name = doorward_ledger::Hash::of(format!("{set:?}").as_bytes()).to_string();
        name.get(..8).map(str::to_owned)
    }

    fn new(files: Config, trust: Trust, tightening: Config, reader: SourceReader) -> Loaded {
        let SourceReader { problems, sources, accepted, covered, unaccepted } = reader;
        let empty = Loaded::default();
        let mut loaded = Loaded { trust, files, tightening, problems, sources, accepted, covered, unaccepted, ..empty };
        loaded.compose();
        loaded
    }

    /// The rules of the team's policy.
    #[cfg(test)]
    pub(crate) fn team_rules(&self) -> &[Rule] {
        &self.team.0
    }

    /// The user's own files, limited to what was accepted.
    pub(crate) fn covered(&self) -> impl Iterator<Item = (&str, &AcceptedPart)> {
        self.covered.iter().map(|(name, covered)| (*name, covered))
    }

    /// The user's own files as they are written.
    pub(crate) fn own_files(&self) -> impl Iterator<Item = (&str, Config)> {
        // Managed settings need no acceptance: an agent can't write to `/etc`.
        let is_own = |source: &&Source| source.is_there && matches!(source.name, USER | PI_GLOBAL | THRESHOLDS);
        self.sources.iter().filter(is_own).map(|source| (source.name, source.config()))
    }

    /// The user's program files as they are, accepted or not.
    pub(crate) fn written_programs(&self) -> &'static [u8] {
        self.written_programs
    }

    /// What has no effect because it is not accepted, in sentences.
    pub(crate) fn unaccepted_sentences(&self) -> Vec<String> {
        let sentence = |(place, keys): &(String, Vec<&str>)| {
            format!(
                "`{place}` loosens {}, which has no effect until you accept it with `doorward reload`",
                keys.iter().map(|key| format!("`{key}`")).collect::<Vec<String>>().join(", ")
            )
        };
        self.unaccepted.iter().map(sentence).collect()
    }

    /// Adds the user's program and rule files; programs only if they were accepted as they are.
    fn add_extensions(&mut self, mut own: Extensions, folder: &Path) {
        self.written_programs = own.programs;
        if !self.accepted.covers_programs(own.programs) {
            own.programs = &[];
            self.unaccepted.push((folder.join("programs").display().to_string(), vec!["programs"]));
        }
        self.own = own;
    }

    /// Adds the rollouts. An agent that should have one and has none is trusted with nothing.
    fn roll_out(&mut self, rollout: Option<Rollout>, agent: &str) {
        let is_known = rollout.as_ref().is_some_and(|rollout| rollout.agents.contains_key(agent));
        self.rollout = rollout;
        if self.config.is_staged(agent) && !is_known && self.problems.is_empty() {
            self.distrust(format!(
                "`{agent}` is configured for a rollout that has not started; run `doorward rollout start {agent}`"
            ));
        }
    }

    fn compose(&mut self) {
        let trusted = self.files.clone().joined_with(self.trust.as_config());
        self.config = trusted.tightened_by(self.tightening.clone());
        self.config.strict |= !self.problems.is_empty();
        // Pi's files can't add an unaccepted model, but may choose among the user's; the local file has the last word.
        for name in [PI_GLOBAL, PI_LOCAL] {
            let said = self.sources.iter().find(|source| source.name == name);
            if let Some(wanted) = said.and_then(|source| source.said.reviewer.model.clone()) {
                self.config.reviewer.choose(&wanted);
            }
        }
    }

    /// What the files of the user and the administrator say, or may still say in this session.
    pub(crate) fn files(&self) -> &Config {
        &self.files
    }

    /// Removes anything laxer than `held`.
    pub(crate) fn hold(&mut self, held: &Config) {
        self.files = std::mem::take(&mut self.files).no_laxer_than(held);
        self.compose();
    }

    /// Something can't be trusted: be strict, and ask about every call.
    pub(crate) fn distrust(&mut self, problem: String) {
        self.problems.push(problem);
        self.compose();
    }
}

/// Reads all sources for work in a project.
pub(crate) fn load(dirs: &Dirs, project: Option<&str>, agent: &str) -> Loaded {
    load_with(dirs, project, agent, &Overrides::default())
}

/// Reads all sources for work in a project, with replacements for some of the user's.
pub(crate) fn load_with(dirs: &Dirs, project: Option<&str>, agent: &str, overrides: &Overrides) -> Loaded {
    let mut reader = SourceReader::default();
    reader.load_accepted(dirs);
    // `HOME` can point into the repository, whose files anyone can write (decision 0007).
    let own = if dirs.may_loosen(project) { Rights::Full } else { Rights::TightenOnly };
    let user = reader.toml(USER, dirs.config_file(), own);
    let user = reader.cover(user);
    let mut files = overrides.config.clone().unwrap_or(user);
    let numbers = reader.thresholds(dirs, own).map(|numbers| reader.cover(numbers));
    let wanted = overrides.thresholds.map(|thresholds| Config { thresholds, ..Config::default() });
    if let Some(numbers) = wanted.or(numbers) {
        files = files.joined_with(numbers);
    }
    if agent == "pi" {
        let global = reader.pi(PI_GLOBAL, dirs.pi_file(), own);
        files = files.joined_with(reader.cover(global));
    }
    let trust = reader.trust(dirs, own);
    let team_policy = reader.team(dirs, own);
    let (team_rules, team_version) = (team_policy.rules, team_policy.version);
    files = files.overruled_by(team_policy.config);
    // Last among the files that may loosen, so that the administrator overrules the user.
    if !crate::machine::paths::is_stage() {
        files = files.overruled_by(reader.toml("managed", MANAGED.into(), Rights::Full));
    }
    // From here on come files that the agent, the repository or the environment may have written.
    let mut tightening = Config::default();
    if let Some(project) = project.map(Path::new) {
        tightening = reader.toml("project", project.join(PROJECT), Rights::TightenOnly);
        if agent == "pi" {
            let local = reader.pi(PI_LOCAL, project.join(".pi/automode.local.json"), Rights::TightenOnly);
            let shared = reader.pi_shared(project.join(".pi/automode.json"));
            tightening = tightening.tightened_by(local).tightened_by(shared);
        }
    }
    if agent == "pi" {
        tightening = tightening.tightened_by(reader.pi_inline());
    }
    for file in client_rules::files(agent, dirs.home(), project) {
        tightening = tightening.tightened_by(reader.rules_of_client(&file));
    }
    let folder = dirs.config_directory();
    let added = user_files::load(&folder, dirs.may_loosen(project), &mut reader.problems);
    let rollout = reader.rollout(dirs, own);
    let mut loaded = Loaded::new(files, trust, tightening, reader);
    loaded.add_extensions(added, &folder);
    loaded.team = (team_rules, team_version);
    loaded.project = project.map(str::to_owned);
    if own == Rights::Full {
        loaded.history = overrides.history.as_ref().unwrap_or(&loaded.accepted.history).clone();
    }
    if let Some(own) = &overrides.own {
        loaded.own.rules.clone_from(&own.rules);
    }
    if let Some(scorer) = &overrides.scorer {
        loaded.own.scorer.clone_from(scorer);
    }
    loaded.roll_out(rollout, agent);
    loaded
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
