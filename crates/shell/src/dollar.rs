//! Everything that starts with `$`.

use crate::cursor::{in_name, starts_name};
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::{ErrorKind, Parameter, Part, Quoting};

impl Parser<'_> {
    /// Standing at `$`.
    pub(crate) fn dollar(&mut self, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        let start = self.pos;
        self.bump();
        match self.peek() {
            b'(' => self.dollar_parenthesis(start, quoting, parts),
            b'{' => self.deeper(|parser| parser.dollar_brace(start, quoting, parts)),
            b'[' => {
                self.bash_only()?;
                let part = self.bracket_arithmetic(quoting)?;
                parts.push(part);
                Ok(())
            }
            b'\'' | b'"' if quoting == Quoting::Bare => self.dollar_quote(parts),
            b'\'' | b'"' if self.in_quoted_operand => self.fail(ErrorKind::Ambiguous("`$` before a quote")),
            byte if starts_name(byte) => {
                let name = self.name();
                parts.push(self.simple_parameter(name, start, quoting));
                Ok(())
            }
            byte if byte.is_ascii_digit() || is_special(byte) => {
                self.bump();
                parts.push(self.simple_parameter(char::from(byte).to_string(), start, quoting));
                Ok(())
            }
            _ => {
                // Quoted, so that printing it before a quote cannot make `$'…'` of it.
                parts.text("$", Quoting::Quoted);
                Ok(())
            }
        }
    }

    /// Whether the `$` here expands nothing.
    pub(crate) fn dollar_is_lone(&mut self) -> bool {
        let next = self.second();
        let expands = matches!(next, b'(' | b'{' | b'[') || starts_name(next) || next.is_ascii_digit();
        !expands && !is_special(next)
    }

    fn dollar_quote(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.bash_only()?;
        match self.peek() {
            b'"' => self.double_quoted(parts),
            _ => self.ansi_quoted(parts),
        }
    }

    /// A variable name, continuations inside it included.
    pub(crate) fn name(&mut self) -> String {
        let start = self.pos;
        while in_name(self.at(self.pos)) {
            self.pos += 1;
        }
        let mut name = self.slice(start, self.pos).to_owned();
        while in_name(self.peek()) {
            name.push(char::from(self.at(self.pos)));
            self.pos += 1;
        }
        name
    }

    fn simple_parameter(&self, name: String, start: usize, quoting: Quoting) -> Part {
        Part::Parameter(Box::new(Parameter {
            name,
            indirect: false,
            length: false,
            subscript: None,
            operation: None,
            quoting,
            span: self.span(start),
        }))
    }
}

/// `$@`, `$?` and the like.
pub(crate) fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
