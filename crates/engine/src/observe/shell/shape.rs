//! What a word can look like whose parts are not all known.

use doorward_vocabulary::Sensitivity;

use crate::observe::field::{Field, UNKNOWN};
use crate::observe::paths::globs;
use crate::observe::stream::Shape;
use crate::path::{join, lexical, under};
use crate::place;
use crate::world::World;

/// The shape of a word, from its leading unknown part and the text around it; `loose` says that a later part may be
/// anything.
///
/// INVARIANT: text around an unknown part never leads out of the directory that the shape promises.
pub(crate) fn of(field: &Field, loose: bool, cwd: Option<&str>, world: &dyn World) -> Shape {
    if field.text.chars().count() == 1 {
        return field.shape;
    }
    let behind = field.text.strip_prefix(field.prefix()).unwrap_or_default().trim_start_matches(UNKNOWN);
    // If the unknown part is empty, what follows it is a flag or begins at the root.
    let exposed = field.prefix().is_empty() && behind.starts_with('-');
    if loose || exposed || climbs(&field.text) || names_a_secret(field, behind, cwd, world) {
        return if field.shape == Shape::Begun { Shape::Begun } else { Shape::Any };
    }
    match field.shape {
        Shape::Token | Shape::OwnJob if behind.starts_with('/') => Shape::Any,
        Shape::Token | Shape::OwnJob => Shape::Token,
        Shape::Below if is_range(field.prefix()) => Shape::Token,
        Shape::Below if !is_ours(field.prefix(), cwd, world) => Shape::Any,
        // Text that is glued to it makes another name beside it.
        Shape::Place if !behind.is_empty() && !behind.starts_with('/') || !field.prefix().is_empty() => Shape::Any,
        // With more text it is another name than the one that the pattern matched.
        Shape::Matched => Shape::ProjectPaths,
        shape @ (Shape::ProjectNames
        | Shape::ProjectPaths
        | Shape::Below
        | Shape::Begun
        | Shape::Place
        | Shape::Any) => shape,
    }
}

/// The shape of a variable that gets this word as its value.
pub(crate) fn of_value(field: &Field) -> Shape {
    let begun = field.prefix().chars().next().is_some_and(|first| first != '-' && !first.is_whitespace());
    match field.shape {
        Shape::Any | Shape::Below if field.dynamic && begun => Shape::Begun,
        // The directory that it stays below is not kept with the value.
        Shape::Below => Shape::Any,
        shape @ (Shape::Any
        | Shape::Begun
        | Shape::Token
        | Shape::OwnJob
        | Shape::ProjectNames
        | Shape::Matched
        | Shape::Place
        | Shape::ProjectPaths) => shape,
    }
}

/// The shape of data that is read line by line.
pub(crate) fn of_lines(shape: Shape) -> Shape {
    match shape {
        Shape::Token | Shape::OwnJob | Shape::ProjectNames | Shape::ProjectPaths => shape,
        Shape::Matched => Shape::ProjectPaths,
        Shape::Any | Shape::Begun | Shape::Below | Shape::Place => Shape::Any,
    }
}

/// Some component behind an unknown one is `..`, or may become it.
fn climbs(text: &str) -> bool {
    let mut unknown = false;
    text.split('/').any(|component| {
        let holds = component.contains(UNKNOWN);
        let only_dots = component.chars().all(|character| character == '.' || character == UNKNOWN);
        let may_climb = (unknown && component == "..") || (holds && only_dots && component.contains('.'));
        unknown |= holds;
        may_climb
    })
}

/// The known parts say that it is, or may be, something sensitive.
fn names_a_secret(field: &Field, behind: &str, cwd: Option<&str>, world: &dyn World) -> bool {
    let directory = cwd.or(world.project()).unwrap_or("/");
    let pattern = field.text.replace(UNKNOWN, "*");
    let in_commit = pattern.rsplit_once(':').map_or("", |(_, path)| path);
    let is_absolute_secret = field.prefix().is_empty()
        && behind.starts_with('/')
        && place::classify(&behind.replace(UNKNOWN, "x"), world).sensitivity > Sensitivity::None;
    is_absolute_secret
        || globs::is_sensitive(&pattern, directory, world)
        || (!in_commit.is_empty() && globs::is_sensitive(in_commit, directory, world))
}

/// The text leads into the project or to scratch, where any name may stand for any other.
fn is_ours(prefix: &str, cwd: Option<&str>, world: &dyn World) -> bool {
    let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
    let path = match (prefix.starts_with('/'), cwd) {
        (true, _) => lexical(directory),
        (false, Some(cwd)) => lexical(&join(cwd, directory)),
        (false, None) => return false,
    };
    world.project().is_some_and(|project| under(&path, project))
        || world.scratch().iter().any(|scratch| under(&path, scratch))
}

/// `main..`, `v1...`: what follows is a commit.
fn is_range(prefix: &str) -> bool {
    prefix.ends_with("..") && !prefix.contains('/')
}
