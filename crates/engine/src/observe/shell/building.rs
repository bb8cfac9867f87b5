//! A word while its parts are put together: unknown parts, limits, splitting.

use super::state::State;
use crate::observe::field::{Field, UNKNOWN};
use crate::observe::stream::{Shape, Stream};

/// A longer word that expansions make is not known.
// `x=$x$x` doubles with every command. Linux takes 128 KiB in one argument; real words are far shorter.
pub(crate) const EXPANDED: usize = 64 * 1024;

/// A field under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Building {
    pub field: Field,
    /// Something was there, if only an empty quoted string.
    pub present: bool,
    /// Some unknown part may be more than one plain word.
    pub loose: bool,
}

/// An expanded value, with what stands behind a process substitution.
#[derive(Debug)]
pub(crate) struct Expansion {
    pub value: Stream,
    pub process: Option<Stream>,
}

impl Expansion {
    pub(crate) fn of(value: Stream) -> Expansion {
        Expansion { value, process: None }
    }
}

pub(crate) fn unknown(building: &mut Building, value: Stream) {
    let field = &mut building.field;
    let leads = field.text.is_empty();
    building.loose |= !leads && !value.shape.is_one_word();
    field.shape = match (leads, field.dynamic) {
        (true, _) => value.shape,
        (false, true) => field.shape,
        (false, false) if value.shape.is_one_word() => Shape::Below,
        (false, false) => Shape::Any,
    };
    field.text.push(UNKNOWN);
    field.dynamic = true;
    field.origin = field.origin.and(value.origin);
    building.present = true;
}

/// Puts a value into the field that is being built, unsplit.
pub(crate) fn append(building: &mut Building, expansion: Expansion) {
    building.field.origin = building.field.origin.and(expansion.value.origin);
    building.field.process = building.field.process.take().or(expansion.process);
    match expansion.value.text {
        Some(text) if building.field.text.len() + text.len() <= EXPANDED => building.field.text.push_str(&text),
        Some(_) => unknown(building, Stream::unknown(expansion.value.origin)),
        None => unknown(building, expansion.value),
    }
}

/// With another `IFS` it is not known where a value is split.
pub(crate) fn usual_splitting(mut expansion: Expansion, state: &State<'_>) -> Expansion {
    if let Some(separators) = state.variables.get("IFS").filter(|_| expansion.process.is_none()) {
        let is_blank = |text: &str| text.chars().all(char::is_whitespace);
        expansion.value.text = None;
        // Names that are cut elsewhere are other names.
        if !separators.value.text.as_deref().is_some_and(is_blank) {
            expansion.value.shape = Shape::Any;
        }
    }
    expansion
}

/// Splits an unquoted value at white space. Yields the fields that are complete.
pub(crate) fn split(building: &mut Building, expansion: Expansion) -> Option<Vec<Building>> {
    let Some(text) = &expansion.value.text else {
        let single = expansion.value.shape.is_one_word();
        unknown(building, expansion.value);
        if building.field.shape == Shape::Begun {
            building.field.shape = Shape::Any;
        }
        building.field.many |= !single;
        return None;
    };
    building.field.origin = building.field.origin.and(expansion.value.origin);
    if building.field.text.len() + text.len() > EXPANDED {
        unknown(building, Stream::unknown(expansion.value.origin));
        building.field.many = true;
        return None;
    }
    let mut done = Vec::new();
    let span = building.field.span;
    let separators = [' ', '\t', '\n'];
    for (index, piece) in text.split(separators).enumerate() {
        if index > 0 && (building.present || !building.field.text.is_empty()) {
            let finished = std::mem::take(building);
            building.field.span = span;
            building.field.origin = finished.field.origin;
            done.push(finished);
        }
        building.field.text.push_str(piece);
        building.field.glob |= piece.contains(['*', '?', '[']);
    }
    Some(done)
}
