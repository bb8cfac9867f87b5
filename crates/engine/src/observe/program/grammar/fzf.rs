//! `fzf --bind`: keys bound to plain actions are harmless; actions with arguments may run commands.

use super::super::Invocation;
use crate::observe::field::Field;
use crate::observe::program::findings::Findings;

/// Actions that run something as soon as they have an argument, and have no meaning without one.
// From fzf's manual: a key binding or an event that runs a shell command (program-flags-119, program-flags-120).
const RUNNING: &[&str] = &["execute", "execute-silent", "execute-multi", "become", "reload", "reload-sync", "preview"];

/// Takes back *opaque* from bindings that only move, choose and leave.
pub(super) fn fzf(invocation: &mut Invocation) -> Findings {
    for given in invocation.args.given.iter_mut().filter(|given| given.name == "--bind") {
        if given.value.as_ref().and_then(Field::exact).is_some_and(is_plain) {
            given.changes.opaque = false;
        }
    }
    Findings::default()
}

/// `key:action+action,key:action` with names alone.
fn is_plain(bindings: &str) -> bool {
    bindings.split(',').all(|binding| {
        binding.split_once(':').is_some_and(|(key, actions)| !key.is_empty() && actions.split('+').all(is_action))
    })
}

fn is_action(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        && !RUNNING.contains(&name)
        && !name.starts_with("transform")
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_names_are_plain() {
        for text in ["ctrl-a:select-all", "tab:toggle+down,esc:abort", "ctrl-/:toggle-preview"] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "enter:execute(id)",
            "enter:execute:id",
            "enter:execute",
            "enter:become[id]",
            "focus:transform-query:id",
            "enter:down+execute(id)",
            "start:reload(id)",
            "enter",
            "",
            "enter:accept,",
            "a:put(x)",
        ] {
            assert!(!is_plain(text), "{text}");
        }
    }
}
