//! From a call and the world to facts.

mod absent;
mod arrivals;
mod carried;
mod code;
mod connect;
mod content;
mod dependents;
mod expanded;
mod files;
mod guard;
mod hidden;
mod hunting;
mod lingering;
mod links;
mod mcp;
mod names;
mod observer;
mod program;
mod redact;
mod required;
mod reversible;
mod ruled;
mod shell;
mod skills;
mod standing;
mod stream;
mod task_text;
mod through;
mod tools;
mod touch;
mod tracked;
mod trees;
mod wild;

use crate::call::{Tool, ToolCall};
use crate::facts::{Counts, Facts, LeftRun};
use crate::intent;
use crate::world::World;
use doorward_vocabulary::{Degree, Mark, Marks};
pub(crate) use observer::RECIPE;
use observer::{By, Observer};
use shell::run::Runner;
use shell::state::State;
use stream::Stream;

/// Asks the world about everything the call would touch.
pub fn observe(call: &ToolCall, world: &dyn World) -> Facts {
    observe_before(call, world, &[])
}

/// The same for a call after which these commands of earlier calls run again.
pub fn observe_before(call: &ToolCall, world: &dyn World, runs: &[LeftRun]) -> Facts {
    let mut out = Observer::new(world);
    let subject = subject(call, &mut out, runs);
    if call.truncated {
        out.lower(Degree::Opaque, "the call was cut before it reached doorward");
    }
    out.note_unguarded_agents();
    out.note_guard_signals(&subject);
    let subject = redact::all(subject, &mut out);
    let history = world.history();
    crate::taint::mark_contacts(&mut out.effects, &out.commands, &history);
    if let Some(doubt) = history.doubt {
        out.lower(Degree::Opaque, doubt);
    }
    let pattern = crate::pattern::of(call.tool.name(), &out.effects);
    let words = call.user_message.as_deref();
    let intent = intent::of(words, &history.boundaries, &out.effects, &out.commands, &call.cwd, world);
    Facts {
        tool: call.tool.name().to_owned(),
        subject,
        commands: out.commands,
        directories: out.directories,
        effects: out.effects,
        flows: out.flows,
        arrivals: arrivals::bounded(out.arrivals, world.project()),
        lingers: out.lingering.is_any,
        left: out.lingering.runs,
        coverage: out.coverage,
        taint: history.taint,
        intent,
        review: None,
        counts: Counts {
            reads_last_minute: history.reads_last_minute,
            reads_last_seconds: history.reads_last_seconds,
            denials_in_a_row: history.denials_in_a_row,
            denials: history.denials,
            restorable: history.restorable,
            override_rate: world.override_rate(&pattern),
            accepted: world.accepted_history(&pattern),
            observed_overrides: world.observed_overrides(&pattern),
        },
        pattern: pattern.into(),
        agent: call.agent.clone(),
        attended: call.attended,
        cancelled: call.cancelled,
        project_trusted: world.project_trusted(),
        project: world.project().map(str::to_owned),
        home: world.home().map(str::to_owned),
    }
}

/// Observes the tool's own way of acting; yields what the call is about.
fn subject(call: &ToolCall, out: &mut Observer<'_>, runs: &[LeftRun]) -> String {
    let subject = match &call.tool {
        Tool::Bash { command, background, unsandboxed } => {
            if *unsandboxed {
                out.leaves_sandbox();
            }
            if *background {
                out.lingering.enter();
            }
            bash(command, &call.cwd, out, runs);
            return command.clone();
        }
        Tool::Write { path, content } => {
            out.write_tool(path, content, &call.cwd);
            path.clone()
        }
        Tool::Edit { changes } => {
            out.edit_tool(changes, &call.cwd);
            changes.first().map(|change| change.path.clone()).unwrap_or_default()
        }
        Tool::Read { path } => {
            out.read_tool(path, &call.cwd);
            path.clone()
        }
        Tool::Search { path, pattern, files } => {
            out.search_tool(path.as_deref(), files.as_deref(), &call.cwd);
            out.note_token_search(pattern.as_deref());
            path.clone().or_else(|| pattern.clone()).unwrap_or_default()
        }
        Tool::Fetch { url, method } => {
            out.fetch_tool(url, method.as_deref());
            url.clone()
        }
        Tool::WebSearch { query } => {
            out.web_search(query);
            query.clone()
        }
        Tool::Mcp { server, name, args, annotations, .. } => {
            out.mcp_tool(server, name, args, annotations, &call.cwd);
            format!("{server}/{name}")
        }
        Tool::Task { agent, description } => {
            out.task_tool(agent);
            out.task_text(description, &call.cwd);
            description.clone()
        }
        Tool::Other { name, input } => {
            out.other_tool(name, input, &call.cwd);
            name.clone()
        }
        Tool::Python { code } => {
            python(code, &call.cwd, out);
            code.clone()
        }
        Tool::PowerShell { command } => opaque(out, "a PowerShell command", command),
        Tool::Malformed { name, problem } => opaque(out, &format!("the call to `{name}`: {problem}"), name),
    };
    if !runs.is_empty() {
        let mut runner = Runner::new(out);
        let state = lingering::written(&call.tool, &call.cwd, &mut runner);
        runner.run_again(runs, &state);
    }
    subject
}

/// A call that cannot be looked into.
fn opaque(out: &mut Observer<'_>, what: &str, subject: &str) -> String {
    out.lower(Degree::Opaque, what);
    out.unknown(doorward_vocabulary::Operation::Execute, &By::default(), Marks::default().with(Mark::InlineCode));
    subject.to_owned()
}

/// Python code that the tool runs by itself.
fn python(code: &str, cwd: &str, out: &mut Observer<'_>) {
    out.note_hidden(code);
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    let by = By { name: "python".into(), ..By::default() };
    Runner::new(out).code(code, Some(doorward_code::Language::Python), &mut state, &by);
}

/// A shell command.
fn bash(command: &str, cwd: &str, out: &mut Observer<'_>, runs: &[LeftRun]) {
    out.note_hidden(command);
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    out.directory.clone_from(&state.cwd);
    let shell = out.world.shell();
    let output = Runner::new(out).every_reading(command, shell, &mut state, &Stream::empty(), "");
    Runner::new(out).run_again(runs, &state);
    out.note_token_search(None);
    out.settle_absent();
    if output.origin.secret && !out.has_read_secret() {
        out.prints_secret();
    }
}
