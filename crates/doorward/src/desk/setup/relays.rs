//! `doorward setup --relay`: puts the tool servers of every client's own settings behind the relay, and takes it back byte for
//! byte.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use doorward_ledger::PolicyBody;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{SetupArguments, by_person, program};
use crate::desk::{person, screen};
use crate::machine::atomic_file;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::policy::trust::mcp::FILES;

/// A file with the servers that can be moved, and its text afterwards.
struct Plan {
    file: PathBuf,
    servers: Vec<String>,
    old: String,
    new: String,
}

/// Puts servers behind the relay, or takes them out.
pub(super) fn run(dirs: &Dirs, arguments: &SetupArguments) -> Result<ExitCode> {
    let program = program()?;
    let plans = plans(dirs, &program, !arguments.uninstall)?;
    let mut out = anstream::stdout().lock();
    if plans.is_empty() {
        let what = if arguments.uninstall { "is behind the relay" } else { "is left to put behind the relay" };
        writeln!(out, "no tool server of your own settings {what}")?;
        return Ok(ExitCode::SUCCESS);
    }
    for plan in &plans {
        writeln!(out, "`{}`: {}", plan.file.display(), crate::machine::visible(&plan.servers.join(", ")))?;
        if arguments.diff || arguments.dry_run {
            screen::change(&mut out, &plan.file, &plan.old, &plan.new)?;
        }
    }
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    by_person("tool servers are started by your settings")?;
    let question = if arguments.uninstall {
        "Start these tool servers without doorward again?"
    } else {
        "Put these tool servers behind doorward, so that every call is judged whatever the client sends?"
    };
    if !arguments.yes && !person::agrees(question)? {
        bail!("nothing was changed");
    }
    for plan in &plans {
        apply(dirs, plan, arguments.uninstall)?;
    }
    writeln!(out, "✓ done; restart the clients that are running")?;
    Ok(ExitCode::SUCCESS)
}

/// INVARIANT: the record is durable before a server loses its relay.
fn apply(dirs: &Dirs, plan: &Plan, takes_out: bool) -> Result<()> {
    let verb = if takes_out { "no longer behind" } else { "behind" };
    let what = format!("tool servers of `{}` are {verb} the relay", plan.file.display());
    let after = (!takes_out).then(|| plan.servers.join(", "));
    let body = PolicyBody { what, before: None, after, user: crate::machine::user(), project: None };
    let _receipt = Ledger::open(dirs).append(LogEntry::new(&body)?)?;
    if atomic_file::text(&plan.file)?.as_deref() != Some(plan.old.as_str()) {
        bail!("`{}` changed meanwhile, so it was left as it is", plan.file.display());
    }
    atomic_file::replace(&plan.file, &plan.new)
}

fn plans(dirs: &Dirs, program: &str, puts_in: bool) -> Result<Vec<Plan>> {
    let home = Path::new(dirs.home());
    let listed = FILES.iter().map(|(file, key)| (home.join(file), *key));
    let mut plans = Vec::new();
    for (file, key) in std::iter::once((home.join(".claude.json"), "mcpServers")).chain(listed) {
        let Some(old) = atomic_file::text(&file)? else { continue };
        // A file with comments or that is broken is left alone: its servers stay as they are, and `doctor` lists them.
        let Some((new, servers)) = changed(&old, key, program, puts_in) else { continue };
        if !servers.is_empty() {
            plans.push(Plan { file, servers, old, new });
        }
    }
    Ok(plans)
}

/// The servers of the user's own settings that no relay stands before, as `file: name`.
pub(crate) fn bare(dirs: &Dirs) -> Vec<String> {
    let found = plans(dirs, "doorward", true).unwrap_or_default();
    found
        .iter()
        .flat_map(|plan| plan.servers.iter().map(|server| format!("{server} (`{}`)", plan.file.display())))
        .collect()
}

/// The servers of the user's own settings that have a relay.
pub(crate) fn behind(dirs: &Dirs) -> Vec<String> {
    plans(dirs, "doorward", false).unwrap_or_default().into_iter().flat_map(|plan| plan.servers).collect()
}

/// A place in a text, and what stands there instead.
type Edit = (usize, usize, String);

/// The text with every server moved, and their names; `None` if it is not plain JSON.
fn changed(text: &str, key: &str, program: &str, puts_in: bool) -> Option<(String, Vec<String>)> {
    let top: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let servers: BTreeMap<String, &RawValue> = serde_json::from_str(top.get(key)?.get()).ok()?;
    let mut edits: Vec<Edit> = Vec::new();
    let mut names = Vec::new();
    for (name, raw) in servers {
        let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(raw.get()) else { continue };
        let Some(command) = fields.get("command") else { continue };
        let relay = Relay { text, name: &name, program };
        let moved = match (puts_in, relay.is_in(&fields)) {
            (true, false) => relay.put_in(command, fields.get("args").copied()),
            (false, true) => relay.take_out(command, fields.get("args").copied()),
            (true, true) | (false, false) => None,
        };
        if let Some(moved) = moved {
            edits.extend(moved);
            names.push(name);
        }
    }
    edits.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
    let mut new = text.to_owned();
    for (start, end, with) in edits {
        new.replace_range(start..end, &with);
    }
    Some((new, names))
}

/// One server in one file.
struct Relay<'a> {
    text: &'a str,
    name: &'a str,
    program: &'a str,
}

