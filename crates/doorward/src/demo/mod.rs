//! `doorward demo`: a recorded session of an agent through the real hook, the real record and the report, in a scratch home.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use doorward_engine::Verdict;
use serde_json::{Value, json};

use crate::agents::{Agent, Reply};
use crate::hook::{Surroundings, answer};
use crate::places::Places;
use crate::record;
use crate::screen::{verdict_style, visible};

/// One call per line: the tool, its input, what the agent is up to, and whether a person who is asked says yes.
const SESSION: &str = include_str!("session.jsonl");

/// Plays the session.
pub fn run() -> Result<ExitCode> {
    crate::judging::silence_panics();
    let stage = Stage::build()?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "an agent at work in a scratch project; nothing of this is run\n")?;
    let mut counts = [0usize; 3];
    let start = Instant::now();
    for (line, number) in SESSION.lines().zip(1..) {
        let played = stage.play(line, number).with_context(|| format!("call {number} of the session"))?;
        if let Some(count) = counts.get_mut(played.verdict as usize) {
            *count += 1;
        }
        show(&mut out, &played)?;
    }
    summary(&mut out, counts, start.elapsed(), &stage)?;
    Ok(ExitCode::SUCCESS)
}

/// A call with its answer.
struct Played {
    aim: String,
    call: String,
    verdict: Verdict,
    reason: String,
    /// A person was asked and said yes.
    is_let_run: bool,
}

/// A home and a project that vanish when the curtain falls; only the report stays.
struct Stage {
    base: PathBuf,
    surroundings: Surroundings,
}

impl Stage {
    fn build() -> Result<Stage> {
        let base = std::env::temp_dir().join(format!("doorward-demo-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&base).with_context(|| format!("`{}` cannot be made", base.display()))?;
        let home = base.join("home").to_str().context("the temporary directory is not UTF-8")?.to_owned();
        let stage = Stage { base, surroundings: Surroundings::new(Agent::Claude, Places::at(&home)) };
        record::begin(&stage.surroundings.places)?;
        stage.file("project/.git/HEAD", "ref: refs/heads/feature\n")?;
        stage.file(
            "project/.git/config",
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://github.com/acme/shop.git\n",
        )?;
        stage.file("project/.gitignore", "node_modules/\ndist/\n.env\n")?;
        stage.file(
            "project/package.json",
            "{\"name\": \"shop\", \"scripts\": {\"test\": \"vitest run\", \"build\": \"vite build\"}}\n",
        )?;
        stage.file(
            "project/src/cart.ts",
            "export const total = (items: number[]) => items.reduce((a, b) => a + b, 0);\n",
        )?;
        stage.file("project/README.md", "# shop\n")?;
        // Trust comes last: what changes afterwards would count as changed.
        stage.file(
            "home/.config/doorward/config.toml",
            &format!("[agents.claude]\nmode = \"auto\"\n[projects]\ntrusted = [\"{}\"]\n", stage.project()),
        )?;
        let places = &stage.surroundings.places;
        let loaded = crate::loading::load(places, None, Agent::Claude.name());
        crate::accepted::accept(places, &loaded, &mut record::Ledger::of(places))?;
        Ok(stage)
    }

    fn project(&self) -> String {
        self.base.join("project").display().to_string()
    }

    fn file(&self, name: &str, text: &str) -> Result<()> {
        let path = self.base.join(name);
        let parent = path.parent().unwrap_or(&self.base);
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        crate::setup::replace(&path, text)
    }

    fn play(&self, line: &str, number: usize) -> Result<Played> {
        let line = line.replace("@PROJECT@", &self.project()).replace("@HOME@", self.surroundings.places.home());
        let call: Value = serde_json::from_str(&line)?;
        let field = |name: &str| call.get(name).cloned().unwrap_or(Value::Null);
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "demo", "cwd": self.project(), "tool_use_id": format!("demo-{number}"),
            "tool_name": field("tool"), "tool_input": field("input"),
        });
        let reply = answer(payload.to_string().as_bytes(), &self.surroundings)?;
        let (verdict, reason) = understood(&reply)?;
        let is_let_run = verdict == Verdict::Confirm && field("yes") == Value::Bool(true);
        if is_let_run {
            self.let_run(number)?;
        }
        Ok(Played {
            is_let_run,
            aim: field("aim").as_str().unwrap_or_default().to_owned(),
            call: shown(&field("tool"), &field("input")),
            verdict,
            reason,
        })
    }
}

impl Stage {
    /// What the client tells us once a person has said yes and the call has run.
    fn let_run(&self, number: usize) -> Result<()> {
        let payload = json!({
            "hook_event_name": "PostToolUse", "session_id": "demo", "cwd": self.project(), "tool_use_id": format!("demo-{number}"),
        });
        answer(payload.to_string().as_bytes(), &self.surroundings).map(|_nothing| ())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What stays behind lies in the directory for temporary files; the report is meant to.
        for name in ["home", "project"] {
            let _ = std::fs::remove_dir_all(self.base.join(name));
        }
        let _ = std::fs::remove_dir(&self.base);
    }
}

/// What the client would make of the answer.
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
    Ok((verdict, reason.split_once(": ").map_or(reason, |(_, reason)| reason).to_owned()))
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

fn show(out: &mut dyn Write, played: &Played) -> std::io::Result<()> {
    let style = verdict_style(played.verdict);
    let faint = anstyle::Style::new().dimmed();
    writeln!(
        out,
        "{style}{:<7}{style:#} {}  {faint}{}{faint:#}",
        played.verdict.as_str(),
        visible(&played.call),
        visible(&played.aim)
    )?;
    if played.verdict > Verdict::AutoApprove {
        writeln!(out, "        {}", visible(&played.reason))?;
    }
    if played.is_let_run {
        writeln!(out, "        {faint}a person says yes{faint:#}")?;
    }
    Ok(())
}

fn summary(out: &mut dyn Write, counts: [usize; 3], took: Duration, stage: &Stage) -> Result<()> {
    let [approved, asked, blocked] = counts;
    let calls = approved + asked + blocked;
    let places = &stage.surroundings.places;
    writeln!(out, "\n{calls} calls: {approved} ran without a question, {asked} asked, {blocked} blocked")?;
    writeln!(out, "each was on record before its answer; {} ms in total\n", took.as_millis())?;
    let mut log = doorward_ledger::Log::open(&record::directory(places))?;
    record::checkpoint(places, &mut log, crate::screen::time::now_ms())?;
    writeln!(out, "$ doorward audit verify")?;
    let verified = crate::audit::verified(places)?;
    write!(out, "{verified}")?;
    anyhow::ensure!(verified.report.holds(), "the record of the demonstration does not hold");
    let report = stage.base.join("report.html");
    crate::report::write_html(places, &report).context("the report of the demonstration")?;
    writeln!(out, "\nthe report of this session, to be opened in a browser: {}", report.display())?;
    writeln!(out, "to have this for your own agent: doorward setup claude")?;
    Ok(())
}
