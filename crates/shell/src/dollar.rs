//! Everything that starts with `$`.

use crate::cursor::{in_name, starts_name};
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::{Dialect, ErrorKind, Parameter, ParameterOperation, Part, Quoting};

impl Parser<'_> {
    /// Standing at `$`.
    pub(crate) fn dollar(&mut self, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        let start = self.pos;
        self.bump();
        match self.peek() {
            b'(' => self.dollar_parenthesis(start, quoting, parts),
            b'{' => self.deeper(|parser| parser.dollar_brace(start, quoting, parts)),
            b'[' if self.dialect != Dialect::Sh => {
                let part = self.bracket_arithmetic(quoting)?;
                parts.push(part);
                Ok(())
            }
            b'\'' | b'"' if quoting == Quoting::Bare && self.dialect != Dialect::Sh => self.dollar_quote(parts),
            b'=' | b'~' | b'^' | b'+' if self.zsh_flag_ahead() => self.not_in_zsh(),
            // `$10` is `$1` and a zero to bash, the tenth argument to zsh.
            byte if byte.is_ascii_digit() && self.second().is_ascii_digit() && self.dialect == Dialect::Zsh => {
                self.not_in_zsh()
            }
            // The option `extquote` decides whether `$'…'` expands there.
            b'\'' | b'"' if self.in_quoted_operand => self.fail(ErrorKind::Ambiguous("`$` before a quote")),
            byte if starts_name(byte) => {
                let name = self.name();
                let mut part = self.simple_parameter(name, start, quoting);
                if let Part::Parameter(parameter) = &mut part
                    && self.is_modified()
                {
                    parameter.operation = Some(ParameterOperation::Transform('m'));
                }
                parts.push(part);
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

    /// `$=name`, `$~name` and the like, which zsh splits or matches.
    fn zsh_flag_ahead(&mut self) -> bool {
        let next = self.second();
        self.dialect == Dialect::Zsh && (starts_name(next) || matches!(next, b'=' | b'~' | b'^' | b'+' | b'{' | b'('))
    }

    /// Behind a plain name zsh takes `:h` for *its directory* and `[1]` for a part of it, so the value is another one.
    fn is_modified(&mut self) -> bool {
        let modifies = match self.peek() {
            b'[' => true,
            b':' => self.second().is_ascii_alphabetic() || self.second() == b'&',
            _ => false,
        };
        self.dialect == Dialect::Zsh && modifies
    }

    fn dollar_quote(&mut self, parts: &mut Parts) -> Parsed<()> {
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
        Part::Parameter(Box::new(Parameter::plain(name, quoting, self.span(start))))
    }
}

/// `$@`, `$?` and the like.
pub(crate) fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
