//! Programs that put something in the place of a device such as `/dev/null`, where others only write into it.

use super::Invocation;
use super::findings::Findings;
use crate::knowledge::schema::{Facet, Sense};
use crate::observe::field::Field;
use crate::observe::paths::touch::Touch;
use crate::path::{self, Follow};
use crate::place;
use crate::world::World;

/// A device that swallows data is gone for every program of the machine once something else lies there.
pub(super) fn displaced_sinks(world: &dyn World, invocation: &Invocation) -> Findings {
    let mut found = Findings::default();
    let operands = &invocation.args.operands;
    let args = &invocation.args;
    // Writing *into* `/dev/null` is harmless; renaming over it replaces the device for everyone (machine-811). A copy writes
    // into it, but with other flags it unlinks the place first, or gives it the mode and owner of its source (machine-804).
    let replaces = || match args.words(Sense::WriteInto).is_empty() {
        true => args.is(Facet::ReplacesLast),
        false => !args.gives_only(Sense::WriteInto),
    };
    let last = match operands.as_slice() {
        [_, .., last] if replaces() => Some(last),
        _ => None,
    };
    let every = operands.iter().filter(|_| args.is(Facet::ReplacesEach));
    for field in last.into_iter().chain(every).filter(|field| displaces_sink(world, field, invocation)) {
        found.touch(Touch::Delete, field.clone());
    }
    found
}

/// The name is taken away from the device behind it, if there is one.
pub(crate) fn displaces_sink(world: &dyn World, field: &Field, invocation: &Invocation) -> bool {
    let (Some(text), Some(cwd)) = (field.exact(), invocation.cwd.as_deref()) else { return false };
    let resolved = path::resolve(&path::join(cwd, text), world, Follow::NotLast);
    place::is_harmless_device(&resolved.real)
}
