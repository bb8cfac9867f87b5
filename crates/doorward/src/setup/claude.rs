//! The hooks in Claude Code's settings: put in, recognised, taken out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::edit::{Container, skip_space};

/// The event that waits for an answer; its failures must block.
const DECIDING: &str = "PreToolUse";

/// Events that are only recorded.
const RECORDED: &[&str] = &["PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd"];

/// Seconds after which the client gives up; doorward answers long before.
const TIMEOUT: u32 = 60;

/// Where the user's settings lie.
pub fn settings_file(home: &str) -> PathBuf {
    let directory = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    directory.unwrap_or_else(|| Path::new(home).join(".claude")).join("settings.json")
}

/// The line that the client runs before each call. If the program is missing or dies, the call is blocked.
pub fn deciding_command(program: &str) -> String {
    format!("{} || {{ echo 'doorward failed; call blocked' >&2; exit 2; }}", recording_command(program))
}

fn recording_command(program: &str) -> String {
    format!("'{}' hook claude", program.replace('\'', "'\\''"))
}

/// The settings with our hooks, whatever was there of ours before.
pub fn installed(settings: &str, program: &str) -> Result<String, String> {
    let mut text = removed(settings)?;
    if text.trim().is_empty() {
        text = "{}\n".to_owned();
    }
    text = with_group(&text, DECIDING, &deciding_command(program))?;
    for event in RECORDED {
        text = with_group(&text, event, &recording_command(program))?;
    }
    // Settings that already say the same keep their own layout.
    let meaning = |text: &str| serde_json::from_str::<Value>(text).ok();
    Ok(if meaning(&text) == meaning(settings) { settings.to_owned() } else { text })
}

/// The settings without our hooks; everybody else's stay.
pub fn removed(settings: &str) -> Result<String, String> {
    let mut text = settings.to_owned();
    if text.trim().is_empty() {
        return Ok(text);
    }
    let parsed = crate::json::parse(text.as_bytes())?;
    if !parsed.is_object() {
        return Err("the settings are not an object".into());
    }
    while let Some(shorter) = without_one(&text)? {
        text = shorter;
    }
    Ok(text)
}

/// Our hooks are in the settings.
pub fn is_installed(settings: &str) -> bool {
    removed(settings).is_ok_and(|without| without != settings)
}

fn with_group(text: &str, event: &str, command: &str) -> Result<String, String> {
    let group = json!({ "matcher": "*", "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] });
    let top = top(text)?;
    let Some(hooks) = top.member("hooks") else {
        return Ok(top.with(text, "hooks", &json!({ event: [group] })));
    };
    let hooks = Container::read(text, hooks.value.start).map_err(|_| "`hooks` is not an object")?;
    match hooks.member(event) {
        None => Ok(hooks.with(text, event, &Value::Array(vec![group]))),
        Some(groups) if text.get(groups.value.clone()).is_some_and(|list| list.starts_with('[')) => {
            Ok(Container::read(text, groups.value.start)?.with(text, "", &group))
        }
        Some(_) => Err(format!("`hooks.{event}` is not a list")),
    }
}

/// Takes out the first hook of ours, with whatever it leaves empty; `None` if there is none left.
fn without_one(text: &str) -> Result<Option<String>, String> {
    let top = top(text)?;
    let Some(hooks_at) = top.pieces.iter().position(|piece| piece.key == "hooks") else { return Ok(None) };
    let Some(hooks) = top.pieces.get(hooks_at).and_then(|piece| Container::read(text, piece.value.start).ok()) else {
        return Ok(None);
    };
    for (event_at, event) in hooks.pieces.iter().enumerate() {
        let Ok(groups) = Container::read(text, event.value.start) else { continue };
        for (group_at, group) in groups.pieces.iter().enumerate() {
            let Some((list, ours)) = own_hook(text, group.value.start) else { continue };
            return Ok(Some(match (list.pieces.len(), groups.pieces.len(), hooks.pieces.len()) {
                (1, 1, 1) => top.without(text, hooks_at),
                (1, 1, _) => hooks.without(text, event_at),
                (1, _, _) => groups.without(text, group_at),
                _ => list.without(text, ours),
            }));
        }
    }
    Ok(None)
}

/// The list of hooks in a group and the place of ours in it.
fn own_hook(text: &str, group: usize) -> Option<(Container, usize)> {
    let group = Container::read(text, group).ok()?;
    let list = Container::read(text, group.member("hooks")?.value.start).ok()?;
    let ours = list.pieces.iter().position(|hook| {
        let hook: Option<Value> = text.get(hook.value.clone()).and_then(|hook| serde_json::from_str(hook).ok());
        hook.as_ref().and_then(|hook| hook.get("command")).and_then(Value::as_str).is_some_and(is_ours)
    })?;
    Some((list, ours))
}

fn is_ours(command: &str) -> bool {
    let Some((program, _)) = command.split_once(" hook claude") else { return false };
    program.trim_matches('\'').rsplit('/').next() == Some("doorward")
}

fn top(text: &str) -> Result<Container, String> {
    Container::read(text, skip_space(text, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/it's/doorward";

    #[test]
    fn installing_and_removing_leaves_every_byte_as_it_was() {
        for settings in [
            "{\n  \"model\": \"x\"\n}\n",
            "{\"model\":\"x\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"other\"}]}]}}",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [ {\"hooks\": []} ]\n\t},\n\t\"a\": [\n\t\t1 ]\n}",
        ] {
            let with = installed(settings, PROGRAM).unwrap();
            assert!(is_installed(&with) && !is_installed(settings));
            serde_json::from_str::<Value>(&with).unwrap();
            assert_eq!(installed(&with, PROGRAM).unwrap(), with);
            assert_eq!(removed(&with).unwrap(), settings);
        }
    }

    #[test]
    fn a_moved_program_replaces_the_old_line() {
        let old = installed("{}", "/old/doorward").unwrap();
        let new = installed(&old, "/new/doorward").unwrap();
        assert!(!new.contains("/old/"));
        assert_eq!(new.matches("/new/doorward").count(), 5);
    }

    #[test]
    fn the_line_fails_closed() {
        assert_eq!(
            deciding_command(PROGRAM),
            "'/opt/it'\\''s/doorward' hook claude || { echo 'doorward failed; call blocked' >&2; exit 2; }"
        );
    }

    #[test]
    fn settings_that_are_not_understood_are_left_alone() {
        for settings in [
            "[]",
            "{\"hooks\": [}",
            "{\"a\":1,\"a\":2}",
            "{\"hooks\": 3}",
            "{\"hooks\": {\"PreToolUse\": {}}}",
            "// x\n{}",
        ] {
            assert!(installed(settings, PROGRAM).is_err(), "{settings}");
        }
    }
}
