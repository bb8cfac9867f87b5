//! Whether doorward is the only one that may rewrite an agent's calls.
//!
//! Of two hooks that rewrite a call, the one that finishes later wins in some agents. So whatever could rewrite counts, whether
//! it does or not; what can't be read counts too.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;
use crate::machine::checked_read;

/// Events whose answer decides about a call.
// A foreign hook on one of these can allow or change a call; on any other event it only listens.
pub(crate) const DECIDING: [&str; 6] =
    ["PreToolUse", "PermissionRequest", "BeforeTool", "preToolUse", "permissionRequest", "beforeShellExecution"];

/// The longest settings that are read.
const LONGEST: u64 = 1 << 20;

/// More files than anyone's plugins have; beyond that nobody knows what is there.
const FILES: usize = 4_000;

/// How deep plugins lie below their directory.
const DEPTH: usize = 7;

/// Variables that name where an agent was started, which is where it looks for a project's settings.
const STARTED: &[&str] = &["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "GEMINI_CWD"];

/// What else could rewrite an agent's calls in this directory, in words; `None` if doorward is alone.
pub(crate) fn another(agent: Agent, home: &str, cwd: Option<&str>) -> Option<String> {
    let own = directory_of(agent, home);
    let places = places(home, cwd);
    let named = |name: &str| -> Vec<PathBuf> { places.iter().map(|place| place.join(name)).collect() };
    match agent {
        Agent::Claude => claude(&own, &named(".claude")),
        Agent::Codex => codex(&own, &named(".codex")),
        Agent::Gemini => gemini(&own, &named(".gemini")),
        Agent::Opencode => opencode(&own, &places),
        Agent::Pi => pi(&own, &named(".pi")),
        Agent::Qwen | Agent::Copilot | Agent::Cursor | Agent::Vscode | Agent::Windsurf | Agent::Generic => {
            Some("doorward doesn't know all places of its hooks".to_owned())
        }
    }
}

/// Where settings of a project may be: from the directory of the call upwards, and where the agent was started.
fn places(home: &str, cwd: Option<&str>) -> Vec<PathBuf> {
    let started = STARTED.iter().filter_map(std::env::var_os).map(PathBuf::from);
    let all = cwd.map(PathBuf::from).into_iter().chain(started);
    let above = all.flat_map(|place| place.ancestors().map(Path::to_owned).collect::<Vec<PathBuf>>());
    let mut places: Vec<PathBuf> = above.filter(|place| place != Path::new(home)).collect();
    places.sort();
    places.dedup();
    places
}

fn claude(own: &Path, projects: &[PathBuf]) -> Option<String> {
    let mut foreign = vec![own.join("settings.local.json"), PathBuf::from("/etc/claude-code/managed-settings.json")];
    foreign.extend(entries(Path::new("/etc/claude-code/managed-settings.d")));
    foreign.extend(projects.iter().flat_map(|of| [of.join("settings.json"), of.join("settings.local.json")]));
    let folders = projects.iter().map(PathBuf::as_path).chain([own]);
    let written: Vec<PathBuf> =
        folders.flat_map(|of| ["skills", "agents", "commands"].map(|name| of.join(name))).collect();
    in_settings(&own.join("settings.json"), Whose::Users)
        .or_else(|| foreign.iter().find_map(|file| in_settings(file, Whose::Others)))
        .or_else(|| below(&own.join("plugins"), in_plugin))
        .or_else(|| written.iter().find_map(|directory| below(directory, in_front_matter)))
}

fn codex(own: &Path, projects: &[PathBuf]) -> Option<String> {
    let mut others = projects.to_vec();
    others.push("/etc/codex".into());
    let names = ["config.toml", "managed_config.toml", "requirements.toml"];
    let configured = |of: &Path| names.iter().find_map(|name| in_codex(&of.join(name)));
    in_settings(&own.join("hooks.json"), Whose::Users)
        .or_else(|| others.iter().find_map(|of| in_settings(&of.join("hooks.json"), Whose::Others)))
        .or_else(|| configured(own))
        .or_else(|| others.iter().find_map(|of| configured(of)))
        .or_else(|| {
            others.iter().map(PathBuf::as_path).chain([own]).find_map(|of| below(&of.join("plugins"), in_plugin))
        })
}

fn gemini(own: &Path, projects: &[PathBuf]) -> Option<String> {
    let mut others = projects.to_vec();
    others.push("/etc/gemini-cli".into());
    let names = ["settings.json", "system-defaults.json"];
    let foreign = |of: &PathBuf| names.iter().find_map(|name| in_settings(&of.join(name), Whose::Others));
    in_settings(&own.join("settings.json"), Whose::Users).or_else(|| others.iter().find_map(foreign)).or_else(|| {
        others.iter().map(PathBuf::as_path).chain([own]).find_map(|of| below(&of.join("extensions"), in_plugin))
    })
}

fn opencode(own: &Path, places: &[PathBuf]) -> Option<String> {
    let folders: Vec<PathBuf> = places.iter().map(|place| place.join(".opencode")).collect();
    let modules =
        |of: &Path| [of.join("plugin"), of.join("plugins")].iter().flat_map(|there| entries(there)).collect::<Vec<_>>();
    let is_other = |file: &PathBuf| is_module(file) && file.file_name().is_none_or(|name| name != "doorward.js");
    let found = modules(own).into_iter().find(is_other);
    let found = found.or_else(|| folders.iter().flat_map(|of| modules(of)).find(|file| is_module(file)));
    let configured = || {
        let all = folders.iter().chain(places).map(PathBuf::as_path).chain([own]);
        let files = all.flat_map(|of| ["opencode.json", "opencode.jsonc", "config.json"].map(|name| of.join(name)));
        files.filter(|file| names_any(file, &["plugin"])).map(|file| shown(&file)).next()
    };
    found.map(|file| shown(&file)).or_else(configured)
}

fn pi(own: &Path, projects: &[PathBuf]) -> Option<String> {
    let is_other = |file: &PathBuf| file.file_name().is_none_or(|name| name != "doorward");
    let found = entries(&own.join("extensions")).into_iter().find(is_other);
    let found = found.or_else(|| projects.iter().flat_map(|of| entries(&of.join("extensions"))).next());
    let configured = || {
        let files = projects.iter().map(PathBuf::as_path).chain([own]).map(|of| of.join("settings.json"));
        files.filter(|file| names_any(file, &["extensions", "packages"])).map(|file| shown(&file)).next()
    };
    found.map(|file| shown(&file)).or_else(configured)
}

/// Whose settings these are. doorward's own line stands in the user's alone: anyone else's may hand its answer on changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Users,
    Others,
}

