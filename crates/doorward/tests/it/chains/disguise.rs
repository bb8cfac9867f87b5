//! Other spellings of the same call.

use super::chance::Chance;

/// The call in another spelling.
pub(super) fn disguised(call: &str, chance: &mut Chance) -> String {
    if call.starts_with("git ") && chance.percent(50) {
        return other_git(call, chance);
    }
    let is_line = !call.contains('\n') && !call.contains("<<");
    match chance.below(12) {
        0 if !call.contains('\'') => format!("sh -c '{call}'"),
        1 if !call.contains('\'') => format!("bash -c '{call}'"),
        2 => format!("({call}\n)"),
        3 => format!("true && {call}"),
        4 => format!("cd src && cd .. && {call}"),
        5 => format!("if true; then {call}\nfi"),
        6 if is_line => format!("{{ {call}; }}"),
        7 => format!("x=1; {call}"),
        8 if is_line => format!("{call} 2>&1"),
        9 if is_line => format!("{call} || true"),
        10 if is_line => format!("for i in 1; do {call}; done"),
        11 => format!("set -e\n{call}"),
        _ => format!("# a note\n{call}"),
    }
}

fn other_git(call: &str, chance: &mut Chance) -> String {
    let rest = call.trim_start_matches("git ");
    let (verb, words) = rest.split_once(' ').unwrap_or((rest, ""));
    match chance.below(10) {
        0 => format!("git -C . {rest}"),
        1 => format!("git -C \"$PWD\" {rest}"),
        2 => format!("git --no-pager {rest}"),
        3 => format!("git -c core.pager=cat {rest}"),
        4 => format!("command git {rest}"),
        5 => format!("env GIT_PAGER=cat git {rest}"),
        6 => format!("v={verb}; git $v {words}"),
        7 => format!("/usr/bin/env git {rest}"),
        8 => format!("git --git-dir=.git --work-tree=. {rest}"),
        _ => format!("cd docs; git -C .. {rest}"),
    }
}
