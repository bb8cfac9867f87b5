//! Checks that a person typed the command: it has its own terminal, and no agent among its ancestors.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};

use crate::machine::agent_variables::LEFT_BY_AGENTS;

/// Programs that are agents, or run them.
// Matched by process name among our ancestors: an agent can open a terminal of its own (`script`, `tmux`), so a
// terminal alone does not prove a person. A name that is missing here only leaves the other checks.
const AGENTS: &[&str] = &[
    "claude",
    "codex",
    "gemini",
    "opencode",
    "pi",
    "copilot",
    "cursor-agent",
    "aider",
    "goose",
    "amp",
    "qwen",
    "crush",
    "openhands",
    "droid",
];

/// Packages of agents whose program is called something else.
// npm starts these through `node`, so the process is called `node` and only its script path tells.
const PACKAGES: &[&str] = &["claude-code", "gemini-cli", "qwen-code", "opencode-ai", "pi-coding-agent"];

/// Too short to read a question and answer it, and longer than any pause within a paste.
// `approve ID` and a `y` are easily pasted in one go; whatever arrives before the line has been quiet is thrown away.
const MOMENT: Duration = Duration::from_millis(60);

/// After this many chunks, someone is holding down a key.
const PIECES: usize = 20;

/// More generations than any terminal has.
// Bounds the walk where the process table changes underneath it or is made to loop.
const GENERATIONS: usize = 64;

/// Fails unless a person typed the command.
pub(crate) fn required() -> Result<()> {
    no_agent()?;
    if OpenOptions::new().read(true).write(true).open("/dev/tty").is_err() {
        bail!("agents can't run this command; run it yourself in a terminal");
    }
    Ok(())
}

/// Fails if an agent started the command, as far as that can be seen; the user's own scripts pass.
pub(crate) fn no_agent() -> Result<()> {
    if let Some(name) = LEFT_BY_AGENTS.iter().find(|name| std::env::var_os(name).is_some()) {
        bail!("agents can't run this command, and `{name}` is set, which means an agent started it");
    }
    if let Some(agent) = agent_above(std::process::id()) {
        bail!("agents can't run this command, and `{agent}` started it");
    }
    Ok(())
}

/// Asks at the terminal itself, whatever standard input is.
pub(crate) fn agrees(question: &str) -> Result<bool> {
    let line = ask(&format!("{question} [y/N]: "))?.unwrap_or_default();
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// The same with yes as the default: Enter means yes, but a closed terminal does not.
pub(crate) fn agrees_unless_no(question: &str) -> Result<bool> {
    let line = ask(&format!("{question} [Y/n]: "))?;
    Ok(line.is_some_and(|line| matches!(line.trim(), "" | "y" | "Y" | "yes")))
}

/// What the person types at the terminal itself, whatever standard input is.
pub(crate) fn types(question: &str) -> Result<String> {
    ask(&format!("{question}: ")).map(Option::unwrap_or_default)
}

/// Asks one question and returns the line typed in reply; `None` if the terminal was closed.
///
/// INVARIANT: every consent goes through here, so nothing typed or pasted before the question appears can answer it:
/// `doorward approve ID` followed by a `y` is easily pasted in one go from an agent's message.
pub(crate) fn ask(question: &str) -> Result<Option<String>> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").context("can't open the terminal")?;
    forget_typed(&terminal);
    write!(terminal, "{}", crate::machine::visible(question))?;
    terminal.flush()?;
    let mut line = String::new();
    let length = BufReader::new(terminal).read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// Discards pending input until none has arrived for a moment: a long paste comes in chunks.
fn forget_typed(terminal: &File) {
    for _ in 0..PIECES {
        // A terminal that can't flush has no person in front of it; the question is still asked.
        let _ = tcflush(terminal, QueueSelector::IFlush);
        std::thread::sleep(MOMENT);
        if !has_input(terminal) {
            return;
        }
    }
}

fn has_input(terminal: &File) -> bool {
    let mut polled = [PollFd::new(terminal, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// The agent among the ancestors of a process, if there is one.
fn agent_above(pid: u32) -> Option<String> {
    let mut current = pid;
    for _ in 0..GENERATIONS {
        current = parent(current).filter(|parent| *parent > 1)?;
        if let Some(agent) = agent_in(&words(current)) {
            return Some(agent);
        }
    }
    None
}

/// `node --flag /usr/lib/node_modules/…/claude` runs claude as well.
fn agent_in(words: &[String]) -> Option<String> {
    words.iter().filter(|word| !word.starts_with('-')).take(2).find_map(|word| agent_named(word))
}

fn agent_named(word: &str) -> Option<String> {
    let name = word.rsplit('/').next().unwrap_or(word);
    let stem = name.split('.').next().unwrap_or(name);
    let package = word.rsplit_once("/node_modules/").map_or("", |(_, package)| package);
    let mut parts = package.split('/').filter(|part| AGENTS.contains(part) || PACKAGES.contains(part));
    AGENTS.contains(&stem).then_some(stem).or_else(|| parts.next()).map(str::to_owned)
}

fn words(pid: u32) -> Vec<String> {
    let text = crate::machine::checked_read::text_of_pipe(&format!("/proc/{pid}/cmdline"), 4096).unwrap_or_default();
    text.split('\0').map(str::to_owned).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = crate::machine::checked_read::text_of_pipe(&format!("/proc/{pid}/stat"), 4096)?;
    // The name in parentheses may hold anything, so the fields are counted from its end.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_however_they_are_started() {
        for word in ["claude", "/home/me/.local/bin/codex", "/usr/lib/node_modules/x/gemini.js", "pi"] {
            assert!(agent_named(word).is_some(), "{word}");
        }
        for word in ["bash", "/usr/bin/pip", "claudette", "", "/p/node_modules/.bin/tsc", "/home/claude/bin/zsh"] {
            assert!(agent_named(word).is_none(), "{word}");
        }
        for (line, is_agent) in [
            ("node --max-old-space-size=8192 --no-warnings /usr/bin/gemini -p x", true),
            ("node /usr/lib/node_modules/@github/copilot/npm-loader.js", true),
            ("node /usr/lib/node_modules/@qwen-code/qwen-code/dist/index.js", true),
            ("tmux new -s claude", false),
            ("-zsh", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(agent_in(&words).is_some(), is_agent, "{line}");
        }
    }
}
