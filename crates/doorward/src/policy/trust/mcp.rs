//! Tool servers: where agents configure them, and a hash of that configuration.

use std::path::Path;

use doorward_engine::McpTrust;
use doorward_ledger::Hash;
use serde_json::{Value, json};

use super::Trust;

/// Longer than the settings of any agent.
// Claude Code keeps per-project history in the same file as its servers, which grows to megabytes.
const LIMIT: u64 = 32 << 20;

/// Stands for the text of an unreadable file.
const UNREAD: &str = "doorward/unread";

/// Files below a home or a project with an object of servers under this key.
// Where the clients look for servers. A definition that changes after trust must ask, so all of them are hashed.
pub(crate) const FILES: &[(&str, &str)] = &[
    (".claude/settings.json", "mcpServers"),
    (".gemini/settings.json", "mcpServers"),
    (".mcp.json", "mcpServers"),
    (".cursor/mcp.json", "mcpServers"),
    ("opencode.json", "mcp"),
    (".qwen/settings.json", "mcpServers"),
    (".vscode/mcp.json", "servers"),
    (".config/opencode/opencode.json", "mcp"),
    (".copilot/mcp-config.json", "mcpServers"),
    (".codeium/windsurf/mcp_config.json", "mcpServers"),
];

/// Everything agents' settings say about a server, in a fixed order.
pub(crate) fn definitions(server: &str, home: &str, project: Option<&str>) -> Vec<Value> {
    Configured::read(server, home, project).definitions
}

/// What the user's own settings say; a project's files say nothing here.
fn own_definitions(server: &str, home: &str, project: Option<&str>) -> Vec<Value> {
    let home = Path::new(home);
    let mut found = Vec::new();
    let mut look = |value: Option<&Value>| found.extend(value.and_then(|servers| servers.get(server)).map(unwrapped));
    let claude = json(&home.join(".claude.json"), server);
    look(claude.get("mcpServers"));
    if let Some(project) = project {
        look(claude.pointer("/projects").and_then(|all| all.get(project)).and_then(|own| own.get("mcpServers")));
    }
    look(claude.get(UNREAD));
    in_files(home, server, &mut found);
    found
}

fn in_files(root: &Path, server: &str, found: &mut Vec<Value>) {
    let mut look = |value: Option<&Value>| found.extend(value.and_then(|servers| servers.get(server)).map(unwrapped));
    for (file, key) in FILES {
        let said = json(&root.join(file), server);
        look(said.get(key));
        look(said.get(UNREAD));
    }
    let said = toml(&root.join(".codex/config.toml"), server);
    look(said.get("mcp_servers"));
    look(said.get(UNREAD));
}

/// A definition without doorward's relay around it, which `setup` puts there: what is trusted is the server behind it.
fn unwrapped(definition: &Value) -> Value {
    let inner = || {
        let command = definition.get("command")?;
        let (program, args): (&str, Vec<&Value>) = match command.as_array() {
            Some(words) => (words.first()?.as_str()?, words.iter().skip(1).collect()),
            None => (command.as_str()?, definition.get("args")?.as_array()?.iter().collect()),
        };
        let is_relay = Path::new(program).file_name()? == "doorward" && args.first()?.as_str()? == "mcp";
        let behind = args.iter().position(|word| word.as_str() == Some("--")).filter(|_| is_relay)?;
        let mut words = args.into_iter().skip(behind + 1).cloned();
        let mut plain = definition.clone();
        let fields = plain.as_object_mut()?;
        if command.is_array() {
            fields.insert("command".to_owned(), words.collect());
        } else {
            fields.insert("command".to_owned(), words.next()?);
            fields.insert("args".to_owned(), words.collect());
        }
        Some(plain)
    };
    inner().unwrap_or_else(|| definition.clone())
}

/// What clients' settings say about one server.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    definitions: Vec<Value>,
    /// Only the user's own settings say it.
    is_own: bool,
}

impl Configured {
    pub(crate) fn read(server: &str, home: &str, project: Option<&str>) -> Configured {
        let own = own_definitions(server, home, project);
        let mut definitions = own.clone();
        if let Some(project) = project {
            in_files(Path::new(project), server, &mut definitions);
        }
        Configured { is_own: own.len() == definitions.len(), definitions }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// What is known about the server.
    pub(crate) fn trust(&self, server: &str, trust: &Trust) -> McpTrust {
        match trust.servers.get(server) {
            Some(pinned) if *pinned == hash(&self.definitions) => McpTrust::Trusted,
            Some(_) => McpTrust::Changed,
            None if self.definitions.is_empty() => McpTrust::Untrusted,
            None => McpTrust::Configured,
        }
    }

    /// The words that start it: those that all definitions agree on, if nobody but the user says them.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = |definition: &Value| -> Vec<String> {
            let said = ["command", "args", "url", "httpUrl", "serverUrl"].iter().filter_map(|key| definition.get(key));
            let texts = said.flat_map(|value| match value.as_array() {
                Some(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
                None => value.as_str().map(|text| text.split_whitespace().collect()).unwrap_or_default(),
            });
            texts.map(str::to_owned).collect()
        };
        let mut all = self.definitions.iter().filter(|_| self.is_own).map(words);
        let first = all.next().unwrap_or_default();
        all.fold(first, |common, other| common.into_iter().filter(|word| other.contains(word)).collect())
    }
}

