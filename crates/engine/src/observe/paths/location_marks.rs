//! What reading or changing something means because of where it lies.

use doorward_vocabulary::{Mark, Operation, Scope, Sensitivity};

use super::globs::holds_secrets;
use super::touch::Touch;
use crate::effect::Effect;
use crate::world::{Kind, Tracking, World};
use crate::{path, place};

/// Marks what is special about a change at this place.
pub(crate) fn mark_standing(world: &dyn World, touch: Touch, real: &str, effect: &mut Effect) {
    if effect.operation == Operation::Delete && effect.scope >= Scope::OtherRepo {
        mark_home(world, real, effect);
    }
    // Code that others wrote, and what a build made to be run, is run unread.
    let puts_there = matches!(touch, Touch::Write | Touch::Append | Touch::Edit);
    if puts_there && (place::is_installed(real) || is_built_program(world, real)) {
        effect.marks.add(Mark::RunsOnLoad);
    }
}

/// What lies below is read as well. A directory that is read like a file is one that is copied, packed or linked to.
pub(crate) fn note_tree(world: &dyn World, touch: Touch, real: &str, effect: &mut Effect) {
    let is_read_as_file = matches!(touch, Touch::Read | Touch::Upload);
    let kind = world.look(real).kind;
    // A described machine does not say that `/etc` is a directory; dot files of other users are most often files.
    let is_directory = kind == Kind::Directory
        || (kind == Kind::Unlisted && !real.contains("/.") && place::holds_system_secrets(real));
    let is_tree = touch == Touch::ReadTree || (is_read_as_file && is_directory);
    if is_tree && (effect.marks.has_any(&[Mark::Root, Mark::HomeRoot]) || holds_secrets(real, world)) {
        effect.sensitivity = effect.sensitivity.max(Sensitivity::SecretShaped);
        if effect.marks.has(Mark::GuardOwn) {
            effect.marks.add(Mark::CredentialStore);
        }
    }
}

fn is_built_program(world: &dyn World, real: &str) -> bool {
    world.look(real).executable && world.tracking(real) == Tracking::Rebuildable
}

/// What is deleted in the home may be a person's own, or a cache.
fn mark_home(world: &dyn World, real: &str, effect: &mut Effect) {
    let Some(home) = world.home().filter(|home| path::under(real, home)) else { return };
    effect.marks.add(Mark::BelowHome);
    if place::is_cache(real, Some(home)) {
        effect.marks.add(Mark::Cache);
    }
}