/// Hooks in settings that are not doorward's.
fn in_settings(file: &Path, whose: Whose) -> Option<String> {
    let text = text(file)?;
    let Ok(settings) = text.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|_| ())) else {
        return Some(format!("`{}` can't be read", file.display()));
    };
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let deciding = hooks.into_iter().flatten().filter(|(event, _)| DECIDING.contains(&event.as_str()));
    let is_own = |command: &&str| whose == Whose::Users && is_this_program(command);
    let foreign = deciding.flat_map(|(_, groups)| commands(groups)).find(|command| !is_own(command));
    foreign.map(|command| format!("the hook `{command}` in `{}`", file.display()))
}

/// The hooks of a plugin, in whatever file of it.
fn in_plugin(file: &Path) -> Option<String> {
    let is_json = file.extension().is_some_and(|end| end == "json");
    is_json.then(|| in_settings(file, Whose::Others)).flatten().or_else(|| in_manifest(file))
}

/// A plugin's manifest may hold hooks itself, or name the file that does.
fn in_manifest(file: &Path) -> Option<String> {
    let is_manifest = file.file_name().is_some_and(|name| name == "plugin.json" || name == "gemini-extension.json");
    (is_manifest && names_any(file, &["hooks"])).then(|| shown(file))
}

/// Skills, agents and commands may bring hooks at their head.
fn in_front_matter(file: &Path) -> Option<String> {
    let is_text = file.extension().is_some_and(|end| end == "md");
    let text = is_text.then(|| text(file)).flatten()?.unwrap_or_else(|()| "---\nhooks:".to_owned());
    let head = text.strip_prefix("---")?.split("\n---").next()?.to_owned();
    head.lines().any(|line| line.trim_start().starts_with("hooks")).then(|| shown(file))
}

