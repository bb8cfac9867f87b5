//! The hooks in an agent's JSON settings: adding, recognizing, removing.

use serde_json::{Value, json};

use super::edit::{Container, Piece, skip_space};
use crate::machine::agent::Agent;

/// Seconds after which the client gives up; doorward answers long before.
// When the client's timeout strikes first, the call runs: every hook client but Pi fails open there.
pub(super) const TIMEOUT: u32 = 60;

/// Too long to wait at the end of a session.
// The client holds its exit until the hook is done, and people close the window if it takes longer.
const LAST_TIMEOUT: u32 = 3;

/// Which events an agent sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hooks {
    pub agent: Agent,
    /// Events that wait for an answer; their failures must block.
    pub deciding: &'static [&'static str],
    /// Events that are only recorded.
    pub recorded: &'static [&'static str],
    pub shape: HookFormat,
}

/// How an agent's settings describe a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookFormat {
    /// In groups with a matcher, timeouts in seconds.
    Seconds,
    /// In groups with a matcher, timeouts in milliseconds.
    Milliseconds,
    Copilot,
    Cursor,
    Vscode,
    Windsurf,
}

/// Where our hook is in the settings, and what it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InstalledHook {
    pub event: String,
    pub group: usize,
    pub handler: usize,
    /// The whole group.
    pub content: Value,
}

impl Hooks {
    /// The line the client runs before each call. If the program is missing or crashes, the call is blocked.
    pub(super) fn deciding_command(&self, program: &str) -> String {
        // Waiting for the user is safe only if we know how long the client waits.
        let patience = if self.shape == HookFormat::Windsurf { String::new() } else { format!(" --timeout {TIMEOUT}") };
        let asks = format!("{}{patience}", self.recording_command(program));
        format!("{asks} || {{ echo 'doorward failed; call blocked' >&2; exit 2; }}")
    }

    fn recording_command(&self, program: &str) -> String {
        format!("'{}' hook {}", program.replace('\'', "'\\''"), self.agent.name())
    }

    /// The settings with our hooks, replacing any earlier ones.
    pub(super) fn with_ours(&self, settings: &str, program: &str) -> Result<String, String> {
        let mut text = self.without_ours(settings)?;
        if text.trim().is_empty() {
            text = "{}\n".to_owned();
        }
        if self.shape.has_version() && top(&text)?.member("version").is_none() {
            text = top(&text)?.with(&text, "version", &json!(1));
        }
        for event in self.deciding {
            text = with_entry(&text, event, &self.shape.entry(event, &self.deciding_command(program), true))?;
        }
        for event in self.recorded {
            text = with_entry(&text, event, &self.shape.entry(event, &self.recording_command(program), false))?;
        }
        // Settings that already say the same keep their own layout.
        Ok(if super::json_meaning(&text) == super::json_meaning(settings) { settings.to_owned() } else { text })
    }

    /// The settings without our hooks; all others stay.
    pub(super) fn without_ours(&self, settings: &str) -> Result<String, String> {
        let mut text = settings.to_owned();
        if text.trim().is_empty() {
            return Ok(text);
        }
        let parsed = crate::machine::json::parse(text.as_bytes())?;
        if !parsed.is_object() {
            return Err("the settings are not an object".into());
        }
        let mut has_changed = false;
        while let Some(shorter) = self.without_one(&text)? {
            (text, has_changed) = (shorter, true);
        }
        let left = top(&text)?;
        let is_bare = left.pieces.len() == 1 && left.member("version").is_some();
        Ok(if has_changed && self.shape.has_version() && is_bare { left.without(&text, 0) } else { text })
    }

    /// Our hooks in the settings.
    pub(super) fn find_ours(&self, settings: &str) -> Vec<InstalledHook> {
        let parsed: Option<Value> = serde_json::from_str(settings).ok();
        let hooks = parsed.as_ref().and_then(|parsed| parsed.get("hooks")).and_then(Value::as_object);
        let mut found = Vec::new();
        for (event, groups) in hooks.into_iter().flatten() {
            for (group, content) in groups.as_array().into_iter().flatten().enumerate() {
                if self.owns(content) {
                    found.push(InstalledHook { event: event.clone(), group, handler: 0, content: content.clone() });
                }
                let handlers = content.get("hooks").and_then(Value::as_array);
                for (handler, _) in handlers.into_iter().flatten().enumerate().filter(|(_, hook)| self.owns(hook)) {
                    found.push(InstalledHook { event: event.clone(), group, handler, content: content.clone() });
                }
            }
        }
        found
    }

    /// Removes our first hook, with whatever becomes empty; `None` if there is none left.
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
                if self.is_own(text, group) {
                    return Ok(Some(match (groups.pieces.len(), hooks.pieces.len()) {
                        (1, 1) => top.without(text, hooks_at),
                        (1, _) => hooks.without(text, event_at),
                        _ => groups.without(text, group_at),
                    }));
                }
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

