//! `doorward preview`: what doorward would have said about past calls. Installs nothing and records nothing.

mod groups;
mod show;

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use doorward_engine::{Facts, Judgement, Mechanism, Mode, Policy, ToolCall, Verdict, orders_something, spared};

use crate::desk::transcripts::{self, PastCall, TranscriptFile};
use crate::machine::agent::Agent;
use crate::machine::clock;
use crate::machine::key;
use crate::machine::paths::Dirs;
use crate::machine::world::project_root;
use crate::memory::evaluation;
use crate::memory::world::disk::DiskWorld;
use crate::policy::load::{self, Loaded};
use groups::Group;
pub(crate) use groups::common_start;

#[derive(Debug, Args)]
pub(crate) struct PreviewArguments {
    /// From this time on: 2026-11-15, "2026-11-15 09:30" (UTC), or an age such as 12h or 30d
    #[arg(long, default_value = "30d", value_name = "WHEN")]
    pub since: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const MONTH_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// Maximum number of kinds of calls that rules are tried on.
// Each kind is judged once per candidate rule, so this bounds the product; rarer kinds hardly change the numbers.
const TRIED: usize = 2000;

/// A past call, judged as if it were made now.
#[derive(Clone, Debug)]
pub(crate) struct PreviewedCall {
    pub agent: Agent,
    pub call: Rc<ToolCall>,
    pub facts: Rc<Facts>,
    pub judgement: Rc<Judgement>,
    pub project: Option<String>,
    /// What spared a question about it.
    pub spared: Vec<Mechanism>,
    /// How often it was made.
    pub times: u64,
}

/// What all transcripts contain.
#[derive(Debug, Default)]
pub(crate) struct TranscriptSummary {
    pub sessions: u64,
    pub malformed: u64,
    /// Calls that never reach a hook.
    pub unjudged: u64,
    pub judged: Vec<PreviewedCall>,
}

impl TranscriptSummary {
    pub(crate) fn count(&self, verdict: Verdict) -> u64 {
        self.judged.iter().filter(|judged| judged.judgement.verdict == verdict).map(|judged| judged.times).sum()
    }

