//! `doorward status` on the screen: which agents are guarded and how, what happened lately, what needs an answer.

use std::io::Write;

use anyhow::Result;
use doorward_ledger::DecisionBody;

use super::{Counts, StatusFigures, Ticket, said};
use crate::desk::offers::Offer;
use crate::desk::setup;
use crate::desk::tune::Overdue;
use crate::machine::agent::Agent;
use crate::machine::clock;
use crate::machine::paths::Dirs;
use crate::machine::visible;
use crate::policy::client_rules;
use crate::policy::config::RunMode;
use crate::policy::load::Loaded;

/// How many alerts are shown; `doorward alerts` has all of them.
const ALERTS: usize = 3;

/// How many boundaries are shown.
const BOUND: usize = 8;

/// What is shown.
pub(super) struct Glance<'a> {
    pub dirs: &'a Dirs,
    pub loaded: &'a Loaded,
    pub project: Option<&'a str>,
    pub counts: &'a Counts,
    pub figures: &'a StatusFigures,
    pub last: Option<&'a DecisionBody>,
    pub pending: usize,
    pub tickets: &'a [Ticket],
    pub reviews: &'a [Overdue],
    pub upgraded: Option<&'a str>,
    pub offers: &'a [Offer],
    /// When a session began, what the user ruled out in it, and the orders that ended that.
    pub bound: &'a [(u64, String, Vec<String>)],
}

impl Glance<'_> {
    pub(super) fn print(&self, out: &mut dyn Write) -> Result<()> {
        for problem in &self.loaded.problems {
            writeln!(out, "problem: {}", visible(problem))?;
        }
        let agents = self.loaded.config.agents.keys().map(String::as_str);
        for fault in client_rules::faults(agents, self.dirs.home(), self.project) {
            writeln!(out, "problem: {}", visible(&fault.text))?;
        }
        for sentence in self.loaded.unaccepted_sentences() {
            writeln!(out, "not accepted yet: {}", visible(&sentence))?;
        }
        self.agents(out)?;
        let run = self.loaded.config.run.mode();
        if run != RunMode::Off {
            writeln!(out, "{:<12} {}: {}", "box", run.as_str(), run.what())?;
        }
        self.trust(out)?;
        let Counts { checked, confirmed, blocked, overridden } = self.counts;
        writeln!(
            out,
            "{checked} actions checked, {confirmed} asked about, {blocked} blocked, {overridden} overridden"
        )?;
        self.figures.print(out)?;
        if let Some(body) = self.last {
            let call: String = body.call.lines().next().unwrap_or_default().chars().take(60).collect();
            writeln!(out, "last: {} {}", said(body.verdict), visible(&call))?;
        }
        self.bound(out)?;
        self.wants(out)
    }

    fn bound(&self, out: &mut dyn Write) -> Result<()> {
        for (began, said, ended) in self.bound.iter().take(BOUND) {
            let orders: Vec<String> = ended.iter().map(|order| format!("“{}”", visible(order))).collect();
            let ended = if orders.is_empty() { String::new() } else { format!("; not for {}", orders.join(", ")) };
            writeln!(out, "you said: “{}”{ended} (session of {})", visible(said), clock::moment(*began))?;
        }
        Ok(())
    }

    fn agents(&self, out: &mut dyn Write) -> Result<()> {
        let config = &self.loaded.config;
        for name in config.agents.keys() {
            let mode = self.loaded.mode(name);
            let stage = self.loaded.stage(name).map(|stage| format!(" ({stage})")).unwrap_or_default();
            let agent = Agent::parse(name);
            let title = match agent {
                Some(agent) => agent.title(),
                None => name,
            };
            let questions = agent.map(|agent| setup::questions_of(agent, self.dirs, self.project, config));
            let questions = questions.filter(|_| mode.stops()).map(|text| format!("  {text}")).unwrap_or_default();
            writeln!(out, "{:<12} {mode}{stage}{}", visible(title), visible(&questions))?;
        }
        if config.agents.is_empty() {
            writeln!(out, "no agent is set up; run `doorward setup`")?;
        }
        Ok(())
    }

    fn trust(&self, out: &mut dyn Write) -> Result<()> {
        let (config, trust) = (&self.loaded.config, &self.loaded.trust);
        let here = match self.project {
            Some(project) if config.trusts(project) => "; this project is",
            Some(_) => "; this project is not: run `doorward trust`",
            None => "",
        };
        let counted = [
            (config.projects.trusted.len(), "project"),
            (trust.binaries.len(), "program"),
            (trust.domains.len(), "domain"),
            (trust.servers.len(), "tool server"),
        ];
        let shown = |(count, word): &(usize, &str)| format!("{count} {word}{}", if *count == 1 { "" } else { "s" });
        let trusted: Vec<String> = counted.iter().filter(|(count, _)| *count > 0).map(shown).collect();
        let trusted = if trusted.is_empty() { "nothing".to_owned() } else { trusted.join(", ") };
        writeln!(out, "trusted: {trusted}{here}")?;
        Ok(())
    }

    /// What the user can act on.
    fn wants(&self, out: &mut dyn Write) -> Result<()> {
        match self.pending {
            0 => {}
            1 => writeln!(out, "1 call is waiting for you: `doorward review`")?,
            many => writeln!(out, "{many} calls are waiting for you: `doorward review`")?,
        }
        let alerts = &self.figures.alerts;
        for alert in alerts.iter().take(ALERTS) {
            writeln!(out, "alert {}: {} ({})", alert.kind.word(), visible(&alert.text), alert.id)?;
        }
        if alerts.len() > ALERTS {
            writeln!(out, "and {} more alerts: `doorward alerts`", alerts.len() - ALERTS)?;
        }
        for offer in self.offers.iter().filter(|offer| offer.is_something()) {
            writeln!(out, "offer {}: {}", offer.id, visible(&offer.sentence()))?;
        }
        if let Some(sentence) = self.upgraded {
            writeln!(out, "{}; `doorward replay --upgrade` lists them", visible(sentence))?;
        }
        if let [ticket] = self.tickets {
            let pattern = visible(&ticket.pattern);
            writeln!(
                out,
                "you approved `{pattern}` {} times this week: `doorward tickets` suggests a rule",
                ticket.overrides
            )?;
        } else if !self.tickets.is_empty() {
            writeln!(out, "{} kinds of calls you keep approving: `doorward tickets`", self.tickets.len())?;
        }
        for review in self.reviews {
            writeln!(out, "{}", review.sentence())?;
        }
        Ok(())
    }
}
