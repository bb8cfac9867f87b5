//! Changes for Pi: an extension of a few files, and the path of this program.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::AgentFile;
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;

/// The extension, file by file.
const FILES: [(&str, &str); 8] = [
    ("package.json", include_str!("../../../extensions/pi/package.json")),
    ("README.md", include_str!("../../../extensions/pi/README.md")),
    ("guard.js", include_str!("../../../extensions/pi/guard.js")),
    ("context.js", include_str!("../../../extensions/pi/context.js")),
    ("reviewer.js", include_str!("../../../extensions/pi/reviewer.js")),
    ("state.js", include_str!("../../../extensions/pi/state.js")),
    ("commands.js", include_str!("../../../extensions/pi/commands.js")),
    ("index.js", include_str!("../../../extensions/pi/index.js")),
];

/// Says which program the extension runs.
const PROGRAM: &str = "program.json";

/// The file Pi loads.
pub(super) fn extension(home: &str) -> PathBuf {
    folder(home).join("index.js")
}

/// The file Pi loads is written last, after everything it needs.
pub(super) fn parts(home: &str, program: &str) -> Vec<AgentFile> {
    let folder = folder(home);
    let named = format!("{:#}\n", json!({ "program": program, "written by": "doorward setup" }));
    let files = FILES.map(|(name, text)| (name, text.to_owned()));
    std::iter::once((PROGRAM, named)).chain(files).map(|(name, text)| part(folder.join(name), text)).collect()
}

/// Removes the folder of the extension, or of Claude Code's commands, once it is empty.
pub(super) fn leave(file: &Path) {
    let is_ours = |folder: &&Path| folder.ends_with("extensions/doorward") || file.ends_with("commands/doorward.md");
    if let Some(folder) = file.parent().filter(is_ours) {
        // It may contain files of the user's own.
        let _ = std::fs::remove_dir(folder);
    }
}

fn folder(home: &str) -> PathBuf {
    directory_of(Agent::Pi, home).join("extensions/doorward")
}

/// A file that belongs to doorward alone.
pub(super) fn part(file: PathBuf, text: String) -> AgentFile {
    // Each of our files says that it is ours.
    let is_ours = |found: &str| found.trim().is_empty() || found.contains("doorward");
    AgentFile {
        file,
        with: Box::new(move |found| {
            if is_ours(found) { Ok(text.clone()) } else { Err("it was not written by doorward".to_owned()) }
        }),
        without: Box::new(move |found| Ok(if is_ours(found) { String::new() } else { found.to_owned() })),
        meaning: |_| None,
    }
}
