//! The hooks in an agent's JSON settings: put in, recognised, taken out.

use serde_json::{Value, json};

use super::edit::{Container, skip_space};
use crate::agents::Agent;

/// Seconds after which the client gives up; doorward answers long before.
pub const TIMEOUT: u32 = 60;

/// Nobody waits longer for the end of a session.
const LAST_TIMEOUT: u32 = 3;

/// Which events an agent shall send.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    pub agent: Agent,
    /// Events that wait for an answer; their failures must block.
    pub deciding: &'static [&'static str],
    /// Events that are only recorded.
    pub recorded: &'static [&'static str],
}

/// Where a hook of ours stands in the settings, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub event: String,
    pub group: usize,
    pub handler: usize,
    /// The whole group.
    pub content: Value,
}

impl Hooks {
    /// The line that the client runs before each call. If the program is missing or dies, the call is blocked.
    pub fn deciding_command(&self, program: &str) -> String {
        // Waiting for a person is safe only where it is known how long the client waits.
        let asks = format!("{} --timeout {TIMEOUT}", self.recording_command(program));
        format!("{asks} || {{ echo 'doorward failed; call blocked' >&2; exit 2; }}")
    }

    fn recording_command(&self, program: &str) -> String {
        format!("'{}' hook {}", program.replace('\'', "'\\''"), self.agent.name())
    }

    /// The settings with our hooks, whatever was there of ours before.
    pub fn installed(&self, settings: &str, program: &str) -> Result<String, String> {
        let mut text = self.removed(settings)?;
        if text.trim().is_empty() {
            text = "{}\n".to_owned();
        }
        for event in self.deciding {
            text = with_group(&text, event, &self.deciding_command(program))?;
        }
        for event in self.recorded {
            text = with_group(&text, event, &self.recording_command(program))?;
        }
        // Settings that already say the same keep their own layout.
        Ok(if super::json_meaning(&text) == super::json_meaning(settings) { settings.to_owned() } else { text })
    }

    /// The settings without our hooks; everybody else's stay.
    pub fn removed(&self, settings: &str) -> Result<String, String> {
        let mut text = settings.to_owned();
        if text.trim().is_empty() {
            return Ok(text);
        }
        let parsed = crate::json::parse(text.as_bytes())?;
        if !parsed.is_object() {
            return Err("the settings are not an object".into());
        }
        while let Some(shorter) = self.without_one(&text)? {
            text = shorter;
        }
        Ok(text)
    }

    /// Our hooks in the settings.
    pub fn placed(&self, settings: &str) -> Vec<Placed> {
        let parsed: Option<Value> = serde_json::from_str(settings).ok();
        let hooks = parsed.as_ref().and_then(|parsed| parsed.get("hooks")).and_then(Value::as_object);
        let mut found = Vec::new();
        for (event, groups) in hooks.into_iter().flatten() {
            for (group, content) in groups.as_array().into_iter().flatten().enumerate() {
                let handlers = content.get("hooks").and_then(Value::as_array);
                for (handler, _) in handlers.into_iter().flatten().enumerate().filter(|(_, hook)| self.owns(hook)) {
                    found.push(Placed { event: event.clone(), group, handler, content: content.clone() });
                }
            }
        }
        found
    }

    /// Takes out the first hook of ours, with whatever it leaves empty; `None` if there is none left.
    fn without_one(&self, text: &str) -> Result<Option<String>, String> {
        let top = top(text)?;
        let Some(hooks_at) = top.pieces.iter().position(|piece| piece.key == "hooks") else { return Ok(None) };
        let Some(hooks) = top.pieces.get(hooks_at).and_then(|piece| Container::read(text, piece.value.start).ok())
        else {
            return Ok(None);
        };
        for (event_at, event) in hooks.pieces.iter().enumerate() {
            let Ok(groups) = Container::read(text, event.value.start) else { continue };
            for (group_at, group) in groups.pieces.iter().enumerate() {
                let Some((list, ours)) = self.own_hook(text, group.value.start) else { continue };
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
    fn own_hook(&self, text: &str, group: usize) -> Option<(Container, usize)> {
        let group = Container::read(text, group).ok()?;
        let list = Container::read(text, group.member("hooks")?.value.start).ok()?;
        let ours = list.pieces.iter().position(|hook| {
            let hook: Option<Value> = text.get(hook.value.clone()).and_then(|hook| serde_json::from_str(hook).ok());
            hook.is_some_and(|hook| self.owns(&hook))
        })?;
        Some((list, ours))
    }

    fn owns(&self, hook: &Value) -> bool {
        let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
        let Some((program, rest)) = command.split_once(&format!(" hook {}", self.agent.name())) else { return false };
        (rest.is_empty() || rest.starts_with(' ')) && program.trim_matches('\'').rsplit('/').next() == Some("doorward")
    }
}

/// One group with one hook. Clients that hash what they trust drop or change what does not fit an event, so it must fit.
fn group(event: &str, command: &str) -> Value {
    let timeout = if event == "SessionEnd" { LAST_TIMEOUT } else { TIMEOUT };
    let hooks = json!([{ "type": "command", "command": command, "timeout": timeout }]);
    if event == "UserPromptSubmit" { json!({ "hooks": hooks }) } else { json!({ "matcher": "*", "hooks": hooks }) }
}

fn with_group(text: &str, event: &str, command: &str) -> Result<String, String> {
    let group = group(event, command);
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

fn top(text: &str) -> Result<Container, String> {
    Container::read(text, skip_space(text, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::claude::HOOKS as CLAUDE;

    const PROGRAM: &str = "/opt/it's/doorward";

    #[test]
    fn installing_and_removing_leaves_every_byte_as_it_was() {
        for settings in [
            "{\n  \"model\": \"x\"\n}\n",
            "{\"model\":\"x\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"other\"}]}]}}",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [ {\"hooks\": []} ]\n\t},\n\t\"a\": [\n\t\t1 ]\n}",
        ] {
            let with = CLAUDE.installed(settings, PROGRAM).unwrap();
            assert!(!CLAUDE.placed(&with).is_empty() && CLAUDE.placed(settings).is_empty());
            serde_json::from_str::<Value>(&with).unwrap();
            assert_eq!(CLAUDE.installed(&with, PROGRAM).unwrap(), with);
            assert_eq!(CLAUDE.removed(&with).unwrap(), settings);
        }
    }

    #[test]
    fn a_moved_program_replaces_the_old_line() {
        let old = CLAUDE.installed("{}", "/old/doorward").unwrap();
        let new = CLAUDE.installed(&old, "/new/doorward").unwrap();
        assert!(!new.contains("/old/"));
        assert_eq!(new.matches("/new/doorward").count(), 10);
    }

    #[test]
    fn the_line_fails_closed() {
        assert_eq!(
            CLAUDE.deciding_command(PROGRAM),
            "'/opt/it'\\''s/doorward' hook claude --timeout 60 || { echo 'doorward failed; call blocked' >&2; exit 2; }"
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
            assert!(CLAUDE.installed(settings, PROGRAM).is_err(), "{settings}");
        }
    }
}
