//! Tool servers: where agents are told about them, and a hash of what they are told.

use std::path::Path;

use doorward_engine::McpTrust;
use doorward_ledger::Hash;
use serde_json::Value;

use super::Trust;

/// Longer than the settings of any agent.
const LIMIT: u64 = 32 << 20;

/// Everything that the settings of agents say about a server, in a fixed order.
pub fn definitions(server: &str, home: &str, project: Option<&str>) -> Vec<Value> {
    let home = Path::new(home);
    let mut found = Vec::new();
    let mut look = |value: Option<&Value>| found.extend(value.and_then(|servers| servers.get(server)).cloned());
    let claude = json(&home.join(".claude.json"));
    look(claude.get("mcpServers"));
    if let Some(project) = project {
        look(claude.pointer("/projects").and_then(|all| all.get(project)).and_then(|own| own.get("mcpServers")));
    }
    let roots = [Some(home), project.map(Path::new)];
    for root in roots.into_iter().flatten() {
        for file in [".claude/settings.json", ".gemini/settings.json", ".mcp.json", ".cursor/mcp.json"] {
            look(json(&root.join(file)).get("mcpServers"));
        }
        look(json(&root.join("opencode.json")).get("mcp"));
        look(toml(&root.join(".codex/config.toml")).get("mcp_servers"));
    }
    found
}

/// The hash of all definitions.
pub fn hash(definitions: &[Value]) -> String {
    Hash::of(Value::from(definitions.to_vec()).to_string().as_bytes()).to_string()
}

/// What is known about a server.
pub fn trust_in(server: &str, trust: &Trust, home: &str, project: Option<&str>) -> McpTrust {
    let defined = definitions(server, home, project);
    match trust.servers.get(server) {
        Some(pinned) if *pinned == hash(&defined) => McpTrust::Trusted,
        Some(_) => McpTrust::Changed,
        None if defined.is_empty() => McpTrust::Untrusted,
        None => McpTrust::Configured,
    }
}

fn json(path: &Path) -> Value {
    let bytes = crate::trusted::bytes_of(path, LIMIT);
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn toml(path: &Path) -> Value {
    let text = crate::trusted::start_of(path, LIMIT);
    text.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
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
        trust.servers.insert("docs".into(), hash(&definitions("docs", path, None)));
        assert_eq!(trust_in("docs", &trust, path, project.path().to_str()), McpTrust::Changed);
    }
}
