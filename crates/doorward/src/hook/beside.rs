//! An approved call beside those of its session that have not ended: what one writes, another must not run.

use std::path::Path;

use doorward_engine::{LeftRun, Policy, Tool, ToolCall, Verdict, World};

use crate::memory::evaluation::{self, Considered};
use crate::memory::in_flight::Course;
use crate::policy::trust::pin;

/// The call again, put to a person if it comes in the way of another. `crosses` says which file is in doubt.
pub fn others(
    considered: Considered,
    policy: &Policy,
    (id, project): (&str, Option<&str>),
    crosses: impl FnOnce(Course) -> Option<String>,
) -> Considered {
    let course = Course::of(id, &considered.facts, || recipes(project));
    match course.and_then(crosses) {
        Some(file) => {
            let doubt = format!("what `{file}` holds: another call that has not ended writes or runs it");
            evaluation::doubted(considered, policy, &doubt)
        }
        None => considered,
    }
}

/// The call again, judged with what earlier calls left running, if it changes what that runs: nobody judges that later.
pub fn left(
    considered: Considered,
    policy: &Policy,
    (call, world): (&ToolCall, &dyn World),
    left: &[LeftRun],
) -> Considered {
    let changed: Vec<LeftRun> = left.iter().filter(|run| run.is_changed_by(&considered.facts)).cloned().collect();
    let Some(first) = changed.first() else { return considered };
    let Some((facts, judgement)) = evaluation::with_runs(call, world, policy, &changed) else {
        return evaluation::doubted(considered, policy, "what the commands still running in the background do then");
    };
    if judgement.verdict == Verdict::AutoApprove {
        return considered;
    }
    let file = if first.is_unknown() { "scripts".to_owned() } else { format!("`{}`", first.file) };
    let doubt = format!("what this does to a command still running in the background, which runs {file}");
    evaluation::doubted(Considered { facts, ..considered }, policy, &doubt)
}

/// The agent reports the end of such a call as soon as it has started.
pub fn is_background(call: &ToolCall) -> bool {
    matches!(call.tool, Tool::Bash { background: true, .. })
}

/// The files that decide what runs in a project.
fn recipes(project: Option<&str>) -> Vec<String> {
    let found = project.map(|root| pin::recipes(Path::new(root))).unwrap_or_default();
    found.into_iter().map(|path| path.display().to_string()).collect()
}
