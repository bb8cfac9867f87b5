//! The current state: `doorward status`, `denials`, `reset` and `tickets`.

mod cover;
mod glance;
mod reset;
mod ticket;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use doorward_ledger::{Alert, DecisionBody, Filter, Index, Kind, Row, Share};
use doorward_vocabulary::Verdict;
use serde_json::{Value, json};

use crate::desk::audit::list;
use crate::desk::offers::Offer;
use crate::desk::replay::upgrade;
use crate::desk::screen;
use crate::desk::setup;
use crate::machine::agent::Agent;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::record;
use crate::machine::visible;
use crate::machine::world::project_root;
use crate::memory::grants::store::GrantStore;
use crate::memory::ledger_view::LedgerView;
use crate::memory::session;
use crate::policy::load::{self, Loaded};
use glance::Glance;

pub(crate) use reset::{ResetArguments, reset};
pub(crate) use ticket::{Ticket, TicketsArguments, open as open_tickets, overdue as overdue_tickets, tickets};

/// How far back overrides are shown.
const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// Boundaries of sessions that began longer ago are not shown.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How many recent denials are shown.
const RECENT: u32 = 12;

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DenialsArguments {
    /// Maximum number to list
    #[arg(long, default_value_t = RECENT, value_name = "COUNT")]
    pub limit: u32,
    /// Only this session
    #[arg(long)]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Lists the last calls that were blocked.
pub(crate) fn denials(arguments: &DenialsArguments) -> Result<ExitCode> {
    let view = LedgerView::open(Dirs::find().map_err(anyhow::Error::msg)?)?;
    let filter = Filter { session: arguments.session.clone(), ..blocked(arguments.limit) };
    let rows = view.index()?.list(&filter)?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let listed: Vec<Value> = rows.iter().map(|row| denial(&view, row)).collect();
        writeln!(out, "{:#}", Value::Array(listed))?;
        return Ok(ExitCode::SUCCESS);
    }
    rows.iter().try_for_each(|row| list::line(&mut out, row))?;
    if rows.is_empty() {
        writeln!(out, "no calls were blocked")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Before the first setup there is no record; JSON output still has every field.
fn before_setup(loaded: &Loaded, json: bool) -> Result<ExitCode> {
    let mut out = anstream::stdout().lock();
    if json {
        let none: [Value; 0] = [];
        let shown = json!({
            "agents": {}, "questions": {}, "problems": loaded.problems, "unaccepted": loaded.unaccepted_sentences(),
            "strict": loaded.config.strict, "run": loaded.config.run.mode().as_str(),
            "trusted": { "projects": loaded.config.projects.trusted, "binaries": loaded.trust.binaries.len(),
                "domains": loaded.trust.domains, "servers": loaded.trust.servers.len() },
            "checkedActions": 0, "blockedActions": 0, "confirmedActions": 0, "overriddenActions": 0, "unavailableActions": 0,
            "reviewer": { "model": loaded.config.reviewer.model, "cleared": 0, "declined": 0, "unavailable": 0 },
            "overridesByUser": none, "alerts": none, "undelivered": none, "lastDecision": null, "lastReason": null,
            "denials": none, "pending": 0, "overdueReviews": none, "overdueTuning": none, "upgrade": null, "offers": none, "boundaries": none,
        });
        writeln!(out, "{shown:#}")?;
    } else {
        let how = "run `doorward setup`, or `doorward preview` to see what it would do";
        writeln!(out, "doorward is not set up yet: {how}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows how things stand.
pub(crate) fn status(arguments: &StatusArguments) -> Result<ExitCode> {
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let here = std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok());
    let project = here.as_deref().and_then(project_root);
    let loaded = load::load(&dirs, project.as_deref(), "");
    let pending = GrantStore::open_at(&dirs).map(|store| store.open_calls().len()).unwrap_or_default();
    if !record::directory(&dirs).exists() {
        return before_setup(&loaded, arguments.json);
    }
    let view = LedgerView::open(dirs)?;
    let index = view.index()?;
    let counts = Counts::of(&index)?;
    let last = last(&view, &index)?;
    let recent = index.list(&blocked(RECENT))?;
    let overdue = ticket::overdue(&index)?;
    let offers = crate::desk::offers::open(&view, &index)?;
    let reviews = crate::desk::tune::overdue(&index, clock::now_ms())?;
    let figures = StatusFigures::of(&index, &view.dirs)?;
    let upgraded = upgrade::waiting(&view, screen::bar())?.map(|waiting| waiting.sentence());
    let bound = recently_bound(&view.dirs);
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let agents: Value = modes(&loaded).into_iter().map(|(name, mode)| (name, Value::from(mode))).collect();
        let asked = |agent: Agent| setup::questions_of(agent, &view.dirs, project.as_deref(), &loaded.config);
        let named = loaded.config.agents.keys().filter_map(|name| Agent::parse(name));
        let questions: Value = named.map(|agent| (agent.name().to_owned(), Value::from(asked(agent)))).collect();
        let shown = json!({
            "agents": agents, "questions": questions, "problems": loaded.problems, "unaccepted": loaded.unaccepted_sentences(), "strict": loaded.config.strict,
            "run": loaded.config.run.mode().as_str(),
            "trusted": { "projects": loaded.config.projects.trusted, "binaries": loaded.trust.binaries.len(),
                "domains": loaded.trust.domains, "servers": loaded.trust.servers.len() },
            "checkedActions": counts.checked, "blockedActions": counts.blocked, "confirmedActions": counts.confirmed,
            "overriddenActions": counts.overridden, "unavailableActions": figures.unavailable,
            "reviewer": { "model": loaded.config.reviewer.model, "cleared": figures.said("allow"),
                "declined": figures.said("block"), "unavailable": figures.said("unavailable") },
            "overridesByUser": figures.overrides.iter().map(|user| json!({ "user": user.name, "overrides": user.overridden,
                "decisions": user.decisions, "rate": user.override_rate })).collect::<Vec<Value>>(),
            "alerts": figures.alerts, "undelivered": figures.undelivered,
            "lastDecision": last.as_ref().map(|body| said(body.verdict)),
            "lastReason": last.as_ref().and_then(|body| body.reasons.first()),
            "denials": recent.iter().map(|row| denial(&view, row)).collect::<Vec<Value>>(),
            "pending": pending, "overdueReviews": overdue, "overdueTuning": reviews, "upgrade": upgraded,
            "offers": offers.iter().map(Offer::to_json).collect::<Vec<Value>>(),
            "boundaries": bound.iter().map(|(began, said, ended)| json!({ "began": clock::moment(*began), "said": said,
                "endedBy": ended })).collect::<Vec<Value>>(),
        });
        writeln!(out, "{shown:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let glance = Glance {
        dirs: &view.dirs,
        loaded: &loaded,
        project: project.as_deref(),
        counts: &counts,
        figures: &figures,
        last: last.as_ref(),
        pending,
        tickets: &overdue,
        reviews: &reviews,
        upgraded: upgraded.as_deref(),
        offers: &offers,
        bound: &bound,
    };
    glance.print(&mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// What the user ruled out in sessions that are likely still open.
fn recently_bound(dirs: &Dirs) -> Vec<(u64, String, Vec<String>)> {
    let since = clock::now_ms().saturating_sub(DAY_MS);
    let mut bound = session::bound(dirs);
    bound.retain(|(began, ..)| *began >= since);
    bound
}

/// What the last thirty days say.
struct StatusFigures {
    unavailable: u64,
    /// How the reviewer answered.
    reviews: Vec<(String, u64)>,
    /// Users who have let something run.
    overrides: Vec<Share>,
    alerts: Vec<Alert>,
    /// Alerts that could not be delivered, in sentences.
    undelivered: Vec<String>,
}

impl StatusFigures {
    fn of(index: &Index, dirs: &Dirs) -> Result<StatusFigures> {
        let now_ms = clock::now_ms();
        let metrics = index.metrics(now_ms.saturating_sub(MONTH_MS), now_ms)?;
        let mut overrides = metrics.users;
        overrides.retain(|user| user.overridden > 0);
        Ok(StatusFigures {
            unavailable: metrics.unavailable,
            reviews: metrics.reviews,
            overrides,
            alerts: crate::memory::alerts::standing(index, now_ms)?,
            undelivered: crate::desk::notify::undelivered(dirs),
        })
    }

    /// How often the reviewer gave this answer.
    fn said(&self, word: &str) -> u64 {
        self.reviews.iter().filter(|(answer, _)| answer == word).map(|(_, count)| count).sum()
    }

    fn print(&self, out: &mut dyn Write) -> Result<()> {
        if self.unavailable > 0 {
            writeln!(
                out,
                "{} questions in 30 days came when no one could answer; they don't count as denials",
                self.unavailable
            )?;
        }
        if !self.reviews.is_empty() {
            let (cleared, declined, unavailable) = (self.said("allow"), self.said("block"), self.said("unavailable"));
            writeln!(
                out,
                "in 30 days the reviewer cleared {cleared} questions and left {declined} to you; it was unavailable {unavailable} times, which doesn't count as a denial"
            )?;
        }
        for user in &self.overrides {
            // Most machines have one user, whose number says nothing.
            let is_me = user.name == rustix::process::geteuid().as_raw().to_string();
            let who = if is_me { "you".to_owned() } else { format!("user {}", visible(&screen::user(&user.name))) };
            let (ran, all, rate) = (user.overridden, user.decisions, user.override_rate * 100.0);
            writeln!(out, "{who} overrode {ran} of {all} calls in 30 days ({rate:.0} %)")?;
        }
        for sentence in &self.undelivered {
            writeln!(out, "{}", visible(sentence))?;
        }
        Ok(())
    }
}

/// Counts over the whole record.
struct Counts {
    checked: u64,
    confirmed: u64,
    blocked: u64,
    overridden: u64,
}

impl Counts {
    fn of(index: &Index) -> Result<Counts> {
        let stats = index.stats(&Filter { kind: Some(Kind::Decision), ..Filter::default() })?;
        let sum = |part: fn(&doorward_ledger::CategoryStats) -> u64| stats.categories.iter().map(part).sum();
        Ok(Counts {
            checked: sum(|of| of.decisions),
            confirmed: sum(|of| of.confirmed),
            blocked: sum(|of| of.blocked),
            overridden: sum(|of| of.overridden),
        })
    }
}

fn blocked(limit: u32) -> Filter {
    Filter { kind: Some(Kind::Decision), verdict: Some(Verdict::Block), limit: Some(limit), ..Filter::default() }
}

fn modes(loaded: &Loaded) -> Vec<(String, String)> {
    let names = loaded.config.agents.keys();
    names.map(|name| (name.clone(), loaded.mode(name).as_str().to_owned())).collect()
}

/// In the clients' words; a question is neither.
const fn said(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::AutoApprove => "allow",
        Verdict::Confirm => "ask",
        Verdict::Block => "block",
    }
}

fn body(view: &LedgerView, sequence: u64) -> Option<DecisionBody> {
    let record = view.log.record(sequence).ok().flatten()?;
    serde_json::from_slice(&record.body?).ok()
}

fn last(view: &LedgerView, index: &Index) -> Result<Option<DecisionBody>> {
    let filter = Filter { kind: Some(Kind::Decision), limit: Some(1), ..Filter::default() };
    Ok(index.list(&filter)?.first().and_then(|row| body(view, row.sequence)))
}

fn denial(view: &LedgerView, row: &Row) -> Value {
    let reason = body(view, row.sequence).and_then(|body| body.reasons.into_iter().next());
    json!({
        "timestamp": clock::moment(row.time_ms), "tool": row.tool, "reason": reason, "summary": row.text,
        "kind": row.violation, "session": row.session, "decision": row.id,
    })
}