/// The hash of all definitions.
pub(crate) fn hash(definitions: &[Value]) -> String {
    Hash::of(Value::from(definitions.to_vec()).to_string().as_bytes()).to_string()
}

fn json(path: &Path, server: &str) -> Value {
    let text = text(path);
    // The settings of Claude Code grow to megabytes; a file that names the server in no spelling says nothing about it.
    if !text.contains(server) && !text.contains('\\') {
        return Value::Null;
    }
    serde_json::from_str(&text).unwrap_or_else(|_| unread(text, server))
}

fn toml(path: &Path, server: &str) -> Value {
    let text = text(path);
    toml::from_str(&text).unwrap_or_else(|_| unread(text, server))
}

fn text(path: &Path) -> String {
    let bytes = crate::machine::checked_read::bytes_of(path, LIMIT).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Agents are less strict about comments and commas. A file that may define the server counts verbatim.
fn unread(text: String, server: &str) -> Value {
    let may_define = !server.is_empty() && text.contains(server);
    if may_define { json!({ UNREAD: { server: text } }) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust_in(server: &str, trust: &Trust, home: &str, project: Option<&str>) -> McpTrust {
        Configured::read(server, home, project).trust(server, trust)
    }

    #[test]
    fn a_server_is_trusted_as_it_was_configured() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        let mut trust = Trust::default();
        assert_eq!(trust_in("docs", &trust, path, None), McpTrust::Untrusted);
        let file = home.path().join(".claude.json");
        std::fs::write(&file, r#"{"mcpServers":{"docs":{"command":"docs-server"}}}"#).unwrap();
        assert_eq!(trust_in("docs", &trust, path, None), McpTrust::Configured);
        trust.servers.insert("docs".into(), hash(&definitions("docs", path, None)));
        assert_eq!(trust_in("docs", &trust, path, None), McpTrust::Trusted);
        std::fs::write(&file, r#"{"mcpServers":{"docs":{"command":"other-server"}}}"#).unwrap();
        assert_eq!(trust_in("docs", &trust, path, None), McpTrust::Changed);
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join(".mcp.json"), r#"{"mcpServers":{"docs":{"command":"x"}}}"#).unwrap();
        trust.servers.insert("docs".into(), hash(&definitions("docs", path, None)));
        assert_eq!(trust_in("docs", &trust, path, project.path().to_str()), McpTrust::Changed);
    }

    #[test]
    fn what_starts_a_server_is_what_the_users_own_settings_say() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        let text = r#"{"mcpServers":{"files":{"command":"/opt/doorward","args":["mcp","--name","files","--","npx","-y","server-x"],"env":{"A":"b"}}}}"#;
        std::fs::write(home.path().join(".claude.json"), text).unwrap();
        assert_eq!(Configured::read("files", path, None).words(), ["npx", "-y", "server-x"]);
        assert!(Configured::read("other", path, None).words().is_empty());
        let project = tempfile::tempdir().unwrap();
        for said in [r#"{"mcpServers":{"files":{"command":"x"}}}"#, r#"{"mcpServers":{"\u0066iles":{"command":"x"}}}"#]
        {
            std::fs::write(project.path().join(".mcp.json"), said).unwrap();
            assert!(Configured::read("files", path, project.path().to_str()).words().is_empty(), "{said}");
        }
    }

    #[test]
    fn a_project_cannot_put_another_server_under_a_trusted_name() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        std::fs::write(home.path().join(".mcp.json"), r#"{"mcpServers":{"docs":{"command":"docs"}}}"#).unwrap();
        let mut trust = Trust::default();
        trust.servers.insert("docs".into(), hash(&definitions("docs", path, None)));
        for (file, text, expected) in [
            (".vscode/mcp.json", r#"{"servers":{"docs":{"command":"x"}}}"#, McpTrust::Changed),
            (".vscode/mcp.json", r#"{"servers":{"docs":{"command":"x"},}} // so it is read"#, McpTrust::Changed),
            (
                ".gemini/settings.json",
                "{ /* more */ \"mcpServers\": {\"docs\": {\"command\": \"x\"}}}",
                McpTrust::Changed,
            ),
            (".codex/config.toml", "[mcp_servers.docs]\ncommand = 'x", McpTrust::Changed),
            (".vscode/mcp.json", r#"{"servers":{"other":{}}}"#, McpTrust::Trusted),
            (".vscode/mcp.json", "// nothing yet", McpTrust::Trusted),
        ] {
            let project = tempfile::tempdir().unwrap();
            let file = project.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, text).unwrap();
            assert_eq!(trust_in("docs", &trust, path, project.path().to_str()), expected, "{text}");
        }
    }
}
