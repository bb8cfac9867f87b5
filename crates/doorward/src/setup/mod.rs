//! `doorward setup AGENT`: shows the change to the agent's settings, asks, and makes it; or takes it back.

mod choice;
mod claude;
mod edit;
mod write;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use doorward_engine::Mode;

use crate::cli::SetupArguments;
use crate::places::Places;
use crate::screen;

pub use write::replace;

/// Runs the command.
pub fn run(arguments: &SetupArguments) -> Result<ExitCode> {
    let places = Places::find().map_err(anyhow::Error::msg)?;
    if arguments.without_hooks {
        return begin(&places, arguments);
    }
    let settings = claude::settings_file(places.home());
    if arguments.uninstall { uninstall(&settings, arguments) } else { install(&places, &settings, arguments) }
}

fn install(places: &Places, settings: &Path, arguments: &SetupArguments) -> Result<ExitCode> {
    let program = program()?;
    let before = write::text(settings)?;
    let old = before.as_deref().unwrap_or_default();
    let new = claude::installed(old, &program).map_err(|problem| not_understood(settings, &problem))?;
    let mut out = anstream::stdout().lock();
    if old == new {
        writeln!(out, "`{}` already has the hooks", settings.display())?;
    } else {
        screen::change(&mut out, settings, old, &new)?;
    }
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let mode = mode(places, arguments)?;
    settle(places, mode)?;
    if old != new {
        // What stood there before doorward came is what uninstalling brings back.
        if let Some(before) = before.filter(|before| !claude::is_installed(before)) {
            write::replace(&backup(settings), &before)?;
        }
        write::replace(settings, &new)?;
    }
    writeln!(out, "installed for Claude Code in mode `{mode}`: {}", mode.what())?;
    prove(&mut out, &program, mode)
}

/// Begins the record and sets the mode for hooks that somebody else installs: managed settings, a plugin.
fn begin(places: &Places, arguments: &SetupArguments) -> Result<ExitCode> {
    let mode = mode(places, arguments)?;
    settle(places, mode)?;
    writeln!(anstream::stdout(), "mode `{mode}` for Claude Code; its settings are as they were")?;
    Ok(ExitCode::SUCCESS)
}

fn settle(places: &Places, mode: Mode) -> Result<()> {
    let config = configured(places, mode)?;
    crate::record::begin(places)?;
    if write::text(&places.config_file())?.as_deref() != Some(config.as_str()) {
        write::replace(&places.config_file(), &config)?;
    }
    Ok(())
}

/// The mode that was asked for, or chosen by a person, or in force already.
fn mode(places: &Places, arguments: &SetupArguments) -> Result<Mode> {
    if let Some(mode) = arguments.mode {
        return Ok(mode.into());
    }
    if arguments.yes {
        return Ok(crate::loading::load(places, None, "claude").mode("claude"));
    }
    if !std::io::stdin().is_terminal() {
        bail!("nobody can be asked here: say `--yes`, and `--mode` if it should not start with `confirm-all`");
    }
    choice::ask(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())
}

fn configured(places: &Places, mode: Mode) -> Result<String> {
    let file = places.config_file();
    let old = crate::trusted::read(&file).map_err(anyhow::Error::msg)?.unwrap_or_default();
    let path = std::env::var("PATH").unwrap_or_default();
    choice::configured(&old, "claude", mode, &choice::tool_chains(&path, places.home()))
        .with_context(|| format!("`{}`", file.display()))
}

/// Writes the mode of an agent into the user's configuration.
pub fn set_mode(places: &Places, agent: &str, mode: Mode) -> Result<()> {
    let file = places.config_file();
    let old = crate::trusted::read(&file).map_err(anyhow::Error::msg)?.unwrap_or_default();
    let path = std::env::var("PATH").unwrap_or_default();
    let new = choice::configured(&old, agent, mode, &choice::tool_chains(&path, places.home()))
        .with_context(|| format!("`{}`", file.display()))?;
    write::replace(&file, &new)
}

/// Sends a call that no mode may approve through the line that the client will run.
fn prove(out: &mut dyn Write, program: &str, mode: Mode) -> Result<ExitCode> {
    if matches!(mode, Mode::Shadow | Mode::Off) {
        return Ok(ExitCode::SUCCESS);
    }
    let payload = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "doorward-setup", "cwd": "/",
        "tool_name": "Bash", "tool_input": { "command": "rm -rf /" },
    });
    let mut child = Command::new("sh")
        .args(["-c", &claude::deciding_command(program)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("the installed line cannot be run")?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(payload.to_string().as_bytes())?;
    }
    let answer = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&answer.stdout);
    let is_stopped = answer.status.code() == Some(2) || text.contains("\"deny\"") || text.contains("\"ask\"");
    if !is_stopped {
        bail!("the hook is installed, but a trial call was not stopped: {}", screen::visible(text.trim()));
    }
    writeln!(out, "a trial call (`rm -rf /`, not run) was stopped, as it should be")?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall(settings: &Path, arguments: &SetupArguments) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    let Some(old) = write::text(settings)?.filter(|old| claude::is_installed(old)) else {
        writeln!(out, "`{}` has no hooks of doorward", settings.display())?;
        return Ok(ExitCode::SUCCESS);
    };
    let saved = write::text(&backup(settings))?;
    let new = restored(&old, saved.as_deref()).map_err(|problem| not_understood(settings, &problem))?;
    screen::change(&mut out, settings, &old, new.as_deref().unwrap_or_default())?;
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.yes && !choice::agree("remove the hooks?")? {
        bail!("nothing was changed");
    }
    match new {
        Some(new) => write::replace(settings, &new)?,
        None => write::remove(settings)?,
    }
    write::remove(&backup(settings))?;
    writeln!(out, "removed; the configuration and the record stay where they are")?;
    Ok(ExitCode::SUCCESS)
}

/// What the settings were before; `None` if there were none.
fn restored(current: &str, saved: Option<&str>) -> Result<Option<String>, String> {
    let without = claude::removed(current)?;
    let meaning = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    // Taking hooks out also takes out what they leave empty, so the saved text goes the same way before it is compared.
    let round_trip = |saved: &str| claude::installed(saved, "doorward").and_then(|with| claude::removed(&with)).ok();
    match saved {
        // Nothing else changed since: the saved bytes are exactly what was there.
        Some(saved) if round_trip(saved).and_then(|text| meaning(&text)) == meaning(&without) => {
            Ok(Some(saved.to_owned()))
        }
        None if without.trim() == "{}" => Ok(None),
        Some(_) | None => Ok(Some(without)),
    }
}

fn backup(settings: &Path) -> PathBuf {
    settings.with_file_name("settings.json.before-doorward")
}

fn program() -> Result<String> {
    let path = std::env::current_exe().context("the place of this program is not known")?;
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow::anyhow!("the place of this program is not UTF-8: `{}`", path.display()))
}

fn not_understood(settings: &Path, problem: &str) -> anyhow::Error {
    anyhow::anyhow!("`{}` is not understood, so nothing was changed: {problem}", settings.display())
}
