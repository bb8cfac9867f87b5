//! Answers that go beyond one call: trusting its project, or always allowing it. Shown first, and done only after a typed word.

use anyhow::{Context, Result, bail};
use doorward_engine::Clearance;

use crate::desk::grants::answer;
use crate::desk::grants::answer::ApprovedBy;
use crate::desk::grants::narrow;
use crate::desk::replay::{self, Replayed};
use crate::desk::rules::{self, List, RuleEdit};
use crate::desk::trust::offer::ProjectOffer;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record::Ledger;
use crate::memory::grants::Pending;
use crate::memory::grants::store::GrantStore;
use crate::memory::ledger_view::LedgerView;
use crate::policy::load::{self, Overrides};

/// How far back a rule is tested.
const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfferKind {
    /// Trust the project of the call.
    Trust,
    /// Never ask about exactly this call again.
    Always,
}

/// What is offered, and which word accepts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownOffer {
    pub wish: OfferKind,
    /// The call it started from.
    pub id: String,
    /// The root of the project, or the rule.
    what: String,
    pub lines: Vec<String>,
    /// What has to be typed.
    pub word: String,
}

#[cfg(test)]
impl ShownOffer {
    /// A placeholder for tests.
    pub(crate) fn example(wish: OfferKind, word: &str) -> ShownOffer {
        ShownOffer { wish, id: "a".into(), what: "/p".into(), lines: vec!["it would".into()], word: word.into() }
    }
}

/// Finds out what a wish would take.
pub(crate) fn prepare(dirs: &Dirs, id: &str, wish: OfferKind) -> Result<ShownOffer> {
    let call = answer::answerable(&GrantStore::open_at(dirs)?, id)?;
    match wish {
        OfferKind::Trust => trust(dirs, &call),
        OfferKind::Always => always(dirs, &call),
    }
}

/// Carries it out; returns the message to show.
pub(crate) fn accept(dirs: &Dirs, offer: &ShownOffer) -> Result<String> {
    match offer.wish {
        OfferKind::Trust => {
            ProjectOffer::of(&offer.what, dirs)?.accept(dirs)?;
            Ok(format!("`{}` is trusted from the next call on; press y to let this call run", offer.what))
        }
        OfferKind::Always => allow(dirs, offer),
    }
}

fn trust(dirs: &Dirs, call: &Pending) -> Result<ShownOffer> {
    let Some(root) = &call.project else { bail!("this call is not in a project") };
    if load::load(dirs, Some(root), &call.agent).config.trusts(root) {
        bail!("`{root}` is already trusted");
    }
    let offered = ProjectOffer::of(root, dirs)?;
    let mut lines = vec![format!("trust {root}"), offered.describe()];
    if !offered.harmful.is_empty() {
        lines.push("Look at these first. doorward blocks them even in a trusted project:".to_owned());
        lines.extend(offered.harmful.iter().map(|recipe| format!("  {recipe}")));
    }
    let name = std::path::Path::new(root).file_name().and_then(|name| name.to_str()).unwrap_or(root);
    let word = crate::machine::visible(name).into_owned();
    Ok(ShownOffer { wish: OfferKind::Trust, id: call.id.clone(), what: root.clone(), lines, word })
}

fn always(dirs: &Dirs, call: &Pending) -> Result<ShownOffer> {
    if call.needs() > Clearance::Soft {
        bail!("no rule may always allow this: it needs your approval each time");
    }
    let Some(rule) = narrow::rule(call) else {
        bail!("no rule matches exactly this call, so it can't always be allowed; `t` trusts its project")
    };
    let replayed = effect(dirs, &rule)?;
    let Replayed { all, worth, .. } = &replayed;
    if all.laxer == 0 {
        bail!("an allow rule would not stop this question, because something that no rule can clear asks too");
    }
    let lines = vec![
        "always allow exactly this call, in every project:".to_owned(),
        format!("  {rule}"),
        format!(
            "Of {} decisions in 30 days, {} would have run without a question: {} that you approved, {} that you refused or \
             regretted.",
            all.judged, all.laxer, worth.friction_avoided, worth.regret_added
        ),
        "It applies from the next session on, or after `doorward reload`; this call is approved now.".to_owned(),
    ];
    Ok(ShownOffer { wish: OfferKind::Always, id: call.id.clone(), what: rule, lines, word: "always".to_owned() })
}

/// What the rule would have done to recorded decisions.
fn effect(dirs: &Dirs, rule: &str) -> Result<Replayed> {
    replay::trusted(dirs)?;
    let loaded = load::load(dirs, None, "");
    let change = RuleEdit::pattern(List::Allow, rule)?;
    let view = LedgerView::open(dirs.clone())?;
    let (here, overrides) = (Overrides::default(), change.overrides(&loaded));
    let policies = replay::between(&view.dirs, &here, &overrides);
    replay::replay(&view.log, clock::now_ms().saturating_sub(MONTH_MS), &policies, |_| {})
}

/// Approves this call first: the approval was given under the current rules.
fn allow(dirs: &Dirs, offer: &ShownOffer) -> Result<String> {
    let mut ledger = Ledger::open(dirs);
    let _step = answer::approve(&GrantStore::open_at(dirs)?, &mut ledger, &offer.id, ApprovedBy::Key, None)?;
    let replayed = effect(dirs, &offer.what)?;
    let change = RuleEdit::pattern(List::Allow, &offer.what)?;
    let version = rules::carry_out(dirs, &change, &replayed, &mut ledger)
        .context("this call is approved, but the rule was not added")?;
    Ok(format!("`{}` is allowed from the next session on (ruleset {version}); this call is approved", offer.what))
}
