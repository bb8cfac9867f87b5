//! Bytes, blanks, comments, line continuations and spans.

use crate::error::Parsed;
use crate::parser::Parser;
use crate::{ErrorKind, ParseError, Span};

impl<'a> Parser<'a> {
    /// The byte at `index`; 0 past the end, since a text with NUL is never read that far.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> u8 {
        self.bytes.get(index).copied().unwrap_or(0)
    }

    /// `index`, moved past line continuations.
    #[inline]
    pub(crate) fn after(&self, mut index: usize) -> usize {
        while self.at(index) == b'\\' && self.at(index + 1) == b'\n' {
            index += 2;
        }
        index
    }

    /// The next byte outside single quotes; steps over line continuations first.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.pos = self.after(self.pos);
        self.at(self.pos)
    }

    /// The byte behind the next one.
    pub(crate) fn second(&mut self) -> u8 {
        self.peek();
        self.at(self.after(self.pos + 1))
    }

    #[inline]
    pub(crate) fn bump(&mut self) {
        self.pos = (self.pos + 1).min(self.bytes.len());
    }

    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        if found {
            self.bump();
        }
        found
    }

    /// Steps over `token` if it stands here, continuations inside it included.
    pub(crate) fn eat_all(&mut self, token: &[u8]) -> bool {
        let mut index = self.pos;
        for byte in token {
            index = self.after(index);
            if self.at(index) != *byte {
                return false;
            }
            index += 1;
        }
        self.pos = index;
        true
    }

    /// Whether `<(` or `>(` stands here.
    pub(crate) fn at_process(&mut self) -> bool {
        matches!(self.peek(), b'<' | b'>') && self.second() == b'('
    }

    /// Spaces, tabs and a comment.
    pub(crate) fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.bump();
        }
        // Blanks are only skipped between tokens, so a `#` inside a word never gets here.
        if self.at(self.pos) == b'#' {
            let rest = self.bytes.get(self.pos..).unwrap_or_default();
            self.pos += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        }
    }

    /// Blanks, comments and newlines, with the here documents that start after one.
    pub(crate) fn newlines(&mut self) -> Parsed<()> {
        self.blanks();
        while self.peek() == b'\n' {
            self.newline()?;
            self.blanks();
        }
        Ok(())
    }

    /// A newline between tokens.
    pub(crate) fn newline(&mut self) -> Parsed<()> {
        self.bump();
        self.read_documents()
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(crate) fn span(&self, start: usize) -> Span {
        self.span_to(start, self.pos)
    }

    pub(crate) fn span_to(&self, start: usize, end: usize) -> Span {
        self.origin.unwrap_or(Span { start: start as u32, end: end.max(start) as u32 })
    }

    /// An error about the character here.
    pub(crate) fn fail<T>(&self, kind: ErrorKind) -> Parsed<T> {
        let mut start = self.pos.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let rest = self.text.get(start..).unwrap_or_default();
        let width = rest.chars().next().map_or(0, char::len_utf8);
        Err(ParseError { kind, span: self.span_to(start, start + width) })
    }

    pub(crate) fn unexpected<T>(&self) -> Parsed<T> {
        self.fail(ErrorKind::Unexpected)
    }

    /// The expected token, or an error.
    pub(crate) fn expect(&mut self, byte: u8, what: &'static str) -> Parsed<()> {
        if self.eat(byte) {
            return Ok(());
        }
        match self.peek() {
            0 => self.fail(ErrorKind::Unterminated(what)),
            _ => self.unexpected(),
        }
    }
}

/// Bytes that end a bare word.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, 0 | b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

pub(crate) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(crate) fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
