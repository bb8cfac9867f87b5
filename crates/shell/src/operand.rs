//! Words inside `${…}` and subscripts: blanks belong to them, a bracket ends them.

use crate::arithmetic::has_document;
use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::quote::Around;
use crate::{ErrorKind, Part, Quoting, Word};

/// What ends an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Brace,
    BraceOrSlash,
    /// `:` outside parentheses and behind no `?`, or `}`.
    BraceOrColon,
    /// The end of the text that was cut out for it.
    End,
}

/// What single quotes do in an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Single {
    /// They quote.
    Quote,
    /// They must pair up, stay in the text, and everything between them is expanded.
    Stay,
    /// Arithmetic expands what they hold, an associative array does not.
    Unclear,
}

/// How to read an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    stop: Stop,
    quoting: Quoting,
    single: Single,
    globs: bool,
}

impl Operand {
    pub(crate) fn default_value(quoting: Quoting) -> Self {
        let single = match quoting {
            Quoting::Bare => Single::Quote,
            Quoting::Quoted => Single::Stay,
        };
        Operand { stop: Stop::Brace, quoting, single, globs: quoting == Quoting::Bare }
    }

    pub(crate) fn pattern(stop: Stop) -> Self {
        Operand { stop, quoting: Quoting::Bare, single: Single::Quote, globs: true }
    }

    pub(crate) fn replacement(quoting: Quoting) -> Self {
        Operand { stop: Stop::Brace, quoting, single: Single::Quote, globs: quoting == Quoting::Bare }
    }

    pub(crate) fn slice() -> Self {
        Operand { stop: Stop::BraceOrColon, quoting: Quoting::Quoted, single: Single::Unclear, globs: false }
    }

    fn subscript() -> Self {
        Operand { stop: Stop::End, quoting: Quoting::Quoted, single: Single::Unclear, globs: false }
    }
}

/// Parentheses and `?` passed on the way, which hide a `:`.
#[derive(Default)]
struct Passed {
    parentheses: u32,
    questions: u32,
}

impl Parser<'_> {
    /// The text of `[…]` from `start` to `end`, which is stepped over.
    pub(crate) fn subscript(&mut self, start: usize, end: usize) -> Parsed<Word> {
        if has_document(self.slice(start, end)) {
            return self.fail(ErrorKind::Ambiguous("a here document in a subscript"));
        }
        self.pos = start;
        let word = self.within(end, |parser| parser.operand(Operand::subscript()))?;
        self.pos = end + 1;
        Ok(word)
    }

    /// Reads up to what stops `how`, which is left standing.
    pub(crate) fn operand(&mut self, how: Operand) -> Parsed<Word> {
        self.peek();
        let start = self.pos;
        let mut parts = Parts::default();
        let mut passed = Passed::default();
        let outer = self.in_quoted_operand;
        self.in_quoted_operand |= how.single == Single::Unclear;
        while !self.operand_ends(how, &mut passed) {
            self.operand_step(how, start, &mut parts)?;
        }
        self.in_quoted_operand = outer;
        Ok(Word { parts: parts.list, span: self.span(start) })
    }

    fn operand_ends(&mut self, how: Operand, passed: &mut Passed) -> bool {
        let byte = self.peek();
        match (byte, how.stop) {
            (0, _) => true,
            (b'}', Stop::Brace | Stop::BraceOrSlash | Stop::BraceOrColon) => true,
            (b'/', Stop::BraceOrSlash) => true,
            (b':', Stop::BraceOrColon) if passed.parentheses == 0 => {
                let ends = passed.questions == 0;
                passed.questions = passed.questions.saturating_sub(1);
                ends
            }
            (b'(', Stop::BraceOrColon) => {
                passed.parentheses += 1;
                false
            }
            (b')', Stop::BraceOrColon) => {
                passed.parentheses = passed.parentheses.saturating_sub(1);
                false
            }
            (b'?', Stop::BraceOrColon) if passed.parentheses == 0 => {
                passed.questions += 1;
                false
            }
            _ => false,
        }
    }

    fn operand_step(&mut self, how: Operand, start: usize, parts: &mut Parts) -> Parsed<()> {
        let bare = how.quoting == Quoting::Bare;
        match self.peek() {
            b'\\' if bare => self.backslash(parts),
            b'\\' => self.operand_backslash(parts),
            b'\'' => self.operand_single(how, parts)?,
            b'"' => {
                self.quotes_nest |= !bare;
                self.double_quoted(parts)?;
            }
            b'$' => self.dollar(how.quoting, parts)?,
            b'`' => self.backticks(how.quoting, parts)?,
            b'<' | b'>' if bare && self.second() == b'(' => self.process(parts)?,
            b'<' | b'>' if self.second() == b'(' => {
                return self.fail(ErrorKind::Ambiguous("a parenthesis after `<` or `>`"));
            }
            b'*' | b'?' if how.globs => {
                parts.glob(self.slice(self.pos, self.pos + 1));
                self.bump();
            }
            b'[' if how.globs => self.bracket(parts)?,
            b'~' if bare && self.pos == start => self.operand_tilde(parts),
            // Inside `${a[…]}` bash may take this brace for the end of the expansion.
            b'}' if how.stop == Stop::End => {
                return self.fail(ErrorKind::Ambiguous("`}` in a subscript"));
            }
            _ => self.operand_run(how, parts),
        }
        Ok(())
    }

    fn operand_run(&mut self, how: Operand, parts: &mut Parts) {
        let start = self.pos;
        self.bump();
        while !matches!(
            self.at(self.pos),
            0 | b'\\'
                | b'\''
                | b'"'
                | b'$'
                | b'`'
                | b'<'
                | b'>'
                | b'*'
                | b'?'
                | b'['
                | b'}'
                | b'/'
                | b':'
                | b'('
                | b')'
        ) {
            self.pos += 1;
        }
        parts.text(self.slice(start, self.pos), how.quoting);
    }

    fn operand_tilde(&mut self, parts: &mut Parts) {
        let end = self.tilde_end();
        if matches!(self.at(end), b'/' | b'}') {
            parts.push(Part::Tilde(self.slice(self.pos + 1, end).replace("\\\n", "")));
            self.pos = end;
        } else {
            parts.text("~", Quoting::Bare);
            self.bump();
        }
    }

    fn operand_backslash(&mut self, parts: &mut Parts) {
        match self.at(self.pos + 1) {
            // In double quotes only these can be escaped; before anything else the backslash stays.
            b'$' | b'`' | b'"' | b'\\' | b'}' => self.backslash(parts),
            _ => {
                parts.text("\\", Quoting::Quoted);
                self.bump();
                if self.at(self.pos) == b'\'' {
                    parts.text("'", Quoting::Quoted);
                    self.bump();
                }
            }
        }
    }

    fn operand_single(&mut self, how: Operand, parts: &mut Parts) -> Parsed<()> {
        if how.single == Single::Quote {
            return self.single_quoted(parts);
        }
        let start = self.pos + 1;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
            return self.fail(ErrorKind::Unterminated("'"));
        };
        let inside = rest.get(..length).unwrap_or_default();
        // Without such a character both readings give the same text.
        let expands = inside.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\' | b'"'));
        if how.single == Single::Unclear {
            if expands {
                return self.fail(ErrorKind::Ambiguous("a quoted expansion in a subscript"));
            }
            return self.single_quoted(parts);
        }
        parts.text("'", Quoting::Quoted);
        self.pos = start;
        self.within(start + length, |parser| parser.expanded_text(Around::Document, parts))?;
        parts.text("'", Quoting::Quoted);
        self.pos = start + length + 1;
        Ok(())
    }
}
