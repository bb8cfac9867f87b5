//! From a call and the world to facts.

mod arrivals;
mod code;
mod connect;
mod content;
mod deeds;
mod desk;
mod field;
mod files;
mod guard;
mod hidden;
mod hunting;
mod left_running;
mod mcp;
mod names;
mod page_scripts;
mod paths;
mod program;
mod recipes;
mod redact;
mod sheet;
mod shell;
mod skills;
mod stream;
mod task_orders;
mod task_text;
mod tools;

use doorward_vocabulary::{Degree, Mark, Marks};

use crate::call::{Tool, ToolCall};
use crate::contained;
use crate::facts::{Counts, Facts, LeftRun};
use crate::intent;
use crate::observe::desk::note_desk;
use crate::observe::files::{edit_tool, read_tool, search_tool, write_tool};
use crate::observe::guard::note_guard_signals;
use crate::observe::hidden::note_hidden;
use crate::observe::hunting::note_token_search;
use crate::observe::left_running::run_again;
use crate::observe::mcp::{ServerCall, mcp_tool};
use crate::observe::program::provenance::left_built;
use crate::observe::shell::reading::every_reading;
use crate::observe::task_text::task_text;
use crate::observe::tools::{fetch_tool, other_tool, task_tool, web_search};
use crate::world::World;
pub use deeds::observe_deeds;
pub use mcp::{hides_text, read_definition};
use sheet::found::Found;
use sheet::observer::{By, Observer};
use shell::runner::Runner;
use shell::state::State;
use stream::Stream;

/// Asks the world about everything the call would touch.
pub fn observe(call: &ToolCall, world: &dyn World) -> Facts {
    observe_before(call, world, &[])
}

/// The same for a call after which these commands of earlier calls run again.
pub fn observe_before(call: &ToolCall, world: &dyn World, runs: &[LeftRun]) -> Facts {
    if let Some(inside) = inside_box(call, world) {
        return Facts { boxed: true, ..outside_box(&inside, world, runs) };
    }
    outside_box(call, world, runs)
}

/// The call that happens inside, if this one only hands it to the box.
fn inside_box(call: &ToolCall, world: &dyn World) -> Option<ToolCall> {
    let Tool::Bash { command, background, unsandboxed } = &call.tool else { return None };
    let command = contained::inner(command, world)?;
    let tool = Tool::Bash { command, background: *background, unsandboxed: *unsandboxed };
    Some(ToolCall { tool, ..call.clone() })
}

fn outside_box(call: &ToolCall, world: &dyn World, runs: &[LeftRun]) -> Facts {
    let mut out = Observer::new(world);
    let subject = subject(call, &mut out, runs);
    let knowledge = out.knowledge;
    let mut found = out.finish();
    if call.truncated {
        found.lower(Degree::Opaque, "the call was cut off before it reached doorward");
    }
    found.note_unguarded_agents();
    note_guard_signals(&mut found, &subject, knowledge);
    note_desk(&mut found, &call.tool, &subject, world);
    let subject = redact::all(subject, &mut found, world.redaction_key());
    facts(call, subject, found, world)
}

/// What was found, with what session, history and the user's words say about it.
fn facts(call: &ToolCall, subject: String, mut found: Found, world: &dyn World) -> Facts {
    let history = world.history();
    crate::taint::mark_contacts(&mut found.effects, &found.commands, &history);
    if let Some(doubt) = &history.doubt {
        found.lower(Degree::Opaque, doubt.clone());
    }
    let pattern = crate::pattern::of(call.tool.name(), &found.effects);
    let seen =
        intent::Seen { call, effects: &found.effects, commands: &found.commands, directories: &found.directories };
    let intent = intent::of(&seen, &history, world);
    Facts {
        tool: call.tool.name().to_owned(),
        subject,
        commands: found.commands,
        directories: found.directories,
        effects: found.effects,
        flows: found.flows,
        arrivals: arrivals::bounded(found.arrivals, world.project()),
        boxed: false,
        lingers: found.lingers,
        built: found.built.filter(|_| !found.lingers && found.coverage.degree <= Degree::Delegated),
        left: found.left,
        coverage: found.coverage,
        taint: history.taint,
        intent,
        review: None,
        contained: None,
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
            write_tool(out, path, content, &call.cwd);
            path.clone()
        }
        Tool::Edit { changes } => {
            edit_tool(out, changes, &call.cwd);
            changes.first().map(|change| change.path.clone()).unwrap_or_default()
        }
        Tool::Read { path } => {
            read_tool(out, path, &call.cwd);
            path.clone()
        }
        Tool::Search { path, pattern, files } => {
            search_tool(out, path.as_deref(), files.as_deref(), &call.cwd);
            note_token_search(out, pattern.as_deref());
            path.clone().or_else(|| pattern.clone()).unwrap_or_default()
        }
        Tool::Fetch { url, method } => {
            fetch_tool(out, url, method.as_deref());
            url.clone()
        }
        Tool::WebSearch { query } => {
            web_search(out, query);
            query.clone()
        }
        Tool::Mcp { server, name, args, annotations, description, schema } => {
            mcp_tool(out, &ServerCall { server, name, args, annotations, description, schema, cwd: &call.cwd });
            format!("{server}/{name}")
        }
        Tool::Task { agent, description } => {
            task_tool(out, agent);
            task_text(out, description, &call.cwd);
            description.clone()
        }
        Tool::Other { name, input } => {
            other_tool(out, name, input, &call.cwd);
            name.clone()
        }
        Tool::Python { code } => {
            python(code, &call.cwd, out);
            code.clone()
        }
        Tool::PowerShell { command } => {
            // It is not understood; what it surely does counts all the same.
            bash(&program::grammar::powershell::as_shell(command), &call.cwd, out, &[]);
            opaque(out, "a PowerShell command", command)
        }
        Tool::Malformed { name, problem } => opaque(out, &format!("the call to `{name}`: {problem}"), name),
    };
    if !runs.is_empty() {
        let mut runner = Runner::new(out);
        let state = left_running::written(&call.tool, &call.cwd, &mut runner);
        run_again(&mut runner, runs, &state);
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
    note_hidden(out, code);
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    let by = By { name: "python".into(), ..By::default() };
    let source = code::Source { text: code, language: Some(doorward_code::Language::Python), by: &by };
    code::code(&mut Runner::new(out), &source, &mut state);
}

/// A shell command.
fn bash(command: &str, cwd: &str, out: &mut Observer<'_>, runs: &[LeftRun]) {
    note_hidden(out, command);
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    out.start_in(state.cwd.as_ref());
    let shell = out.world.shell();
    let output = every_reading(&mut Runner::new(out), command, shell, &mut state, &Stream::empty(), "");
    out.left_built = left_built(out, &state);
    run_again(&mut Runner::new(out), runs, &state);
    note_token_search(out, None);
    out.settle_absent();
    if output.origin.secret && !out.has_read_secret() {
        out.prints_secret();
    }
}
