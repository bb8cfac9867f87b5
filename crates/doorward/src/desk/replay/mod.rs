//! `doorward replay`: judges recorded decisions again, under the current policy and another one.
//!
//! Start at `compare.rs`. `stream.rs` reads the record, `policies.rs` picks the two policies for a decision, `upgrade.rs`
//! compares a new build with the record.

mod aftermath;
mod arguments;
mod compare;
mod policies;
mod show;
mod stream;
#[cfg(test)]
mod tests;
pub(crate) mod upgrade;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};

pub(crate) use aftermath::Aftermath;
pub(crate) use arguments::ReplayArguments;
pub(crate) use compare::{Replayed, replay};
pub(crate) use policies::{Pair, Policies};
pub(crate) use show::{print, sums, to_json};
pub(crate) use stream::{ReadCounts, RecordedDecision, each, others};

use crate::desk::screen;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::memory::ledger_view::LedgerView;
use crate::policy::load::{self, Overrides};

/// Exit code: something gets laxer and was not accepted.
const LAXER: u8 = 1;

/// Judges the record again and prints what changes.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<ExitCode> {
    let overrides = arguments.overrides()?;
    let room = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    trusted(&room.dirs)?;
    let since = clock::parse(&arguments.since, clock::now_ms()).map_err(anyhow::Error::msg)?;
    let replayed = if arguments.upgrade {
        upgrade::against_record(&room, since, screen::bar())?
    } else {
        let here = Overrides::default();
        replay(&room.log, since, &between(&room.dirs, &here, &overrides), screen::bar())?
    };
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", to_json(&replayed, arguments.limit))?;
    } else {
        print(&mut out, &replayed, arguments.limit)?;
    }
    if arguments.upgrade && arguments.accept {
        upgrade::agreed(&room.dirs, &replayed)?;
        writeln!(out, "Done. It applies from the next call on.")?;
    }
    let is_laxer = replayed.all.laxer > 0 && !arguments.accept;
    Ok(if is_laxer { ExitCode::from(LAXER) } else { ExitCode::SUCCESS })
}

/// The policies from the configuration, with replacements for some of the user's files.
pub(crate) fn between<'a>(dirs: &'a Dirs, old: &'a Overrides, new: &'a Overrides) -> Policies<'a> {
    Policies::new(move |setting| {
        let policy = |overrides: &Overrides| {
            let loaded = load::load_with(dirs, setting.project.as_deref(), &setting.agent, overrides);
            loaded.policy(setting.mode)
        };
        Ok(Pair { old: policy(old)?, new: policy(new)? })
    })
}

/// An unreadable configuration is strict in every respect, so it can't show what a change would do.
pub(crate) fn trusted(dirs: &Dirs) -> Result<()> {
    let loaded = load::load(dirs, None, "");
    match loaded.problems.first() {
        Some(problem) => bail!("{problem}; nothing can be compared until you fix that"),
        None => Ok(()),
    }
}
