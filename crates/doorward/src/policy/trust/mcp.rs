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
const FILES: &[(&str, &str)] = &[
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
    let roots: Vec<&Path> = std::iter::once(home).chain(project).map(Path::new).collect();
    gathered(server, home, project, &roots)
}

/// What the files below these directories say about a server, besides the user's own settings for the project.
fn gathered(server: &str, home: &str, project: Option<&str>, roots: &[&Path]) -> Vec<Value> {
    let home = Path::new(home);
    let mut found = Vec::new();
    let mut look = |value: Option<&Value>| found.extend(value.and_then(|servers| servers.get(server)).cloned());
    let claude = json(&home.join(".claude.json"), server);
    look(claude.get("mcpServers"));
    if let Some(project) = project {
        look(claude.pointer("/projects").and_then(|all| all.get(project)).and_then(|own| own.get("mcpServers")));
    }
    look(claude.get(UNREAD));
    for root in roots {
        for (file, key) in FILES {
            let said = json(&root.join(file), server);
            look(said.get(key));
            look(said.get(UNREAD));
        }
        let said = toml(&root.join(".codex/config.toml"), server);
        look(said.get("mcp_servers"));
        look(said.get(UNREAD));
    }
    found
}

/// The hash of all definitions.
pub(crate) fn hash(definitions: &[Value]) -> String {
    Hash::of(Value::from(definitions.to_vec()).to_string().as_bytes()).to_string()
}

/// What is known about a server.
pub(crate) fn trust_in(server: &str, trust: &Trust, home: &str, project: Option<&str>) -> McpTrust {
    let defined = definitions(server, home, project);
    match trust.servers.get(server) {
        Some(pinned) if *pinned == hash(&defined) => McpTrust::Trusted,
        Some(_) => McpTrust::Changed,
        None if defined.is_empty() => McpTrust::Untrusted,
        // Whoever made the project may give its server the name of a well-known one.
        None if defined.len() > gathered(server, home, project, &[Path::new(home)]).len() => McpTrust::Proposed,
        None => McpTrust::Configured,
    }
}

fn json(path: &Path, server: &str) -> Value {
    let text = text(path);
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
        trust.servers.clear();
        assert_eq!(trust_in("docs", &trust, path, None), McpTrust::Configured);
        assert_eq!(trust_in("docs", &trust, path, project.path().to_str()), McpTrust::Proposed);
        trust.servers.insert("docs".into(), hash(&definitions("docs", path, None)));
        assert_eq!(trust_in("docs", &trust, path, project.path().to_str()), McpTrust::Changed);
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
