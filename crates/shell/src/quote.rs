//! Single quotes, double quotes, and text that is expanded as if in double quotes.

use crate::error::Parsed;
use crate::parser::Parser;
use crate::parts::Parts;
use crate::{ErrorKind, Quoting, escape};

/// What surrounds text that is expanded like double-quoted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// `"…"`: a `"` ends it.
    Quotes,
    /// The body of a here document: ends with the text.
    Document,
    /// An arithmetic expression: ends with the text, and a backslash stays in it.
    Arithmetic,
}

impl Parser<'_> {
    /// `'…'`
    pub(crate) fn single_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.bump();
        let start = self.pos;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
            return self.fail(ErrorKind::Unterminated("'"));
        };
        parts.text(self.slice(start, start + length), Quoting::Quoted);
        self.pos = start + length + 1;
        Ok(())
    }

    /// `$'…'`, standing at the quote.
    pub(crate) fn ansi_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.bump();
        let start = self.pos;
        let mut end = start;
        loop {
            match self.at(end) {
                0 => return self.fail(ErrorKind::Unterminated("'")),
                b'\'' => break,
                b'\\' if self.at(end + 1) != 0 => end += 2,
                _ => end += 1,
            }
        }
        if escape::is_read_differently(self.slice(start, end)) {
            self.not_in_zsh()?;
        }
        match escape::resolve(self.slice(start, end)) {
            // bash marks its own places with these two, and loses count in text that it reads twice.
            Some(text) if self.in_false_arithmetic && text.contains(['\u{1}', '\u{7f}']) => {
                return self.fail(ErrorKind::Escape);
            }
            Some(text) => parts.text(&text, Quoting::Quoted),
            None => return self.fail(ErrorKind::Escape),
        }
        self.pos = end + 1;
        Ok(())
    }

    /// `"…"`
    pub(crate) fn double_quoted(&mut self, parts: &mut Parts) -> Parsed<()> {
        self.bump();
        if self.peek() == b'"' {
            parts.text("", Quoting::Quoted);
        } else {
            self.expanded_text(Around::Quotes, parts)?;
        }
        self.expect(b'"', "\"")
    }

    /// Text in which `$` and backticks expand and little else is special; stops before what ends it.
    pub(crate) fn expanded_text(&mut self, around: Around, parts: &mut Parts) -> Parsed<()> {
        loop {
            let start = self.pos;
            while !matches!(self.at(self.pos), 0 | b'"' | b'\\' | b'$' | b'`') {
                self.pos += 1;
            }
            if self.pos > start {
                parts.text(self.slice(start, self.pos), Quoting::Quoted);
            }
            match self.peek() {
                0 => return Ok(()),
                b'"' if around == Around::Quotes => return Ok(()),
                b'\\' => self.quoted_backslash(around, parts),
                // What bash makes of a lone `$` in arithmetic depends on what surrounds it.
                b'$' if around == Around::Arithmetic && self.dollar_is_lone() => {
                    return self.fail(ErrorKind::Ambiguous("`$` in arithmetic"));
                }
                b'$' => self.dollar(Quoting::Quoted, parts)?,
                b'`' => self.quoted_backticks(around, parts)?,
                b'"' => {
                    parts.text("\"", Quoting::Quoted);
                    self.bump();
                }
                // A line continuation was stepped over.
                _ => {}
            }
        }
    }

    fn quoted_backslash(&mut self, around: Around, parts: &mut Parts) {
        let next = self.at(self.pos + 1);
        let escapes = match around {
            // POSIX: in double quotes a backslash escapes only these four, and a newline.
            Around::Quotes => matches!(next, b'$' | b'`' | b'"' | b'\\'),
            // In a here document `"` is an ordinary character, so its backslash stays.
            Around::Document => matches!(next, b'$' | b'`' | b'\\'),
            Around::Arithmetic => {
                parts.text("\\", Quoting::Quoted);
                self.backslash(parts);
                return;
            }
        };
        match escapes {
            true => {
                parts.text(self.slice(self.pos + 1, self.pos + 2), Quoting::Quoted);
                self.pos += 2;
            }
            false => {
                parts.text("\\", Quoting::Quoted);
                self.bump();
            }
        }
    }

    fn quoted_backticks(&mut self, around: Around, parts: &mut Parts) -> Parsed<()> {
        match around {
            Around::Quotes => self.backticks_in_quotes(parts),
            Around::Document => self.backticks(Quoting::Quoted, parts),
            Around::Arithmetic => {
                let start = self.pos;
                self.backticks(Quoting::Quoted, parts)?;
                match self.slice(start, self.pos).contains("\\\"") {
                    true => self.fail(ErrorKind::Ambiguous("an escaped quote in backticks")),
                    false => Ok(()),
                }
            }
        }
    }
}
