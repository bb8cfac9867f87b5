//! What the user's files loosen takes effect only once the user accepts it; what they tighten takes effect at once, and stays.
//!
//! Next to the record is an authenticated copy of each file as last accepted. A file is compared with that copy: anything
//! laxer has no effect. Anything stricter goes into the copy, so removing it from the file again needs acceptance too.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use doorward_engine::{Policy, Thresholds};
use doorward_ledger::{PolicyBody, State, StateKey, States};
use serde::{Deserialize, Serialize};

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::policy::config::{Agent, Config, Numbers, stricter};
use crate::policy::from_history::FromHistory;
use crate::policy::load::{AcceptedPart, Loaded};

/// The name of the user's own file among the sources.
pub(crate) const USER: &str = "user";

/// What the user accepted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Accepted {
    /// By the name of the source; a file that is not here may only tighten.
    files: BTreeMap<String, Config>,
    /// The hash of the user's program files.
    programs: Option<String>,
    /// The entry of the log that says so.
    pub record: Option<u64>,
    /// When the user last accepted something; tightening leaves it alone.
    at_ms: Option<u64>,
    /// The built-in values of the last accepted build.
    built_in: Option<BuiltInValues>,
    /// The version of the ruleset, counted by what its changes did to recorded verdicts.
    ruleset: Option<[u32; 3]>,
    /// Offers the user accepted.
    #[serde(skip_serializing_if = "FromHistory::is_empty")]
    pub history: FromHistory,
}

/// The built-in values of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuiltInValues {
    pub program: String,
    pub knowledge: String,
    thresholds: Numbers,
}

impl BuiltInValues {
    /// This build's built-in values.
    pub(crate) fn of_this_build() -> BuiltInValues {
        BuiltInValues {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            knowledge: Policy::KNOWLEDGE.to_owned(),
            thresholds: Thresholds::default().into(),
        }
    }
}

impl State for Accepted {
    const NAME: &'static str = "accepted";
}

impl Accepted {
    /// What has been accepted so far, if anything.
    pub(crate) fn load(dirs: &Dirs) -> Result<Accepted, String> {
        if !directory(dirs).exists() {
            return Ok(Accepted::default());
        }
        let key = StateKey::load(&key_file(dirs)).map_err(|error| broken(dirs, &error.to_string()))?;
        States::at(&directory(dirs), key).load(USER).map_err(|error| broken(dirs, &error.to_string()))
    }

    /// What a source says, without anything unaccepted.
    pub(crate) fn covered(&self, source: &str, said: Config) -> Config {
        match self.files.get(source) {
            Some(accepted) => said.no_laxer_than(accepted),
            // A file that was never accepted could have been written by an agent; it may still tighten.
            None => said.no_laxer_than(&Config::default()),
        }
    }

    /// The effective part of a source is stricter than the stored copy.
    pub(crate) fn lacks(&self, source: &str, counts: &Config) -> bool {
        let kept = self.files.get(source).cloned().unwrap_or_default();
        *counts != kept.clone().no_laxer_than(&kept)
    }

    /// There is a stored copy of this source.
    pub(crate) fn knows(&self, source: &str) -> bool {
        self.files.contains_key(source)
    }

    /// These program files were accepted; having none needs no acceptance.
    pub(crate) fn covers_programs(&self, packed: &[u8]) -> bool {
        // By hash of the whole: a single changed line in a program file can turn a write into a read.
        packed.is_empty() || self.programs.as_deref() == Some(hash(packed).as_str())
    }

    /// When the user last accepted something.
    pub(crate) fn accepted_at(&self) -> Option<SystemTime> {
        self.at_ms.map(|at| UNIX_EPOCH + Duration::from_millis(at))
    }

    /// The built-in thresholds, none laxer than those of the accepted build.
    pub(crate) fn thresholds(&self) -> Thresholds {
        let here = Thresholds::default();
        match &self.built_in {
            Some(built_in) => stricter(here, built_in.thresholds.over(here)),
            None => here,
        }
    }

