//! The demo's sandbox: its own home, project with a repository, and search path, all in one directory.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use doorward_engine::Verdict;
use serde_json::{Value, json};

use super::repository;
use crate::hook::agents::Reply;
use crate::hook::{Surroundings, answer};
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record;

/// The programs the agent can call: empty stand-ins, so that the machine's own don't matter.
// The story must come out the same on a machine that has none of these installed.
const PROGRAMS: &[&str] = &[
    "bash", "cat", "curl", "echo", "find", "git", "ls", "node", "npm", "rm", "sh", "sort", "sudo", "tail", "tar", "wc",
    "xargs",
];

/// What the project has committed.
const COMMITTED: &[repository::Tracked<'_>] = &[
    (".gitignore", "dist/\n.env\n"),
    ("README.md", "# shop\n"),
    ("package.json", "{\"name\": \"shop\", \"scripts\": {\"test\": \"vitest run\", \"build\": \"vite build\"}}\n"),
    ("src/cart.ts", "export const total = (items: number[]) => items.reduce((a, b) => a + b, 0);\n"),
    ("src/tax.ts", "export const tax = (sum: number) => sum * 0.19;\n"),
];

/// What is not committed: a careless `git reset` and `git clean` would lose it.
pub(super) const UNCOMMITTED: &[(&str, &str)] = &[
    (".env", "DEBUG=1\n"),
    ("notes.md", "an afternoon of notes\n"),
    ("src/cart.ts", "export const total = (items: number[]) => Math.round(items.reduce((a, b) => a + b, 0));\n"),
];

/// The committed content of a file.
pub(super) fn committed(name: &str) -> Option<&'static str> {
    COMMITTED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A call with its answer.
pub(super) struct Played {
    pub aim: String,
    pub call: String,
    pub verdict: Verdict,
    pub reason: String,
    /// The user was asked and said yes.
    pub is_let_run: bool,
}

/// Everything is in one directory, which the caller removes.
pub(super) struct DemoStage {
    pub base: PathBuf,
    pub surroundings: Surroundings,
}

impl DemoStage {
    pub(super) fn build(base: &Path) -> Result<DemoStage> {
        let home = base.join("home").to_str().context("the temporary directory is not UTF-8")?.to_owned();
        let stage =
            DemoStage { base: base.to_owned(), surroundings: Surroundings::new(Agent::Claude, Dirs::at(&home)) };
        let dirs = &stage.surroundings.dirs;
        record::begin(dirs)?;
        for name in PROGRAMS {
            stage.file(&format!("bin/{name}"), b"#!/bin/false\n")?;
            std::fs::set_permissions(base.join("bin").join(name), PermissionsExt::from_mode(0o755))?;
        }
        for (name, text) in COMMITTED {
            stage.file(&format!("project/{name}"), text.as_bytes())?;
        }
        let git = |name: &str, bytes: &[u8]| stage.file(&format!("project/{name}"), bytes);
        repository::write(&base.join("project"), COMMITTED, git)?;
        for (name, text) in UNCOMMITTED {
            stage.file(&format!("project/{name}"), text.as_bytes())?;
        }
        stage.file("project/dist/app.js", b"1\n")?;
        // Trust comes last: anything written afterwards would count as changed.
        let (project, bin) = (stage.project(), base.join("bin").display().to_string());
        let config = format!(
            "[agents.claude]\nmode = \"auto\"\n[projects]\ntrusted = [{project:?}]\n[programs]\ndirectories = [{bin:?}]\n"
        );
        stage.file("home/.config/doorward/config.toml", config.as_bytes())?;
        let loaded = crate::policy::load::load(dirs, None, Agent::Claude.name());
        crate::policy::approved_config::accept(dirs, &loaded, &mut record::Ledger::open(dirs))?;
        let _count = crate::desk::trust::tools(dirs)?;
        Ok(stage)
    }

    pub(super) fn project(&self) -> String {
        self.base.join("project").display().to_string()
    }

