//! Tools that a knowledge file describes: what they do, and what each of their arguments stands for.

use doorward_vocabulary::{Degree, FlowKind, Mark, Operation, Reach, Reversibility, Scope};
use serde_json::{Map, Value};

use super::super::field::Field;
use super::super::files::{edit_tool, read_tool, search_tool, write_tool};
use super::super::hidden::note_hidden;
use super::super::page_scripts::only_looks;
use super::super::paths::touch::Touch;
use super::super::sheet::observer::{By, Observer};
use super::arguments::{self, ARGUMENTS, Given, inner_json, text_argument};
use super::verbs::name_words;
use super::{ServerCall, doubt, orders};
use crate::call::{Change, ChangeKind};
use crate::effect::Effect;
use crate::knowledge::server::{Argument, Server, ServerTool, ToolDoes};
use crate::secret;

/// Words in names of servers that say nothing about which one it is.
// Clients and people put these around the name of the product: `mcp-server-git`, `claude_ai_Linear`.
const AROUND: &[&str] = &["mcp", "server", "the", "my", "official", "local", "plugin", "claude", "ai", "docker"];

/// A value of a parameter that nobody described may be so long and still be an identifier, a date or an option.
const SHORT: usize = 40;

/// What is known of the tool, if the server is the one that its name says.
pub(super) fn find(out: &Observer<'_>, call: &ServerCall<'_>) -> Option<ServerTool> {
    let words = name_words(call.server);
    let mut plain: Vec<&str> = words.iter().map(String::as_str).filter(|word| !AROUND.contains(word)).collect();
    plain.dedup();
    let servers = out.knowledge.servers().unwrap_or_default();
    let is_named = |server: &Server| {
        server.names.iter().any(|name| *name == plain.join("-") || *name == call.server || *name == plain.join(""))
    };
    // Where the machine says what a server runs, its name is only what the user calls it.
    let server = match out.world.server_words(call.server) {
        Some(words) => servers.into_iter().find(|server| starts(&words, server))?,
        None => servers.into_iter().find(is_named)?,
    };
    server.tools.into_iter().find(|tool| tool.name == call.name).or_else(|| protocol_tool(call.name))
}

/// One of the words of a command names a package of the server.
fn starts(words: &[String], server: &Server) -> bool {
    words.iter().any(|word| server.packages.iter().any(|package| stands_for(word, package)))
}

/// A package with or without a version, a program of that name, or an address of that host.
fn stands_for(word: &str, package: &str) -> bool {
    if let Some((_, rest)) = word.split_once("://") {
        return rest.split(['/', ':', '?']).next() == Some(package);
    }
    let is_versioned =
        word.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', ':', '=']));
    is_versioned || word.rsplit('/').next() == Some(package)
}

/// What every server can be asked beside its tools, as the relay names it.
fn protocol_tool(name: &str) -> Option<ServerTool> {
    let tool = |does, takes| ServerTool { name: name.to_owned().into(), does, command: "".into(), takes };
    match name {
        "read_resource" => {
            let takes = [("path", Argument::Read), ("url", Argument::Address), ("id", Argument::Data)];
            Some(tool(ToolDoes::Files, takes.map(|(name, argument)| (name.into(), argument)).into()))
        }
        "get_prompt" => Some(tool(ToolDoes::Nothing, Vec::new())),
        _ => None,
    }
}

/// The tool changes nothing, as far as its file says.
pub(super) fn reads(tool: &ServerTool) -> bool {
    match tool.does {
        ToolDoes::Nothing | ToolDoes::Reads | ToolDoes::Secrets => true,
        ToolDoes::Files | ToolDoes::Notes | ToolDoes::Page | ToolDoes::Changes | ToolDoes::Sends => false,
        ToolDoes::Destroys | ToolDoes::Scripts | ToolDoes::Runs => false,
    }
}

