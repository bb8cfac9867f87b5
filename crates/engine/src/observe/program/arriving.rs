//! Programs that put content into the project which nobody has read: unpackers, downloads, copies from elsewhere.

use doorward_vocabulary::{Mark, Operation};

use super::Invocation;
use crate::effect::{Effect, Target};
use crate::knowledge::schema::Facet;
use crate::observe::field::Field;
use crate::observe::recipes::arrived::holds_arrivals;
use crate::observe::sheet::caused::Caused;
use crate::observe::sheet::observer::Observer;
use crate::observe::shell::state::State;
use crate::path::{self, Follow};

/// Keeps in mind where an archive was unpacked or a download stored.
pub(super) fn note_arrivals(out: &mut Observer<'_>, caused: &Caused, invocation: &Invocation) {
    // Patches and git are looked up file by file.
    let is_own = invocation.args.is(Facet::SplitsOwn);
    let brings = |effect: &&Effect| {
        effect.operation == Operation::Write
            && (effect.marks.has(Mark::Download) || (effect.marks.has(Mark::CountUnknown) && !is_own))
    };
    if !caused.iter().any(|effect| brings(&effect)) {
        return;
    }
    let places: Vec<String> = caused.iter().filter_map(written_path).collect();
    let places = if places.is_empty() { invocation.cwd.iter().cloned().collect() } else { places };
    out.arrivals.extend(places);
}

/// A copy of something that lies outside the project, or that came into it.
pub(super) fn copies_in(
    out: &mut Observer<'_>,
    field: &Field,
    sources: &[Field],
    invocation: &Invocation,
    state: &State<'_>,
) {
    let world = out.world;
    let Some(cwd) = invocation.cwd.as_deref() else { return };
    let real = |field: &Field| {
        let text = field.text.split(['*', '?', '[']).next().unwrap_or_default();
        path::resolve(&path::join(cwd, text), world, Follow::Last).real
    };
    let is_foreign = |source: &Field| {
        let place = real(source);
        let is_own = world.project().is_some_and(|project| path::under(&place, project));
        let is_scratch = world.scratch().iter().any(|scratch| path::under(&place, scratch));
        let is_of_session = is_scratch || world.look(&place).created_this_session;
        let holds = || holds_arrivals(out.world, &place, state);
        source.dynamic || world.arrival(&place).is_some() || !(is_own || is_of_session) || holds()
    };
    if sources.iter().any(is_foreign) {
        let place = real(field);
        out.arrivals.push(place);
    }
}

fn written_path(effect: &Effect) -> Option<String> {
    match &effect.target {
        Target::Path(path) if effect.operation == Operation::Write => Some(path.clone()),
        Target::Path(_) | Target::Host(_) | Target::Program(_) | Target::Resource(_) | Target::Unknown => None,
    }
}
