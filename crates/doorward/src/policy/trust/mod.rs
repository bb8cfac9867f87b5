//! What the user trusts, with hashes that make later changes visible.

pub(crate) mod inventory;
pub(crate) mod mcp;
pub(crate) mod pin;
pub(crate) mod tool_pins;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use doorward_ledger::{State, StateKey, States};
use serde::{Deserialize, Serialize};

use crate::machine::paths::Dirs;
use crate::policy::config::{Config, DEFAULTS};

pub(crate) use pin::{PinnedFile, PinnedProject};

/// Everything trusted by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Trust {
    /// Project roots, with their pinned recipes.
    pub projects: BTreeMap<String, PinnedProject>,
    /// Programs, by real path.
    pub binaries: BTreeMap<String, PinnedFile>,
    pub domains: BTreeSet<String>,
    /// Tool servers, with the hash of their configuration.
    pub servers: BTreeMap<String, String>,
}

impl State for Trust {
    const NAME: &'static str = "trust";
}

/// All trust of one user is in one file.
const OF: &str = "user";

impl Trust {
    /// What is trusted so far, if anything.
    pub(crate) fn load(dirs: &Dirs) -> Result<Trust, String> {
        if !directory(dirs).exists() {
            return Ok(Trust::default());
        }
        let key = StateKey::load(&key_file(dirs)).map_err(|error| broken(dirs, &error.to_string()))?;
        let states = States::at(&directory(dirs), key);
        states.load(OF).map_err(|error| broken(dirs, &error.to_string()))
    }

    /// Changes what is trusted.
    pub(crate) fn update<R>(dirs: &Dirs, change: impl FnOnce(&mut Trust) -> R) -> Result<R, String> {
        let key = StateKey::load_or_create(&key_file(dirs)).map_err(|error| error.to_string())?;
        let states = States::at(&directory(dirs), key);
        states.update(OF, change).map_err(|error| broken(dirs, &error.to_string()))
    }

    /// The part of it that a configuration file could also say.
    pub(crate) fn as_config(&self) -> Config {
        let mut config = Config::default();
        config.projects.trusted = self.projects.keys().cloned().collect();
        if !self.domains.is_empty() {
            config.hosts.allowed = std::iter::once(DEFAULTS.to_owned()).chain(self.domains.iter().cloned()).collect();
        }
        config
    }
}

fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("trust")
}

fn key_file(dirs: &Dirs) -> PathBuf {
    dirs.state().join("trust.key")
}

fn broken(dirs: &Dirs, why: &str) -> String {
    format!("`{}` can't be trusted: {why}; remove it and trust again with `doorward trust`", directory(dirs).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_written_with_the_key_trusts_nobody() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".local/state/doorward")).unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        assert_eq!(Trust::load(&dirs), Ok(Trust::default()));
        Trust::update(&dirs, |trust| trust.domains.insert("wiki.example".into())).unwrap();
        let trust = Trust::load(&dirs).unwrap();
        assert_eq!(trust.as_config().hosts.allowed, ["$defaults", "wiki.example"]);
        let file = std::fs::read_dir(directory(&dirs))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|extension| extension == "state"))
            .unwrap();
        let forged = std::fs::read_to_string(&file).unwrap().replace("wiki.example", "evil.example");
        std::fs::write(&file, forged).unwrap();
        assert!(Trust::load(&dirs).unwrap_err().contains("trust again"));
    }
}
