//! An approved call beside those of its session that have not ended: what one writes, another must not run.

use std::path::Path;

use doorward_engine::{Policy, Tool, ToolCall};

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

/// The agent reports the end of such a call as soon as it has started.
pub fn is_background(call: &ToolCall) -> bool {
    matches!(call.tool, Tool::Bash { background: true, .. })
}

/// The files that decide what runs in a project.
fn recipes(project: Option<&str>) -> Vec<String> {
    let found = project.map(|root| pin::recipes(Path::new(root))).unwrap_or_default();
    found.into_iter().map(|path| path.display().to_string()).collect()
}
