//! Variables that agents give to the commands they run.

// A person's shell has none of these. An agent may unset them, which is why the ancestors are checked as well.
pub(crate) const LEFT_BY_AGENTS: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "OPENCODE",
    "PI_CODING_AGENT",
    "QWEN_CODE",
    "COPILOT_CLI",
    "CURSOR_AGENT",
];
