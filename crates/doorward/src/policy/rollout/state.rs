//! The state of all rollouts: one authenticated file, read by the hook only if it exists.

use std::collections::BTreeMap;
use std::path::PathBuf;

use doorward_engine::{Operation, Thresholds};
use doorward_ledger::{Hash, State, StateKey, States};
use serde::{Deserialize, Serialize};

use super::stage::{EffectiveStage, RolloutStage, Track};
use super::trial::Stopping;
use crate::machine::paths::Dirs;

/// All rollouts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Rollout {
    /// Drawn at random once; without it no one can predict which sessions a share covers.
    salt: String,
    pub agents: BTreeMap<String, Track>,
    /// The user's own rules.
    pub rules: BTreeMap<String, Track>,
    /// Thresholds on trial against the current ones.
    pub trial: Option<Trial>,
}

impl State for Rollout {
    const NAME: &'static str = "rollout";
}

/// A set of thresholds on trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Its display name.
    pub name: String,
    pub numbers: ThresholdSet,
    pub track: Track,
    /// When the trial ends, fixed at its start.
    pub stopping: Stopping,
    /// It approves nothing that was asked about before, so not asking more is enough.
    #[serde(default)]
    pub only_asks_more: bool,
}

/// The numbers of a set, stored here so that nothing else has to be read or trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThresholdSet {
    confidence: f64,
    irreversible: f64,
    by_operation: Vec<f64>,
    reads_per_minute: u32,
    read_burst: u32,
    denials_in_a_row: u32,
    denials: u32,
    // Older sets without these use the built-in ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bulk_files: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bulk_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_bytes: Option<u64>,
}

impl From<Thresholds> for ThresholdSet {
    fn from(set: Thresholds) -> ThresholdSet {
        let Thresholds { confidence, irreversible, reads_per_minute, read_burst, denials_in_a_row, denials, .. } = set;
        let by_operation = set.by_operation.to_vec();
        ThresholdSet {
            confidence,
            irreversible,
            by_operation,
            reads_per_minute,
            read_burst,
            denials_in_a_row,
            denials,
            bulk_files: Some(set.bulk_files),
            bulk_bytes: Some(set.bulk_bytes),
            read_bytes: Some(set.read_bytes),
        }
    }
}

impl ThresholdSet {
    /// The set, never below the built-in floors.
    pub(crate) fn set(&self) -> Thresholds {
        let floor = Thresholds::default();
        let mut by_operation = floor.by_operation;
        for (number, mine) in by_operation.iter_mut().zip(&self.by_operation) {
            *number = mine.max(floor.confidence);
        }
        Thresholds {
            confidence: self.confidence.max(floor.confidence),
            irreversible: self.irreversible.max(floor.irreversible),
            by_operation,
            reads_per_minute: self.reads_per_minute.min(floor.reads_per_minute),
            read_burst: self.read_burst.min(floor.read_burst),
            denials_in_a_row: self.denials_in_a_row.min(floor.denials_in_a_row),
            denials: self.denials.min(floor.denials),
            bulk_files: self.bulk_files.unwrap_or(u32::MAX).min(floor.bulk_files),
            bulk_bytes: self.bulk_bytes.unwrap_or(u64::MAX).min(floor.bulk_bytes),
            read_bytes: self.read_bytes.unwrap_or(u64::MAX).min(floor.read_bytes),
        }
    }

    /// Some number approves more than that of the other set.
    pub(crate) fn is_laxer_than(&self, other: &Thresholds) -> bool {
        let mine = self.set();
        let kinds =
            |set: &Thresholds| Operation::ALL.iter().map(|of| set.wanted(Some(*of), false)).collect::<Vec<f64>>();
        let scores = kinds(&mine).into_iter().zip(kinds(other)).any(|(mine, other)| mine < other);
        scores
            || mine.irreversible < other.irreversible
            || mine.reads_per_minute > other.reads_per_minute
            || mine.read_burst > other.read_burst
            || mine.denials_in_a_row > other.denials_in_a_row
            || mine.denials > other.denials
            || mine.bulk_files > other.bulk_files
            || mine.bulk_bytes > other.bulk_bytes
            || mine.read_bytes > other.read_bytes
    }
}

impl Trial {
    /// A short name for exactly these numbers.
    pub(crate) fn fingerprint(&self) -> String {
        let text = serde_json::to_vec(&self.numbers).unwrap_or_default();
        Hash::of(&text).to_string().chars().take(8).collect()
    }
}

/// What is rolled out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Agent(String),
    Rule(String),
    Thresholds,
}

impl Subject {
    /// The text shown and recorded.
    pub(crate) fn display(&self) -> String {
        match self {
            Subject::Agent(name) => format!("agent `{name}`"),
            Subject::Rule(id) => format!("rule `{id}`"),
            Subject::Thresholds => "the thresholds on trial".to_owned(),
        }
    }

