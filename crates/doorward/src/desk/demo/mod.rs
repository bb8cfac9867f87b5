//! `doorward demo`: plays a recorded agent session through the real hook, the real record and a real undo, in a sandbox.
//!
//! The program restarts itself with an empty environment and a home, search path and project made for the occasion, so
//! nothing from your machine shows up.

mod repository;
mod stage;

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use doorward_engine::Verdict;
use serde_json::json;

use crate::desk::screen::verdict_style;
use crate::desk::snapshots;
use crate::machine::record;
use crate::machine::visible;
use stage::{DemoStage, Played, UNCOMMITTED};

/// One call per line: the tool, its input, what the agent is up to, and whether the user says yes when asked.
const SESSION: &str = include_str!("session.jsonl");

/// Lines are no longer than this.
const WIDTH: usize = 79;

/// The only environment variables passed on: those that describe the terminal.
// Anything else could point a child at the real home, a real key or a real configuration.
const PASSED_ON: &[&str] = &["TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"];

/// How to run the demo.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Keep the session's report and print where it is
    #[arg(long)]
    pub keep: bool,
    /// Run inside this directory
    #[arg(long, hide = true, value_name = "DIR")]
    pub stage: Option<PathBuf>,
}

/// Plays the session.
pub(crate) fn run(arguments: &DemoArguments) -> Result<ExitCode> {
    match &arguments.stage {
        Some(base) => play(base, arguments.keep),
        None => open(arguments.keep),
    }
}

/// The directory of one demo; it is deleted at the end, except for a report you asked to keep.
struct Curtain {
    base: PathBuf,
}

impl Drop for Curtain {
    fn drop(&mut self) {
        for name in ["home", "project", "bin"] {
            let _ = std::fs::remove_dir_all(self.base.join(name));
        }
        // Fails if a report is in it, which should stay.
        let _ = std::fs::remove_dir(&self.base);
    }
}

/// Restarts the program where nothing of the machine is visible.
fn open(keep: bool) -> Result<ExitCode> {
    let base = std::env::temp_dir().join(format!("doorward-demo-{}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&base).with_context(|| format!("can't create `{}`", base.display()))?;
    let curtain = Curtain { base };
    let base = curtain.base.canonicalize()?;
    let mut command = Command::new(std::env::current_exe().context("can't find doorward's own executable")?);
    command
        .env_clear()
        .env("HOME", base.join("home"))
        .env("PATH", base.join("bin"))
        .env("SHELL", base.join("bin/bash"));
    command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.arg("demo").arg("--stage").arg(&base).args(keep.then_some("--keep"));
    let status = command.status().context("can't start the demo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn play(base: &Path, keep: bool) -> Result<ExitCode> {
    crate::memory::evaluation::silence_panics();
    crate::machine::paths::leave_the_machine();
    let stage = DemoStage::build(base)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "An agent at work in a scratch project. None of these calls is actually run.\n")?;
    let mut counts = [0usize; 3];
    let start = Instant::now();
    for (line, number) in SESSION.lines().zip(1..) {
        let played = stage.play(line, number).with_context(|| format!("call {number} of the session"))?;
        if let Some(count) = counts.get_mut(played.verdict as usize) {
            *count += 1;
        }
        show(&mut out, &played)?;
    }
    let took = start.elapsed();
    take_back(&mut out, &stage, &mut counts)?;
    let [approved, asked, blocked] = counts;
    let calls = approved + asked + blocked;
    writeln!(out, "\n{calls} calls in {} ms: {approved} ran, {asked} asked, {blocked} blocked", took.as_millis())?;
    prove(&mut out, &stage)?;
    if keep {
        let report = stage.base.join("report.html");
        crate::desk::report::write_html(&stage.surroundings.dirs, &report).context("can't write the demo report")?;
        writeln!(out, "Report of this session: {}", report.display())?;
    }
    writeln!(out, "To guard your own agent: doorward setup")?;
    Ok(ExitCode::SUCCESS)
}

/// The story everyone knows: uncommitted work, lost and restored.
fn take_back(out: &mut dyn Write, stage: &DemoStage, counts: &mut [usize; 3]) -> Result<()> {
    let number = SESSION.lines().count() + 1;
    let input = json!({ "command": "git reset --hard && git clean -fdx" });
    let played = Played { aim: "throw work away".to_owned(), ..stage.propose(&json!("Bash"), &input, number)? };
    if let Some(count) = counts.get_mut(played.verdict as usize) {
        *count += 1;
    }
    show(out, &played)?;
    ensure!(played.verdict == Verdict::AutoApprove, "a call that can be undone was not approved: {}", played.reason);
    lose(stage)?;
    stage.end_call(number)?;
    let names: Vec<&str> = UNCOMMITTED.iter().map(|(name, _)| *name).collect();
    writeln!(out, "         lost, as git would lose it: {}", names.join(", "))?;
    let decision = format!("demo-{number}");
    let paths = snapshots::take_back(&stage.surroundings.dirs, &decision)?;
    for (name, text) in UNCOMMITTED {
        let found = std::fs::read_to_string(Path::new(&stage.project()).join(name)).unwrap_or_default();
        ensure!(found == *text, "`{name}` was not restored");
    }
    writeln!(out, "         $ doorward undo: {paths} paths restored, byte for byte")?;
    Ok(())
}

/// Leaves what git would have left: only what was committed.
fn lose(stage: &DemoStage) -> Result<()> {
    let project = PathBuf::from(stage.project());
    for (name, _) in UNCOMMITTED {
        match stage::committed(name) {
            Some(text) => std::fs::write(project.join(name), text)?,
            None => std::fs::remove_file(project.join(name))?,
        }
    }
    Ok(())
}

fn show(out: &mut dyn Write, played: &Played) -> std::io::Result<()> {
    let style = verdict_style(played.verdict);
    let faint = anstyle::Style::new().dimmed();
    let room = WIDTH.saturating_sub(10 + played.aim.chars().count() + 1);
    let call = cut(&visible(&played.call), room);
    let gap = " ".repeat(room.saturating_sub(call.chars().count()) + 1);
    writeln!(
        out,
        "{style}{:<8}{style:#} {call}{gap}{faint}{}{faint:#}",
        played.verdict.as_str(),
        visible(&played.aim)
    )?;
    if played.verdict > Verdict::AutoApprove {
        let yes = if played.is_let_run { " (you say yes)" } else { "" };
        let reason = cut(&visible(first_reason(&played.reason)), WIDTH - 9 - yes.len());
        writeln!(out, "         {reason}{faint}{yes}{faint:#}")?;
    }
    Ok(())
}

/// The decisive reason; the rest is in the record.
fn first_reason(reason: &str) -> &str {
    let end = reason.find(". ").and_then(|end| reason.get(..end));
    end.unwrap_or(reason).trim_end_matches('.')
}

fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Checks that the record matches what was shown.
fn prove(out: &mut dyn Write, stage: &DemoStage) -> Result<()> {
    let dirs = &stage.surroundings.dirs;
    let mut log = doorward_ledger::Log::open(&record::directory(dirs))?;
    record::checkpoint(dirs, &mut log, crate::machine::clock::now_ms())?;
    let verified = crate::memory::ledger_view::verify(dirs)?;
    ensure!(verified.report.holds(), "the demo's record failed verification");
    let said = verified.to_string();
    let first = said.lines().next().unwrap_or_default();
    writeln!(out, "each was recorded before its answer: {first}")?;
    Ok(())
}
