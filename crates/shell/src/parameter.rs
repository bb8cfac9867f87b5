//! `${…}`

use crate::cursor::starts_name;
use crate::dollar::is_special;
use crate::error::{Other, Parsed};
use crate::operand::{Operand, Stop};
use crate::parser::Parser;
use crate::parts::Parts;
use crate::{ErrorKind, Parameter, ParameterOperation, Part, Quoting, Word};

impl Parser<'_> {
    /// `${…}` from `start`, standing at `{`.
    pub(crate) fn dollar_brace(&mut self, start: usize, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        self.bump();
        match self.peek() {
            // bash 5.3 runs `${ cmd; }` in this shell; older ones fail, and nothing is run.
            b' ' | b'\t' | b'\n' | b'|' => return self.command_braces(start, quoting, parts),
            // `${(…)name}` and `${${…}}` are zsh's flags and nesting; bash stops with an error.
            b'(' | b'$' if self.second() != b'}' => {
                return self.fail(ErrorKind::OtherDialect(Other::Zsh));
            }
            _ => {}
        }
        let mut parameter = Parameter::plain(String::new(), quoting, self.span(start));
        self.parameter_name(&mut parameter)?;
        self.parameter_rest(&mut parameter)?;
        self.expect(b'}', "}")?;
        parameter.span = self.span(start);
        parts.push(Part::Parameter(Box::new(parameter)));
        Ok(())
    }

    /// The prefix `#` or `!`, the name, the subscript.
    fn parameter_name(&mut self, parameter: &mut Parameter) -> Parsed<()> {
        if self.peek() == b'#' && self.is_length() {
            self.bump();
            parameter.length = true;
        } else if self.peek() == b'!' && self.is_indirect()? {
            self.plainly_refused()?;
            self.bump();
            parameter.indirect = true;
        }
        parameter.name = match self.peek() {
            byte if starts_name(byte) => self.name(),
            byte if byte.is_ascii_digit() => self.digits(),
            byte if is_special(byte) => {
                self.bump();
                char::from(byte).to_string()
            }
            0 => return self.fail(ErrorKind::Unterminated("}")),
            _ => return self.fail(ErrorKind::BadSubstitution),
        };
        if self.peek() == b'[' {
            self.plainly_refused()?;
            let end = self.matching(self.pos + 1, b'[', b']')?;
            parameter.subscript = Some(self.subscript(self.pos + 1, end)?);
        }
        Ok(())
    }

    /// dash stops when it comes to expand this, wherever it ends; where quotes might hide the end, nobody knows.
    fn plainly_refused(&self) -> Parsed<()> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let inside = rest.split(|byte| *byte == b'}').next().unwrap_or_default();
        let is_odd = |byte: &u8| matches!(byte, b'\'' | b'"' | b'\\' | b'`' | b'{' | b'$' | b'(' | b'\n');
        if inside.iter().any(is_odd) { self.bash_only() } else { Ok(()) }
    }

    fn digits(&mut self) -> String {
        let mut digits = String::new();
        while self.peek().is_ascii_digit() {
            digits.push(char::from(self.at(self.pos)));
            self.pos += 1;
        }
        digits
    }

    /// Whether `#` here asks for a length rather than naming `$#`.
    fn is_length(&mut self) -> bool {
        let next = self.second();
        if starts_name(next) || next.is_ascii_digit() {
            return true;
        }
        let behind = self.after(self.after(self.pos + 1) + 1);
        is_special(next) && self.at(behind) == b'}'
    }

    /// Whether `!` here asks for indirection rather than naming `$!`.
    fn is_indirect(&mut self) -> Parsed<bool> {
        match self.second() {
            b'}' | b':' | b'=' | b'+' | b'%' | b'/' | b'^' | b',' | b'[' => Ok(false),
            byte if starts_name(byte) || byte.is_ascii_digit() => Ok(true),
            // `${!#}` is the last argument. With anything behind the sign it may also be `$!` with a pattern.
            b'@' | b'*' | b'#' | b'?' | b'!' | b'$' => {
                let behind = self.after(self.after(self.pos + 1) + 1);
                match self.at(behind) {
                    b'}' => Ok(true),
                    _ => self.fail(ErrorKind::Ambiguous("`${!`")),
                }
            }
            _ => self.fail(ErrorKind::Ambiguous("`${!`")),
        }
    }

    /// What stands between the name and `}`.
    fn parameter_rest(&mut self, parameter: &mut Parameter) -> Parsed<()> {
        let operator = self.peek();
        if operator == b'}' {
            return Ok(());
        }
        if parameter.length {
            return self.fail(ErrorKind::BadSubstitution);
        }
        let outer = std::mem::replace(&mut self.in_quoted_operand, parameter.quoting == Quoting::Quoted);
        parameter.operation = Some(self.operation(operator, parameter)?);
        self.in_quoted_operand = outer;
        Ok(())
    }

    fn operation(&mut self, operator: u8, parameter: &Parameter) -> Parsed<ParameterOperation> {
        // dash has none of these and ends with "Bad substitution".
        if matches!(operator, b'/' | b'^' | b',' | b'~' | b'@') {
            self.plainly_refused()?;
        }
        if !operator.is_ascii() {
            return self.fail(ErrorKind::BadSubstitution);
        }
        self.bump();
        let quoting = parameter.quoting;
        match operator {
            b':' => self.colon_operation(quoting),
            b'-' | b'=' | b'?' | b'+' => self.default_operation(operator, quoting),
            b'#' | b'%' => {
                self.eat(operator);
                Ok(ParameterOperation::Trim(self.operand(Operand::pattern(Stop::Brace))?))
            }
            b'/' => self.replace_operation(quoting),
            b'^' | b',' | b'~' => {
                self.eat(operator);
                Ok(ParameterOperation::Case(self.operand(Operand::pattern(Stop::Brace))?))
            }
            b'@' | b'*' if parameter.indirect && self.peek() == b'}' => Ok(ParameterOperation::Names),
            b'@' => match self.peek() {
                // All transformations of bash 5.2. `P` expands the value as a prompt, which runs commands; the engine
                // decides about that.
                byte @ (b'U' | b'u' | b'L' | b'Q' | b'E' | b'P' | b'A' | b'K' | b'a' | b'k') => {
                    self.bump();
                    Ok(ParameterOperation::Transform(char::from(byte)))
                }
                _ => self.fail(ErrorKind::BadSubstitution),
            },
            0 => self.fail(ErrorKind::Unterminated("}")),
            _ => self.fail(ErrorKind::BadSubstitution),
        }
    }

    fn colon_operation(&mut self, quoting: Quoting) -> Parsed<ParameterOperation> {
        let operator = self.peek();
        if matches!(operator, b'-' | b'=' | b'?' | b'+') {
            self.bump();
            return self.default_operation(operator, quoting);
        }
        self.plainly_refused()?;
        if operator == b':' && self.second() == b'=' {
            // zsh assigns.
            self.not_in_zsh()?;
        }
        let offset = self.operand(Operand::slice())?;
        let length = match self.eat(b':') {
            true => Some(self.operand(Operand::slice())?),
            false => None,
        };
        if self.peek() == b':' {
            return self.fail(ErrorKind::BadSubstitution);
        }
        Ok(ParameterOperation::Slice { offset, length })
    }

    fn default_operation(&mut self, operator: u8, quoting: Quoting) -> Parsed<ParameterOperation> {
        let word = self.operand(Operand::default_value(quoting))?;
        Ok(match operator {
            b'-' => ParameterOperation::Default(word),
            b'=' => ParameterOperation::AssignDefault(word),
            b'?' => ParameterOperation::Require(word),
            _ => ParameterOperation::Alternative(word),
        })
    }

    fn replace_operation(&mut self, quoting: Quoting) -> Parsed<ParameterOperation> {
        if matches!(self.peek(), b'/' | b'#' | b'%') {
            self.bump();
        }
        let pattern = self.operand(Operand::pattern(Stop::BraceOrSlash))?;
        let replacement = match self.eat(b'/') {
            true => self.operand(Operand::replacement(quoting))?,
            false => Word { parts: Vec::new(), span: self.span(self.pos) },
        };
        Ok(ParameterOperation::Replace { pattern, replacement })
    }
}
