//! Everything the report needs, read once: configuration, policy, figures from the record.

use anyhow::{Context, Result};
use doorward_engine::{Mode, Policy};
use doorward_ledger::{
    Alert, AlertKind, CategoryStats, DecisionBody, Filter, Index, Kind, LogError, Metrics, Regret, Row, RuleOverrides,
};
use doorward_vocabulary::Verdict;

use crate::desk::audit::verified_watched;
use crate::desk::rollout::view::RolloutView;
use crate::desk::status::{Ticket, open_tickets};
use crate::machine::agent::Agent;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::memory::grants::store::GrantStore;
use crate::memory::ledger_view::{LedgerView, Verified};
use crate::memory::session::TRIAL;
use crate::policy::load::{self, Loaded};

pub(super) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The number of days all figures cover.
pub(super) const DAYS: u64 = 30;

/// Calls of the timeline.
const LATEST: u32 = 60;

/// Characters of a call in the timeline.
const CALL: usize = 160;

/// Regretted approvals whose confidence is looked up.
// Each lookup reads one body from the log; beyond this a report would take minutes after a bad month.
const LOOKED_UP: usize = 200;

/// What the report is made from.
pub(super) struct Gathered {
    pub loaded: Loaded,
    pub policy: Policy,
    pub now_ms: u64,
    /// `None` if nothing has been recorded yet.
    pub record: Option<RecordFigures>,
    /// What is being rolled out, or why that is unknown.
    pub rollout: Result<Vec<RolloutView>, String>,
}

/// The figures of the record.
pub(super) struct RecordFigures {
    pub metrics: Metrics,
    /// Days with decisions, oldest first.
    pub days: Vec<Day>,
    pub agents: Vec<AgentFigures>,
    pub alerts: Vec<Alert>,
    pub tickets: Vec<Ticket>,
    /// Overdue reviews.
    pub overdue: Vec<String>,
    pub regrets: Vec<RegrettedApproval>,
    pub overridden_rules: Vec<RuleOverrides>,
    /// Calls waiting for an answer.
    pub pending: usize,
    pub verified: Verified,
    /// The last calls, oldest first.
    pub latest: Vec<LatestCall>,
    /// Median judging time in microseconds.
    pub median_us: Option<u64>,
}

/// A call, for the timeline.
pub(super) struct LatestCall {
    pub time_ms: u64,
    pub agent: String,
    pub tool: String,
    pub call: String,
    pub verdict: Verdict,
    /// The decisive reason.
    pub why: String,
}

/// One day, in UTC.
pub(super) struct Day {
    pub start_ms: u64,
    pub sums: DecisionSums,
    pub p50_us: Option<u64>,
    pub p99_us: Option<u64>,
}

pub(super) struct AgentFigures {
    pub agent: Agent,
    pub sums: DecisionSums,
}

/// A regretted approval, and how sure layer 2 was of it.
pub(super) struct RegrettedApproval {
    pub regret: Regret,
    pub confidence: Option<f64>,
}

/// Decisions of all categories together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DecisionSums {
    pub decisions: u64,
    pub approved: u64,
    pub confirmed: u64,
    pub blocked: u64,
    pub overridden: u64,
}

impl DecisionSums {
    fn of(categories: &[CategoryStats]) -> DecisionSums {
        let sum = |part: fn(&CategoryStats) -> u64| categories.iter().map(part).sum();
        DecisionSums {
            decisions: sum(|of| of.decisions),
            approved: sum(|of| of.approved),
            confirmed: sum(|of| of.confirmed),
            blocked: sum(|of| of.blocked),
            overridden: sum(|of| of.overridden),
        }
    }

    /// No decisions, so there is no rate.
    pub(super) fn approval_rate(&self) -> Option<f64> {
        (self.decisions > 0).then(|| self.approved as f64 / self.decisions as f64)
    }
}

impl Gathered {
    pub(super) fn new(dirs: Dirs) -> Result<Gathered> {
        let now_ms = clock::now_ms();
        // Pi reads all files there are.
        let loaded = load::load(&dirs, None, "pi");
        let policy = loaded.policy(Mode::Auto).map_err(anyhow::Error::msg)?;
        let record = match doorward_ledger::Log::open(&record::directory(&dirs)) {
            Err(LogError::Missing { .. }) => None,
            Err(error) => return Err(error).context("can't open the record"),
            Ok(log) => {
                let view = LedgerView { dirs: dirs.clone(), log };
                Some(RecordFigures::new(&view, now_ms, verified_watched(&dirs)?)?)
            }
        };
        let rollout = match record {
            Some(_) => crate::desk::rollout::view::views(&dirs).map_err(|error| format!("{error:#}")),
            None => Ok(Vec::new()),
        };
        Ok(Gathered { loaded, policy, now_ms, record, rollout })
    }

    /// The agents that have a mode, or calls on record.
    pub(super) fn agents(&self) -> Vec<Agent> {
        let has_mode = |agent: &Agent| self.loaded.config.agents.contains_key(agent.name());
        let seen = self.record.iter().flat_map(|record| &record.agents);
        let seen: Vec<Agent> = seen.filter(|of| of.sums.decisions > 0).map(|of| of.agent).collect();
        Agent::ALL.into_iter().filter(|agent| has_mode(agent) || seen.contains(agent)).collect()
    }