/// Writes down what a known tool does.
pub(super) fn tool(out: &mut Observer<'_>, call: &ServerCall<'_>, tool: &ServerTool) {
    let doubt = doubt(out, call);
    let text = call.args.as_str().and_then(inner_json);
    let args = text.as_ref().unwrap_or(call.args);
    // What a script does to the page stands in the script.
    let tool = &if script_only_looks(tool, args) { looking(tool) } else { tool.clone() };
    if let Some(effect) = effect(call, tool, doubt) {
        out.effect(effect);
    }
    if matches!(tool.does, ToolDoes::Runs | ToolDoes::Scripts) {
        out.lower(Degree::Opaque, "code given to a tool server");
    }
    match args {
        Value::Object(fields) => Arguments { call, tool, fields }.observe(out),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            out.lower(Degree::Opaque, format!("arguments of `{}` that are not named", call.name));
        }
    }
}

/// A tool that runs scripts in a page was given some, and all of them only look at it.
fn script_only_looks(tool: &ServerTool, args: &Value) -> bool {
    let Value::Object(fields) = args else { return false };
    let is_script = |key: &String| tool.argument(key) == Some(Argument::Code);
    let mut scripts = fields.iter().filter(|(key, _)| is_script(key)).map(|(_, value)| value).peekable();
    tool.does == ToolDoes::Scripts
        && scripts.peek().is_some()
        && scripts.all(|value| value.as_str().is_some_and(only_looks))
}

/// The same tool as one that reads.
fn looking(tool: &ServerTool) -> ServerTool {
    let takes = tool.takes.iter().cloned();
    let read = |(name, argument)| (name, if argument == Argument::Code { Argument::Data } else { argument });
    ServerTool { does: ToolDoes::Reads, takes: takes.map(read).collect(), ..tool.clone() }
}

/// What the tool does beside what its arguments say; `None` if there is nothing beside.
fn effect(call: &ServerCall<'_>, tool: &ServerTool, doubt: Option<Mark>) -> Option<Effect> {
    let (operation, marks): (Operation, &[Mark]) = match tool.does {
        ToolDoes::Files if doubt.is_none() => return None,
        ToolDoes::Nothing | ToolDoes::Files => (Operation::Read, &[Mark::HarnessOnly]),
        ToolDoes::Reads => (Operation::Network, &[Mark::McpReadOnly]),
        ToolDoes::Secrets => (Operation::Network, &[Mark::McpReadOnly, Mark::SecretReturning]),
        ToolDoes::Notes => (Operation::Mutate, &[]),
        ToolDoes::Page | ToolDoes::Changes => (Operation::Mutate, &[Mark::ExternalWrite]),
        ToolDoes::Sends => (Operation::Mutate, &[Mark::ExternalWrite, Mark::ExternalMessage, Mark::McpDestructive]),
        ToolDoes::Destroys | ToolDoes::Runs | ToolDoes::Scripts => {
            (Operation::Mutate, &[Mark::ExternalWrite, Mark::McpDestructive])
        }
    };
    let mut effect = Effect::new(operation, call.target());
    marks.iter().for_each(|mark| effect.marks.add(*mark));
    (effect.scope, effect.reach, effect.reversibility) = match tool.does {
        ToolDoes::Nothing | ToolDoes::Files => (Scope::Project, Reach::Workspace, Reversibility::NothingChanges),
        ToolDoes::Notes => (Scope::Project, Reach::Workspace, Reversibility::Tracked),
        ToolDoes::Reads | ToolDoes::Secrets => (Scope::External, Reach::Workspace, Reversibility::NothingChanges),
        ToolDoes::Page | ToolDoes::Changes => (Scope::External, Reach::Beyond, Reversibility::Tracked),
        ToolDoes::Sends | ToolDoes::Destroys | ToolDoes::Runs | ToolDoes::Scripts => {
            (Scope::External, Reach::Beyond, Reversibility::Irreversible)
        }
    };
    if let Some(mark) = doubt {
        effect.marks.add(mark);
    }
    Some(effect)
}

