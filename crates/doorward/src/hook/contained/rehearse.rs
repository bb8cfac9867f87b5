//! A rehearsal: the call is tried in the box and discarded, and the question says what it did. It never answers the question,
//! because what runs afterwards is another run, outside the box, and code can tell the two apart.

use std::time::Duration;

use doorward_cell::{Deed, DeedKind, Deeds, Output, Run};
use doorward_engine::{Configured, Tool};

use super::{cell, held, plan};
use crate::hook::deadline;
use crate::hook::pipeline::Situation;
use crate::machine::visible;
use crate::memory::grants::pending::FileEdit;

/// Longer calls are asked about without a rehearsal.
// Someone waits for the question, and the client for the hook.
const LONGEST: Duration = Duration::from_secs(3);

/// How many changed files the question names.
const NAMED: usize = 3;

/// What a call did in the box.
#[derive(Debug)]
pub(crate) struct Rehearsal {
    /// For the question, one sentence without its full stop.
    pub said: String,
    /// Every change, deletions included; empty if it is too much to be shown.
    pub changes: Vec<FileEdit>,
}

/// Tries the call; `None` if it could not be tried, and then the question is as it was.
pub(super) fn rehearse(situation: &Situation<'_>) -> Option<Rehearsal> {
    let call = situation.call();
    let Tool::Bash { command, .. } = &call.tool else { return None };
    let room = deadline::room_for_review(situation.request.patience).min(LONGEST);
    let streams =
        plan::Streams { stdin: doorward_cell::Input::Nothing, stdout: Output::Nowhere, stderr: Output::Nowhere };
    let mut plan = plan::plan(situation.dirs(), &situation.world, (command, &call.cwd), streams).ok()?;
    plan.limits.time = room;
    deadline::prolong(room);
    held::recover(situation.dirs()).ok()?;
    let run = cell(situation.dirs()).run(plan).ok()?;
    let told = run.deeds().ok().map(|deeds| told(&run, &deeds, &situation.world.redaction_key()));
    // What stays is removed with the next run.
    let _ = run.discard();
    told
}

fn told(run: &Run, deeds: &Deeds, key: &[u8; 16]) -> Rehearsal {
    let changes = if held::is_shown(deeds) { held::changes(deeds, key) } else { Vec::new() };
    let mut said = format!("In a box it {}", what(deeds));
    if let Some(spoiled) = run.spoiled() {
        said.push_str(&format!(", and then {}", spoiled.sentence()));
    } else if plan::wanted_network(run.usage()) {
        said.push_str(", and looked for the network in vain");
    } else if run.status() != 0 {
        said.push_str(&format!(", and failed with {}", run.status()));
    }
    Rehearsal { said: visible(&said).into_owned(), changes }
}

/// Deletions first: they are what can't be seen afterwards.
fn what(deeds: &Deeds) -> String {
    let of =
        |wanted: fn(&DeedKind) -> bool| deeds.list().iter().filter(move |deed| wanted(&deed.kind)).collect::<Vec<_>>();
    let deleted = of(|kind| matches!(kind, DeedKind::Deleted { to: None } | DeedKind::ReplacedDirectory));
    let written = of(|kind| {
        matches!(kind, DeedKind::Created | DeedKind::Changed | DeedKind::Renamed { .. } | DeedKind::HardLink { .. })
    });
    let other =
        of(|kind| matches!(kind, DeedKind::Mode | DeedKind::Attributes | DeedKind::Symlink { .. } | DeedKind::Special));
    let parts: Vec<String> = [("deleted", deleted), ("wrote", written), ("changed the mode of", other)]
        .into_iter()
        .filter(|(_, deeds)| !deeds.is_empty())
        .map(|(verb, deeds)| format!("{verb} {}", listed(&deeds)))
        .collect();
    if parts.is_empty() { "changed no files".to_owned() } else { parts.join(", ") }
}

fn listed(deeds: &[&Deed]) -> String {
    let name = |deed: &&Deed| deed.path.file_name().unwrap_or(deed.path.as_os_str()).to_string_lossy().into_owned();
    let named: Vec<String> = deeds.iter().take(NAMED).map(name).collect();
    let count = crate::machine::count::counted(deeds.len() as u64, "file");
    let more = if deeds.len() > NAMED { ", …" } else { "" };
    format!("{count} ({}{more})", named.join(", "))
}
