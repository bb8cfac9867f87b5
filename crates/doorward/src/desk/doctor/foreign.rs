//! Other hooks that could answer in doorward's place.

use std::path::Path;

use serde_json::Value;

use super::{Checkup, Defect, project};
use crate::desk::setup;
use crate::machine::agent::Agent;

/// Events whose answer decides about a call.
// A foreign hook on one of these can allow a call that doorward asks about; on any other event it only listens.
const DECIDING: [&str; 6] =
    ["PreToolUse", "PermissionRequest", "BeforeTool", "preToolUse", "permissionRequest", "beforeShellExecution"];

pub(super) fn defects(patient: &Checkup<'_>, agent: Agent) -> Vec<Defect> {
    let own = setup::settings_of(agent, patient.dirs);
    own.into_iter().chain(project::files(patient, agent)).flat_map(|file| in_file(&file, agent)).collect()
}

fn in_file(file: &Path, agent: Agent) -> Vec<Defect> {
    let text = crate::machine::checked_read::start_of(file, 1 << 20).unwrap_or_default();
    let Ok(settings) = serde_json::from_str::<Value>(&text) else { return Vec::new() };
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let mut found = Vec::new();
    for (event, groups) in hooks.into_iter().flatten().filter(|(event, _)| DECIDING.contains(&event.as_str())) {
        for command in commands(groups).into_iter().filter(|command| may_allow(event, command)) {
            let what =
                format!("`{}` has another hook for `{event}` that may answer `allow`: `{command}`", file.display());
            found.push(Defect::new(
                "other-hook-allows",
                agent,
                what,
                "remove it, or make sure it never answers `allow`",
            ));
        }
    }
    found
}

/// All command lines below a value.
fn commands(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(commands).collect(),
        Value::Object(fields) => {
            let own =
                ["command", "bash", "url", "prompt", "tool"].iter().filter_map(|name| fields.get(*name)?.as_str());
            own.chain(fields.get("hooks").into_iter().flat_map(commands)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// A permission request comes after our own question, and an `allow` there answers it. Before a call, our refusal outweighs
/// another hook's `allow`, but our question does not.
fn may_allow(event: &str, command: &str) -> bool {
    let is_ours = command.contains("doorward") && command.contains(" hook ");
    let speaks_of_it = ["allow", "approve", "yes"].iter().any(|word| command.contains(word));
    !is_ours && (event.eq_ignore_ascii_case("PermissionRequest") || speaks_of_it)
}
