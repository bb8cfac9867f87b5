//! Everything that was found about a call, once nothing more is looked at. What holds for the call as a whole is marked here.

use doorward_vocabulary::{Degree, Mark};

use crate::coverage::Coverage;
use crate::effect::Effect;
use crate::facts::{Built, Directory, Flow, LeftRun};

/// The finished sheet.
#[derive(Debug)]
pub(crate) struct Found {
    pub effects: Vec<Effect>,
    pub flows: Vec<Flow>,
    pub coverage: Coverage,
    pub commands: Vec<String>,
    pub directories: Vec<Directory>,
    /// Files and directories of the project that the call fills with content nobody has read.
    pub arrivals: Vec<String>,
    /// Something outlives the call.
    pub lingers: bool,
    /// Commands that go on running, with the files that they run.
    pub left: Vec<LeftRun>,
    /// What its builds leave for later calls.
    pub built: Option<Built>,
}

impl Found {
    pub(crate) fn lower(&mut self, degree: Degree, because: impl Into<String>) {
        self.coverage.lower(degree, because);
    }

    /// An agent that is started with other variables finds other settings, or none of its guards.
    pub(crate) fn note_unguarded_agents(&mut self) {
        if !self.effects.iter().any(|effect| effect.marks.has(Mark::EnvironmentPoison)) {
            return;
        }
        for effect in self.effects.iter_mut().filter(|effect| effect.marks.has(Mark::AgentStart)) {
            effect.marks.add(Mark::UnguardedAgent);
        }
    }
}
