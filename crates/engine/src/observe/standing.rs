//! What a change means because of where it happens.

use super::observer::Observer;
use super::touch::Touch;
use crate::effect::{Effect, Operation, Scope};
use crate::marks::Mark;
use crate::path;
use crate::place;

impl Observer<'_> {
    /// Marks what is special about a change at this place.
    pub fn mark_standing(&self, touch: Touch, real: &str, effect: &mut Effect) {
        if effect.operation == Operation::Delete && effect.scope >= Scope::OtherRepo {
            self.mark_home(real, effect);
        }
        // Code that others wrote is loaded by every run of the project, and nobody reads it.
        if matches!(touch, Touch::Write | Touch::Append | Touch::Edit) && place::is_installed(real) {
            effect.marks.add(Mark::RunsOnLoad);
        }
    }

    /// What is deleted in the home may be a person's own, or a cache.
    fn mark_home(&self, real: &str, effect: &mut Effect) {
        let Some(home) = self.world.home().filter(|home| path::under(real, home)) else { return };
        effect.marks.add(Mark::BelowHome);
        if place::is_cache(real, Some(home)) {
            effect.marks.add(Mark::Cache);
        }
    }
}
