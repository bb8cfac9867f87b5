//! From a call and the world to facts.

mod connect;
mod names;
mod observer;
mod program;
mod shell;
mod stream;
mod touch;
mod wild;

use doorward_shell::Dialect;

use crate::call::{Tool, ToolCall};
use crate::coverage::Degree;
use crate::facts::{Counts, Facts, Intent};
use crate::marks::{Mark, Marks};
use crate::world::World;
use observer::{By, Observer};
use shell::run::Runner;
use shell::state::State;
use stream::Stream;

/// Asks the world about everything the call would touch.
pub fn observe(call: &ToolCall, world: &dyn World) -> Facts {
    let mut out = Observer::new(world);
    let subject = match &call.tool {
        Tool::Bash { command, .. } => {
            bash(command, &call.cwd, &mut out);
            command.clone()
        }
        _ => {
            out.lower(Degree::Opaque, "nothing is understood yet");
            String::new()
        }
    };
    if call.truncated {
        out.lower(Degree::Opaque, "the call was cut before it reached doorward");
    }
    let history = world.history();
    Facts {
        tool: call.tool.name().to_owned(),
        subject,
        commands: out.commands,
        effects: out.effects,
        flows: out.flows,
        coverage: out.coverage,
        taint: history.taint,
        intent: Intent::default(),
        counts: Counts {
            reads_last_minute: history.reads_last_minute,
            reads_last_seconds: history.reads_last_seconds,
            denials_in_a_row: history.denials_in_a_row,
            denials: history.denials,
            override_rate: None,
        },
        pattern: String::new(),
        agent: call.agent.clone(),
        attended: call.attended,
        cancelled: call.cancelled,
        project_trusted: world.project_trusted(),
    }
}

/// A shell command.
fn bash(command: &str, cwd: &str, out: &mut Observer<'_>) {
    if let Some(hidden) = crate::temporary::hidden(command) {
        out.lower(Degree::Opaque, format!("{hidden}"));
        out.unknown(crate::effect::Operation::Execute, &By::default(), Marks::default().with(Mark::Hidden));
    }
    let parsed = doorward_shell::parse(command, Dialect::Bash);
    if let Some(error) = &parsed.error {
        out.lower(Degree::Opaque, error.to_string());
    }
    let mut state = State::new(cwd.starts_with('/').then_some(cwd));
    Runner::new(out).program(&parsed.script, &mut state, Stream::empty());
}
