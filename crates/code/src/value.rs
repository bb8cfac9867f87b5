//! What is known about a value without running anything.

/// Stands for unknown text inside a text.
// A noncharacter that Unicode reserves for such marks; source text that contains one is not text anybody typed.
pub const UNKNOWN: char = '\u{fdd0}';

/// Stands for the user's home directory at the start of a path.
pub const HOME: char = '\u{fdd1}';

/// Longer texts are not put together.
// `x = x * 2` in a loop of names doubles; a longer text is no path or command.
const LIMIT: usize = 16 * 1024;

/// A value, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// Nothing is known.
    #[default]
    Unknown,
    /// A text or a path; [`UNKNOWN`] stands for parts that are not known.
    Text(String),
    /// A number, a truth value, nothing.
    Plain(String),
    /// A list with these elements.
    List(Vec<Value>),
    /// One of these.
    OneOf(Vec<Value>),
    /// Some path that a pattern with wildcards matches.
    Matches(String),
    /// Some path below a directory.
    Below(String),
    /// A single file name, without a slash.
    Name,
    /// A dictionary or an object with these members.
    Record(Vec<(String, Value)>),
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::Unknown
            | Value::Plain(_)
            | Value::List(_)
            | Value::OneOf(_)
            | Value::Matches(_)
            | Value::Below(_)
            | Value::Name
            | Value::Record(_) => None,
        }
    }

    /// The text that it becomes inside another text.
    pub(crate) fn printed(&self) -> String {
        match self {
            Value::Text(text) | Value::Plain(text) => text.clone(),
            Value::Unknown
            | Value::List(_)
            | Value::OneOf(_)
            | Value::Matches(_)
            | Value::Below(_)
            | Value::Name
            | Value::Record(_) => UNKNOWN.to_string(),
        }
    }

    /// Whoever holds it may change what is in it.
    pub(crate) fn is_changeable(&self) -> bool {
        matches!(self, Value::List(_) | Value::Record(_))
    }

    /// An element of the value, when it is walked through.
    pub(crate) fn element(self) -> Value {
        match self {
            Value::List(mut values) if values.len() == 1 => values.pop().unwrap_or_default(),
            Value::List(values) if !values.is_empty() => Value::OneOf(values),
            Value::Matches(pattern) => Value::Matches(pattern),
            Value::Below(base) => Value::Below(base),
            Value::Unknown
            | Value::Text(_)
            | Value::Plain(_)
            | Value::List(_)
            | Value::OneOf(_)
            | Value::Name
            | Value::Record(_) => Value::Unknown,
        }
    }

    /// Two texts one after the other.
    pub(crate) fn concat(self, next: Value) -> Value {
        let mut text = self.printed();
        text.push_str(&next.printed());
        if text.len() > LIMIT { Value::Unknown } else { Value::Text(text) }
    }

    /// A path below another one: `a / b`, `join(a, b)`.
    pub(crate) fn below(self, next: Value) -> Value {
        match (self, next) {
            (_, Value::Text(next)) if next.starts_with(['/', HOME]) => Value::Text(next),
            (Value::Text(base), Value::Text(next)) if base.is_empty() => Value::Text(next),
            (Value::Text(base), Value::Text(next)) => {
                Value::Text(format!("{}/{next}", base.strip_suffix('/').unwrap_or(&base)))
            }
            (Value::Text(base), Value::Name) => Value::Below(base),
            (Value::Below(base), Value::Name) => Value::Below(base),
            (Value::Below(base), Value::Text(next)) if is_plain_name(&next) => Value::Below(base),
            (Value::Text(base), Value::OneOf(values)) => {
                Value::OneOf(values.into_iter().map(|value| Value::Text(base.clone()).below(value)).collect())
            }
            // What follows may begin with a slash, so nothing is left of the base.
            (_, _) => Value::Unknown,
        }
    }
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && !text.contains(['/', '\\', UNKNOWN, HOME])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn what_follows_may_leave_its_base() {
        assert_eq!(text("a").below(text("b")), text("a/b"));
        assert_eq!(text("a").below(text("/etc")), text("/etc"));
        assert_eq!(text("a").below(Value::Unknown), Value::Unknown);
        assert_eq!(text("a").below(Value::Name), Value::Below("a".into()));
        assert_eq!(Value::Below("a".into()).below(text("../b")), Value::Unknown);
    }

    #[test]
    fn an_unknown_part_stays_visible() {
        assert_eq!(text("a").concat(Value::Unknown), Value::Text(format!("a{UNKNOWN}")));
    }
}