/// The arguments of one call to a known tool.
struct Arguments<'a> {
    call: &'a ServerCall<'a>,
    tool: &'a ServerTool,
    fields: &'a Map<String, Value>,
}

impl Arguments<'_> {
    fn observe(&self, out: &mut Observer<'_>) {
        if !self.tool.command.is_empty() {
            arguments::command(out, &self.command(), self.call.cwd);
        }
        let mut left = ARGUMENTS;
        for (key, value) in self.fields {
            let texts = texts(value);
            left = left.saturating_sub(texts.len().max(1));
            if left == 0 {
                return out.lower(Degree::Opaque, "there are more arguments than doorward checks");
            }
            match self.tool.argument(key) {
                Some(argument) => texts.iter().for_each(|text| self.one(out, argument, (key, text))),
                None if self.tool.command.contains(&format!("{{{key}}}")) => {}
                None => self.unexpected(out, key, value),
            }
        }
        self.edits(out);
    }

    /// One text under an argument that is known.
    fn one(&self, out: &mut Observer<'_>, argument: Argument, (key, text): (&str, &str)) {
        let cwd = self.call.cwd;
        let path = text.strip_prefix("file://").unwrap_or(text);
        match argument {
            Argument::Read => read_tool(out, path, cwd),
            Argument::Tree => search_tool(out, Some(path), None, cwd),
            Argument::Write => match self.first(Argument::Content) {
                Some(content) => write_tool(out, path, content, cwd),
                None => touch(out, Touch::Write, path, cwd),
            },
            Argument::Output if !path.starts_with(['/', '~']) && !path.contains("..") => note_hidden(out, path),
            Argument::Output => touch(out, Touch::Write, path, cwd),
            Argument::List => touch(out, Touch::List, path, cwd),
            Argument::Append => touch(out, Touch::Append, path, cwd),
            Argument::Make => touch(out, Touch::Create, path, cwd),
            Argument::Move => touch(out, Touch::Move, path, cwd),
            Argument::Delete => touch(out, Touch::DeleteTree, path, cwd),
            Argument::Upload => touch(out, Touch::Upload, path, cwd),
            Argument::Address => self.text(out, "url", text),
            Argument::Sql => self.text(out, "sql", text),
            Argument::Command => self.text(out, "command", text),
            Argument::Code => self.text(out, "code", text),
            Argument::Data => self.data(out, key, text),
            // Read with the file that they go into.
            Argument::Content | Argument::Edit | Argument::Old | Argument::New | Argument::Edits => {}
        }
    }

    fn text(&self, out: &mut Observer<'_>, key: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let given = Given { cwd: self.call.cwd, left: ARGUMENTS, touch: Touch::Read, asks_database: false, depth: 3 };
        text_argument(out, key, text, &given);
    }

    /// Text that leaves with the call, or that the agent will read again.
    fn data(&self, out: &mut Observer<'_>, key: &str, text: &str) {
        note_hidden(out, text);
        let leaves = match self.tool.does {
            ToolDoes::Nothing | ToolDoes::Files => false,
            ToolDoes::Notes => {
                if let Some(told) = orders::first(out.world, text, self.call) {
                    out.lower(Degree::Opaque, format!("a note that {}: {}", told.what, told.sentence));
                }
                true
            }
            ToolDoes::Reads | ToolDoes::Page | ToolDoes::Changes | ToolDoes::Sends => true,
            ToolDoes::Destroys | ToolDoes::Secrets | ToolDoes::Runs | ToolDoes::Scripts => true,
        };
        if leaves && secret::holds_encoded(text) {
            out.flow(FlowKind::SecretToNetwork, Default::default(), Default::default());
        }
        if key == "method" && matches!(text.to_ascii_uppercase().as_str(), "DELETE" | "PUT" | "PATCH" | "POST") {
            out.lower(Degree::Unknown, format!("the method `{text}` of a tool that reads"));
        }
    }

    /// A parameter that nobody described: short values are options, the rest is asked about.
    fn unexpected(&self, out: &mut Observer<'_>, key: &str, value: &Value) {
        let is_option = |text: &&str| {
            text.len() <= SHORT
                && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':'))
        };
        let texts = texts(value);
        if !texts.iter().all(is_option) || texts.len() > 8 {
            let name = self.call.name;
            out.lower(Degree::Unknown, format!("what the parameter `{key}` of `{name}` does"));
        }
        let mut given =
            Given { cwd: self.call.cwd, left: ARGUMENTS, touch: Touch::Read, asks_database: false, depth: 3 };
        arguments::argument(out, key, value, &mut given);
    }

    /// The file that is edited, with the changes wherever the tool takes them.
    fn edits(&self, out: &mut Observer<'_>) {
        let Some(path) = self.first(Argument::Edit) else { return };
        let change = |old: &str, new: &str| Change {
            path: path.to_owned(),
            kind: ChangeKind::Update,
            old: old.to_owned(),
            new: new.to_owned(),
        };
        let field = |edit: &Value, names: [&str; 3]| {
            names.iter().find_map(|name| edit.get(name)?.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let listed = self.fields.iter().filter(|(key, _)| self.tool.argument(key) == Some(Argument::Edits));
        let mut changes: Vec<Change> = listed
            .filter_map(|(_, edits)| edits.as_array())
            .flatten()
            .map(|edit| {
                let old = field(edit, ["oldText", "old_string", "old"]);
                change(&old, &field(edit, ["newText", "new_string", "new"]))
            })
            .collect();
        if let Some(new) = self.first(Argument::New) {
            changes.push(change(self.first(Argument::Old).unwrap_or_default(), new));
        }
        edit_tool(out, &changes, self.call.cwd);
    }

    fn first(&self, wanted: Argument) -> Option<&str> {
        self.fields
            .iter()
            .find(|(key, _)| self.tool.argument(key) == Some(wanted))
            .and_then(|(_, value)| value.as_str())
    }

    /// The command that the tool stands for, its arguments quoted.
    fn command(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for word in self.tool.command.split(' ') {
            let Some(name) = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) else {
                words.push(word.to_owned());
                continue;
            };
            let given = self.fields.get(name).map(texts).unwrap_or_default();
            if given.is_empty() && words.last().is_some_and(|before| before.starts_with('-')) {
                words.pop();
            }
            words.extend(given.iter().map(|text| format!("'{}'", text.replace('\'', r"'\''"))));
        }
        words.join(" ")
    }
}

