//! What the user trusts and has configured, and what people answered before.

use doorward_engine::{AcceptedHistory, Configured, McpTrust, Memory, Settings, ToolDefinition};

use super::DiskWorld;
use crate::machine::clock::now_ms;
use crate::policy::from_history;
use crate::policy::trust::mcp;
use crate::policy::trust::tool_pins::{PinStatus, ToolPins};

/// What is known of one server, read once for a call.
#[derive(Clone, Debug)]
pub(super) struct KnownServer {
    configured: mcp::Configured,
    tools: ToolPins,
}

impl DiskWorld {
    fn server(&self, name: &str) -> KnownServer {
        let read = || KnownServer {
            configured: mcp::Configured::read(name, &self.home, self.project.as_deref()),
            tools: ToolPins::load_at(&self.state, name),
        };
        self.servers.borrow_mut().entry(name.to_owned()).or_insert_with(read).clone()
    }
}

impl Configured for DiskWorld {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn project_trusted(&self) -> bool {
        self.is_trusted
    }

    fn mcp(&self, server: &str, tool: &str) -> McpTrust {
        let known = self.server(server);
        let found = match (known.configured.trust(server, &self.trust), &self.relayed) {
            // Somebody started the relay with this server; clients that doorward can't read settings of do so, too.
            (McpTrust::Untrusted, Some(_)) => McpTrust::Configured,
            (found, _) => found,
        };
        match (found, known.tools.status(tool)) {
            (_, PinStatus::Changed(_)) => McpTrust::Changed,
            // The server is trusted with the tools that it had then.
            (McpTrust::Trusted, PinStatus::First) => McpTrust::Configured,
            (found, PinStatus::Unlisted | PinStatus::First | PinStatus::Accepted | PinStatus::Shadows(_)) => found,
        }
    }

    fn server_words(&self, server: &str) -> Option<Vec<String>> {
        let configured = self.server(server).configured;
        Some(match &self.relayed {
            Some(words) if configured.is_empty() => words.clone(),
            Some(_) | None => configured.words(),
        })
    }

    fn tool_definition(&self, server: &str, tool: &str) -> ToolDefinition {
        self.server(server).tools.definition(tool)
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn own_programs(&self) -> &'static [u8] {
        self.own_programs
    }

    fn redaction_key(&self) -> [u8; 16] {
        *self.key.get_or_init(|| crate::machine::key::redaction(&self.state))
    }
}

impl Memory for DiskWorld {
    fn override_rate(&self, pattern: &str) -> Option<f64> {
        self.accepted_history(pattern).map(|past| past.rate())
    }

    fn accepted_history(&self, pattern: &str) -> Option<AcceptedHistory> {
        // Only an accepted pattern's history counts; live counts alone change nothing.
        let item = self.history.weighs(pattern, self.project.as_deref(), now_ms())?;
        from_history::weighed(item, self.session.as_ref()?.month(pattern)?)
    }

    fn observed_overrides(&self, pattern: &str) -> Option<f64> {
        self.session.as_ref()?.observed_overrides(pattern)
    }
}
