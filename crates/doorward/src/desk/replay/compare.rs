//! Judges recorded decisions again under an old and a new policy, and sums up the changes.

use std::collections::BTreeMap;

use anyhow::Result;
use doorward_engine::{Comparison, Judgement, Ruling, SemverBump, Shift, Verdict, compare, judge};
use doorward_ledger::{DecisionBody, Log, Progress};
use doorward_vocabulary::{CallId, PatternId};

use super::aftermath::Aftermath;
use super::policies::{Baseline, Policies};
use super::stream::{self, ReadCounts, RecordedDecision};
use crate::memory::decisions;

/// Beyond this many, changes are counted but not listed.
// A replay reads a million decisions; a changed default can flip nearly all of them, and each entry holds its text.
pub(super) const LISTED: usize = 50_000;

/// How much of a call a list shows.
const SHOWN: usize = 200;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// One decision that comes out differently.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangedVerdict {
    pub sequence: u64,
    pub time_ms: u64,
    /// The name of the decision.
    pub id: CallId,
    pub agent: String,
    pub project: Option<String>,
    pub tool: String,
    /// The call, cut where it gets long.
    pub call: String,
    /// The operation of its most serious effect.
    pub category: String,
    pub pattern: PatternId,
    pub before: Ruling,
    pub after: Ruling,
    pub shift: Shift,
    /// It was reverted or flagged afterwards.
    pub is_regret: bool,
    /// The user let it run.
    pub is_overridden: bool,
    /// The user refused it.
    pub is_refused: bool,
}

impl ChangedVerdict {
    /// The deciding rule, before or after: that of the stricter side.
    pub(crate) fn rule(&self) -> Option<&str> {
        let (first, second) = match self.shift {
            Shift::Laxer => (&self.before, &self.after),
            Shift::Stricter => (&self.after, &self.before),
        };
        first.rule.as_deref().or(second.rule.as_deref())
    }
}

/// How many verdicts there were of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdicts {
    pub approve: u64,
    pub confirm: u64,
    pub block: u64,
}

impl Verdicts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::AutoApprove => self.approve += 1,
            Verdict::Confirm => self.confirm += 1,
            Verdict::Block => self.block += 1,
        }
    }
}

/// The decisions of one category, or all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplaySums {
    pub judged: u64,
    pub before: Verdicts,
    pub after: Verdicts,
    pub laxer: u64,
    pub stricter: u64,
}

impl ReplaySums {
    fn add(&mut self, before: Verdict, after: Verdict, shift: Option<Shift>) {
        self.judged += 1;
        self.before.add(before);
        self.after.add(after);
        self.laxer += u64::from(shift == Some(Shift::Laxer));
        self.stricter += u64::from(shift == Some(Shift::Stricter));
    }
}

/// What a policy change would have saved people, and what it would have cost them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SavedAndCost {
    /// Was approved and regretted, and would have been asked about or blocked.
    pub regret_avoided: u64,
    /// Was not approved, would be now, and was refused, or regretted after an override.
    pub regret_added: u64,
    /// Was asked about or blocked, then overridden or flagged as a nuisance, and would be approved.
    pub friction_avoided: u64,
    /// Was approved without regret, and would be asked about or blocked.
    pub friction_added: u64,
}

/// How the record compares with judging it again under the policy it was made under.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RecordCheck {
    /// Decisions that were made under exactly the old policy.
    pub same_policy: u64,
    /// How many of these come out differently from what is recorded: should be none.
    pub differing: u64,
    /// The names of the first of them.
    pub first: Vec<String>,
}

/// What judging again found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Replayed {
    pub passed: ReadCounts,
    pub all: ReplaySums,
    pub categories: BTreeMap<String, ReplaySums>,
    /// The first [`LISTED`] of them; `all` counts every one.
    pub laxer: Vec<ChangedVerdict>,
    pub stricter: Vec<ChangedVerdict>,
    pub worth: SavedAndCost,
    pub recorded: RecordCheck,
    pub first_ms: Option<u64>,
    pub last_ms: Option<u64>,
}

impl Replayed {
    pub(crate) fn judged(&self) -> u64 {
        self.all.judged
    }

    /// What the change means for the version of the ruleset.
    pub(crate) fn bump(&self) -> SemverBump {
        SemverBump::of(self.all.laxer, self.all.stricter)
    }

    /// The number of days the record spans, at least one.
    pub(crate) fn days(&self) -> f64 {
        let spanned = self.last_ms.unwrap_or_default().saturating_sub(self.first_ms.unwrap_or_default());
        (spanned as f64 / DAY_MS as f64).max(1.0)
    }

    /// Confirmations per day, before and after.
    pub(crate) fn confirms_per_day(&self) -> (f64, f64) {
        (self.all.before.confirm as f64 / self.days(), self.all.after.confirm as f64 / self.days())
    }

