//! Changes to rules by the user: first shown on recorded decisions, then recorded, and only then made.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::{Mode, Stage};
use doorward_ledger::PolicyBody;

use super::arguments::{List, Offering, Over, What};
use super::change::Change;
use crate::desk::offers;
use crate::desk::person;
use crate::desk::replay::{self, Replayed};
use crate::desk::screen;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Entry, Ledger, Recorder};
use crate::memory::ledger_view::Room;
use crate::policy::approved_config::{self, Accepted};
use crate::policy::load::{self, Instead, Loaded};

/// How many changed verdicts are listed before asking.
const LISTED: usize = 30;

pub(super) fn run(what: &What) -> Result<ExitCode> {
    if let What::Offering(offering) = what {
        return offer(offering);
    }
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    if !matches!(what, What::Test { .. }) {
        person::required()?;
    }
    replay::trusted(&dirs)?;
    let loaded = load::load(&dirs, None, "");
    let rules = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?.rules;
    match what {
        What::Offering(offering) => offer(offering),
        What::Add { list, pattern, over } => decide(dirs, &loaded, &Change::pattern(*list, pattern)?, over),
        What::Promote { id, over } => decide(dirs, &loaded, &Change::stage(&rules, id, Stage::Active)?, over),
        What::Retire { id, over } => decide(dirs, &loaded, &Change::stage(&rules, id, Stage::Retired)?, over),
        What::Test { id, over, json } => {
            let counts = rules.iter().any(|rule| rule.id == *id && rule.stage == Stage::Active);
            let other = if counts { Stage::Retired } else { Stage::Active };
            let change = Change::stage(&rules, id, other)?;
            let replayed = effect(&Room::open(dirs)?, &loaded, &change, over)?;
            let mut out = anstream::stdout().lock();
            if *json {
                writeln!(out, "{:#}", replay::to_json(&replayed, 0))?;
            } else {
                writeln!(out, "if {}:", change.what())?;
                replay::print(&mut out, &replayed, 0)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn offer(offering: &Offering) -> Result<ExitCode> {
    match offering {
        Offering::Offered { json } => offers::offered(*json),
        Offering::Accept { id } => offers::accept(id),
        Offering::Decline { id } => offers::decline(id),
        Offering::Accepted { json } => offers::accepted(*json),
        Offering::Withdraw { id } => offers::withdraw(id),
    }
}

/// Imports what an agent's own settings allow. The user has agreed; it is recorded first.
pub(crate) fn take_over(dirs: &Dirs, patterns: &[String], whose: &str) -> Result<()> {
    for pattern in patterns {
        let change = Change::pattern(List::Allow, pattern)?;
        let body = PolicyBody {
            what: change.what(),
            before: None,
            after: Some(format!("taken over from the settings of {whose}")),
            user: crate::machine::user(),
            project: None,
        };
        let _receipt =
            Ledger::of(dirs).append(Entry::new(&body)?).context("can't record the change, so nothing was changed")?;
        change.apply(dirs)?;
    }
    Ok(())
}

/// What a change would have done to recorded decisions.
fn effect(room: &Room, loaded: &Loaded, change: &Change, over: &Over) -> Result<Replayed> {
    let since = clock::parse(&over.since, clock::now_ms()).map_err(anyhow::Error::msg)?;
    let (here, instead) = (Instead::default(), change.instead(loaded));
    let policies = replay::between(&room.dirs, &here, &instead);
    replay::replay(&room.log, since, &policies, screen::bar())
}

fn decide(dirs: Dirs, loaded: &Loaded, change: &Change, over: &Over) -> Result<ExitCode> {
    let room = Room::open(dirs)?;
    let replayed = effect(&room, loaded, change, over)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "if {}:", crate::machine::visible(&change.what()))?;
    replay::print(&mut out, &replayed, LISTED)?;
    let agreed = match change.word() {
        Some(word) => person::types(&format!("Type `{word}` so that it no longer blocks"))? == word,
        None => person::agrees(&format!("Change this, so that {}?", change.what()))?,
    };
    if !agreed {
        bail!("nothing was changed");
    }
    let version = made(&room.dirs, change, &replayed, &mut Ledger::of(&room.dirs))?;
    writeln!(
        out,
        "Done. The ruleset is now {version}; it applies from the next session on, or after `doorward reload`."
    )?;
    Ok(ExitCode::SUCCESS)
}

/// INVARIANT: the record, with what the replay found, is durable before anything is changed.
pub(crate) fn made(dirs: &Dirs, change: &Change, replayed: &Replayed, ledger: &mut dyn Recorder) -> Result<String> {
    let shown = |[major, minor, patch]: [u32; 3]| format!("{major}.{minor}.{patch}");
    let before = Accepted::load(dirs).map_err(anyhow::Error::msg)?.ruleset();
    let after = replayed.bump().after(before);
    let sums = &replayed.all;
    let body = PolicyBody {
        what: format!(
            "{}: {} laxer, {} stricter of {} replayed",
            change.what(),
            sums.laxer,
            sums.stricter,
            sums.judged
        ),
        before: Some(format!("ruleset {}", shown(before))),
        after: Some(format!("ruleset {}", shown(after))),
        user: crate::machine::user(),
        project: None,
    };
    let _receipt = ledger.append(Entry::new(&body)?).context("can't record the change, so nothing was changed")?;
    change.apply(dirs)?;
    approved_config::set_ruleset(dirs, after)?;
    Ok(shown(after))
}
