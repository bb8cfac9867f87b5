//! The agents that doorward speaks with, by name.

/// The agents whose protocol is spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Pi,
    Gemini,
    Qwen,
    Copilot,
    Opencode,
    Cursor,
    Vscode,
    Windsurf,
    /// Any program that uses doorward's own format.
    Generic,
}

impl Agent {
    pub(crate) const ALL: [Agent; 11] = [
        Agent::Claude,
        Agent::Codex,
        Agent::Pi,
        Agent::Gemini,
        Agent::Qwen,
        Agent::Copilot,
        Agent::Opencode,
        Agent::Cursor,
        Agent::Vscode,
        Agent::Windsurf,
        Agent::Generic,
    ];

    pub(crate) fn parse(name: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The name in commands, configuration and records.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Pi => "pi",
            Agent::Gemini => "gemini",
            Agent::Qwen => "qwen",
            Agent::Copilot => "copilot",
            Agent::Opencode => "opencode",
            Agent::Cursor => "cursor",
            Agent::Vscode => "vscode",
            Agent::Windsurf => "windsurf",
            Agent::Generic => "generic",
        }
    }

    /// The display name.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Agent::Claude => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Pi => "Pi",
            Agent::Gemini => "Gemini CLI",
            Agent::Qwen => "Qwen Code",
            Agent::Copilot => "Copilot CLI",
            Agent::Opencode => "OpenCode",
            Agent::Cursor => "Cursor",
            Agent::Vscode => "VS Code",
            Agent::Windsurf => "Windsurf",
            Agent::Generic => "other agents",
        }
    }
}
