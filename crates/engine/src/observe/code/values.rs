//! From what is known about a value to words that a program or a path could be.

use doorward_code::{HOME, Value};
use doorward_shell::Span;

use crate::observe::field::{Field, UNKNOWN};
use crate::observe::stream::Shape;

/// Every field that a value may be; one that is unknown stands for all the rest.
pub(super) fn fields(value: &Value, home: Option<&str>) -> Vec<Field> {
    match value {
        Value::OneOf(values) | Value::List(values) if values.len() <= LIMIT => {
            values.iter().flat_map(|value| fields(value, home)).collect()
        }
        Value::Text(text) => vec![text_field(text, home)],
        Value::Plain(text) => vec![Field::literal(text.clone(), Span::default())],
        Value::Matches(pattern) => vec![Field { glob: true, ..text_field(pattern, home) }],
        Value::Below(base) => {
            let base = text_field(base, home);
            let text = format!("{}/{UNKNOWN}", base.text.trim_end_matches('/'));
            let shape = if base.dynamic { Shape::Any } else { Shape::Below };
            vec![Field { text, dynamic: true, shape, ..Field::default() }]
        }
        Value::Name => vec![Field { shape: Shape::Token, ..unknown() }],
        Value::OneOf(_) | Value::List(_) | Value::Unknown | Value::Record(_) => vec![unknown()],
    }
}

/// The words of a list, if the value is one.
pub(super) fn words(value: &Value, home: Option<&str>) -> Option<Vec<Field>> {
    match value {
        Value::List(values) => Some(
            values
                .iter()
                .map(|value| match fields(value, home).as_slice() {
                    [one] => one.clone(),
                    _ => unknown(),
                })
                .collect(),
        ),
        Value::Unknown
        | Value::Text(_)
        | Value::Plain(_)
        | Value::OneOf(_)
        | Value::Matches(_)
        | Value::Below(_)
        | Value::Name
        | Value::Record(_) => None,
    }
}

/// More alternatives than anybody writes down by hand.
// A dictionary of commands has a dozen entries. Every alternative is judged like a call of its own.
const LIMIT: usize = 64;

fn text_field(text: &str, home: Option<&str>) -> Field {
    match home {
        Some(home) if text.contains(HOME) => text_field(&text.replace(HOME, home), None),
        None if text.contains(HOME) => unknown(),
        Some(_) | None => Field { dynamic: text.contains(UNKNOWN), ..Field::literal(text, Span::default()) },
    }
}

fn unknown() -> Field {
    Field { text: UNKNOWN.to_string(), dynamic: true, ..Field::default() }
}