    /// How many alerts of a kind are open.
    pub(super) fn standing(&self, kind: AlertKind) -> usize {
        let chain = self.record.iter().filter(|record| kind == AlertKind::Chain && !record.verified.report.holds());
        let alerts = self.record.iter().flat_map(|record| &record.alerts);
        alerts.filter(|alert| alert.kind == kind).count() + chain.count()
    }
}

impl RecordFigures {
    pub(super) fn new(view: &LedgerView, now_ms: u64, verified: Verified) -> Result<RecordFigures> {
        let since_ms = now_ms.saturating_sub(DAYS * DAY_MS);
        let index = view.index()?;
        let metrics = index.metrics(since_ms, now_ms)?;
        let mut regrets = Vec::new();
        for (number, regret) in index.regretted(since_ms)?.into_iter().enumerate() {
            let confidence = if number < LOOKED_UP { confidence(view, regret.sequence) } else { None };
            regrets.push(RegrettedApproval { regret, confidence });
        }
        Ok(RecordFigures {
            days: days(&index, now_ms)?,
            agents: agents(&index, since_ms)?,
            alerts: crate::memory::alerts::standing(&index, now_ms)?,
            tickets: open_tickets(&index)?,
            overdue: crate::desk::tune::overdue(&index, now_ms)?.iter().map(|review| review.sentence()).collect(),
            overridden_rules: index.overridden_rules(since_ms)?,
            pending: GrantStore::open_at(&view.dirs).map(|store| store.open_calls().len()).unwrap_or_default(),
            verified,
            latest: latest(view, &index)?,
            median_us: index.stats(&decisions(since_ms))?.latency_p50_us,
            metrics,
            regrets,
        })
    }
}

fn decisions(since_ms: u64) -> Filter {
    Filter { kind: Some(Kind::Decision), since_ms: Some(since_ms), ..Filter::default() }
}

/// The last recorded calls. Calls with dropped bodies are listed without their text.
fn latest(view: &LedgerView, index: &Index) -> Result<Vec<LatestCall>> {
    let filter = Filter { limit: Some(LATEST), ..decisions(0) };
    let mut found = Vec::new();
    let is_trial = |row: &Row| row.session.as_deref().is_some_and(|session| session.starts_with(TRIAL));
    for row in index.list(&filter)?.into_iter().filter(|row| !is_trial(row)) {
        let record = view.log.record(row.sequence).ok().flatten();
        let body: Option<DecisionBody> = record.and_then(|record| serde_json::from_slice(&record.body?).ok());
        let (call, verdict, why) = match body {
            Some(body) => (body.call, body.verdict, body.reasons.into_iter().next().unwrap_or_default()),
            None => (String::new(), verdict(row.verdict.as_deref()), String::new()),
        };
        let call = call.lines().next().unwrap_or_default().chars().take(CALL).collect();
        let (agent, tool) = (row.agent.unwrap_or_default(), row.tool.unwrap_or_default());
        found.push(LatestCall { time_ms: row.time_ms, agent, tool, call, verdict, why });
    }
    found.reverse();
    Ok(found)
}

fn verdict(word: Option<&str>) -> Verdict {
    match word {
        Some("approve") => Verdict::AutoApprove,
        Some("block") => Verdict::Block,
        Some(_) | None => Verdict::Confirm,
    }
}

fn confidence(view: &LedgerView, sequence: u64) -> Option<f64> {
    let record = view.log.record(sequence).ok().flatten()?;
    let body: DecisionBody = serde_json::from_slice(&record.body?).ok()?;
    body.layer2.map(|layer| layer.confidence)
}

/// The days of the window, from the first one with a decision on.
fn days(index: &Index, now_ms: u64) -> Result<Vec<Day>> {
    let today = now_ms / DAY_MS;
    let mut days: Vec<Day> = Vec::new();
    for day in today.saturating_sub(DAYS - 1)..=today {
        let (start_ms, end_ms) = (day * DAY_MS, (day + 1) * DAY_MS);
        let filter = Filter {
            kind: Some(Kind::Decision),
            since_ms: Some(start_ms),
            until_ms: Some(end_ms),
            ..Filter::default()
        };
        let stats = index.stats(&filter)?;
        let sums = DecisionSums::of(&stats.categories);
        if sums.decisions > 0 || !days.is_empty() {
            days.push(Day { start_ms, sums, p50_us: stats.latency_p50_us, p99_us: stats.latency_p99_us });
        }
    }
    Ok(days)
}

fn agents(index: &Index, since_ms: u64) -> Result<Vec<AgentFigures>> {
    let mut found = Vec::new();
    for agent in Agent::ALL {
        let filter = Filter {
            kind: Some(Kind::Decision),
            agent: Some(agent.name().to_owned()),
            since_ms: Some(since_ms),
            ..Filter::default()
        };
        found.push(AgentFigures { agent, sums: DecisionSums::of(&index.stats(&filter)?.categories) });
    }
    Ok(found)
}
