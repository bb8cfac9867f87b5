//! Concurrent calls of one session: what one writes, another must not run.

use std::path::Path;

use doorward_engine::{Facts, LeftRun, Policy, Tool, ToolCall, Verdict, World};

use crate::memory::evaluation::{self, Evaluation};
use crate::memory::in_flight::Footprint;
use crate::policy::trust::pin;

/// Why a call that would be approved on its own must not run unasked while others do.
#[derive(Debug)]
pub(crate) struct ConcurrencyDoubt {
    text: String,
    /// What it does together with what still runs, if that is more than it does alone.
    facts: Option<Box<Facts>>,
}

impl ConcurrencyDoubt {
    /// Judges the call again with this doubt.
    pub(crate) fn apply(self, evaluation: Evaluation, policy: &Policy) -> Evaluation {
        let evaluation = match self.facts {
            Some(facts) => Evaluation { facts: *facts, ..evaluation },
            None => evaluation,
        };
        evaluation.with_doubt(&self.text, policy)
    }
}

/// The conflict with another call, if any. `crosses` returns the file that is in doubt.
pub(crate) fn with_others(
    evaluation: &Evaluation,
    (id, project): (&str, Option<&str>),
    crosses: impl FnOnce(Footprint) -> Option<String>,
) -> Option<ConcurrencyDoubt> {
    let footprint = Footprint::of(id, &evaluation.facts, || recipes(project));
    footprint.and_then(crosses).map(|file| ConcurrencyDoubt {
        text: format!("what `{file}` holds: another call that has not ended writes or runs it"),
        facts: None,
    })
}

/// A call that changes a file which a background process of an earlier call runs. It is judged together with that run,
/// because the process picks up the change without another call.
pub(crate) fn with_background(
    evaluation: &Evaluation,
    policy: &Policy,
    (call, world): (&ToolCall, &dyn World),
    left: &[LeftRun],
) -> Option<ConcurrencyDoubt> {
    let changed: Vec<LeftRun> = left.iter().filter(|run| run.is_changed_by(&evaluation.facts)).cloned().collect();
    let first = changed.first()?;
    let Some((facts, judgement)) = evaluation::with_runs(call, world, policy, &changed) else {
        let text = "what the commands still running in the background do then".to_owned();
        return Some(ConcurrencyDoubt { text, facts: None });
    };
    if judgement.verdict == Verdict::AutoApprove {
        return None;
    }
    let file = if first.is_unknown() { "scripts".to_owned() } else { format!("`{}`", first.file) };
    let text = format!("what this does to a command still running in the background, which runs {file}");
    Some(ConcurrencyDoubt { text, facts: Some(Box::new(facts)) })
}

/// A background call; its agent reports the end as soon as it has started.
pub(crate) fn is_background(call: &ToolCall) -> bool {
    matches!(call.tool, Tool::Bash { background: true, .. })
}

/// The files that decide what runs in a project.
fn recipes(project: Option<&str>) -> Vec<String> {
    let found = project.map(|root| pin::recipes(Path::new(root))).unwrap_or_default();
    found.into_iter().map(|path| path.display().to_string()).collect()
}
