//! Groups, subshells, `if`, loops, `for` and `select`.

use crate::command::Reserved;
use crate::cursor::{ends_word, in_name, starts_name};
use crate::error::Parsed;
use crate::parser::{MAX_WORDS, Parser};
use crate::{ArithmeticFor, CommandKind, Dialect, ErrorKind, For, If, Loop, Script, Word};

impl Parser<'_> {
    /// After `{`.
    pub(crate) fn group(&mut self) -> Parsed<Script> {
        let body = self.list()?;
        self.expect_reserved(Reserved::Close, "}")?;
        Ok(body)
    }

    /// `( … )` or `(( … ))`.
    pub(crate) fn parenthesis(&mut self) -> Parsed<CommandKind> {
        if self.second() == b'(' && self.dialect != Dialect::Sh {
            if let Some(arithmetic) = self.arithmetic_command()? {
                return Ok(CommandKind::Arithmetic(arithmetic));
            }
            let outer = std::mem::replace(&mut self.in_false_arithmetic, true);
            let body = self.subshell()?;
            self.in_false_arithmetic = outer;
            return Ok(body);
        }
        self.subshell()
    }

    fn subshell(&mut self) -> Parsed<CommandKind> {
        self.bump();
        let body = self.list()?;
        self.expect(b')', ")")?;
        Ok(CommandKind::Subshell(body))
    }

    /// After `if`.
    pub(crate) fn if_command(&mut self) -> Parsed<If> {
        let mut branches = Vec::with_capacity(1);
        loop {
            let condition = self.list()?;
            self.expect_reserved(Reserved::Then, "then")?;
            branches.push((condition, self.list()?));
            if !self.eat_reserved(Reserved::Elif) {
                break;
            }
        }
        let otherwise = match self.eat_reserved(Reserved::Else) {
            true => Some(self.list()?),
            false => None,
        };
        self.expect_reserved(Reserved::Fi, "fi")?;
        Ok(If { branches, otherwise })
    }

    /// After `while` or `until`.
    pub(crate) fn loop_command(&mut self, until: bool) -> Parsed<Loop> {
        let condition = self.list()?;
        self.expect_reserved(Reserved::Do, "do")?;
        let body = self.list()?;
        self.expect_reserved(Reserved::Done, "done")?;
        Ok(Loop { until, condition, body })
    }

    /// After `for`.
    pub(crate) fn for_command(&mut self) -> Parsed<CommandKind> {
        self.blanks();
        if self.peek() == b'(' && self.second() == b'(' {
            self.unless_refused()?;
            return self.arithmetic_for();
        }
        self.for_names().map(CommandKind::For)
    }

    /// After `select`.
    pub(crate) fn select_command(&mut self) -> Parsed<CommandKind> {
        self.blanks();
        let command = self.for_names()?;
        Ok(CommandKind::For(For { select: true, ..command }))
    }

    fn for_names(&mut self) -> Parsed<For> {
        let name = self.variable_name()?;
        let mut terminated = false;
        self.blanks();
        // `for x; do` walks the arguments. bash and zsh accept it, and so does dash.
        if self.peek() == b';' && self.second() != b';' {
            self.bump();
            terminated = true;
        }
        self.newlines()?;
        let words = match !terminated && self.eat_reserved(Reserved::In) {
            true => Some(self.for_words()?),
            false => None,
        };
        let body = self.loop_body()?;
        Ok(For { name, words, body, select: false })
    }

    fn variable_name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        if !starts_name(self.peek()) {
            return self.fail(ErrorKind::Missing("a variable name"));
        }
        while in_name(self.peek()) {
            name.push(self.at(self.pos) as char);
            self.bump();
        }
        match ends_word(self.peek()) && !self.at_process() {
            true => Ok(name),
            false => self.unexpected(),
        }
    }

    /// The words behind `in` and what ends them.
    fn for_words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                b'\n' => break,
                b';' if !matches!(self.second(), b';' | b'&') => {
                    self.bump();
                    break;
                }
                byte if ends_word(byte) && !self.at_process() => return self.unexpected(),
                _ => words.push(self.word()?),
            }
            if words.len() > MAX_WORDS {
                return self.fail(ErrorKind::TooLong);
            }
        }
        self.newlines()?;
        Ok(words)
    }

    /// `do … done` or `{ … }`.
    fn loop_body(&mut self) -> Parsed<Script> {
        if self.eat_reserved(Reserved::Open) {
            self.unless_refused()?;
            return self.group();
        }
        self.expect_reserved(Reserved::Do, "do")?;
        let body = self.list()?;
        self.expect_reserved(Reserved::Done, "done")?;
        Ok(body)
    }

    fn arithmetic_for(&mut self) -> Parsed<CommandKind> {
        let parts = self.arithmetic_for_parts()?;
        self.blanks();
        if self.peek() == b';' && self.second() != b';' {
            self.bump();
        }
        self.newlines()?;
        let body = self.loop_body()?;
        Ok(CommandKind::ArithmeticFor(ArithmeticFor { parts, body }))
    }
}
