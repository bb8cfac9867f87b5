//! `declare -A name=(…)`: arrays that stand behind a declaration.

use std::rc::Rc;

use doorward_shell::{Assignment, Simple, Value};

use super::grammar::Builtin;
use super::runner::Runner;
use super::state::State;
use crate::observe::field::Field;
use crate::observe::stream::{Origin, Stream};

/// The arrays that a declaration sets, with what they hold. Their names become words of the declaration.
pub(crate) fn declared_arrays<'a>(
    runner: &mut Runner<'_, '_>,
    simple: &'a Simple,
    fields: &mut Vec<Field>,
    state: &mut State<'a>,
) -> Vec<(&'a str, Stream)> {
    let mut arrays = Vec::new();
    let named = |text: &Field| text.text.starts_with('-') && text.text.contains('A');
    let keyed = fields.iter().any(named);
    for assignment in &simple.assignments {
        if !is_declared(assignment, simple, fields) {
            continue;
        }
        if keyed {
            Rc::make_mut(&mut state.keyed).insert(assignment.name.clone());
        }
        let origin = elements(runner, &assignment.value, keyed, state);
        fields.push(Field::literal(assignment.name.clone(), assignment.span));
        arrays.push((assignment.name.as_str(), Stream::unknown(origin)));
    }
    arrays
}

/// The elements of an array for their effects; only names are no arithmetic.
fn elements<'a>(runner: &mut Runner<'_, '_>, value: &'a Value, keyed: bool, state: &mut State<'a>) -> Origin {
    let Value::Array(elements) = value else { return Origin::default() };
    if !keyed {
        return runner.value(value, state).origin;
    }
    let mut origin = Origin::default();
    for element in elements {
        if let Some(subscript) = &element.subscript {
            runner.text(subscript, state);
        }
        for field in runner.expand(&element.value, state) {
            origin = origin.and(field.origin);
        }
    }
    origin
}

/// The array stands behind the word that declares it, so it is no variable for a program.
pub(crate) fn is_declared(assignment: &Assignment, simple: &Simple, fields: &[Field]) -> bool {
    let behind = simple.words.first().is_some_and(|word| word.span.start < assignment.span.start);
    behind && matches!(assignment.value, Value::Array(_)) && fields.first().is_some_and(declares)
}

pub(crate) fn declares(field: &Field) -> bool {
    field.exact().and_then(Builtin::named).is_some_and(Builtin::declares)
}
