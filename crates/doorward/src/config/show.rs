//! `doorward config`: every value in force, where it comes from, and what is the matter with it.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::{Config, Rights};
use crate::loading::{self, Loaded};
use crate::places::Places;
use crate::world::project_root;

/// What to show.
#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// The agent whose mode and files count
    #[arg(long, default_value = "claude", value_name = "NAME")]
    pub agent: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print the JSON schema of the configuration file
    #[arg(long, conflicts_with = "json")]
    pub schema: bool,
}

/// One value and its source.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct Entry {
    key: String,
    value: Value,
    source: String,
    /// Another source decides this key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    overruled: bool,
}

/// Prints the configuration in force; fails if some of it cannot be trusted.
pub fn run(arguments: &ConfigArguments) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    if arguments.schema {
        writeln!(out, "{}", serde_json::to_string_pretty(&Config::schema())?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let places = Places::find().map_err(anyhow::Error::msg)?;
    let directory = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let project = directory.as_deref().and_then(project_root);
    let loaded = loading::load(&places, project.as_deref(), &arguments.agent);
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&as_json(&loaded, &arguments.agent))?)?;
    } else {
        print(&mut out, &loaded, &arguments.agent)?;
    }
    Ok(if loaded.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn as_json(loaded: &Loaded, agent: &str) -> Value {
    let sources: Vec<Value> = loaded
        .sources
        .iter()
        .map(|source| {
            json!({
                "name": source.name, "place": source.place, "there": source.is_there,
                "tighten_only": source.rights == Rights::TightenOnly, "notes": source.notes(),
            })
        })
        .collect();
    json!({
        "agent": agent, "mode": loaded.mode(agent).as_str(), "strict": loaded.config.strict,
        "values": entries(loaded, agent), "sources": sources, "problems": loaded.problems,
        "unaccepted": loaded.unaccepted_sentences(),
    })
}

fn print(out: &mut dyn Write, loaded: &Loaded, agent: &str) -> std::io::Result<()> {
    let entries = entries(loaded, agent);
    let width = entries.iter().map(|entry| entry.key.len() + entry.value.to_string().len()).max().unwrap_or_default();
    for entry in &entries {
        let text = format!("{} = {}", entry.key, entry.value);
        let also = if entry.overruled { ", overruled" } else { "" };
        writeln!(out, "{:<1$}  # {2}{also}", crate::screen::visible(&text), width + 3, entry.source)?;
    }
    writeln!(out)?;
    for source in &loaded.sources {
        let state = if source.is_there { "read" } else { "not there" };
        let rights = if source.rights == Rights::TightenOnly { ", may only tighten" } else { "" };
        writeln!(out, "{}: {} ({state}{rights})", source.name, crate::screen::visible(&source.place))?;
        for note in source.notes() {
            writeln!(out, "  note: `{}` {}", note.key, crate::screen::visible(&note.text))?;
        }
    }
    for sentence in loaded.unaccepted_sentences() {
        writeln!(out, "without effect: {}", crate::screen::visible(&sentence))?;
    }
    for problem in &loaded.problems {
        writeln!(out, "problem: {}", crate::screen::visible(problem))?;
    }
    if !loaded.problems.is_empty() {
        writeln!(out, "until this is mended doorward is strict and asks about every call")?;
    }
    Ok(())
}

/// Everything that some source says, and the built-in value where none does.
fn entries(loaded: &Loaded, agent: &str) -> Vec<Entry> {
    let in_force = flat(&loaded.config);
    let mut entries = Vec::new();
    for source in &loaded.sources {
        for (key, value) in flat_list(&source.config()) {
            let overruled = !in_force.get(&key).is_some_and(|values| values.contains(&value));
            entries.push(Entry { key, value, source: source.name.to_owned(), overruled });
        }
    }
    for (key, value) in flat_list(&loaded.trust.as_config()) {
        entries.push(Entry { key, value, source: "trust".to_owned(), overruled: false });
    }
    for (key, value) in built_in(agent) {
        if !entries.iter().any(|entry| entry.key == key) {
            entries.push(Entry { key, value, source: "built in".to_owned(), overruled: false });
        }
    }
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    entries
}

/// What counts where nothing is said.
fn built_in(agent: &str) -> Vec<(String, Value)> {
    let limits = doorward_engine::Thresholds::default();
    let listed = |key: &str| (key.to_owned(), json!(super::DEFAULTS));
    vec![
        ("strict".to_owned(), json!(false)),
        ("wait_seconds".to_owned(), json!(super::WAIT_SECONDS)),
        (format!("agents.{agent}.mode"), json!(Config::default().mode(agent).as_str())),
        listed("hosts.allowed"),
        listed("paths.protected"),
        ("thresholds.confidence".to_owned(), json!(limits.confidence)),
        ("thresholds.irreversible".to_owned(), json!(limits.irreversible)),
        ("thresholds.reads_per_minute".to_owned(), json!(limits.reads_per_minute)),
        ("thresholds.read_burst".to_owned(), json!(limits.read_burst)),
        ("thresholds.denials_in_a_row".to_owned(), json!(limits.denials_in_a_row)),
        ("thresholds.denials".to_owned(), json!(limits.denials)),
    ]
}

fn flat(config: &Config) -> BTreeMap<String, Vec<Value>> {
    let mut map: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (key, value) in flat_list(config) {
        map.entry(key).or_default().push(value);
    }
    map
}

/// `permissions.deny` with one entry for each element of the list.
fn flat_list(config: &Config) -> Vec<(String, Value)> {
    fn walk(prefix: &str, value: Value, list: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
                    walk(&key, value, list);
                }
            }
            Value::Array(items) => list.extend(items.into_iter().map(|item| (prefix.to_owned(), item))),
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => list.push((prefix.to_owned(), value)),
        }
    }
    let mut list = Vec::new();
    walk("", serde_json::to_value(config).unwrap_or_default(), &mut list);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_names_its_source() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::at(home.path().to_str().unwrap());
        let file = places.config_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "strict = true\n[permissions]\ndeny = [\"bash(ls)\"]").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let entries = entries(&loading::load(&places, None, "claude"), "claude");
        let of = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| entry.source.as_str());
        assert_eq!(of("strict"), Some("user"));
        assert_eq!(of("permissions.deny"), Some("user"));
        assert_eq!(of("thresholds.confidence"), Some("built in"));
        assert_eq!(of("agents.claude.mode"), Some("built in"));
    }
}
