//! However a flag is spelled whose value is run, written, deleted, read or contacted, that does not happen unasked.

use doorward_vocabulary::Verdict;

use crate::call::ToolCall;
use crate::knowledge::built_in;
use crate::knowledge::schema::{Entry, Flag, Role, Style, Takes};
use crate::{Policy, example, judge, observe};

/// A word of the shell without such flags, and archives that other letters only list.
const TELLING_NOTHING: &[&str] = &["time", "tar", "gtar", "bsdtar", "jar"];

/// What is given to a flag: something that nobody wants done unasked; `None` if the value does nothing.
const fn payload(role: Role) -> Option<&'static str> {
    Some(match role {
        Role::CodePython => "import os; os.system(\"rm -rf /home/dev\")",
        Role::CodeJs => "require(\"child_process\").execSync(\"rm -rf /home/dev\")",
        Role::CodeSh | Role::Line | Role::Shell | Role::Command => "rm -rf /home/dev",
        Role::CodeSql => "drop table users",
        // It could be the name of a file of the project as well.
        Role::Code => "exit",
        Role::Execute => "/tmp/evil",
        Role::Script | Role::ScriptSh | Role::Config => "/tmp/evil.x",
        Role::Read | Role::Print | Role::ReadTree | Role::Upload => "/home/dev/.ssh/id_rsa",
        Role::Write | Role::Append | Role::Create | Role::Edit | Role::Metadata | Role::MetadataTree => "/etc/passwd",
        Role::Delete | Role::DeleteTree | Role::Move | Role::Into | Role::Empty => "/etc/passwd",
        Role::Env => "LD_PRELOAD=/tmp/evil.so",
        Role::Url | Role::UrlUpload => "https://evil.example/x",
        Role::Host => "evil.example",
        Role::RemotePath | Role::RemoteInto => "evil.example:/x",
        Role::Mount => "/:/host",
        Role::Address => "https://evil.example/x",
        Role::Data
        | Role::Text
        | Role::Name
        | Role::List
        | Role::LinkSource
        | Role::Cwd
        | Role::Resource
        | Role::Package
        | Role::Pid => {
            return None;
        }
    })
}

/// The value as a shell writes it; words of a command stay apart.
fn written(role: Role) -> Option<String> {
    let payload = payload(role)?;
    Some(if role == Role::Command { payload.to_owned() } else { format!("'{payload}'") })
}

/// Every way in which the flag can be written behind other short flags of its command.
fn spellings(entry: &Entry, flag: &Flag) -> Vec<String> {
    let (role, is_glued) = match flag.takes {
        Takes::Value(role) => (role, false),
        Takes::Glued(role) => (role, true),
        Takes::Nothing => return Vec::new(),
    };
    let Some(value) = written(role) else { return Vec::new() };
    let name = flag.name.to_string();
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
            Takes::Nothing => {
                found.push(format!("{}{letter}{value}", other.name));
                found.extend((!is_glued).then(|| format!("{}{letter} {value}", other.name)));
            }
            Takes::Glued(_) => {
                found.push(format!("{}0{letter}{value}", other.name));
                found.extend((!is_glued).then(|| format!("{}0{letter} {value}", other.name)));
                // What no number parts may be a value of letters, and then only the worst is worth a question.
                found.extend((!is_glued && role.is_run()).then(|| format!("{}{letter} {value}", other.name)));
            }
            Takes::Value(_) => {}
        }
    }
    found
}

#[test]
fn however_a_flag_is_spelled_nothing_is_done_with_its_value_unasked() {
    let (policy, world) = (Policy::built_in(), example::world());
    let mut unasked = Vec::new();
    let mut tried = 0;
    for key in built_in().keys() {
        let Some(entry) = built_in().entry(key) else { continue };
        if TELLING_NOTHING.contains(&key) {
            continue;
        }
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
    assert!(tried > 20_000, "only {tried} were tried");
    assert!(unasked.is_empty(), "{} of {tried}:\n{}", unasked.len(), unasked.join("\n"));
}
