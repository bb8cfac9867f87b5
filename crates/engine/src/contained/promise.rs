//! Promise against deed: whether what a contained run did is within what the text of the call said it would do.

use doorward_vocabulary::{Degree, Operation};

use crate::effect::{Effect, Target};
use crate::facts::Facts;
use crate::path::under;

/// Changes that happened although nothing in the call said so. Each is a mistake of doorward's own understanding.
///
/// A call that was not understood promised nothing, so it can't break a promise.
pub fn unpromised<'a>(promised: &Facts, happened: &'a Facts) -> Vec<&'a Effect> {
    if !matches!(promised.coverage.degree, Degree::Full | Degree::Delegated) {
        return Vec::new();
    }
    let is_change = |effect: &&Effect| matches!(effect.operation, Operation::Write | Operation::Delete);
    let is_promised = |effect: &&Effect| promised.effects.iter().any(|promise| allows(promise, effect));
    happened.effects.iter().filter(is_change).filter(|effect| !is_promised(effect)).collect()
}

/// The promise speaks of this change, or of something that may do anything of the kind.
fn allows(promise: &Effect, deed: &Effect) -> bool {
    match promise.operation {
        // Code of the project or of its tools writes where it likes; the text never said otherwise.
        Operation::Execute | Operation::Mutate => true,
        Operation::Read | Operation::Network => false,
        Operation::Write | Operation::Delete => match (&promise.target, &deed.target) {
            (Target::Path(promised), Target::Path(path)) => under(path, promised) || under(promised, path),
            (Target::Unknown | Target::Resource(_) | Target::Program(_) | Target::Host(_), _) => true,
            (Target::Path(_), _) => false,
        },
    }
}
