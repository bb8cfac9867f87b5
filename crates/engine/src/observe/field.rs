//! A word after expansion, as a program would see it.

use std::rc::Rc;

use doorward_shell::Span;

use crate::observe::stream::{Origin, Shape, Stream};

/// One argument. What is not known stands as [`UNKNOWN`] in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub text: String,
    /// Some of the text is not known.
    pub dynamic: bool,
    /// It is not known how many arguments the word becomes.
    pub many: bool,
    /// The shell would match it against file names.
    pub glob: bool,
    /// What the unknown part can look like, if the whole field is unknown.
    pub shape: Shape,
    pub origin: Origin,
    /// A process substitution: what can be read from it.
    pub process: Option<Stream>,
    pub span: Span,
}

/// Stands for unknown text inside a field; never part of a real argument.
// A noncharacter: Unicode reserves it for use inside a program, and no real argument has one.
pub(crate) const UNKNOWN: char = '\u{fdd0}';

impl Field {
    pub(crate) fn literal(text: impl Into<String>, span: Span) -> Field {
        Field { text: text.into(), span, ..Field::default() }
    }

    /// The whole text, if it is known to the last byte and is one argument.
    pub(crate) fn exact(&self) -> Option<&str> {
        (!self.dynamic && !self.glob && !self.many).then_some(&self.text)
    }

    /// The whole text, also if the shell may match it against file names.
    pub(crate) fn known(&self) -> Option<&str> {
        (!self.dynamic && !self.many).then_some(&self.text)
    }

    /// The text before the first unknown character.
    pub(crate) fn prefix(&self) -> &str {
        self.text.split(UNKNOWN).next().unwrap_or_default()
    }

    /// The argument may be a flag although it does not look like one.
    pub(crate) fn may_be_flag(&self) -> bool {
        self.dynamic && self.prefix().is_empty() && self.shape.may_be_flag()
    }

    /// The field as a person reads it.
    pub(crate) fn shown(&self) -> String {
        self.text.replace(UNKNOWN, "…")
    }

    /// The same field with another text.
    #[must_use]
    pub(crate) fn with_text(&self, text: impl Into<String>) -> Field {
        Field { text: text.into(), ..self.clone() }
    }
}

/// What `$1` and its kin are for a script that gets these words; not known if any of them is not.
pub(crate) fn positional(words: &[Field]) -> Option<Rc<Vec<String>>> {
    let known: Option<Vec<String>> = words.iter().map(|word| word.exact().map(str::to_owned)).collect();
    known.map(Rc::new)
}
