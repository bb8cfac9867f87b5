//! `[run] mode`: chosen after the box was built here once, and after the agents were tested with it.

use std::io::Write;

use anyhow::{Context, Result};
use doorward_ledger::PolicyBody;
use toml_edit::{DocumentMut, Item, Table, value};

use super::trial;
use crate::desk::person;
use crate::hook::contained;
use crate::hook::contained::replace::REWRITTEN;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::contained::BoxMemory;
use crate::policy::approved_config::{self, USER};
use crate::policy::config::{Config, RunMode};
use crate::policy::load;

/// Tests the agents, and chooses the mode unless the user has one already.
pub(super) fn choose(out: &mut dyn Write, dirs: &Dirs, program: &str, agents: &[Agent]) -> Result<()> {
    // A script may set an agent up, but more happens without the user in this mode. `doctor` says what is missing for a box.
    if person::required().is_err() || contained::cell(dirs).probe().is_err() {
        return Ok(());
    }
    let has_passed = test(out, dirs, program, agents)?;
    let chosen = load::load(dirs, None, "").config.run.mode;
    let mode = chosen.unwrap_or(if has_passed { RunMode::Rewrite } else { RunMode::Steer });
    if chosen.is_none() {
        set(dirs, mode)?;
    }
    writeln!(out, "✓ box: {} (`[run] mode = \"{}\"`)", mode.what(), mode.as_str())?;
    Ok(())
}

/// Tests each agent that can run something else in place of a call; whether one does.
pub(crate) fn test(out: &mut dyn Write, dirs: &Dirs, program: &str, agents: &[Agent]) -> Result<bool> {
    let memory = BoxMemory::open(dirs)?;
    let mut has_passed = false;
    for agent in agents.iter().filter(|agent| REWRITTEN.contains(agent)) {
        let tested = trial::test(*agent, dirs, program);
        let (mark, said) = match &tested {
            Ok(proof) => ("✓", format!("{} runs what doorward puts in place of a call", proof.version)),
            Err(error) => ("·", format!("is told to use the box; its calls are not replaced: {error:#}")),
        };
        writeln!(out, "{mark} {} {}", agent.title(), crate::machine::visible(&said))?;
        has_passed |= tested.is_ok();
        memory.note_proof(*agent, tested.ok())?;
    }
    Ok(has_passed)
}

/// INVARIANT: on record before it counts.
fn set(dirs: &Dirs, mode: RunMode) -> Result<()> {
    let file = dirs.config_file();
    let old = crate::machine::checked_read::read(&file).map_err(anyhow::Error::msg)?.unwrap_or_default();
    let new = with_mode(&old, mode).with_context(|| format!("`{}`", file.display()))?;
    let body = PolicyBody {
        what: "how calls get to the box".to_owned(),
        before: Some(RunMode::Off.as_str().to_owned()),
        after: Some(mode.as_str().to_owned()),
        user: crate::machine::user(),
        project: None,
    };
    let _receipt = Ledger::open(dirs).append(LogEntry::new(&body)?).context("can't record the choice")?;
    approved_config::accept_in(dirs, USER, |config| config.run.mode = Some(mode))?;
    crate::machine::atomic_file::replace(&file, &new)
}

fn with_mode(text: &str, mode: RunMode) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("the configuration is not TOML")?;
    let run = document.entry("run").or_insert_with(|| Item::Table(Table::new()));
    let run = run.as_table_mut().context("`run` is not a separate table in the configuration")?;
    run.insert("mode", value(mode.as_str()));
    let text = document.to_string();
    Config::parse(&text).map_err(anyhow::Error::msg)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_written_and_everything_else_stays() {
        let text = "# mine\nstrict = true\n\n[agents.claude]\nmode = \"auto\"\n";
        let with = with_mode(text, RunMode::Steer).unwrap();
        assert!(with.starts_with(text) && Config::parse(&with).unwrap().run.mode() == RunMode::Steer, "{with}");
        let again = with_mode(&with, RunMode::Rewrite).unwrap();
        assert_eq!(again, with.replace("steer", "rewrite"));
    }
}
