//! The agent's own mode: whether doorward's questions reach the user.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::claude;
use super::edit::{Container, skip_space};
use crate::hook::agents::claude::{ASKING, AUTO};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;
use crate::policy::config::{Config, Questions};

/// The Claude Code mode in which every question reaches the user.
// In `auto`, a hook's `ask` goes to Claude Code's classifier and never reaches the person (decision 0029).
pub(super) const ASKS: &str = "default";

/// The administrator's settings of Claude Code.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// The mode that an agent starts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientMode {
    pub name: String,
    /// The file that says so; `None` if it was not chosen.
    pub set_in: Option<PathBuf>,
}

/// The mode an agent starts in, in a project or anywhere; `None` if it has none that matters here.
pub(crate) fn mode(agent: Agent, home: &str, project: Option<&str>) -> Option<ClientMode> {
    match agent {
        Agent::Claude => Some(claude_mode(home, project)),
        Agent::Codex => {
            let file = directory_of(Agent::Codex, home).join("config.toml");
            let text = atomic_file::text(&file).ok().flatten().unwrap_or_default();
            let config: Option<toml_edit::DocumentMut> = text.parse().ok();
            let policy = config.as_ref().and_then(|config| config.get("approval_policy"));
            let name = policy.map(|policy| policy.as_str().unwrap_or("granular").to_owned());
            Some(ClientMode { set_in: name.as_ref().map(|_| file), name: name.unwrap_or("on-request".into()) })
        }
        Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Opencode => None,
        Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => None,
    }
}

/// In order of precedence: the administrator's settings, then the narrowest. The default is `auto`.
fn claude_mode(home: &str, project: Option<&str>) -> ClientMode {
    let project = project.filter(|project| *project != home).map(Path::new);
    let local = project.map(|root| root.join(".claude/settings.local.json"));
    let shared = project.map(|root| root.join(".claude/settings.json"));
    let files = [Some(PathBuf::from(MANAGED)), local, shared, Some(claude::settings_file(home))];
    let said = |file: PathBuf| {
        let text = crate::machine::checked_read::start_of(&file, 1 << 20)?;
        let name = default_mode(&text)?;
        Some(ClientMode { name, set_in: Some(file) })
    };
    let unset = ClientMode { name: AUTO.to_owned(), set_in: None };
    files.into_iter().flatten().find_map(said).unwrap_or(unset)
}

/// The mode that settings of Claude Code name.
pub(super) fn default_mode(settings: &str) -> Option<String> {
    let settings: Value = serde_json::from_str(settings).ok()?;
    settings.pointer("/permissions/defaultMode")?.as_str().map(str::to_owned)
}

/// The agent starts in a mode whose own prompt does not ask, although it could.
pub(super) fn keeps_quiet(agent: Agent, home: &str, project: Option<&str>) -> bool {
    agent == Agent::Claude && !ASKING.contains(&claude_mode(home, project).name.as_str())
}

/// What happens to doorward's questions, in a few words.
pub(crate) fn questions(agent: Agent, dirs: &Dirs, project: Option<&str>, config: &Config) -> String {
    let waits = "questions are refused right away and wait in `doorward review`";
    match agent {
        Agent::Claude => {
            let mode = claude_mode(dirs.home(), project);
            let left = config.questions(agent.name()) == Some(Questions::Classifier);
            match mode.name.as_str() {
                name if ASKING.contains(&name) => format!("its own mode is `{name}`: it asks you in its own prompt"),
                AUTO if left => {
                    format!(
                        "its own mode is `{AUTO}`: its classifier answers soft questions, others are refused and wait in `doorward review`"
                    )
                }
                name => format!("its own mode is `{name}`: {waits}"),
            }
        }
        Agent::Codex => format!("it asks you when it leaves its sandbox; other {waits}"),
        Agent::Opencode => format!("{waits}; it shows a note on its screen"),
        Agent::Cursor | Agent::Windsurf => waits.to_owned(),
        Agent::Pi | Agent::Gemini | Agent::Qwen | Agent::Copilot | Agent::Vscode => {
            "it asks you in its own prompt".to_owned()
        }
        Agent::Generic => "it has to ask you on its own".to_owned(),
    }
}

