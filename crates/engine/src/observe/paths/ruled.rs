//! Rules of the user's for reading files, met by whatever would get around them: another name, a link, a loop, a list.

use doorward_vocabulary::Marks;

use super::expanded::touch_ruled;
use super::touch::Touch;
use super::trees::is_ruled;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::paths::sweep::Sweep;
use crate::observe::sheet::notes::Told;
use crate::observe::sheet::observer::{By, Observer};
use crate::path::{self, Follow};
use crate::world::{Kind, World};

/// What is moved or linked can be read under its new name, so a rule against reading it counts now.
pub(crate) fn reads_ruled(out: &mut Observer<'_>, real: &str, by: &By) {
    if out.world.settings().file_patterns.is_empty() {
        return;
    }
    if is_ruled(out.world, real) {
        out.touch_path(Touch::Read, real, by, Marks::default());
    } else if may_hold_ruled(out.world, real) {
        let ruled: Vec<Told> = out.told_below(real).iter().filter(|told| told.is_ruled).cloned().collect();
        out.touch_told(&ruled, &Sweep::default(), by);
    }
}

/// The text of a link counts from the directory in which the link lies.
pub(crate) fn reads_ruled_from(out: &mut Observer<'_>, directory: &str, text: &str, by: &By) {
    let target = path::resolve(&path::join(directory, text), out.world, Follow::Last).real;
    reads_ruled(out, &target, by);
}

/// Files of rules among the names that a loop goes over, or that this call lists.
pub(crate) fn ruled_listed(out: &mut Observer<'_>, touch: Touch, by: &By, field: &Field) {
    let is_read = matches!(touch, Touch::Read | Touch::ReadTree | Touch::Upload);
    if !is_read || out.world.settings().file_patterns.is_empty() {
        return;
    }
    let is_followed = field.prefix().is_empty() && field.text != UNKNOWN.to_string();
    let patterns = if is_followed { out.patterns_of(field) } else { out.listed.clone() };
    for (directory, pattern) in patterns.iter().filter(|(_, pattern)| !pattern.is_empty()) {
        touch_ruled(out, touch, directory, pattern, by);
    }
}

/// The link is another name of something that must not be read.
pub(crate) fn leads_to_ruled(world: &dyn World, link: &str) -> bool {
    !world.settings().file_patterns.is_empty() && is_ruled(world, &path::resolve(link, world, Follow::Last).real)
}

/// Some rule begins at or below the path, or leaves open where.
fn may_hold_ruled(world: &dyn World, real: &str) -> bool {
    let begins = |start: String| path::under(&start, real) || path::under(real, &start);
    let (home, project) = (world.home(), world.project());
    matches!(world.look(real).kind, Kind::Directory | Kind::Unlisted)
        && world.settings().file_patterns.iter().any(|rule| rule.start(home, project).is_some_and(begins))
}
