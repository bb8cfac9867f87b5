//! Statements, `&&` / `||` lists and pipelines.

use crate::command::Reserved;
use crate::error::Parsed;
use crate::parser::Parser;
use crate::{Command, CommandKind, Connector, Pipeline, Script, Simple, Statement};

impl Parser<'_> {
    /// A list that must hold something, up to a closing token that is left standing.
    pub(crate) fn list(&mut self) -> Parsed<Script> {
        let script = self.script()?;
        if script.statements.is_empty() {
            return self.unexpected();
        }
        Ok(script)
    }

    /// Statements up to a closing token that is left standing.
    pub(crate) fn script(&mut self) -> Parsed<Script> {
        let mut statements = Vec::new();
        self.statements(&mut statements)?;
        Ok(Script { statements })
    }

    pub(crate) fn statements(&mut self, out: &mut Vec<Statement>) -> Parsed<()> {
        loop {
            self.newlines()?;
            if self.at_close() {
                return Ok(());
            }
            let (statement, separated) = self.statement()?;
            out.push(statement);
            self.forget();
            self.blanks();
            if !separated && self.peek() != b'\n' && !self.at_close() {
                return self.unexpected();
            }
        }
    }

    /// Whether the enclosing construct ends here.
    fn at_close(&mut self) -> bool {
        match self.peek() {
            0 | b')' => true,
            b';' => matches!(self.second(), b';' | b'&'),
            // First letters of the closing words: looking the word up for every command would cost more than all the
            // rest.
            b'd' | b't' | b'e' | b'f' | b'}' => self.reserved().is_some_and(|(word, _)| word.closes()),
            _ => false,
        }
    }

    /// A statement, and whether it ended in `;` or `&`.
    fn statement(&mut self) -> Parsed<(Statement, bool)> {
        let start = self.pos;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let connector = match (self.peek(), self.second()) {
                (b'&', b'&') => Connector::And,
                (b'|', b'|') => Connector::Or,
                _ => break,
            };
            self.bump();
            self.peek();
            self.bump();
            self.newlines()?;
            rest.push((connector, self.pipeline()?));
        }
        let span = self.span(start);
        let background = self.peek() == b'&';
        let semicolon = self.peek() == b';' && !matches!(self.second(), b';' | b'&');
        if background || semicolon {
            self.bump();
        }
        Ok((Statement { first, rest, background, span }, background || semicolon))
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.blanks();
        let start = self.pos;
        let (negated, timed, marked) = self.marks();
        let mut commands = Vec::with_capacity(1);
        let mut with_stderr = Vec::new();
        // `time` and `!` alone are valid: bash times, or negates, nothing.
        if marked && matches!(self.peek(), 0 | b'\n' | b';') {
            let span = self.span(self.pos);
            commands.push(Command { kind: CommandKind::Simple(Simple::default()), redirects: Vec::new(), span });
            return Ok(Pipeline { negated, timed, commands, with_stderr, span: self.span(start) });
        }
        commands.push(self.command()?);
        loop {
            let end = self.pos;
            self.blanks();
            if self.peek() != b'|' || self.second() == b'|' {
                let span = self.span_to(start, end);
                return Ok(Pipeline { negated, timed, commands, with_stderr, span });
            }
            self.bump();
            with_stderr.push(self.at_stderr_joint()?);
            self.newlines()?;
            commands.push(self.command()?);
        }
    }

    fn at_stderr_joint(&mut self) -> Parsed<bool> {
        if self.peek() != b'&' {
            return Ok(false);
        }
        self.unless_refused()?;
        self.bump();
        Ok(true)
    }

    /// `!` and `time` before a pipeline: negated, timed, anything at all.
    fn marks(&mut self) -> (bool, bool, bool) {
        let (mut negated, mut timed, mut marked) = (false, false, false);
        while matches!(self.peek(), b'!' | b't') {
            match self.reserved() {
                Some((Reserved::Bang, end)) if self.at(end) != b'(' => {
                    negated = !negated;
                    self.pos = end;
                }
                Some((Reserved::Time, end)) => {
                    timed = true;
                    self.pos = end;
                    self.time_options();
                }
                Some(_) | None => break,
            }
            marked = true;
            self.blanks();
        }
        (negated, timed, marked)
    }

    fn time_options(&mut self) {
        for option in [b"-p", b"--"] {
            self.blanks();
            let start = self.pos;
            if self.eat_all(option) && !crate::cursor::ends_word(self.peek()) {
                self.pos = start;
            }
        }
    }
}
