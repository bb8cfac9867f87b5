//! Whose calls a relay sees: the agent by what its client says of itself, the session by what the client gives its servers.

use crate::machine::agent::Agent;
use crate::memory::call_ids;

/// Variables in which clients name the session to the servers that they start.
const SESSIONS: &[(&str, Agent)] = &[
    ("CLAUDE_CODE_SESSION_ID", Agent::Claude),
    ("CODEX_THREAD_ID", Agent::Codex),
    ("GEMINI_SESSION_ID", Agent::Gemini),
    ("QWEN_SESSION_ID", Agent::Qwen),
];

/// An agent and its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub agent: Agent,
    pub session: String,
}

impl Identity {
    /// What the environment says; a session of the relay's own where it says nothing.
    pub(super) fn of_environment() -> Identity {
        let named = SESSIONS.iter().find_map(|(name, agent)| {
            let session = std::env::var(name).ok().filter(|session| !session.is_empty())?;
            Some(Identity { agent: *agent, session })
        });
        named.unwrap_or_else(|| Identity { agent: Agent::Generic, session: format!("relay-{}", call_ids::own_name()) })
    }

    /// The client introduced itself. Which agent it is decides about its mode, so an unknown name counts as a generic one.
    pub(super) fn introduced(&mut self, client: &str) {
        if self.agent == Agent::Generic {
            self.agent = agent(client);
        }
    }
}

fn agent(client: &str) -> Agent {
    let client = client.to_ascii_lowercase();
    // The names that clients give in `clientInfo`.
    const NAMES: &[(&str, Agent)] = &[
        ("claude-code", Agent::Claude),
        ("codex", Agent::Codex),
        ("gemini-cli", Agent::Gemini),
        ("qwen", Agent::Qwen),
        ("opencode", Agent::Opencode),
        ("cursor", Agent::Cursor),
        ("windsurf", Agent::Windsurf),
        ("visual studio code", Agent::Vscode),
        ("copilot", Agent::Copilot),
    ];
    NAMES.iter().find(|(start, _)| client.starts_with(start)).map_or(Agent::Generic, |(_, agent)| *agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_the_name_it_gives() {
        for (client, expected) in [
            ("claude-code", Agent::Claude),
            ("codex-mcp-client", Agent::Codex),
            ("gemini-cli-mcp-client-files", Agent::Gemini),
            ("cursor-vscode", Agent::Cursor),
            ("my-claude-code", Agent::Generic),
            ("inspector", Agent::Generic),
        ] {
            assert_eq!(agent(client), expected, "{client}");
        }
    }
}