/// Hooks, plugins and permission profiles of Codex; with a profile it shows the new command and runs the old one.
fn in_codex(file: &Path) -> Option<String> {
    const KEYS: &[&str] = &["hooks", "plugins", "permissions", "default_permissions", "profile", "profiles"];
    let config = text(file)?.ok().and_then(|text| text.parse::<toml_edit::DocumentMut>().ok());
    let Some(config) = config else { return Some(format!("`{}` can't be read", file.display())) };
    // `[hooks.state]` is where Codex keeps which hooks the user trusts.
    let has_hooks =
        |item: &toml_edit::Item| item.as_table_like().is_none_or(|table| table.iter().any(|(name, _)| name != "state"));
    let is_set = |key: &&str| config.get(key).is_some_and(|item| *key != "hooks" || has_hooks(item));
    KEYS.iter().copied().find(is_set).map(|key| format!("`{key}` in `{}`", file.display()))
}

/// The JSON names anything under one of these keys.
fn names_any(file: &Path, keys: &[&str]) -> bool {
    let Some(text) = text(file) else { return false };
    let Ok(settings) = text.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|_| ())) else { return true };
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    };
    keys.iter().any(|key| settings.get(key).is_some_and(|value| !is_empty(value)))
}

fn is_module(file: &Path) -> bool {
    file.extension().is_some_and(|end| ["js", "mjs", "ts", "mts", "cjs"].iter().any(|code| end == *code))
}

/// `None`: there is no such file.
fn text(file: &Path) -> Option<Result<String, ()>> {
    file.symlink_metadata().ok()?;
    Some(checked_read::start_of(file, LONGEST).filter(|text| (text.len() as u64) < LONGEST).ok_or(()))
}

