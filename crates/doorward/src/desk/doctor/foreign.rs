//! Other hooks that could answer in doorward's place.

use std::path::Path;

use serde_json::Value;

use super::{Checkup, Defect, project};
use crate::desk::setup;
use crate::hook::contained::alone::{DECIDING, commands, is_ours};
use crate::machine::agent::Agent;

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

/// A permission request comes after our own question, and an `allow` there answers it. Before a call, our refusal outweighs
/// another hook's `allow`, but our question does not.
fn may_allow(event: &str, command: &str) -> bool {
    let speaks_of_it = ["allow", "approve", "yes"].iter().any(|word| command.contains(word));
    !is_ours(command) && (event.eq_ignore_ascii_case("PermissionRequest") || speaks_of_it)
}