    fn take(&mut self, row: ReplayedCall) {
        let ReplayedCall { time_ms, category, before, after, shift, recorded, change, worth } = row;
        self.first_ms = Some(self.first_ms.map_or(time_ms, |first| first.min(time_ms)));
        self.last_ms = Some(self.last_ms.map_or(time_ms, |last| last.max(time_ms)));
        self.all.add(before, after, shift);
        match self.categories.get_mut(&category) {
            Some(sums) => sums.add(before, after, shift),
            None => self.categories.entry(category).or_default().add(before, after, shift),
        }
        self.worth.regret_avoided += u64::from(worth == Some(WorthChange::RegretAvoided));
        self.worth.regret_added += u64::from(worth == Some(WorthChange::RegretAdded));
        self.worth.friction_avoided += u64::from(worth == Some(WorthChange::FrictionAvoided));
        self.worth.friction_added += u64::from(worth == Some(WorthChange::FrictionAdded));
        match recorded {
            RecordMatch::Elsewhere => {}
            RecordMatch::Same => self.recorded.same_policy += 1,
            RecordMatch::Differs(id) => {
                self.recorded.same_policy += 1;
                self.recorded.differing += 1;
                if self.recorded.first.len() < 20 {
                    self.recorded.first.push(id.into());
                }
            }
        }
        let Some(change) = change else { return };
        let list = match change.shift {
            Shift::Laxer => &mut self.laxer,
            Shift::Stricter => &mut self.stricter,
        };
        if list.len() < LISTED {
            list.push(*change);
        }
    }
}

/// Judges every decision since a point in time under both policies.
pub(crate) fn replay(
    log: &Log,
    since_ms: u64,
    policies: &Policies<'_>,
    progress: impl FnMut(Progress),
) -> Result<Replayed> {
    let aftermath = Aftermath::read(log, since_ms)?;
    let mut replayed = Replayed::default();
    let work = |past: RecordedDecision| judged(&past, policies, &aftermath);
    let mut fault = None;
    let fold = |row: Result<ReplayedCall, String>| match row {
        Ok(row) => replayed.take(row),
        Err(problem) => fault = Some(problem),
    };
    let passed = stream::each(log, since_ms, work, fold, progress)?;
    if let Some(problem) = fault {
        anyhow::bail!(problem);
    }
    replayed.passed = passed;
    Ok(replayed)
}

/// What one decision adds.
struct ReplayedCall {
    time_ms: u64,
    category: String,
    before: Verdict,
    after: Verdict,
    shift: Option<Shift>,
    recorded: RecordMatch,
    change: Option<Box<ChangedVerdict>>,
    worth: Option<WorthChange>,
}

/// Compares the recorded judgement with the old policy's.
enum RecordMatch {
    /// It was made under another policy.
    Elsewhere,
    Same,
    Differs(CallId),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WorthChange {
    RegretAvoided,
    RegretAdded,
    FrictionAvoided,
    FrictionAdded,
}

fn judged(past: &RecordedDecision, policies: &Policies<'_>, aftermath: &Aftermath) -> Result<ReplayedCall, String> {
    let RecordedDecision { body, facts, time_ms, .. } = past;
    let pair = policies.for_decision(body)?;
    let (before, after, recorded) = match policies.baseline() {
        Baseline::OldPolicy => {
            let Comparison { before, after, .. } = compare(facts, &pair.old, &pair.new);
            (Ruling::of(&before), Ruling::of(&after), record_match(body, &before))
        }
        Baseline::Record => {
            let after = Ruling::of(&judge(facts, &pair.new));
            (decisions::stand(body, &after), after, RecordMatch::Elsewhere)
        }
    };
    let shift = before.shift_to(&after);
    let change = shift.map(|shift| Box::new(change(past, (&before, &after), shift, aftermath)));
    Ok(ReplayedCall {
        time_ms: *time_ms,
        category: body.category.clone().unwrap_or_else(|| "nothing".to_owned()),
        before: before.verdict,
        after: after.verdict,
        shift,
        recorded,
        worth: change.as_ref().and_then(|change| worth(change, aftermath)),
        change,
    })
}

fn change(
    past: &RecordedDecision,
    (before, after): (&Ruling, &Ruling),
    shift: Shift,
    aftermath: &Aftermath,
) -> ChangedVerdict {
    let body = &past.body;
    ChangedVerdict {
        sequence: past.sequence,
        time_ms: past.time_ms,
        id: body.id.clone(),
        agent: body.agent.clone().unwrap_or_default(),
        project: body.project.clone(),
        tool: body.tool.clone(),
        call: body.call.chars().take(SHOWN).collect(),
        category: body.category.clone().unwrap_or_else(|| "nothing".to_owned()),
        pattern: body.pattern.clone().unwrap_or_default(),
        before: before.clone(),
        after: after.clone(),
        shift,
        is_regret: aftermath.is_regret(&body.id),
        is_overridden: aftermath.is_overridden(&body.id),
        is_refused: aftermath.is_refused(&body.id),
    }
}

fn worth(change: &ChangedVerdict, aftermath: &Aftermath) -> Option<WorthChange> {
    let approved = |stand: &Ruling| stand.verdict == Verdict::AutoApprove;
    match (approved(&change.before), approved(&change.after)) {
        (true, false) if change.is_regret => Some(WorthChange::RegretAvoided),
        (true, false) => Some(WorthChange::FrictionAdded),
        (false, true) if change.is_regret || change.is_refused => Some(WorthChange::RegretAdded),
        (false, true) if change.is_overridden || aftermath.is_friction(&change.id) => {
            Some(WorthChange::FrictionAvoided)
        }
        (false, true) | (true, true) | (false, false) => None,
    }
}

/// Whether judging again gives exactly what is recorded, if it was made under the same policy.
fn record_match(body: &DecisionBody, judgement: &Judgement) -> RecordMatch {
    if !decisions::is_of_policy(body, &judgement.policy) {
        return RecordMatch::Elsewhere;
    }
    if decisions::says_the_same(body, judgement) { RecordMatch::Same } else { RecordMatch::Differs(body.id.clone()) }
}