/// The first finding in a tree; too large a tree is a finding.
fn below(directory: &Path, find: impl Fn(&Path) -> Option<String>) -> Option<String> {
    let (mut open, mut left) = (vec![(directory.to_owned(), DEPTH)], FILES);
    while let Some((directory, depth)) = open.pop() {
        for path in entries(&directory) {
            left -= 1;
            if left == 0 {
                return Some(format!("`{}` has too many files to look through", directory.display()));
            }
            if path.is_dir() {
                if depth > 0 {
                    open.push((path, depth - 1));
                }
            } else if let Some(found) = find(&path) {
                return Some(found);
            }
        }
    }
    None
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

fn shown(file: &Path) -> String {
    format!("`{}`", file.display())
}

/// All command lines below a value.
pub(crate) fn commands(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(commands).collect(),
        Value::Object(fields) => {
            let own =
                ["command", "bash", "url", "prompt", "tool"].iter().filter_map(|name| fields.get(*name)?.as_str());
            own.chain(fields.get("hooks").into_iter().flat_map(commands)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A line like the one that `setup` writes.
pub(crate) fn is_ours(command: &str) -> bool {
    command.contains("doorward") && command.contains(" hook ")
}

/// The line runs this very program and hands its answer on as it is.
fn is_this_program(command: &str) -> bool {
    const FAILED: &str = " || { echo 'doorward failed; call blocked' >&2; exit 2; }";
    let Some((program, rest)) = command.strip_prefix('\'').and_then(|text| text.split_once("' hook ")) else {
        return false;
    };
    let is_own =
        std::env::current_exe().is_ok_and(|own| Path::new(program).canonicalize().is_ok_and(|path| path == own));
    let words = rest.strip_suffix(FAILED).unwrap_or(rest);
    is_own && words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::test_home::TestHome;

    fn ours() -> String {
        let program = std::env::current_exe().unwrap();
        let line = format!(
            "'{}' hook claude --timeout 60 || {{ echo 'doorward failed; call blocked' >&2; exit 2; }}",
            program.display()
        );
        settings(&line)
    }

    fn settings(line: &str) -> String {
        serde_json::json!({ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{ "type": "command", "command": line }] }] } })
            .to_string()
    }

    const THEIRS: &str =
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"rtk rewrite"}]}]}}"#;

    fn found(agent: Agent, files: &[(&str, &str)]) -> bool {
        let home = TestHome::begun();
        files.iter().for_each(|(name, text)| home.put(name, text));
        let (user, project) = (home.at("home"), home.at("project"));
        another(agent, user.to_str().unwrap(), project.join("deep/in").to_str()).is_some()
    }

    #[test]
    fn doorward_alone_is_alone() {
        let ours = ours();
        for (agent, files) in [
            (Agent::Claude, &[("home/.claude/settings.json", ours.as_str())][..]),
            (Agent::Claude, &[("home/.claude/skills/a/SKILL.md", "---\nname: a\n---\nhooks: none")]),
            (Agent::Codex, &[("home/.codex/config.toml", "model = \"m\"\n[hooks.state]\nx = \"trusted\"\n")]),
            (
                Agent::Gemini,
                &[("home/.gemini/settings.json", "{\"hooks\":{\"AfterTool\":[{\"hooks\":[{\"command\":\"x\"}]}]}}")],
            ),
            (Agent::Opencode, &[("home/.config/opencode/plugin/doorward.js", ""), ("project/opencode.json", "{}")]),
            (Agent::Pi, &[("home/.pi/agent/extensions/doorward/index.js", ""), ("home/.pi/agent/settings.json", "{}")]),
        ] {
            assert!(!found(agent, files), "{agent:?} {files:?}");
        }
    }

    #[test]
    fn whatever_could_rewrite_a_call_is_found() {
        let ours = ours();
        let own = std::env::current_exe().unwrap().display().to_string();
        let piped = settings(&format!("'{own}' hook claude | sed s/a/b/"));
        for (agent, file, text) in [
            (Agent::Claude, "project/.claude/settings.json", ours.as_str()),
            (Agent::Claude, "home/.claude/settings.json", piped.as_str()),
            (Agent::Claude, "home/.claude/settings.json", &settings("'/repo/doorward' hook claude")),
            (Agent::Claude, "project/deep/.claude/settings.json", THEIRS),
            (Agent::Claude, "home/.claude/settings.json", THEIRS),
            (Agent::Claude, "home/.claude/settings.json", "{broken"),
            (Agent::Claude, "project/.claude/settings.json", THEIRS),
            (Agent::Claude, "project/.claude/settings.local.json", THEIRS),
            (Agent::Claude, "home/.claude/plugins/cache/m/p/1.0/hooks/hooks.json", THEIRS),
            (
                Agent::Claude,
                "home/.claude/plugins/cache/m/p/1.0/.claude-plugin/plugin.json",
                "{\"hooks\":\"./other.json\"}",
            ),
            (Agent::Claude, "project/.claude/skills/a/SKILL.md", "---\nname: a\nhooks:\n  PreToolUse: []\n---\n"),
            (Agent::Claude, "project/.claude/agents/a.md", "---\nhooks: {}\n---\n"),
            (Agent::Codex, "home/.codex/hooks.json", THEIRS),
            (Agent::Codex, "home/.codex/config.toml", "[[hooks.PreToolUse]]\n"),
            (Agent::Codex, "home/.codex/config.toml", "default_permissions = \"mine\"\n"),
            (Agent::Codex, "project/.codex/config.toml", "[permissions.mine]\n"),
            (
                Agent::Gemini,
                "home/.gemini/settings.json",
                "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"command\":\"x\"}]}]}}",
            ),
            (
                Agent::Gemini,
                "home/.gemini/extensions/e/hooks/hooks.json",
                "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"command\":\"x\"}]}]}}",
            ),
            (Agent::Opencode, "home/.config/opencode/plugins/other.ts", ""),
            (Agent::Opencode, "home/.config/opencode/opencode.json", "{\"plugin\":[\"x\"]}"),
            (Agent::Opencode, "project/.opencode/plugin/other.js", ""),
            (Agent::Pi, "home/.pi/agent/extensions/other.ts", ""),
            (Agent::Pi, "project/.pi/settings.json", "{\"packages\":[\"npm:x\"]}"),
        ] {
            assert!(found(agent, &[(file, text)]), "{agent:?} {file} {text}");
        }
        assert!(found(Agent::Cursor, &[]));
    }
}
