//! What is changed for Claude Code.

use std::path::{Path, PathBuf};

use super::Part;
use super::hooks::{Hooks, Shape};
use crate::agents::Agent;

pub const HOOKS: Hooks = Hooks {
    agent: Agent::Claude,
    deciding: &["PreToolUse"],
    recorded: &[
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionDenied",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
    ],
    shape: Shape::Seconds,
};

/// Where the user's settings lie.
pub fn settings_file(home: &str) -> PathBuf {
    directory(home).join("settings.json")
}

pub fn directory(home: &str) -> PathBuf {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| Path::new(home).join(".claude"))
}

pub fn parts(home: &str, program: &str) -> Vec<Part> {
    let program = program.to_owned();
    vec![Part {
        file: settings_file(home),
        with: Box::new(move |settings| {
            let on = super::json_meaning(settings);
            if on.and_then(|settings| settings.get("disableAllHooks").cloned()).is_some_and(|off| off == true) {
                return Err("`disableAllHooks` switches every hook off; remove it first".into());
            }
            HOOKS.installed(settings, &program)
        }),
        without: Box::new(|settings| HOOKS.removed(settings)),
        meaning: super::json_meaning,
    }]
}