    /// The list of hooks in a group, and the position of ours in it.
    fn own_hook(&self, text: &str, group: usize) -> Option<(Container, usize)> {
        let group = Container::read(text, group).ok()?;
        let list = Container::read(text, group.member("hooks")?.value.start).ok()?;
        let ours = list.pieces.iter().position(|hook| self.is_own(text, hook))?;
        Some((list, ours))
    }

    fn is_own(&self, text: &str, hook: &Piece) -> bool {
        let hook: Option<Value> = text.get(hook.value.clone()).and_then(|hook| serde_json::from_str(hook).ok());
        hook.is_some_and(|hook| self.owns(&hook))
    }

    fn owns(&self, hook: &Value) -> bool {
        let command = command_of(hook);
        let Some((program, rest)) = command.split_once(&format!(" hook {}", self.agent.name())) else { return false };
        (rest.is_empty() || rest.starts_with(' ')) && program.trim_matches('\'').rsplit('/').next() == Some("doorward")
    }
}

/// The command of one hook; empty if it has none.
pub(super) fn command_of(hook: &Value) -> &str {
    hook.get("command").or_else(|| hook.get("bash")).and_then(Value::as_str).unwrap_or_default()
}

impl HookFormat {
    /// The settings say in which version they are written.
    const fn has_version(self) -> bool {
        match self {
            HookFormat::Copilot | HookFormat::Cursor => true,
            HookFormat::Seconds | HookFormat::Milliseconds | HookFormat::Vscode | HookFormat::Windsurf => false,
        }
    }

    /// One hook for an event. Clients that hash trusted hooks drop or change fields that don't fit the event, so it must fit.
    fn entry(self, event: &str, command: &str, decides: bool) -> Value {
        let is_last = event.eq_ignore_ascii_case("SessionEnd");
        let timeout = if is_last { LAST_TIMEOUT } else { TIMEOUT };
        let hooks = match self {
            HookFormat::Seconds => json!([{ "type": "command", "command": command, "timeout": timeout }]),
            HookFormat::Milliseconds => {
                json!([{ "type": "command", "name": "doorward", "command": command, "timeout": timeout * 1000 }])
            }
            HookFormat::Copilot => return json!({ "type": "command", "bash": command, "timeoutSec": timeout }),
            HookFormat::Cursor => return json!({ "command": command, "timeout": timeout, "failClosed": decides }),
            HookFormat::Vscode => return json!({ "type": "command", "command": command, "timeout": timeout }),
            HookFormat::Windsurf => return json!({ "command": command, "show_output": decides }),
        };
        let has_tools = event != "UserPromptSubmit";
        if has_tools { json!({ "matcher": "*", "hooks": hooks }) } else { json!({ "hooks": hooks }) }
    }
}

fn with_entry(text: &str, event: &str, entry: &Value) -> Result<String, String> {
    let top = top(text)?;
    let Some(hooks) = top.member("hooks") else {
        return Ok(top.with(text, "hooks", &json!({ event: [entry] })));
    };
    let hooks = Container::read(text, hooks.value.start).map_err(|_| "`hooks` is not an object")?;
    match hooks.member(event) {
        None => Ok(hooks.with(text, event, &json!([entry]))),
        Some(groups) if text.get(groups.value.clone()).is_some_and(|list| list.starts_with('[')) => {
            Ok(Container::read(text, groups.value.start)?.with(text, "", entry))
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
    use crate::desk::setup::claude::HOOKS as CLAUDE;

    const PROGRAM: &str = "/opt/it's/doorward";

    #[test]
    fn installing_and_removing_leaves_every_byte_as_it_was() {
        for settings in [
            "{\n  \"model\": \"x\"\n}\n",
            "{\"model\":\"x\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"other\"}]}]}}",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [ {\"hooks\": []} ]\n\t},\n\t\"a\": [\n\t\t1 ]\n}",
        ] {
            let with = CLAUDE.with_ours(settings, PROGRAM).unwrap();
            assert!(!CLAUDE.find_ours(&with).is_empty() && CLAUDE.find_ours(settings).is_empty());
            serde_json::from_str::<Value>(&with).unwrap();
            assert_eq!(CLAUDE.with_ours(&with, PROGRAM).unwrap(), with);
            assert_eq!(CLAUDE.without_ours(&with).unwrap(), settings);
        }
    }

    #[test]
    fn a_moved_program_replaces_the_old_line() {
        let old = CLAUDE.with_ours("{}", "/old/doorward").unwrap();
        let new = CLAUDE.with_ours(&old, "/new/doorward").unwrap();
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
            assert!(CLAUDE.with_ours(settings, PROGRAM).is_err(), "{settings}");
        }
    }
}
