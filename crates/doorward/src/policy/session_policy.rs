//! Loosening counts from the next session on: what a session began with is held against what the files say now.

use std::path::PathBuf;

use doorward_ledger::{State, StateKey, States};
use serde::{Deserialize, Serialize};

use crate::machine::paths::Places;
use crate::policy::config::Config;
use crate::policy::load::Loaded;

/// What the files said when the session began, and whatever was tightened since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Held {
    config: Option<Config>,
}

impl State for Held {
    const NAME: &'static str = "held";
}

/// Takes back what the files loosened since the session began. What cannot be read trusts nobody.
pub fn hold(places: &Places, session: &str, loaded: &mut Loaded) {
    if session.is_empty() {
        return;
    }
    if let Err(problem) = held(places, session, loaded) {
        loaded.distrust(distrust(places, &problem));
    }
}

fn distrust(places: &Places, problem: &str) -> String {
    let shown = directory(places).display().to_string();
    format!("`{shown}` cannot be trusted: {problem}; remove it, or run `doorward reload`")
}

fn held(places: &Places, session: &str, loaded: &mut Loaded) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let key = StateKey::load_or_create(&places.state().join("held.key")).map_err(|error| said(&error))?;
    let states = States::at(&directory(places), key);
    let before: Held = states.load(session).map_err(|error| said(&error))?;
    // Held against itself at first, so that both sides are written in the same way from then on.
    let config = before.config.clone().unwrap_or_else(|| loaded.files().clone());
    loaded.hold(&config);
    let now = Held { config: Some(loaded.files().clone()) };
    if now != before {
        states.update(session, |held: &mut Held| *held = now).map_err(|error| said(&error))?;
    }
    Ok(())
}

/// The same for somebody who only looks: what a session began with is not noted.
pub fn look(places: &Places, session: &str, loaded: &mut Loaded) {
    if session.is_empty() || !directory(places).exists() {
        return;
    }
    let key = StateKey::load(&places.state().join("held.key")).unwrap_or_else(|_| StateKey::passing());
    match States::at(&directory(places), key).load::<Held>(session) {
        Ok(Held { config: Some(config) }) => loaded.hold(&config),
        Ok(Held { config: None }) => {}
        Err(problem) => loaded.distrust(distrust(places, &problem.to_string())),
    }
}

/// Forgets what sessions began with: what the files say now counts at once.
pub fn forget(places: &Places) -> std::io::Result<()> {
    match std::fs::remove_dir_all(directory(places)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn directory(places: &Places) -> PathBuf {
    places.state().join("held")
}
