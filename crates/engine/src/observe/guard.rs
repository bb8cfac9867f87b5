//! Processes that are stopped or attached to: whether they are doorward's or the client's own.

use doorward_vocabulary::{Mark, Operation};

use super::paths::globs;
use super::sheet::found::Found;
use crate::effect::{Effect, Target};
use crate::knowledge::built_in;
use crate::knowledge::packed::Packed;
use crate::knowledge::schema::Facet;

/// This program, as its process is called.
const OWN: &str = "doorward";

/// Fewer letters name too much to aim at anything.
// `grep e` finds `claude` too. Only a pattern of some length is aimed at the guard.
const TELLING: usize = 5;

/// A signal or a debugger whose process is chosen by the name of the guard or the client, or as the parent of the shell.
pub(super) fn note_guard_signals(found: &mut Found, text: &str, knowledge: Packed) {
    if !found.effects.iter().any(is_chosen) {
        return;
    }
    let is_parent = ["PPID", "getppid", "process.ppid"].iter().any(|name| text.contains(name));
    let aims = is_parent || found.commands.iter().any(|command| chooses_guard(command, knowledge));
    for effect in found.effects.iter_mut().filter(|effect| aims && is_chosen(effect)) {
        effect.marks.add(Mark::GuardStop);
    }
}

/// Which process it is depends on what another command says.
fn is_chosen(effect: &Effect) -> bool {
    let is_named = match &effect.target {
        Target::Resource(name) => {
            name.starts_with("processes ") || name.strip_prefix("process ").is_some_and(|id| id.parse::<u32>().is_ok())
        }
        Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Unknown => false,
    };
    effect.marks.has(Mark::ForeignProcess) && effect.operation != Operation::Read && !is_named
}

/// The command tells which processes there are, or picks lines out of what another one tells, and its words name the guard.
fn chooses_guard(command: &str, knowledge: Packed) -> bool {
    // The usual sources of process ids in `kill $(…)`. Their words say who is aimed at (machine-834).
    const CHOOSING: &[Facet] =
        &[Facet::FindsProcesses, Facet::Searches, Facet::Picks, Facet::KeepsLines, Facet::ListsDirectory];
    let mut words = command.split_whitespace();
    let program = words.next().map(crate::path::name).unwrap_or_default();
    knowledge.facets(program).has_any(CHOOSING)
        && words.any(|word| word.split(['\'', '"', '/', '{', '}']).any(aims_at_guard))
}

/// The text, searched for in the names of processes, finds the guard or the client.
pub(super) fn aims_at_guard(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let letters = text.chars().filter(char::is_ascii_alphabetic).count();
    // Stopping the guard or a client whose calls it judges leaves the next call unjudged (machine-036, machine-829).
    let finds_any = |pattern: &str| {
        globs::finds(pattern, OWN) || built_in().having(Facet::JudgedClient).any(|name| globs::finds(pattern, name))
    };
    text.contains(OWN) || text.split_whitespace().next().is_some_and(|first| letters >= TELLING && finds_any(first))
}

/// The pattern finds every process.
pub(super) fn is_every_process(pattern: &str) -> bool {
    ["sh", "systemd", OWN, "x"].iter().all(|name| globs::finds(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::{aims_at_guard, is_every_process};

    #[test]
    fn patterns() {
        for text in
            ["doorward", "/usr/bin/doorward", "[d]oorward", "door.ard", "doorw.*", "doorwar", "claude", "^codex$"]
        {
            assert!(aims_at_guard(text), "{text}");
        }
        for text in ["node", "vite", "door", "claude-tools", "codexes", "serve", "", "."] {
            assert!(!aims_at_guard(text), "{text}");
        }
        assert!(is_every_process(".") && is_every_process(".*") && is_every_process("") && !is_every_process("node"));
    }
}
