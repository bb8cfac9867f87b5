//! Changes for OpenCode: a plugin, the path of this program, and that OpenCode itself asks if the plugin is gone.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::AgentFile;
use super::edit::{Container, skip_space};
use super::pi::part;
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

const PLUGIN: &str = include_str!("../../../extensions/opencode/doorward.js");

/// The file OpenCode loads.
pub(super) fn plugin(home: &str) -> PathBuf {
    directory_of(Agent::Opencode, home).join("plugin/doorward.js")
}

/// The settings that say what OpenCode may do without asking.
pub(super) fn settings_file(home: &str) -> PathBuf {
    directory_of(Agent::Opencode, home).join("opencode.json")
}

/// The plugin is written after the files it needs.
pub(super) fn parts(home: &str, program: &str) -> Vec<AgentFile> {
    let named = format!("{:#}\n", json!({ "program": program, "written by": "doorward setup" }));
    vec![
        AgentFile {
            file: settings_file(home),
            with: Box::new(with_asking),
            without: Box::new(without_asking),
            meaning: super::json_meaning,
        },
        part(directory_of(Agent::Opencode, home).join("plugin/doorward.json"), named),
        part(plugin(home), PLUGIN.to_owned()),
    ]
}

/// Whether OpenCode itself asks about unjudged calls: it silently skips a plugin that fails to load.
pub(super) fn asks_by_itself(settings: &Value) -> bool {
    settings.get("permission") == Some(&asking())
}

fn asking() -> Value {
    json!({ "*": "ask" })
}

/// The settings with which OpenCode asks about everything; the plugin answers for approved calls. The user's own
/// permission settings stay as they are.
fn with_asking(settings: &str) -> Result<String, String> {
    let text = if settings.trim().is_empty() { "{}\n" } else { settings };
    let parsed = crate::machine::json::parse(text.as_bytes())?;
    if !parsed.is_object() {
        return Err("the settings are not an object".into());
    }
    if parsed.get("permission").is_some() {
        return Ok(settings.to_owned());
    }
    Ok(Container::read(text, skip_space(text, 0))?.with(text, "permission", &asking()))
}

fn without_asking(settings: &str) -> Result<String, String> {
    if settings.trim().is_empty() {
        return Ok(settings.to_owned());
    }
    let parsed = crate::machine::json::parse(settings.as_bytes())?;
    if parsed.get("permission") != Some(&asking()) {
        return Ok(settings.to_owned());
    }
    let top = Container::read(settings, skip_space(settings, 0))?;
    let at = top.pieces.iter().position(|piece| piece.key == "permission");
    Ok(at.map_or_else(|| settings.to_owned(), |at| top.without(settings, at)))
}
