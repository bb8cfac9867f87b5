//! Changes for Codex: its hooks, and its trust in them. It silently skips hooks it does not trust.

use std::path::{Path, PathBuf};

use anyhow::Result;
use doorward_ledger::Hash;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use super::AgentFile;
use super::hooks::{HookFormat, Hooks, InstalledHook};
use crate::machine::agent::Agent;
use crate::machine::agent_home::directory_of;
use crate::machine::atomic_file;

pub(super) const HOOKS: Hooks = Hooks {
    agent: Agent::Codex,
    deciding: &["PreToolUse", "PermissionRequest"],
    recorded: &[
        "PostToolUse",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
    ],
    shape: HookFormat::Seconds,
};

/// One trusted hook: its name in the configuration, and the hash of its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TrustedHook {
    key: String,
    hash: String,
}

pub(super) fn hooks_file(home: &str) -> PathBuf {
    directory_of(Agent::Codex, home).join("hooks.json")
}

pub(super) fn parts(home: &str, program: &str) -> Result<Vec<AgentFile>> {
    let file = hooks_file(home);
    let names = names(&file);
    let current = atomic_file::text(&file)?.unwrap_or_default();
    let old = trusted(&names, &HOOKS.find_ours(&current));
    let future = HOOKS.with_ours(&current, program).unwrap_or_default();
    let new = trusted(&names, &HOOKS.find_ours(&future));
    let (program, before) = (program.to_owned(), old.clone());
    Ok(vec![
        AgentFile {
            file,
            with: Box::new(move |hooks| HOOKS.with_ours(hooks, &program)),
            without: Box::new(|hooks| HOOKS.without_ours(hooks)),
            meaning: super::json_meaning,
        },
        AgentFile {
            file: directory_of(Agent::Codex, home).join("config.toml"),
            with: Box::new(move |config| trusting(config, &before, &new)),
            without: Box::new(move |config| trusting(config, &old, &[])),
            meaning: toml_meaning,
        },
    ])
}

/// The configuration that trusts `new` and no longer `old`.
fn trusting(config: &str, old: &[TrustedHook], new: &[TrustedHook]) -> Result<String, String> {
    let mut document: DocumentMut = config.parse().map_err(|error| format!("{error}"))?;
    if document.get("features").and_then(|features| features.get("hooks")).and_then(Item::as_bool) == Some(false) {
        return Err("`features.hooks = false` switches every hook off; remove it first".into());
    }
    let had = new.iter().filter(|trusted| is_trusted(&document, trusted)).count();
    if had == new.len() && old.iter().all(|old| new.contains(old)) {
        return Ok(config.to_owned());
    }
    remove(&mut document, old);
    if !new.is_empty() {
        let state = table(table(document.as_table_mut(), "hooks")?, "state")?;
        for TrustedHook { key, hash } in new {
            let mut entry = Table::new();
            entry.insert("trusted_hash", value(hash));
            state.insert(key, Item::Table(entry));
        }
    }
    Ok(document.to_string())
}

fn is_trusted(document: &DocumentMut, trusted: &TrustedHook) -> bool {
    let state = document.get("hooks").and_then(|hooks| hooks.get("state"));
    let entry = state.and_then(|state| state.get(&trusted.key));
    entry.and_then(|entry| entry.get("trusted_hash")).and_then(Item::as_str) == Some(&trusted.hash)
}

/// Removes entries, with tables that become empty.
fn remove(document: &mut DocumentMut, old: &[TrustedHook]) {
    let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_mut) else { return };
    if let Some(state) = hooks.get_mut("state").and_then(Item::as_table_mut) {
        for TrustedHook { key, .. } in old {
            state.remove(key);
        }
        if state.is_empty() {
            hooks.remove("state");
        }
    }
    if hooks.is_empty() {
        document.remove("hooks");
    }
}

fn table<'a>(parent: &'a mut Table, name: &str) -> Result<&'a mut Table, String> {
    let item = parent.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_mut().ok_or_else(|| format!("`{name}` is not a separate table"))
}

/// The names Codex may know the file by: as given, and with links resolved.
fn names(file: &Path) -> Vec<String> {
    let mut names = vec![file.display().to_string()];
    if let (Some(directory), Some(name)) = (file.parent().and_then(|path| path.canonicalize().ok()), file.file_name()) {
        names.push(directory.join(name).display().to_string());
    }
    names.dedup();
    names
}

fn trusted(files: &[String], placed: &[InstalledHook]) -> Vec<TrustedHook> {
    let one = |file: &String, placed: &InstalledHook| TrustedHook {
        key: format!("{file}:{}:{}:{}", snake(&placed.event), placed.group, placed.handler),
        hash: hash(placed),
    };
    files.iter().flat_map(|file| placed.iter().map(move |placed| one(file, placed))).collect()
}

/// The hash Codex computes for a hook: SHA-256 of its compact JSON with sorted keys.
fn hash(placed: &InstalledHook) -> String {
    let handler = placed.content.pointer(&format!("/hooks/{}", placed.handler));
    let field = |name: &str| handler.and_then(|handler| handler.get(name)).cloned().unwrap_or(Value::Null);
    let hook =
        json!({ "async": false, "command": field("command"), "timeout": field("timeout"), "type": field("type") });
    let mut identity = json!({ "event_name": snake(&placed.event), "hooks": [hook] });
    if let (Some(matcher), Value::Object(fields)) = (placed.content.get("matcher"), &mut identity) {
        fields.insert("matcher".to_owned(), matcher.clone());
    }
    format!("sha256:{}", Hash::of(identity.to_string().as_bytes()))
}

/// `PreToolUse` is `pre_tool_use` in hook names.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for character in event.chars() {
        if character.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

fn toml_meaning(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_has_the_hash_that_codex_gives_it() {
        let content = json!({"matcher": "*", "hooks": [{"type": "command", "command": "true", "timeout": 600}]});
        let placed = InstalledHook { event: "PreToolUse".into(), group: 0, handler: 0, content };
        let expected = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"true","timeout":600,"type":"command"}],"matcher":"*"}"#;
        assert_eq!(hash(&placed), format!("sha256:{}", Hash::of(expected.as_bytes())));
    }

    #[test]
    fn trust_is_given_once_and_taken_back() {
        let one = |hash: &str| vec![TrustedHook { key: "/h/hooks.json:pre_tool_use:0:0".into(), hash: hash.into() }];
        for config in [
            "",
            "model = \"x\" # mine\n\n[hooks.state.\"other:0:0\"]\ntrusted_hash = \"y\"\n",
            "[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
        ] {
            let with = trusting(config, &[], &one("sha256:1")).unwrap();
            assert!(with.starts_with(config) && with.contains("sha256:1"), "{with}");
            assert_eq!(trusting(&with, &one("sha256:1"), &one("sha256:1")).unwrap(), with);
            let moved = trusting(&with, &one("sha256:1"), &one("sha256:2")).unwrap();
            assert!(moved.contains("sha256:2") && !moved.contains("sha256:1"));
            assert_eq!(trusting(&with, &one("sha256:1"), &[]).unwrap(), config);
        }
    }

    #[test]
    fn a_configuration_that_switches_hooks_off_or_is_broken_is_left_alone() {
        for config in ["[features]\nhooks = false\n", "a = ", "hooks = 3\n"] {
            assert!(trusting(config, &[], &[TrustedHook { key: "k".into(), hash: "h".into() }]).is_err(), "{config}");
        }
    }
}
