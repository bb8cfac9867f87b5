//! Loosening applies from the next session on: a session keeps the policy it started with, unless the files tighten it.

use std::path::PathBuf;

use doorward_ledger::{State, StateKey, States};
use serde::{Deserialize, Serialize};

use crate::machine::paths::Dirs;
use crate::policy::config::Config;
use crate::policy::load::Loaded;

/// What the files said when the session started, and anything tightened since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct FrozenPolicy {
    config: Option<Config>,
}

impl State for FrozenPolicy {
    const NAME: &'static str = "held";
}

/// Removes what the files loosened since the session started. Unreadable state trusts no one.
pub(crate) fn hold(dirs: &Dirs, session: &str, loaded: &mut Loaded) {
    // Without a session there is no start to compare with.
    if session.is_empty() {
        return;
    }
    if let Err(problem) = freeze_or_tighten(dirs, session, loaded) {
        loaded.distrust(distrust(dirs, &problem));
    }
}

fn distrust(dirs: &Dirs, problem: &str) -> String {
    let shown = directory(dirs).display().to_string();
    format!("`{shown}` can't be trusted: {problem}; remove it, or run `doorward reload`")
}

fn freeze_or_tighten(dirs: &Dirs, session: &str, loaded: &mut Loaded) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let key = StateKey::load_or_create(&dirs.state().join("held.key")).map_err(|error| said(&error))?;
    let states = States::at(&directory(dirs), key);
    let before: FrozenPolicy = states.load(session).map_err(|error| said(&error))?;
    // Compared with itself at first, so that both sides are normalized the same way.
    let config = before.config.clone().unwrap_or_else(|| loaded.files().clone());
    loaded.hold(&config);
    let now = FrozenPolicy { config: Some(loaded.files().clone()) };
    if now != before {
        states.update(session, |held: &mut FrozenPolicy| *held = now).map_err(|error| said(&error))?;
    }
    Ok(())
}

/// The same, read-only: does not store what a session started with.
pub(crate) fn apply_frozen(dirs: &Dirs, session: &str, loaded: &mut Loaded) {
    if session.is_empty() || !directory(dirs).exists() {
        return;
    }
    let key = StateKey::load(&dirs.state().join("held.key")).unwrap_or_else(|_| StateKey::passing());
    match States::at(&directory(dirs), key).load::<FrozenPolicy>(session) {
        Ok(FrozenPolicy { config: Some(config) }) => loaded.hold(&config),
        Ok(FrozenPolicy { config: None }) => {}
        Err(problem) => loaded.distrust(distrust(dirs, &problem.to_string())),
    }
}

/// Forgets what sessions started with: the files apply as they are now.
pub(crate) fn forget(dirs: &Dirs) -> std::io::Result<()> {
    match std::fs::remove_dir_all(directory(dirs)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn directory(dirs: &Dirs) -> PathBuf {
    dirs.state().join("held")
}
