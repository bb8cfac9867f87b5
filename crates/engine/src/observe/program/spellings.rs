//! However a flag is spelled whose value is run, the value is never run unasked.

use crate::call::ToolCall;
use crate::knowledge::built_in;
use crate::knowledge::schema::{Entry, Flag, Role, Style, Takes};
use crate::verdict::Verdict;
use crate::{Policy, example, judge, observe};

/// What is given to a flag: something that nobody wants to be run.
const fn payload(role: Role) -> &'static str {
    match role {
        Role::CodePython => "import os; os.system(\"rm -rf /home/dev\")",
        Role::CodeJs => "require(\"child_process\").execSync(\"rm -rf /home/dev\")",
        Role::CodeSh | Role::Line | Role::Shell | Role::Command => "rm -rf /home/dev",
        Role::CodeSql => "drop table users",
        // It could be the name of a file of the project as well.
        Role::Code => "exit",
        Role::Execute => "/tmp/evil",
        _ => "/tmp/evil.x",
    }
}

/// The value as a shell writes it; words of a command stay apart.
fn written(role: Role) -> String {
    if role == Role::Command { payload(role).to_owned() } else { format!("'{}'", payload(role)) }
}

fn run_role(flag: &Flag) -> Option<(Role, bool)> {
    match flag.takes {
        Takes::Value(role) if role.is_run() => Some((role, false)),
        Takes::Glued(role) if role.is_run() => Some((role, true)),
        Takes::Value(_) | Takes::Glued(_) | Takes::Nothing => None,
    }
}

/// Every way in which the flag can be written behind other short flags of its command.
fn spellings(entry: &Entry, flag: &Flag) -> Vec<String> {
    let Some((role, is_glued)) = run_role(flag) else { return Vec::new() };
    let (name, value) = (flag.name.to_string(), written(role));
    let mut found = Vec::new();
    if !is_glued {
        found.push(format!("{name} {value}"));
    }
    let is_short = name.len() == 2 && entry.style != Some(Style::SingleDash);
    if name.starts_with("--") {
        found.push(format!("{name}={value}"));
    }
    if !is_short || role == Role::Command {
        return found;
    }
    found.push(format!("{name}{value}"));
    let letter = &name[1..];
    for other in entry.flags.all() {
        let does_nothing = other.changes.info || other.changes.dry_run || other.changes.read_only;
        if other.name.len() != 2 || other.name == flag.name || does_nothing {
            continue;
        }
        match other.takes {
            Takes::Nothing => found.extend([format!("{}{letter}{value}", other.name)]),
            Takes::Glued(_) => found.push(format!("{}0{letter}{value}", other.name)),
            Takes::Value(_) => continue,
        }
        if !is_glued {
            found.push(format!("{}{letter} {value}", other.name));
        }
    }
    found
}

#[test]
fn however_a_flag_is_spelled_its_value_is_not_run_unasked() {
    let (policy, world) = (Policy::built_in(), example::world());
    let mut unasked = Vec::new();
    let mut tried = 0;
    for key in built_in().keys() {
        let Some(entry) = built_in().entry(key) else { continue };
        for flag in entry.flags.all() {
            for spelling in spellings(&entry, &flag) {
                let command = format!("{key} {spelling}");
                tried += 1;
                let facts = observe(&ToolCall::bash(&command, example::CWD), &world);
                if judge(&facts, &policy).verdict == Verdict::AutoApprove {
                    unasked.push(command);
                }
            }
        }
    }
    assert!(tried > 5_000, "only {tried} were tried");
    assert!(unasked.is_empty(), "{} of {tried}:\n{}", unasked.len(), unasked.join("\n"));
}