/// Claude Code's settings with another mode, or without one.
pub(super) fn with_mode(settings: &str, mode: Option<&str>) -> Result<String, String> {
    if default_mode(settings).as_deref() == mode {
        return Ok(settings.to_owned());
    }
    let text = if settings.trim().is_empty() { "{}\n" } else { settings };
    let top = Container::read(text, skip_space(text, 0))?;
    let Some(permissions) = top.pieces.iter().position(|piece| piece.key == "permissions") else {
        return Ok(mode.map_or(text.to_owned(), |mode| top.with(text, "permissions", &json!({ "defaultMode": mode }))));
    };
    let start = top.pieces.get(permissions).map(|piece| piece.value.start).unwrap_or_default();
    let inner = Container::read(text, start)?;
    let at = inner.pieces.iter().position(|piece| piece.key == "defaultMode");
    Ok(match (mode, at.and_then(|at| Some((at, inner.pieces.get(at)?)))) {
        (Some(mode), Some((_, piece))) => {
            let (before, after) = (text.get(..piece.value.start), text.get(piece.value.end..));
            format!("{}{}{}", before.unwrap_or_default(), Value::from(mode), after.unwrap_or_default())
        }
        (Some(mode), None) => inner.with(text, "defaultMode", &Value::from(mode)),
        (None, Some(_)) if inner.pieces.len() == 1 => top.without(text, permissions),
        (None, Some((at, _))) => inner.without(text, at),
        (None, None) => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_settings_say_the_mode_and_nobody_means_auto() {
        let base = tempfile::tempdir().unwrap();
        let (home, project) = (base.path().join("home"), base.path().join("project"));
        let put = |file: PathBuf, mode: &str| {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, json!({ "permissions": { "defaultMode": mode } }).to_string()).unwrap();
        };
        let found = || mode(Agent::Claude, home.to_str().unwrap(), project.to_str()).unwrap();
        assert_eq!(found(), ClientMode { name: "auto".into(), set_in: None });
        put(home.join(".claude/settings.json"), "default");
        assert_eq!(found().name, "default");
        put(project.join(".claude/settings.json"), "plan");
        assert_eq!(found().name, "plan");
        put(project.join(".claude/settings.local.json"), "auto");
        assert_eq!(found().set_in, Some(project.join(".claude/settings.local.json")));
        assert!(keeps_quiet(Agent::Claude, home.to_str().unwrap(), project.to_str()));
        assert!(!keeps_quiet(Agent::Claude, home.to_str().unwrap(), None));
    }

    #[test]
    fn the_mode_is_set_and_taken_back_and_every_other_byte_stays() {
        for (before, with) in [
            ("{}", "{\n  \"permissions\": {\n    \"defaultMode\": \"default\"\n  }\n}"),
            ("{\"a\":1}", "{\"a\":1,\"permissions\":{\"defaultMode\":\"default\"}}"),
            (
                "{\"permissions\": {\"allow\": [\"x\"]}}",
                "{\"permissions\": {\"allow\": [\"x\"],\"defaultMode\":\"default\"}}",
            ),
        ] {
            assert_eq!(with_mode(before, Some("default")).unwrap(), with);
            let back = with_mode(with, None).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&back).unwrap(), serde_json::from_str::<Value>(before).unwrap());
        }
        let set = "{\n  \"permissions\": { \"defaultMode\": \"auto\" }\n}\n";
        assert_eq!(with_mode(set, Some("default")).unwrap(), set.replace("auto", "default"));
        assert_eq!(with_mode(&set.replace("auto", "default"), Some("auto")).unwrap(), set);
        assert_eq!(with_mode(set, Some("auto")).unwrap(), set);
    }
}