    /// The accepted build, if this is another one.
    pub(crate) fn upgraded_from(&self) -> Option<&BuiltInValues> {
        self.built_in.as_ref().filter(|built_in| built_in.knowledge != Policy::KNOWLEDGE)
    }

    /// No threshold of the accepted build is stricter than one of this build.
    pub(crate) fn keeps_no_thresholds(&self) -> bool {
        self.thresholds() == Thresholds::default()
    }

    /// The version of the ruleset.
    pub(crate) fn ruleset(&self) -> [u32; 3] {
        self.ruleset.unwrap_or([1, 0, 0])
    }

    fn fingerprint(&self) -> String {
        let said = (&self.files, &self.programs);
        hash(&serde_json::to_vec(&said).unwrap_or_default())
    }
}

/// Stores what the files tightened since; the hook does this, and it never loosens anything.
pub(crate) fn keep_tightened(dirs: &Dirs, loaded: &Loaded) -> Result<(), String> {
    let kept = |(source, covered): (&str, &AcceptedPart)| (source.to_owned(), covered.config.clone());
    let tightened: BTreeMap<String, Config> =
        loaded.covered().filter(|(_, covered)| covered.is_new).map(kept).collect();
    // What was read in a broken state must not become the accepted one.
    if tightened.is_empty() || !loaded.problems.is_empty() {
        return Ok(());
    }
    update(dirs, |accepted| accepted.files.extend(tightened)).map_err(|error| broken(dirs, &error.to_string()))
}

/// Accepts the files as they were read. INVARIANT: the record is durable before anything is loosened.
pub(crate) fn accept(dirs: &Dirs, loaded: &Loaded, ledger: &mut dyn Recorder) -> Result<()> {
    let before = Accepted::load(dirs).unwrap_or_default();
    let files: BTreeMap<String, Config> = loaded.own_files().map(|(name, said)| (name.to_owned(), said)).collect();
    let programs = Some(loaded.written_programs()).filter(|packed| !packed.is_empty()).map(hash);
    let mut after = Accepted { files, programs, record: None, at_ms: None, ..before.clone() };
    let what = "the configuration as it is was accepted".to_owned();
    let body = PolicyBody {
        what,
        before: Some(before.fingerprint()),
        after: Some(after.fingerprint()),
        user: crate::machine::user(),
        project: None,
    };
    let receipt = ledger.append(LogEntry::new(&body)?).context("can't record the change, so nothing was changed")?;
    (after.record, after.at_ms) = (Some(receipt.sequence), Some(now_ms()));
    if Accepted::load(dirs).is_err() {
        // The user reviewed and accepted the files: rebuild what is damaged.
        std::fs::remove_dir_all(directory(dirs)).context("can't remove what was accepted before")?;
    }
    update(dirs, |accepted| *accepted = after).map_err(anyhow::Error::msg)
}

/// Accepts an agent's mode, whatever else the file says. The caller records it first.
pub(crate) fn accept_mode(dirs: &Dirs, agent: &str, choice: &Agent, directories: &[String]) -> Result<()> {
    let change = |accepted: &mut Accepted| {
        let file = accepted.files.entry(USER.to_owned()).or_default();
        // Changing the mode does not decide who answers questions.
        // `setup --mode` without the option for questions means "as before".
        let asked = file.agents.get(agent).and_then(|known| known.questions);
        let choice = Agent { questions: choice.questions.or(asked), ..choice.clone() };
        file.agents.insert(agent.to_owned(), choice);
        accepted.at_ms = Some(now_ms());
        for directory in directories {
            if !file.programs.directories.contains(directory) {
                file.programs.directories.push(directory.clone());
            }
        }
    };
    update(dirs, change).map_err(anyhow::Error::msg)
}

/// Accepts a change in one of the user's files, whatever the rest says. The caller records it first.
pub(crate) fn accept_in(dirs: &Dirs, source: &str, change: impl FnOnce(&mut Config)) -> Result<()> {
    let change = |accepted: &mut Accepted| {
        change(accepted.files.entry(source.to_owned()).or_default());
        accepted.at_ms = Some(now_ms());
    };
    update(dirs, change).map_err(anyhow::Error::msg)
}

