//! Files that something loads as soon as they are there, without a further call: agents, editors, shells and git itself.

use doorward_vocabulary::Mark;

use super::{classify, names};
use crate::path;
use crate::world::World;

/// Places of this kind are read by the agent, its guard, an editor or git whenever they change.
// Nothing has to be started for these to take effect, so the change itself is the dangerous step.
const KINDS: &[Mark] = &[
    Mark::AgentSettings,
    Mark::GuardOwn,
    Mark::InstructionFile,
    Mark::GitHook,
    Mark::GitInternals,
    Mark::EditorConfig,
];

/// A shell runs these when somebody enters the directory.
// direnv, autoenv and fish plugins: entering the directory is enough (files-034).
const ON_ENTERING: &[&str] = &[".envrc", ".autoenv", ".autoenv.zsh", ".env.fish", ".autoenv.leave"];

/// The file is loaded without a further call, so that whoever brings it there has as good as run it.
pub fn loads_by_itself(path: &str, world: &dyn World) -> bool {
    is_worth_a_look(path)
        && (ON_ENTERING.contains(&path::name(path).to_lowercase().as_str())
            || classify(path, world).marks.has_any(KINDS))
}

/// Most files of a project have neither a dot in front, nor a name that any table knows.
fn is_worth_a_look(path: &str) -> bool {
    let has_dot = path.starts_with('.') || path.contains("/.");
    let name = path::name(path);
    has_dot || !path.is_ascii() || names::NAMES.find(&name.to_ascii_lowercase()).is_some() || name.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::loads_by_itself;
    use crate::{DescribedWorld, Description};

    #[test]
    fn what_is_loaded_by_itself() {
        let world = DescribedWorld::new(
            Description { project: Some("/p".into()), home: Some("/home/me".into()), ..Description::default() },
            "/p",
        );
        for path in [
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".CLAUDE/Settings.json",
            "sub/.claude/settings.json",
            ".mcp.json",
            "CLAUDE.md",
            "docs/AGENTS.md",
            ".envrc",
            "a/b/.envrc",
            ".vscode/tasks.json",
            ".husky/pre-commit",
            ".gemini/settings.json",
            ".codex/config.toml",
            "opencode.json",
            ".cursor/rules/x.mdc",
        ] {
            assert!(loads_by_itself(&format!("/p/{path}"), &world), "{path}");
        }
        for path in ["src/main.rs", "Makefile", "package.json", ".github/workflows/ci.yml", ".gitignore", "docs/a.md"] {
            assert!(!loads_by_itself(&format!("/p/{path}"), &world), "{path}");
        }
    }
}