    /// How many questions each mechanism spared.
    fn spared(&self) -> Vec<(Mechanism, u64)> {
        let count = |mechanism: Mechanism| {
            self.judged.iter().filter(|judged| judged.spared.contains(&mechanism)).map(|judged| judged.times).sum()
        };
        let mut counted: Vec<(Mechanism, u64)> = Mechanism::ALL.iter().map(|one| (*one, count(*one))).collect();
        counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counted
    }
}

pub(crate) fn run(arguments: &PreviewArguments) -> Result<ExitCode> {
    evaluation::silence_panics();
    let dirs = Dirs::find().map_err(anyhow::Error::msg)?;
    let since = clock::parse(&arguments.since, clock::now_ms()).map_err(anyhow::Error::msg)?;
    let mut judge = Judge::new(&dirs);
    let sources = transcripts::sources(&dirs, since);
    let is_watched = std::io::stderr().is_terminal();
    for (done, source) in sources.iter().enumerate() {
        judge.read(source, since);
        if is_watched {
            bar(done + 1, sources.len(), judge.calls);
        }
    }
    let seen = judge.take_summary();
    let groups = groups::of(&seen, &mut judge);
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", show::json(&seen, &groups, &transcripts::folders(&dirs)))?;
    } else {
        show::text(&mut out, &seen, &groups, &arguments.since)?;
        show::places(&mut out, &sources, &transcripts::folders(&dirs), dirs.home())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What allow patterns would have done to past calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SilencedCalls {
    calls: u64,
    asked: u64,
    silent: u64,
}

impl SilencedCalls {
    pub(crate) fn sentence(self) -> String {
        let SilencedCalls { calls, asked, silent } = self;
        match calls {
            0 => "your agents' transcripts from the last 30 days have no calls to try them on".to_owned(),
            _ => format!(
                "of {calls} calls in your transcripts from the last 30 days, doorward would ask about {asked}; these rules silence {silent} of those"
            ),
        }
    }
}

/// Tries allow patterns on the transcripts of the last 30 days.
pub(crate) fn silenced_by(dirs: &Dirs, patterns: &[String]) -> SilencedCalls {
    let since = clock::now_ms().saturating_sub(MONTH_MS);
    let mut judge = Judge::new(dirs);
    transcripts::sources(dirs, since).iter().for_each(|source| judge.read(source, since));
    let seen = judge.take_summary();
    let asked: Vec<&PreviewedCall> =
        seen.judged.iter().filter(|judged| judged.judgement.verdict == Verdict::Confirm).take(TRIED).collect();
    let mut silenced =
        SilencedCalls { calls: seen.judged.iter().map(|judged| judged.times).sum(), ..SilencedCalls::default() };
    for judged in asked {
        let allow = |loaded: &mut Loaded| loaded.config.permissions.allow.extend(patterns.iter().cloned());
        let is_silent = judge.would_be(judged, allow) == Verdict::AutoApprove;
        silenced.asked += judged.times;
        silenced.silent += if is_silent { judged.times } else { 0 };
    }
    silenced
}

/// A configuration and the policy that follows from it.
type Configured = Rc<(Loaded, Policy)>;

/// Judges past calls, each kind of call once.
pub(crate) struct Judge<'p> {
    dirs: &'p Dirs,
    configurations: HashMap<(Option<String>, &'static str), Configured>,
    projects: HashMap<String, Option<String>>,
    known: HashMap<String, usize>,
    judged: Vec<PreviewedCall>,
    seen: TranscriptSummary,
    calls: u64,
    /// Writes nothing to disk, not even a key.
    key: [u8; 16],
}

impl<'p> Judge<'p> {
    fn new(dirs: &'p Dirs) -> Judge<'p> {
        Judge {
            dirs,
            configurations: HashMap::new(),
            projects: HashMap::new(),
            known: HashMap::new(),
            judged: Vec::new(),
            seen: TranscriptSummary::default(),
            calls: 0,
            key: key::passing(),
        }
    }

    fn read(&mut self, source: &TranscriptFile, since: u64) {
        let found = transcripts::read(source, since);
        self.seen.malformed += found.malformed;
        let mut sessions: Vec<&str> = found.calls.iter().map(|call| call.session.as_str()).collect();
        sessions.sort_unstable();
        sessions.dedup();
        self.seen.sessions += sessions.len() as u64;
        for past in &found.calls {
            self.judge(past);
        }
    }

    fn judge(&mut self, past: &PastCall) {
        self.calls += 1;
        // The session's earlier history is unknown, so equal calls get equal verdicts.
        let said = past.said.clone().filter(|said| orders_something(said));
        let words = said.as_deref().unwrap_or_default();
        let fingerprint = format!("{}\0{}\0{}\0{}\0{words}", past.agent.name(), past.cwd, past.tool, past.input);
        if let Some(judged) = self.known.get(&fingerprint).and_then(|at| self.judged.get_mut(*at)) {
            judged.times += 1;
            return;
        }
        let Some(mut proposed) = past.proposed() else {
            self.seen.unjudged += 1;
            return;
        };
        proposed.call.user_message = said;
        let project = self.project(&proposed.call.cwd);
        let configured = self.configured(project.clone(), past.agent);
        let evaluation = self.consider(&proposed.call, project.clone(), &configured.0, &configured.1);
        self.known.insert(fingerprint, self.judged.len());
        let (facts, judgement) = (Rc::new(evaluation.facts), Rc::new(evaluation.judgement));
        let call = Rc::new(proposed.call);
        let spared = spared(&facts, &configured.1);
        self.judged.push(PreviewedCall { agent: past.agent, call, facts, judgement, project, spared, times: 1 });
    }

    fn consider(
        &self,
        call: &ToolCall,
        project: Option<String>,
        loaded: &Loaded,
        policy: &Policy,
    ) -> evaluation::Evaluation {
        let world =
            DiskWorld::new(self.dirs, &call.cwd, project, loaded).with_programs(loaded.own.programs).with_key(self.key);
        evaluation::evaluate(call, &world, policy)
    }

    fn project(&mut self, cwd: &str) -> Option<String> {
        self.projects.entry(cwd.to_owned()).or_insert_with(|| project_root(cwd)).clone()
    }

    /// The current configuration in mode `auto`, which is what a preview shows.
    fn configured(&mut self, project: Option<String>, agent: Agent) -> Configured {
        let dirs = self.dirs;
        let known = self.configurations.entry((project.clone(), agent.name()));
        let made = known.or_insert_with(|| {
            let loaded = load::load(dirs, project.as_deref(), agent.name());
            let policy = loaded.policy(Mode::Auto).unwrap_or_else(|_| Policy::built_in());
            Rc::new((loaded, policy))
        });
        Rc::clone(made)
    }

    fn take_summary(&mut self) -> TranscriptSummary {
        TranscriptSummary { judged: std::mem::take(&mut self.judged), ..std::mem::take(&mut self.seen) }
    }

    /// The verdict on a call under a changed configuration.
    pub(crate) fn would_be(&mut self, judged: &PreviewedCall, change: impl FnOnce(&mut Loaded)) -> Verdict {
        let configured = self.configured(judged.project.clone(), judged.agent);
        let mut loaded = configured.0.clone();
        change(&mut loaded);
        let Ok(policy) = loaded.policy(Mode::Auto) else { return judged.judgement.verdict };
        self.consider(&judged.call, judged.project.clone(), &loaded, &policy).judgement.verdict
    }
}

/// Shows reading progress on one line, which is cleared at the end.
fn bar(done: usize, of: usize, calls: u64) {
    const WIDTH: usize = 30;
    let filled = WIDTH * done / of.max(1);
    let (full, empty) = ("█".repeat(filled), "·".repeat(WIDTH - filled));
    let end = if done == of { "\r\x1b[K" } else { "" };
    // A closed terminal is no reason to stop.
    let _ = write!(std::io::stderr(), "\r{full}{empty} {done}/{of} transcripts, {calls} calls{end}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_made_often_is_judged_once_and_counted_each_time() {
        let home = tempfile::tempdir().unwrap();
        let dirs = Dirs::at(home.path().to_str().unwrap());
        let mut judge = Judge::new(&dirs);
        let past = |command: &str| PastCall {
            agent: Agent::Claude,
            session: "s".into(),
            cwd: "/".into(),
            tool: "Bash".into(),
            input: serde_json::json!({ "command": command }),
            id: None,
            time_ms: 1,
            ran: true,
            line: 1,
            said: None,
        };
        for command in ["ls", "rm -rf /", "ls"] {
            judge.judge(&past(command));
        }
        let seen = judge.take_summary();
        assert_eq!((seen.judged.len(), seen.count(Verdict::AutoApprove), seen.count(Verdict::Block)), (2, 2, 1));
    }
}
