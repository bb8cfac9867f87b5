//! Pi's own configuration files, as far as layer 1 uses them.

use serde_json::Value;

use super::notes::Note;
use super::{Config, DEFAULTS};

/// Keys of `autoMode` about the reviewer that have fixed values here.
const REVIEWER: &[&str] =
    &["classifierReasoningLevel", "maxTranscriptLines", "maxUserTranscriptTokens", "maxToolTranscriptTokens", "log"];

/// Keys that would let something through unjudged, or that mean nothing here.
// Named in a note instead of silently ignored, or people would believe them to be in force.
const NOT_TAKEN: &[(&str, &str)] = &[
    ("enabled", "the mode is set per agent in doorward's own configuration"),
    ("allowInsideWorkingDirectory", "changes inside the project are always judged"),
    ("classifyReadOnlyTools", "reads are judged by what they read"),
];

/// Keys of `autoMode` that can only tighten.
// Taken from every file, a repository's included: they can only add questions.
const PROTECTING: &[&str] = &["protectedPaths", "deniedPaths"];

/// Reads Pi's JSON; anything beyond permissions and paths becomes a note.
pub(crate) fn parse(text: &str) -> Result<(Config, Vec<Note>), String> {
    let value = crate::machine::json::parse(text.as_bytes()).map_err(|problem| problem.to_string())?;
    let Value::Object(fields) = value else { return Err("it is not a JSON object".into()) };
    let (mut config, mut notes) = (Config::default(), Vec::new());
    for (key, value) in &fields {
        match key.as_str() {
            "permissions" => permissions(value, &mut config, &mut notes)?,
            "autoMode" => auto_mode(value, &mut config, &mut notes)?,
            other => notes.push(Note::new(other, "is unknown")),
        }
    }
    // Unreadable patterns are an error here too.
    config.policy(doorward_engine::Mode::ConfirmAll)?;
    config.reviewer.check()?;
    Ok((config, notes))
}

/// Reads the file a repository shares: its settings about judging are ignored, but what it protects is honored.
pub(crate) fn parse_shared(text: &str) -> Result<(Config, Vec<Note>), String> {
    let (mut config, mut notes) = parse(text)?;
    let value = crate::machine::json::parse(text.as_bytes())?;
    let said = value.get("autoMode").and_then(Value::as_object).into_iter().flatten();
    let ignored: Vec<String> = said
        .map(|(key, _)| key)
        .filter(|key| !PROTECTING.contains(&key.as_str()))
        .map(|key| format!("`{key}`"))
        .collect();
    if !ignored.is_empty() {
        notes.retain(|note| !note.key.starts_with("autoMode."));
        let text = format!("{} ignored: a shared file can't change how calls are judged", quoted_list(&ignored));
        notes.push(Note::new("autoMode", text));
    }
    config.reviewer = super::Reviewer::default();
    Ok((config, notes))
}

fn quoted_list(names: &[String]) -> String {
    match names {
        [one] => format!("{one} is"),
        several => format!("{} are", several.join(", ")),
    }
}

fn permissions(value: &Value, config: &mut Config, notes: &mut Vec<Note>) -> Result<(), String> {
    let Value::Object(lists) = value else { return Err("`permissions` is not an object".into()) };
    for (key, value) in lists {
        let list = match key.as_str() {
            "deny" => &mut config.permissions.deny,
            "ask" => &mut config.permissions.ask,
            "allow" => &mut config.permissions.allow,
            other => {
                notes.push(Note::new(format!("permissions.{other}"), "is unknown"));
                continue;
            }
        };
        *list = texts(value, &format!("permissions.{key}"))?;
    }
    Ok(())
}

fn auto_mode(value: &Value, config: &mut Config, notes: &mut Vec<Note>) -> Result<(), String> {
    let Value::Object(fields) = value else { return Err("`autoMode` is not an object".into()) };
    for (key, value) in fields {
        let name = format!("autoMode.{key}");
        match key.as_str() {
            "protectedPaths" => config.paths.protected = paths(texts(value, &name)?),
            "deniedPaths" => config.paths.denied = paths(texts(value, &name)?),
            "classifierModel" => match value.as_str().filter(|model| !model.is_empty()) {
                Some(model) => config.reviewer.model = Some(model.to_owned()),
                None => notes.push(Note::new(name, "is not `provider/model`, so it is ignored")),
            },
            "environment" => config.reviewer.environment = texts(value, &name)?,
            "allow" => config.reviewer.allow = texts(value, &name)?,
            "soft_deny" => config.reviewer.soft_deny = texts(value, &name)?,
            "hard_deny" => config.reviewer.hard_deny = texts(value, &name)?,
            known if REVIEWER.contains(&known) => {
                notes.push(Note::new(name, "belongs to the reviewer, whose limits are fixed here"));
            }
            other => match NOT_TAKEN.iter().find(|(known, _)| *known == other) {
                Some((_, why)) => notes.push(Note::new(name, format!("is ignored: {why}"))),
                None => notes.push(Note::new(name, "is unknown")),
            },
        }
    }
    Ok(())
}

/// The built-in protections always apply.
fn paths(list: Vec<String>) -> Vec<String> {
    list.into_iter().filter(|path| path != DEFAULTS).collect()
}

fn texts(value: &Value, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{name}` is not a list of strings");
    let list = value.as_array().ok_or_else(wrong)?;
    list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_and_paths_are_taken_and_the_rest_is_named() {
        let text = r#"{"permissions":{"deny":["bash(git push --force*)"]},
            "autoMode":{"protectedPaths":["$defaults","infra"],"deniedPaths":["*.pem"],"hard_deny":["x"],"classifierModel":"a/b","log":{},"frob":1}}"#;
        let (config, notes) = parse(text).unwrap();
        assert_eq!(config.permissions.deny, ["bash(git push --force*)"]);
        assert_eq!((config.paths.protected, config.paths.denied), (vec!["infra".to_owned()], vec!["*.pem".to_owned()]));
        let keys: Vec<&str> = notes.iter().map(|note| note.key.as_str()).collect();
        assert_eq!(keys, ["autoMode.frob", "autoMode.log"]);
        assert_eq!((config.reviewer.model.as_deref(), config.reviewer.hard_deny.len()), (Some("a/b"), 1));
    }

    #[test]
    fn a_shared_file_protects_and_says_what_it_cannot_do() {
        let text = r#"{"permissions":{"deny":["bash(git push --force*)"]},
            "autoMode":{"protectedPaths":["infra"],"classifierModel":"a/b","allow":["x"],"log":{}}}"#;
        let (config, notes) = parse_shared(text).unwrap();
        assert_eq!((config.permissions.deny.len(), config.paths.protected), (1, vec!["infra".to_owned()]));
        assert!(!config.reviewer.is_set());
        let [note] = notes.as_slice() else { panic!("{notes:?}") };
        assert_eq!(note.key, "autoMode");
        assert!(note.text.starts_with("`allow`, `classifierModel`, `log` are ignored"), "{}", note.text);
        assert!(parse_shared(r#"{"autoMode":{"deniedPaths":["x"]}}"#).unwrap().1.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for text in ["", "[]", r#"{"permissions":{"deny":"x"}}"#, r#"{"permissions":{"ask":["bash("]}}"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
