//! `doorward check`: judges calls without running or recording them.

mod answer;
mod arguments;
mod here;
mod lines;
mod request;
mod stats;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use doorward_engine::{
    DescribedWorld, Description, Effect, Mark, Mode, Policy, ToolCall, Verdict, World, obstacles, snapshot,
    tool_from_json,
};
use serde_json::{Value, json};

pub(crate) use answer::CheckAnswer;
pub(crate) use arguments::CheckArguments;
use here::Forecast;
use lines::{Line, Lines};
pub(crate) use request::CheckRequest;
use stats::Stats;

use crate::desk::screen;
use crate::hook::agents::ProposedCall;
use crate::hook::agents::shells::ThisMachine;
use crate::hook::entry;
use crate::machine::agent::Agent;
use crate::machine::paths::Dirs;
use crate::machine::record::{Ledger, Recorder};
use crate::machine::world::project_root;
use crate::memory::call_ids;
use crate::memory::evaluation::{self, Decided, Evaluation};
use crate::memory::world::disk::DiskWorld;
use crate::policy::load;
use crate::policy::snapshot_limits::Snapshots;

/// Runs the command.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode> {
    evaluation::silence_panics();
    let mut checker = Checker::new(arguments)?;
    match &arguments.jsonl {
        Some(path) => many(&mut checker, path, arguments),
        None => check_one(&mut checker, arguments),
    }
}

/// Judges requests, each in its own world, in the one for all, or on this machine.
struct Checker {
    world: Option<Description>,
    built_in: Policy,
    cwd: String,
    ledger: Option<Ledger>,
}

impl Checker {
    fn new(arguments: &CheckArguments) -> Result<Checker> {
        let world = arguments.world.as_deref().map(read_world).transpose()?;
        let cwd = match (&arguments.cwd, world.as_ref().and_then(|world| world.project.clone())) {
            (Some(cwd), _) => cwd.clone(),
            (None, Some(project)) => project,
            (None, None) => current_directory()?,
        };
        if !cwd.starts_with('/') {
            bail!("the directory `{cwd}` is not an absolute path");
        }
        // Calls from a file may describe their own machine.
        if world.is_none() && arguments.jsonl.is_none() && !Path::new(&cwd).is_dir() {
            bail!("the directory `{cwd}` does not exist, so no call could run there");
        }
        let ledger =
            if arguments.record { Some(Ledger::open(&Dirs::find().map_err(anyhow::Error::msg)?)) } else { None };
        Ok(Checker { world, built_in: Policy::built_in(), cwd, ledger })
    }

    fn consider(&mut self, request: CheckRequest) -> Result<Evaluation, String> {
        let evaluation = match request.world.clone().or_else(|| self.world.clone()) {
            Some(description) => self.in_description(&request, description)?,
            None => on_this_machine(&request)?,
        };
        self.record(request, evaluation)
    }

    /// Writes the requested record.
    fn record(&mut self, request: CheckRequest, evaluation: Evaluation) -> Result<Evaluation, String> {
        let (root, mode) = (request.root.clone(), request.mode);
        let decided = Decided::bare(evaluation, mode);
        if let Some(ledger) = &mut self.ledger {
            let proposed = ProposedCall::bare(request.call);
            let placed = entry::DecisionContext { project: root.as_deref(), words: &BTreeMap::new() };
            let entry = entry::decision(&call_ids::own_name(), &proposed, &decided, placed)
                .map_err(|error| error.to_string())?;
            let _receipt = ledger.append(entry).map_err(|error| format!("can't record the decision: {error:#}"))?;
        }
        Ok(decided.evaluation)
    }

    fn in_description(&self, request: &CheckRequest, mut description: Description) -> Result<Evaluation, String> {
        if description.project.is_none() {
            description.project = request.root.clone();
        }
        let evaluate = if description.snapshots { evaluate_with_copies } else { evaluate };
        let world = DescribedWorld::new(description, &request.call.cwd);
        if let Some(config) = &request.config {
            let world = world.with_settings(config.settings());
            return Ok(evaluate(&request.call, &world, &config.policy(request.mode)?));
        }
        if self.built_in.mode == request.mode {
            return Ok(evaluate(&request.call, &world, &self.built_in));
        }
        let policy = Policy { mode: request.mode, ..self.built_in.clone() };
        Ok(evaluate(&request.call, &world, &policy))
    }
}

