//! How many files of the project depend on one that a call changes.

use doorward_vocabulary::{Mark, Marks, Operation, Scope};

use crate::effect::Effect;
use crate::imports::{self, Imported};
use crate::world::World;

/// Whoever changes a file that many others import changes them as well.
pub(crate) fn note_dependents(world: &dyn World, real: &str, effect: &mut Effect) {
    let changes = matches!(effect.operation, Operation::Write | Operation::Delete);
    let is_own = effect.marks.has_any(&[Mark::Creates, Mark::SessionFile]) || effect.scope != Scope::File;
    let below = world.project().and_then(|project| real.strip_prefix(project));
    if !changes || is_own || below.is_none_or(|path| Imported::at(path).is_none()) {
        return;
    }
    effect.dependents = world.dependents(real);
    let steps = [(imports::WIDELY, Mark::WidelyImported), (imports::EVERYWHERE, Mark::ImportedEverywhere)];
    let reached = |(step, _): &(u32, Mark)| effect.dependents.is_some_and(|dependents| dependents >= *step);
    let marks: Marks = steps.into_iter().filter(reached).map(|(_, mark)| mark).collect();
    effect.marks.union(marks);
}
