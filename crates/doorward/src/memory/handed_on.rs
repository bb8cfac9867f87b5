//! Calls to tool servers that the hook has answered, for the relay behind it: it lets exactly this call through, once.

use doorward_engine::Tool;
use doorward_ledger::{Grants, Hash, StateKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::machine::clock::now_ms;
use crate::machine::paths::Dirs;
use crate::policy::trust::tool_pins::ToolPins;

/// The client may ask its user first, who may be at lunch.
const LASTS_MS: u64 = 60 * 60 * 1000;

/// A call that the hook let the client run, or ask its user about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HandedOn {
    pub agent: String,
    pub session: String,
    /// The decision on record; the client's own name for the call, where it gives one.
    pub decision: String,
    /// The client asks its user first. Whether the answer was yes is known only of the call with that name.
    is_asked: bool,
    at_ms: u64,
}

/// Leaves word for the relay, if there is one before this server.
pub(crate) fn leave(dirs: &Dirs, tool: &Tool, is_asked: bool, (agent, session, decision): (&str, &str, &str)) {
    let Tool::Mcp { server, name, args, .. } = tool else { return };
    if ToolPins::load(dirs, server).tools.is_empty() {
        return;
    }
    let word =
        HandedOn { agent: agent.into(), session: session.into(), decision: decision.into(), is_asked, at_ms: now_ms() };
    // If this fails, the relay judges the call itself, which may ask a second time.
    if let Ok(key) = StateKey::load_or_create(&dirs.state().join("tools.key")) {
        let _ = store(dirs, key).store(&digest(server, name, args), &word);
    }
}

/// Takes the word for a call, which the client may name; it counts once.
pub(crate) fn take(dirs: &Dirs, tool: &Tool, named: Option<&str>) -> Option<HandedOn> {
    let Tool::Mcp { server, name, args, .. } = tool else { return None };
    if !directory(dirs).exists() {
        return None;
    }
    let key = StateKey::load(&dirs.state().join("tools.key")).ok()?;
    let word = store(dirs, key).take::<HandedOn>(&digest(server, name, args)).ok()??;
    let age = now_ms().checked_sub(word.at_ms)?;
    let is_sure = !word.is_asked || named == Some(word.decision.as_str());
    (age <= LASTS_MS && is_sure).then_some(word)
}

fn directory(dirs: &Dirs) -> std::path::PathBuf {
    dirs.state().join("handed-on")
}

fn store(dirs: &Dirs, key: StateKey) -> Grants {
    Grants::at(&directory(dirs), key)
}

fn digest(server: &str, name: &str, args: &Value) -> String {
    // No arguments and an empty object are the same call.
    let args = if args.is_null() { "{}".to_owned() } else { args.to_string() };
    Hash::of(format!("{server}\0{name}\0{args}").as_bytes()).to_string()
}