/// The same where copies are made of what a call would lose: one that approves after the copy is approved.
fn evaluate_with_copies(call: &ToolCall, world: &dyn World, policy: &Policy) -> Evaluation {
    let evaluation = evaluate(call, world, policy);
    let limits = Snapshots::default().limits();
    // What cannot be counted may be too much.
    let fits = |effect: &Effect| {
        let amount = effect.amount.unwrap_or_default();
        !effect.marks.has(Mark::CountUnknown) && amount.files <= limits.files && amount.bytes <= limits.bytes
    };
    let copied = evaluation.once_copied(policy).filter(|copied| copied.judgement.verdict == Verdict::AutoApprove);
    match copied {
        Some(copied) if evaluation.facts.effects.iter().filter(|effect| snapshot::lost(effect).is_some()).all(fits) => {
            evaluation.with_facts(copied.facts, policy)
        }
        Some(_) | None => evaluation,
    }
}

/// Judges a call, and again as if what it would lose were snapshotted first.
fn evaluate(call: &ToolCall, world: &dyn World, policy: &Policy) -> Evaluation {
    let mut evaluation = evaluation::evaluate(call, world, policy);
    if evaluation.judgement.verdict != Verdict::AutoApprove && policy.mode == Mode::Auto {
        evaluation.if_copied = evaluation.once_copied(policy).map(|copied| copied.judgement.verdict);
        evaluation.obstacles = Some(obstacles(&evaluation.facts, &evaluation.judgement, policy));
    }
    evaluation
}

/// Judges on this machine, under the user's configuration plus the request's own.
fn on_this_machine(request: &CheckRequest) -> Result<Evaluation, String> {
    let dirs = Dirs::find()?;
    let project = request.root.clone().or_else(|| project_root(&request.call.cwd));
    let mut loaded = load::load(&dirs, project.as_deref(), &request.call.agent);
    loaded.tell_problems();
    if let Some(own) = &request.config {
        loaded.config = loaded.config.overruled_by(own.clone());
    }
    let shell = Agent::parse(&request.call.agent).map(|agent| agent.shell(&ThisMachine)).unwrap_or_default();
    let world = DiskWorld::new(&dirs, &request.call.cwd, project, &loaded)
        .with_programs(loaded.own.programs)
        .with_shell(shell)
        .with_key(crate::machine::key::kept_or_passing(&dirs.state()));
    Ok(evaluate(&request.call, &world, &loaded.policy(request.mode)?))
}

fn check_one(checker: &mut Checker, arguments: &CheckArguments) -> Result<ExitCode> {
    let request = single(checker, arguments)?;
    if arguments.bare || checker.world.is_some() {
        let evaluation = checker.consider(request).map_err(anyhow::Error::msg)?;
        return show(&evaluation, None, arguments);
    }
    let mut foreseen = here::foresee(&request, &here::Circumstances::new(arguments)).map_err(anyhow::Error::msg)?;
    foreseen.evaluation = checker.record(request, foreseen.evaluation).map_err(anyhow::Error::msg)?;
    show(&foreseen.evaluation, Some(&foreseen), arguments)
}

fn show(evaluation: &Evaluation, foreseen: Option<&Forecast>, arguments: &CheckArguments) -> Result<ExitCode> {
    let verdict = foreseen.map_or(evaluation.judgement.verdict, Forecast::verdict);
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", single_json(evaluation, foreseen, arguments)?)?;
        return Ok(ExitCode::from(exit_code(verdict)));
    }
    if foreseen.is_some_and(|foreseen| foreseen.granted) {
        writeln!(out, "APPROVE, because you approved it; otherwise it would be:")?;
    }
    screen::judgement(&mut out, evaluation)?;
    let faint = anstyle::Style::new().dimmed();
    for sentence in foreseen.map(Forecast::sentences).unwrap_or_default() {
        writeln!(out, "{faint}{}{faint:#}", crate::machine::visible(&sentence))?;
    }
    if arguments.explain {
        screen::explanation(&mut out, evaluation)?;
    }
    Ok(ExitCode::from(exit_code(verdict)))
}

/// The exit code that stands for a verdict.
pub(crate) fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::AutoApprove => 0,
        Verdict::Confirm => 10,
        Verdict::Block => 20,
    }
}

fn single(checker: &Checker, arguments: &CheckArguments) -> Result<CheckRequest> {
    let input = match (&arguments.command, &arguments.input) {
        (Some(command), None) => json!({ "command": command }),
        (None, Some(input)) => crate::machine::json::parse(input.as_bytes())
            .map_err(|error| anyhow::anyhow!("`--input` is not JSON: {error}"))?,
        (Some(_), Some(_)) => bail!("give either a command or `--input`, not both"),
        (None, None) => bail!("nothing to check: give a command, `--input` or `--jsonl`"),
    };
    let command = input.get("command").and_then(Value::as_str);
    if command.is_some_and(|command| command.trim().is_empty()) {
        bail!("nothing to check: the command is empty");
    }
    // With --agent, the tool may be given by the agent's own name.
    let own = arguments.agent.and_then(|agent| agent.tool(&arguments.tool, &input, &checker.cwd));
    let tool = own.unwrap_or_else(|| tool_from_json(&arguments.tool, &input));
    let mut call = ToolCall::new(tool, checker.cwd.clone());
    call.agent = arguments.agent.map_or("", |agent| agent.name()).to_owned();
    let mode = arguments.mode.map_or(Mode::Auto, Mode::from);
    Ok(CheckRequest { id: Value::Null, call, world: None, root: None, mode, config: None })
}

