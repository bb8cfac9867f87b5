//! Lists of files: what `ls`, `rg -l` and `grep -l` print, and what filters leave of it.

use super::Invocation;
use super::args::Args;
use crate::knowledge::schema::{Facet, Sense};
use crate::observe::field::Field;
use crate::observe::paths::globs::{leaves_odd_names, may_filter_sensitive, may_find_sensitive, may_pick_sensitive};
use crate::observe::paths::words::{is_free_of_flags, is_ours, is_plain_inside};
use crate::observe::stream::Shape;
use crate::world::World;

/// The form of the lines that a program prints, where it is a list of files.
pub(super) fn shape(invocation: &Invocation, world: &dyn World) -> Option<Shape> {
    let args = &invocation.args;
    if args.chain.len() > 1 || !args.unknown.is_empty() || !args.unreadable.is_empty() || !args.rest.is_empty() {
        return None;
    }
    let inside = |field: &Field| is_plain_inside(field, invocation.cwd.as_deref(), world);
    let ours = is_ours(invocation.cwd.as_deref(), world);
    if args.is(Facet::ListsDirectory) {
        if !ours || !args.gives_only(Sense::KeepLines) || !args.operands.iter().all(inside) {
            return None;
        }
        // As long as directories are not gone into, a name begins as it is given.
        let as_given = args.gives(Sense::AsGiven) && !args.operands.is_empty();
        let is_free = args.operands.is_empty() && is_free_here(invocation, world);
        return Some(if as_given || is_free { Shape::ProjectPaths } else { Shape::ProjectNames });
    }
    // The directory is taken away, and with it what keeps a name from looking like a flag.
    if args.is(Facet::StripsDirectory) && args.given.is_empty() && args.operands.first().is_some_and(is_listed) {
        return Some(Shape::ProjectNames);
    }
    if args.is(Facet::Searches) && !ours {
        return None;
    }
    if args.gives(Sense::ListFiles) {
        // One that looks into hidden files must be told which files or where.
        let is_open = !args.is(Facet::SkipsHidden) && !args.gives(Sense::Pick) && searches_everything(args);
        let shape = if is_open { None } else { found(args, &inside, world) }?;
        return Some(if is_free_here(invocation, world) { Shape::ProjectPaths } else { shape });
    }
    filtered(invocation, world)
}

/// Names that are listed from here on do not look like flags.
fn is_free_here(invocation: &Invocation, world: &dyn World) -> bool {
    invocation.cwd.as_deref().is_some_and(|cwd| is_free_of_flags(cwd, world))
}

fn searches_everything(args: &Args) -> bool {
    args.operands.len() < 2 || args.operands.iter().any(|field| matches!(field.text.as_str(), "." | "./"))
}

fn is_listed(field: &Field) -> bool {
    field.dynamic && matches!(field.shape, Shape::ProjectPaths | Shape::Matched | Shape::ProjectNames)
}

/// Files that hold a text; a search for secrets may find some.
fn found(args: &Args, inside: &dyn Fn(&Field) -> bool, world: &dyn World) -> Option<Shape> {
    let lists_all = args.gives(Sense::WalkNames);
    let flagged = args.given.iter().any(|given| matches!(given.name.as_str(), "-e"));
    let from = usize::from(!lists_all && !flagged);
    let pattern = args.operands.first().filter(|_| from == 1);
    let values = args.given.iter().filter_map(|given| given.value.as_ref());
    let plain = pattern.into_iter().chain(values).all(|field| field.known().is_some_and(|text| !hunts(text)));
    let paths = args.operands.get(from..).unwrap_or_default();
    let chosen = args.fields(Sense::Pick);
    let picks = chosen
        .into_iter()
        .any(|field| field.known().is_none_or(|text| !text.starts_with('!') && may_pick_sensitive(text, world)));
    if !args.gives_only(Sense::ListOnly) || !plain || picks || !paths.iter().all(inside) {
        return None;
    }
    // What is found below a named path begins with that path.
    Some(if paths.is_empty() { Shape::ProjectNames } else { Shape::ProjectPaths })
}

/// Lines that went through a filter are still the same lines.
fn filtered(invocation: &Invocation, world: &dyn World) -> Option<Shape> {
    let args = &invocation.args;
    let shape = invocation.input.shape;
    if !matches!(shape, Shape::ProjectPaths | Shape::ProjectNames) {
        return None;
    }
    if args.is(Facet::Translates) {
        let words: Vec<Option<&str>> = args.operands.iter().map(Field::known).collect();
        let joins = args.given.is_empty() && words == [Some("\\n"), Some(" ")];
        return joins.then_some(shape);
    }
    // Only flags that leave a line whole: `cut`, `sed` or `grep -o` would make another path out of it.
    let is_filter = !args.words(Sense::KeepLines).is_empty() && args.gives_only(Sense::KeepLines);
    let searches = args.is(Facet::Searches);
    let patterns = if searches && !args.has("-e") { 1 } else { 0 };
    let values = args.given.iter().filter_map(|given| given.value.as_ref());
    let mut searched = args.operands.iter().chain(values);
    let plain = !searches
        || (args.has("-v") && patterns_of(args).all(|field| field.known().is_some_and(|text| !leaves_odd_names(text))))
        || searched.all(|field| field.known().is_some_and(|text| !hunts(text) && !may_filter_sensitive(text, world)));
    (is_filter && args.operands.len() == patterns && plain).then_some(shape)
}

/// What a search looks for.
fn patterns_of(args: &Args) -> impl Iterator<Item = &Field> {
    let flagged = args.given.iter().filter(|given| given.name == "-e").filter_map(|given| given.value.as_ref());
    args.operands.iter().chain(flagged)
}

/// The text is one that secrets are looked for with, by name or by content.
fn hunts(text: &str) -> bool {
    // What people search for to find credentials, by name or content.
    const WORDS: &[&str] = &["secret", "passw", "api_key", "apikey", "api-key", "private", "cred", "auth", "token"];
    let lower = text.to_ascii_lowercase();
    may_find_sensitive(&lower) || WORDS.iter().any(|word| lower.contains(word))
}
