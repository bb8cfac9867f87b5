//! Whether a call that the agent itself asked about was still the same when it ran.

use std::path::Path;

use doorward_engine::{Operation, Target};

use super::desk::Desk;
use super::operands::{self, Depth};
use super::pending::Pending;

/// Files that the call of a decision names or runs, does not itself change, and that are others than when it was asked
/// about. The agent ran the call on a person's yes to something else.
pub fn changed_since(desk: &Desk, decision: &str) -> Vec<String> {
    let Some(pending) = desk.open().into_iter().find(|pending| pending.decision == decision) else {
        return Vec::new();
    };
    let mut known = pending.bound.operands.clone();
    known.retain(|path, print| print.depth == Depth::Itself || is_run(&pending, path));
    known.retain(|path, _| !is_changed_by_it(&pending, path));
    operands::changed(&known)
}

fn is_run(pending: &Pending, path: &str) -> bool {
    Path::new(path).is_file() && touches(pending, path, |operation| operation == Operation::Execute)
}

fn is_changed_by_it(pending: &Pending, path: &str) -> bool {
    let changes = |operation| matches!(operation, Operation::Write | Operation::Delete | Operation::Mutate);
    // Which commit is checked out is part of what a yes is bound to, and git moves it.
    path.contains("/.git/") || touches(pending, path, changes)
}

fn touches(pending: &Pending, path: &str, wanted: impl Fn(Operation) -> bool) -> bool {
    pending.effects.iter().filter(|effect| wanted(effect.operation)).any(|effect| match &effect.target {
        Target::Path(target) | Target::Program(target) => Path::new(path).starts_with(target),
        Target::Host(_) | Target::Resource(_) | Target::Unknown => false,
    })
}
