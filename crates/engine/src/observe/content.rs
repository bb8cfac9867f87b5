//! What a text brings with it into a file: secrets, scripts that run by themselves, permissions for agents.

use crate::marks::{Mark, Marks};
use crate::path;
use crate::secret;

/// Keys of a package manifest whose value is run without being asked for.
const LIFECYCLE: &[&str] = &[
    "\"preinstall\"",
    "\"postinstall\"",
    "\"install\"",
    "\"prepare\"",
    "\"prepublish\"",
    "\"prepack\"",
    "\"postpack\"",
    "\"prepublishOnly\"",
];

/// Phrases that give an agent rights, wherever it reads them.
const GRANTS: &[&str] = &[
    "dangerously-skip-permissions",
    "bypassPermissions",
    "disableAllHooks",
    "--yolo",
    "dangerously-bypass-approvals",
    "\"permissionDecision\": \"allow\"",
    "allowedTools",
    "autoApprove",
    "alwaysAllow",
    "approval_policy = \"never\"",
    "danger-full-access",
];

/// The marks of a text that is put into the file at `path`.
pub fn marks(path: &str, text: &str) -> Marks {
    let mut marks = Marks::default();
    if secret::holds(text) {
        marks.add(Mark::SecretInContent);
    }
    let name = path::name(path).to_ascii_lowercase();
    if name == "package.json" && LIFECYCLE.iter().any(|key| text.contains(key)) {
        marks.add(Mark::LifecycleScript);
    }
    let is_prose = name.ends_with(".md")
        || name.ends_with(".txt")
        || name.ends_with(".rs")
        || name.ends_with(".py")
        || name.ends_with(".ts");
    if !is_prose && GRANTS.iter().any(|phrase| text.contains(phrase)) {
        marks.add(Mark::GrantsPermission);
    }
    marks
}