    fn file(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.base.join(name);
        let parent = path.parent().unwrap_or(&self.base);
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        std::fs::write(&path, bytes).with_context(|| format!("can't write `{}`", path.display()))?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600))?;
        Ok(())
    }

    /// One call of the recorded session, through the hook.
    pub(super) fn play(&self, line: &str, number: usize) -> Result<Played> {
        let line = line
            .replace("@PROJECT@", &self.project())
            .replace("@HOME@", self.surroundings.dirs.home())
            .replace("@TOKEN@", &token());
        let call: Value = serde_json::from_str(&line)?;
        let field = |name: &str| call.get(name).cloned().unwrap_or(Value::Null);
        let mut played = self.propose(&field("tool"), &field("input"), number)?;
        played.aim = field("aim").as_str().unwrap_or_default().to_owned();
        played.is_let_run = played.verdict == Verdict::Confirm && field("yes") == Value::Bool(true);
        if played.verdict == Verdict::AutoApprove || played.is_let_run {
            self.end_call(number)?;
        }
        Ok(played)
    }

    pub(super) fn propose(&self, tool: &Value, input: &Value, number: usize) -> Result<Played> {
        let payload = self.event("PreToolUse", number, json!({ "tool_name": tool, "tool_input": input }));
        let (verdict, reason) = understood(&answer(payload.to_string().as_bytes(), &self.surroundings)?)?;
        let call = self.near(&shown(tool, input));
        Ok(Played { aim: String::new(), call, verdict, reason: self.near(&reason), is_let_run: false })
    }

    /// The client's message after the call has run.
    pub(super) fn end_call(&self, number: usize) -> Result<()> {
        let payload = self.event("PostToolUse", number, json!({}));
        answer(payload.to_string().as_bytes(), &self.surroundings).map(|_nothing| ())
    }

    /// Each call gets its own session: after three denials in a row every call is asked about, which would hide the real reason
    /// for the next one.
    fn event(&self, name: &str, number: usize, more: Value) -> Value {
        let mut event = json!({
            "hook_event_name": name, "session_id": format!("demo-{number}"), "cwd": self.project(),
            "tool_use_id": format!("demo-{number}"),
        });
        if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        event
    }

    /// Paths the way someone working there would write them.
    fn near(&self, text: &str) -> String {
        let home = self.surroundings.dirs.home();
        text.replace(&format!("{}/", self.project()), "").replace(&self.project(), ".").replace(home, "~")
    }
}

/// A fake token, assembled here so that scanners don't take this file for a leak.
fn token() -> String {
    format!("ghp_{}{}", "x7Kq2mVbN4tRwYs9Ld", "ZpA1cEfGhJ3uHk0oQi")
}

/// How the client would take the answer.
fn understood(reply: &Reply) -> Result<(Verdict, String)> {
    let answer: Value = serde_json::from_str(&reply.stdout).context("the hook gave no answer")?;
    let said =
        |name: &str| answer.pointer(&format!("/hookSpecificOutput/{name}")).and_then(Value::as_str).unwrap_or_default();
    let verdict = match said("permissionDecision") {
        "allow" => Verdict::AutoApprove,
        "deny" => Verdict::Block,
        _ => Verdict::Confirm,
    };
    let reason = said("permissionDecisionReason");
    let start = ["because this ", "because it ", "because ", ": "].iter().find_map(|start| reason.split_once(start));
    Ok((verdict, start.map_or(reason, |(_, reason)| reason).to_owned()))
}

fn shown(tool: &Value, input: &Value) -> String {
    let main =
        ["command", "file_path", "url", "query", "prompt", "pattern"].iter().find_map(|name| input.get(name)?.as_str());
    let main = main.map_or_else(|| input.to_string(), |main| main.lines().next().unwrap_or_default().to_owned());
    match tool.as_str() {
        Some("Bash") => main,
        Some(tool) => format!("{tool} {main}"),
        None => main,
    }
}
