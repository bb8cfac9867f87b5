//! The Claude Code plugin: whether it is there, and which program its hooks run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claude;
use crate::machine::atomic_file;

/// How the user removes it.
pub(super) const UNINSTALL: &str = "claude plugin uninstall doorward";

/// Where the plugin's launcher looks for the program, in this order, below the home directory or from the root.
// The same list as in `extensions/claude/scripts/doorward.sh`; a test compares them.
const PLACES: &[&str] = &[
    "~/.local/bin",
    "~/.cargo/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/usr/bin",
];

/// The user's settings have the plugin switched on.
pub(super) fn is_enabled(home: &str) -> bool {
    let settings = atomic_file::text(&claude::settings_file(home)).ok().flatten();
    settings.is_some_and(|settings| is_enabled_in(&settings))
}

/// The same for the text of settings.
pub(super) fn is_enabled_in(settings: &str) -> bool {
    let parsed: Option<Value> = serde_json::from_str(settings).ok();
    let plugins = parsed.as_ref().and_then(|parsed| parsed.get("enabledPlugins")).and_then(Value::as_object);
    // `doorward@MARKETPLACE`, whatever the marketplace is called.
    plugins.is_some_and(|plugins| plugins.iter().any(|(name, on)| name.starts_with("doorward@") && on == true))
}

/// The program that the plugin's hooks run. The search path is not theirs: a project's settings can set it.
pub(super) fn program(home: &str) -> Option<String> {
    let places = PLACES.iter().map(|place| match place.strip_prefix("~/") {
        Some(below) => Path::new(home).join(below),
        None => PathBuf::from(place),
    });
    let found = places.map(|place| place.join("doorward")).find(|program| program.is_file());
    found?.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_counts_only_while_it_is_switched_on() {
        for (settings, expected) in [
            ("{\"enabledPlugins\":{\"doorward@doorward\":true}}", true),
            ("{\"enabledPlugins\":{\"doorward@doorward\":false}}", false),
            ("{\"enabledPlugins\":{\"other@doorward\":true}}", false),
            ("{\"enabledPlugins\":[\"doorward@doorward\"]}", false),
            ("", false),
        ] {
            assert_eq!(is_enabled_in(settings), expected, "{settings}");
        }
    }

    #[test]
    fn the_launcher_looks_in_the_same_places() {
        let script = include_str!("../../../extensions/claude/scripts/doorward.sh");
        let listed: Vec<String> = PLACES.iter().map(|place| place.replace('~', "$home")).collect();
        let line = format!(
            "for place in {}; do",
            listed.iter().map(|place| format!("\"{place}\"")).collect::<Vec<String>>().join(" ")
        );
        assert!(script.contains(&line), "{line}");
    }
}
