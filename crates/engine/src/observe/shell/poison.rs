//! What variables do to the shell and to whatever it starts: code out of data, checks that are skipped, a history that is not kept.

use doorward_vocabulary::{Mark, Marks, Operation, Reach, Scope};

use super::state::State;
use crate::effect::{Effect, Target};
use crate::observe::names;
use crate::observe::sheet::observer::Observer;

/// What is typed from here on may not be written down.
pub(crate) fn hides_history(out: &mut Observer<'_>, what: &str) {
    let mut effect = Effect::new(Operation::Mutate, Target::Resource(format!("shell history: {what}")));
    effect.scope = Scope::Project;
    effect.reach = Reach::Workspace;
    effect.reversibility = doorward_vocabulary::Reversibility::Rebuildable;
    effect.marks = Marks::default().with(Mark::HistoryHidden);
    effect.part = out.outer.unwrap_or_default();
    out.effect(effect);
}

/// The variable makes checks pass without a look, in every program that this shell starts from now on.
pub(crate) fn note_skipped_checks(out: &mut Observer<'_>, name: &str, value: Option<&str>) {
    if !names::skips_checks(name, value) {
        return;
    }
    let mut effect = Effect::new(Operation::Mutate, Target::Resource(format!("environment variable {name}")));
    effect.scope = Scope::Project;
    effect.reach = Reach::Workspace;
    effect.reversibility = doorward_vocabulary::Reversibility::Rebuildable;
    effect.marks = Marks::default().with(Mark::SkipsChecks);
    effect.part = out.outer.unwrap_or_default();
    out.effect(effect);
}

/// A variable that turns data into code was set.
pub(crate) fn poison(out: &mut Observer<'_>, name: &str, state: &mut State<'_>) {
    state.poisoned = true;
    state.path_changed |= name == "PATH";
    let mut effect = Effect::new(Operation::Mutate, Target::Resource(format!("environment variable {name}")));
    effect.scope = Scope::Project;
    effect.reach = Reach::Machine;
    effect.reversibility = doorward_vocabulary::Reversibility::Irreversible;
    effect.marks = Marks::default().with(Mark::EnvironmentPoison);
    if names::weakens_tls(name) {
        effect.marks.add(Mark::TlsWeakened);
    }
    effect.part = out.outer.unwrap_or_default();
    out.effect(effect);
}
