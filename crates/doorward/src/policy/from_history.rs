//! Accepted offers: calls that run without a question, and patterns whose history lowers their layer 2 score.
//!
//! They are part of the authenticated accepted state, apply for 90 days in one project, and end with the first regret.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use doorward_engine::{AcceptedCall, AcceptedHistory};
use doorward_ledger::{Hash, PolicyBody};
use doorward_vocabulary::PatternId;
use serde::{Deserialize, Serialize};

use crate::machine::clock::{moment, now_ms};
use crate::machine::paths::Dirs;
use crate::machine::record::{LogEntry, Recorder};
use crate::policy::approved_config::{self, Accepted};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How long an accepted offer applies.
// A habit that is still one brings the offer back after three more answers (decision 0025).
pub(crate) const LASTS_MS: u64 = 90 * DAY_MS;

/// How long a declined offer is not made again.
// Asking again next week would be nagging someone into a looser rule.
pub(crate) const DECLINED_MS: u64 = 30 * DAY_MS;

/// More than anyone reads through.
// The list is read for every call and shown to a person; beyond this it can't be reviewed.
const MOST: usize = 256;

/// One accepted offer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AcceptedOffer {
    pub id: String,
    /// What "similar" means for the calls.
    pub pattern: PatternId,
    /// The project it applies in; everywhere for proposals of a monthly review.
    pub project: Option<String>,
    /// The calls that run without a question. `None` means that layer 2 only takes the pattern's history into account.
    pub calls: Option<CallMatch>,
    /// How often the user had approved such calls by then.
    pub let_run: u32,
    pub at_ms: u64,
    /// The entry of the record that says so.
    pub record: u64,
}

/// Which calls, bound to everything known about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallMatch {
    pub tool: String,
    pub texts: Vec<String>,
    pub kinds: Vec<String>,
    pub questions: Vec<String>,
}

/// All accepted and declined offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FromHistory {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    items: Vec<AcceptedOffer>,
    /// When offers were declined, by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    declined: BTreeMap<String, u64>,
}

impl AcceptedOffer {
    pub(crate) fn is_current(&self, now_ms: u64) -> bool {
        // Setting the clock back must not make it last longer.
        now_ms.abs_diff(self.at_ms) < LASTS_MS
    }

    fn counts_in(&self, project: Option<&str>, now_ms: u64) -> bool {
        let is_here = self.project.is_none() || self.project.as_deref() == project;
        is_here && self.is_current(now_ms)
    }

    pub(crate) fn date(&self) -> String {
        moment(self.at_ms).chars().take(10).collect()
    }

    /// The rule for the engine, if there is one.
    pub(crate) fn rule(&self) -> Option<AcceptedCall> {
        let (calls, project) = (self.calls.clone()?, self.project.clone()?);
        let CallMatch { tool, texts, kinds, questions } = calls;
        let because = format!(
            "you approved such calls {} times and accepted on {} that they run (`doorward rules withdraw {}` withdraws that)",
            self.let_run,
            self.date(),
            self.id
        );
        Some(AcceptedCall { tool, project, texts, kinds, questions, because })
    }

    /// What applies, in words.
    pub(crate) fn describe(&self) -> String {
        let place = self.project.as_deref().map(|project| format!(" in {project}")).unwrap_or_default();
        match &self.calls {
            Some(calls) => {
                let texts: Vec<String> = calls.texts.iter().map(|text| format!("`{}({text})`", calls.tool)).collect();
                format!("{}{place}", texts.join(", "))
            }
            None => format!("the history of `{}`{place}", self.pattern),
        }
    }
}

impl FromHistory {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.declined.is_empty()
    }

    pub(crate) fn items(&self) -> &[AcceptedOffer] {
        &self.items
    }

    /// The same with one more. An earlier acceptance under the same id keeps its texts and questions.
    #[must_use]
    pub(crate) fn with(mut self, item: AcceptedOffer) -> FromHistory {
        self.items.retain(|known| known.id != item.id || known.calls != item.calls);
        self.items.push(item);
        self
    }

    /// The rules that apply in a project.
    pub(crate) fn rules_in(&self, project: Option<&str>, now_ms: u64) -> Vec<AcceptedCall> {
        self.items.iter().filter(|item| item.counts_in(project, now_ms)).filter_map(AcceptedOffer::rule).collect()
    }

    /// The user accepted that this pattern's history counts in a project.
    pub(crate) fn weighs(&self, pattern: &str, project: Option<&str>, now_ms: u64) -> Option<&AcceptedOffer> {
        self.items
            .iter()
            .find(|item| item.calls.is_none() && item.pattern == pattern && item.counts_in(project, now_ms))
    }

    pub(crate) fn is_declined(&self, id: &str, now_ms: u64) -> bool {
        self.declined.get(id).is_some_and(|at| now_ms.abs_diff(*at) < DECLINED_MS)
    }

    /// When the user last answered an offer.
    pub(crate) fn last_ms(&self, id: &str) -> Option<u64> {
        let accepted = self.items.iter().filter(|item| item.id == id).map(|item| item.at_ms);
        accepted.chain(self.declined.get(id).copied()).max()
    }
}

