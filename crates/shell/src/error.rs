//! Why a text was not understood, in words for a person.

use std::fmt;

use crate::Span;

/// What stopped the parse, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub kind: ErrorKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A quote, bracket or compound command that never ends; holds what was expected.
    Unterminated(&'static str),
    /// A token that cannot stand where it stands.
    Unexpected,
    /// A word is missing after an operator or a keyword; holds what was expected.
    Missing(&'static str),
    /// Nested deeper than any command a person writes.
    TooDeep,
    /// More words, or more text to read again, than the parser agrees to spend time on.
    TooLong,
    /// A NUL byte: shells cut the text there, or drop the byte.
    Nul,
    /// Shells or their settings disagree on what this means; holds what it is.
    Ambiguous(&'static str),
    /// An escape in `$'…'` that yields bytes which are not text.
    Escape,
    /// `${…}` of a form that bash refuses.
    BadSubstitution,
    /// Syntax of a shell that is not the one asked for.
    OtherDialect(Other),
    /// A syntax error in the shell asked for, though bash reads it.
    Refused,
}

/// Shells whose syntax is recognised but not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    /// Understood by bash, not by a plain `sh`.
    Bash,
    Zsh,
    Fish,
    PowerShell,
    Cmd,
}

pub(crate) type Parsed<T> = Result<T, ParseError>;

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unterminated(what) => write!(f, "the text ends before `{what}`"),
            Self::Unexpected => f.write_str("this is not valid shell syntax"),
            Self::Missing(what) => write!(f, "{what} is missing here"),
            Self::TooDeep => f.write_str("the command is nested too deeply"),
            Self::TooLong => f.write_str("the command is too long to read in full"),
            Self::Nul => f.write_str("the text contains a NUL byte"),
            Self::Ambiguous(what) => write!(f, "{what} can be read in more than one way"),
            Self::Escape => f.write_str("an escape produces bytes that are not text"),
            Self::BadSubstitution => f.write_str("this `${…}` is not a form bash supports"),
            Self::Refused => write!(f, "a plain `sh` rejects this"),
            Self::OtherDialect(other) => write!(f, "this is {} syntax", other.name()),
        }
    }
}

impl Other {
    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::PowerShell => "PowerShell",
            Self::Cmd => "Windows cmd",
        }
    }
}