    /// Separates the shares of different subjects: being in one says nothing about another.
    fn label(&self) -> String {
        match self {
            Subject::Agent(name) => format!("agent\0{name}"),
            Subject::Rule(id) => format!("rule\0{id}"),
            Subject::Thresholds => "thresholds".to_owned(),
        }
    }
}

/// All state of one user is in one file.
const OF: &str = "user";

impl Rollout {
    /// The rollouts; `None` if there never were any. Untrustworthy state is an error that says what to do.
    pub(crate) fn load(dirs: &Dirs) -> Result<Option<Rollout>, String> {
        if !directory(dirs).exists() {
            return Ok(None);
        }
        let broken = |why: &dyn std::fmt::Display| broken(dirs, &why.to_string());
        let key = StateKey::load(&key_file(dirs)).map_err(|error| broken(&error))?;
        match States::at(&directory(dirs), key).find(OF) {
            Ok(Some(rollout)) => Ok(Some(rollout)),
            Ok(None) => Err(broken(&"its file is missing")),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Changes the rollouts, locked against other processes.
    pub(crate) fn update<R>(dirs: &Dirs, change: impl FnOnce(&mut Rollout) -> R) -> Result<R, String> {
        let key = StateKey::load_or_create(&key_file(dirs)).map_err(|error| error.to_string())?;
        let states = States::at(&directory(dirs), key);
        let salted = |rollout: &mut Rollout| {
            if rollout.salt.is_empty() {
                rollout.salt =
                    crate::machine::key::random().map(|drawn| Hash::of(&drawn).to_string()).unwrap_or_default();
            }
            change(rollout)
        };
        states.update(OF, salted).map_err(|error| broken(dirs, &error.to_string()))
    }

    /// Discards untrustworthy state, so that the user can start over.
    pub(crate) fn forget(dirs: &Dirs) -> std::io::Result<()> {
        let gone = |removed: std::io::Result<()>| match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
        gone(std::fs::remove_dir_all(directory(dirs))).and_then(|()| gone(std::fs::remove_file(key_file(dirs))))
    }

    pub(crate) fn track(&self, subject: &Subject) -> Option<&Track> {
        match subject {
            Subject::Agent(name) => self.agents.get(name),
            Subject::Rule(id) => self.rules.get(id),
            Subject::Thresholds => self.trial.as_ref().map(|trial| &trial.track),
        }
    }

    pub(crate) fn track_mut(&mut self, subject: &Subject) -> Option<&mut Track> {
        match subject {
            Subject::Agent(name) => self.agents.get_mut(name),
            Subject::Rule(id) => self.rules.get_mut(id),
            Subject::Thresholds => self.trial.as_mut().map(|trial| &mut trial.track),
        }
    }

    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let agents = self.agents.keys().cloned().map(Subject::Agent);
        let rules = self.rules.keys().cloned().map(Subject::Rule);
        agents.chain(rules).chain(self.trial.iter().map(|_| Subject::Thresholds)).collect()
    }

    /// The stage of a session for each subject: always the same, and spread evenly over sessions.
    pub(crate) fn place(&self, subject: &Subject, session: &str, began_ms: Option<u64>) -> Option<Placement> {
        let EffectiveStage { stage, share, before } = self.track(subject)?.for_session(began_ms);
        // A session without a name can't be told apart, so no share covers it.
        let is_inside = !session.is_empty() && share.covers(self.drawn(subject, session));
        Some(match stage {
            RolloutStage::ConfirmAll | RolloutStage::Shadow | RolloutStage::Auto => {
                Placement { stage, counts: stage, is_inside: false }
            }
            RolloutStage::Canary if is_inside => Placement { stage, counts: RolloutStage::Auto, is_inside },
            RolloutStage::Canary => Placement { stage, counts: before.min(RolloutStage::Shadow), is_inside },
        })
    }

    fn drawn(&self, subject: &Subject, session: &str) -> u64 {
        let text = format!("{}\0{}\0{session}", self.salt, subject.label());
        let hash = Hash::of(text.as_bytes());
        hash.bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// A session's place in a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub stage: RolloutStage,
    /// The stage that the session is treated by.
    pub counts: RolloutStage,
    /// It is within the canary's share.
    pub is_inside: bool,
}

impl Placement {
    /// As the record says it.
    pub(crate) fn describe(&self) -> String {
        match (self.stage, self.is_inside) {
            (RolloutStage::Canary, true) => "canary:in".to_owned(),
            (RolloutStage::Canary, false) => format!("canary:out:{}", self.counts),
            (stage, _) => stage.to_string(),
        }
    }
}

fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("rollout")
}

fn key_file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("rollout.key")
}

fn broken(dirs: &Dirs, why: &str) -> String {
    format!(
        "`{}` can't be trusted: {why}; check `doorward audit list --kind policy` and start over with `doorward rollout start`",
        directory(dirs).display()
    )
}
