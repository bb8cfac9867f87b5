//! `doorward config`: every effective value, where it comes from, and any problems.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::{Config, Numbers, Rights};
use crate::machine::paths::Dirs;
use crate::machine::world::project_root;
use crate::policy::load::{self, Loaded};

/// What to show.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// The agent whose mode and files to use
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
struct ShownValue {
    key: String,
    value: Value,
    source: String,
    /// Another source overrides this key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    overruled: bool,
}

/// Prints the effective configuration; fails if some of it can't be trusted.
pub(crate) fn run(arguments: &ConfigArguments) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    if arguments.schema {
        writeln!(out, "{}", serde_json::to_string_pretty(&Config::schema())?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let directory = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let project = directory.as_deref().and_then(project_root);
    let loaded = load::load(&dirs, project.as_deref(), &arguments.agent);
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
        writeln!(out, "{:<1$}  # {2}{also}", crate::machine::visible(&text), width + 3, entry.source)?;
    }
    writeln!(out)?;
    for source in &loaded.sources {
        let state = if source.is_there { "read" } else { "missing" };
        let rights = if source.rights == Rights::TightenOnly { ", may only tighten" } else { "" };
        writeln!(out, "{}: {} ({state}{rights})", source.name, crate::machine::visible(&source.place))?;
        for note in source.notes() {
            writeln!(out, "  note: `{}` {}", note.key, crate::machine::visible(&note.text))?;
        }
    }
    for sentence in loaded.unaccepted_sentences() {
        writeln!(out, "not accepted yet: {}", crate::machine::visible(&sentence))?;
    }
    for problem in &loaded.problems {
        writeln!(out, "problem: {}", crate::machine::visible(problem))?;
    }
    if !loaded.problems.is_empty() {
        writeln!(out, "until you fix this, doorward is strict and asks about every call")?;
    }
    Ok(())
}

/// Everything some source says, and the built-in value where none does.
fn entries(loaded: &Loaded, agent: &str) -> Vec<ShownValue> {
    let in_force = flat(&in_force(&loaded.config));
    let mut entries = Vec::new();
    for source in &loaded.sources {
        for (key, value) in flat_list(&source.config()) {
            let overruled = !in_force.get(&key).is_some_and(|values| values.contains(&value));
            entries.push(ShownValue { key, value, source: source.name.to_owned(), overruled });
        }
    }
    for (key, value) in flat_list(&loaded.trust.as_config()) {
        entries.push(ShownValue { key, value, source: "trust".to_owned(), overruled: false });
    }
    for (key, value) in built_in(agent) {
        if !entries.iter().any(|entry| entry.key == key && !entry.overruled) {
            entries.push(ShownValue { key, value, source: "built in".to_owned(), overruled: false });
        }
    }
    entries.sort_by(|one, other| one.key.cmp(&other.key));
    entries
}

/// Where an effective limit comes from: the sources that say exactly this, or the built-in value.
pub(crate) fn source_of_limit(loaded: &Loaded, key: &str, counts: &doorward_engine::Thresholds) -> String {
    let of =
        |numbers: &Numbers| numbers.limits().into_iter().find(|(name, _)| *name == key).and_then(|(_, value)| value);
    let counts = of(&Numbers::from(*counts));
    let said = loaded.sources.iter().filter(|source| of(&source.config().thresholds) == counts);
    let names: Vec<&str> = said.map(|source| source.name).collect();
    if names.is_empty() { "built in".to_owned() } else { names.join(", ") }
}

/// Every limit with its built-in value, and what happens beyond it.
pub(crate) fn built_in_limits() -> Vec<(&'static str, u64, String)> {
    let usual = doorward_engine::Thresholds::default();
    let what = |name: &str| match name {
        "reads_per_minute" => "more reads per minute ask".to_owned(),
        "read_burst" => "more reads within a few seconds ask".to_owned(),
        "denials_in_a_row" => "after this many denials in a row doorward asks about every call".to_owned(),
        "denials" => "after this many denials in a session doorward asks about every call".to_owned(),
        "bulk_files" => "a call that would permanently delete more files is blocked".to_owned(),
        "bulk_bytes" => format!("the same for their size: {}", doorward_engine::size(usual.bulk_bytes)),
        _ => format!("a larger read asks: {}", doorward_engine::size(usual.read_bytes)),
    };
    let limits = Numbers::from(usual).limits().into_iter();
    limits.map(|(name, limit)| (name, limit.unwrap_or_default(), what(name))).collect()
}

/// The configuration with the effective value instead of any number laxer than the built-in one.
fn in_force(config: &Config) -> Config {
    let built_in = doorward_engine::Thresholds::default();
    Config { thresholds: Numbers::from(config.thresholds.over(built_in)), ..config.clone() }
}

/// The defaults.
fn built_in(agent: &str) -> Vec<(String, Value)> {
    let usual = doorward_engine::Thresholds::default();
    let listed = |key: &str| (key.to_owned(), json!(super::DEFAULTS));
    let mut values = vec![
        ("strict".to_owned(), json!(false)),
        ("wait_seconds".to_owned(), json!(super::WAIT_SECONDS)),
        (format!("agents.{agent}.mode"), json!(Config::default().mode(agent).as_str())),
        listed("hosts.allowed"),
        ("run.mode".to_owned(), json!(super::RunMode::default().as_str())),
        listed("paths.protected"),
        ("thresholds.confidence".to_owned(), json!(usual.confidence)),
        ("thresholds.irreversible".to_owned(), json!(usual.irreversible)),
    ];
    let limits = Numbers::from(usual).limits();
    values.extend(limits.into_iter().map(|(name, limit)| (format!("thresholds.{name}"), json!(limit))));
    values
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
        let dirs = Dirs::at(home.path().to_str().unwrap());
        let file = dirs.config_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "strict = true\n[permissions]\ndeny = [\"bash(ls)\"]").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let entries = entries(&load::load(&dirs, None, "claude"), "claude");
        let of = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| entry.source.as_str());
        assert_eq!(of("strict"), Some("user"));
        assert_eq!(of("permissions.deny"), Some("user"));
        assert_eq!(of("thresholds.confidence"), Some("built in"));
        assert_eq!(of("agents.claude.mode"), Some("built in"));
    }

    #[test]
    fn a_limit_that_nobody_may_raise_is_shown_with_the_one_that_counts() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        let file = dirs.config_file();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "[thresholds]\nread_bytes = 99999999\nbulk_files = 5\nread_burst = 1000").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let entries = entries(&load::load(&dirs, None, "claude"), "claude");
        let of = |key: &str| -> Vec<String> {
            let found = entries.iter().filter(|entry| entry.key == key);
            found.map(|entry| format!("{} {} {}", entry.value, entry.source, entry.overruled)).collect()
        };
        assert_eq!(of("thresholds.read_bytes"), ["99999999 user true", "10485760 built in false"]);
        assert_eq!(of("thresholds.read_burst"), ["1000 user true", "60 built in false"]);
        assert_eq!(of("thresholds.bulk_files"), ["5 user false"]);
        assert_eq!(of("thresholds.bulk_bytes"), ["20971520 built in false"]);
    }
}
