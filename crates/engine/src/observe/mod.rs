//! From a call and the world to facts.

use crate::call::ToolCall;
use crate::coverage::{Coverage, Degree};
use crate::facts::{Counts, Facts, Intent};
use crate::world::World;

/// Asks the world about everything the call would touch.
pub fn observe(call: &ToolCall, world: &dyn World) -> Facts {
    let mut coverage = Coverage::full();
    coverage.lower(Degree::Opaque, "nothing is understood yet");
    Facts {
        tool: call.tool.name().to_owned(),
        subject: String::new(),
        commands: Vec::new(),
        effects: Vec::new(),
        flows: Vec::new(),
        coverage,
        taint: Vec::new(),
        intent: Intent::default(),
        counts: Counts::default(),
        pattern: String::new(),
        agent: call.agent.clone(),
        attended: call.attended,
        cancelled: call.cancelled,
        project_trusted: world.project_trusted(),
    }
}
