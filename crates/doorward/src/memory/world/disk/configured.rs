//! What the user trusts and has configured, and what people answered before.

use std::borrow::Cow;

use doorward_engine::{AcceptedHistory, Configured, McpTrust, Memory, Settings, ToolDefinition};

use super::DiskWorld;
use crate::machine::clock::now_ms;
use crate::policy::from_history;
use crate::policy::trust::mcp;
use crate::policy::trust::tool_pins::{PinStatus, ToolPins};

impl DiskWorld {
    /// What the relay has seen of a server's tools.
    fn tools(&self, server: &str) -> ToolPins {
        ToolPins::load_at(&self.state, server)
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
        let found = match (mcp::trust_in(server, &self.trust, &self.home, self.project.as_deref()), &self.relayed) {
            // Somebody started the relay with this server; clients that doorward can't read settings of do so, too.
            (McpTrust::Untrusted, Some(_)) => McpTrust::Configured,
            (found, _) => found,
        };
        match (found, self.tools(server).status(tool)) {
            (_, PinStatus::Changed(_)) => McpTrust::Changed,
            // The server is trusted with the tools that it had then.
            (McpTrust::Trusted, PinStatus::First) => McpTrust::Configured,
            (found, PinStatus::Unlisted | PinStatus::First | PinStatus::Accepted | PinStatus::Shadows(_)) => found,
        }
    }

    fn runs_package(&self, server: &str, packages: &[Cow<'static, str>]) -> Option<bool> {
        let (home, project) = (&self.home, self.project.as_deref());
        if mcp::definitions(server, home, project).is_empty()
            && let Some(words) = &self.relayed
        {
            return Some(mcp::starts_package(words.iter().map(String::as_str), packages));
        }
        Some(mcp::runs_package(server, packages, home, project))
    }

    fn tool_definition(&self, server: &str, tool: &str) -> ToolDefinition {
        self.tools(server).definition(tool)
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
