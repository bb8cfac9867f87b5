//! `doorward report --new`: asks, proposes a configuration, shows it, and writes it only after the final yes.

mod proposal;
mod questions;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_ledger::{Hash, PolicyBody};

use crate::desk::person;
use crate::desk::screen;
use crate::desk::setup;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::machine::visible;
use proposal::{AppliedProposal, InterviewProposal, propose};
use questions::Question;

/// Quitting early changes nothing.
const NOTHING: &str = "nothing was written";

pub(super) fn run(dirs: &Dirs) -> Result<ExitCode> {
    person::required()?;
    let file = dirs.config_file();
    // Report problems with the file before asking anything.
    let before = crate::machine::checked_read::read(&file).map_err(anyhow::Error::msg)?;
    let old = before.clone().unwrap_or_default();
    crate::policy::config::Config::parse(&old).map_err(|problem| {
        anyhow::anyhow!("`{}` is not a valid configuration: {problem}; fix it first", file.display())
    })?;
    let mut terminal = Terminal::open()?;
    let proposal = interview(&mut terminal, dirs)?;
    let applied = proposal.applied_to(&old).with_context(|| format!("`{}`", file.display()))?;
    show(&mut terminal, &proposal, &applied, &file, &old)?;
    if applied.text == old {
        terminal.say("Your configuration already says this; there is nothing to write.")?;
        return Ok(ExitCode::SUCCESS);
    }
    // Only this answer changes anything, so only this one must be typed after its question.
    if !person::agrees("Write this?")? {
        bail!(NOTHING);
    }
    if crate::machine::checked_read::read(&file).map_err(anyhow::Error::msg)? != before {
        bail!("`{}` changed in the meantime; {NOTHING}", file.display());
    }
    write(dirs, before.as_deref(), &applied.text)?;
    terminal.say("Written. It applies from the next call on.")?;
    if before.is_some() {
        terminal.say(&format!("The old version is in `{}`.", backup(&file).display()))?;
    }
    terminal.say("Next: `doorward setup` connects doorward to your agents, `doorward report` shows the rest.")?;
    Ok(ExitCode::SUCCESS)
}

fn interview(terminal: &mut Terminal, dirs: &Dirs) -> Result<InterviewProposal> {
    terminal.say("Three questions. Nothing is written until you confirm at the end; `q` quits.")?;
    let kinds = terminal.answered(&questions::agents(), questions::read_agents)?;
    let trust = terminal.answered(&questions::trust(), questions::read_trust)?;
    let compliance = terminal.answered(&questions::compliance(), questions::read_compliance)?;
    Ok(propose(kinds, trust, compliance, &setup::agents_here(dirs)))
}

fn show(
    terminal: &mut Terminal,
    proposal: &InterviewProposal,
    applied: &AppliedProposal,
    file: &Path,
    old: &str,
) -> Result<()> {
    terminal.say("\nproposed:")?;
    for setting in &proposal.settings {
        terminal.say(&format!("  {} = {}: {}", setting.name(), setting.value.item(), setting.why))?;
    }
    terminal.say("  profile: your answers, which open the report")?;
    for sentence in &applied.kept {
        terminal.say(&format!("  {sentence}"))?;
    }
    terminal.say("")?;
    screen::change(&mut terminal.out, file, old, &applied.text)?;
    Ok(())
}

/// The record comes first, then the copy of the old file, then the file.
fn write(dirs: &Dirs, before: Option<&str>, text: &str) -> Result<()> {
    let file = dirs.config_file();
    crate::machine::record::begin(dirs)?;
    let hash = |text: &str| Hash::of(text.as_bytes()).to_string();
    let body = PolicyBody {
        what: "the answers of `report --new` and what was proposed for them went into the configuration".to_owned(),
        before: before.map(hash),
        after: Some(hash(text)),
        user: crate::machine::user(),
        project: None,
    };
    let _receipt = Ledger::open(dirs)
        .append(LogEntry::new(&body)?)
        .with_context(|| format!("can't record the change, so {NOTHING}"))?;
    if let Some(before) = before {
        crate::machine::atomic_file::replace(&backup(&file), before)?;
    }
    crate::machine::atomic_file::replace(&file, text)
}

fn backup(file: &Path) -> PathBuf {
    file.with_extension("toml.before-report")
}

/// The terminal itself, whatever standard input is.
struct Terminal {
    out: File,
    lines: BufReader<File>,
}

impl Terminal {
    fn open() -> Result<Terminal> {
        let out = OpenOptions::new().read(true).write(true).open("/dev/tty").context("can't open the terminal")?;
        Ok(Terminal { lines: BufReader::new(out.try_clone()?), out })
    }

    fn say(&mut self, text: &str) -> Result<()> {
        Ok(writeln!(self.out, "{}", visible(text))?)
    }

    /// One line; a closed terminal or `q` ends the interview.
    fn ask(&mut self, question: &str) -> Result<String> {
        write!(self.out, "{} ", visible(question))?;
        self.out.flush()?;
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 || line.trim() == "q" {
            bail!(NOTHING);
        }
        Ok(line.trim().to_owned())
    }

    /// Asks until the answer makes sense.
    fn answered<T>(&mut self, question: &Question, read: fn(&str) -> Result<T, String>) -> Result<T> {
        self.say(&format!("\n{}", question.title))?;
        let width = question.choices.iter().map(|(word, _)| word.len()).max().unwrap_or_default();
        for (word, what) in &question.choices {
            self.say(&format!("  {word:<width$}  {what}"))?;
        }
        loop {
            let typed = self.ask(&format!("{}:", question.how))?;
            match read(&typed) {
                Ok(answer) => return Ok(answer),
                Err(hint) => self.say(&format!("  {hint}"))?,
            }
        }
    }
}