impl Relay<'_> {
    /// Where a value stands in the file.
    fn place(&self, raw: &RawValue) -> (usize, usize) {
        let start = raw.get().as_ptr().addr() - self.text.as_ptr().addr();
        (start, start + raw.get().len())
    }

    fn start(&self) -> String {
        format!("\"mcp\", \"--name\", {}, \"--\", ", Value::from(self.name))
    }

    fn is_in(&self, fields: &BTreeMap<String, &RawValue>) -> bool {
        let words = |key: &str| fields.get(key).map(|raw| raw.get()).unwrap_or_default();
        let is_ours = |raw: &str| serde_json::from_str::<String>(raw).is_ok_and(|word| is_doorward(&word));
        if words("command").starts_with('[') {
            let list: Vec<String> = serde_json::from_str(words("command")).unwrap_or_default();
            return matches!(list.as_slice(), [program, verb, ..] if is_doorward(program) && verb == "mcp");
        }
        is_ours(words("command")) && words("args").starts_with(&format!("[{}", self.start()))
    }

    fn put_in(&self, command: &RawValue, args: Option<&RawValue>) -> Option<Vec<Edit>> {
        let program = Value::from(self.program).to_string();
        let (from, to) = self.place(command);
        let start = self.start();
        if let Some(inner) = command.get().strip_prefix('[') {
            return Some(vec![(from, to, format!("[{program}, {start}{inner}"))]);
        }
        if !command.get().starts_with('"') {
            return None;
        }
        let Some(args) = args else {
            return Some(vec![(from, to, format!("{program}, \"args\": [{start}{}]", command.get()))]);
        };
        let inner = args.get().strip_prefix('[')?.strip_suffix(']')?;
        let (args_from, args_to) = self.place(args);
        // An empty list and none at all look alike afterwards, but for a space.
        let between = if inner.trim().is_empty() { " " } else { ", " };
        let words = format!("[{start}{}{between}{inner}]", command.get());
        Some(vec![(from, to, program), (args_from, args_to, words)])
    }

    fn take_out(&self, command: &RawValue, args: Option<&RawValue>) -> Option<Vec<Edit>> {
        let (from, to) = self.place(command);
        let start = self.start();
        if command.get().starts_with('[') {
            let (_, inner) = command.get().split_once(&start)?;
            return Some(vec![(from, to, format!("[{inner}"))]);
        }
        let args = args?;
        let (args_from, args_to) = self.place(args);
        let words = args.get().strip_prefix('[')?.strip_prefix(&start)?;
        let mut read = serde_json::Deserializer::from_str(words).into_iter::<&RawValue>();
        let first = read.next()?.ok()?.get();
        let rest = words.get(read.byte_offset()..)?.strip_suffix(']')?;
        if rest.is_empty() {
            // Its arguments are ours altogether.
            return (self.text.get(to..args_from)? == ", \"args\": ").then(|| vec![(from, args_to, first.to_owned())]);
        }
        let inner = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(' '))?;
        Some(vec![(from, to, first.to_owned()), (args_from, args_to, format!("[{inner}]"))])
    }
}

fn is_doorward(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == "doorward")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_go_behind_the_relay_and_come_back_byte_for_byte() {
        for servers in [
            r#"{"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/w"]}}"#,
            "{\n  \"files\":{\n\t\"args\" : [\n \"-y\" , \"x\"\n],\"env\":{\"A\":\"1\"}, \"command\":\"npx\"}}",
            r#"{"a": {"command": "x"}, "b": {"type": "stdio", "command": "y", "args": []}, "c": {"command":"z","args":[ ]}}"#,
            r#"{"oc": {"type": "local", "command": ["npx", "-y", "x"], "enabled": true}, "far": {"url": "https://x.example/"}}"#,
            r#"{"od\"d": {"command": "a \"b\"", "args": ["--", "mcp"]}}"#,
        ] {
            let text = format!("{{\"other\": 1.50, \"mcpServers\": {servers}, \"z\": []}}\n");
            let (behind, moved) = changed(&text, "mcpServers", "/opt/doorward", true).unwrap();
            assert!(!moved.is_empty() && behind != text);
            serde_json::from_str::<Value>(&behind).unwrap();
            assert_eq!(
                changed(&behind, "mcpServers", "/opt/doorward", true).unwrap().1,
                Vec::<String>::new(),
                "{behind}"
            );
            let (back, again) = changed(&behind, "mcpServers", "/opt/doorward", false).unwrap();
            assert_eq!((back.as_str(), &again), (text.as_str(), &moved), "{behind}");
        }
    }

    #[test]
    fn what_runs_behind_the_relay_is_what_ran_before() {
        let text = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "x"]}}}"#;
        let (behind, _) = changed(text, "mcpServers", "/opt/doorward", true).unwrap();
        let value: Value = serde_json::from_str(&behind).unwrap();
        assert_eq!(value.pointer("/mcpServers/files/command"), Some(&Value::from("/opt/doorward")));
        let args = serde_json::json!(["mcp", "--name", "files", "--", "npx", "-y", "x"]);
        assert_eq!(value.pointer("/mcpServers/files/args"), Some(&args));
        assert!(changed("{\"mcpServers\": {} // x\n}", "mcpServers", "/opt/doorward", true).is_none());
    }
}
