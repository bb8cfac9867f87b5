//! The desk's address in a call: whoever talks to the desk as an agent tampers with doorward.

use doorward_vocabulary::{Degree, Mark, Operation};
use serde_json::Value;

use super::sheet::found::Found;
use crate::call::Tool;
use crate::effect::Effect;
use crate::network::desk_ports;
use crate::world::World;

/// Names of this machine, and words for listening on it. With the port beside one of them, a word or a line of code is about the desk.
const HERE: &[&str] =
    &["localhost", "127.", "0.0.0.0", "::", "0x7f", "2130706433", "http", "ws:", "wss:", "port", "listen", "bind"];

/// What talks to an address that only the text of the call names: a raw socket, a program nobody knows, code, a browser tool.
///
/// Programs that are described, and files that merely mention the address, are left alone: they say what they contact.
pub(super) fn note_desk(found: &mut Found, tool: &Tool, text: &str, world: &dyn World) {
    let ports = desk_ports(world);
    // A recipe that is handed the port may listen there; whoever listens on the desk's port is taken for the desk.
    let is_unclear = found.coverage.degree >= Degree::Delegated;
    let is_named = match tool {
        Tool::Mcp { args, .. } => strings(args).any(|text| names_desk(text, &ports)),
        Tool::Other { input, .. } => strings(input).any(|text| names_desk(text, &ports)),
        Tool::Bash { .. } | Tool::PowerShell { .. } | Tool::Python { .. } => {
            names_desk(text, &ports) || found.commands.iter().any(|command| names_desk(command, &ports))
        }
        Tool::Write { .. }
        | Tool::Edit { .. }
        | Tool::Read { .. }
        | Tool::Search { .. }
        | Tool::Fetch { .. }
        | Tool::WebSearch { .. }
        | Tool::Task { .. }
        | Tool::Malformed { .. } => false,
    };
    if !is_named {
        return;
    }
    let is_tool = matches!(tool, Tool::Mcp { .. } | Tool::Other { .. });
    for effect in found.effects.iter_mut().filter(|effect| talks(effect, is_tool, is_unclear)) {
        effect.marks.add(Mark::GuardOwn);
    }
}

fn talks(effect: &Effect, is_tool: bool, is_unclear: bool) -> bool {
    let is_program = effect.operation == Operation::Execute || effect.operation == Operation::Mutate;
    effect.operation == Operation::Network || is_program && (is_tool || is_unclear)
}

/// Whether a text names the port as part of an address, or beside a name of this machine.
fn names_desk(text: &str, ports: &[u16]) -> bool {
    let is_here = || {
        let lower = text.to_ascii_lowercase();
        HERE.iter().any(|name| lower.contains(name))
    };
    ports.iter().any(|port| {
        let digits = port.to_string();
        let mut places = text.match_indices(digits.as_str());
        places.any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + digits.len()..).and_then(|after| after.chars().next());
            let is_whole = !after.is_some_and(|next| next.is_ascii_alphanumeric() || next == '_')
                && !before.is_some_and(|last| last.is_ascii_alphanumeric() || matches!(last, '_' | '.' | '#'));
            is_whole && (before == Some(':') || is_here())
        })
    })
}

/// Every text in a tool's input.
fn strings(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(strings)),
        Value::Object(fields) => Box::new(fields.values().flat_map(strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::names_desk;

    #[test]
    fn the_port_counts_as_an_address_and_not_as_a_number() {
        for text in [
            "http://127.0.0.1:3667/x",
            "nc localhost 3667",
            "('127.0.0.1', 3667)",
            "fetch('http://' + host + ':3667')",
            "[::1]:3667",
            "localtest.me:3667",
            "/dev/tcp/localhost/3667",
        ] {
            assert!(names_desk(text, &[3667]), "{text}");
        }
        for text in
            ["sleep 3667", "fixes #3667 on localhost", "http://localhost:36670/", "13667 localhost", "v1.3667", ""]
        {
            assert!(!names_desk(text, &[3667]), "{text}");
        }
    }
}
