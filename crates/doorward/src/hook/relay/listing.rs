//! What a server says of itself and its tools: pinned, read, and kept from the model where a person should read it first.

use doorward_engine::{DescribedWorld, Description, ToolDefinition, read_definition};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::machine::paths::Dirs;
use crate::policy::trust::tool_pins::{self, PinStatus, ToolPins};
use crate::policy::trust::{Trust, mcp};

/// Lists that the model reads, by the method that asks for them.
const LISTS: &[(&str, &str)] = &[
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

/// Whose lists are read.
pub(super) struct Listing<'a> {
    pub dirs: &'a Dirs,
    pub server: &'a str,
}

impl Listing<'_> {
    /// The result as the client gets it, if not every word of it may reach the model.
    pub(super) fn checked(&self, method: &str, result: &RawValue) -> Option<String> {
        if matches!(method, "initialize" | "server/discover") {
            return self.instructions(result);
        }
        let (_, key) = LISTS.iter().find(|(known, _)| *known == method)?;
        let Ok(mut value) = crate::machine::json::parse(result.get().as_bytes()) else {
            // Two readers could see two lists in it.
            return Some(json!({ *key: [] }).to_string());
        };
        let items = value.get_mut(*key)?.as_array_mut()?;
        let pins = if *key == "tools" { self.pinned(items) } else { ToolPins::default() };
        let mut is_changed = false;
        for item in items {
            if let Some(reason) = self.problem(item, &pins) {
                withhold(item, &reason, self.server);
                is_changed = true;
            }
        }
        is_changed.then(|| value.to_string())
    }

    fn pinned(&self, tools: &[Value]) -> ToolPins {
        let is_trusted = || {
            let trust = Trust::load(self.dirs).ok()?;
            let pinned = trust.servers.get(self.server)?;
            let cwd = std::env::current_dir().ok()?;
            let project = crate::machine::world::project_root(cwd.to_str()?);
            let defined = mcp::definitions(self.server, self.dirs.home(), project.as_deref());
            Some(*pinned == mcp::hash(&defined))
        };
        let noted = ToolPins::note_listed(self.dirs, self.server, tools, is_trusted() == Some(true));
        noted.unwrap_or_else(|problem| {
            say(&format!("the tools of `{}` can't be remembered: {problem}", self.server));
            ToolPins::load(self.dirs, self.server)
        })
    }

    /// Why the model should not read this yet.
    fn problem(&self, item: &Value, pins: &ToolPins) -> Option<String> {
        let name = item.get("name").or_else(|| item.get("uri")).and_then(Value::as_str).unwrap_or_default();
        let status = pins.status(name);
        if status == PinStatus::Accepted {
            return None;
        }
        if let PinStatus::Changed(how) = status {
            return Some(how);
        }
        let mut definition = tool_pins::read(item);
        if let Some(title) = item.get("title").or_else(|| item.get("arguments")) {
            definition.schema = json!([definition.schema, title]);
        }
        self.read(name, &definition)
    }

    fn read(&self, name: &str, definition: &ToolDefinition) -> Option<String> {
        let description = Description { home: Some(self.dirs.home().to_owned()), ..Description::default() };
        read_definition(self.server, name, definition, &DescribedWorld::new(description, "/"))
    }

    /// A server's instructions become part of what the model is told by its client.
    fn instructions(&self, result: &RawValue) -> Option<String> {
        let Ok(mut value) = crate::machine::json::parse(result.get().as_bytes()) else {
            return Some("{}".to_owned());
        };
        let said = value.get("instructions")?.as_str()?.to_owned();
        let definition = ToolDefinition { description: said, ..ToolDefinition::default() };
        let reason = self.read("instructions", &definition)?;
        say(&format!("the instructions of `{}` were withheld: {reason}", self.server));
        value.as_object_mut()?.insert("instructions".to_owned(), Value::from(withheld(&reason, self.server)));
        Some(value.to_string())
    }
}

/// What a question of a server to the user asks for that no server may ask for.
pub(super) fn asks_for(params: &Value, server: &str) -> Option<String> {
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
    // Whether a user types a password is not up to the server that asks.
    const SECRETS: &[&str] = &[
        "password",
        "passphrase",
        "api key",
        "apikey",
        "api_key",
        "secret",
        "token",
        "private key",
        "credential",
        "seed phrase",
        "pin code",
    ];
    let asked = format!("{} {}", text("message"), params.get("requestedSchema").unwrap_or(&Value::Null)).to_lowercase();
    let secret = SECRETS.iter().find(|word| asked.contains(**word));
    secret.map(|word| format!("doorward does not pass on that `{server}` asks the user for a {word}"))
}

/// The tool stays listed, without what the server says of it.
fn withhold(item: &mut Value, reason: &str, server: &str) {
    let name = item.get("name").cloned().unwrap_or_default();
    say(&format!("what `{server}` says about {name} was withheld: {reason}"));
    let Some(fields) = item.as_object_mut() else { return };
    fields.retain(|key, _| matches!(key.as_str(), "name" | "uri" | "uriTemplate" | "mimeType"));
    fields.insert("description".to_owned(), Value::from(withheld(reason, server)));
    if fields.contains_key("uri") || fields.contains_key("uriTemplate") {
        return;
    }
    let schema: Map<String, Value> = [("type".to_owned(), Value::from("object"))].into_iter().collect();
    fields.insert("inputSchema".to_owned(), Value::Object(schema));
}

fn withheld(_reason: &str, server: &str) -> String {
    // Not the reason itself: it quotes the text that the model should not read.
    format!("doorward withholds this text until the user has read it: `doorward trust mcp {server}`")
}

/// Clients show or log what their servers write to standard error.
fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "doorward: {}", crate::machine::visible(text));
}
