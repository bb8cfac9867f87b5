//! The three ways to tell: each a child process that is given a few seconds.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Message;
use crate::config::Notify;

/// So long a notifier may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the programs of the system lie: a search path that an agent has set does not count.
const DIRECTORIES: &[&str] = &["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// The name of the first way.
pub const DESKTOP: &str = "desktop";

/// Nobody switched the desktop off, and there is one.
pub fn has_desktop(notify: &Notify) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    notify.desktop.is_none() && (cfg!(target_os = "macos") || is_set("WAYLAND_DISPLAY") || is_set("DISPLAY"))
}

/// Tells in every way that is set; yields how each went.
pub fn all(notify: &Notify, message: &Message) -> Vec<(&'static str, Result<(), String>)> {
    let mut outcomes = Vec::new();
    if notify.desktop == Some(true) || has_desktop(notify) {
        outcomes.push((DESKTOP, desktop(message)));
    }
    if let Some((program, arguments)) = notify.command.split_first() {
        outcomes.push(("command", fed(Command::new(program).args(arguments), &message.json())));
    }
    if let Some(address) = &notify.webhook {
        outcomes.push(("webhook", webhook(address, message)));
    }
    outcomes
}

fn desktop(message: &Message) -> Result<(), String> {
    let (title, text) = message.words();
    if let Some(program) = found("osascript") {
        // The words are arguments of the script and no part of it.
        let script = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
        let mut command = Command::new(program);
        command.args(script.iter().flat_map(|line| ["-e", line]));
        return fed(command.args([&title, &text]), "");
    }
    let program = found("notify-send").ok_or("neither `notify-send` nor `osascript` is installed")?;
    // The text may be read as markup.
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    fed(Command::new(program).args(["--app-name=doorward", "--", &title, &text]), "")
}

fn webhook(address: &str, message: &Message) -> Result<(), String> {
    let program = found("curl").ok_or("`curl` is not installed")?;
    let mut command = Command::new(program);
    // No file of settings is read, nothing is followed, and what is sent comes from standard input.
    command.args(["-q", "--silent", "--show-error", "--fail", "--max-time", "8", "--proto", "=http,https"]);
    command.args(["--header", "Content-Type: application/json", "--data-binary", "@-", "--output", "/dev/null"]);
    fed(command.args(["--url", address]), &message.json())
}

fn found(name: &str) -> Option<std::path::PathBuf> {
    DIRECTORIES.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.exists())
}

/// Runs a program with an input; an error says what went wrong.
fn fed(command: &mut Command, input: &str) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = started.map_err(|error| format!("`{name}` cannot be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not want to hear it may still tell.
        let _ = stdin.write_all(input.as_bytes());
    }
    ended(&mut child).map_err(|problem| format!("`{name}` {problem}"))
}

fn ended(child: &mut Child) -> Result<(), String> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("failed: {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
    // It is ours, and nobody waits for it.
    let _ = child.kill().and_then(|()| child.wait().map(drop));
    Err(format!("took longer than {} seconds", PATIENCE.as_secs()))
}
