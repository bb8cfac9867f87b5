//! `$(…)`, backticks, `<(…)`, `>(…)`, `${ …; }`.

use crate::assign::declares;
use crate::command::Reserved;
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::{Command, CommandKind, ErrorKind, Part, Quoting, Script, Statement, Value};

impl Parser<'_> {
    /// At the very start of a substitution bash 5.2 takes `time` for a plain word, so neither a compound nor an array may follow it.
    pub(crate) fn starts_plainly(&self, script: &Script) -> Parsed<()> {
        match script.statements.first().is_some_and(times_more_than_words) {
            true => self.fail(ErrorKind::Ambiguous("`time` at the start of a substitution")),
            false => Ok(()),
        }
    }

    /// Inside a substitution of any kind, backticks included.
    pub(crate) fn is_substituted(&self) -> bool {
        self.in_substitution || self.origin.is_some()
    }

    /// Standing at the parenthesis of `$(` or `$((`.
    pub(crate) fn dollar_parenthesis(&mut self, start: usize, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        if self.second() == b'(' {
            return self.dollar_double_parenthesis(start, quoting, parts);
        }
        let script = self.substituted()?;
        parts.push(Part::Substitution { script, quoting, span: self.span(start) });
        Ok(())
    }

    /// Arithmetic, or a substitution that starts with a subshell.
    fn dollar_double_parenthesis(&mut self, start: usize, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        let open = self.after(self.pos + 1);
        let inner = self.matching(open + 1, b'(', b')')?;
        let close = self.after(inner + 1);
        if self.at(close) == b')' && self.counts_as_arithmetic(open + 1, inner)? {
            let arithmetic = self.arithmetic_within(open + 1, inner)?;
            self.pos = close + 1;
            parts.push(Part::Arithmetic { arithmetic, quoting });
            return Ok(());
        }
        let end = match self.at(close) == b')' {
            true => close,
            false => self.matching(inner + 1, b'(', b')')?,
        };
        self.no_rewritten_comment(open + 1, end)?;
        let outer = std::mem::replace(&mut self.in_false_arithmetic, true);
        let script = self.substituted()?;
        self.in_false_arithmetic = outer;
        if self.pos != end + 1 {
            return self.fail(ErrorKind::Ambiguous("`$((`"));
        }
        parts.push(Part::Substitution { script, quoting, span: self.span(start) });
        Ok(())
    }

    /// `<(…)` or `>(…)`.
    pub(crate) fn process(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.unless_refused()?;
        let start = self.pos;
        let writes = self.at(start) == b'>';
        self.bump();
        self.peek();
        let script = match self.second() == b'(' {
            true => self.counted_substitution()?,
            false => self.substituted()?,
        };
        parts.push(Part::Process { script, writes, span: self.span(start) });
        Ok(())
    }

    /// `((` behind `<` or `>`: bash looks for the end by counting parentheses, and reads the text later.
    fn counted_substitution(&mut self) -> Parsed<Script> {
        let end = self.matching(self.pos + 1, b'(', b')')?;
        self.no_rewritten_comment(self.pos + 1, end)?;
        let outer = std::mem::replace(&mut self.in_false_arithmetic, true);
        let script = self.substituted()?;
        self.in_false_arithmetic = outer;
        match self.pos == end + 1 {
            true => Ok(script),
            false => self.fail(ErrorKind::Ambiguous("`((`")),
        }
    }

    /// A script in parentheses, standing at the opening one.
    pub(crate) fn substituted(&mut self) -> Parsed<Script> {
        self.bump();
        self.deeper(|parser| {
            let script = parser.scope(Self::script)?;
            parser.expect(b')', ")")?;
            Ok(script)
        })
    }

    /// Reads a script whose here documents are its own.
    fn scope(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Script>) -> Parsed<Script> {
        let pending = std::mem::take(&mut self.pending);
        let bodies = std::mem::take(&mut self.bodies);
        let inside = std::mem::replace(&mut self.in_substitution, true);
        let operand = std::mem::replace(&mut self.in_quoted_operand, false);
        let nest = self.quotes_nest;
        let mut script = read(self)?;
        self.starts_plainly(&script)?;
        if !self.pending.is_empty() {
            return self.fail(ErrorKind::Ambiguous("a here document after its substitution"));
        }
        crate::heredoc::fill(&mut script, &mut self.bodies);
        self.pending = pending;
        self.bodies = bodies;
        self.in_substitution = inside;
        self.in_quoted_operand = operand;
        self.quotes_nest = nest;
        Ok(script)
    }

    /// `${ …; }` and `${| …; }`, standing behind the brace.
    ///
    /// Older shells end it at the first `}`, so there must be only one.
    pub(crate) fn command_braces(&mut self, start: usize, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        self.bash_only()?;
        self.eat(b'|');
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let first = rest.iter().position(|byte| *byte == b'}').map(|length| self.pos + length);
        let script = self.scope(Self::script)?;
        // Older shells end it at the first `}`. With only one both readings agree.
        if first != Some(self.pos) {
            return self.fail(ErrorKind::Ambiguous("`${ … }`"));
        }
        self.expect_reserved_brace()?;
        parts.push(Part::Substitution { script, quoting, span: self.span(start) });
        Ok(())
    }

    fn expect_reserved_brace(&mut self) -> Parsed<()> {
        match self.peek() {
            b'}' => {
                self.bump();
                Ok(())
            }
            _ => self.expect_reserved(Reserved::Close, "}"),
        }
    }

    /// Backticks outside double quotes, or in text that is only expanded like it.
    pub(crate) fn backticks(&mut self, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        let (text, start) = self.backtick_text(|byte| matches!(byte, b'\\' | b'`' | b'$'))?;
        self.backtick_program(&text, start, quoting, parts)
    }

    /// Backticks directly inside double quotes, where `\"` loses its backslash too.
    pub(crate) fn backticks_in_quotes(&mut self, parts: &mut Parts) -> Parsed<()> {
        let (text, start) = self.backtick_text(|byte| matches!(byte, b'\\' | b'`' | b'$' | b'"'))?;
        if self.in_quoted_operand && self.slice(start, self.pos).contains("\\\"") {
            return self.fail(ErrorKind::Ambiguous("an escaped quote in backticks"));
        }
        self.backtick_program(&text, start, Quoting::Quoted, parts)
    }

    fn backtick_program(&mut self, text: &str, start: usize, quoting: Quoting, parts: &mut Parts) -> Parsed<()> {
        let span = self.span(start);
        let script = self.reread_program(text, span)?;
        parts.push(Part::Substitution { script, quoting, span });
        Ok(())
    }

    /// The unescaped text between backticks, and where the first one stands.
    fn backtick_text(&mut self, unescapes: impl Fn(u8) -> bool) -> Parsed<(String, usize)> {
        let start = self.pos;
        self.bump();
        let mut text = String::new();
        loop {
            let from = self.pos;
            while !matches!(self.at(self.pos), 0 | b'`' | b'\\') {
                self.pos += 1;
            }
            text.push_str(self.slice(from, self.pos));
            match self.peek() {
                0 => return self.fail(ErrorKind::Unterminated("`")),
                b'`' => break,
                b'\\' if unescapes(self.at(self.pos + 1)) => {
                    text.push(char::from(self.at(self.pos + 1)));
                    self.pos += 2;
                }
                b'\\' => {
                    text.push('\\');
                    self.bump();
                }
                // A line continuation was stepped over.
                _ => {}
            }
        }
        self.bump();
        // bash looks for the end of a brace expansion before it knows that these quotes are inside backticks.
        self.quotes_nest |= text.contains('"');
        Ok((text, start))
    }
}

fn times_more_than_words(statement: &Statement) -> bool {
    let first = statement.first.commands.first();
    statement.first.timed && first.is_some_and(|command| sets_array(command) || !is_simple(command))
}

fn is_simple(command: &Command) -> bool {
    matches!(command.kind, CommandKind::Simple(_))
}

/// An array in front of the command word.
fn sets_array(command: &Command) -> bool {
    let CommandKind::Simple(simple) = &command.kind else {
        return false;
    };
    let arrays = simple.assignments.iter().any(|assignment| matches!(assignment.value, Value::Array(_)));
    arrays && !simple.words.first().is_some_and(declares)
}
