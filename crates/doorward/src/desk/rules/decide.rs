//! Changes to rules by the user: first shown on recorded decisions, then recorded, and only then made.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::{Mode, Stage};
use doorward_ledger::PolicyBody;

use super::arguments::{List, Offering, ReplayRange, RulesCommand};
use super::change::RuleEdit;
use crate::desk::offers;
use crate::desk::person;
use crate::desk::replay::{self, Replayed};
use crate::desk::screen;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, LogEntry, Recorder};
use crate::memory::ledger_view::LedgerView;
use crate::policy::approved_config::{self, Accepted};
use crate::policy::load::{self, Loaded, Overrides};

/// How many changed verdicts are listed before asking.
const LISTED: usize = 30;

pub(super) fn run(what: &RulesCommand) -> Result<ExitCode> {
    if let RulesCommand::Offering(offering) = what {
        return offer(offering);
    }
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    if !matches!(what, RulesCommand::Test { .. }) {
        person::required()?;
    }
    replay::trusted(&dirs)?;
    let loaded = load::load(&dirs, None, "");
    let rules = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?.rules;
    match what {
        RulesCommand::Offering(offering) => offer(offering),
        RulesCommand::Add { list, pattern, over } => decide(dirs, &loaded, &RuleEdit::pattern(*list, pattern)?, over),
        RulesCommand::Promote { id, over } => decide(dirs, &loaded, &RuleEdit::stage(&rules, id, Stage::Active)?, over),
        RulesCommand::Retire { id, over } => decide(dirs, &loaded, &RuleEdit::stage(&rules, id, Stage::Retired)?, over),
        RulesCommand::Test { id, over, json } => {
            let counts = rules.iter().any(|rule| rule.id == *id && rule.stage == Stage::Active);
            let other = if counts { Stage::Retired } else { Stage::Active };
            let change = RuleEdit::stage(&rules, id, other)?;
            let replayed = effect(&LedgerView::open(dirs)?, &loaded, &change, over)?;
            let mut out = anstream::stdout().lock();
            if *json {
                writeln!(out, "{:#}", replay::to_json(&replayed, 0))?;
            } else {
                writeln!(out, "if {}:", change.describe())?;
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
        let change = RuleEdit::pattern(List::Allow, pattern)?;
        let body = PolicyBody {
            what: change.describe(),
            before: None,
            after: Some(format!("taken over from the settings of {whose}")),
            user: crate::machine::user(),
            project: None,
        };
        let _receipt = Ledger::open(dirs)
            .append(LogEntry::new(&body)?)
            .context("can't record the change, so nothing was changed")?;
        change.apply(dirs)?;
    }
    Ok(())
}

/// What a change would have done to recorded decisions.
fn effect(view: &LedgerView, loaded: &Loaded, change: &RuleEdit, over: &ReplayRange) -> Result<Replayed> {
    let since = clock::parse(&over.since, clock::now_ms()).map_err(anyhow::Error::msg)?;
    let (here, overrides) = (Overrides::default(), change.overrides(loaded));
    let policies = replay::between(&view.dirs, &here, &overrides);
    replay::replay(&view.log, since, &policies, screen::bar())
}

fn decide(dirs: Dirs, loaded: &Loaded, change: &RuleEdit, over: &ReplayRange) -> Result<ExitCode> {
    let view = LedgerView::open(dirs)?;
    let replayed = effect(&view, loaded, change, over)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "if {}:", crate::machine::visible(&change.describe()))?;
    replay::print(&mut out, &replayed, LISTED)?;
    let agreed = match change.rule_id() {
        Some(word) => person::types(&format!("Type `{word}` so that it no longer blocks"))? == word,
        None => person::agrees(&format!("Change this, so that {}?", change.describe()))?,
    };
    if !agreed {
        bail!("nothing was changed");
    }
    let version = carry_out(&view.dirs, change, &replayed, &mut Ledger::open(&view.dirs))?;
    writeln!(
        out,
        "Done. The ruleset is now {version}; it applies from the next session on, or after `doorward reload`."
    )?;
    Ok(ExitCode::SUCCESS)
}

/// INVARIANT: the record, with what the replay found, is durable before anything is changed.
pub(crate) fn carry_out(
    dirs: &Dirs,
    change: &RuleEdit,
    replayed: &Replayed,
    ledger: &mut dyn Recorder,
) -> Result<String> {
    let shown = |[major, minor, patch]: [u32; 3]| format!("{major}.{minor}.{patch}");
    let before = Accepted::load(dirs).map_err(anyhow::Error::msg)?.ruleset();
    let after = replayed.bump().after(before);
    let sums = &replayed.all;
    let body = PolicyBody {
        what: format!(
            "{}: {} laxer, {} stricter of {} replayed",
            change.describe(),
            sums.laxer,
            sums.stricter,
            sums.judged
        ),
        before: Some(format!("ruleset {}", shown(before))),
        after: Some(format!("ruleset {}", shown(after))),
        user: crate::machine::user(),
        project: None,
    };
    let _receipt = ledger.append(LogEntry::new(&body)?).context("can't record the change, so nothing was changed")?;
    change.apply(dirs)?;
    approved_config::set_ruleset(dirs, after)?;
    Ok(shown(after))
}