fn single_json(evaluation: &Evaluation, foreseen: Option<&Forecast>, arguments: &CheckArguments) -> Result<Value> {
    let mut answer = serde_json::to_value(CheckAnswer::new(Value::Null, evaluation))?;
    if let Value::Object(fields) = &mut answer {
        fields.remove("id");
        let instead = evaluation.judgement.reasons_to_read().find_map(|opinion| opinion.instead.as_deref());
        fields.insert("instead".into(), json!(instead.filter(|instead| !instead.is_empty())));
        fields.insert("rule".into(), json!(evaluation.judgement.rule));
        fields.insert("effects".into(), serde_json::to_value(&evaluation.facts.effects)?);
        if let Some(foreseen) = foreseen {
            fields.insert("verdict".into(), json!(foreseen.verdict().as_str()));
            fields.extend(foreseen.to_json().as_object().cloned().unwrap_or_default());
        }
        if arguments.explain {
            fields.insert("facts".into(), serde_json::to_value(&evaluation.facts)?);
            fields.insert("judgement".into(), serde_json::to_value(&evaluation.judgement)?);
        }
    }
    Ok(answer)
}

fn many(checker: &mut Checker, path: &Path, arguments: &CheckArguments) -> Result<ExitCode> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("can't read `{}`", path.display()))?)
    };
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, input), lines::LIMIT);
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut stats = arguments.stats.then(Stats::default);
    let mut number = 0u64;
    loop {
        // Flush before waiting for input, so that a caller who sends one call at a time gets each answer.
        if lines.is_drained() {
            out.flush()?;
        }
        number += 1;
        let Some(line) = lines.next().context("can't read the input")? else { break };
        let Some((answer, evaluation)) = answer_line(checker, &line, number) else { continue };
        match &mut stats {
            Some(stats) => stats.add(&answer, evaluation.as_ref()),
            None => {
                serde_json::to_writer(&mut out, &answer)?;
                out.write_all(b"\n")?;
            }
        }
    }
    if let Some(stats) = stats {
        print_stats(&stats, &mut out, arguments)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn answer_line(checker: &mut Checker, line: &Line<'_>, number: u64) -> Option<(CheckAnswer, Option<Evaluation>)> {
    let malformed =
        |id: Value, problem: &str| Some((CheckAnswer::malformed(id, format!("line {number} {problem}")), None));
    let text = match line {
        Line::TooLong(start) => {
            return malformed(request::salvaged_id(start.get(..4096).unwrap_or(start)), "is longer than 64 MiB");
        }
        Line::Text(text) => text.trim_ascii(),
    };
    if text.is_empty() {
        return None;
    }
    let request = match CheckRequest::parse(text, &checker.cwd) {
        Ok(request) => request,
        Err(bad) => return malformed(bad.id, &bad.problem),
    };
    let id = request.id.clone();
    match checker.consider(request) {
        Ok(evaluation) => Some((CheckAnswer::new(id, &evaluation), Some(evaluation))),
        Err(problem) => malformed(id, &format!("can't be judged: {problem}")),
    }
}

fn print_stats(stats: &Stats, out: &mut dyn Write, arguments: &CheckArguments) -> Result<()> {
    if arguments.json {
        writeln!(out, "{}", stats.to_json())?;
    } else {
        stats.print(out)?;
    }
    Ok(())
}

fn read_world(path: &Path) -> Result<Description> {
    let bytes = std::fs::read(path).with_context(|| format!("can't read `{}`", path.display()))?;
    let value = crate::machine::json::parse(&bytes)
        .map_err(|error| anyhow::anyhow!("`{}` is not JSON: {error}", path.display()))?;
    serde_json::from_value(value).with_context(|| format!("`{}` does not describe a machine", path.display()))
}

fn current_directory() -> Result<String> {
    let path = std::env::current_dir().context("can't find the current directory")?;
    path.into_os_string()
        .into_string()
        .map_err(|path| anyhow::anyhow!("the current directory is not UTF-8: `{}`", path.display()))
}