/// The note about an accepted pattern, from its counts of 30 days.
pub(crate) fn weighed(item: &AcceptedOffer, (let_run, decisions): (u64, u64)) -> Option<AcceptedHistory> {
    let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    (let_run > 0).then(|| AcceptedHistory { let_run: number(let_run), decisions: number(decisions), on: item.date() })
}

/// The name of an offer: what it is about, and where.
pub(crate) fn id_of(pattern: &str, project: Option<&str>) -> String {
    let about = format!("{pattern}\n{}", project.unwrap_or_default());
    Hash::of(about.as_bytes()).to_string().chars().take(8).collect()
}

/// Applies it. INVARIANT: the record is durable before anything is loosened.
pub(crate) fn accept(dirs: &Dirs, mut item: AcceptedOffer, ledger: &mut dyn Recorder) -> Result<()> {
    let kept = Accepted::load(dirs).map_err(anyhow::Error::msg)?;
    if kept.history.items.len() >= MOST {
        bail!("at most {MOST} offers can be accepted; withdraw some first (`doorward rules accepted` lists them)");
    }
    (item.record, item.at_ms) = (record_change(ledger, "accepted", &item)?, now_ms());
    approved_config::change_history(dirs, |history| {
        history.declined.remove(&item.id);
        *history = std::mem::take(history).with(item);
    })
}

/// Remembers that the user declined an offer.
pub(crate) fn decline(dirs: &Dirs, item: &AcceptedOffer, ledger: &mut dyn Recorder) -> Result<()> {
    record_change(ledger, "declined", item)?;
    let now_ms = now_ms();
    approved_config::change_history(dirs, |history| {
        history.declined.retain(|_, at| now_ms.abs_diff(*at) < DECLINED_MS);
        while history.declined.len() >= MOST {
            history.declined.pop_first();
        }
        history.declined.insert(item.id.clone(), now_ms);
    })
}

/// Withdraws an accepted offer; returns what no longer applies.
pub(crate) fn withdraw(dirs: &Dirs, id: &str, ledger: &mut dyn Recorder) -> Result<Vec<AcceptedOffer>> {
    let gone = end(dirs, "taken back", ledger, |item| item.id == id)?;
    if gone.is_empty() {
        bail!("no accepted offer has the id `{id}`; `doorward rules accepted` lists them");
    }
    Ok(gone)
}

/// Ends what has expired, so that the record says so.
pub(crate) fn sweep(dirs: &Dirs, ledger: &mut dyn Recorder) -> Result<()> {
    let now_ms = now_ms();
    end(dirs, "lapsed after 90 days", ledger, |item| !item.is_current(now_ms)).map(drop)
}

/// A call was reverted or flagged: accepted offers for similar calls end.
pub(crate) fn regretted(dirs: &Dirs, pattern: &str, project: Option<&str>, ledger: &mut dyn Recorder) -> Result<()> {
    let is_about = |item: &AcceptedOffer| {
        let is_here = item.project.is_none() || item.project.as_deref() == project;
        let is_kind = |calls: &CallMatch| calls.kinds.iter().any(|kind| kind == pattern);
        is_here && (item.pattern == pattern || item.calls.as_ref().is_some_and(is_kind))
    };
    end(dirs, "void: a call like it was regretted", ledger, is_about).map(drop)
}

fn end(
    dirs: &Dirs,
    why: &str,
    ledger: &mut dyn Recorder,
    is_over: impl Fn(&AcceptedOffer) -> bool,
) -> Result<Vec<AcceptedOffer>> {
    let kept = Accepted::load(dirs).map_err(anyhow::Error::msg)?;
    let gone: Vec<AcceptedOffer> = kept.history.items.iter().filter(|item| is_over(item)).cloned().collect();
    for item in &gone {
        record_change(ledger, why, item)?;
    }
    if !gone.is_empty() {
        approved_config::change_history(dirs, |history| history.items.retain(|item| !gone.contains(item)))?;
    }
    Ok(gone)
}

/// Records it; returns the entry.
fn record_change(ledger: &mut dyn Recorder, how: &str, item: &AcceptedOffer) -> Result<u64> {
    let body = PolicyBody {
        what: format!("out of history {}, {how}: {}", item.id, item.describe()),
        before: Some(item.pattern.clone().into()),
        after: item.calls.as_ref().map(|calls| format!("questions: {}", calls.questions.join(", "))),
        user: crate::machine::user(),
        project: item.project.clone(),
    };
    let receipt = ledger.append(LogEntry::new(&body)?).context("can't record the change, so nothing was changed")?;
    Ok(receipt.sequence)
}
