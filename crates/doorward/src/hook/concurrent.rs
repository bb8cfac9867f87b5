//! An approved call beside those of its session that have not ended: what one writes, another must not run.

use std::path::Path;

use doorward_engine::{Facts, LeftRun, Policy, Tool, ToolCall, Verdict, World};

use crate::memory::evaluation::{self, Evaluation};
use crate::memory::in_flight::Footprint;
use crate::policy::trust::pin;

/// Why a call that is approved by itself must not run unasked beside others.
#[derive(Debug)]
pub(crate) struct ConcurrencyDoubt {
    text: String,
    /// What it would do together with what still runs, if that is more than what it does alone.
    facts: Option<Box<Facts>>,
}

impl ConcurrencyDoubt {
    /// The call with this doubt about it.
    pub(crate) fn about(self, evaluation: Evaluation, policy: &Policy) -> Evaluation {
        let evaluation = match self.facts {
            Some(facts) => Evaluation { facts: *facts, ..evaluation },
            None => evaluation,
        };
        evaluation.doubted(&self.text, policy)
    }
}

/// A call that comes in the way of another. `crosses` says which file is in doubt.
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

/// A call that changes what earlier calls left running, judged together with running that: nobody judges it later.
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

/// The agent reports the end of such a call as soon as it has started.
pub(crate) fn is_background(call: &ToolCall) -> bool {
    matches!(call.tool, Tool::Bash { background: true, .. })
}

/// The files that decide what runs in a project.
fn recipes(project: Option<&str>) -> Vec<String> {
    let found = project.map(|root| pin::recipes(Path::new(root))).unwrap_or_default();
    found.into_iter().map(|path| path.display().to_string()).collect()
}