/// Increments the version of the ruleset. The caller records it first.
pub(crate) fn set_ruleset(dirs: &Dirs, version: [u32; 3]) -> Result<()> {
    update(dirs, |accepted| accepted.ruleset = Some(version)).map_err(anyhow::Error::msg)
}

/// Changes the accepted offers. The caller records it first.
pub(crate) fn change_history(dirs: &Dirs, change: impl FnOnce(&mut FromHistory)) -> Result<()> {
    update(dirs, |accepted| change(&mut accepted.history)).map_err(anyhow::Error::msg)
}

/// Accepts this build's built-in values. The caller records it first.
pub(crate) fn accept_build(dirs: &Dirs) -> Result<()> {
    update(dirs, |accepted| accepted.built_in = Some(BuiltInValues::of_this_build())).map_err(anyhow::Error::msg)
}

/// Pretends that another build with this confidence was accepted.
#[cfg(test)]
pub(crate) fn pretend_build(dirs: &Dirs, program: &str, confidence: f64) {
    let change = |accepted: &mut Accepted| {
        let thresholds = Numbers { confidence: Some(confidence), ..Thresholds::default().into() };
        accepted.built_in =
            Some(BuiltInValues { program: program.to_owned(), knowledge: "another".to_owned(), thresholds });
    };
    update(dirs, change).unwrap();
}

fn update(dirs: &Dirs, change: impl FnOnce(&mut Accepted)) -> Result<(), String> {
    let key = StateKey::load_or_create(&key_file(dirs)).map_err(|error| error.to_string())?;
    let change = |accepted: &mut Accepted| {
        change(accepted);
        // The first acceptance also accepts this build's built-in values.
        accepted.built_in.get_or_insert_with(BuiltInValues::of_this_build);
    };
    States::at(&directory(dirs), key).update(USER, change).map_err(|error| broken(dirs, &error.to_string()))
}

fn hash(bytes: &[u8]) -> String {
    doorward_ledger::Hash::of(bytes).to_string()
}

fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("accepted")
}

fn key_file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("accepted.key")
}