fn touch(out: &mut Observer<'_>, touch: Touch, path: &str, cwd: &str) {
    if path.is_empty() {
        return;
    }
    note_hidden(out, path);
    let path = match (path.strip_prefix('~'), out.world.home()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        (Some(_) | None, Some(_) | None) => path.to_owned(),
    };
    let field = Field::literal(path, doorward_shell::Span::default());
    out.touch(touch, &field, cwd.starts_with('/').then_some(cwd), &By::default());
}

/// Every text in a value, keys of objects included.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| std::iter::once(key.as_str()).chain(texts(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_whole() {
        for (word, package, expected) in [
            ("@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-filesystem", true),
            ("@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/server-filesystem", true),
            ("@modelcontextprotocol/server-filesystem-evil", "@modelcontextprotocol/server-filesystem", false),
            ("/usr/bin/mcp-server-git", "mcp-server-git", true),
            ("mcp-server-git==2.0", "mcp-server-git", true),
            ("https://mcp.linear.app/sse", "mcp.linear.app", true),
            ("https://mcp.linear.app.unlisted.example/sse", "mcp.linear.app", false),
            ("https://mcp.linear.app@unlisted.example/", "mcp.linear.app", false),
        ] {
            assert_eq!(stands_for(word, package), expected, "{word}");
        }
    }
}
