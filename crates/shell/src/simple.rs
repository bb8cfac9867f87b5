//! Simple commands, and functions defined as `name() …`.

use crate::command::Reserved;
use crate::cursor::ends_word;
use crate::error::Parsed;
use crate::parser::{MAX_WORDS, Parser};
use crate::{Command, CommandKind, ErrorKind, Redirect, Simple, Word};

impl Parser<'_> {
    pub(crate) fn simple(&mut self) -> Parsed<Command> {
        let start = self.pos;
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        let function = self.simple_items(&mut simple, &mut redirects);
        let end = item_end(self.pos, self.bytes);
        let span = self.span_to(start, end);
        if let Ok(Some(kind)) = function {
            return Ok(Command { kind, redirects, span });
        }
        let command = Command { kind: CommandKind::Simple(simple), redirects, span };
        self.record(&command);
        function?;
        if let CommandKind::Simple(simple) = &command.kind {
            self.note_other_shell(simple, span);
        }
        self.stays_simple(&command)?;
        Ok(command)
    }

    /// bash 5.2 writes a substitution out again before it runs it, redirects last: a word that was plain behind a
    /// redirect is then a reserved one.
    fn stays_simple(&self, command: &Command) -> Parsed<()> {
        let CommandKind::Simple(simple) = &command.kind else {
            return Ok(());
        };
        let first = simple.words.first().and_then(Word::literal_bare).unwrap_or_default();
        let moved = self.is_substituted() && !command.redirects.is_empty() && simple.assignments.is_empty();
        match moved && Reserved::find(first.as_bytes()).is_some() {
            true => self.fail(ErrorKind::Ambiguous("a reserved word after a redirect")),
            false => Ok(()),
        }
    }

    /// Fills in assignments, words and redirects; yields a function if it turns out to be one.
    fn simple_items(&mut self, simple: &mut Simple, redirects: &mut Vec<Redirect>) -> Parsed<Option<CommandKind>> {
        loop {
            self.blanks();
            if self.redirect(redirects)? {
                continue;
            }
            let byte = self.peek();
            if byte == b'(' {
                return self.function_here(simple, redirects).map(Some);
            }
            if ends_word(byte) && !self.at_process() {
                break;
            }
            self.simple_item(simple)?;
        }
        let empty = simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty();
        match empty {
            true if self.at(self.pos) == 0 => self.fail(ErrorKind::Missing("a command")),
            true => self.unexpected(),
            false => Ok(None),
        }
    }

    fn simple_item(&mut self, simple: &mut Simple) -> Parsed<()> {
        if simple.words.len() + simple.assignments.len() >= MAX_WORDS {
            return self.fail(ErrorKind::TooLong);
        }
        let leading = simple.words.is_empty();
        let assignment = match leading {
            true => self.assignment()?,
            false => self.array_argument(simple)?,
        };
        match assignment {
            Some(assignment) => simple.assignments.push(assignment),
            None => simple.words.push(self.word()?),
        }
        Ok(())
    }

    fn function_here(&mut self, simple: &Simple, redirects: &[Redirect]) -> Parsed<CommandKind> {
        let [word] = simple.words.as_slice() else {
            return self.unexpected();
        };
        let Some(name) = word.literal_bare() else {
            return self.unexpected();
        };
        let name = name.to_owned();
        // bash allows `a-b() { … }`; dash ends with a syntax error.
        if !name.bytes().all(crate::cursor::in_name) {
            self.unless_refused()?;
        }
        if !simple.assignments.is_empty() || !redirects.is_empty() || !self.eat_empty_parentheses() {
            return self.unexpected();
        }
        self.deeper(|parser| parser.function_body(name))
    }
}

/// The end of the last item: the position before trailing blanks.
fn item_end(pos: usize, bytes: &[u8]) -> usize {
    let before = bytes.get(..pos).unwrap_or_default();
    let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    pos - blanks
}