fn broken(dirs: &Dirs, why: &str) -> String {
    format!(
        "`{}` can't be trusted: {why}; review the configuration and accept it with `doorward reload`",
        directory(dirs).display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::record::{self, Ledger};
    use crate::policy::load::load;
    use doorward_engine::Mode;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    const AUTO: &str = "[agents.claude]\nmode = \"auto\"\n";

    struct TestHome {
        _base: TempDir,
        dirs: Dirs,
    }

    impl TestHome {
        fn new() -> TestHome {
            let base = tempfile::tempdir().unwrap();
            let dirs = Dirs::at(base.path().to_str().unwrap());
            record::begin(&dirs).unwrap();
            TestHome { _base: base, dirs }
        }

        fn put(&self, name: &str, text: &str) {
            let path = self.dirs.config_directory().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        }

        /// The configuration as the hook sees it.
        fn hook(&self) -> Loaded {
            let loaded = load(&self.dirs, None, "claude");
            keep_tightened(&self.dirs, &loaded).unwrap();
            loaded
        }

        fn accept(&self) {
            accept(&self.dirs, &load(&self.dirs, None, "pi"), &mut Ledger::open(&self.dirs)).unwrap();
        }
    }

    #[test]
    fn what_a_file_loosens_has_no_effect_until_a_person_accepts_it() {
        let room = TestHome::new();
        room.put("config.toml", &format!("{AUTO}[permissions]\nallow = [\"bash(make x)\"]\n"));
        let loaded = room.hook();
        assert_eq!((loaded.mode("claude"), loaded.config.permissions.allow.len()), (Mode::ConfirmAll, 0));
        let said = loaded.unaccepted_sentences().join("\n");
        for part in ["config.toml", "`agents`, `permissions.allow`", "`doorward reload`"] {
            assert!(said.contains(part), "{said}");
        }
        room.accept();
        let loaded = room.hook();
        assert_eq!((loaded.mode("claude"), loaded.config.permissions.allow.len()), (Mode::Auto, 1));
        assert!(loaded.unaccepted.is_empty() && loaded.problems.is_empty());
    }

    #[test]
    fn what_was_tightened_stays_although_the_file_no_longer_says_it() {
        let room = TestHome::new();
        room.put("config.toml", AUTO);
        room.accept();
        let deny = "[permissions]\ndeny = [\"bash(ls)\"]\n[paths]\ndenied = [\"vault\"]\n";
        room.put("config.toml", &format!("strict = true\n{AUTO}{deny}"));
        assert_eq!(room.hook().config.permissions.deny, ["bash(ls)"]);
        for gone in [AUTO, ""] {
            room.put("config.toml", gone);
            let loaded = room.hook();
            assert_eq!(loaded.config.permissions.deny, ["bash(ls)"]);
            assert!(loaded.config.strict && loaded.config.paths.denied == ["vault"]);
            assert_eq!(loaded.unaccepted[0].1, ["permissions.deny", "paths.denied", "strict"]);
        }
        std::fs::remove_file(room.dirs.config_file()).unwrap();
        assert_eq!(room.hook().config.permissions.deny, ["bash(ls)"]);
        room.put("config.toml", AUTO);
        room.accept();
        assert!(room.hook().config.permissions.deny.is_empty());
    }

    #[test]
    fn a_mode_that_was_tightened_by_hand_is_not_loosened_by_hand() {
        let room = TestHome::new();
        room.put("config.toml", AUTO);
        room.accept();
        room.put("config.toml", "[agents.claude]\nmode = \"confirm-all\"\n");
        assert_eq!(room.hook().mode("claude"), Mode::ConfirmAll);
        room.put("config.toml", AUTO);
        assert_eq!(room.hook().mode("claude"), Mode::ConfirmAll);
        room.accept();
        assert_eq!(room.hook().mode("claude"), Mode::Auto);
    }

    #[test]
    fn a_file_that_is_broken_for_a_moment_changes_nothing_for_good() {
        let room = TestHome::new();
        room.put("config.toml", AUTO);
        room.accept();
        room.put("config.toml", "mode = = x");
        assert_eq!(room.hook().mode("claude"), Mode::ConfirmAll);
        room.put("config.toml", AUTO);
        assert_eq!(room.hook().mode("claude"), Mode::Auto);
    }

    #[test]
    fn programs_of_ones_own_count_as_they_were_accepted() {
        let room = TestHome::new();
        let frob = |flag: &str| {
            format!(
                "name = \"frob\"\nwhat = \"counts\"\noperands = [\"read*\"]\n[flags]\n\"{flag}\" = \"write\"\n\
                 [[example]]\ncall = \"frob {flag} b.txt a.txt\"\neffects = [\"read a.txt\", \"write b.txt\"]\n"
            )
        };
        room.put("programs/frob.toml", &frob("-o"));
        let loaded = room.hook();
        assert!(loaded.own.programs.is_empty() && loaded.problems.is_empty(), "{:?}", loaded.problems);
        assert!(loaded.unaccepted_sentences().concat().contains("programs"));
        room.accept();
        assert!(!room.hook().own.programs.is_empty());
        room.put("programs/frob.toml", &frob("-w"));
        assert!(room.hook().own.programs.is_empty());
    }

    #[test]
    fn what_was_accepted_is_on_the_record_and_cannot_be_forged_without_the_key() {
        let room = TestHome::new();
        room.put("config.toml", AUTO);
        room.accept();
        let sequence = Accepted::load(&room.dirs).unwrap().record.unwrap();
        let log = doorward_ledger::Log::open(&record::directory(&room.dirs)).unwrap();
        let record = log.record(sequence).unwrap().unwrap();
        assert_eq!(record.header.kind, doorward_ledger::Kind::Policy);
        std::fs::write(key_file(&room.dirs), "0".repeat(64)).unwrap();
        let loaded = room.hook();
        assert_eq!(loaded.mode("claude"), Mode::ConfirmAll);
        assert!(loaded.problems[0].contains("`doorward reload`"), "{:?}", loaded.problems);
    }
}
